//! Folding of streams by the definition: each stream goes into every column that its number names.

use super::{ctr_fill, xor_into};
use crate::block::RoundKeys;
use crate::fold::LastKeys;
use zeroize::Zeroize;

pub(crate) fn fold_whole(
    keys: &[RoundKeys],
    _: &LastKeys,
    first: u64,
    columns: &mut [u8],
    stride: usize,
    added: &[u8],
    total: &mut [u8],
) {
    let bytes = added.len();
    clear(keys.len().ilog2() as usize, columns, stride, bytes);
    let mut stream = vec![0; bytes];
    total.copy_from_slice(added);
    for (leaf, keys) in keys.iter().enumerate() {
        ctr_fill(keys, first, &mut stream);
        xor_into(total, &stream);
        add(leaf, columns, stride, &stream);
    }
    stream.zeroize();
}

pub(crate) fn fold_punctured(
    keys: &[RoundKeys],
    _: &LastKeys,
    first: u64,
    columns: &mut [u8],
    stride: usize,
    mask: u8,
    added: &[u8],
) {
    let bytes = added.len();
    let width = (keys.len() + 1).ilog2() as usize;
    clear(width, columns, stride, bytes);
    let mut stream = vec![0; bytes];
    for (leaf, keys) in (1..).zip(keys) {
        ctr_fill(keys, first, &mut stream);
        add(leaf, columns, stride, &stream);
    }
    for i in 0..width {
        let mask = (mask >> i & 1).wrapping_neg();
        for (masked, added) in stream.iter_mut().zip(added) {
            *masked = added & mask;
        }
        xor_into(&mut columns[i * stride..][..bytes], &stream);
    }
    stream.zeroize();
}

fn clear(width: usize, columns: &mut [u8], stride: usize, bytes: usize) {
    for i in 0..width {
        columns[i * stride..][..bytes].fill(0);
    }
}

/// `leaf` is public.
fn add(leaf: usize, columns: &mut [u8], stride: usize, stream: &[u8]) {
    for i in (0..usize::BITS as usize).filter(|i| leaf >> i & 1 == 1) {
        xor_into(&mut columns[i * stride..][..stream.len()], stream);
    }
}
