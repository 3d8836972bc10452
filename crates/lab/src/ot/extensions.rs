//! Random and correlated OTs by the extensions that take choices: IKNP and SoftSpoken.

use std::time::Instant;

use madrigal_core::Aligned;
use madrigal_kernels::{Block, meter::unmetered};
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, OtError, SeededRng};
use rand_core::Rng;

use super::base::keys_for;
use super::bench::{Bench, CALL, INSTANCE, Plan, calls, last_call, rng};
use super::outputs::{bits_agree, blocks_agree, consume};
use super::sides::Measured;
use super::wire::{OtRun, Step, drive};
use crate::exit::Result;

/// OTs that are made of the rows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Output {
    /// Random OTs: all outputs hashed to blocks.
    Random,
    /// Random OTs of bits: all outputs hashed to a bit each.
    Bits,
    /// Rows as they are: correlated OTs with the one correlation Delta.
    Correlated,
}

impl Output {
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Random => "rot",
            Self::Bits => "rotbit",
            Self::Correlated => "cot",
        }
    }

    /// Costs of making it from `m` rows.
    pub fn cost(self, m: u64) -> Cost {
        match self {
            Self::Random | Self::Bits => cost::random(m),
            Self::Correlated => Cost::default(),
        }
    }
}

pub(super) fn benches() -> Vec<Bench> {
    let mut benches = Vec::new();
    for output in [Output::Random, Output::Bits, Output::Correlated] {
        let prefix = output.prefix();
        for k in FieldBits::all().map(FieldBits::get) {
            let name = match k {
                1 => format!("{prefix}/iknp"),
                k => format!("{prefix}/softspoken{k}"),
            };
            benches.push(Bench::new(name, move |plan| softspoken(plan, k, output)));
        }
    }
    benches
}

/// A started instance, and how long it took with its base OTs.
pub(super) fn start(k: u8) -> Step<(SoftSpokenSender, SoftSpokenReceiver, f64)> {
    let k = FieldBits::new(k)?;
    let delta = Delta::random(&mut rng()?);
    let (keys, pairs, base) = keys_for(&delta)?;
    let start = Instant::now();
    let (receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs)?;
    let sender = SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup)?;
    Ok((sender, receiver, base + start.elapsed().as_secs_f64()))
}

fn softspoken(plan: &Plan<'_>, k: u8, output: Output) -> Result<Measured> {
    let (sender, receiver, setup) = start(k)?;
    measure(plan, sender, receiver, output, setup)
}

fn measure(
    plan: &Plan<'_>,
    mut sender: impl ExtensionSender + Send,
    mut receiver: impl ExtensionReceiver + Send,
    output: Output,
    setup: f64,
) -> Result<Measured> {
    let mut declared = Cost::default();
    for _ in 0..plan.repeat {
        for m in calls(plan.ots, CALL) {
            declared = declared + sender.cost(m) + output.cost(m as u64);
        }
    }
    let mut buffers = Buffers::new(rng()?);
    let runs = plan.repeat(|| buffers.run(output, plan.ots, &mut sender, &mut receiver))?;
    Measured::of_runs(plan.ots, setup, &runs, declared)
}

/// Buffers of one call, of both sides.
struct Buffers {
    rng: SeededRng,
    choices: Vec<u8>,
    chosen: Aligned<Block>,
    k0: Aligned<Block>,
    k1: Aligned<Block>,
}

impl Buffers {
    fn new(rng: SeededRng) -> Self {
        let blocks = || Aligned::zeros(CALL);
        Self {
            rng,
            choices: vec![0; CALL / 8],
            chosen: blocks(),
            k0: blocks(),
            k1: blocks(),
        }
    }

    /// Goes through all calls: `send` makes the sender's outputs of a message, `choose` the receiver's of choices,
    /// with the message.
    fn calls<S: ExtensionSender + Send, R: ExtensionReceiver + Send>(
        (rng, choices): (&mut SeededRng, &mut [u8]),
        ots: usize,
        (sender, receiver): (&mut S, &mut R),
        mut send: impl FnMut(&mut S, &[u8], usize) -> Result<(), OtError> + Send,
        mut choose: impl FnMut(&mut R, &[u8], usize, &mut [u8]) -> Result<(), OtError> + Send,
    ) -> Result<OtRun> {
        drive(
            |wire| {
                for m in calls(ots, CALL) {
                    let u = wire.receive()?;
                    send(sender, &u, m)?;
                    wire.give_back(u);
                }
                Ok(())
            },
            |wire| {
                for m in calls(ots, CALL) {
                    let choices = &mut choices[..m.div_ceil(8)];
                    // The choices are the user's.
                    unmetered(|| rng.fill_bytes(choices));
                    let mut u = wire.room(receiver.message_len(m));
                    choose(receiver, choices, m, &mut u)?;
                    wire.send(u)?;
                }
                Ok(())
            },
        )
    }

    fn run<S: ExtensionSender + Send, R: ExtensionReceiver + Send>(
        &mut self,
        output: Output,
        ots: usize,
        sender: &mut S,
        receiver: &mut R,
    ) -> Result<OtRun> {
        let Self {
            rng,
            choices,
            chosen,
            k0,
            k1,
        } = self;
        let (sides, drawn, last) = (
            (&mut *sender, receiver),
            (rng, &mut choices[..]),
            last_call(ots, CALL),
        );
        let run = match output {
            Output::Random => Self::calls(
                drawn,
                ots,
                sides,
                |sender, u, m| {
                    sender.extend_blocks(u, m, &mut k0[..m], &mut k1[..m])?;
                    consume(k0);
                    consume(k1);
                    Ok(())
                },
                |receiver, choices, m, u| {
                    receiver.extend_blocks(choices, m, u, &mut chosen[..m])?;
                    consume(chosen);
                    Ok(())
                },
            )?,
            Output::Bits => {
                let [mut k0, mut k1, mut chosen] = [(); 3].map(|()| vec![0; CALL / 8]);
                let run = Self::calls(
                    drawn,
                    ots,
                    sides,
                    |sender, u, m| {
                        let bytes = m.div_ceil(8);
                        sender.extend_bits(u, m, &mut k0[..bytes], &mut k1[..bytes])?;
                        consume(&k0);
                        consume(&k1);
                        Ok(())
                    },
                    |receiver, choices, m, u| {
                        receiver.extend_bits(choices, m, u, &mut chosen[..m.div_ceil(8)])?;
                        consume(&chosen);
                        Ok(())
                    },
                )?;
                bits_agree([&k0, &k1], choices, &chosen, last)?;
                return Ok(run);
            }
            Output::Correlated => {
                let run = Self::calls(
                    drawn,
                    ots,
                    sides,
                    |sender, u, m| {
                        // Whoever uses the rows as they are hashes nothing.
                        drop(sender.extend(u, m, &mut k0[..m])?);
                        consume(k0);
                        Ok(())
                    },
                    |receiver, choices, m, u| {
                        drop(receiver.extend(choices, m, u, &mut chosen[..m])?);
                        consume(chosen);
                        Ok(())
                    },
                )?;
                let delta = sender.delta().expose();
                for (k1, &q) in k1.iter_mut().zip(k0.iter()) {
                    *k1 = q ^ delta;
                }
                run
            }
        };
        blocks_agree(&k0[..last], &k1[..last], choices, &chosen[..last])?;
        Ok(run)
    }
}
