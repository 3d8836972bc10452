//! Requests of the parties to the dealer.

use std::fmt;

use madrigal_core::{MAX_PARTIES, Party};
use madrigal_correlations::{Dependence, Kind, NUMBERS, Width};

/// Bytes of a request: its kind, the width of the ring, of a split triple or chosen numbers 1 more than the number of the
/// party that has
/// the left factor or the numbers, five zeros, and numbers of 8 bytes each.
pub(super) const BYTES: usize = 8 + 8 * NUMBERS;

/// The most bytes of one string in a piece.
const PIECE_BYTES: usize = 1 << 18;
/// The most bytes of a string in a piece that is never cut: one item's, such as a triple of a product.
const MAX_STRING: usize = 64 << 20;
/// The most products of elements in such a triple: a minute's work, and not hours.
const MAX_PRODUCTS: u64 = 1 << 36;

/// Request for a number of items of a kind, triples of products one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DealRequest {
    /// No more.
    End,
    /// Items of a kind that dealers have.
    Items(Kind, usize),
}

impl fmt::Display for DealRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => write!(f, "nothing more"),
            Self::Items(kind, count) => write!(f, "{count} {} ({kind})", kind.descriptor().name),
        }
    }
}

impl DealRequest {
    /// Makes the request for `count` items of a kind, or for one of those that are asked for one by one;
    /// `None` if none are dealt.
    pub(super) fn of(kind: Kind, count: usize) -> Option<Self> {
        let one_by_one = kind.product().is_some();
        let asked = Self::Items(kind, if one_by_one { 1 } else { count });
        kind.descriptor().tag.map(|_| asked)
    }

    /// Says whether there is nothing to send and nothing to make. A triple without any product still
    /// has random factors, or a sum that is zero.
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::End | Self::Items(_, 0))
    }

    /// Gives the pieces that the items are made and sent in. All but the last of Boolean triples end at bytes.
    pub(super) fn pieces(self) -> impl Iterator<Item = (Kind, usize)> {
        let (kind, count) = match self {
            Self::End => (Kind::BitTriples, 0),
            Self::Items(kind, count) => (kind, count),
        };
        let widest = kind.columns().into_iter().max().unwrap_or(1);
        let fit = 8 * PIECE_BYTES as u128 / widest.max(1);
        let size = usize::try_from(fit).unwrap_or(usize::MAX).max(1);
        let starts = (0..count).step_by(size);
        starts.map(move |start| (kind, size.min(count - start)))
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let Self::Items(kind, count) = self else {
            return bytes;
        };
        let said = kind.descriptor();
        bytes[0] = said.tag.unwrap_or_default();
        // The widths are 8 to 128, the party is one of 64.
        bytes[1] = said.ring.map_or(0, |width| width.bits() as u8);
        bytes[2] = said.left.map_or(0, |left| 1 + left.index() as u8);
        let count = match said.dependence {
            Dependence::Product(_) => None,
            _ => Some(count),
        };
        let numbers = count.into_iter().chain(said.numbers);
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&(number as u64).to_le_bytes());
        }
        bytes
    }

    /// # Errors
    /// Text that says what is wrong with the bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != BYTES {
            return Err(format!(
                "its request to the dealer has {} bytes, not {BYTES}",
                bytes.len()
            ));
        }
        let malformed = || "its request to the dealer is malformed".to_owned();
        let [tag, width, left, ..] = *bytes else {
            return Err(malformed());
        };
        let mut numbers = [0; NUMBERS];
        for (number, word) in numbers.iter_mut().zip(bytes[8..].as_chunks().0) {
            *number = usize::try_from(u64::from_le_bytes(*word)).unwrap_or(usize::MAX);
        }
        let ring = Width::of_bits(width.into());
        let left = match left {
            0 => None,
            left => {
                Some(Party::checked(usize::from(left) - 1, MAX_PARTIES).map_err(|_| malformed())?)
            }
        };
        let request = match tag {
            0 => Self::End,
            _ => match Kind::of_request(tag, ring, left, numbers) {
                Some((kind, count)) => Self::Items(kind, count),
                None => {
                    return Err(format!(
                        "its request to the dealer is of the unknown kind {tag}, of {width} bits, or of an impossible shape"
                    ));
                }
            },
        };
        if !request.is_bounded() {
            return Err(format!(
                "its request to the dealer is for more at once than {} MiB or 2^{} products: {request}",
                MAX_STRING >> 20,
                MAX_PRODUCTS.ilog2()
            ));
        }
        if request.to_bytes() != *bytes {
            return Err(malformed());
        }
        Ok(request)
    }

    /// Says whether one item, which is never cut, is neither too long nor too much work.
    fn is_bounded(self) -> bool {
        let Self::Items(kind, _) = self else {
            return true;
        };
        let fits = |bits: u128| bits.div_ceil(8) <= MAX_STRING as u128;
        kind.steps() <= MAX_PRODUCTS && kind.columns().into_iter().all(fits)
    }
}

#[cfg(test)]
mod tests {
    use madrigal_core::{Convolution, MatrixShape, Product};
    use madrigal_correlations::Tripled;

    use super::*;

    fn of_product(width: Width, tripled: impl Into<Tripled>) -> DealRequest {
        let (kind, count) = Kind::of_product(width, tripled);
        DealRequest::Items(kind, count)
    }

    /// Requests as bytes, said by hand: what is sent does not follow from the tables alone.
    #[test]
    fn requests_are_these_bytes() {
        let bytes = |start: [u8; 3], numbers: &[u64]| {
            let mut all = [0; BYTES];
            all[..3].copy_from_slice(&start);
            for (place, number) in all[8..].chunks_exact_mut(8).zip(numbers) {
                place.copy_from_slice(&number.to_le_bytes());
            }
            all
        };
        let shape = MatrixShape {
            rows: 3,
            inner: 4,
            columns: 5,
        };
        let convolution = Convolution {
            padding: [[1, 2], [3, 0]],
            ..Convolution::new(3, [9, 8], 4, [3, 2])
        };
        let convolution = Product::Convolution(convolution);
        let sizes = [1, 1, 3, 9, 8, 4, 3, 2, 1, 1, 1, 1, 1, 2, 3, 0];
        let split = Tripled::split(convolution, Party::new(1));
        let vectors = Kind::VectorTriples { length: 99 };
        for (request, start, numbers) in [
            (DealRequest::End, [0, 0, 0], &[][..]),
            (DealRequest::Items(Kind::BitTriples, 7), [1, 0, 0], &[7]),
            (DealRequest::Items(vectors, 8), [2, 0, 0], &[8, 99]),
            (
                DealRequest::Items(Kind::RingTriples(Width::W64), 9),
                [3, 64, 0],
                &[9],
            ),
            (
                DealRequest::Items(Kind::SquarePairs(Width::W8), 9),
                [4, 8, 0],
                &[9],
            ),
            (
                DealRequest::Items(Kind::SharedBits(Width::W128), 9),
                [5, 128, 0],
                &[9],
            ),
            (
                DealRequest::Items(Kind::ChosenNumbers(Width::W32, Party::new(63)), 9),
                [8, 32, 64],
                &[9],
            ),
            (
                of_product(Width::W16, Product::Matrices(1, shape)),
                [6, 16, 0],
                &[3, 4, 5],
            ),
            (of_product(Width::W32, convolution), [7, 32, 0], &sizes),
            (of_product(Width::W32, split), [7, 32, 2], &sizes),
        ] {
            assert_eq!(request.to_bytes(), bytes(start, numbers), "{request}");
        }
    }

    #[test]
    fn requests_round_trip_and_others_are_refused() {
        let shape = MatrixShape {
            rows: 3,
            inner: 4,
            columns: 5,
        };
        let (width, count) = (Width::W64, 1_000_003);
        let convolution = Convolution {
            padding: [[1, 2], [3, 0]],
            ..Convolution::new(3, [9, 8], 4, [3, 2])
        };
        let convolution = Product::Convolution(convolution);
        let length = 99;
        for request in [
            DealRequest::End,
            DealRequest::Items(Kind::BitTriples, count),
            DealRequest::Items(Kind::VectorTriples { length }, count),
            DealRequest::Items(Kind::RingTriples(width), count),
            DealRequest::Items(Kind::SquarePairs(width), count),
            DealRequest::Items(Kind::SharedBits(width), count),
            DealRequest::Items(Kind::ChosenNumbers(width, Party::new(63)), count),
            of_product(width, Product::Matrices(1, shape)),
            of_product(width, convolution),
            of_product(width, Tripled::split(convolution, Party::new(1))),
        ] {
            let bytes = request.to_bytes();
            assert_eq!(DealRequest::read(&bytes), Ok(request));
            let items: usize = request.pieces().map(|(_, items)| items).sum();
            let all = match request {
                DealRequest::End => 0,
                DealRequest::Items(_, count) => count,
            };
            assert_eq!(items, all, "{request}");
            for (at, value) in [(0, 9), (1, 5), (3, 1), (2, 7), (2, 3)] {
                let mut altered = bytes;
                altered[at] = value;
                let read = DealRequest::read(&altered);
                // This byte is the owner of chosen numbers.
                let other = matches!(request, DealRequest::Items(Kind::ChosenNumbers(..), _));
                match other && at == 2 {
                    true => assert_ne!(read, Ok(request), "{request}"),
                    false => assert!(read.is_err(), "{request}, byte {at}"),
                }
            }
        }
        let length = usize::MAX;
        let huge = DealRequest::Items(Kind::VectorTriples { length }, count);
        assert!(DealRequest::read(&huge.to_bytes()).is_err());
        assert!(DealRequest::read(&DealRequest::End.to_bytes()[1..]).is_err());
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
            let request = of_product(Width::W32, Product::Matrices(1, shape));
            assert_eq!(
                DealRequest::read(&request.to_bytes()).is_ok(),
                fits,
                "{request}"
            );
        }
        // Few bytes, but too many products.
        let shape = MatrixShape {
            rows: 1 << 13,
            inner: 1 << 13,
            columns: 1 << 13,
        };
        let request = of_product(Width::W8, Product::Matrices(1, shape));
        assert!(DealRequest::read(&request.to_bytes()).is_err());
        let large = Convolution::new(1 << 10, [1 << 10, 1 << 10], 1, [1, 1]);
        let none = Convolution::new(1, [1, 1], 1, [2, 2]);
        for convolution in [large, none] {
            let request = of_product(Width::W8, Product::Convolution(convolution));
            assert!(DealRequest::read(&request.to_bytes()).is_err());
        }
    }
}
