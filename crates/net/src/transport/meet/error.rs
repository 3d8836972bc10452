//! Errors before the parties have met.

use std::io;
use std::time::Duration;

use madrigal_core::Party;

use super::card::{CARD_VERSION, PARTIES};
use crate::tls::TlsError;

/// Reasons why the parties did not all meet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A party could not be reached in time.
    #[error("{peer} could not be reached at {address} within {:.1} s ({reason}); see that it was started and that `address` is right, or allow more time", .after.as_secs_f64())]
    Unreachable {
        /// Party that we dialed.
        peer: Party,
        /// Address that we dialed.
        address: String,
        /// Time for which we dialed.
        after: Duration,
        /// The last try's failure.
        reason: String,
    },
    /// A party did not dial us in time.
    #[error("{} did not connect to us within {:.1} s{}; see that it was started with our address, or allow more time", list(.missing), .after.as_secs_f64(), turned_away(.refused))]
    Missing {
        /// Parties that did not come.
        missing: Vec<Party>,
        /// Time that we waited.
        after: Duration,
        /// Reasons why those who came were turned away, if somebody came: the few refusals that tell most.
        refused: Vec<ConnectError>,
    },
    /// A party came, and not all its connections.
    #[error("only {came} of {agreed} connections with {peer} were made within {:.1} s{}: it has ended, or something between us passes only some on; see what it says", .after.as_secs_f64(), turned_away(.refused))]
    Incomplete {
        /// Party whose connections are missing.
        peer: Party,
        /// Number of connections that were made.
        came: usize,
        /// Number of connections that the two agreed on.
        agreed: usize,
        /// Time that we waited after the first.
        after: Duration,
        /// Reasons why those who came were turned away, as for [`Missing`](Self::Missing).
        refused: Vec<ConnectError>,
    },
    /// A connection of a party is none of those that the two agreed on.
    #[error(
        "a connection of {peer} from {address} was not kept: {problem}; is {peer} started twice?"
    )]
    Astray {
        /// Party that dialed it.
        peer: Party,
        /// Address that it came from.
        address: String,
        /// Reason.
        problem: &'static str,
    },
    /// The TLS connection to a party could not be made.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The other side is not whom we mean, or does not mean us.
    #[error(
        "the connection with {peer} at {address}: {what} is {theirs} there and {ours} here; start both with the same list of parties{}, each as another party",
        dealers(what)
    )]
    Card {
        /// Party that we mean.
        peer: Party,
        /// Address that we dialed.
        address: String,
        /// Name of the fact that differs.
        what: &'static str,
        /// The fact here.
        ours: String,
        /// The fact there.
        theirs: String,
    },
    /// Somebody dialed us with a number that cannot be.
    #[error(
        "somebody at {address} dialed {me} as party {claimed}, but only the parties after {me} of {parties} dial it; start each process as another party, and all with the same list of parties, with its dealer or without (a dealer is one party more)"
    )]
    Number {
        /// Address that it came from.
        address: String,
        /// Number of this party.
        me: Party,
        /// The number it gave.
        claimed: u8,
        /// Number of parties.
        parties: usize,
    },
    /// Somebody has proved to be on the list, but not to be one of those who meet.
    #[error(
        "party {index} of the list, at {address}, dialed us, but of that list only the first {parties} meet here; it was refused. Start all with the same parties, with the dealer or without (a dealer is one party more)"
    )]
    Outsider {
        /// Address that it came from.
        address: String,
        /// Place of the address in the list.
        index: usize,
        /// Number of parties that meet.
        parties: usize,
    },
    /// The other side speaks something else.
    #[error(
        "the other side at {address} does not speak madrigal's protocol version {}: it answered {got}; install the same version at both, and use the same transport",
        CARD_VERSION
    )]
    Foreign {
        /// Address.
        address: String,
        /// Text of what came.
        got: String,
    },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// Action that failed.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl ConnectError {
    /// Rates how much this tells of a party that is awaited: most if a key or certificate is named that may be
    /// that party's, least if who came did not even begin to speak as parties do (a port scanner, a probe
    /// of a load balancer, a browser).
    pub fn telling(&self) -> u8 {
        match self {
            Self::Tls(error) => match error {
                TlsError::NotTls { .. }
                | TlsError::Incompatible { .. }
                | TlsError::NoCertificate { .. }
                | TlsError::Closed { .. }
                | TlsError::Io { .. } => 0,
                _ if error.peer().is_some_and(|peer| peer.party.is_some()) => 2,
                _ => 1,
            },
            Self::Outsider { .. } => 1,
            _ => 0,
        }
    }
}

/// Hint about what else makes this fact differ.
fn dealers(what: &str) -> &'static str {
    if what == PARTIES {
        ", with its dealer or without (a dealer is one party more)"
    } else {
        ""
    }
}

fn list(parties: &[Party]) -> String {
    parties
        .iter()
        .map(Party::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn turned_away(refused: &[ConnectError]) -> String {
    let why = |why: &ConnectError| format!("; somebody was refused: {why}");
    refused.iter().map(why).collect()
}

impl ConnectError {
    pub(super) fn system(what: impl Into<String>, source: io::Error) -> Self {
        let what = what.into();
        Self::System { what, source }
    }
}
