//! Counts a file's messages before they are decoded: an empty message is two bytes there, and hundreds in memory.

use super::ReadError;

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
    /// Its own fields are no messages.
    Leaf,
}

/// Which message a field of a message holds, if that is decoded with a size of its own. As in schema/onnx.proto.
fn inside(kind: Kind, field: u64) -> Option<Kind> {
    Some(match (kind, field) {
        (Kind::Model, 7) => Kind::Graph,
        (Kind::Model, 8 | 14 | 20 | 25) => Kind::Leaf,
        (Kind::Graph, 1) => Kind::Node,
        (Kind::Graph, 5) | (Kind::Attribute, 5) => Kind::Tensor,
        (Kind::Graph, 15) => Kind::Leaf,
        (Kind::Tensor, 13) => Kind::Leaf,
        (Kind::Graph, 11 | 12) => Kind::ValueInfo,
        (Kind::Node, 1 | 2) => Kind::Leaf,
        (Kind::Node, 5) => Kind::Attribute,
        (Kind::Attribute, 9) => Kind::Leaf,
        (Kind::ValueInfo, 2) => Kind::Type,
        (Kind::Type, 1) => Kind::TensorType,
        (Kind::TensorType, 2) => Kind::Shape,
        (Kind::Shape, 1) => Kind::Leaf,
        _ => return None,
    })
}

/// Fails if the file has more than `limit` messages and names, or is no protobuf.
pub(super) fn count(file: &[u8], limit: usize) -> Result<(), ReadError> {
    let mut left = limit;
    // Depth is bounded by `inside`: no message holds one of its own kind.
    message(file, Kind::Model, &mut left, limit)
}

fn message(mut bytes: &[u8], kind: Kind, left: &mut usize, limit: usize) -> Result<(), ReadError> {
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
                    *left = left
                        .checked_sub(1)
                        .ok_or(ReadError::TooManyParts { limit })?;
                    if !matches!(inner, Kind::Leaf) {
                        message(content, inner, left, limit)?;
                    }
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
