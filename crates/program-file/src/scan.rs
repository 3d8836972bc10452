//! Counts a file's messages before they are decoded: an empty node is two bytes there, and hundreds in memory.

use madrigal_core::Budget;

use crate::error::ReadError;
use crate::proto;

/// Messages that hold others, or of which there may be many.
#[derive(Clone, Copy)]
enum Message {
    Program,
    Graph,
    Node,
    Output,
    /// Message of which there may be many, whose own fields are counted with it.
    Leaf,
    Text,
}

impl Message {
    /// Bytes of memory: its own, which a growing list may have twice.
    fn bytes(self) -> u64 {
        let own = match self {
            Self::Program => size_of::<proto::Program>(),
            Self::Graph => size_of::<proto::Graph>(),
            Self::Node => size_of::<proto::Node>(),
            Self::Output => size_of::<proto::Output>(),
            Self::Leaf => size_of::<proto::Input>(),
            Self::Text => size_of::<String>(),
        };
        2 * own as u64
    }

    /// The message that a field holds. The numbers are those of schema/program.proto.
    fn inside(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Program, 4 | 5 | 10) | (Self::Output, 1) => Self::Leaf,
            (Self::Program, 9) => Self::Output,
            (Self::Program, 3 | 6 | 7) | (Self::Node, 4) => Self::Text,
            (Self::Program, 8) | (Self::Node, 6) => Self::Graph,
            (Self::Graph, 1) => Self::Node,
            _ => return None,
        })
    }
}

/// Bodies in bodies: deeper ones are refused, since what reads them calls itself.
const DEEPEST: usize = 16;

/// Fails if the file has more than `limit` messages, takes more memory than the budget has, or is no protobuf.
pub(crate) fn count(file: &[u8], limit: usize, budget: &Budget) -> Result<(), ReadError> {
    let mut parts = Parts {
        left: limit,
        limit,
        budget,
    };
    parts.message(file, Message::Program, 0)
}

/// Parts that may still be counted.
struct Parts<'a> {
    left: usize,
    limit: usize,
    budget: &'a Budget,
}

impl Parts<'_> {
    fn message(&mut self, mut bytes: &[u8], kind: Message, depth: usize) -> Result<(), ReadError> {
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            match key & 7 {
                0 => drop(varint(&mut bytes)?),
                1 => drop(take(&mut bytes, 8)?),
                2 => {
                    let length = varint(&mut bytes)?;
                    let length = usize::try_from(length).map_err(|_| cut())?;
                    let content = take(&mut bytes, length)?;
                    if let Some(inner) = kind.inside(key >> 3) {
                        self.part(content, inner, depth)?;
                    }
                }
                5 => drop(take(&mut bytes, 4)?),
                other => {
                    let problem = format!("a field of the unknown kind {other}");
                    return Err(ReadError::Malformed(problem));
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, content: &[u8], kind: Message, depth: usize) -> Result<(), ReadError> {
        let limit = self.limit;
        self.left = self.left.checked_sub(1).ok_or(ReadError::TooMany {
            what: "parts",
            limit,
        })?;
        self.budget.take(kind.bytes())?;
        let depth = depth + usize::from(matches!(kind, Message::Graph));
        if depth > DEEPEST {
            return Err(ReadError::TooMany {
                what: "bodies within each other",
                limit: DEEPEST,
            });
        }
        match kind {
            Message::Text | Message::Leaf => Ok(()),
            kind => self.message(content, kind, depth),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ReadError> {
    prost::encoding::decode_varint(bytes).map_err(|error| ReadError::Malformed(error.to_string()))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], ReadError> {
    let (head, tail) = bytes.split_at_checked(count).ok_or_else(cut)?;
    *bytes = tail;
    Ok(head)
}

fn cut() -> ReadError {
    ReadError::Malformed("it ends within a field".into())
}
