//! Boolean multiplication triples: shares of random bits a, b and of c = a & b.

use std::collections::VecDeque;
use std::sync::Arc;

use madrigal_core::{Zeroizing, bits};
use madrigal_net::Result;

use crate::shares::{Shares, Strings, enough};

/// One party's shares of triples, to be used from the front, each once.
///
/// The value is not `Clone`, and taking from it moves its front: no triple can be had twice. The
/// shares are wiped when the last part is dropped; `Debug` shows counts alone.
pub struct BitTriples {
    shares: Arc<Packed>,
    next: usize,
    end: usize,
}

/// Packed: triple i is bit i of each string.
#[derive(Default)]
struct Packed {
    a: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    c: Zeroizing<Vec<u8>>,
}

impl Packed {
    /// Triples from `start` on, as strings that begin with them.
    fn bits<'a>(&'a self, start: usize, count: usize, scratch: &'a mut Scratch) -> TripleBits<'a> {
        if start.is_multiple_of(8) {
            let range = start / 8..start / 8 + bits::bytes_for(count);
            return TripleBits {
                a: &self.a[range.clone()],
                b: &self.b[range.clone()],
                c: &self.c[range],
            };
        }
        let Scratch([a, b, c]) = scratch;
        for (to, from) in [(&mut *a, &self.a), (&mut *b, &self.b), (&mut *c, &self.c)] {
            fit(to, bits::bytes_for(count));
            bits::take(from, start, to, count);
        }
        TripleBits { a, b, c }
    }
}

/// The three strings of some triples. Bits past the end of the last byte are unspecified: they may
/// belong to other triples, so they must not leave the party.
#[derive(Clone, Copy)]
pub struct TripleBits<'a> {
    /// Shares of a.
    pub a: &'a [u8],
    /// Shares of b.
    pub b: &'a [u8],
    /// Shares of c = a & b.
    pub c: &'a [u8],
}

/// Room for triples that do not begin at a byte.
#[derive(Default)]
pub struct Scratch([Zeroizing<Vec<u8>>; 3]);

impl std::fmt::Debug for BitTriples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BitTriples({} left)", self.len())
    }
}

impl BitTriples {
    /// Triples from their packed shares, of `ceil(count / 8)` bytes each.
    ///
    /// # Panics
    /// If a string has another length.
    pub fn new(
        a: Zeroizing<Vec<u8>>,
        b: Zeroizing<Vec<u8>>,
        c: Zeroizing<Vec<u8>>,
        count: usize,
    ) -> Self {
        let bytes = bits::bytes_for(count);
        assert!(
            [&a, &b, &c].iter().all(|string| string.len() == bytes),
            "{count} triples are three strings of {bytes} bytes"
        );
        Self {
            shares: Arc::new(Packed { a, b, c }),
            next: 0,
            end: count,
        }
    }

    /// Reads `count` triples from their strings.
    pub(crate) fn from_strings(strings: Strings, count: usize) -> Self {
        let mut strings = strings.into_iter();
        let [a, b, c] = std::array::from_fn(|_| strings.next().unwrap_or_default());
        Self::new(a, b, c, count)
    }

    /// No triples, for what has no AND.
    pub fn none() -> Self {
        Self {
            shares: Arc::default(),
            next: 0,
            end: 0,
        }
    }

    /// Counts the items that are left.
    pub fn len(&self) -> usize {
        self.end - self.next
    }

    /// Whether all are used.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Splits the first `count` off, for a part of the work that runs on its own.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    pub fn split_front(&mut self, count: usize) -> Self {
        self.advance(count, |shares, start| Self {
            shares: Arc::clone(shares),
            next: start,
            end: start + count,
        })
    }

    /// Uses the first `count`.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short) if there are fewer: then a plan was wrong.
    pub fn take<'a>(
        &'a mut self,
        count: usize,
        scratch: &'a mut Scratch,
    ) -> Result<TripleBits<'a>> {
        enough("bit triples", count, self.len())?;
        Ok(self.advance(count, |shares, start| shares.bits(start, count, scratch)))
    }

    fn advance<'a, T>(
        &'a mut self,
        count: usize,
        part: impl FnOnce(&'a Arc<Packed>, usize) -> T,
    ) -> T {
        assert!(
            count <= self.len(),
            "{count} triples wanted, {} left",
            self.len()
        );
        let start = self.next;
        self.next += count;
        part(&self.shares, start)
    }
}

impl Shares for BitTriples {
    fn left(&self) -> usize {
        self.len()
    }

    fn split_front(&mut self, count: usize) -> Self {
        self.split_front(count)
    }

    fn concat(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let mut pieces = TriplePieces::new();
        let count = parts.iter().map(Self::len).sum();
        parts.into_iter().for_each(|part| pieces.push(part));
        pieces.take(count).unwrap_or_else(Self::none)
    }

    fn strings(mut self) -> Strings {
        let count = self.len();
        let mut scratch = Scratch::default();
        let bits = self.advance(count, |shares, start| {
            shares.bits(start, count, &mut scratch)
        });
        let strings = [bits.a, bits.b, bits.c];
        strings.map(|string| Zeroizing::new(string.to_vec())).into()
    }
}

/// Triples that come in pieces, to be taken in other ones.
#[derive(Default)]
pub struct TriplePieces {
    pieces: VecDeque<BitTriples>,
    count: usize,
    scratch: Scratch,
}

impl std::fmt::Debug for TriplePieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TriplePieces({} left)", self.count)
    }
}

impl TriplePieces {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts more behind those that are there.
    pub fn push(&mut self, piece: BitTriples) {
        self.count += piece.len();
        self.pieces.push_back(piece);
    }

    /// Takes the first `count`, if there are enough: copied where they come from several pieces.
    pub fn take(&mut self, count: usize) -> Option<BitTriples> {
        self.count = self.count.checked_sub(count)?;
        if count == 0 {
            return Some(BitTriples::none());
        }
        let front = self.pieces.front_mut();
        if let Some(piece) = front.filter(|piece| piece.len() > count) {
            return Some(piece.split_front(count));
        }
        let string = || Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let mut strings = [string(), string(), string()];
        let mut at = 0;
        while let Some(piece) = self.pieces.front_mut() {
            let now = (count - at).min(piece.len());
            let bits = piece.advance(now, |shares, start| {
                shares.bits(start, now, &mut self.scratch)
            });
            for (to, from) in strings.iter_mut().zip([bits.a, bits.b, bits.c]) {
                bits::put(to, at, from, now);
            }
            at += now;
            if piece.is_empty() {
                self.pieces.pop_front();
            }
            if at == count {
                break;
            }
        }
        let [a, b, c] = strings;
        Some(BitTriples::new(a, b, c, count))
    }
}

/// Makes `string` `bytes` long. One that is too small is wiped and replaced: growing it would leave
/// what it held in freed memory.
fn fit(string: &mut Zeroizing<Vec<u8>>, bytes: usize) {
    if string.capacity() < bytes {
        *string = Zeroizing::new(Vec::with_capacity(bytes));
    }
    string.resize(bytes, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triples(count: usize) -> BitTriples {
        let string = |factor: u8| {
            Zeroizing::new(
                (0..bits::bytes_for(count))
                    .map(|i| factor.wrapping_mul(i as u8))
                    .collect(),
            )
        };
        BitTriples::new(string(3), string(5), string(7), count)
    }

    #[test]
    fn each_triple_comes_once_wherever_it_is_cut() {
        let mut cut = triples(100);
        let mut rest = triples(100);
        let mut tail = cut.split_front(30);
        std::mem::swap(&mut tail, &mut cut); // `cut` has 0..30, `tail` 30..100
        let mut scratch = Scratch::default();
        let mut other = Scratch::default();
        for size in [3, 8, 19] {
            let here = cut.take(size, &mut scratch).expect("there are so many");
            let there = rest.take(size, &mut other).expect("there are so many");
            assert_eq!(here.a[0] & 7, there.a[0] & 7);
        }
        assert!(cut.is_empty());
        assert_eq!(tail.len(), 70);
        let here = tail.take(70, &mut scratch).expect("there are 70");
        let here = here.c.to_vec();
        let there = rest.take(70, &mut other).expect("there are 70");
        assert_eq!(here, there.c);
    }

    #[test]
    fn pieces_are_taken_in_other_pieces() {
        let mut whole = triples(3000);
        let mut source = triples(3000);
        let mut pieces = TriplePieces::new();
        let mut others = Vec::new();
        for (more, takes) in [
            (100, &[30_usize, 50, 0][..]),
            (8, &[28]),
            (1000, &[7, 900, 1]),
            (3, &[]),
            (5, &[]),
            (1884, &[1000, 1, 2]),
        ] {
            pieces.push(source.split_front(more));
            for &count in takes {
                let taken = pieces.take(count).expect("so many are there");
                assert_eq!(taken.len(), count);
                others.push(taken);
            }
        }
        assert!(pieces.take(3000 - 2019 + 1).is_none(), "there is one less");
        others.push(pieces.take(3000 - 2019).expect("all that is left"));
        assert!(pieces.pieces.is_empty());
        let mut scratches = [Scratch::default(), Scratch::default()];
        for mut taken in others {
            let count = taken.len();
            let [one, other] = &mut scratches;
            let found = taken.take(count, one).expect("they are there");
            let wanted = whole.take(count, other).expect("they are there");
            let mut strings =
                [found.a, found.b, found.c, wanted.a, wanted.b, wanted.c].map(<[u8]>::to_vec);
            for string in &mut strings {
                bits::clear_tail(string, count);
            }
            let [a, b, c, d, e, f] = strings;
            assert_eq!((a, b, c), (d, e, f), "{count}");
        }
    }

    #[test]
    fn none_is_invented() {
        let (mut triples, mut scratch) = (triples(7), Scratch::default());
        let short = triples
            .take(8, &mut scratch)
            .err()
            .expect("there are seven");
        assert!(
            short
                .to_string()
                .starts_with("8 bit triples wanted, and 7 left")
        );
    }
}
