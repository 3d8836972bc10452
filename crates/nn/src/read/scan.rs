//! Counts a file's messages before they are decoded: an empty message is two bytes there, and hundreds in memory.

use madrigal_core::Budget;

use super::error::ReadError;
use super::limits::LONGEST_NAME;
use crate::proto;

/// The messages whose parts are counted.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    /// A name.
    Name,
    /// A name that is no part by itself, as that of a node.
    OwnName,
    /// Message whose own fields are no messages.
    Leaf,
}

impl Kind {
    /// Bytes of memory: its own, which a growing list may have twice.
    fn bytes(self) -> u64 {
        let own = match self {
            Kind::Model => size_of::<proto::Model>(),
            Kind::Graph => size_of::<proto::Graph>(),
            Kind::Node => size_of::<proto::Node>(),
            Kind::Attribute => size_of::<proto::Attribute>(),
            Kind::Tensor => size_of::<proto::Tensor>(),
            Kind::ValueInfo => size_of::<proto::ValueInfo>(),
            Kind::Type | Kind::TensorType => size_of::<proto::TensorType>(),
            Kind::Shape => size_of::<proto::Shape>(),
            Kind::Name => size_of::<String>(),
            Kind::OwnName => 0,
            Kind::Leaf => size_of::<proto::Property>(),
        };
        2 * own as u64
    }
}

/// Gives the message that a field of a message holds, if that is decoded with a size of its own. The numbers are those of
/// schema/onnx.proto.
fn inside(kind: Kind, field: u64) -> Option<Kind> {
    Some(match (kind, field) {
        (Kind::Model, 7) => Kind::Graph,
        (Kind::Model, 8 | 14 | 20 | 25) => Kind::Leaf,
        (Kind::Graph, 1) => Kind::Node,
        (Kind::Graph, 5) | (Kind::Attribute, 5) => Kind::Tensor,
        (Kind::Graph, 15) => Kind::Leaf,
        (Kind::Tensor, 13) => Kind::Leaf,
        (Kind::Graph, 11 | 12) => Kind::ValueInfo,
        (Kind::Node, 1 | 2) => Kind::Name,
        (Kind::Node, 3 | 4 | 7) | (Kind::Attribute | Kind::ValueInfo, 1) | (Kind::Tensor, 8) => {
            Kind::OwnName
        }
        (Kind::Node, 5) => Kind::Attribute,
        (Kind::Attribute, 9) => Kind::Leaf,
        (Kind::ValueInfo, 2) => Kind::Type,
        (Kind::Type, 1) => Kind::TensorType,
        (Kind::TensorType, 2) => Kind::Shape,
        (Kind::Shape, 1) => Kind::Leaf,
        _ => return None,
    })
}

/// Fails if the file has more than `limit` messages and names, takes more memory than the budget has, or is no protobuf.
pub(super) fn count(file: &[u8], limit: usize, budget: &Budget) -> Result<(), ReadError> {
    let mut parts = Parts {
        left: limit,
        limit,
        budget,
    };
    // Depth is bounded by `inside`: no message holds one of its own kind.
    parts.message(file, Kind::Model)
}

/// Parts that may still be counted.
struct Parts<'a> {
    left: usize,
    limit: usize,
    budget: &'a Budget,
}

impl Parts<'_> {
    fn message(&mut self, mut bytes: &[u8], kind: Kind) -> Result<(), ReadError> {
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            match key & 7 {
                0 => drop(varint(&mut bytes)?),
                1 => drop(take(&mut bytes, 8)?),
                2 => {
                    let length = varint(&mut bytes)?;
                    let length = usize::try_from(length).map_err(|_| cut())?;
                    let content = take(&mut bytes, length)?;
                    if let Some(inner) = inside(kind, key >> 3) {
                        self.part(content, inner)?;
                    }
                }
                5 => drop(take(&mut bytes, 4)?),
                other => {
                    let error = format!("a field of the unknown kind {other}");
                    return Err(ReadError::Malformed(error));
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, content: &[u8], kind: Kind) -> Result<(), ReadError> {
        if matches!(kind, Kind::Name | Kind::OwnName) && content.len() > LONGEST_NAME {
            let found = content.len();
            return Err(ReadError::Name { found });
        }
        if !matches!(kind, Kind::OwnName) {
            let limit = self.limit;
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(ReadError::TooManyParts { limit })?;
            self.budget.take(kind.bytes()).map_err(ReadError::Memory)?;
        }
        match kind {
            Kind::Leaf | Kind::Name | Kind::OwnName => Ok(()),
            kind => self.message(content, kind),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ReadError> {
    prost::encoding::decode_varint(bytes).map_err(|e| ReadError::Malformed(e.to_string()))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], ReadError> {
    let (head, tail) = bytes.split_at_checked(count).ok_or_else(cut)?;
    *bytes = tail;
    Ok(head)
}

fn cut() -> ReadError {
    ReadError::Malformed("it ends within a field".into())
}
