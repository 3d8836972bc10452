//! Memory that circuits on masked bits work in.

use madrigal_circuit::And;
use madrigal_core::{Zeroizing, bits};

use crate::arena::Arena;

/// Packed bits that are wiped.
pub(crate) type Bits = Zeroizing<Vec<u8>>;

/// Memory that one circuit leaves for the next one.
#[derive(Default)]
pub(super) struct CircuitMemory {
    /// Rows of masks.
    pub(super) masks: Arena,
    pub(super) layer: LayerStrings,
    pub(super) second: LayerStrings,
    /// Message of two layers in one round.
    pub(super) message: Bits,
    /// Rows that the second one of two layers overwrites before the first one's results are there.
    pub(super) saved: Zeroizing<Vec<u64>>,
}

/// Strings of one layer of ANDs: public parts of its operands and results, and what was kept for it, where that
/// does not begin at a byte.
#[derive(Default)]
pub(super) struct LayerStrings {
    pub(super) x: Bits,
    pub(super) y: Bits,
    pub(super) z: Bits,
    pub(super) kept: [Bits; 3],
}

impl LayerStrings {
    /// Makes room for `count` bits of each string, and packs a layer's operands.
    pub(super) fn gather(&mut self, arena: &Arena, ands: &[And], count: usize) {
        for string in [&mut self.x, &mut self.y, &mut self.z] {
            fit(string, bits::bytes_for(count));
        }
        arena.gather(ands, 0, &mut self.x, &mut self.y);
    }
}

/// Room for a string that is to be overwritten. One that is too small is replaced: growing it would leave what it
/// held in freed memory.
pub(super) fn fit(string: &mut Bits, bytes: usize) {
    if string.capacity() < bytes {
        *string = Zeroizing::new(Vec::with_capacity(bytes));
    }
    string.resize(bytes, 0);
}

/// Some bits of a string, copied only where they do not begin at a byte.
pub(super) fn part<'a>(string: &'a [u8], at: usize, count: usize, room: &'a mut Bits) -> &'a [u8] {
    let bytes = bits::bytes_for(count);
    if at.is_multiple_of(8) {
        return &string[at / 8..at / 8 + bytes];
    }
    fit(room, bytes);
    bits::take(string, at, room, count);
    room
}

/// Packs the masks of a layer's operands into strings of all layers.
pub(super) fn collect(
    arena: &Arena,
    ands: &[And],
    at: usize,
    [x, y]: [&mut Bits; 2],
    room: &mut LayerStrings,
) {
    let count = ands.len() * arena.lanes();
    let bytes = bits::bytes_for(count);
    if at.is_multiple_of(8) {
        let place = at / 8..at / 8 + bytes;
        arena.gather(ands, 0, &mut x[place.clone()], &mut y[place]);
        return;
    }
    room.gather(arena, ands, count);
    bits::put(x, at, &room.x, count);
    bits::put(y, at, &room.y, count);
}

pub(super) fn zeros(bytes: usize) -> Bits {
    Zeroizing::new(vec![0; bytes])
}
