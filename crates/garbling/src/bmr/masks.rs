//! Masks of wires: where they come from, what all ANDs do with them, and the bits that OTs choose by.

use core::fmt;

use madrigal_circuit::{And, Layered, Rows};
use madrigal_core::{Zeroizing, bits};
use madrigal_kernels::{self as kernels, Block, Kernels, Prg, RowShape};
use zeroize::Zeroize;

use crate::bmr::COEFFICIENTS;
use crate::bmr::shape::Instance;
use crate::error::{GarblingError, check_length};

/// The secret seed of one party for one block of lanes: its keys of 0 come from it, at any time again. Wiped on
/// drop.
pub struct BlockSeed(Block);

impl BlockSeed {
    /// Takes 128 bits, secret and fresh.
    pub fn new(seed: Block) -> Self {
        Self(seed)
    }

    /// The generator of the keys of the block whose pieces are numbered from `first`, as party `me`.
    ///
    /// Wherever a wire's colour is 0 all parties see its key of 0, which is AES of its place. No two blocks of an
    /// instance begin with one piece, so each seed encrypts under a number of its own: a guess tests one block.
    pub(crate) fn generator(&self, instance: Instance, me: usize, first: u64) -> Prg {
        Prg::numbered(self.0, instance.key_numbers(me).of(first))
    }
}

impl Drop for BlockSeed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

madrigal_core::opaque!(BlockSeed);

/// Keys of 0 from place `at` on.
pub(crate) fn keys_of_zero(prg: &mut Prg, at: usize, keys: &mut [Block]) {
    prg.seek(at as u64);
    prg.fill_blocks(keys);
}

/// One party's shares of the masks of a block of lanes that goes through a circuit: of the operands and
/// results of all ANDs, and of the outputs.
///
/// A *plane* has a bit for each AND and lane: those of one AND's lanes, then those of the next AND's, in the
/// circuit's order, packed without gaps.
pub struct MaskWalk {
    count: usize,
    a: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    results: Zeroizing<Vec<u8>>,
    outputs: Rows,
}

impl MaskWalk {
    /// Goes through the circuit. `results` are our shares of the masks of the ANDs' results, a plane; `inputs`
    /// those of the masks of all input bits; `leads` is whether we are the one who does NOT: party 0.
    ///
    /// # Errors
    /// [`GarblingError`] if `inputs` have not a row for each input bit, or `results` are no plane.
    pub fn new(
        program: &Layered,
        leads: bool,
        results: &[u8],
        inputs: &Rows,
    ) -> Result<Self, GarblingError> {
        check_length("rows of inputs", program.input_bits(), inputs.rows())?;
        let lanes = inputs.lanes();
        let count = program.and_count() * lanes;
        let plane = || Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let (mut a, mut b) = (plane(), plane());
        check_length("bytes of a plane", bits::bytes_for(count), results.len())?;
        let mut results = Zeroizing::new(results.to_vec());
        bits::clear_tail(&mut results, count);

        let shape = RowShape {
            components: 1,
            stride: Rows::stride_for(lanes) / 8,
        };
        let mut arena = Zeroizing::new(vec![0_u64; program.rows() * shape.width()]);
        for (row, &wire) in (0..).zip(program.inputs()) {
            let row = &mut arena[shape.place(row, 0)];
            kernels::words_as_bytes_mut(row).copy_from_slice(inputs.row(wire as usize));
        }
        let (kernels, leads) = (Kernels::detect(), [leads, false]);
        let mut at = 0;
        for layer in program.layers() {
            kernels.local_rows(&mut arena, shape, layer.local, leads);
            let read = |plane: &mut [u8], row: fn(&And) -> u32| {
                for (i, and) in layer.ands.iter().enumerate() {
                    let row = &arena[shape.place(row(and), 0)];
                    let row = kernels::words_as_bytes(row);
                    bits::put(plane, at + i * lanes, row, lanes);
                }
            };
            read(&mut a, |and| and.a);
            read(&mut b, |and| and.b);
            for (i, and) in layer.ands.iter().enumerate() {
                let row = &mut arena[shape.place(and.dst, 0)];
                let row = kernels::words_as_bytes_mut(row);
                bits::take(
                    &results,
                    at + i * lanes,
                    &mut row[..bits::bytes_for(lanes)],
                    lanes,
                );
            }
            at += layer.ands.len() * lanes;
        }
        kernels.local_rows(&mut arena, shape, program.tail(), leads);
        let mut outputs = Rows::new(program.outputs().len(), lanes);
        for (output, &row) in program.outputs().iter().enumerate() {
            let row = kernels::words_as_bytes(&arena[shape.place(row, 0)]);
            outputs.row_mut(output).copy_from_slice(row);
        }
        outputs.clear_padding();
        Ok(Self {
            count,
            a,
            b,
            results,
            outputs,
        })
    }

    /// Bits of a plane.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The planes of the operands, to be multiplied by the parties.
    pub fn operands(&self) -> [&[u8]; 2] {
        [&self.a, &self.b]
    }

    /// Given our share of the products of the operands' masks, a plane, our shares of the coefficients; and
    /// of the masks of the circuit's outputs.
    ///
    /// # Errors
    /// [`GarblingError`] if `product` is no plane.
    pub fn choices(self, product: &[u8]) -> Result<(Choices, Rows), GarblingError> {
        let each = self.a.len();
        check_length("bytes of a plane", each, product.len())?;
        let mut all = Zeroizing::new(vec![0; COEFFICIENTS * each]);
        let (one, others) = all.split_at_mut(each);
        let (by_a, by_b) = others.split_at_mut(each);
        kernels::xor(one, product, &self.results);
        bits::clear_tail(one, self.count);
        by_a.copy_from_slice(&self.b);
        by_b.copy_from_slice(&self.a);
        let choices = Choices {
            count: self.count,
            bits: all,
        };
        Ok((choices, self.outputs))
    }
}

impl fmt::Debug for MaskWalk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MaskWalk({})", self.count)
    }
}

/// Our shares of the three secret coefficients of each AND's colour: three planes, one after the other, whole
/// bytes each. In our own column they are multiplied by our offset.
///
/// For operands with colours alpha, beta the result's is `(a ^ alpha)(b ^ beta) ^ w`, where a, b, w are masks:
/// `ab ^ w`, then `b` for alpha, then `a` for beta; and one for both, which is public.
pub struct Choices {
    count: usize,
    bits: Zeroizing<Vec<u8>>,
}

impl Choices {
    /// The planes.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// The plane of `lambda_a lambda_b ^ lambda_w`.
    pub fn product(&self) -> &[u8] {
        &self.bits[..self.bits.len() / COEFFICIENTS]
    }

    /// Adds what others tell of their choices for the products' plane: our own products as a sender lack it.
    ///
    /// # Errors
    /// [`GarblingError`] if it is no plane.
    pub fn add(&mut self, told: &[u8]) -> Result<(), GarblingError> {
        self.add_to(0, told)
    }

    /// Adds what others tell of their choices for both operands, a plane each, where these have OTs of their own.
    ///
    /// # Errors
    /// [`GarblingError`] if these are not two planes.
    pub fn add_operands(&mut self, told: &[u8]) -> Result<(), GarblingError> {
        let each = self.bits.len() / COEFFICIENTS;
        check_length("bytes of two planes", 2 * each, told.len())?;
        let (a, b) = told.split_at(each);
        self.add_to(1, b)?;
        self.add_to(2, a)
    }

    fn add_to(&mut self, plane: usize, told: &[u8]) -> Result<(), GarblingError> {
        let each = self.bits.len() / COEFFICIENTS;
        check_length("bytes of a plane", each, told.len())?;
        let plane = &mut self.bits[plane * each..][..each];
        kernels::xor_into(plane, told);
        bits::clear_tail(plane, self.count);
        Ok(())
    }
}

impl fmt::Debug for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Choices({})", self.count)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// All blocks counted from 0: where a colour was 0 all parties saw AES of a place that every block had, so one of
    /// T blocks fell with `2^129 / T` work. One seed for all blocks shows which counter blocks they have: where two
    /// had the same, their keys would be equal.
    #[test]
    fn a_guess_of_a_key_tests_one_block_of_bmr() {
        let seed = BlockSeed::new(Block::new(3, 5));
        let mut seen = HashSet::new();
        for session in [[1; 32], [2; 32]] {
            for stream in [0, 1] {
                let instance = Instance { session, stream };
                for me in 0..3 {
                    for first in (0..50).chain([u64::MAX - 1, u64::MAX]) {
                        let mut keys = [Block::ZERO; 9];
                        keys_of_zero(&mut seed.generator(instance, me, first), 0, &mut keys);
                        for key in keys {
                            assert!(seen.insert(u128::from(key)), "party {me}, piece {first}");
                        }
                    }
                }
            }
        }
    }
}
