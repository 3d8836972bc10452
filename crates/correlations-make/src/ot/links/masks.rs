//! Masks of the OTs of one part, which a round function gets a few at a time.

use std::convert::Infallible;
use std::ops::Range;

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Stretch};
use madrigal_ot::extension::{Choices, Chosen, Pairs, Selected};
use madrigal_ot::{ExtensionReceiver, ExtensionSender, OtError, Tweaks, flavour};
use rand_core::{TryCryptoRng, TryRng};

use crate::ot::extension::Batch;

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

/// For extensions that have random choices of their own: [`Batch::random`](crate::ot::extension::Batch)
/// holds for no others.
struct NoGenerator;

impl NoGenerator {
    fn refuse(&self) -> ! {
        unreachable!("an extension without choices of its own was asked for random ones")
    }
}

impl TryRng for NoGenerator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.refuse()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.refuse()
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        self.refuse()
    }
}

impl TryCryptoRng for NoGenerator {}

/// Way in which some OTs are extended.
struct BatchRoom<'a> {
    /// Room for their packed choices.
    choices: &'a mut [u8],
    message: &'a mut [u8],
    rows: &'a mut [Block],
}

/// The bytes of some OTs' bits. The first is a multiple of 8.
fn bytes(ots: &Range<usize>) -> Range<usize> {
    ots.start / 8..ots.end.div_ceil(8)
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
        let choices = match self.random {
            true => Chosen::Random(&mut NoGenerator, choices),
            false => Chosen::Given(choices),
        };
        let out = Selected::Bits(out);
        self.receiver
            .extend_masks(choices, self.batch.ots, self.message, out)
    }

    /// Whether the extension chooses.
    pub(crate) fn random(&self) -> bool {
        self.random
    }

    /// The chosen block of each OT, some items at a time, and what stretches them by their place among
    /// these. `choices` writes those of some OTs, packed.
    pub(crate) fn blocks(
        self,
        mut choices: impl FnMut(Range<usize>, &mut [u8]),
        use_up: impl FnMut(Range<usize>, &[Block], &mut Stretch),
    ) -> Result<(), OtError> {
        let extend =
            |receiver: &mut dyn ExtensionReceiver, ots: Range<usize>, run: BatchRoom<'_>| {
                choices(ots.clone(), run.choices);
                receiver.extend(run.choices, ots.len(), run.message, run.rows)
            };
        self.runs(extend, use_up)
    }

    /// Makes masks as [`blocks`](Self::blocks) does, where the extension chooses: `chosen` reads what, for some OTs, packed.
    pub(crate) fn random_blocks(
        self,
        mut chosen: impl FnMut(Range<usize>, &[u8]),
        use_up: impl FnMut(Range<usize>, &[Block], &mut Stretch),
    ) -> Result<(), OtError> {
        let extend =
            |receiver: &mut dyn ExtensionReceiver, ots: Range<usize>, run: BatchRoom<'_>| {
                let m = ots.len();
                let BatchRoom {
                    choices,
                    message,
                    rows,
                } = run;
                let tweaks = receiver.extend_random(&mut NoGenerator, m, choices, message, rows)?;
                chosen(ots, choices);
                Ok(tweaks)
            };
        self.runs(extend, use_up)
    }

    /// The chosen block of each OT, some at a time, with packed choices as in [`bits`](Self::bits).
    pub(crate) fn chosen_blocks(
        self,
        choices: &mut [u8],
        mut use_up: impl FnMut(Range<usize>, &[Block]),
    ) -> Result<(), OtError> {
        let random = self.random;
        let extend = |receiver: &mut dyn ExtensionReceiver,
                      ots: Range<usize>,
                      run: BatchRoom<'_>| {
            let (choices, m) = (&mut choices[bytes(&ots)], ots.len());
            match random {
                true => receiver.extend_random(&mut NoGenerator, m, choices, run.message, run.rows),
                false => receiver.extend(choices, m, run.message, run.rows),
            }
        };
        self.runs(extend, |ots, masks, _| use_up(ots, masks))
    }

    /// The rows themselves, with packed choices as in [`bits`](Self::bits). Nothing is hashed.
    pub(crate) fn rows(self, choices: &mut [u8], rows: &mut [Block]) -> Result<(), OtError> {
        let mut message = self.message;
        for (first, count) in self.batch.runs() {
            let ots = first..first + count;
            let (choices, rows) = (&mut choices[bytes(&ots)], &mut rows[ots]);
            let u;
            let _ = match self.random {
                true => {
                    let len = self.receiver.random_message_len(count);
                    (u, message) = message.split_at_mut(len);
                    let none = &mut NoGenerator;
                    self.receiver.extend_random(none, count, choices, u, rows)?
                }
                false => {
                    let len = self.receiver.message_len(count);
                    (u, message) = message.split_at_mut(len);
                    self.receiver.extend(choices, count, u, rows)?
                }
            };
        }
        Ok(())
    }

    fn runs(
        self,
        mut extend: impl FnMut(
            &mut dyn ExtensionReceiver,
            Range<usize>,
            BatchRoom<'_>,
        ) -> Result<Tweaks, OtError>,
        mut use_up: impl FnMut(Range<usize>, &[Block], &mut Stretch),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [masks, _],
            choices: bits,
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let len = match self.random {
                true => self.receiver.random_message_len(count),
                false => self.receiver.message_len(count),
            };
            let u;
            (u, message) = message.split_at_mut(len);
            let rows = &mut rows[..count];
            let run = BatchRoom {
                choices: &mut bits[..count.div_ceil(8)],
                message: u,
                rows,
            };
            let mut tweaks = extend(self.receiver, first..first + count, run)?;
            for (index, rows) in rows.chunks(piece).enumerate() {
                let masks = &mut masks[..rows.len()];
                let tweaks = tweaks.take(rows.len())?;
                let mut stretch = tweaks.stretch();
                flavour::receiver_random_blocks(tweaks, rows, masks)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), masks, &mut stretch);
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
        let choices = match self.random {
            true => Choices::Random,
            false => Choices::Given,
        };
        let out = Pairs::Bits([k0, k1]);
        self.sender
            .extend_masks(choices, self.message, self.batch.ots, out)
    }

    /// The rows themselves. Nothing is hashed.
    pub(crate) fn rows(self, rows: &mut [Block]) -> Result<(), OtError> {
        let mut message = self.message;
        for (first, count) in self.batch.runs() {
            let rows = &mut rows[first..first + count];
            let _ = match self.random {
                true => self.sender.extend_random(message, count, rows)?,
                false => {
                    let u;
                    (u, message) = message.split_at(self.sender.message_len(count));
                    self.sender.extend(u, count, rows)?
                }
            };
        }
        Ok(())
    }

    /// Both blocks of each OT, some items at a time, and what stretches them by their place among
    /// these.
    pub(crate) fn blocks(
        self,
        mut use_up: impl FnMut(Range<usize>, &[Block], &[Block], &mut Stretch),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [k0, k1],
            ..
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let rows = &mut rows[..count];
            let mut tweaks = match self.random {
                true => self.sender.extend_random(message, count, rows)?,
                false => {
                    let u;
                    (u, message) = message.split_at(self.sender.message_len(count));
                    self.sender.extend(u, count, rows)?
                }
            };
            for (index, rows) in rows.chunks(piece).enumerate() {
                let (k0, k1) = (&mut k0[..rows.len()], &mut k1[..rows.len()]);
                let tweaks = tweaks.take(rows.len())?;
                let mut stretch = tweaks.stretch();
                flavour::sender_random_blocks(self.sender.delta(), tweaks, rows, k0, k1)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), k0, k1, &mut stretch);
            }
        }
        Ok(())
    }
}
