//! Reasons why a client of a service does not get what it wants.

use std::io;
use std::path::PathBuf;

use madrigal_clients::{ShareFault, ShareFileError};
use madrigal_core::text::plain;
use madrigal_intake::{Code, HeadersError, ReceiptError, State};

use crate::dial::DialError;

/// A server of a service, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// Place in the list.
    pub place: usize,
    /// Name in the list.
    pub name: String,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "server {} `{}`", self.place, self.name)
    }
}

/// Shares of an answer that do not make a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// Another number of shares, or one of another size.
    #[error(
        "the answer has not 32 bytes of each of three servers: the service answers another kind of requests"
    )]
    Size,
    /// Copies of a part differ.
    #[error(
        "servers {} and {} have different copies of a part of the answer: one of them computes wrongly", .between[0], .between[1]
    )]
    Differ {
        /// The two servers.
        between: [usize; 2],
    },
}

/// Reasons why a client of a service does not get what it wants.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No connection to a server.
    #[error("{server}: {fault}")]
    Dial {
        /// The server.
        server: At,
        /// Reason.
        fault: Box<DialError>,
    },
    /// A connection that was lost, again and again.
    #[error(
        "the connection to {server} is lost: {why}; try again, the submission or job is not lost with it"
    )]
    Lost {
        /// The server.
        server: At,
        /// Reason of the last loss.
        why: String,
    },
    /// A server that refuses.
    #[error("{server} refuses ({code}): {}", plain(text))]
    Refused {
        /// The server.
        server: At,
        /// Reason for programs.
        code: Code,
        /// Reason in words.
        text: String,
    },
    /// Servers that are not one service.
    #[error(
        "{} and {} are not one service: {what} is {got} at the one and {expected} at the other; ask their operators, and submit nothing until they agree",
        servers[0], servers[1]
    )]
    Differs {
        /// Both of them.
        servers: Box<[At; 2]>,
        /// Fact in which they differ, as in ``kind `survey`: program``.
        what: String,
        /// Content at the one.
        got: String,
        /// Content at the other.
        expected: String,
    },
    /// A server that is another one than the list says.
    #[error(
        "{server} says that its {what} is {got}, and the list says {expected}: correct service-client.toml, or ask its operator"
    )]
    Listed {
        /// The server.
        server: At,
        /// Fact that differs.
        what: &'static str,
        /// Content at the server.
        got: String,
        /// Content of the list.
        expected: String,
    },
    /// A kind that the servers do not have.
    #[error("the servers have no kind `{}`; they have {}", plain(kind), there.join(", "))]
    NoKind {
        /// Name that was asked for.
        kind: String,
        /// Names of the kinds.
        there: Vec<String>,
    },
    /// A kind of the other sort.
    #[error("kind `{}` is of {is}, and not of {wanted}", plain(kind))]
    Sort {
        /// Name of the kind.
        kind: String,
        /// Sort that it is of.
        is: &'static str,
        /// Sort that was wanted.
        wanted: &'static str,
    },
    /// Inputs that are not the kind's.
    #[error(
        "the inputs are {got}, and kind `{kind}` takes {expected}: give each of its inputs a value"
    )]
    Inputs {
        /// Name of the kind.
        kind: String,
        /// Names that were given.
        got: String,
        /// Names of the kind's.
        expected: String,
    },
    /// A value that the kind's input does not take.
    #[error(
        "input `{input}` of kind `{kind}` is {expected}, and the value is {got}: give one of that type and shape"
    )]
    Value {
        /// Name of the kind.
        kind: String,
        /// Name of the input.
        input: String,
        /// Value that was given, in words.
        got: String,
        /// Value that the kind takes, in words.
        expected: String,
    },
    /// A value that cannot be dealt.
    #[error("{0}")]
    Deal(Box<ShareFault>),
    /// Headers that no submission has.
    #[error("{0}")]
    Headers(Box<HeadersError>),
    /// A receipt that is none.
    #[error("the receipt of {server}: {fault}")]
    Receipt {
        /// The server.
        server: At,
        /// Fault.
        fault: Box<ReceiptError>,
    },
    /// Receipts of a job that do not go together.
    #[error("{0}")]
    JobReceipts(Box<ReceiptError>),
    /// A submission without a result.
    #[error("{server} says that the submission is {}", in_words(state))]
    NoResult {
        /// The server.
        server: At,
        /// State of the submission there.
        state: State,
    },
    /// An output that is not the one of the job's receipt.
    #[error(
        "output `{}` of {server}: {what}; do not use it, and ask the operator",
        plain(output)
    )]
    Output {
        /// The server.
        server: At,
        /// Name of the output.
        output: String,
        /// Fault, in words.
        what: String,
    },
    /// Shares that do not go together.
    #[error("{0}")]
    Combine(#[from] ShareFileError),
    /// Requests of a wrong size.
    #[error(
        "the requests have {got} bytes for a server; it takes 1 to {window} requests of {each} bytes at once, the same number at all servers"
    )]
    Requests {
        /// Bytes that were given.
        got: usize,
        /// Bytes of a request.
        each: usize,
        /// Requests that can be on their way.
        window: usize,
    },
    /// An answer to a request that is no block.
    #[error(
        "kind `{}`: {fault}; do not use the answers, and ask the operators",
        plain(kind)
    )]
    Block {
        /// Name of the kind.
        kind: String,
        /// Fault.
        fault: BlockError,
    },
    /// Bytes that are no submission.
    #[error("the bytes are no submission: {what}")]
    Bytes {
        /// Fault and remedy.
        what: &'static str,
    },
    /// A server that does not keep to the protocol.
    #[error(
        "{server} does not keep to the protocol: {what}; do not use what it gave, and ask its operator"
    )]
    Fault {
        /// The server.
        server: At,
        /// Fault in words.
        what: String,
    },
    /// A body that cannot be read while it is sent.
    #[error("the values cannot be read again while they are sent: {0}")]
    Body(String),
    /// A file of this client.
    #[error("{}: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Fault and remedy.
        what: String,
    },
    /// Error of reading or writing.
    #[error("cannot read or write {}: {source}; check the path and its permissions", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Answer of the system.
        source: io::Error,
    },
}

impl ClientError {
    /// The server at fault, where it is one.
    pub fn server(&self) -> Option<&At> {
        match self {
            Self::Dial { server, .. }
            | Self::Lost { server, .. }
            | Self::Refused { server, .. }
            | Self::Listed { server, .. }
            | Self::Receipt { server, .. }
            | Self::NoResult { server, .. }
            | Self::Output { server, .. }
            | Self::Fault { server, .. } => Some(server),
            _ => None,
        }
    }

    /// Whether the same may work later: nothing is wrong with what was asked for.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Dial { fault, .. } => fault.may_pass(),
            Self::Lost { .. } => true,
            Self::Refused { code, .. } => code.may_retry(),
            _ => false,
        }
    }
}

impl From<ReceiptError> for ClientError {
    fn from(fault: ReceiptError) -> Self {
        Self::JobReceipts(Box::new(fault))
    }
}

impl From<ShareFault> for ClientError {
    fn from(fault: ShareFault) -> Self {
        Self::Deal(Box::new(fault))
    }
}

impl From<HeadersError> for ClientError {
    fn from(fault: HeadersError) -> Self {
        Self::Headers(Box::new(fault))
    }
}

fn in_words(state: &State) -> String {
    match state {
        State::Unknown => {
            "unknown there: it was never accepted, or was forgotten after its time".into()
        }
        State::Expired => {
            "expired: it was not complete at all servers in time; submit again".into()
        }
        State::Failed { batch, reason } => {
            format!("in batch {batch}, which failed: {}", plain(reason))
        }
        State::Receiving { offset } => format!("incomplete after {offset} bytes: submit it again"),
        State::Accepted => "accepted, and waits for its job".into(),
        State::Held { reason } => format!("accepted, and held: {}", plain(reason)),
        State::InBatch { batch } => format!("in batch {batch}, whose job runs"),
        State::Counted { batch } => format!("counted in batch {batch}"),
    }
}
