//! The kinds of correlations: what each is, how it is named, and which container its shares have. A new kind is a line
//! in each table of this file.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use madrigal_core::{Convolution, MAX_PARTIES, MatrixShape, Party, Product};

use crate::bit_shares::SharedBits;
use crate::bit_triples::BitTriples;
use crate::chosen_numbers::ChosenNumbers;
use crate::convolutions;
use crate::descriptor::{
    Cells, Column, Dependence, Descriptor, Holders, NUMBERS, and, chosen_numbers, chosen_vectors,
    keep_lowest_bits, products, squares,
};
use crate::product_triples::{ProductTriples, Tripled};
use crate::ring_triples::{RingTriples, SquarePairs};
use crate::shares::{AnyShares, Strings};
use crate::text::{MAX_SIDE, cut, number};
use crate::vector_triples::VectorTriples;
use crate::width::{Width, with_ring};

/// The longest vectors that a text may ask for, in bits.
const MAX_VECTOR: usize = 1 << 30;

/// One kind of correlation. Its text is `bits`, `vectors-LENGTH`, `u64`, `squares-u64`,
/// `shared-u64`, `chosen-u64-ofPARTY`, `matrix-u64-ROWSxINNERxCOLUMNS` or `conv-u64-IMAGESxCHANNELSxROWSxCOLUMNS-FILTERSxROWSxCOLUMNS`, which
/// may go on with `-strideAxB`, `-dilationAxB`, `-paddingTOPxBOTTOMxLEFTxRIGHT` and `-groupsN`; the last two end with
/// `-left0` or `-left1` where two parties have a factor each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Boolean triples.
    BitTriples,
    /// Vector triples.
    VectorTriples {
        /// Bits of a vector.
        length: usize,
    },
    /// Triples over Z_2^l.
    RingTriples(Width),
    /// Square pairs over Z_2^l.
    SquarePairs(Width),
    /// Shared bits over Z_2^l.
    SharedBits(Width),
    /// Bits beside their products with numbers over Z_2^l that this party knows.
    ChosenNumbers(Width, Party),
    /// Matrix triples over Z_2^l.
    MatrixTriples(Width, MatrixShape),
    /// Triples of convolutions over Z_2^l: filters, images, and what comes of them.
    ConvolutionTriples(Width, Convolution),
    /// Matrix triples over Z_2^l of two parties, of which this one has all of A and the other one all of B.
    SplitMatrixTriples(Width, MatrixShape, Party),
    /// Triples of convolutions over Z_2^l of two parties, of which this one has the filters and the other one the
    /// images.
    SplitConvolutionTriples(Width, Convolution, Party),
    /// Correlated OTs of one direction, of which no text speaks: they belong to their job's offsets, and
    /// no store keeps them.
    CorrelatedOts {
        /// Who has the offset.
        sender: Party,
        /// Who has the choices.
        receiver: Party,
    },
}

/// Tables of all kinds.
impl Kind {
    /// Says what the kind is.
    pub fn descriptor(self) -> Descriptor {
        match self {
            Self::BitTriples => Descriptor {
                tag: Some(1),
                columns: vec![Cells::Bit.into(); 3],
                ..plain("bit triples", Dependence::Of(and))
            },
            Self::VectorTriples { length } => Descriptor {
                tag: Some(2),
                numbers: vec![length],
                columns: [Cells::Flag, Cells::Vector(length), Cells::Vector(length)]
                    .map(Column::from)
                    .into(),
                ..plain("vector triples", Dependence::Of(chosen_vectors))
            },
            Self::RingTriples(width) => Descriptor {
                tag: Some(3),
                ring: Some(width),
                columns: vec![Cells::Elements(width, 1).into(); 3],
                ots: width.bits() as u64,
                ..plain(
                    "ring triples",
                    with_ring!(width, T => Dependence::Of(products::<T>)),
                )
            },
            Self::SquarePairs(width) => Descriptor {
                tag: Some(4),
                ring: Some(width),
                columns: vec![Cells::Elements(width, 1).into(); 2],
                ots: width.bits() as u64,
                ..plain(
                    "square pairs",
                    with_ring!(width, T => Dependence::Of(squares::<T>)),
                )
            },
            Self::SharedBits(width) => Descriptor {
                tag: Some(5),
                ring: Some(width),
                columns: vec![Cells::Elements(width, 1).into()],
                // One OT, whatever the width, with a long correction: 10 ns of each party's core for 64 bits, of
                // which AES and bytes are 4 (Zen 5, docs/BENCHMARKS.md).
                ots: 4,
                ..plain(
                    "shared bits",
                    with_ring!(width, T => Dependence::Random(keep_lowest_bits::<T>)),
                )
            },
            Self::ChosenNumbers(width, owner) => {
                let column = |cells, holders| Column { cells, holders };
                Descriptor {
                    tag: Some(8),
                    ring: Some(width),
                    left: Some(owner),
                    columns: vec![
                        column(Cells::Flag, Holders::AllBut(owner)),
                        column(Cells::Elements(width, 1), Holders::Only(owner)),
                        column(Cells::Elements(width, 2), Holders::All),
                    ],
                    // One OT with strings, as a shared bit.
                    ots: 4,
                    ..plain(
                        "chosen numbers",
                        with_ring!(width, T => Dependence::Of(chosen_numbers::<T>)),
                    )
                }
            }
            Self::MatrixTriples(width, shape) | Self::SplitMatrixTriples(width, shape, _) => {
                let MatrixShape {
                    rows,
                    inner,
                    columns,
                } = shape;
                let elements = |m: usize, n: usize| (m as u128).saturating_mul(n as u128);
                let lengths = [
                    elements(rows, inner),
                    elements(inner, columns),
                    elements(rows, columns),
                ];
                let steps = (rows as u64).saturating_mul(inner as u64);
                Descriptor {
                    tag: Some(6),
                    numbers: vec![rows, inner, columns],
                    unit: steps.saturating_mul(columns as u64),
                    ots: steps,
                    ..plain("matrix triples", self.product_rule())
                }
                .of_product(width, lengths, self.left())
            }
            Self::ConvolutionTriples(width, convolution)
            | Self::SplitConvolutionTriples(width, convolution, _) => {
                let product = Product::Convolution(convolution);
                let lengths = product.checked_lengths();
                let entries = |shape: MatrixShape| shape.rows.min(shape.columns) * shape.inner;
                let entries = lengths.map_or(0, |_| entries(convolution.matrices()));
                Descriptor {
                    tag: Some(7),
                    numbers: convolution.numbers().into(),
                    unit: lengths.map_or(0, |_| product.multiplications() as u64),
                    ots: (convolution.groups * entries) as u64,
                    ..plain("convolution triples", self.product_rule())
                }
                .of_product(
                    width,
                    lengths.map_or([u128::MAX; 3], |all| all.map(|length| length as u128)),
                    self.left(),
                )
            }
            Self::CorrelatedOts { sender, receiver } => Descriptor {
                numbers: vec![sender.index(), receiver.index()],
                columns: vec![Cells::Row.into()],
                ..plain("correlated OTs", Dependence::Random(|_| {}))
            },
        }
    }

    /// Gives one kind of each family for each width, for tests of sources.
    pub fn examples() -> impl Iterator<Item = Self> {
        let shape = MatrixShape {
            rows: 2,
            inner: 3,
            columns: 4,
        };
        let of_ring = move |width| {
            [
                Self::RingTriples(width),
                Self::SquarePairs(width),
                Self::SharedBits(width),
                Self::ChosenNumbers(width, Party::new(1)),
                Self::MatrixTriples(width, shape),
            ]
        };
        let bits = [Self::BitTriples, Self::VectorTriples { length: 40 }];
        let rings = Width::ALL.into_iter().flat_map(of_ring);
        bits.into_iter().chain(rings)
    }

    /// Makes the container of `count` items from their strings.
    ///
    /// # Panics
    /// If the strings have other lengths than [`strings`](Self::strings) says; for correlated OTs.
    pub fn shares(self, strings: Strings, count: usize) -> AnyShares {
        match self {
            Self::BitTriples => AnyShares::new(BitTriples::from_strings(strings, count)),
            Self::VectorTriples { length } => {
                AnyShares::new(VectorTriples::from_strings(length, strings))
            }
            Self::RingTriples(width) => {
                with_ring!(width, T => AnyShares::new(RingTriples::<T>::from_strings(strings)))
            }
            Self::SquarePairs(width) => {
                with_ring!(width, T => AnyShares::new(SquarePairs::<T>::from_strings(strings)))
            }
            Self::SharedBits(width) => {
                with_ring!(width, T => AnyShares::new(SharedBits::<T>::from_strings(strings)))
            }
            Self::ChosenNumbers(width, _) => {
                with_ring!(width, T => AnyShares::new(ChosenNumbers::<T>::from_strings(strings)))
            }
            Self::MatrixTriples(..)
            | Self::ConvolutionTriples(..)
            | Self::SplitMatrixTriples(..)
            | Self::SplitConvolutionTriples(..) => {
                let Some((width, one)) = self.product() else {
                    unreachable!("they are triples of products")
                };
                with_ring!(width, T => AnyShares::new(
                    ProductTriples::<T>::from_strings(one.product, &strings, count)
                ))
            }
            Self::CorrelatedOts { .. } => panic!("{self} belong to a job and are no strings"),
        }
    }

    /// Finds the kind that a dealer is asked for, and how many items, from what a request says: the tag, the ring, who
    /// has the left factor, and the numbers, which begin with the number of items but where they are asked for one by
    /// one.
    pub fn of_request(
        tag: u8,
        ring: Option<Width>,
        left: Option<Party>,
        numbers: [usize; NUMBERS],
    ) -> Option<(Self, usize)> {
        let [count, length, ..] = numbers;
        let of_ring = |kind: fn(Width) -> Self| ring.map(|width| (kind(width), count));
        if tag == 8 {
            return Some((Self::ChosenNumbers(ring?, left?), count));
        }
        if left.is_some_and(|left| left.index() > 1) {
            return None;
        }
        match tag {
            1 => Some((Self::BitTriples, count)),
            2 => Some((Self::VectorTriples { length }, count)),
            3 => of_ring(Self::RingTriples),
            4 => of_ring(Self::SquarePairs),
            5 => of_ring(Self::SharedBits),
            6 => {
                let [rows, inner, columns, ..] = numbers;
                let shape = MatrixShape {
                    rows,
                    inner,
                    columns,
                };
                let product = Product::Matrices(1, shape);
                Some(Self::of_product(ring?, Tripled { product, left }))
            }
            7 => {
                let product = Product::Convolution(Convolution::from_numbers(numbers));
                product.checked_lengths()?;
                Some(Self::of_product(ring?, Tripled { product, left }))
            }
            _ => None,
        }
    }
}

/// How kinds are written.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitTriples => f.write_str("bits"),
            Self::VectorTriples { length } => write!(f, "vectors-{length}"),
            Self::RingTriples(width) => write!(f, "u{}", width.bits()),
            Self::SquarePairs(width) => write!(f, "squares-u{}", width.bits()),
            Self::SharedBits(width) => write!(f, "shared-u{}", width.bits()),
            Self::ChosenNumbers(width, owner) => {
                return write!(f, "chosen-u{}-of{}", width.bits(), owner.index());
            }
            Self::CorrelatedOts { sender, receiver } => {
                write!(f, "ots-{}-{}", sender.index(), receiver.index())
            }
            Self::MatrixTriples(width, shape) | Self::SplitMatrixTriples(width, shape, _) => {
                let MatrixShape {
                    rows,
                    inner,
                    columns,
                } = shape;
                write!(f, "matrix-u{}-{rows}x{inner}x{columns}", width.bits())
            }
            Self::ConvolutionTriples(width, convolution)
            | Self::SplitConvolutionTriples(width, convolution, _) => {
                write!(f, "conv-u{}-", width.bits())?;
                convolutions::write(convolution, f)
            }
        }?;
        match self.left() {
            Some(left) => write!(f, "-left{}", left.index()),
            None => Ok(()),
        }
    }
}

/// How kinds are read.
fn read(name: &str, rest: Option<&str>, left: Option<Party>) -> Option<Kind> {
    let width = |text: &str| {
        let bits = text.strip_prefix('u').and_then(number)?;
        Width::of_bits(bits)
    };
    let product = |width, product| Some(Kind::of_product(width, Tripled { product, left }).0);
    match (name, rest) {
        ("matrix", Some(rest)) => {
            let (ring, shape) = rest.split_once('-')?;
            let sides: Option<Vec<usize>> = shape.split('x').map(number).collect();
            let &[rows, inner, columns] = &sides?[..] else {
                return None;
            };
            let fits = |side: &usize| (1..=MAX_SIDE).contains(side);
            let shape = MatrixShape {
                rows,
                inner,
                columns,
            };
            let all = [rows, inner, columns].iter().all(fits);
            product(width(ring)?, Product::Matrices(1, shape)).filter(|_| all)
        }
        ("conv", Some(rest)) => {
            let (ring, shape) = rest.split_once('-')?;
            let convolution = convolutions::read(shape)?;
            product(width(ring)?, Product::Convolution(convolution))
        }
        // All others are of all parties.
        _ if left.is_some() => None,
        ("bits", None) => Some(Kind::BitTriples),
        (_, None) => width(name).map(Kind::RingTriples),
        ("vectors", Some(length)) => {
            let length = number(length).filter(|length| (1..=MAX_VECTOR).contains(length));
            length.map(|length| Kind::VectorTriples { length })
        }
        ("squares", Some(rest)) => width(rest).map(Kind::SquarePairs),
        ("shared", Some(rest)) => width(rest).map(Kind::SharedBits),
        ("chosen", Some(rest)) => {
            let (ring, owner) = rest.split_once("-of")?;
            let owner = (0..MAX_PARTIES).find(|party| party.to_string() == owner)?;
            width(ring).map(|width| Kind::ChosenNumbers(width, Party::new(owner)))
        }
        _ => None,
    }
}

/// Values that follow from the tables above.
impl Kind {
    /// Gives the kind that a product takes, and how many items of it.
    pub fn of_product(width: Width, tripled: impl Into<Tripled>) -> (Self, usize) {
        let Tripled { product, left } = tripled.into();
        match (product, left) {
            (Product::Matrices(count, shape), None) => (Self::MatrixTriples(width, shape), count),
            (Product::Matrices(count, shape), Some(left)) => {
                (Self::SplitMatrixTriples(width, shape, left), count)
            }
            (Product::Convolution(convolution), None) => {
                (Self::ConvolutionTriples(width, convolution), 1)
            }
            (Product::Convolution(convolution), Some(left)) => {
                (Self::SplitConvolutionTriples(width, convolution, left), 1)
            }
        }
    }

    /// Gives the product that one such triple is of.
    pub fn product(self) -> Option<(Width, Tripled)> {
        let (width, product) = match self {
            Self::MatrixTriples(width, shape) | Self::SplitMatrixTriples(width, shape, _) => {
                (width, Product::Matrices(1, shape))
            }
            Self::ConvolutionTriples(width, convolution)
            | Self::SplitConvolutionTriples(width, convolution, _) => {
                (width, Product::Convolution(convolution))
            }
            _ => return None,
        };
        let left = self.left();
        Some((width, Tripled { product, left }))
    }

    fn product_rule(self) -> Dependence {
        match self.product() {
            Some((_, Tripled { product, .. })) => Dependence::Product(product),
            None => unreachable!("it is a triple of products"),
        }
    }

    /// Gives the one of two parties that has the left factor.
    fn left(self) -> Option<Party> {
        match self {
            Self::SplitMatrixTriples(_, _, left) | Self::SplitConvolutionTriples(_, _, left) => {
                Some(left)
            }
            _ => None,
        }
    }

    /// Gives the bytes of each of the strings that one party's shares of `count` items are kept in:
    ///
    /// | kind | strings |
    /// |---|---|
    /// | Boolean triples | a, b, c = a & b: item i is bit i, from the lowest bit of the first byte on |
    /// | vector triples | a: a byte of value 0 or 1 for each item; B and C = a B: whole bytes for each item |
    /// | triples of a ring, of matrices, of convolutions | a, b, c = a b: elements of the ring, lowest byte first |
    /// | square pairs | a, c = a^2 |
    /// | shared bits | b |
    /// | chosen numbers | r: a byte of value 0 or 1 for each item; u; r and r u, one after the other |
    ///
    /// Shares of bits add up by XOR, those of elements in the ring. What a party has of a factor that is the other
    /// one's is zeros.
    pub fn strings(self, count: usize) -> Vec<usize> {
        let columns = self.descriptor().columns.into_iter();
        columns.map(|column| column.cells.bytes(count)).collect()
    }

    /// Gives the bits of an item in each of those strings: the bits of a Boolean triple are packed, all else takes
    /// whole bytes.
    pub fn columns(self) -> Vec<u128> {
        let columns = self.descriptor().columns.into_iter();
        columns.map(|column| column.cells.bits()).collect()
    }

    /// Gives what a [`Source`](crate::Source) tells of as it makes one item: 1, or the products of
    /// elements in a product of matrices.
    pub fn steps(self) -> u64 {
        self.descriptor().unit
    }

    /// Compares kinds in the order in which they are made: those without a ring, ring after ring, correlated OTs.
    pub(crate) fn made_before(&self, other: &Self) -> Ordering {
        let place = |kind: &Self| {
            let Descriptor {
                tag,
                ring,
                left,
                numbers,
                ..
            } = kind.descriptor();
            (tag.is_none(), ring, tag, numbers, left)
        };
        place(self).cmp(&place(other))
    }
}

/// A kind whose items count as one step and one OT each.
fn plain(name: &'static str, dependence: Dependence) -> Descriptor {
    Descriptor {
        tag: None,
        name,
        ring: None,
        left: None,
        numbers: Vec::new(),
        columns: Vec::new(),
        dependence,
        unit: 1,
        ots: 1,
    }
}

impl Descriptor {
    /// Adds what triples of products have in common. `ots` is of one bit so far.
    fn of_product(self, width: Width, lengths: [u128; 3], left: Option<Party>) -> Self {
        let [a, b, c] = lengths.map(|elements| Column::from(Cells::Elements(width, elements)));
        let right = left.map(|left| Party::new(usize::from(left.index() == 0)));
        let holders = |owner: Option<Party>| owner.map_or(Holders::All, Holders::Only);
        let ots = self.ots.saturating_mul(width.bits() as u64);
        Self {
            ring: Some(width),
            left,
            columns: vec![
                Column {
                    holders: holders(left),
                    ..a
                },
                Column {
                    holders: holders(right),
                    ..b
                },
                c,
            ],
            // One way instead of both.
            ots: if left.is_none() { ots } else { ots.div_ceil(2) },
            ..self
        }
    }
}

/// A text that names no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no kind `{text}`; there are bits, u8 to u128, squares-u32, shared-u32, chosen-u32-of0 (of numbers that party 0 knows), vectors-128 (bits of a vector, at most 2^30), matrix-u64-128x128x128 (rows, inner, columns, at most 65536 each), conv-u64-1x64x56x56-64x3x3 (images, channels, rows, columns, and filters, rows, columns), both with -left0 or -left1 where that one of two parties has the left factor and the other one the right, and so for all widths 8, 16, 32, 64, 128"
)]
pub struct KindError {
    text: String,
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(whole: &str) -> Result<Self, KindError> {
        let (mut text, mut left) = (whole, None);
        for party in [0, 1] {
            if let Some(rest) = whole.strip_suffix(&format!("-left{party}")) {
                (text, left) = (rest, Some(Party::new(party)));
                break;
            }
        }
        let (name, rest) = match text.split_once('-') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        read(name, rest, left).ok_or_else(|| KindError { text: cut(whole) })
    }
}
