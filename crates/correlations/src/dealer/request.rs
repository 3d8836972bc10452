//! What the parties ask the dealer for.

use std::fmt;

use madrigal_core::{Convolution, MatrixShape, Party, Product, bits};

use super::kinds::Kind;
use crate::matrices::Tripled;

/// Numbers of a request: those of a convolution, or fewer and then zeros.
const NUMBERS: usize = 16;
/// Bytes of a request: its kind, the width of the ring, of a split triple 1 more than the number of the party that has
/// the left factor, five zeros, and numbers of 8 bytes each.
pub(super) const BYTES: usize = 8 + 8 * NUMBERS;

/// The most bytes of one string in a piece.
const PIECE_BYTES: usize = 1 << 18;
/// The most bytes of a string in a piece that is never cut: a triple of a product, a vector.
const MAX_STRING: usize = 64 << 20;
/// The most products of elements in such a triple: a minute's work, and not hours.
const MAX_PRODUCTS: usize = 1 << 36;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// No more.
    End,
    Bits {
        count: usize,
    },
    Vectors {
        length: usize,
        count: usize,
    },
    Triples {
        width: usize,
        count: usize,
    },
    Squares {
        width: usize,
        count: usize,
    },
    SharedBits {
        width: usize,
        count: usize,
    },
    /// One triple, of matrices or of a convolution.
    Product {
        width: usize,
        tripled: Tripled,
    },
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => write!(f, "nothing more"),
            Self::Bits { count } => write!(f, "{count} bit triples"),
            Self::Vectors { length, count } => {
                write!(f, "{count} triples of vectors of {length} bits")
            }
            Self::Triples { width, count } => write!(f, "{count} triples of {width} bits"),
            Self::Squares { width, count } => write!(f, "{count} square pairs of {width} bits"),
            Self::SharedBits { width, count } => {
                write!(f, "{count} shared bits of {width} bits")
            }
            Self::Product { width, tripled } => {
                write!(f, "a triple of {width} bits, {:?}", tripled.product)?;
                match tripled.left {
                    Some(left) => write!(f, ", its left factor of {left}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Request {
    /// What is asked for to have so many items of a kind, or one of those that are asked for one by one;
    /// `None` if none are dealt.
    pub(super) fn of(kind: crate::Kind, count: usize) -> Option<Self> {
        Some(match kind {
            crate::Kind::BitTriples => Self::Bits { count },
            crate::Kind::VectorTriples { length } => Self::Vectors { length, count },
            crate::Kind::RingTriples(width) => {
                let width = width.bits();
                Self::Triples { width, count }
            }
            crate::Kind::SquarePairs(width) => {
                let width = width.bits();
                Self::Squares { width, count }
            }
            crate::Kind::SharedBits(width) => {
                let width = width.bits();
                Self::SharedBits { width, count }
            }
            crate::Kind::MatrixTriples(..)
            | crate::Kind::ConvolutionTriples(..)
            | crate::Kind::SplitMatrixTriples(..)
            | crate::Kind::SplitConvolutionTriples(..) => {
                let (width, tripled) = kind.product()?;
                let width = width.bits();
                Self::Product { width, tripled }
            }
            crate::Kind::CorrelatedOts { .. } => return None,
        })
    }

    /// Items in all; of a triple of a product, the products of elements.
    pub(super) fn items(self) -> usize {
        match self {
            Self::End => 0,
            Self::Bits { count }
            | Self::Vectors { count, .. }
            | Self::Triples { count, .. }
            | Self::Squares { count, .. }
            | Self::SharedBits { count, .. } => count,
            Self::Product { tripled, .. } => tripled.product.multiplications(),
        }
    }

    /// Whether there is nothing to send and nothing to make. A triple without any product still
    /// has random factors, or a sum that is zero.
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Product { .. } => false,
            other => other.items() == 0,
        }
    }

    /// All of it at once.
    pub(super) fn whole(self) -> Kind {
        self.piece(self.items())
    }

    fn piece(self, items: usize) -> Kind {
        match self {
            Self::End => Kind::Bits { count: 0 },
            Self::Bits { .. } => Kind::Bits { count: items },
            Self::Vectors { length, .. } => Kind::Vectors {
                length,
                count: items,
            },
            Self::Triples { width, .. } => Kind::Triples {
                width,
                count: items,
            },
            Self::Squares { width, .. } => Kind::Squares {
                width,
                count: items,
            },
            Self::SharedBits { width, .. } => Kind::SharedBits {
                width,
                count: items,
            },
            Self::Product { width, tripled } => Kind::Product { width, tripled },
        }
    }

    /// The pieces that it is made and sent in, with the items of each. All but the last of Boolean
    /// triples end at bytes.
    pub(super) fn pieces(self) -> impl Iterator<Item = (Kind, usize)> {
        let all = self.items();
        let size = match self {
            Self::End => 1,
            Self::Bits { .. } => 8 * PIECE_BYTES,
            Self::Vectors { length, .. } => (PIECE_BYTES / bits::bytes_for(length).max(1)).max(1),
            Self::Triples { width, .. }
            | Self::Squares { width, .. }
            | Self::SharedBits { width, .. } => PIECE_BYTES * 8 / width,
            Self::Product { .. } => all.max(1),
        };
        let pieces = if self.is_empty() {
            0
        } else {
            all.div_ceil(size).max(1)
        };
        (0..pieces).map(move |piece| {
            let items = size.min(all - piece * size);
            (self.piece(items), items)
        })
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let first = |numbers: &[usize]| {
            let mut all = [0; NUMBERS];
            all[..numbers.len()].copy_from_slice(numbers);
            all
        };
        let (kind, width, numbers) = match self {
            Self::End => (0, 0, first(&[])),
            Self::Bits { count } => (1, 0, first(&[count])),
            Self::Vectors { length, count } => (2, 0, first(&[count, length])),
            Self::Triples { width, count } => (3, width, first(&[count])),
            Self::Squares { width, count } => (4, width, first(&[count])),
            Self::SharedBits { width, count } => (5, width, first(&[count])),
            Self::Product { width, tripled } => match tripled.product {
                Product::Matrices(_, shape) => {
                    (6, width, first(&[shape.rows, shape.inner, shape.columns]))
                }
                Product::Convolution(convolution) => (7, width, convolution.numbers()),
            },
        };
        let mut bytes = [0; BYTES];
        // The widths are 8 to 128.
        bytes[..2].copy_from_slice(&[kind, width as u8]);
        if let Self::Product { tripled, .. } = self {
            // One of two parties.
            bytes[2] = tripled.left.map_or(0, |left| 1 + left.index() as u8);
        }
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&(number as u64).to_le_bytes());
        }
        bytes
    }

    /// # Errors
    /// What is wrong with the bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != BYTES {
            return Err(format!(
                "its request to the dealer has {} bytes, not {BYTES}",
                bytes.len()
            ));
        }
        let number = |i: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
            usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
        };
        let [kind, width] = [bytes[0], bytes[1]].map(usize::from);
        let numbers: [usize; NUMBERS] = std::array::from_fn(|i| number(1 + i));
        let [count, second, third, ..] = numbers;
        let left = match bytes[2] {
            0 => None,
            left => Some(Party::new(usize::from(left - 1).min(1))),
        };
        let request = match kind {
            0 => Self::End,
            1 => Self::Bits { count },
            2 => Self::Vectors {
                length: second,
                count,
            },
            3 => Self::Triples { width, count },
            4 => Self::Squares { width, count },
            5 => Self::SharedBits { width, count },
            6 => Self::Product {
                width,
                tripled: Tripled {
                    product: Product::Matrices(
                        1,
                        MatrixShape {
                            rows: count,
                            inner: second,
                            columns: third,
                        },
                    ),
                    left,
                },
            },
            7 => Self::Product {
                width,
                tripled: Tripled {
                    product: Product::Convolution(Convolution::from_numbers(numbers)),
                    left,
                },
            },
            _ => {
                return Err(format!(
                    "its request to the dealer is of the unknown kind {kind}"
                ));
            }
        };
        if kind >= 3 && ![8, 16, 32, 64, 128].contains(&width) {
            return Err(format!("its request to the dealer is for {width} bits"));
        }
        if request
            .largest_string()
            .is_none_or(|bytes| bytes > MAX_STRING)
        {
            return Err(format!(
                "its request to the dealer is for more at once than {} MiB or 2^{} products: {request}",
                MAX_STRING >> 20,
                MAX_PRODUCTS.ilog2()
            ));
        }
        if request.to_bytes() != *bytes {
            return Err("its request to the dealer is malformed".to_owned());
        }
        Ok(request)
    }

    /// Bytes of the longest string of a piece that cannot be cut, `None` if they cannot be counted or
    /// are too much work.
    fn largest_string(self) -> Option<usize> {
        match self {
            Self::Vectors { length, .. } => Some(length.div_ceil(8)),
            Self::Product { width, tripled } => {
                let product = tripled.product;
                let (lengths, products) = match product {
                    Product::Matrices(_, shape) => {
                        let MatrixShape {
                            rows,
                            inner,
                            columns,
                        } = shape;
                        let lengths = [
                            rows.checked_mul(inner)?,
                            inner.checked_mul(columns)?,
                            rows.checked_mul(columns)?,
                        ];
                        (lengths, lengths[0].checked_mul(columns)?)
                    }
                    Product::Convolution(_) => {
                        (product.checked_lengths()?, product.multiplications())
                    }
                };
                if products > MAX_PRODUCTS {
                    return None;
                }
                lengths.into_iter().max()?.checked_mul(width / 8)
            }
            _ => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_round_trip_and_others_are_refused() {
        let shape = MatrixShape {
            rows: 3,
            inner: 4,
            columns: 5,
        };
        let (width, count) = (64, 1_000_003);
        let convolution = Convolution {
            padding: [[1, 2], [3, 0]],
            ..Convolution::new(3, [9, 8], 4, [3, 2])
        };
        for request in [
            Request::End,
            Request::Bits { count },
            Request::Vectors { length: 99, count },
            Request::Triples { width, count },
            Request::Squares { width, count },
            Request::SharedBits { width, count },
            Request::Product {
                width,
                tripled: Product::Matrices(1, shape).into(),
            },
            Request::Product {
                width,
                tripled: Product::Convolution(convolution).into(),
            },
            Request::Product {
                width,
                tripled: Tripled::split(Product::Convolution(convolution), Party::new(1)),
            },
        ] {
            let bytes = request.to_bytes();
            assert_eq!(Request::read(&bytes), Ok(request));
            let items: usize = request.pieces().map(|(_, items)| items).sum();
            assert_eq!(items, request.items(), "{request}");
            for (at, value) in [(0, 9), (1, 5), (3, 1), (2, 7), (2, 3)] {
                let mut altered = bytes;
                altered[at] = value;
                assert!(Request::read(&altered).is_err(), "{request}, byte {at}");
            }
        }
        let huge = Request::Vectors {
            length: usize::MAX,
            count,
        };
        assert!(Request::read(&huge.to_bytes()).is_err());
        assert!(Request::read(&Request::End.to_bytes()[1..]).is_err());
    }

    #[test]
    fn matrices_are_bounded_in_bytes_and_in_products() {
        for ([rows, inner, columns], fits) in [
            ([1 << 12, 1 << 11, 1 << 12], true),
            ([1 << 12, 1 << 12, 1 << 11], true),
            ([1 << 14, 1 << 14, 1], false),
            ([0, 1 << 14, 1 << 14], false),
            ([1 << 20, 8, 1 << 20], false),
            ([1 << 11, 1 << 10, 1 << 12], true),
            ([usize::MAX, 0, 0], true),
            ([usize::MAX, 2, 0], false),
            ([0, 0, 0], true),
        ] {
            let shape = MatrixShape {
                rows,
                inner,
                columns,
            };
            let product = Product::Matrices(1, shape);
            let tripled = product.into();
            let request = Request::Product { width: 32, tripled };
            assert_eq!(
                Request::read(&request.to_bytes()).is_ok(),
                fits,
                "{request}"
            );
        }
        // Of bytes there are few, of products too many.
        let shape = MatrixShape {
            rows: 1 << 13,
            inner: 1 << 13,
            columns: 1 << 13,
        };
        let tripled = Product::Matrices(1, shape).into();
        let request = Request::Product { width: 8, tripled };
        assert!(Request::read(&request.to_bytes()).is_err());
        let large = Convolution::new(1 << 10, [1 << 10, 1 << 10], 1, [1, 1]);
        let none = Convolution::new(1, [1, 1], 1, [2, 2]);
        for convolution in [large, none] {
            let tripled = Product::Convolution(convolution).into();
            let request = Request::Product { width: 8, tripled };
            assert!(Request::read(&request.to_bytes()).is_err());
        }
    }
}
