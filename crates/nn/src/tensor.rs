//! Dense tensors in the clear.

use madrigal_core::text::OwnData;

use crate::half::{round_to_bf16, round_to_f16};

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision.
    F16,
    /// The upper half of a single-precision float.
    BF16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed.
    I64,
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
    /// True or false.
    Bool,
}

impl Element {
    /// Name of the type in ONNX.
    pub fn name(self) -> &'static str {
        match self {
            Element::F16 => "float16",
            Element::BF16 => "bfloat16",
            Element::F32 => "float32",
            Element::F64 => "float64",
            Element::I8 => "int8",
            Element::I16 => "int16",
            Element::I32 => "int32",
            Element::I64 => "int64",
            Element::U8 => "uint8",
            Element::U16 => "uint16",
            Element::U32 => "uint32",
            Element::U64 => "uint64",
            Element::Bool => "bool",
        }
    }

    /// Whether the type is a float of any width.
    pub fn is_float(self) -> bool {
        use Element::{BF16, F16, F32, F64};
        matches!(self, F16 | BF16 | F32 | F64)
    }

    /// Whether the type is an integer, signed or not.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Element::Bool
    }

    /// Whether a number of the type may be below 0.
    pub fn is_signed(self) -> bool {
        use Element::{I8, I16, I32, I64};
        self.is_float() || matches!(self, I8 | I16 | I32 | I64)
    }

    /// Bytes of an element in files.
    pub fn bytes(self) -> usize {
        match self {
            Element::I8 | Element::U8 | Element::Bool => 1,
            Element::F16 | Element::BF16 | Element::I16 | Element::U16 => 2,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::F64 | Element::I64 | Element::U64 => 8,
        }
    }

    /// Bytes of memory that `count` elements are kept in.
    pub(crate) fn kept(self, count: usize) -> u64 {
        let each = match self.store() {
            Store::F32 => 4,
            Store::F64 | Store::Int => 8,
            Store::Bool => 1,
        };
        each * count as u64
    }

    /// The integer that this type holds of `value`, modulo two to its width.
    pub(crate) fn wrap(self, value: i64) -> i64 {
        match self {
            Element::I8 => i64::from(value as i8),
            Element::I16 => i64::from(value as i16),
            Element::I32 => i64::from(value as i32),
            Element::U8 => i64::from(value as u8),
            Element::U16 => i64::from(value as u16),
            Element::U32 => i64::from(value as u32),
            _ => value,
        }
    }

    /// Least and greatest integer of this type.
    pub(crate) fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes() as u32;
        match self.is_signed() {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        }
    }

    fn store(self) -> Store {
        match self {
            Element::F16 | Element::BF16 | Element::F32 => Store::F32,
            Element::F64 => Store::F64,
            Element::Bool => Store::Bool,
            _ => Store::Int,
        }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Types that a tensor's elements are kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    F32,
    F64,
    Int,
    Bool,
}

/// The elements of a tensor, the last dimension's side by side.
///
/// Narrow types are kept in wide ones, so that there are few of them: what computes rounds floats to the
/// element's precision, and reduces integers modulo two to its width.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `float16`, `bfloat16` and `float32`.
    F32(Vec<f32>),
    /// `float64`.
    F64(Vec<f64>),
    /// Integers; those of `uint64` as their 64 bits.
    Int(Vec<i64>),
    /// Booleans.
    Bool(Vec<bool>),
}

/// Makes data of one tensor's elements, or of those of several tensors that are of the same elements.
macro_rules! map_data {
    ($data:expr, $values:ident => $made:expr) => {
        match $data {
            Data::F32($values) => Data::F32($made),
            Data::F64($values) => Data::F64($made),
            Data::Int($values) => Data::Int($made),
            Data::Bool($values) => Data::Bool($made),
        }
    };
    ($first:expr, $second:expr, |$a:ident, $b:ident| $made:expr) => {
        match ($first, $second) {
            (Data::F32($a), Data::F32($b)) => Data::F32($made),
            (Data::F64($a), Data::F64($b)) => Data::F64($made),
            (Data::Int($a), Data::Int($b)) => Data::Int($made),
            (Data::Bool($a), Data::Bool($b)) => Data::Bool($made),
            _ => unreachable!("both are of the same elements"),
        }
    };
}
pub(crate) use map_data;

impl Data {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Data::F32(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::Int(values) => values.len(),
            Data::Bool(values) => values.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn store(&self) -> Store {
        match self {
            Data::F32(_) => Store::F32,
            Data::F64(_) => Store::F64,
            Data::Int(_) => Store::Int,
            Data::Bool(_) => Store::Bool,
        }
    }
}

/// Reasons why a tensor cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// The dimensions ask for another number of elements.
    #[error("the shape {shape:?} needs {expected} elements, and there are {found}")]
    Length {
        /// The dimensions.
        shape: Vec<usize>,
        /// Their product.
        expected: usize,
        /// Number of elements that was given.
        found: usize,
    },
    /// The product of the dimensions is beyond what can be counted.
    #[error("the shape {shape:?} has more elements than can be counted")]
    Overflow {
        /// The dimensions.
        shape: Vec<usize>,
    },
    /// The data is not kept as this element is.
    #[error("the elements are not kept as those of {element} are")]
    Store {
        /// The element that was said.
        element: Element,
    },
}

/// A number that elements of another type do not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "element {place}: {found} is no {element}, which has {}: convert the data so that all numbers are of that type",
    had(*.element)
)]
pub struct HeldError {
    /// Place of the element, counted from 0, the last dimension's side by side.
    pub place: usize,
    /// The number.
    pub found: OwnData,
    /// The type.
    pub element: Element,
}

/// A number of a party's own, as an error tells it.
pub(crate) fn own_number(number: impl std::fmt::Display) -> OwnData {
    OwnData::new("the number", &number.to_string())
}

/// Describes the numbers that a type has.
fn had(element: Element) -> String {
    match element {
        Element::Bool => "0 and 1 alone".to_owned(),
        element if element.is_integer() => {
            let (least, greatest) = element.range();
            format!("the integers from {least} to {greatest} alone")
        }
        _ => "floats".to_owned(),
    }
}

/// A dense tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    element: Element,
    shape: Vec<usize>,
    data: Data,
}

/// Dimensions that a tensor may have, as in NumPy.
pub(crate) const MAX_RANK: usize = 64;

/// The product of dimensions, if it can be counted, and could be if those of size 0 had size 1: then offsets can be
/// computed without looking for overflow.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    let product = shape
        .iter()
        .try_fold(1isize, |product, &size| {
            product.checked_mul(isize::try_from(size.max(1)).ok()?)
        })?
        .unsigned_abs();
    Some(if shape.contains(&0) { 0 } else { product })
}

/// Writes dimensions as in 1 x 28 x 28.
pub(crate) fn sizes(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    sizes.join(" x ")
}

impl Tensor {
    /// A tensor. Integers beyond the element's range are reduced modulo two to its width, floats rounded to
    /// its precision.
    ///
    /// # Errors
    /// [`TensorError`] if the number of elements is not that of the shape, or `data` is not what holds such elements.
    pub fn new(element: Element, shape: Vec<usize>, data: Data) -> Result<Tensor, TensorError> {
        let Some(expected) = elements(&shape) else {
            return Err(TensorError::Overflow { shape });
        };
        let found = data.len();
        if expected != found {
            return Err(TensorError::Length {
                shape,
                expected,
                found,
            });
        }
        if data.store() != element.store() {
            return Err(TensorError::Store { element });
        }
        Ok(Tensor::made(element, shape, data))
    }

    /// A tensor that cannot be wrong, of elements that may have to be rounded.
    pub(crate) fn made(element: Element, shape: Vec<usize>, mut data: Data) -> Tensor {
        debug_assert_eq!(elements(&shape), Some(data.len()), "{shape:?}");
        debug_assert_eq!(element.store(), data.store(), "{element}");
        match (&mut data, element) {
            (Data::F32(values), Element::F16) => {
                values.iter_mut().for_each(|v| *v = round_to_f16(*v));
            }
            (Data::F32(values), Element::BF16) => {
                values.iter_mut().for_each(|v| *v = round_to_bf16(*v));
            }
            (Data::Int(_), Element::I64 | Element::U64) => {}
            (Data::Int(values), _) => values.iter_mut().for_each(|v| *v = element.wrap(*v)),
            _ => {}
        }
        Tensor {
            element,
            shape,
            data,
        }
    }

    /// A tensor of `float32`.
    ///
    /// # Errors
    /// [`TensorError`] if the number of elements is not that of the shape.
    pub fn f32(shape: Vec<usize>, values: Vec<f32>) -> Result<Tensor, TensorError> {
        Tensor::new(Element::F32, shape, Data::F32(values))
    }

    /// A tensor of `int64`.
    ///
    /// # Errors
    /// [`TensorError`] if the number of elements is not that of the shape.
    pub fn i64(shape: Vec<usize>, values: Vec<i64>) -> Result<Tensor, TensorError> {
        Tensor::new(Element::I64, shape, Data::Int(values))
    }

    /// A tensor of Booleans.
    ///
    /// # Errors
    /// [`TensorError`] if the number of elements is not that of the shape.
    pub fn bool(shape: Vec<usize>, values: Vec<bool>) -> Result<Tensor, TensorError> {
        Tensor::new(Element::Bool, shape, Data::Bool(values))
    }

    /// `count` elements, all equal to `value`, which is rounded or wrapped to the element.
    pub(crate) fn filled(element: Element, shape: Vec<usize>, value: f64) -> Tensor {
        let count = shape.iter().product();
        let data = match element.store() {
            Store::F32 => Data::F32(vec![value as f32; count]),
            Store::F64 => Data::F64(vec![value; count]),
            Store::Int => Data::Int(vec![value as i64; count]),
            Store::Bool => Data::Bool(vec![value != 0.0; count]),
        };
        Tensor::made(element, shape, data)
    }

    /// A vector of `int64`.
    pub(crate) fn vector(values: Vec<i64>) -> Tensor {
        Tensor::made(Element::I64, vec![values.len()], Data::Int(values))
    }

    /// Type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Dimensions of the tensor; none for a single number.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements of the tensor, the last dimension's side by side.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Elements of the tensor, to be changed for others of the same type.
    pub(crate) fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements of `float16`, `bfloat16` or `float32`.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.data {
            Data::F32(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of an integer type; those of `uint64` as their 64 bits.
    pub fn as_ints(&self) -> Option<&[i64]> {
        match &self.data {
            Data::Int(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of `bool`.
    pub fn as_bools(&self) -> Option<&[bool]> {
        match &self.data {
            Data::Bool(values) => Some(values),
            _ => None,
        }
    }

    /// All elements as `f64`: false is 0, true 1; integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.data {
            Data::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Data::F64(values) => values.clone(),
            Data::Int(values) if self.element == Element::U64 => {
                values.iter().map(|&v| v as u64 as f64).collect()
            }
            Data::Int(values) => values.iter().map(|&v| v as f64).collect(),
            Data::Bool(values) => values.iter().map(|&v| f64::from(u8::from(v))).collect(),
        }
    }

    /// All integers, whatever their type; none if these are others.
    pub(crate) fn to_integers(&self) -> Option<Vec<i128>> {
        let values = self.as_ints()?;
        Some(match self.element {
            Element::U64 => values.iter().map(|&v| i128::from(v as u64)).collect(),
            _ => values.iter().map(|&v| i128::from(v)).collect(),
        })
    }

    /// Converts the numbers to elements of another type: rounded to the precision of floats; of integers and Booleans
    /// exactly.
    ///
    /// # Errors
    /// [`HeldError`] if one of them is no integer of that type.
    pub fn converted(&self, to: Element) -> Result<Tensor, HeldError> {
        if to == self.element {
            return Ok(self.clone());
        }
        let wrong = |place: usize, found: String| HeldError {
            place,
            found: own_number(found),
            element: to,
        };
        let data = match to.store() {
            Store::F64 => Data::F64(self.to_f64()),
            Store::F32 => Data::F32(match &self.data {
                // Rounded once.
                Data::Int(_) => {
                    let values = self.to_integers().unwrap_or_default();
                    values.into_iter().map(|v| v as f32).collect()
                }
                _ => self.to_f64().into_iter().map(|v| v as f32).collect(),
            }),
            Store::Int | Store::Bool => {
                let (least, greatest) = match to {
                    Element::Bool => (0, 1),
                    to => to.range(),
                };
                let whole: Vec<i128> = match self.to_integers() {
                    Some(values) => values,
                    None => {
                        let values = self.to_f64().into_iter().enumerate();
                        // Floats beyond 2^127, infinite ones and those that are no numbers become the ends of `i128`: out of
                        // range.
                        let whole = |(place, v): (usize, f64)| match v.fract() == 0.0 {
                            true => Ok(v as i128),
                            false => Err(wrong(place, v.to_string())),
                        };
                        values.map(whole).collect::<Result<_, _>>()?
                    }
                };
                let outside = |v: &i128| !(least..=greatest).contains(v);
                if let Some(place) = whole.iter().position(outside) {
                    return Err(wrong(place, whole[place].to_string()));
                }
                match to {
                    Element::Bool => Data::Bool(whole.into_iter().map(|v| v != 0).collect()),
                    _ => Data::Int(whole.into_iter().map(|v| v as i64).collect()),
                }
            }
        };
        Ok(Tensor::made(to, self.shape.clone(), data))
    }

    /// Gives the elements in another shape of as many.
    pub(crate) fn with_shape(mut self, shape: Vec<usize>) -> Tensor {
        debug_assert_eq!(elements(&shape), Some(self.len()));
        self.shape = shape;
        self
    }

    /// Counts the elements that are not 0; of floats, those whose bits are not all 0.
    pub(crate) fn nonzero(&self) -> u64 {
        let count = match &self.data {
            Data::F32(values) => values.iter().filter(|v| v.to_bits() != 0).count(),
            Data::F64(values) => values.iter().filter(|v| v.to_bits() != 0).count(),
            Data::Int(values) => values.iter().filter(|&&v| v != 0).count(),
            Data::Bool(values) => values.iter().filter(|&&v| v).count(),
        };
        count as u64
    }

    /// Whether all elements are equal to `value`.
    pub(crate) fn is_all(&self, value: f64) -> bool {
        self.to_f64().iter().all(|&v| v == value)
    }
}
