//! What the program ends with: one sentence on standard error, and a status that scripts rely on.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use madrigal_circuit::values::ValuesError;
use madrigal_core::{Party, PartyError};
use madrigal_engine::PlanError;
use madrigal_net::Blame;
use madrigal_net::identity::IdentityError;
use madrigal_net::roster::RosterError;
use madrigal_net::tls::TlsError;
use madrigal_net::transport::ConnectError;
use serde::{Deserialize, Serialize};

use crate::numbers::counted;
use crate::remedies::{self, with};

/// Outcome of every command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// The exit statuses; `--help` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A fault of this program or machine.
    Internal = 1,
    /// A flag or an argument.
    Usage = 2,
    /// A file.
    File = 3,
    /// A party lost, silent, slow, or out of reach.
    Network = 4,
    /// Another party's program, version, key or behaviour.
    Peer = 5,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why there is no right result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(#[from] Usage),
    /// A file cannot be opened, read or written.
    #[error("cannot {action} {}: {source}; check the path and its permissions", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A result that was made has no place in its file.
    #[error("cannot write the result {}: {source}; it is on standard output instead", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    /// A file holds something else than it should.
    #[error(transparent)]
    Content(#[from] Content),
    /// The parties did not all meet.
    #[error("{}", with(.0, remedies::of_connect(.0)))]
    Connect(#[from] ConnectError),
    /// TLS could not be set up.
    #[error("{}", with(.0, remedies::of_tls(.0)))]
    Tls(#[from] TlsError),
    /// The session or a job failed.
    #[error("{}", with(.0, remedies::of_session(.0)))]
    Session(#[from] madrigal_net::Error),
    /// Any of these, where the last party is no party of the computation.
    #[error("{}", failure.to_string().replace(&dealer.to_string(), "the dealer"))]
    Dealer { dealer: Party, failure: Box<Self> },
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
    /// The port is taken, or not ours to take.
    #[error("cannot listen at {address}: {source}; {}", listen_hint(.source))]
    Listen { address: String, source: io::Error },
    /// The operating system refused something that no flag mends.
    #[error("{what}: {source}")]
    System {
        what: &'static str,
        source: io::Error,
    },
    /// This program is wrong.
    #[error("a fault of madrigal: {what}; please report it with this text")]
    Bug { what: String },
}

/// What is wrong with the flags.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error(
        "say who takes part: --local N starts N parties on this machine, --party I --parties parties.toml is one of several machines"
    )]
    NobodyHere,
    #[error("--party {party} is not one of the {parties} parties of {}: they are numbered 0 to {} (a dealer is started with `madrigal dealer`)", roster.display(), parties.saturating_sub(1))]
    NotListed {
        party: usize,
        parties: usize,
        roster: PathBuf,
    },
    #[error("--store and --correlations ot or dealer name two origins; leave one out")]
    TwoOrigins,
    #[error("{flag}: no correlations are made here, {why}; leave the flag out")]
    NoCorrelations {
        flag: &'static str,
        why: &'static str,
    },
    #[error("--correlations store needs --store DIR, which `madrigal precompute` makes")]
    NoStore,
    #[error("--correlations store is for `madrigal run`, which has --store; give another origin")]
    StoreElsewhere,
    #[error("{} names no dealer: add the section that `madrigal keygen` prints for the dealer, with `[dealer]` in place of `[[party]]`, the same at all parties", roster.display())]
    NoDealer { roster: PathBuf },
    #[error(
        "the key is that of party {owner} in the list of parties, not of party {party}; give the right --party or --identity"
    )]
    OtherKey { party: usize, owner: usize },
    #[error(
        "the key is that of the dealer in the list of parties, not of party {party}; give the right --identity, or run `madrigal dealer`"
    )]
    DealersKey { party: usize },
    #[error(
        "the key is that of party {owner} in the list of parties, not of the dealer; give the dealer's with --identity"
    )]
    NotDealersKey { owner: usize },
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
    #[error("--to names nobody; give `all` or at least one party")]
    NoReceiver,
    #[error("party {party} owns input values of {} ({values} on each line) but has no file; give --input {party}=FILE, or another --owners", circuit.display())]
    NoInput {
        party: usize,
        values: usize,
        circuit: PathBuf,
    },
    #[error(
        "--input {party}=...: party {party} owns no input value; leave the flag out, or change --owners"
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
    #[error(
        "--transport {transport} is for parties of one process, as of `run --local`; real parties use tls, or tcp with --insecure"
    )]
    LocalTransport { transport: &'static str },
    #[error(
        "--transport tcp between machines sends everything in the clear, and anybody can pose as a party; use tls, or add --insecure if the network is protected otherwise"
    )]
    Insecure,
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
    #[error("--network: {0}; `none` leaves the links as they are")]
    Network(madrigal_net::transport::ProfileError),
    #[error("{}", with(.0, remedies::of_plan(.0)))]
    Plan(madrigal_engine::PlanError),
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
    #[error(transparent)]
    Circuit(#[from] madrigal_circuit::ReadError),
    #[error(transparent)]
    Convert(#[from] madrigal_circuit::WriteError),
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error("{}", with(.0, remedies::of_roster(.0)))]
    Roster(#[from] RosterError),
    #[error("{}", with(.0, remedies::of_identity(.0)))]
    Identity(#[from] IdentityError),
    #[error("{}: expected a key of 32 hexadecimal digits and nothing else", path.display())]
    Key { path: PathBuf },
    #[error("the correlation store {}: {}", directory.display(), with(problem, remedies::of_store(problem)))]
    Store {
        directory: PathBuf,
        problem: madrigal_correlations::store::StoreError,
    },
    #[error("{} holds the stores of {parties} parties on this machine; give one party's, {}", directory.display(), directory.join("party0").display())]
    Stores { directory: PathBuf, parties: usize },
    #[error("{} holds the stores of {found} parties, not of {parties}; give --local {found}, or make stores with `madrigal precompute --local {parties}` elsewhere", directory.display())]
    StoreParties {
        directory: PathBuf,
        found: usize,
        parties: usize,
    },
    #[error("{} is empty or larger than 16 GiB; give another file, or split it", path.display())]
    Length { path: PathBuf },
}

impl Failure {
    /// For `map_err` on what a file operation returns.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }

    pub fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    pub fn bug(what: impl std::fmt::Display) -> Self {
        Self::Bug {
            what: what.to_string(),
        }
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        match self {
            // No lanes are lines that a file does not have.
            Self::Usage(Usage::Plan(PlanError::NoLanes)) => Status::File,
            Self::Usage(_) => Status::Usage,
            Self::File { .. } | Self::Unwritten { .. } | Self::Content(_) => Status::File,
            Self::Connect(error) => match error {
                ConnectError::Tls(error) => of_tls(error),
                ConnectError::Unreachable { .. }
                | ConnectError::Missing { .. }
                | ConnectError::System { .. } => Status::Network,
                _ => Status::Peer,
            },
            Self::Tls(error) => of_tls(error),
            Self::Dealer { failure, .. } => failure.status(),
            Self::Session(error) => match error.blame() {
                Blame::Network => Status::Network,
                Blame::Peer => Status::Peer,
                Blame::Files => Status::File,
                Blame::Caller => Status::Internal,
            },
            Self::Child { status, .. } | Self::Peers { status, .. } => *status,
            Self::Listen { .. } => Status::Network,
            Self::System { .. } | Self::Bug { .. } => Status::Internal,
        }
    }

    /// Calls the dealer by its name. No other party's number begins with its: it has the greatest.
    pub fn naming(self, dealer: Option<Party>) -> Self {
        match dealer {
            Some(dealer) if self.to_string().contains(&dealer.to_string()) => Self::Dealer {
                dealer,
                failure: Box::new(self),
            },
            _ => self,
        }
    }

    /// Whether it only echoes what another party suffered: of several failures, the one that is no
    /// echo is told.
    pub fn is_echo(&self) -> bool {
        use madrigal_net::Error;
        if let Self::Dealer { failure, .. } = self {
            return failure.is_echo();
        }
        matches!(
            self,
            Self::Session(Error::Aborted { .. } | Error::Lost { .. })
                | Self::Connect(ConnectError::Missing { .. } | ConnectError::Unreachable { .. })
        )
    }
}

fn listen_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have that address; give one of its own with --listen"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for privileged users; choose another one with --listen and in parties.toml"
        }
        _ => {
            "end the program that uses the port, or choose another one with --listen and in parties.toml"
        }
    }
}

macro_rules! through_content {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Content(error.into())
            }
        }
    )*};
}
through_content!(
    madrigal_circuit::ReadError,
    madrigal_circuit::WriteError,
    ValuesError,
    RosterError,
    IdentityError
);

pub fn of_tls(error: &TlsError) -> Status {
    match error {
        TlsError::OwnKeyNotListed { .. }
        | TlsError::OwnKeyOfAnother { .. }
        | TlsError::OwnDates { .. } => Status::File,
        TlsError::NoClock | TlsError::NoSuchPeer { .. } | TlsError::Setup(_) => Status::Internal,
        TlsError::Altered { .. } | TlsError::Closed { .. } | TlsError::Io { .. } => Status::Network,
        _ => Status::Peer,
    }
}
