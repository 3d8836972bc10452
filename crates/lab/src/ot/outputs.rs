//! Checks that what sender and receiver hold belongs together.

use std::hint::black_box;

use madrigal_kernels::{Block, blocks_as_bytes};

use crate::exit::{Failure, Result};

/// Checks 1-out-of-n OTs of strings of `width` bytes: the receiver holds the string of its choice,
/// and the strings of an OT differ.
pub(super) fn agree(
    width: usize,
    options: &[&[u8]],
    choice: impl Fn(usize) -> usize,
    chosen: &[u8],
) -> Result<()> {
    let mut chosen_ones = 0;
    for (i, chosen) in chosen.chunks_exact(width).enumerate() {
        let place = i * width..(i + 1) * width;
        let choice = choice(i);
        chosen_ones += usize::from(choice != 0);
        let right = options.get(choice).map(|option| &option[place.clone()]);
        if right != Some(chosen) {
            return Err(Failure::bug(format!(
                "OT {i} of the last call is wrong: the receiver does not hold what it chose"
            )));
        }
        if options[0][place.clone()] == options[1][place] {
            return Err(Failure::bug(format!(
                "OT {i} of the last call is wrong: the sender's strings are the same"
            )));
        }
    }
    let ots = chosen.len() / width;
    if ots > 128 && (chosen_ones == 0 || chosen_ones == ots) {
        return Err(Failure::bug("all choices are the same"));
    }
    Ok(())
}

/// Checks OTs of two blocks, with packed choices.
pub(super) fn blocks_agree(
    k0: &[Block],
    k1: &[Block],
    choices: &[u8],
    chosen: &[Block],
) -> Result<()> {
    let options = [blocks_as_bytes(k0), blocks_as_bytes(k1)];
    agree(16, &options, |i| bit(choices, i), blocks_as_bytes(chosen))
}

/// Checks OTs of two bits, all packed. Here the two are the same half of the time.
pub(super) fn bits_agree(k: [&[u8]; 2], choices: &[u8], chosen: &[u8], ots: usize) -> Result<()> {
    let wrong = (0..ots).find(|&i| bit(k[bit(choices, i)], i) != bit(chosen, i));
    let same = (0..ots).filter(|&i| bit(k[0], i) == bit(k[1], i)).count();
    if let Some(i) = wrong {
        return Err(Failure::bug(format!(
            "OT {i} of the last call is wrong: the receiver does not hold what it chose"
        )));
    }
    if ots > 128 && (same == 0 || same == ots) {
        return Err(Failure::bug("the sender's bits are not random"));
    }
    Ok(())
}

pub(super) fn bit(bits: &[u8], i: usize) -> usize {
    usize::from(bits[i / 8] >> (i % 8) & 1)
}

/// Keeps the compiler from leaving out what nobody reads.
pub(super) fn consume<T>(output: &[T]) {
    black_box(output.as_ptr());
}
