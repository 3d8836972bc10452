//! Failures that a command ends with: one sentence on standard error, and a status that scripts rely on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use madrigal_core::{Party, PartyError};
use madrigal_correlations_store::StoreError;
use madrigal_net::Blame;
use madrigal_net::identity::IdentityError;
use madrigal_net::roster::RosterError;
use madrigal_net::tls::TlsError;
use madrigal_net::transport::ConnectError;

use crate::remedies::{self, with};
pub use crate::status::{EXIT_STATUS, Status};
use crate::stop::{self, Signal};

/// Outcome of every command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A failure that a command adds to those that all have.
pub trait Fault: std::error::Error + Send + Sync + 'static {
    /// The exit status that it ends with.
    fn status(&self) -> Status;
}

/// Reasons why there is no right result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(#[from] Usage),
    /// A file cannot be opened, read or written.
    #[error("cannot {action} {}: {source}; check the path and its permissions", path.display())]
    File {
        /// Action that failed, as in "read the input".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
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
    /// The inputs do not meet what the program requires.
    #[error(
        "the inputs do not meet what the program requires: {requirements}; nothing was opened: have those who brought these inputs bring others"
    )]
    Unmet {
        /// The requirements that do not hold.
        requirements: String,
    },
    /// A failure that names the dealer, whose number is behind those of the parties.
    #[error("{}", failure.to_string().replace(&dealer.to_string(), "the dealer"))]
    Dealer {
        /// The dealer's number.
        dealer: Party,
        /// Failure of the dealer.
        failure: Box<Self>,
    },
    /// The port is taken, or needs a permission that this process lacks.
    #[error("cannot listen at {address}: {source}; {}", listen_hint(.source))]
    Listen {
        /// Address.
        address: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The process was told to stop before there was a session.
    #[error("stopped by {0}")]
    Stopped(Signal),
    /// The operating system refused something that no flag mends.
    #[error("{what}: {source}")]
    System {
        /// Request to the operating system.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A fault of this program itself.
    #[error("a fault of madrigal: {what}; please report it with this text")]
    Bug {
        /// Sign by which it showed.
        what: String,
    },
    /// A fault that one command alone knows.
    #[error("{0}")]
    Command(Box<dyn Fault>),
}

/// Errors in the flags.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Usage {
    /// Nobody takes part.
    #[error(
        "say who takes part: --local N starts N parties on this machine, --party I --parties parties.toml is one of several machines"
    )]
    NobodyHere,
    /// A party that the list does not have.
    #[error("--party {party} is not one of the {parties} parties of {}: they are numbered 0 to {} (a dealer is started with `madrigal dealer`)", roster.display(), parties.saturating_sub(1))]
    NotListed {
        /// The number that was given.
        party: usize,
        /// Number of parties.
        parties: usize,
        /// The list.
        roster: PathBuf,
    },
    /// A list without a dealer.
    #[error("{} names no dealer: add the section that `madrigal keygen` prints for the dealer, with `[dealer]` in place of `[[party]]`, the same at all parties", roster.display())]
    NoDealer {
        /// The list.
        roster: PathBuf,
    },
    /// Another party's key.
    #[error(
        "the key is that of party {owner} in the list of parties, not of party {party}; give the right --party or --identity"
    )]
    OtherKey {
        /// The party that runs here.
        party: usize,
        /// Party whose key it is.
        owner: usize,
    },
    /// The dealer's key at a party.
    #[error(
        "the key is that of the dealer in the list of parties, not of party {party}; give the right --identity, or run `madrigal dealer`"
    )]
    DealersKey {
        /// The party that runs here.
        party: usize,
    },
    /// A party's key at the dealer.
    #[error(
        "the key is that of party {owner} in the list of parties, not of the dealer; give the dealer's with --identity"
    )]
    NotDealersKey {
        /// Party whose key it is.
        owner: usize,
    },
    /// A transport that does not leave the process.
    #[error(
        "--transport {transport} is for parties of one process, as of `run --local`; real parties use tls, or tcp with --insecure"
    )]
    LocalTransport {
        /// Name of the transport.
        transport: &'static str,
    },
    /// TCP between machines.
    #[error(
        "--transport tcp between machines sends everything in the clear, and anybody can pose as a party; use tls, or add --insecure if the network is protected otherwise"
    )]
    Insecure,
    /// No network's profile.
    #[error("--network: {0}; `none` leaves the links as they are")]
    Network(madrigal_net::transport::ProfileError),
    /// A party that is not there.
    #[error("{flag}: {source}; correct {flag} or the number of parties")]
    Party {
        /// The flag.
        flag: &'static str,
        /// The party.
        source: PartyError,
    },
    /// A client where parties alone get results.
    #[error("--to {client}: clients get results of circuits and models, and here parties alone do")]
    NoClients {
        /// The client.
        client: String,
    },
    /// No level of kernels of this machine.
    #[error(transparent)]
    Level(#[from] madrigal_kernels::LevelError),
    /// No random circuits with branches.
    #[error("{0}: see --ands, --layers and --branches")]
    Branches(madrigal_circuit::branches::RandomError),
}

impl Usage {
    /// Gives the parties of these numbers, which a flag names, among `parties` parties.
    ///
    /// # Errors
    /// [`Usage::Party`]: a party that is not there.
    pub fn checked(
        flag: &'static str,
        named: &[usize],
        parties: usize,
    ) -> Result<Vec<Party>, Self> {
        let party = |&index: &usize| Party::checked(index, parties);
        let all: Result<_, _> = named.iter().map(party).collect();
        all.map_err(|source| Self::Party { flag, source })
    }
}

/// A file that holds something else than it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Content {
    /// A circuit.
    #[error(transparent)]
    Circuit(#[from] madrigal_circuit::ReadError),
    /// A circuit that another format cannot hold.
    #[error(transparent)]
    Convert(#[from] madrigal_circuit::WriteError),
    /// A circuit's values.
    #[error(transparent)]
    Values(#[from] madrigal_circuit::values::ValuesError),
    /// The list of parties.
    #[error("{}", with(.0, remedies::of_roster(.0)))]
    Roster(#[from] RosterError),
    /// A key and its certificate.
    #[error("{}", with(.0, remedies::of_identity(.0)))]
    Identity(#[from] IdentityError),
    /// A correlation store.
    #[error("the correlation store {}: {}", directory.display(), with(problem, remedies::of_store(problem)))]
    Store {
        /// Directory of the store.
        directory: PathBuf,
        /// Problem of the store.
        problem: StoreError,
    },
    /// A directory with one party's store was asked for.
    #[error("{} holds the stores of {parties} parties on this machine; give one party's, {}", directory.display(), directory.join("party0").display())]
    Stores {
        /// Directory of the stores.
        directory: PathBuf,
        /// Number of parties.
        parties: usize,
    },
    /// Stores of another number of parties.
    #[error("{} holds the stores of {found} parties, not of {parties}; give --local {found}, or make stores for {parties} parties elsewhere", directory.display())]
    StoreParties {
        /// Directory of the stores.
        directory: PathBuf,
        /// Number of stores that were found.
        found: usize,
        /// Number of stores that there should be.
        parties: usize,
    },
}

impl Failure {
    /// Gives a function for `map_err` on what a file operation returns.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }

    /// Gives a function for `map_err` on what the system returns.
    pub fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// Makes the failure of a case that cannot happen.
    pub fn bug(what: impl fmt::Display) -> Self {
        Self::Bug {
            what: what.to_string(),
        }
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        match self {
            Self::Usage(_) => Status::Usage,
            Self::File { .. } | Self::Content(_) => Status::File,
            Self::Connect(error) => match error {
                ConnectError::Tls(error) => of_tls(error),
                // A party that was turned away with another key or an old certificate was probably the party.
                ConnectError::Missing { refused, .. }
                    if refused.first().is_some_and(|why| why.telling() > 0) =>
                {
                    Status::Peer
                }
                ConnectError::Unreachable { .. }
                | ConnectError::Missing { .. }
                | ConnectError::Incomplete { .. }
                | ConnectError::System { .. } => Status::Network,
                _ => Status::Peer,
            },
            Self::Tls(error) => of_tls(error),
            Self::Unmet { .. } => Status::Unmet,
            Self::Dealer { failure, .. } => failure.status(),
            Self::Stopped(signal) => signal.status(),
            Self::Session(madrigal_net::Error::Stopped { .. }) => {
                stop::told().map_or(Status::Network, Signal::status)
            }
            Self::Session(error) => match error.blame() {
                Blame::Network => Status::Network,
                Blame::Peer => Status::Peer,
                Blame::Files => Status::File,
                Blame::Caller => Status::Internal,
            },
            Self::Listen { .. } => Status::Network,
            Self::System { .. } | Self::Bug { .. } => Status::Internal,
            Self::Command(fault) => fault.status(),
        }
    }

    /// Writes "the dealer" for the dealer's number. No other party's number begins with it: it is the greatest.
    #[must_use]
    pub fn naming(self, dealer: Option<Party>) -> Self {
        match dealer {
            Some(dealer) if self.to_string().contains(&dealer.to_string()) => Self::Dealer {
                dealer,
                failure: Box::new(self),
            },
            _ => self,
        }
    }

    /// Tells whether the failure only echoes another party's: of several failures, one that is no echo is told.
    pub fn is_echo(&self) -> bool {
        use madrigal_net::Error;
        if let Self::Dealer { failure, .. } = self {
            return failure.is_echo();
        }
        matches!(
            self,
            Self::Session(Error::Aborted { .. } | Error::Lost { .. })
                | Self::Connect(
                    ConnectError::Missing { .. }
                        | ConnectError::Incomplete { .. }
                        | ConnectError::Unreachable { .. }
                )
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
    madrigal_circuit::values::ValuesError,
    RosterError,
    IdentityError
);

/// Makes the failure of a fault that one command alone knows.
impl<F: Fault> From<F> for Failure {
    fn from(fault: F) -> Self {
        Self::Command(Box::new(fault))
    }
}

/// Makes the failure of an error in a job.
impl From<madrigal_engine::RunError> for Failure {
    fn from(error: madrigal_engine::RunError) -> Self {
        match error {
            madrigal_engine::RunError::Net(error) => error.into(),
            madrigal_engine::RunError::Unmet { requirements } => Self::Unmet { requirements },
            other => Self::bug(other),
        }
    }
}

/// Makes the failure of inputs that were read and checked before.
impl From<madrigal_program::InputError> for Failure {
    fn from(error: madrigal_program::InputError) -> Self {
        match error {
            madrigal_program::InputError::Unmet { requirements } => Self::Unmet { requirements },
            other => Self::bug(other),
        }
    }
}

/// The exit status that an error of TLS ends with.
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

/// Picks the one of several parties' failures that explains the others: the first that is no echo.
pub fn first_cause<T>(failures: Vec<T>, is_echo: impl Fn(&T) -> bool) -> Option<T> {
    let at = failures
        .iter()
        .position(|failure| !is_echo(failure))
        .unwrap_or(0);
    failures.into_iter().nth(at)
}
