//! What this program alone can end with; the rest is in `madrigal_app::failure`.

use std::io;
use std::path::PathBuf;

use madrigal_app::failure::Fault;
use madrigal_core::budget::Size;
use madrigal_core::{Party, PartyError};
use madrigal_operations::circuit_job::PlanError;

pub use madrigal_app::failure::{Failure, Result, Status};

use crate::numbers::counted;
use crate::remedies::{self, with};

/// Why there is no right result.
#[derive(Debug, thiserror::Error)]
pub enum Ending {
    /// A result that was made has no place in its file.
    #[error("cannot write the result {}: {source}; {}", path.display(), instead(.kept))]
    Unwritten {
        path: PathBuf,
        source: io::Error,
        /// Where it is.
        kept: Option<PathBuf>,
    },
    /// A process of a local run failed.
    #[error("{party}: {message}")]
    Child {
        party: Party,
        status: Status,
        message: String,
    },
    /// The doctor has found something.
    #[error("{problems} of {peers} other parties have a problem; the report says which")]
    Peers {
        status: Status,
        problems: usize,
        peers: usize,
    },
}

fn instead(kept: &Option<PathBuf>) -> String {
    match kept {
        Some(path) => format!("it is in {} instead, move it from there", path.display()),
        None => {
            "the folder for temporary files does not take it either: free some space and run again"
                .to_owned()
        }
    }
}

/// What is wrong with the flags.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error("--store and --correlations ot or dealer name two origins; leave one out")]
    TwoOrigins,
    #[error("{flag}: {why}; leave the flag out")]
    NoCorrelations {
        flag: &'static str,
        why: &'static str,
    },
    #[error("--correlations store needs --store DIR, which `madrigal precompute` makes")]
    NoStore,
    #[error("--correlations store is for `madrigal run`, which has --store; give another origin")]
    StoreElsewhere,
    #[error(
        "cannot tell which of the parties this is: no key file here bears one of their names, or several do; give --identity"
    )]
    WhoAmI,
    #[error("--out {}: the last part of the path is the party's name; give it 1 to 64 letters, digits, `-`, `_` or `.`", base.display())]
    PartyName { base: PathBuf },
    #[error(transparent)]
    Level(madrigal_kernels::LevelError),
    #[error("--only matches nothing; give a part of one of these names: {names}")]
    NothingToMeasure { names: String },
    #[error(
        "--table {number}: of this paper there are {there}; choose one, or another paper with --of"
    )]
    NoSuchTable { number: u8, there: String },
    #[error("{}", if *networks {
        "the tables of MOTION2NX are of networks: name one with --model FILE.onnx"
    } else {
        "--model is for the tables of MOTION2NX: add --of motion2nx, or leave it out"
    })]
    ModelOfTable { networks: bool },
    #[error("the tables of MOTION2NX are of two parties: leave out --parties")]
    TwoOfTable,
    #[error("{0}: see --ands, --layers and --branches")]
    Random(madrigal_circuit::branches::RandomError),
    #[error("{flag}: {source}; correct {flag} or the number of parties")]
    Party {
        flag: &'static str,
        source: PartyError,
    },
    #[error("--owners names {}, but {} has {}; name one owner for each", counted(*.found as u64, "owner"), circuit.display(), counted(*.expected as u64, "input value"))]
    Owners {
        found: usize,
        expected: usize,
        circuit: PathBuf,
    },
    #[error("--widths of {}: {error}", circuit.display())]
    Widths {
        circuit: PathBuf,
        error: madrigal_circuit::WidthsError,
    },
    #[error("--to names nobody; give `all` or at least one party")]
    NoReceiver,
    #[error("party {party} owns input values of {} ({values} on each line) but has no file; give --input {party}=FILE, or another --owners", circuit.display())]
    NoInput {
        party: usize,
        values: usize,
        circuit: PathBuf,
    },
    #[error(
        "--input {party}=...: party {party} owns no input value; leave the flag out, change --owners, or say by --widths which bits of the circuit's inputs are whose"
    )]
    NeedlessInput { party: usize },
    #[error("--input is given twice for party {party}; give each party's file once")]
    TwoInputs { party: usize },
    #[error("--input {} names no party; write --input P=FILE for the party P that owns these values", path.display())]
    NamelessInput { path: PathBuf },
    #[error(
        "--input {party}=...: this is party {me}, which reads only its own input; run the other parties where their inputs are"
    )]
    ForeignInput { party: usize, me: usize },
    #[error(
        "party {party} owns no input value, so it cannot count the lanes; give --lanes with the number of lines in the other parties' inputs"
    )]
    LanesUnknown { party: usize },
    #[error(
        "{first} has {} and {second} has {second_lanes}; all parties need the same number of lines", counted(*.first_lanes, "lane")
    )]
    LanesDiffer {
        first: String,
        first_lanes: u64,
        second: String,
        second_lanes: u64,
    },
    #[error(
        "the inputs and outputs of {} take {} of memory, which this machine does not give; take fewer at a time: --lanes, or fewer lines of --input",
        counted(*.lanes, "lane"), Size(*.bytes)
    )]
    NoRoom { lanes: u64, bytes: u64 },
    #[error("{} has {}; give --input FILE if it has any, else --lanes alone", circuit.display(), counted(*.values as u64, "input value"))]
    EvalInput { circuit: PathBuf, values: usize },
    #[error("statistics and the result would both go to standard output; give --output FILE")]
    TwoOutputs,
    #[error("{flag} {} would overwrite a file that is read; give another name", path.display())]
    Overwrites { flag: &'static str, path: PathBuf },
    #[error("{other} and {flag} are the same file, {}; give each its own", path.display())]
    SameFile {
        flag: &'static str,
        other: &'static str,
        path: PathBuf,
    },
    #[error("{}", with(.0, remedies::of_plan(.0)))]
    Plan(madrigal_operations::circuit_job::PlanError),
    #[error("party {party} of the demonstration needs {flag}: {why}")]
    DemoFlag {
        party: usize,
        flag: &'static str,
        why: &'static str,
    },
    #[error("--out -: the ciphertext goes to a file; give its name")]
    DemoOut,
    #[error(
        "without {flag} its value is random, and --quiet, --json and --stats - suppress the text that tells it; give {flag}, or leave those flags out"
    )]
    DemoUntold { flag: &'static str },
    #[error("{flag} is for party {party} of the demonstration; leave it out here")]
    DemoForeign { party: usize, flag: &'static str },
}

/// A file that holds something else than it should.
#[derive(Debug, thiserror::Error)]
pub enum Content {
    #[error("{}: expected a key of 32 hexadecimal digits and nothing else", path.display())]
    Key { path: PathBuf },
    #[error("{}: {problem}{}", path.display(), remedies::of_model(problem.as_ref()))]
    Model {
        path: PathBuf,
        problem: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{} is empty or larger than 16 GiB; give another file, or split it", path.display())]
    Length { path: PathBuf },
}

impl Fault for Usage {
    fn status(&self) -> Status {
        match self {
            // No lanes are lines that a file does not have.
            Self::Plan(PlanError::NoLanes) => Status::File,
            _ => Status::Usage,
        }
    }
}

impl Fault for Content {
    fn status(&self) -> Status {
        Status::File
    }
}

impl Fault for Ending {
    fn status(&self) -> Status {
        match self {
            Self::Unwritten { .. } => Status::File,
            Self::Child { status, .. } | Self::Peers { status, .. } => *status,
        }
    }
}

macro_rules! own {
    ($($fault:ty),*) => {$(
        impl From<$fault> for Failure {
            fn from(fault: $fault) -> Self {
                Self::other(fault)
            }
        }
    )*};
}
own!(Usage, Content, Ending);
