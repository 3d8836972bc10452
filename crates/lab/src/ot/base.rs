//! Base OTs, as many as an extension starts from.

use std::time::Instant;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_ot::base::endemic::{EndemicReceiver, EndemicSender};
use madrigal_ot::base::kem::{self, KemReceiver};
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::{Delta, Instance, KAPPA, SeededRng};

use super::bench::{Bench, INSTANCE, Plan, rng};
use super::outputs::agree;
use super::sides::Measured;
use super::wire::{OtRun, Step, Wire, drive};
use crate::exit::{Failure, Result};

type Pairs = Zeroizing<Vec<[Block; 2]>>;
type Keys = Zeroizing<Vec<Block>>;

/// Protocol of base OTs, at either side.
trait BaseOts {
    fn send(wire: &mut Wire, rng: &mut SeededRng) -> Step<Pairs>;
    fn receive(wire: &mut Wire, rng: &mut SeededRng, choices: &[u8]) -> Step<Keys>;
    fn cost(n: u64) -> Cost;
}

pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench::new("base/hauck-loss", measure::<HauckLoss>),
        Bench::new("base/endemic", measure::<Endemic>),
        Bench::new("base/ml-kem", measure::<MlKem>),
    ]
}

fn measure<B: BaseOts>(plan: &Plan<'_>) -> Result<Measured> {
    let (mut left, mut right) = (rng()?, rng()?);
    // Tables and libraries start when they are first used.
    one_run::<B>(&mut left, &mut right)?;
    let runs = plan.repeat(|| one_run::<B>(&mut left, &mut right))?;
    let mut declared = Cost::default();
    for _ in &runs {
        declared = declared + B::cost(KAPPA as u64);
    }
    Ok(Measured {
        // AES is used for random numbers alone.
        by_aes: false,
        ..Measured::of_runs(KAPPA, 0.0, &runs, declared)?
    })
}

fn one_run<B: BaseOts>(left: &mut SeededRng, right: &mut SeededRng) -> Result<OtRun> {
    let choices = Delta::random(right).choice_bits();
    let (mut pairs, mut keys) = (None, None);
    let run = drive(
        |wire| {
            pairs = Some(B::send(wire, left)?);
            Ok(())
        },
        |wire| {
            keys = Some(B::receive(wire, right, &choices)?);
            Ok(())
        },
    )?;
    let (Some(pairs), Some(keys)) = (pairs, keys) else {
        return Err(Failure::bug("a side of the base OTs has no keys"));
    };
    let side = |b: usize| pairs.iter().flat_map(move |pair| pair[b].to_bytes());
    let (k0, k1): (Vec<u8>, Vec<u8>) = (side(0).collect(), side(1).collect());
    let chosen: Vec<u8> = keys.iter().flat_map(|key| key.to_bytes()).collect();
    let choice = |i| super::outputs::bit(&choices, i);
    agree(16, &[&k0, &k1], choice, &chosen)?;
    Ok(run)
}

/// Instance of the base OTs, whose sender is the extension's receiver.
const CONTEXT: Instance = Instance {
    sender: INSTANCE.receiver,
    receiver: INSTANCE.sender,
    ..INSTANCE
};

struct HauckLoss;

impl BaseOts for HauckLoss {
    fn send(wire: &mut Wire, rng: &mut SeededRng) -> Step<Pairs> {
        let (sender, message) = BaseSender::new(rng, CONTEXT);
        wire.send(message.to_vec())?;
        Ok(sender.finish(&wire.receive()?, KAPPA)?)
    }

    fn receive(wire: &mut Wire, rng: &mut SeededRng, choices: &[u8]) -> Step<Keys> {
        let message = wire.receive()?;
        let response = BaseReceiver::new(CONTEXT).respond(rng, &message, choices, KAPPA)?;
        wire.send(response.message)?;
        Ok(response.keys)
    }

    fn cost(n: u64) -> Cost {
        cost::base(n)
    }
}

struct Endemic;

impl BaseOts for Endemic {
    fn send(wire: &mut Wire, rng: &mut SeededRng) -> Step<Pairs> {
        let (sender, message) = EndemicSender::new(rng, CONTEXT);
        wire.send(message.to_vec())?;
        Ok(sender.finish(&wire.receive()?, KAPPA)?)
    }

    fn receive(wire: &mut Wire, rng: &mut SeededRng, choices: &[u8]) -> Step<Keys> {
        let (receiver, message) = EndemicReceiver::new(rng, CONTEXT, choices, KAPPA)?;
        wire.send(message)?;
        Ok(receiver.finish(&wire.receive()?)?)
    }

    fn cost(n: u64) -> Cost {
        cost::base_endemic(n)
    }
}

struct MlKem;

impl BaseOts for MlKem {
    fn send(wire: &mut Wire, _: &mut SeededRng) -> Step<Pairs> {
        let response = kem::respond(CONTEXT, &wire.receive()?, KAPPA)?;
        wire.send(response.message)?;
        Ok(response.keys)
    }

    fn receive(wire: &mut Wire, rng: &mut SeededRng, choices: &[u8]) -> Step<Keys> {
        let (receiver, message) = KemReceiver::new(rng, CONTEXT, choices, KAPPA)?;
        wire.send(message)?;
        Ok(receiver.finish(&wire.receive()?)?)
    }

    fn cost(n: u64) -> Cost {
        cost::base_kem(n)
    }
}

/// Makes what an extension starts from: the sender's keys and the receiver's pairs, and the seconds that they took.
pub(super) fn keys_for(delta: &Delta) -> Result<(Keys, Pairs, f64)> {
    let mut rng = rng()?;
    let start = Instant::now();
    let (sender, s) = BaseSender::new(&mut rng, CONTEXT);
    let receiver = BaseReceiver::new(CONTEXT);
    let response = receiver
        .respond(&mut rng, &s, &delta.choice_bits(), KAPPA)
        .map_err(Failure::bug)?;
    let pairs = sender
        .finish(&response.message, KAPPA)
        .map_err(Failure::bug)?;
    Ok((response.keys, pairs, start.elapsed().as_secs_f64()))
}
