//! NumPy's files of one array (`.npy`), format versions 1 to 3.
//!
//! Read are arrays of `float32`, `float64`, integers and Booleans, little endian, in C order or in Fortran's;
//! written are those in C order, version 1.0. Source: `numpy.lib.format`'s description of the format.

use crate::half::f16_value;
use crate::tensor::{Data, Element, Tensor, elements};

/// Bytes that a header may have. NumPy's own are below 200.
const HEADER: usize = 1 << 16;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Reasons why a file is no array, or none that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// A file that does not begin as such files do.
    #[error("this is no .npy file: write it with numpy.save")]
    Magic,
    /// A version of the format that does not exist yet.
    #[error("this .npy file has format version {0}; supported: 1 to 3")]
    Version(u8),
    /// A file that ends early.
    #[error("the .npy file ends within its header: it is damaged")]
    Cut,
    /// An absurdly long header.
    #[error("the .npy file has a header of {0} bytes, and 65536 are allowed: it is damaged")]
    Header(usize),
    /// The header is not what NumPy writes.
    #[error(
        "the .npy file's header {0:?} lacks 'descr', 'fortran_order' or 'shape': it is damaged"
    )]
    Fields(String),
    /// Elements that are not supported.
    #[error(
        "the .npy file has elements of type {0:?}; supported: little-endian floats, integers and Booleans \
         (convert with astype('float32'))"
    )]
    Element(String),
    /// More elements than can be counted.
    #[error("the .npy file has the shape {0:?}: more elements than can be counted")]
    Shape(Vec<usize>),
    /// Another number of bytes than the shape asks for.
    #[error("the .npy file's shape asks for {expected} bytes of data, and there are {found}")]
    Length {
        /// Bytes that the shape asks for.
        expected: usize,
        /// Bytes that are there.
        found: usize,
    },
}

/// Reads a file. Memory follows its length, not what its header announces.
///
/// # Errors
/// [`NpyError`] if it is no such file, or has elements that are not supported.
pub fn read(file: &[u8]) -> Result<Tensor, NpyError> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::Magic)?;
    let (&[major, _minor], rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Cut)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(NpyError::Cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        other => return Err(NpyError::Version(other)),
    };
    if length > HEADER {
        return Err(NpyError::Header(length));
    }
    let (header, data) = rest.split_at_checked(length).ok_or(NpyError::Cut)?;
    let header = String::from_utf8_lossy(header);
    let fields = || NpyError::Fields(header.trim().to_string());
    let kind = quoted(after(&header, "descr").ok_or_else(fields)?).ok_or_else(fields)?;
    let order = after(&header, "fortran_order").ok_or_else(fields)?;
    let fortran = match (order.starts_with("True"), order.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => return Err(fields()),
    };
    let shape = tuple(after(&header, "shape").ok_or_else(fields)?).ok_or_else(fields)?;
    let element = element(kind).ok_or_else(|| NpyError::Element(kind.to_string()))?;
    let count = elements(&shape).ok_or_else(|| NpyError::Shape(shape.clone()))?;
    let expected = count.checked_mul(element.bytes());
    let expected = expected.ok_or_else(|| NpyError::Shape(shape.clone()))?;
    if data.len() != expected {
        return Err(NpyError::Length {
            expected,
            found: data.len(),
        });
    }
    let values = decode(data, element);
    if !fortran || shape.len() < 2 {
        return Ok(Tensor::made(element, shape, values));
    }
    // The first index moves fastest: the transpose of an array in C order.
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let mirrored = Tensor::made(element, reversed, values);
    let axes = (0..shape.len()).rev().collect();
    let to = crate::graph::Type { element, shape };
    Ok(crate::evaluate::transpose(axes, &mirrored, &to))
}

/// Gives the text after a key of the header, a Python dictionary.
fn after<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quotes = [format!("'{key}'"), format!("\"{key}\"")];
    let (at, found) = quotes
        .iter()
        .find_map(|key| header.find(key).map(|at| (at, key)))?;
    let rest = header[at + found.len()..].trim_start();
    Some(rest.strip_prefix(':')?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

fn tuple(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let numbers = inside.split(',').map(str::trim);
    let numbers = numbers.filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

fn element(kind: &str) -> Option<Element> {
    Some(match kind {
        "<f2" => Element::F16,
        "<f4" => Element::F32,
        "<f8" => Element::F64,
        "|i1" => Element::I8,
        "<i2" => Element::I16,
        "<i4" => Element::I32,
        "<i8" => Element::I64,
        "|u1" => Element::U8,
        "<u2" => Element::U16,
        "<u4" => Element::U32,
        "<u8" => Element::U64,
        "|b1" => Element::Bool,
        _ => return None,
    })
}

fn decode(data: &[u8], element: Element) -> Data {
    let mut bytes = data.chunks_exact(element.bytes()).map(|chunk| {
        let mut wide = [0; 8];
        wide[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(wide)
    });
    match element {
        Element::F16 => Data::F32(bytes.map(|bits| f16_value(bits as u16)).collect()),
        Element::F64 => Data::F64(bytes.map(f64::from_bits).collect()),
        Element::Bool => Data::Bool(bytes.map(|byte| byte != 0).collect()),
        Element::F32 | Element::BF16 => {
            Data::F32(bytes.map(|bits| f32::from_bits(bits as u32)).collect())
        }
        // Narrow ones are wrapped, and so get their sign, when the tensor is made.
        _ => Data::Int(bytes.by_ref().map(|bits| bits as i64).collect()),
    }
}

/// Writes a file. Narrow floats are written as `float32`.
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let (kind, data): (&str, Vec<u8>) = match tensor.data() {
        Data::F32(values) => ("<f4", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Data::F64(values) => ("<f8", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Data::Bool(values) => ("|b1", values.iter().map(|&v| u8::from(v)).collect()),
        Data::Int(values) => {
            let size = tensor.element().bytes();
            let low = |v: &i64| v.to_le_bytes().into_iter().take(size);
            let kind = match tensor.element() {
                Element::I8 => "|i1",
                Element::I16 => "<i2",
                Element::I32 => "<i4",
                Element::U8 => "|u1",
                Element::U16 => "<u2",
                Element::U32 => "<u4",
                Element::U64 => "<u8",
                _ => "<i8",
            };
            (kind, values.iter().flat_map(low).collect())
        }
    };
    let sizes: Vec<String> = tensor
        .shape()
        .iter()
        .map(|size| format!("{size},"))
        .collect();
    let shape = sizes.join(" ");
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The data begins at a multiple of 64 bytes; the header ends with a new line.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(used.next_multiple_of(64) - used));
    header.push('\n');
    let length = header.len() as u16;
    let parts = [
        &MAGIC[..],
        &[1, 0],
        &length.to_le_bytes(),
        header.as_bytes(),
        &data,
    ];
    parts.concat()
}
