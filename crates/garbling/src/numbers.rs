//! From garbled bits to numbers: what lies between a wire's two labels, as a table of one row.
//!
//! A bit x has weight `2^j` in a number of Z_2^l. The garbler knows the colour p of its label of 0, so x is p
//! where the evaluator's label has colour 0, and `1 - p` where it has colour 1. Let `K_c` be the hash of the
//! label of colour c, taken as a number. The garbler's share of x is `p - K_0`, and it tells
//!
//! `T = 1 - 2 p + K_0 - K_1`;
//!
//! the evaluator, with a label of colour c, has `K_c + c T`, and both add up to x. All shares of a number's bits,
//! each times its weight, are shares of the number. `2^j` times a number is the same whatever its highest j
//! bits are: these are left away, to whole bytes.
//!
//! This is a projection in the sense of Ball, Malkin and Rosulek ("Garbling Gadgets for Boolean and Arithmetic
//! Circuits", CCS 2016) whose result is a share and no label: nothing is masked and opened, and nothing is
//! subtracted in a circuit (MOTION 7.6). `T` depends on labels of 0 alone, so it can be sent before there are
//! inputs; the evaluator tells nothing.
//!
//! # Security
//! The evaluator learns `K_c` by itself. `T` is masked by the hash of its label plus R, the garbler's
//! offset, which is random to it: [`RowHash`] is correlation robust for rows that differ. So that they differ where
//! two bits have the same label, or each other's, a row's number is added to it: of `x ^ t` and `x ^ t' ^ R` one
//! would be a guess of R. Each number comes once in an instance, and the hash has a key that gates lack. The
//! garbler's share is masked by `K_0`, which is random to everybody but itself and, where the colour is 0, the
//! evaluator; there the evaluator's share is the other part of a sum that it does not know.

use core::ops::Range;

use madrigal_core::{Ring, Zeroizing};
use madrigal_kernels::{Block, ROWS_PER_KEY};

use crate::error::{GarblingError, check_length};
use crate::instance::Instance;
use crate::label::Offset;

/// Labels that are hashed at a time: those of one key.
const AT_ONCE: usize = ROWS_PER_KEY as usize;

/// Bits that become numbers: `planes` planes, from the lowest bit on, of `count` numbers each. Labels lie plane by
/// plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planes {
    /// Bits of each number.
    pub planes: usize,
    /// Number of numbers.
    pub count: usize,
    /// Whether the highest bit counts negative.
    pub signed: bool,
}

impl Planes {
    /// Number of labels, and of the rows' numbers that they take.
    pub const fn labels(&self) -> usize {
        self.planes * self.count
    }

    /// Bytes of the table.
    pub fn table_bytes<T: Ring>(&self) -> usize {
        let of = |plane| bytes_of::<T>(plane) * self.count;
        (0..self.planes).map(of).sum()
    }

    /// AES blocks that the garbler computes, and the evaluator.
    pub const fn aes(&self) -> [u64; 2] {
        let labels = self.labels() as u64;
        [2 * labels, labels]
    }

    /// The garbler's shares of the numbers, and the table. `zero` are the labels of 0; rows are numbered from
    /// `first`.
    ///
    /// # Errors
    /// [`GarblingError`] if lengths do not fit.
    pub fn garble<T: Ring>(
        &self,
        (instance, first): (Instance, u64),
        offset: &Offset,
        zero: &[Block],
        shares: &mut [T],
        table: &mut [u8],
    ) -> Result<(), GarblingError> {
        self.check::<T>(zero.len(), shares.len(), table.len())?;
        let hash = instance.number_hash();
        let mut rows = Zeroizing::new(vec![Block::ZERO; AT_ONCE.min(self.count)]);
        let mut hashes = [rows.clone(), rows.clone()];
        shares.fill(T::ZERO);
        let mut rest = table;
        self.each(|plane, place, number| {
            let labels = &zero[plane * self.count..][place.clone()];
            let number = first + number;
            let rows = numbered(labels, number, &mut rows);
            let [k0, k1] = hashes.each_mut().map(|hashes| &mut hashes[..rows.len()]);
            hash.hash_pairs(number, offset.expose(), rows, k0, k1);
            let bytes = bytes_of::<T>(plane);
            let own;
            (own, rest) = core::mem::take(&mut rest).split_at_mut(bytes * rows.len());
            let out = shares[place].iter_mut().zip(own.chunks_exact_mut(bytes));
            let keys = k0.iter().zip(k1.iter());
            for ((label, (k0, k1)), (share, out)) in labels.iter().zip(keys).zip(out) {
                let p = number_of::<T>(*label).and(T::ONE);
                let [k0, k1] = [k0, k1].map(|key| number_of::<T>(*key));
                // Numbers of colour 0 and 1.
                let (sum, even) = (k0.add(k1), choose(p, k0, k1));
                let odd = sum.sub(even);
                let told = T::ONE.sub(p.add(p)).add(even).sub(odd);
                *share = self.weighed(*share, p.sub(even), plane);
                let mut whole = [0; 16];
                told.write(&mut whole);
                out.copy_from_slice(&whole[..bytes]);
            }
        });
        Ok(())
    }

    /// The evaluator's shares, from its labels and the table. Any bytes of the right length give shares; wrong
    /// ones give wrong shares.
    ///
    /// # Errors
    /// [`GarblingError`] if lengths do not fit.
    pub fn evaluate<T: Ring>(
        &self,
        (instance, first): (Instance, u64),
        labels: &[Block],
        table: &[u8],
        shares: &mut [T],
    ) -> Result<(), GarblingError> {
        self.check::<T>(labels.len(), shares.len(), table.len())?;
        let hash = instance.number_hash();
        let mut rows = Zeroizing::new(vec![Block::ZERO; AT_ONCE.min(self.count)]);
        let mut keys = rows.clone();
        shares.fill(T::ZERO);
        let mut rest = table;
        self.each(|plane, place, number| {
            let labels = &labels[plane * self.count..][place.clone()];
            let number = first + number;
            let rows = numbered(labels, number, &mut rows);
            let keys = &mut keys[..rows.len()];
            hash.hash_blocks(number, rows, keys);
            let bytes = bytes_of::<T>(plane);
            let own;
            (own, rest) = rest.split_at(bytes * rows.len());
            let told = shares[place].iter_mut().zip(own.chunks_exact(bytes));
            for ((label, key), (share, told)) in labels.iter().zip(keys).zip(told) {
                let mut whole = [0; 16];
                whole[..bytes].copy_from_slice(told);
                let colour = number_of::<T>(*label).spread(0);
                let part = number_of::<T>(*key).add(T::read(&whole).and(colour));
                *share = self.weighed(*share, part, plane);
            }
        });
        Ok(())
    }

    fn check<T: Ring>(
        &self,
        labels: usize,
        shares: usize,
        table: usize,
    ) -> Result<(), GarblingError> {
        assert!(
            self.planes <= T::BITS,
            "{} planes of numbers of {} bits",
            self.planes,
            T::BITS
        );
        check_length("labels of numbers", self.labels(), labels)?;
        check_length("shares of numbers", self.count, shares)?;
        check_length("bytes of their table", self.table_bytes::<T>(), table)
    }

    /// Goes through all planes, some elements at a time: calls with the plane, the elements and the number of the
    /// first row.
    fn each(&self, mut work: impl FnMut(usize, Range<usize>, u64)) {
        for plane in 0..self.planes {
            for start in (0..self.count).step_by(AT_ONCE) {
                let end = self.count.min(start + AT_ONCE);
                work(plane, start..end, (plane * self.count + start) as u64);
            }
        }
    }

    /// A share of a bit of a plane, times its weight, added to that of the number.
    fn weighed<T: Ring>(&self, share: T, part: T, plane: usize) -> T {
        let part = part.shl(plane);
        match self.signed && plane + 1 == self.planes {
            true => share.sub(part),
            false => share.add(part),
        }
    }
}

/// Bytes of what is told of a bit of a plane.
fn bytes_of<T: Ring>(plane: usize) -> usize {
    (T::BITS - plane).div_ceil(8)
}

/// The labels, each with the number of its row.
fn numbered<'r>(labels: &[Block], first: u64, rows: &'r mut [Block]) -> &'r [Block] {
    let rows = &mut rows[..labels.len()];
    for ((row, label), number) in rows.iter_mut().zip(labels).zip(first..) {
        *row = *label ^ Block::new(0, number);
    }
    rows
}

fn number_of<T: Ring>(block: Block) -> T {
    T::from_u128(u128::from(block.hi()) << 64 | u128::from(block.lo()))
}

/// The first where `bit` is 0, the second where it is 1.
fn choose<T: Ring>(bit: T, zero: T, one: T) -> T {
    zero.add(one.sub(zero).and(bit.spread(0)))
}
