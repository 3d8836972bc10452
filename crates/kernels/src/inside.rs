//! Parts that nobody but this crate calls, for its tests. These are in `tests/`: tests beside the code would have all kernels, which
//! take longer to compile than anything else that is built, compiled once more with them.
#![allow(missing_docs, reason = "each does what the function of its name does")]

use crate::ntt::{self, Factor};
use crate::products::Band;
use crate::{ANDS_PER_KEY, Block, Kernels, Stretch, bmr, garble, opaque, portable, products};
use madrigal_core::Product;

pub const LIMB: u32 = ntt::LIMB;

pub fn packed_bytes(ands: usize) -> usize {
    garble::piece::packed_bytes(ands)
}

/// Gives what is left of the control bits.
pub fn pack(coins: Block, mut controls: [Block; 3], ands: usize, bytes: &mut [u8]) -> [Block; 3] {
    garble::piece::pack(coins, &mut controls, ands, bytes);
    controls
}

pub fn unpack(bytes: &[u8]) -> [Block; 3] {
    garble::piece::unpack(bytes)
}

pub fn interleave(words: [u64; 3]) -> [u8; ANDS_PER_KEY] {
    bmr::interleave(words)
}

pub fn sub_word(word: u32) -> u32 {
    portable::aes::sub_word(word)
}

/// Cuts blocks into planes, and puts them together again.
pub fn through_planes(blocks: &[[Block; 4]; 2]) -> [[Block; 4]; 2] {
    portable::aes::through_planes(blocks)
}

/// Reduces sums of products modulo `p` at a level.
pub fn reduce(kernels: Kernels, p: u64, lo: &mut [u64], hi: &mut [u64], out: &mut [u64]) {
    ntt::reduce_at(kernels, p, lo, hi, out);
}

/// The quotient that comes with the factor `value` mod `p`.
pub fn quotient(value: u64, p: u64) -> u64 {
    Factor::new(value, p).quotient
}

pub fn is_prime(p: u64) -> bool {
    ntt::is_prime(p)
}

/// Numbers of the keys that are ready.
pub fn keys_of(stretch: &Stretch) -> [Option<u128>; 2] {
    stretch.ready_numbers()
}

pub fn bands_of(product: &Product, most: usize) -> impl Iterator<Item = Band> + use<> {
    products::bands_of(product, most)
}

/// Gives the value back from both, as `opaque` does.
pub fn again_and_written(value: u8) -> [u8; 2] {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return [*opaque::again(&value), *opaque::written(&value)];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    [opaque::opaque(value); 2]
}
