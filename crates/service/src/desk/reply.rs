//! Answers of the desk.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use madrigal_intake::{Code, Finished, OutputPiece, Refused, ServerConnection, Signed, State};

/// A refusal of a message: its number, the reason for programs and for people.
pub(super) type No = (u64, Code, String);

/// Answers of the desk, which the connection's machine checks again.
#[derive(Debug)]
pub(crate) enum Reply {
    Begun {
        number: u64,
        offset: u64,
    },
    Accepted {
        number: u64,
        receipt: Signed,
    },
    /// Bytes of a body are no longer in memory.
    Taken(u64),
    State {
        number: u64,
        state: State,
    },
    Finished(Finished),
    Piece(OutputPiece),
    Refused(Refused),
}

impl Reply {
    /// Hands the answer to the connection's machine. An answer to what the client has taken back goes nowhere.
    pub(crate) fn apply(self, connection: &mut ServerConnection) {
        let _ = match self {
            Self::Begun { number, offset } => connection.begun(number, offset),
            Self::Accepted { number, receipt } => connection.accepted(number, receipt),
            Self::Taken(bytes) => {
                connection.taken(bytes);
                true
            }
            Self::State { number, state } => connection.state(number, state),
            Self::Finished(finished) => connection.finished(finished),
            Self::Piece(piece) => connection.output_piece(piece),
            Self::Refused(refused) => connection.refuse(refused),
        };
    }

    /// Number of the message that needs no other answer.
    pub(crate) fn answers(&self) -> Option<u64> {
        match self {
            Self::Accepted { number, .. } | Self::State { number, .. } => Some(*number),
            Self::Finished(finished) => Some(finished.number),
            Self::Piece(piece) => Some(piece.number),
            Self::Refused(refused) => Some(refused.number),
            Self::Begun { .. } | Self::Taken(_) => None,
        }
    }
}

/// Answers that are on their way.
pub(crate) type Pending = FuturesUnordered<BoxFuture<'static, Vec<Reply>>>;
