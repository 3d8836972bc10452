//! The kinds of correlations by name, and what is needed of each as text: `bits=10M,u64=100k`.

mod convolutions;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use madrigal_core::{Convolution, Party, Product, Ring};

use crate::matrices::{MatrixShape, Tripled};
use crate::needs::Needs;

/// The most items of one kind that a text may ask for.
const MAX_COUNT: u64 = 1 << 48;
/// The longest vectors that a text may ask for, in bits.
const MAX_VECTOR: usize = 1 << 30;
/// The most rows or columns of a matrix that a text may ask for.
const MAX_SIDE: usize = 1 << 16;
/// The most bytes that a text may ask for: one party's shares of everything.
const MAX_BYTES: u128 = 1 << 60;

/// Width of a ring Z_2^l.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// l = 8.
    W8,
    /// l = 16.
    W16,
    /// l = 32.
    W32,
    /// l = 64.
    W64,
    /// l = 128.
    W128,
}

impl Width {
    /// All widths, in order.
    pub const ALL: [Self; 5] = [Self::W8, Self::W16, Self::W32, Self::W64, Self::W128];

    /// l, in bits.
    pub const fn bits(self) -> usize {
        8 << self as usize
    }

    /// The width of `T`.
    pub fn of<T: Ring>() -> Self {
        Self::ALL[T::BYTES.ilog2() as usize]
    }
}

/// Evaluates `$body` with the type `$ring` of a width.
macro_rules! with_ring {
    ($width:expr, $ring:ident => $body:expr) => {
        match $width {
            $crate::kind::Width::W8 => {
                type $ring = u8;
                $body
            }
            $crate::kind::Width::W16 => {
                type $ring = u16;
                $body
            }
            $crate::kind::Width::W32 => {
                type $ring = u32;
                $body
            }
            $crate::kind::Width::W64 => {
                type $ring = u64;
                $body
            }
            $crate::kind::Width::W128 => {
                type $ring = u128;
                $body
            }
        }
    };
}
pub(crate) use with_ring;

/// One kind of correlation. Its text is `bits`, `vectors-LENGTH`, `u64`, `squares-u64`,
/// `shared-u64`, `matrix-u64-ROWSxINNERxCOLUMNS` or `conv-u64-IMAGESxCHANNELSxROWSxCOLUMNS-FILTERSxROWSxCOLUMNS`, which
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

impl Kind {
    /// What a product takes, and how many of it.
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

    /// The product that one such triple is of.
    pub fn product(self) -> Option<(Width, Tripled)> {
        let (width, product, left) = match self {
            Self::MatrixTriples(width, shape) => (width, Product::Matrices(1, shape), None),
            Self::ConvolutionTriples(width, convolution) => {
                (width, Product::Convolution(convolution), None)
            }
            Self::SplitMatrixTriples(width, shape, left) => {
                (width, Product::Matrices(1, shape), Some(left))
            }
            Self::SplitConvolutionTriples(width, convolution, left) => {
                (width, Product::Convolution(convolution), Some(left))
            }
            _ => return None,
        };
        Some((width, Tripled { product, left }))
    }

    /// Bytes of each of the strings that one party's shares of `count` items are kept in:
    ///
    /// | kind | strings |
    /// |---|---|
    /// | Boolean triples | a, b, c = a & b: item i is bit i, from the lowest bit of the first byte on |
    /// | vector triples | a: a byte of value 0 or 1 for each item; B and C = a B: whole bytes for each item |
    /// | triples of a ring, of matrices, of convolutions | a, b, c = a b: elements of the ring, lowest byte first |
    /// | square pairs | a, c = a^2 |
    /// | shared bits | b |
    ///
    /// Shares of bits add up by XOR, those of elements in the ring. What a party has of a factor that is the other
    /// one's is zeros.
    pub fn strings(self, count: usize) -> Vec<usize> {
        let bytes = |bits: u128| bits.saturating_mul(count as u128).div_ceil(8);
        let columns = self.columns().into_iter();
        columns
            .map(|bits| usize::try_from(bytes(bits)).unwrap_or(usize::MAX))
            .collect()
    }

    /// Bits of an item in each of the strings that its shares are kept in: the bits of a Boolean
    /// triple are packed, all else takes whole bytes.
    pub(crate) fn columns(self) -> Vec<u128> {
        let vector = |length: usize| 8 * length.div_ceil(8) as u128;
        match self {
            Self::BitTriples => vec![1; 3],
            Self::VectorTriples { length } => vec![8, vector(length), vector(length)],
            Self::RingTriples(width) => vec![width.bits() as u128; 3],
            Self::SquarePairs(width) => vec![width.bits() as u128; 2],
            Self::SharedBits(width) => vec![width.bits() as u128],
            Self::CorrelatedOts { .. } => vec![128],
            Self::MatrixTriples(width, shape) | Self::SplitMatrixTriples(width, shape, _) => {
                let elements = |m: usize, n: usize| (m as u128).saturating_mul(n as u128);
                let MatrixShape {
                    rows,
                    inner,
                    columns,
                } = shape;
                [
                    elements(rows, inner),
                    elements(inner, columns),
                    elements(rows, columns),
                ]
                .map(|elements| elements.saturating_mul(width.bits() as u128))
                .into()
            }
            Self::ConvolutionTriples(width, convolution)
            | Self::SplitConvolutionTriples(width, convolution, _) => {
                Product::Convolution(convolution)
                    .lengths()
                    .map(|elements| (elements as u128).saturating_mul(width.bits() as u128))
                    .into()
            }
        }
    }

    /// What a [`Source`](crate::Source) tells of as it makes one item: 1, or the products of
    /// elements in a product of matrices.
    pub fn steps(self) -> u64 {
        match self {
            Self::MatrixTriples(_, shape) | Self::SplitMatrixTriples(_, shape, _) => (shape.rows
                as u64)
                .saturating_mul(shape.inner as u64)
                .saturating_mul(shape.columns as u64),
            Self::ConvolutionTriples(_, convolution)
            | Self::SplitConvolutionTriples(_, convolution, _) => {
                Product::Convolution(convolution).multiplications() as u64
            }
            _ => 1,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitTriples => f.write_str("bits"),
            Self::VectorTriples { length } => write!(f, "vectors-{length}"),
            Self::RingTriples(width) => write!(f, "u{}", width.bits()),
            Self::SquarePairs(width) => write!(f, "squares-u{}", width.bits()),
            Self::SharedBits(width) => write!(f, "shared-u{}", width.bits()),
            Self::CorrelatedOts { sender, receiver } => {
                write!(f, "ots-{}-{}", sender.index(), receiver.index())
            }
            Self::MatrixTriples(width, shape) | Self::SplitMatrixTriples(width, shape, _) => {
                let MatrixShape {
                    rows,
                    inner,
                    columns,
                } = shape;
                write!(f, "matrix-u{}-{rows}x{inner}x{columns}", width.bits())?;
                self.write_left(f)
            }
            Self::ConvolutionTriples(width, convolution)
            | Self::SplitConvolutionTriples(width, convolution, _) => {
                write!(f, "conv-u{}-", width.bits())?;
                convolutions::write(convolution, f)?;
                self.write_left(f)
            }
        }
    }
}

impl Kind {
    fn write_left(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.product().and_then(|(_, tripled)| tripled.left) {
            Some(left) => write!(f, "-left{}", left.index()),
            None => Ok(()),
        }
    }
}

impl FromStr for Kind {
    type Err = NeedsError;

    fn from_str(text: &str) -> Result<Self, NeedsError> {
        let unknown = || NeedsError::Kind { text: cut(text) };
        for left in [0, 1] {
            if let Some(whole) = text.strip_suffix(&format!("-left{left}")) {
                return match whole.parse() {
                    Ok(Self::MatrixTriples(width, shape)) => {
                        Ok(Self::SplitMatrixTriples(width, shape, Party::new(left)))
                    }
                    Ok(Self::ConvolutionTriples(width, convolution)) => Ok(
                        Self::SplitConvolutionTriples(width, convolution, Party::new(left)),
                    ),
                    _ => Err(unknown()),
                };
            }
        }
        let width = |text: &str| {
            let named = |width: &Width| text == format!("u{}", width.bits());
            Width::ALL.into_iter().find(named).ok_or_else(unknown)
        };
        let (name, rest) = match text.split_once('-') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("bits", None) => Ok(Self::BitTriples),
            (_, None) => Ok(Self::RingTriples(width(text)?)),
            ("vectors", Some(length)) => {
                let length = number(length)
                    .filter(|length| (1..=MAX_VECTOR).contains(length))
                    .ok_or_else(unknown)?;
                Ok(Self::VectorTriples { length })
            }
            ("squares", Some(rest)) => Ok(Self::SquarePairs(width(rest)?)),
            ("shared", Some(rest)) => Ok(Self::SharedBits(width(rest)?)),
            ("matrix", Some(rest)) => {
                let (ring, shape) = rest.split_once('-').ok_or_else(unknown)?;
                let sides: Option<Vec<usize>> = shape.split('x').map(number).collect();
                match sides.as_deref() {
                    Some(&[rows, inner, columns])
                        if [rows, inner, columns]
                            .iter()
                            .all(|side| (1..=MAX_SIDE).contains(side)) =>
                    {
                        let shape = MatrixShape {
                            rows,
                            inner,
                            columns,
                        };
                        Ok(Self::MatrixTriples(width(ring)?, shape))
                    }
                    _ => Err(unknown()),
                }
            }
            ("conv", Some(rest)) => {
                let (ring, shape) = rest.split_once('-').ok_or_else(unknown)?;
                let convolution = convolutions::read(shape).ok_or_else(unknown)?;
                Ok(Self::ConvolutionTriples(width(ring)?, convolution))
            }
            _ => Err(unknown()),
        }
    }
}

/// Digits alone, and no zero before them: one number has one text.
fn number(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

/// Why a text does not say what is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedsError {
    /// Nothing at all.
    #[error("nothing is asked for; write for example bits=10M,u64=100k")]
    Nothing,
    /// A part without `=`.
    #[error("`{text}` is no kind with a number; write for example bits=10M,u64=100k")]
    Part {
        /// The part.
        text: String,
    },
    /// No such kind.
    #[error(
        "there is no kind `{text}`; there are bits, u8 to u128, squares-u32, shared-u32, vectors-128 (bits of a vector, at most 2^30), matrix-u64-128x128x128 (rows, inner, columns, at most 65536 each), conv-u64-1x64x56x56-64x3x3 (images, channels, rows, columns, and filters, rows, columns), both with -left0 or -left1 where that one of two parties has the left factor and the other one the right, and so for all widths 8, 16, 32, 64, 128"
    )]
    Kind {
        /// The name.
        text: String,
    },
    /// No number, or one out of range.
    #[error(
        "`{text}` is not a number of items from 1 to 2^48; write digits, and k, M or G for thousands, millions or billions"
    )]
    Count {
        /// The number.
        text: String,
    },
    /// A kind that was there before.
    #[error("{kind} is there twice; add the two numbers up")]
    Twice {
        /// The kind.
        kind: Box<Kind>,
    },
    /// More than any disk holds.
    #[error("that is more than 2^60 bytes for each party; ask for less")]
    TooLarge,
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

impl Needs {
    /// Bytes of one party's shares of all items: of the one that has most, since not all take part in
    /// correlated OTs.
    pub fn share_bytes(&self) -> u128 {
        let mut all: u128 = 0;
        let mut own: BTreeMap<Party, u128> = BTreeMap::new();
        for (kind, count) in self.kinds() {
            let column = |bits: u128| bits.saturating_mul(count as u128).div_ceil(8);
            let columns = kind.columns().into_iter().map(column);
            let bytes = columns.fold(0, u128::saturating_add);
            if let Kind::CorrelatedOts { sender, receiver } = kind {
                for party in [sender, receiver] {
                    let own = own.entry(party).or_default();
                    *own = own.saturating_add(bytes);
                }
            } else {
                all = all.saturating_add(bytes);
            }
        }
        all.saturating_add(own.into_values().max().unwrap_or(0))
    }

    /// What a source tells of, all together, as it makes all items: [`Kind::steps`] of each.
    pub fn steps(&self) -> u64 {
        let kinds = self.kinds().into_iter();
        kinds.fold(0, |sum, (kind, count)| {
            sum.saturating_add(kind.steps().saturating_mul(count as u64))
        })
    }
}

/// Nothing is the empty text, which is not read back.
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (kind, count)) in self.kinds().into_iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let (count, unit) = match count {
                count if count % 1_000_000_000 == 0 => (count / 1_000_000_000, "G"),
                count if count % 1_000_000 == 0 => (count / 1_000_000, "M"),
                count if count % 1000 == 0 => (count / 1000, "k"),
                count => (count, ""),
            };
            write!(f, "{comma}{kind}={count}{unit}")?;
        }
        Ok(())
    }
}

impl FromStr for Needs {
    type Err = NeedsError;

    fn from_str(text: &str) -> Result<Self, NeedsError> {
        if text.trim().is_empty() {
            return Err(NeedsError::Nothing);
        }
        let mut needs = Self::new();
        for part in text.split(',') {
            let part = part.trim();
            let (kind, count) = part
                .split_once('=')
                .ok_or_else(|| NeedsError::Part { text: cut(part) })?;
            let kind: Kind = kind.trim().parse()?;
            if needs.of(kind) > 0 {
                let kind = Box::new(kind);
                return Err(NeedsError::Twice { kind });
            }
            needs.add(kind, read_count(count.trim())?);
        }
        if needs.share_bytes() > MAX_BYTES {
            return Err(NeedsError::TooLarge);
        }
        Ok(needs)
    }
}

fn read_count(text: &str) -> Result<usize, NeedsError> {
    let wrong = || NeedsError::Count { text: cut(text) };
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    number(digits)
        .and_then(|count| count.checked_mul(factor))
        .filter(|&count| count as u64 <= MAX_COUNT)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn convolution() -> impl Strategy<Value = Convolution> {
        let small = || 1..5_usize;
        let sizes = (small(), small(), small(), [5..3000_usize, 5..9], small());
        let moves = (
            [small(), small()],
            [1..3_usize, 1..3],
            [[0..3_usize, 0..3], [0..3, 0..3]],
        );
        (sizes, moves).prop_map(|((images, groups, channels, image, filters), moves)| {
            let (stride, dilation, padding) = moves;
            Convolution {
                images,
                groups,
                channels: groups * channels,
                image,
                filters: groups * filters,
                filter: [2, 3],
                stride,
                dilation,
                padding,
            }
        })
    }

    fn kind() -> impl Strategy<Value = Kind> {
        let width = || proptest::sample::select(Width::ALL.to_vec());
        let side = || 1..=MAX_SIDE;
        prop_oneof![
            Just(Kind::BitTriples),
            (1..=MAX_VECTOR).prop_map(|length| Kind::VectorTriples { length }),
            width().prop_map(Kind::RingTriples),
            width().prop_map(Kind::SquarePairs),
            width().prop_map(Kind::SharedBits),
            (width(), side(), side(), side()).prop_map(|(width, rows, inner, columns)| {
                let shape = MatrixShape {
                    rows,
                    inner,
                    columns,
                };
                Kind::MatrixTriples(width, shape)
            }),
            (width(), convolution())
                .prop_map(|(width, convolution)| Kind::ConvolutionTriples(width, convolution)),
            (width(), convolution(), 0..2_usize).prop_map(|(width, convolution, left)| {
                Kind::SplitConvolutionTriples(width, convolution, Party::new(left))
            }),
            (width(), side(), side(), 0..2_usize).prop_map(|(width, rows, inner, left)| {
                let shape = MatrixShape {
                    rows,
                    inner,
                    columns: 1,
                };
                Kind::SplitMatrixTriples(width, shape, Party::new(left))
            }),
        ]
    }

    fn count() -> impl Strategy<Value = usize> {
        let unit = proptest::sample::select(vec![1, 1000, 1_000_000, 1_000_000_000]);
        (1..100_000_usize, unit).prop_map(|(count, unit)| count * unit)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(parts in proptest::collection::vec((kind(), count()), 1..8)) {
            let mut needs = Needs::new();
            for (kind, count) in parts {
                needs.add(kind, count);
            }
            let text = needs.to_string();
            if needs.share_bytes() > MAX_BYTES {
                prop_assert_eq!(text.parse::<Needs>(), Err(NeedsError::TooLarge));
            } else {
                prop_assert_eq!(text.parse::<Needs>(), Ok(needs));
            }
        }

        #[test]
        fn no_text_confuses_it(text in "[a-z0-9=,x-]{0,40}|.{0,20}") {
            if let Ok(needs) = text.parse::<Needs>() {
                prop_assert_eq!(needs.to_string().parse::<Needs>(), Ok(needs));
            }
        }
    }

    #[test]
    fn the_grammar_is_that_of_the_manual() {
        let text = "bits=10M,vectors-128=10k,u64=100k,squares-u32=5k,shared-u32=1k,matrix-u64-128x128x128=3,conv-u32-1x3x8x8-4x3x3-stride2x2-padding1x1x1x1=2";
        let needs: Needs = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(needs.of(Kind::BitTriples), 10_000_000);
        assert_eq!(needs.of(Kind::SharedBits(Width::W32)), 1000);
        let convolution = 4 * 4 * 4 * 27;
        assert_eq!(
            needs.steps(),
            10_116_000 + 3 * 128 * 128 * 128 + 2 * convolution
        );
        assert_eq!(needs.to_string().parse(), Ok(needs));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| match text.parse::<Needs>() {
            Ok(needs) => panic!("{text} was read as {needs}"),
            Err(error) => error,
        };
        assert_eq!(error(" "), NeedsError::Nothing);
        let of = |text: &str| text.to_owned();
        assert_eq!(error("bits"), NeedsError::Part { text: of("bits") });
        for count in [
            "",
            "0",
            "-1",
            "1e9",
            "01",
            "+1",
            "k",
            "99999999999999999999",
            "300000G",
        ] {
            let text = of(count);
            assert_eq!(error(&format!("bits={count}")), NeedsError::Count { text });
        }
        for kind in [
            "bit",
            "u7",
            "u063",
            "squares",
            "squares-8",
            "vectors-0",
            "vectors-99999999999",
            "matrix-u8",
            "matrix-u8-1x2",
            "matrix-u8-1x2x3x4",
            "matrix-u8-1x0x3",
            "matrix-u8-1x99999x3",
            "conv-u8",
            "conv-u8-1x1x1x1",
            "conv-u8-1x1x1x1-1x2x1",
            "conv-u8-1x1x1x1-1x1x1-groups1",
            "conv-u8-1x3x1x1-1x1x1-groups2",
            "conv-u8-1x1x4x4-1x1x1-stride0x1",
            "conv-u8-1x1x4x4-1x1x1-padding1x1x1",
            "conv-u8-1x1x4x4-1x1x1-dilation2x1-stride2x1",
        ] {
            let text = of(kind);
            assert_eq!(error(&format!("{kind}=1")), NeedsError::Kind { text });
        }
        let kind = Box::new(Kind::RingTriples(Width::W8));
        assert_eq!(error("u8=1,bits=3,u8=2"), NeedsError::Twice { kind });
        assert_eq!(
            error("matrix-u128-65536x65536x65536=200G"),
            NeedsError::TooLarge
        );
    }
}
