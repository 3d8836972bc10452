//! Counts a file's messages before they are decoded: an empty message is two bytes there, and hundreds in memory.

use madrigal_core::Budget;

use super::error::ReadError;
use super::limits::LONGEST_NAME;
use crate::proto;

/// The messages whose parts are counted.
#[derive(Clone, Copy)]
enum MessageKind {
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

impl MessageKind {
    /// Bytes of memory: its own, which a growing list may have twice.
    fn bytes(self) -> u64 {
        let own = match self {
            MessageKind::Model => size_of::<proto::Model>(),
            MessageKind::Graph => size_of::<proto::Graph>(),
            MessageKind::Node => size_of::<proto::Node>(),
            MessageKind::Attribute => size_of::<proto::Attribute>(),
            MessageKind::Tensor => size_of::<proto::Tensor>(),
            MessageKind::ValueInfo => size_of::<proto::ValueInfo>(),
            MessageKind::Type | MessageKind::TensorType => size_of::<proto::TensorType>(),
            MessageKind::Shape => size_of::<proto::Shape>(),
            MessageKind::Name => size_of::<String>(),
            MessageKind::OwnName => 0,
            MessageKind::Leaf => size_of::<proto::Property>(),
        };
        2 * own as u64
    }
}

/// Gives the message that a field of a message holds, if that is decoded with a size of its own. The numbers are those of
/// schema/onnx.proto.
fn inside(kind: MessageKind, field: u64) -> Option<MessageKind> {
    Some(match (kind, field) {
        (MessageKind::Model, 7) => MessageKind::Graph,
        (MessageKind::Model, 8 | 14 | 20 | 25) => MessageKind::Leaf,
        (MessageKind::Graph, 1) => MessageKind::Node,
        (MessageKind::Graph, 5) | (MessageKind::Attribute, 5) => MessageKind::Tensor,
        (MessageKind::Graph, 15) => MessageKind::Leaf,
        (MessageKind::Tensor, 13) => MessageKind::Leaf,
        (MessageKind::Graph, 11 | 12) => MessageKind::ValueInfo,
        (MessageKind::Node, 1 | 2) => MessageKind::Name,
        (MessageKind::Node, 3 | 4 | 7)
        | (MessageKind::Attribute | MessageKind::ValueInfo, 1)
        | (MessageKind::Tensor, 8) => MessageKind::OwnName,
        (MessageKind::Node, 5) => MessageKind::Attribute,
        (MessageKind::Attribute, 9) => MessageKind::Leaf,
        (MessageKind::ValueInfo, 2) => MessageKind::Type,
        (MessageKind::Type, 1) => MessageKind::TensorType,
        (MessageKind::TensorType, 2) => MessageKind::Shape,
        (MessageKind::Shape, 1) => MessageKind::Leaf,
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
    parts.message(file, MessageKind::Model)
}

/// Parts that may still be counted.
struct Parts<'a> {
    left: usize,
    limit: usize,
    budget: &'a Budget,
}

impl Parts<'_> {
    fn message(&mut self, mut bytes: &[u8], kind: MessageKind) -> Result<(), ReadError> {
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

    fn part(&mut self, content: &[u8], kind: MessageKind) -> Result<(), ReadError> {
        if matches!(kind, MessageKind::Name | MessageKind::OwnName) && content.len() > LONGEST_NAME
        {
            let found = content.len();
            return Err(ReadError::Name { found });
        }
        if !matches!(kind, MessageKind::OwnName) {
            let limit = self.limit;
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(ReadError::TooManyParts { limit })?;
            self.budget.take(kind.bytes()).map_err(ReadError::Memory)?;
        }
        match kind {
            MessageKind::Leaf | MessageKind::Name | MessageKind::OwnName => Ok(()),
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
