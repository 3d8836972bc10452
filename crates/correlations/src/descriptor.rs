//! Kinds of correlations as data: every part of the program that must treat all kinds reads it here.

use std::iter::zip;

use madrigal_core::{Party, Product, Ring, Zeroizing, bits};
use madrigal_kernels as kernels;

use crate::width::{Width, with_ring};

/// Numbers of a kind in a request: see [`Descriptor::numbers`].
pub const NUMBERS: usize = 16;

/// A kind of correlations as data. [`Kind::descriptor`](crate::Kind::descriptor) gives it.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// Number of the family of kinds in requests to a dealer; none where no dealer has any.
    pub tag: Option<u8>,
    /// Name of the family, which says what is made.
    pub name: &'static str,
    /// Ring of the elements, where there is one.
    pub ring: Option<Width>,
    /// Party that alone has the left factor, of two, or the numbers that bits choose; none where all have shares of both.
    pub left: Option<Party>,
    /// Sizes of an item: bits of a vector, sides of matrices, all numbers of a convolution.
    pub numbers: Vec<usize>,
    /// Columns of shares. The last one depends on the others, which are random.
    pub columns: Vec<Column>,
    /// Rule that gives the last column.
    pub dependence: Dependence,
    /// Steps that a source tells of as it makes one item.
    pub unit: u64,
    /// OTs that take about as long as making one item does.
    pub ots: u64,
}

/// A column of shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Form of what each item has in the column.
    pub cells: Cells,
    /// Parties that have shares; the others have zeros.
    pub holders: Holders,
}

/// Parties that have shares of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holders {
    /// All parties.
    All,
    /// One party, to which the values themselves are known.
    Only(Party),
    /// All parties but one.
    AllBut(Party),
}

impl Column {
    /// Says whether a party has shares of the column.
    pub fn is_drawn_by(&self, me: Party) -> bool {
        match self.holders {
            Holders::All => true,
            Holders::Only(owner) => owner == me,
            Holders::AllBut(other) => other != me,
        }
    }
}

impl From<Cells> for Column {
    fn from(cells: Cells) -> Self {
        Self {
            cells,
            holders: Holders::All,
        }
    }
}

/// Form of the part that one item has in a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cells {
    /// A bit, packed with those of other items.
    Bit,
    /// A bit in a byte of its own.
    Flag,
    /// So many bits, from a new byte on.
    Vector(usize),
    /// So many elements of a ring.
    Elements(Width, u128),
    /// A row of an OT extension.
    Row,
}

impl Cells {
    /// Gives the bits that an item takes in a string: all but single bits take whole bytes.
    pub fn bits(self) -> u128 {
        match self {
            Self::Bit => 1,
            Self::Flag => 8,
            Self::Vector(length) => 8 * length.div_ceil(8) as u128,
            Self::Elements(width, count) => count.saturating_mul(width.bits() as u128),
            Self::Row => 128,
        }
    }

    /// Gives the bytes of a string of `count` items.
    pub fn bytes(self, count: usize) -> usize {
        let bits = self.bits().saturating_mul(count as u128);
        usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// Clears the bits of a string that belong to no item.
    pub fn clean(self, string: &mut [u8], count: usize) {
        match self {
            Self::Bit => bits::clear_tail(string, count),
            Self::Flag => string.iter_mut().for_each(|flag| *flag &= 1),
            Self::Vector(length) => {
                for vector in string.chunks_exact_mut(bits::bytes_for(length).max(1)) {
                    bits::clear_tail(vector, length);
                }
            }
            Self::Elements(..) | Self::Row => {}
        }
    }

    /// Adds another party's shares.
    pub fn add(self, sum: &mut [u8], shares: &[u8]) {
        match self {
            Self::Elements(width, _) => {
                with_ring!(width, T => combine::<T>(sum, shares, Ring::add));
            }
            _ => kernels::xor_into(sum, shares),
        }
    }

    /// Subtracts another party's shares.
    pub fn subtract(self, sum: &mut [u8], shares: &[u8]) {
        match self {
            Self::Elements(width, _) => {
                with_ring!(width, T => combine::<T>(sum, shares, Ring::sub));
            }
            _ => kernels::xor_into(sum, shares),
        }
    }
}

fn combine<T: Ring>(sum: &mut [u8], shares: &[u8], with: impl Fn(T, T) -> T) {
    let shares = shares.chunks_exact(T::BYTES);
    for (sum, share) in zip(sum.chunks_exact_mut(T::BYTES), shares) {
        with(T::read(sum), T::read(share)).write(sum);
    }
}

/// How the values of the last column follow from those of the others. Values are sums of all parties' shares.
#[derive(Clone, Copy, Debug)]
pub enum Dependence {
    /// A function of the columns before it, which writes the last one.
    Of(fn(&[Zeroizing<Vec<u8>>], &mut [u8])),
    /// A random string, of which the function leaves what is allowed.
    Random(fn(&mut [u8])),
    /// The product of the two columns before it, item by item: [`add_product`](crate::add_product).
    Product(Product),
}

/// Bits that are 1 where both are.
pub(crate) fn and(factors: &[Zeroizing<Vec<u8>>], products: &mut [u8]) {
    if let [a, b] = factors {
        kernels::and(products, a, b);
    }
}

/// Vectors of which those with the bit 0 become zero.
pub(crate) fn chosen_vectors(factors: &[Zeroizing<Vec<u8>>], products: &mut [u8]) {
    let [flags, vectors] = factors else { return };
    let bytes = (products.len() / flags.len().max(1)).max(1);
    let places = zip(
        products.chunks_exact_mut(bytes),
        vectors.chunks_exact(bytes),
    );
    for ((product, vector), &flag) in places.zip(flags.iter()) {
        let mask = flag.wrapping_neg();
        zip(product, vector).for_each(|(product, &byte)| *product = byte & mask);
    }
}

/// Bits as elements, each beside its product with a number.
pub(crate) fn chosen_numbers<T: Ring>(factors: &[Zeroizing<Vec<u8>>], products: &mut [u8]) {
    let [flags, numbers] = factors else { return };
    let places = zip(
        products.chunks_exact_mut(2 * T::BYTES),
        numbers.chunks_exact(T::BYTES),
    );
    for ((place, number), &flag) in places.zip(flags.iter()) {
        let (bit, product) = place.split_at_mut(T::BYTES);
        let flag = T::from_u128(flag.into());
        flag.write(bit);
        flag.mul(T::read(number)).write(product);
    }
}

/// Products of elements.
pub(crate) fn products<T: Ring>(factors: &[Zeroizing<Vec<u8>>], products: &mut [u8]) {
    if let [a, b] = factors {
        multiply::<T>(a, b, products);
    }
}

/// Squares of elements.
pub(crate) fn squares<T: Ring>(factors: &[Zeroizing<Vec<u8>>], squares: &mut [u8]) {
    if let [a] = factors {
        multiply::<T>(a, a, squares);
    }
}

fn multiply<T: Ring>(a: &[u8], b: &[u8], products: &mut [u8]) {
    let factors = zip(a.chunks_exact(T::BYTES), b.chunks_exact(T::BYTES));
    for (product, (a, b)) in zip(products.chunks_exact_mut(T::BYTES), factors) {
        T::read(a).mul(T::read(b)).write(product);
    }
}

/// Elements of which only the lowest bit stays.
pub(crate) fn keep_lowest_bits<T: Ring>(elements: &mut [u8]) {
    for element in elements.chunks_exact_mut(T::BYTES) {
        T::read(element).and(T::ONE).write(element);
    }
}
