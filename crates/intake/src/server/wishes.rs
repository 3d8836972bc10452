//! Wishes of clients.

use madrigal_clients::Header;
use madrigal_core::Digest256;

use crate::from_client::{Begin, Fetch, Hello, Of, Piece, Requests, Whole};

/// Wishes of a client, each checked as far as the connection's state and the kinds go. Each wants the answer that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Greeting: [`ServerConnection::welcome`](crate::ServerConnection::welcome) or [`ServerConnection::reject`](crate::ServerConnection::reject).
    Hello(Hello),
    /// Beginning of an upload, with its headers: [`ServerConnection::begun`](crate::ServerConnection::begun), [`ServerConnection::accepted`](crate::ServerConnection::accepted) or a refusal.
    Begin(Begin, Vec<Header>),
    /// The next piece of an upload: [`ServerConnection::taken`](crate::ServerConnection::taken) when it is no longer in memory.
    Piece(Piece),
    /// End of an upload whose pieces all came: [`ServerConnection::accepted`](crate::ServerConnection::accepted) or a refusal.
    End {
        /// Number of the upload.
        number: u64,
    },
    /// A submission whose digest fits: [`ServerConnection::taken`](crate::ServerConnection::taken), and [`ServerConnection::accepted`](crate::ServerConnection::accepted) or a refusal.
    Whole(Whole, Vec<Header>),
    /// Wish for a state: [`ServerConnection::state`](crate::ServerConnection::state).
    Status {
        /// Number of the message.
        number: u64,
        /// Name of the submission.
        id: Digest256,
    },
    /// Wish for a job: [`ServerConnection::finished`](crate::ServerConnection::finished) or [`ServerConnection::state`](crate::ServerConnection::state).
    Wait {
        /// Number of the message.
        number: u64,
        /// The submission, or the batch that came before.
        of: Of,
    },
    /// Wish for a piece of an output: [`ServerConnection::output_piece`](crate::ServerConnection::output_piece) or a refusal.
    Fetch(Fetch),
    /// Requests of the size of their kind: [`ServerConnection::answers`](crate::ServerConnection::answers), in any groups, or refusals.
    Requests(Requests),
    /// The client does without the answer to a message that is open: that answer all the same, or a refusal with [`Code::Cancelled`](crate::Code::Cancelled).
    Cancel {
        /// Number of that message.
        number: u64,
    },
}
