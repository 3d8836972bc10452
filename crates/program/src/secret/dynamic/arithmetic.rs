//! Arithmetic, comparisons, choices, and what is made of all elements along an axis.

use madrigal_core::{Convolution, Product};

use crate::element::Type;
use crate::error::{Fault, Source};
use crate::ir::{Binary, Extreme, Op, Reduction, Rounding, Unary};
use crate::lower::Sharing;
use crate::secret::Tensor;

/// Operators on two tensors, which broadcast.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident: $binary:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self, other: &Self) -> Self {
            self.binary(Binary::$binary, other, Source::here())
        }
    )*};
}

/// Operators on one tensor.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $unary:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self) -> Self {
            self.apply(Op::Unary(Unary::$unary), Source::here())
        }
    )*};
}

/// Operators on all elements along an axis, which goes.
macro_rules! along {
    ($($(#[$doc:meta])* $name:ident: $reduction:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self, axis: usize) -> Self {
            self.apply(Op::Reduce(Reduction::$reduction, axis), Source::here())
        }
    )*};
}

/// Operators are named as those of [`Secret`](crate::Secret) are; there they are described.
impl Tensor {
    binary! {
        /// `x + y`
        plus: Add;
        /// `x - y`
        minus: Sub;
        /// `x y`; the factors' bits after the point add up, as in all products here.
        times: Mul;
        /// `x / y`
        over: Div;
        /// The remainder of integers, with the sign of `x`; `x` where `y` is 0.
        rest: Rem;
        /// Whether the two are equal.
        equals: Equal;
        /// `x < y`
        less: Less;
        /// The smaller of the two.
        min: Min;
        /// The greater of the two.
        max: Max;
        /// `x & y`
        and: And;
        /// `x | y`
        or: Or;
        /// `x ^ y`
        xor: Xor;
    }
    unary! {
        /// `-x`
        negate: Negate;
        /// `x x`
        square: Square;
        /// `|x|`
        abs: Abs;
        /// `!x`
        not: Not;
    }
    along! {
        /// The sums along an axis, which goes; 0 of none.
        sum: Sum;
        /// The least along an axis, which goes and must have an element.
        least: Least;
        /// The greatest along an axis, which goes and must have an element.
        greatest: Greatest;
        /// The products along an axis, which goes; 1 of none.
        product: Product;
        /// Whether all along an axis, which goes, are true.
        all: And;
        /// Whether any along an axis, which goes, is true.
        any: Or;
        /// Whether an odd number along an axis, which goes, is true.
        parity: Xor;
    }

    /// `a` where this is true, else `b`.
    #[track_caller]
    pub fn select(&self, a: &Self, b: &Self) -> Self {
        self.with_broadcast(Op::Select, &[a, b], Source::here())
    }

    /// Signed numbers with `by` bits less after the point, and these cut off.
    #[track_caller]
    pub fn truncate(&self, by: u32, rounding: Rounding) -> Self {
        self.cut(by, rounding, Source::here())
    }

    /// Gives numbers `by` more bits after the point: times 2^by as integers.
    #[track_caller]
    pub fn extend(&self, by: u32) -> Self {
        let at = Source::here();
        let Some(element) = self.element().moved(by.into()) else {
            return self.clone();
        };
        let shifted = self.apply(Op::Unary(Unary::ShiftLeft(by)), at);
        shifted.retyped(self.element(), element, at)
    }

    /// The elements' bits as another type's.
    #[track_caller]
    pub fn cast(&self, element: Type) -> Self {
        self.retyped(self.element(), element, Source::here())
    }

    /// Holds the value in a sharing.
    #[track_caller]
    pub fn to(&self, sharing: Sharing) -> Self {
        self.apply(Op::To(sharing), Source::here())
    }

    /// The matrix product `[.., m, k] x [.., k, n] -> [.., m, n]`; axes before the last two broadcast, and an
    /// operand of one axis is a single row, or a single column, whose axis goes.
    #[track_caller]
    pub fn matmul(&self, other: &Self) -> Self {
        self.matrix_product(other, Source::here())
    }

    /// Two-dimensional convolutions: of images `[images, channels, rows, columns]` with filters
    /// `[filters, channels / groups, rows, columns]`, which give `[images, filters, rows, columns]`. No message
    /// where either is public; an element for each output in R and, online, in alpha.
    #[track_caller]
    pub fn convolve(&self, filters: &Self, window: Window) -> Self {
        let at = Source::here();
        if self.value.is_none() || filters.value.is_none() {
            return self.nothing();
        }
        let fault = || Fault::Convolution {
            images: self.shape().clone(),
            filters: filters.shape().clone(),
            groups: window.groups,
        };
        let (&[images, channels, rows, columns], &[count, _, y, x]) =
            (self.shape().axes(), filters.shape().axes())
        else {
            return self.failed(fault(), at);
        };
        let convolution = Convolution {
            images,
            groups: window.groups,
            stride: window.stride,
            dilation: window.dilation,
            padding: window.padding,
            ..Convolution::new(channels, [rows, columns], count, [y, x])
        };
        match Product::Convolution(convolution).checked_lengths() {
            None => self.failed(fault(), at),
            Some(_) => filters.with(Op::Convolve(convolution), &[self], at),
        }
    }

    /// The least along the last axis, which goes, and where it stands first.
    #[track_caller]
    pub fn min_with_place(&self) -> [Self; 2] {
        self.find(Extreme::Least, Source::here())
    }

    /// The greatest along the last axis, which goes, and where it stands first.
    #[track_caller]
    pub fn max_with_place(&self) -> [Self; 2] {
        self.find(Extreme::Greatest, Source::here())
    }

    pub(crate) fn find(&self, extreme: Extreme, at: Source) -> [Self; 2] {
        let axis = self.shape().rank().saturating_sub(1);
        let mut found = self.results(Op::Find(extreme, axis), &[], 2, at);
        let place = found.swap_remove(1);
        [found.swap_remove(0), place]
    }

    /// The sums of the first 1, 2, 3, ... elements along an axis.
    #[track_caller]
    pub fn prefix_sums(&self, axis: usize) -> Self {
        self.apply(Op::PrefixSums(axis), Source::here())
    }

    /// The `keep` least along the last axis, or greatest if `descending`, in order; and the elements of others of
    /// the same shape from the same places.
    #[track_caller]
    pub fn sorted(&self, others: &[&Self], descending: bool, keep: usize) -> Vec<Self> {
        let op = Op::Sort { descending, keep };
        let count = 1 + others.len() as u32;
        self.results(op, others, count, Source::here())
    }

    /// The elements along the last axis in the order of these keys, of which each says whether its greatest elements come first, and
    /// others of the same shape, which go where the keys go: the keys first. Where the first key is equal, the second one decides,
    /// and so on; elements with equal keys stay in their order.
    ///
    /// In R, and between two parties in mixes with B, lists of one row are shuffled and sorted by comparisons whose results are opened, which
    /// tell nothing to servers that follow the protocol, as all orders are equally likely: some 20 comparisons for each of a million elements.
    /// In R keys of up to 4 bits in all are not compared at all, over lines with latency of up to 16, nor is a key of one bit in A+B. Elsewhere a sorting network does it, with `log2 n (log2 n + 1) / 4`
    /// comparisons for each.
    ///
    /// # Panics
    /// If there is no key.
    #[track_caller]
    pub fn sort_by(keys: &[(&Self, bool)], others: &[&Self]) -> Vec<Self> {
        let at = Source::here();
        let ((first, _), more) = keys.split_first().expect("a key to sort by");
        let op = Op::SortBy(keys.iter().map(|key| key.1).collect());
        let rest: Vec<&Self> = more
            .iter()
            .map(|key| key.0)
            .chain(others.iter().copied())
            .collect();
        first.results(op, &rest, 1 + rest.len() as u32, at)
    }

    /// Tensors of one shape along their last axis in an order that nobody knows, the same for all of them; of tensors with more axes
    /// each list has an order of its own. All orders are equally likely, and two shuffles have nothing to do with each other. In a loop's body
    /// values from outside are shuffled once.
    ///
    /// In the clear, where no test could tell one order from another, rows stay as they are. Three parties shuffle in R, two in mixes
    /// with B: in others that is an error.
    ///
    /// ```
    /// use madrigal_circuit::Goal;
    /// use madrigal_program::lower::Mix;
    /// use madrigal_program::{Everyone, Inputs, Party, Program, Tensor};
    /// let mut p = Program::new(3);
    /// let votes = p.input::<u8>(Party::new(0), [4]).untyped();
    /// let weights = p.input::<u8>(Party::new(1), [4]).untyped();
    /// let shuffled = Tensor::shuffle(&[&votes, &weights]);
    /// let votes = p.open(shuffled[0].typed::<u8>(), Everyone);
    /// let weights = p.open(shuffled[1].typed::<u8>(), Everyone);
    /// let inputs = Inputs::new().with([1u8, 2, 3, 4]).with([10u8, 20, 30, 40]);
    /// let program = p.finish()?;
    /// let planned = program.plan(Mix::R, Some(Goal::Size), &|_| {})?;
    /// let outputs = &planned.run_locally(&program, &inputs)?[0].outputs;
    /// let mut rows: Vec<(u8, u8)> = outputs.get(votes).into_iter().zip(outputs.get(weights)).collect();
    /// rows.sort();
    /// assert_eq!(rows, [(1, 10), (2, 20), (3, 30), (4, 40)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there is no tensor.
    #[track_caller]
    pub fn shuffle(values: &[&Self]) -> Vec<Self> {
        let (first, rest) = values.split_first().expect("a tensor to shuffle");
        first.results(Op::Shuffle, rest, values.len() as u32, Source::here())
    }

    /// The entries of the table at these places of its first axis; zeros where there is none.
    #[track_caller]
    pub fn find_in(&self, table: &Self) -> Self {
        self.look_up(table, Source::here())
    }
}

/// How filters move over images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Groups of channels and filters, each by itself.
    pub groups: usize,
    /// Rows and columns by which the filter moves.
    pub stride: [usize; 2],
    /// How far apart the rows and columns of the image are that a filter meets.
    pub dilation: [usize; 2],
    /// Rows of zeros above and below, columns of zeros left and right.
    pub padding: [[usize; 2]; 2],
}

impl Default for Window {
    /// One group, moved by one, nothing left out, no zeros around.
    fn default() -> Self {
        Self {
            groups: 1,
            stride: [1, 1],
            dilation: [1, 1],
            padding: [[0; 2]; 2],
        }
    }
}
