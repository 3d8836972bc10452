//! Random and correlated OTs by silent extension. Its iterations are the work, so they are inside the
//! time; the first base and the stages that grow it come once for an instance's life, so they are
//! set-up.

use std::time::Instant;

use madrigal_kernels::Block;
use madrigal_ot::flavour::{receiver_random_blocks, sender_random_blocks};
use madrigal_ot::silent::{SilentParams, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver as _, ExtensionSender as _, Instance};
use rand_core::Rng as _;

use super::base::keys_for;
use super::bench::{Bench, INSTANCE, Plan, calls, last_call, rng};
use super::extensions::Output;
use super::outputs::{blocks_agree, consume};
use super::sides::Measured;
use super::wire::{OtRun, Step, drive};
use crate::exit::Result;

pub(super) fn benches() -> Vec<Bench> {
    let bench = |output: Output| {
        let name = format!("{}/silent", output.prefix());
        Bench::new(name, move |plan| measure(plan, output))
    };
    [Output::Random, Output::Correlated].map(bench).into()
}

fn measure(plan: &Plan<'_>, output: Output) -> Result<Measured> {
    let start = Instant::now();
    let params = SilentParams::for_ots(plan.ots as u64);
    let (sender, receiver) = instance(params)?;
    let mut sides = Sides::new(params, sender, receiver);
    // The first call makes the base of the last stage.
    let first = params.chunk();
    sides.run(first, output)?;
    let setup = start.elapsed().as_secs_f64();
    let runs = plan.repeat(|| sides.run(plan.ots, output))?;
    let all = plan.ots * runs.len();
    let declared = params.cost(first as u64, all) + output.cost(all as u64);
    Measured::of_runs(plan.ots, setup, &runs, declared)
}

fn instance(params: SilentParams) -> Step<(SilentSender, SilentReceiver)> {
    /// The instance of the silent extension, not the one that makes its base.
    const SILENT: Instance = Instance {
        stream: INSTANCE.stream + 1,
        ..INSTANCE
    };
    let mut rng = rng()?;
    let delta = Delta::random_odd(&mut rng);
    let offset = Delta::from_block(delta.expose());
    let (keys, pairs, _) = keys_for(&delta)?;
    let m = params.base_rows();
    let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let (mut choices, mut u) = (
        vec![0; m.div_ceil(8)],
        vec![0; FieldBits::MIN.message_len(m)],
    );
    rng.fill_bytes(&mut choices);
    let (mut base, _) = SoftSpokenReceiver::new(INSTANCE, FieldBits::MIN, &pairs)?;
    drop(base.extend(&choices, m, &mut u, &mut t)?);
    let mut base = SoftSpokenSender::new(INSTANCE, FieldBits::MIN, offset, &keys, &[])?;
    drop(base.extend(&u, m, &mut q)?);
    Ok((
        SilentSender::new(&mut rng, SILENT, params, delta, &q)?,
        SilentReceiver::new(SILENT, params, &choices, &t)?,
    ))
}

/// Both sides, with the buffers of one call.
struct Sides {
    call: usize,
    sender: SilentSender,
    receiver: SilentReceiver,
    q: Vec<Block>,
    t: Vec<Block>,
    choices: Vec<u8>,
    k0: Vec<Block>,
    k1: Vec<Block>,
    chosen: Vec<Block>,
}

impl Sides {
    fn new(params: SilentParams, sender: SilentSender, receiver: SilentReceiver) -> Self {
        let call = params.chunk();
        let blocks = || vec![Block::ZERO; call];
        Self {
            call,
            sender,
            receiver,
            q: blocks(),
            t: blocks(),
            choices: vec![0; call.div_ceil(8)],
            k0: blocks(),
            k1: blocks(),
            chosen: blocks(),
        }
    }

    fn run(&mut self, ots: usize, output: Output) -> Result<OtRun> {
        let Self {
            call,
            sender,
            receiver,
            q,
            t,
            choices,
            k0,
            k1,
            chosen,
        } = self;
        let call = *call;
        let run = drive(
            |wire| {
                for m in calls(ots, call) {
                    let mut message = wire.room(sender.message_len(m));
                    let tweaks = sender.extend(m, &mut message, &mut q[..m])?;
                    wire.send(message)?;
                    if output == Output::Random {
                        let (k0, k1) = (&mut k0[..m], &mut k1[..m]);
                        sender_random_blocks(sender.delta(), tweaks, &q[..m], k0, k1)?;
                        consume(k0);
                        consume(k1);
                    }
                    consume(q);
                }
                Ok(())
            },
            |wire| {
                for m in calls(ots, call) {
                    let message = wire.receive()?;
                    let choices = &mut choices[..m.div_ceil(8)];
                    let tweaks = receiver.extend(&message, m, choices, &mut t[..m])?;
                    wire.give_back(message);
                    if output == Output::Random {
                        receiver_random_blocks(tweaks, &t[..m], &mut chosen[..m])?;
                        consume(chosen);
                    }
                    consume(t);
                }
                Ok(())
            },
        )?;
        let last = last_call(ots, call);
        if output == Output::Correlated {
            let delta = sender.delta().expose();
            for ((k0, k1), &q) in k0.iter_mut().zip(k1.iter_mut()).zip(&*q) {
                (*k0, *k1) = (q, q ^ delta);
            }
            // The choice is kept in the lowest bit, which is zero in q.
            chosen.copy_from_slice(t);
        }
        blocks_agree(&k0[..last], &k1[..last], choices, &chosen[..last])?;
        Ok(run)
    }
}
