//! Codes of refusals.

use std::fmt;

/// Reasons of a refusal, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// Bytes that are not as `schema/SERVICE.md` says, or too many of them. The connection is closed.
    Malformed,
    /// No version in common. The connection is closed.
    Version,
    /// A message that may not come at this time. The connection is closed.
    Order,
    /// A token or key that the server does not know. The connection is closed.
    Unknown,
    /// A client that may not do this.
    NotAllowed,
    /// More at once than the server takes from a client.
    Limit,
    /// A server that has much to do: the same message may be sent again later.
    Busy,
    /// Something was lost on the servers' side before there was an answer: the same message may be sent again.
    Retry,
    /// A server that stops: the same message may be sent again on another connection.
    Closing,
    /// Headers or a request that the kind does not take.
    Header,
    /// A submission whose name is there already with other content.
    Conflict,
    /// Bytes that the digest does not fit.
    Digest,
    /// A submission or output that the server does not have.
    NotFound,
    /// A quota of the server is used up.
    Quota,
    /// A submission that expired before it was complete at all servers.
    Expired,
    /// A job that failed.
    Failed,
    /// The client took the message back.
    Cancelled,
    /// A fault of the server.
    Server,
}

impl Code {
    /// All codes with their numbers on the wire.
    pub const ALL: [(Self, u32); 18] = [
        (Self::Malformed, 1),
        (Self::Version, 2),
        (Self::Order, 3),
        (Self::Unknown, 4),
        (Self::NotAllowed, 5),
        (Self::Limit, 6),
        (Self::Busy, 7),
        (Self::Retry, 8),
        (Self::Closing, 9),
        (Self::Header, 10),
        (Self::Conflict, 11),
        (Self::Digest, 12),
        (Self::NotFound, 13),
        (Self::Quota, 14),
        (Self::Expired, 15),
        (Self::Failed, 16),
        (Self::Cancelled, 17),
        (Self::Server, 18),
    ];

    /// Number on the wire.
    pub fn number(self) -> u32 {
        let found = Self::ALL.iter().find(|(code, _)| *code == self);
        found.map_or(0, |(_, number)| *number)
    }

    /// The code with a number; a number that this version does not know is a fault of the server.
    pub fn of_number(number: u32) -> Self {
        let found = Self::ALL.iter().find(|(_, other)| *other == number);
        found.map_or(Self::Server, |(code, _)| *code)
    }

    /// Whether the same message may succeed later.
    pub const fn may_retry(self) -> bool {
        matches!(self, Self::Busy | Self::Retry | Self::Closing)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Version => "no common version",
            Self::Order => "out of order",
            Self::Unknown => "client unknown",
            Self::NotAllowed => "not allowed",
            Self::Limit => "too much at once",
            Self::Busy => "busy",
            Self::Retry => "lost, to be sent again",
            Self::Closing => "stopping",
            Self::Header => "not what the kind takes",
            Self::Conflict => "submission changed",
            Self::Digest => "wrong digest",
            Self::NotFound => "not there",
            Self::Quota => "quota used up",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Cancelled => "taken back",
            Self::Server => "fault of the server",
        })
    }
}
