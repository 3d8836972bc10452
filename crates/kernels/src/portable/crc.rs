//! CRC-32 in plain Rust, see [`crate::crc`].

use crate::Block;
use crate::crc::{factors, reduce};

/// The remainder of a message, after which 32 zeros are thought: first `lead`, then `blocks`, to the
/// first of which `spill` is added; where there is none, to the remainder.
pub(crate) fn crc32(lead: u128, spill: u32, blocks: &[[u8; 16]]) -> u32 {
    const NEXT: Block = factors(1);
    let lead = Block::from(lead);
    if blocks.is_empty() {
        return reduce(lead, multiply) ^ spill;
    }
    let (mut sum, mut spill) = (lead, Block::new(spill.into(), 0));
    for block in blocks {
        let folded = multiply(sum.lo(), NEXT.lo()) ^ multiply(sum.hi(), NEXT.hi());
        sum = Block::from(folded) ^ Block::from_bytes(*block) ^ spill;
        spill = Block::ZERO;
    }
    reduce(sum, multiply)
}

/// The carry-less product, from integer products of every fourth bit: their sums stay in the four bits
/// between, so that the lowest of these is the sum without carries. For that no more than 15 may come
/// together, which [`crate::crc`] holds its constants `b` to.
fn multiply(a: u64, b: u64) -> u128 {
    const EVERY_FOURTH: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let parts =
        |x: u64| -> [u128; 4] { core::array::from_fn(|i| u128::from(x) & EVERY_FOURTH << i) };
    let (a, b) = (parts(a), parts(b));
    let mut product = 0;
    for sum in 0..4 {
        let mut part = 0;
        for i in 0..4 {
            part ^= a[i] * b[(sum + 4 - i) % 4];
        }
        product |= part & EVERY_FOURTH << sum;
    }
    product
}
