//! Tensors in the clear.

use std::fmt;
use std::sync::Arc;

use madrigal_core::{Ring, Wipe};

use crate::element::{Plain, Type};
use crate::shape::{Shape, View};

/// The elements of a tensor in the narrowest words that hold them; of a bool, a byte that is 0 or 1.
/// Numbers are kept modulo 2^bits, signed ones in two's complement.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Words {
    W8(Vec<u8>),
    W16(Vec<u16>),
    W32(Vec<u32>),
    W64(Vec<u64>),
    W128(Vec<u128>),
}

/// Evaluates one expression for each width of words, whose results are words of that width.
macro_rules! each {
    ($words:expr, $vec:ident => $body:expr) => {{
        use $crate::array::Words::{W8, W16, W32, W64, W128};
        match $words {
            W8($vec) => W8($body),
            W16($vec) => W16($body),
            W32($vec) => W32($body),
            W64($vec) => W64($body),
            W128($vec) => W128($body),
        }
    }};
}
/// Evaluates one expression for two lists of words of one width; others are the caller's mistake.
macro_rules! pair {
    ($a:expr, $b:expr, $x:ident, $y:ident => $body:expr) => {{
        use $crate::array::Words::{W8, W16, W32, W64, W128};
        match ($a, $b) {
            (W8($x), W8($y)) => W8($body),
            (W16($x), W16($y)) => W16($body),
            (W32($x), W32($y)) => W32($body),
            (W64($x), W64($y)) => W64($body),
            (W128($x), W128($y)) => W128($body),
            _ => unreachable!("operands of one type have words of one width"),
        }
    }};
}
/// Evaluates one expression for each width of words, whatever it gives.
macro_rules! with {
    ($words:expr, $vec:ident => $body:expr) => {{
        use $crate::array::Words::{W8, W16, W32, W64, W128};
        match $words {
            W8($vec) => $body,
            W16($vec) => $body,
            W32($vec) => $body,
            W64($vec) => $body,
            W128($vec) => $body,
        }
    }};
}
pub(crate) use {each, pair, with};

impl Words {
    /// Elements of a type from their codes.
    pub(crate) fn collect(element: Type, codes: impl Iterator<Item = u128>) -> Self {
        match element.bits() {
            ..=8 => Self::W8(codes.map(|code| code as u8).collect()),
            9..=16 => Self::W16(codes.map(|code| code as u16).collect()),
            17..=32 => Self::W32(codes.map(|code| code as u32).collect()),
            33..=64 => Self::W64(codes.map(|code| code as u64).collect()),
            _ => Self::W128(codes.collect()),
        }
    }

    /// No elements of a type yet, and room for some.
    pub(crate) fn with_room(element: Type, count: usize) -> Self {
        let mut empty = Self::collect(element, std::iter::empty());
        with!(&mut empty, words => words.reserve_exact(count));
        empty
    }

    /// Appends elements by their codes.
    pub(crate) fn push(&mut self, codes: impl Iterator<Item = u128>) {
        fn push<T: Ring>(words: &mut Vec<T>, codes: impl Iterator<Item = u128>) {
            words.extend(codes.map(T::from_u128));
        }
        with!(self, words => push(words, codes));
    }

    pub(crate) fn len(&self) -> usize {
        with!(self, words => words.len())
    }

    /// The code of one element.
    pub(crate) fn get(&self, at: usize) -> u128 {
        with!(self, words => Ring::to_u128(words[at]))
    }

    /// The codes of all elements.
    pub(crate) fn codes(&self) -> impl ExactSizeIterator<Item = u128> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The elements that a view shows.
    pub(crate) fn view(&self, view: &View) -> Self {
        fn shown<T: Copy>(words: &[T], view: &View) -> Vec<T> {
            let mut out = Vec::with_capacity(view.shape.elements());
            view.runs(|from, step, length| match step {
                1 => out.extend_from_slice(&words[from..from + length]),
                0 => out.extend(std::iter::repeat_n(words[from], length)),
                _ => {
                    let place = |at: usize| (from as isize + at as isize * step) as usize;
                    out.extend((0..length).map(|at| words[place(at)]));
                }
            });
            out
        }
        each!(self, words => shown(words, view))
    }

    /// Elements by their numbers.
    pub(crate) fn pick(&self, places: impl Iterator<Item = usize>) -> Self {
        each!(self, words => places.map(|at| words[at]).collect())
    }

    /// Appends the elements of a range of others.
    pub(crate) fn extend(&mut self, other: &Self, range: std::ops::Range<usize>) {
        match (self, other) {
            (Self::W8(to), Self::W8(from)) => to.extend_from_slice(&from[range]),
            (Self::W16(to), Self::W16(from)) => to.extend_from_slice(&from[range]),
            (Self::W32(to), Self::W32(from)) => to.extend_from_slice(&from[range]),
            (Self::W64(to), Self::W64(from)) => to.extend_from_slice(&from[range]),
            (Self::W128(to), Self::W128(from)) => to.extend_from_slice(&from[range]),
            _ => unreachable!("operands of one type have words of one width"),
        }
    }
}

impl Wipe for Words {
    fn wipe(&mut self) {
        with!(self, words => words.wipe());
    }
}

/// Words that several arrays have in common: they are wiped when the last of these is dropped.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Elements(Arc<Words>);

impl From<Words> for Elements {
    fn from(words: Words) -> Self {
        Self(Arc::new(words))
    }
}

impl std::ops::Deref for Elements {
    type Target = Words;

    fn deref(&self) -> &Words {
        &self.0
    }
}

impl Drop for Elements {
    fn drop(&mut self) {
        if let Some(last) = Arc::get_mut(&mut self.0) {
            last.wipe();
        }
    }
}

/// A tensor in the clear: an input, an output, or a constant.
///
/// It may hold secrets of its owner: its elements are wiped when the last clone is dropped, and `Debug` shows its type and shape alone.
/// Clones share the elements.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Array {
    element: Type,
    shape: Shape,
    elements: Elements,
}

impl Array {
    /// Elements of a type in a shape; there are as many as the shape says.
    pub(crate) fn new(element: Type, shape: Shape, elements: impl Into<Elements>) -> Self {
        let elements = elements.into();
        debug_assert_eq!(shape.elements(), elements.len());
        Self {
            element,
            shape,
            elements,
        }
    }

    /// A single element.
    pub(crate) fn one(element: Type, code: u128) -> Self {
        let words = Words::collect(element, std::iter::once(code));
        Self::new(element, Shape::scalar(), words)
    }

    /// The elements in the order of the shape, or `None` if there are not as many as it says.
    pub fn of<T: Plain>(shape: &Shape, elements: &[T]) -> Option<Self> {
        let codes = elements.iter().map(|element| element.encode());
        (shape.elements() == elements.len())
            .then(|| Self::new(T::TYPE, shape.clone(), Words::collect(T::TYPE, codes)))
    }

    /// The numbers of a type nearest to these, in the order of the shape; `None` if there are not as many as it says, or
    /// any is out of the type's range or none.
    pub fn from_f64(element: Type, shape: &Shape, numbers: &[f64]) -> Option<Self> {
        let codes = || numbers.iter().map(|&number| element.nearest(number));
        if shape.elements() != numbers.len() || codes().any(|code| code.is_none()) {
            return None;
        }
        let words = Words::collect(element, codes().map(Option::unwrap_or_default));
        Some(Self::new(element, shape.clone(), words))
    }

    /// Elements by their bits in two's complement, of which those above the type's are left out, in the order of the shape;
    /// `None` if there are not as many as it says.
    pub fn from_codes(
        element: Type,
        shape: &Shape,
        codes: impl ExactSizeIterator<Item = u128>,
    ) -> Option<Self> {
        let fits = codes.len() == shape.elements();
        let codes = codes.map(|code| code & element.mask());
        fits.then(|| Self::new(element, shape.clone(), Words::collect(element, codes)))
    }

    /// The elements as numbers, rounded to the 53 bits that `f64` has.
    pub fn to_f64(&self) -> Vec<f64> {
        self.codes().map(|code| self.element.number(code)).collect()
    }

    /// The type of the elements.
    pub fn element(&self) -> Type {
        self.element
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The elements, row by row, or `None` if they are of another type.
    pub fn to_vec<T: Plain>(&self) -> Option<Vec<T>> {
        (self.element == T::TYPE).then(|| self.elements.codes().map(T::decode).collect())
    }

    /// The elements' bits in two's complement, zeros above, row by row.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = u128> + '_ {
        self.elements.codes()
    }

    /// The places of a range along the first axis, or `None` if there is no first axis, or it is shorter than that.
    pub fn rows(&self, range: std::ops::Range<usize>) -> Option<Self> {
        let (&rows, each) = self.shape.axes().split_first()?;
        if range.start > range.end || range.end > rows {
            return None;
        }
        let each: usize = each.iter().product();
        let mut axes = self.shape.axes().to_vec();
        axes[0] = range.len();
        let mut words = Words::with_room(self.element, range.len() * each);
        words.extend(&self.elements, range.start * each..range.end * each);
        Some(Self::new(self.element, Shape::checked(&axes)?, words))
    }

    /// Gives the elements another shape of as many.
    pub(crate) fn reshaped(&self, shape: Shape) -> Self {
        Self::new(self.element, shape, self.elements.clone())
    }

    pub(crate) fn words(&self) -> &Words {
        &self.elements
    }

    pub(crate) fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The code that all elements have, if they are alike and there are any.
    pub(crate) fn uniform(&self) -> Option<u128> {
        let mut codes = self.elements.codes();
        let first = codes.next()?;
        codes.all(|code| code == first).then_some(first)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.element, self.shape)
    }
}

/// A tensor in the clear, as it can be given: an element, an array or slice or vector of elements (of
/// elements), or elements with a shape.
pub trait IntoArray<T: Plain> {
    /// The lengths of the axes and the elements, row by row. There need not be as many as the axes say;
    /// whoever takes them checks that.
    fn parts(&self) -> (Vec<usize>, Vec<T>);
}

macro_rules! arrays {
    ($([$($parameter:tt)*] $given:ty: |$self:ident| $axes:expr, $elements:expr;)*) => {$(
        impl<T: Plain $($parameter)*> IntoArray<T> for $given {
            fn parts(&$self) -> (Vec<usize>, Vec<T>) {
                ($axes, $elements)
            }
        }
    )*};
}
arrays! {
    [] T: |self| Vec::new(), vec![*self];
    [] &[T]: |self| vec![self.len()], self.to_vec();
    [] Vec<T>: |self| vec![self.len()], self.clone();
    [] &Vec<T>: |self| vec![self.len()], self.to_vec();
    [] (Shape, Vec<T>): |self| self.0.axes().to_vec(), self.1.clone();
    [, const N: usize] [T; N]: |self| vec![N], self.to_vec();
    [, const N: usize, const M: usize] [[T; M]; N]: |self| vec![N, M], self.concat();
    [, const N: usize] ([usize; N], Vec<T>): |self| self.0.to_vec(), self.1.clone();
}
