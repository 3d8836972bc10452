//! Tensors as files hold them.

use madrigal_core::budget::{Budget, Spent};

use crate::half::{bf16_value, f16_value};
use crate::proto;
use crate::read::limits::Limits;
use crate::tensor::{Data, Element, MAX_RANK, Tensor, elements};

/// Faults of a tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorFault {
    /// No tensor at all.
    #[error("this is no tensor, or a damaged one: {0}")]
    Malformed(String),
    /// An element type that is not supported.
    #[error(
        "its elements are of type {0} in ONNX's numbering, which is not supported: use floats of 16 to 64 bits, integers \
         of 8 to 64, or bool"
    )]
    Element(i32),
    /// More dimensions than allowed.
    #[error("it has {0} dimensions, and 64 are allowed")]
    Rank(usize),
    /// A dimension below 0.
    #[error("one of its dimensions {0:?} is below 0: the file is damaged")]
    Dimension(Vec<i64>),
    /// More elements than allowed.
    #[error(
        "it has the dimensions {shape:?}, and {limit} elements are allowed: split it, or raise `Limits::elements`"
    )]
    TooLarge {
        /// Dimensions of the tensor.
        shape: Vec<i64>,
        /// Number of elements that is allowed.
        limit: usize,
    },
    /// A tensor that takes more memory than allowed.
    #[error("it has the dimensions {shape:?}: {spent}")]
    Memory {
        /// Dimensions of the tensor.
        shape: Vec<i64>,
        /// Memory that is left.
        spent: Spent,
    },
    /// More or fewer bytes than its dimensions ask for.
    #[error("its dimensions ask for {expected} {unit}, and there are {found}: the file is damaged")]
    Length {
        /// Elements that the dimensions ask for.
        expected: u64,
        /// Elements that are there.
        found: u64,
        /// Bytes or elements.
        unit: &'static str,
    },
    /// Data in another file that was not fetched: `Model::read_beside` fetches that of initializers.
    #[error(
        "its data is in another file, which is not there or not supported here: save the model in one file \
         (torch.onnx.export with external_data=False, or onnx.save(onnx.load(FILE), OTHER))"
    )]
    External,
    /// A part of another tensor.
    #[error("it is a segment of a tensor, which is not supported: save it whole")]
    Segment,
}

/// A tensor of a file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tensor {tensor:?}: {fault}")]
pub struct StoredTensorError {
    /// Name of the tensor.
    pub tensor: String,
    /// Fault of the tensor.
    pub fault: TensorFault,
}

/// The element type of ONNX's number.
pub(crate) fn element(code: i64) -> Option<Element> {
    Some(match code {
        1 => Element::F32,
        2 => Element::U8,
        3 => Element::I8,
        4 => Element::U16,
        5 => Element::I16,
        6 => Element::I32,
        7 => Element::I64,
        9 => Element::Bool,
        10 => Element::F16,
        11 => Element::F64,
        12 => Element::U32,
        13 => Element::U64,
        16 => Element::BF16,
        _ => return None,
    })
}

/// Checks and decodes a tensor, whose memory is taken off a budget.
pub(crate) fn tensor(
    stored: &proto::Tensor,
    limits: &Limits,
    budget: &Budget,
) -> Result<Tensor, StoredTensorError> {
    decode(stored, limits, budget).map_err(|fault| StoredTensorError {
        tensor: stored.name.clone(),
        fault,
    })
}

fn decode(stored: &proto::Tensor, limits: &Limits, budget: &Budget) -> Result<Tensor, TensorFault> {
    if stored.data_location != 0 {
        return Err(TensorFault::External);
    }
    if stored.segment.is_some() {
        return Err(TensorFault::Segment);
    }
    let code = stored.data_type;
    let element = element(i64::from(code)).ok_or(TensorFault::Element(code))?;
    if stored.dims.len() > MAX_RANK {
        return Err(TensorFault::Rank(stored.dims.len()));
    }
    let shape: Result<Vec<usize>, _> = stored.dims.iter().map(|&d| usize::try_from(d)).collect();
    let shape = shape.map_err(|_| TensorFault::Dimension(stored.dims.clone()))?;
    let count = elements(&shape).filter(|&count| count <= limits.elements);
    let count = count.ok_or_else(|| TensorFault::TooLarge {
        shape: stored.dims.clone(),
        limit: limits.elements,
    })?;
    // No more than eight times what is there: that is looked at first.
    let data = match stored.raw_data.is_empty() {
        true => listed(stored, element, count)?,
        false => raw(&stored.raw_data, element, count)?,
    };
    budget
        .take(element.kept(count))
        .map_err(|spent| TensorFault::Memory {
            shape: stored.dims.clone(),
            spent,
        })?;
    Ok(Tensor::made(element, shape, data))
}

/// The elements of `raw_data`: little endian, one after the other.
fn raw(bytes: &[u8], element: Element, count: usize) -> Result<Data, TensorFault> {
    let size = element.bytes();
    let expected = count as u64 * size as u64;
    if bytes.len() as u64 != expected {
        return Err(TensorFault::Length {
            expected,
            found: bytes.len() as u64,
            unit: "bytes",
        });
    }
    fn all<const N: usize, T>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
        let (chunks, _) = bytes.as_chunks::<N>();
        chunks.iter().map(|&chunk| value(chunk)).collect()
    }
    Ok(match element {
        Element::F16 => Data::F32(all(bytes, |b| f16_value(u16::from_le_bytes(b)))),
        Element::BF16 => Data::F32(all(bytes, |b| bf16_value(u16::from_le_bytes(b)))),
        Element::F32 => Data::F32(all(bytes, f32::from_le_bytes)),
        Element::F64 => Data::F64(all(bytes, f64::from_le_bytes)),
        Element::I8 => Data::Int(all(bytes, |b| i64::from(i8::from_le_bytes(b)))),
        Element::I16 => Data::Int(all(bytes, |b| i64::from(i16::from_le_bytes(b)))),
        Element::I32 => Data::Int(all(bytes, |b| i64::from(i32::from_le_bytes(b)))),
        Element::U8 => Data::Int(all(bytes, |[b]: [u8; 1]| i64::from(b))),
        Element::U16 => Data::Int(all(bytes, |b| i64::from(u16::from_le_bytes(b)))),
        Element::U32 => Data::Int(all(bytes, |b| i64::from(u32::from_le_bytes(b)))),
        Element::I64 | Element::U64 => Data::Int(all(bytes, i64::from_le_bytes)),
        Element::Bool => Data::Bool(all(bytes, |[b]: [u8; 1]| b != 0)),
    })
}

/// The elements of the field that belongs to their type.
fn listed(stored: &proto::Tensor, element: Element, count: usize) -> Result<Data, TensorFault> {
    let small = &stored.int32_data;
    let checked = |found: usize| match found == count {
        true => Ok(()),
        false => Err(TensorFault::Length {
            expected: count as u64,
            found: found as u64,
            unit: "elements",
        }),
    };
    Ok(match element {
        Element::F32 => {
            checked(stored.float_data.len())?;
            Data::F32(stored.float_data.clone())
        }
        Element::F64 => {
            checked(stored.double_data.len())?;
            Data::F64(stored.double_data.clone())
        }
        Element::I64 => {
            checked(stored.int64_data.len())?;
            Data::Int(stored.int64_data.clone())
        }
        Element::U32 | Element::U64 => {
            checked(stored.uint64_data.len())?;
            Data::Int(stored.uint64_data.iter().map(|&v| v as i64).collect())
        }
        _ => {
            checked(small.len())?;
            let bits = small.iter().map(|&v| v as u16);
            match element {
                Element::F16 => Data::F32(bits.map(f16_value).collect()),
                Element::BF16 => Data::F32(bits.map(bf16_value).collect()),
                Element::Bool => Data::Bool(small.iter().map(|&v| v != 0).collect()),
                _ => Data::Int(small.iter().map(|&v| i64::from(v)).collect()),
            }
        }
    })
}
