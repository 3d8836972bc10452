//! OTs that are made of rows: chosen, correlated and 1-out-of-n OTs, over SoftSpoken with k = 2.

use std::collections::VecDeque;

use madrigal_core::Zeroizing;
use madrigal_kernels::meter::unmetered;
use madrigal_kernels::{Block, blocks_as_bytes, words_as_bytes, words_as_bytes_mut};
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::flavour::{self, OneOf};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver as _, ExtensionSender as _, OtError, Tweaks};
use rand_core::Rng as _;

use super::bench::{Bench, CALL, Plan, calls, last_call, rng};
use super::extensions::start;
use super::outputs::{agree, bit, consume};
use super::sides::Measured;
use super::wire::{AHEAD, OtRun, Step, Wire, drive};
use crate::exit::Result;

#[derive(Clone, Copy, PartialEq)]
enum Flavour {
    /// Two chosen blocks.
    Chosen,
    /// XOR-correlated strings of 8 bytes.
    Xor,
    /// Additively correlated values of 64 bits.
    Additive,
    /// One of 16 random blocks.
    OneOf16,
}

const SIXTEEN: usize = 16;

pub(super) fn benches() -> Vec<Bench> {
    [
        ("got/128/softspoken2", Flavour::Chosen),
        ("xcot/64/softspoken2", Flavour::Xor),
        ("acot/64/softspoken2", Flavour::Additive),
        ("rot/1of16/softspoken2", Flavour::OneOf16),
    ]
    .map(|(name, flavour)| Bench::new(name, move |plan| measure(plan, flavour)))
    .into()
}

fn measure(plan: &Plan<'_>, flavour: Flavour) -> Result<Measured> {
    let (mut sender, mut receiver, setup) = start(2)?;
    let ots = plan.ots.div_ceil(flavour.rows());
    let mut declared = Cost::default();
    for _ in 0..plan.repeat {
        for m in calls(ots, flavour.call()) {
            declared = declared + sender.cost(m * flavour.rows()) + flavour.cost(m);
        }
    }
    let mut values = Values::new(flavour)?;
    let runs = plan.repeat(|| values.run(ots, &mut sender, &mut receiver))?;
    Measured::of_runs(ots, setup, &runs, declared)
}

impl Flavour {
    /// Rows of an OT.
    fn rows(self) -> usize {
        match self {
            Self::OneOf16 => 4,
            _ => 1,
        }
    }

    /// OTs of a call.
    fn call(self) -> usize {
        CALL / self.rows()
    }

    /// Costs of making `m` OTs from rows.
    fn cost(self, m: usize) -> Cost {
        let m = m as u64;
        match self {
            Self::Chosen => cost::random(m) + cost::chosen_blocks(m),
            Self::Xor => cost::random_strings(m, 8) + cost::correlated_strings(m, 8),
            Self::Additive => cost::random_strings(m, 8) + cost::additive(m, 1, 64),
            Self::OneOf16 => {
                OneOf::new(SIXTEEN).map_or(Cost::default(), |n| cost::random_one_of(m, n))
            }
        }
    }
}

/// Inputs and outputs of one call, at both sides.
struct Values {
    flavour: Flavour,
    /// The sender's chosen blocks, or one correlation for each OT.
    pairs: Vec<[Block; 2]>,
    words: Vec<u64>,
    /// Outputs of the sender: 16 blocks for each OT, or a word.
    masks: Zeroizing<Vec<Block>>,
    sums: Vec<u64>,
    choices: Zeroizing<Vec<u8>>,
    chosen: Chosen,
}

/// Outputs of the receiver.
#[derive(Default)]
struct Chosen {
    blocks: Zeroizing<Vec<Block>>,
    words: Vec<u64>,
}

/// State of the receiver in a call until the sender's message is there.
struct Waiting {
    choices: Zeroizing<Vec<u8>>,
    blocks: Zeroizing<Vec<Block>>,
    strings: Zeroizing<Vec<u8>>,
}

impl Values {
    fn new(flavour: Flavour) -> Result<Self> {
        let mut rng = rng()?;
        let mut block = || Block::new(rng.next_u64(), rng.next_u64());
        let pairs: Vec<[Block; 2]> = (0..CALL).map(|_| [block(), block()]).collect();
        Ok(Self {
            flavour,
            words: pairs.iter().map(|[block, _]| block.lo()).collect(),
            pairs,
            masks: blocks(SIXTEEN * flavour.call()),
            sums: vec![0; CALL],
            choices: Zeroizing::default(),
            chosen: Chosen::default(),
        })
    }

    fn run(
        &mut self,
        ots: usize,
        sender: &mut SoftSpokenSender,
        receiver: &mut SoftSpokenReceiver,
    ) -> Result<OtRun> {
        let flavour = self.flavour;
        let mut rng = rng()?;
        let Self {
            pairs,
            words,
            masks,
            sums,
            choices,
            chosen,
            ..
        } = self;
        let run = drive(
            |wire| {
                let mut rows = blocks(CALL);
                for m in calls(ots, flavour.call()) {
                    let rows = &mut rows[..m * flavour.rows()];
                    let u = wire.receive()?;
                    let tweaks = sender.extend(&u, rows.len(), rows)?;
                    wire.give_back(u);
                    let inputs = (&pairs[..m], &words[..m]);
                    let outputs = (&mut masks[..], &mut sums[..m]);
                    if let Some(message) =
                        flavour.send(sender.delta(), tweaks, rows, inputs, outputs)?
                    {
                        wire.send(message)?;
                    }
                    consume(sums);
                }
                Ok(())
            },
            |wire| {
                // The receiver speaks first, and goes ahead so that nobody waits.
                let mut waiting: VecDeque<Waiting> = VecDeque::new();
                let mut rows = blocks(CALL);
                for m in calls(ots, flavour.call()) {
                    let rows = &mut rows[..m * flavour.rows()];
                    let mut choices = Zeroizing::new(vec![0; rows.len().div_ceil(8)]);
                    // The choices are the user's.
                    unmetered(|| rng.fill_bytes(&mut choices));
                    let mut u = wire.room(receiver.message_len(rows.len()));
                    let tweaks = receiver.extend(&choices, rows.len(), &mut u, rows)?;
                    wire.send(u)?;
                    waiting.push_back(flavour.wait(choices, tweaks, rows)?);
                    if waiting.len() == AHEAD
                        && let Some(first) = waiting.pop_front()
                    {
                        flavour.receive(wire, first, chosen)?;
                    }
                }
                for next in waiting {
                    choices.clone_from(&next.choices);
                    flavour.receive(wire, next, chosen)?;
                }
                Ok(())
            },
        )?;
        self.check(last_call(ots, flavour.call()))?;
        Ok(run)
    }
}

impl Flavour {
    /// The sender's part: from rows to the message, if there is one.
    fn send(
        self,
        delta: &Delta,
        tweaks: Tweaks,
        rows: &[Block],
        (pairs, words): (&[[Block; 2]], &[u64]),
        (masks, sums): (&mut [Block], &mut [u64]),
    ) -> Result<Option<Vec<u8>>, OtError> {
        let m = rows.len();
        let strings = |tweaks| {
            let (mut k0, mut k1) = (bytes(8 * m), bytes(8 * m));
            flavour::sender_random_strings(delta, tweaks, rows, 8, &mut k0, &mut k1)?;
            Ok((k0, k1))
        };
        match self {
            Self::Chosen => {
                let (mut k0, mut k1) = (blocks(m), blocks(m));
                flavour::sender_random_blocks(delta, tweaks, rows, &mut k0, &mut k1)?;
                flavour::sender_chosen_blocks(pairs, k0, k1).map(Some)
            }
            Self::Xor => {
                let (k0, k1) = strings(tweaks)?;
                let message = flavour::sender_correlated_strings(words_as_bytes(words), &k0, k1)?;
                words_as_bytes_mut(sums).copy_from_slice(&k0);
                Ok(Some(message))
            }
            Self::Additive => {
                let (k0, k1) = strings(tweaks)?;
                flavour::sender_additive(words, k0, k1, sums).map(Some)
            }
            Self::OneOf16 => {
                let n = OneOf::new(SIXTEEN)?;
                let masks = &mut masks[..SIXTEEN * (m / n.rows())];
                flavour::sender_random_one_of(n, delta, tweaks, rows, masks)?;
                Ok(None)
            }
        }
    }

    /// The receiver's part before the sender's message.
    fn wait(
        self,
        choices: Zeroizing<Vec<u8>>,
        tweaks: Tweaks,
        rows: &[Block],
    ) -> Result<Waiting, OtError> {
        let mut waiting = Waiting {
            choices,
            blocks: Zeroizing::default(),
            strings: Zeroizing::default(),
        };
        match self {
            Self::Chosen => {
                waiting.blocks = blocks(rows.len());
                flavour::receiver_random_blocks(tweaks, rows, &mut waiting.blocks)?;
            }
            Self::Xor | Self::Additive => {
                waiting.strings = bytes(8 * rows.len());
                flavour::receiver_random_strings(tweaks, rows, 8, &mut waiting.strings)?;
            }
            Self::OneOf16 => {
                let n = OneOf::new(SIXTEEN)?;
                waiting.blocks = blocks(rows.len() / n.rows());
                flavour::receiver_random_one_of(n, tweaks, rows, &mut waiting.blocks)?;
            }
        }
        Ok(waiting)
    }

    /// The receiver's part with it.
    fn receive(self, wire: &mut Wire, waiting: Waiting, chosen: &mut Chosen) -> Step<()> {
        let Waiting {
            choices,
            mut blocks,
            mut strings,
        } = waiting;
        match self {
            Self::Chosen => {
                let message = wire.receive()?;
                flavour::receiver_chosen_blocks(&choices, &message, &mut blocks)?;
            }
            Self::Xor => {
                let message = wire.receive()?;
                flavour::receiver_correlated_strings(&choices, 8, &message, &mut strings)?;
                chosen.words.resize(strings.len() / 8, 0);
                words_as_bytes_mut(&mut chosen.words).copy_from_slice(&strings);
            }
            Self::Additive => {
                let message = wire.receive()?;
                chosen.words.resize(strings.len() / 8, 0);
                flavour::receiver_additive(&choices, 1, &message, strings, &mut chosen.words)?;
            }
            Self::OneOf16 => {}
        }
        consume(&blocks);
        chosen.blocks = blocks;
        Ok(())
    }
}

impl Values {
    /// Compares what the two sides hold of the last call, of `m` OTs.
    fn check(&self, m: usize) -> Result<()> {
        let Self {
            choices, chosen, ..
        } = self;
        let choice = |i| bit(choices, i);
        match self.flavour {
            Flavour::Chosen => {
                let side = |b: usize| self.pairs[..m].iter().map(|pair| pair[b]).collect();
                let (x0, x1): (Vec<Block>, Vec<Block>) = (side(0), side(1));
                super::outputs::blocks_agree(&x0, &x1, choices, &chosen.blocks)
            }
            Flavour::Xor | Flavour::Additive => {
                let other = |(&x, &a): (&u64, &u64)| match self.flavour {
                    Flavour::Xor => x ^ a,
                    _ => x.wrapping_add(a),
                };
                let x0 = &self.sums[..m];
                let x1: Vec<u64> = x0.iter().zip(&self.words).map(other).collect();
                let options = [words_as_bytes(x0), words_as_bytes(&x1)];
                agree(8, &options, choice, words_as_bytes(&chosen.words))
            }
            Flavour::OneOf16 => {
                let option = |j: usize| self.masks.iter().skip(j).step_by(SIXTEEN).copied();
                let options: Vec<Vec<Block>> =
                    (0..SIXTEEN).map(|j| option(j).take(m).collect()).collect();
                let options: Vec<&[u8]> = options.iter().map(|all| blocks_as_bytes(all)).collect();
                let choice = |i| (0..4).fold(0, |index, l| index | bit(choices, 4 * i + l) << l);
                agree(16, &options, choice, blocks_as_bytes(&chosen.blocks))
            }
        }
    }
}

fn blocks(count: usize) -> Zeroizing<Vec<Block>> {
    Zeroizing::new(vec![Block::ZERO; count])
}

fn bytes(count: usize) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(vec![0; count])
}
