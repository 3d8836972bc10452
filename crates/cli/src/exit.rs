//! Failures of this program alone; the others are in `madrigal_app::failure`.

use std::path::PathBuf;

use madrigal_app::failure::Fault;

pub use madrigal_app::failure::{Failure, Result, Status};

use crate::numbers::counted;

/// The doctor has found something.
#[derive(Debug, thiserror::Error)]
#[error("{problems} of {peers} other parties have a problem; the report says which")]
pub struct PeerProblems {
    pub status: Status,
    pub problems: usize,
    pub peers: usize,
}

/// Errors in the flags.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error("--store and --correlations ot or dealer name two origins; leave one out")]
    TwoOrigins,
    #[error("--correlations store needs --store DIR, which `madrigal precompute` makes")]
    NoStore,
    #[error(
        "cannot tell which of the parties this is: no key file here bears one of their names, or several do; give --identity"
    )]
    WhoAmI,
    #[error("--out {}: the last part of the path is the party's name; give it 1 to 64 letters, digits, `-`, `_` or `.`", base.display())]
    PartyName { base: PathBuf },
    #[error(
        "--owners and --to name clients, whose values and shares are in files: start each party with --party, or give numbers of parties with --local"
    )]
    LocalClients,
    #[error("--owners names {}, but {} has {}; name one owner for each", counted(*.found as u64, "owner"), circuit.display(), counted(*.expected as u64, "input value"))]
    Owners {
        found: usize,
        expected: usize,
        circuit: PathBuf,
    },
    #[error(
        "benchmarks are the program madrigal-lab, which is neither beside this program nor on PATH: run `cargo run --release -p madrigal-lab -- ARGUMENTS` in Madrigal's repository"
    )]
    NoLab,
    #[error(
        "queries are the program madrigal-sql, which is neither beside this program nor on PATH: run `cargo run --release -p madrigal-sql -- ARGUMENTS` in Madrigal's repository"
    )]
    NoSql,
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
    #[error("{} has {}; give --input FILE if it has any, else --lanes alone", circuit.display(), counted(*.values as u64, "input value"))]
    EvalInput { circuit: PathBuf, values: usize },
    #[error("statistics and the result would both go to standard output; give --output FILE")]
    TwoOutputs,
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
    #[error("{} is empty or larger than 16 GiB; give another file, or split it", path.display())]
    Length { path: PathBuf },
}

impl Fault for Usage {
    fn status(&self) -> Status {
        Status::Usage
    }
}

impl Fault for Content {
    fn status(&self) -> Status {
        Status::File
    }
}

impl Fault for PeerProblems {
    fn status(&self) -> Status {
        self.status
    }
}
