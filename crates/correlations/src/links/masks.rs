//! What a round function gets of the OTs of one part: masks, a few at a time.

use std::ops::Range;

use madrigal_kernels::Block;
use madrigal_ot::{ExtensionReceiver, ExtensionSender, OtError, SeededRng, flavour};
use zeroize::Zeroizing;

use crate::extension::Batch;

/// OTs hashed at a time: masks that stay in the first-level cache.
const PIECE: usize = 512;

/// Working memory. Secret.
pub(super) struct Space {
    rows: Zeroizing<Vec<Block>>,
    masks: [Zeroizing<Vec<Block>>; 2],
    choices: Zeroizing<Vec<u8>>,
}

impl Space {
    pub(super) fn new() -> Self {
        let run = madrigal_ot::softspoken::CHUNK;
        let blocks = |count| Zeroizing::new(vec![Block::ZERO; count]);
        Self {
            rows: blocks(run),
            masks: [blocks(PIECE), blocks(PIECE)],
            choices: Zeroizing::new(vec![0; run / 8]),
        }
    }
}

/// Items of `unit` OTs whose masks are made at a time.
fn piece(unit: usize) -> usize {
    (PIECE / unit).max(1) * unit
}

/// OTs of one part that we receive.
pub(crate) struct Ask<'a> {
    pub(super) receiver: &'a mut dyn ExtensionReceiver,
    pub(super) batch: Batch,
    pub(super) random: bool,
    pub(super) message: &'a mut [u8],
    pub(super) space: &'a mut Space,
}

impl Ask<'_> {
    /// The chosen bit of each OT, packed. Where the extension chooses, `choices` is what it chose.
    pub(crate) fn bits(self, choices: &mut [u8], out: &mut [u8]) -> Result<(), OtError> {
        let (m, message) = (self.batch.ots, self.message);
        if self.random {
            // It has choices of its own.
            let mut none = SeededRng::from_seed(Block::ZERO);
            self.receiver
                .extend_random_bits(&mut none, m, choices, message, out)
        } else {
            self.receiver.extend_bits(choices, m, message, out)
        }
    }

    /// The chosen block of each OT, some items at a time. `choices` writes those of some OTs, packed.
    pub(crate) fn blocks(
        self,
        mut choices: impl FnMut(Range<usize>, &mut [u8]),
        mut use_up: impl FnMut(Range<usize>, &[Block]),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [masks, _],
            choices: bits,
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let bits = &mut bits[..count.div_ceil(8)];
            choices(first..first + count, bits);
            let u;
            (u, message) = message.split_at_mut(self.receiver.message_len(count));
            let rows = &mut rows[..count];
            let mut tweaks = self.receiver.extend(bits, count, u, rows)?;
            for (index, rows) in rows.chunks(piece).enumerate() {
                let masks = &mut masks[..rows.len()];
                flavour::receiver_random_blocks(tweaks.take(rows.len())?, rows, masks)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), masks);
            }
        }
        Ok(())
    }
}

/// OTs of one part that we send.
pub(crate) struct Answer<'a> {
    pub(super) sender: &'a mut dyn ExtensionSender,
    pub(super) batch: Batch,
    pub(super) random: bool,
    pub(super) message: &'a [u8],
    pub(super) space: &'a mut Space,
}

impl Answer<'_> {
    /// Both bits of each OT, packed.
    pub(crate) fn bits(self, k0: &mut [u8], k1: &mut [u8]) -> Result<(), OtError> {
        let m = self.batch.ots;
        if self.random {
            self.sender.extend_random_bits(self.message, m, k0, k1)
        } else {
            self.sender.extend_bits(self.message, m, k0, k1)
        }
    }

    /// Both blocks of each OT, some items at a time.
    pub(crate) fn blocks(
        self,
        mut use_up: impl FnMut(Range<usize>, &[Block], &[Block]),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [k0, k1],
            ..
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let u;
            (u, message) = message.split_at(self.sender.message_len(count));
            let rows = &mut rows[..count];
            let mut tweaks = self.sender.extend(u, count, rows)?;
            for (index, rows) in rows.chunks(piece).enumerate() {
                let (k0, k1) = (&mut k0[..rows.len()], &mut k1[..rows.len()]);
                let tweaks = tweaks.take(rows.len())?;
                flavour::sender_random_blocks(self.sender.delta(), tweaks, rows, k0, k1)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), k0, k1);
            }
        }
        Ok(())
    }
}
