//! Measures what this machine computes in a second, for estimates of how long work takes.

use std::thread;
use std::time::Instant;

use madrigal_core::Phase;
use madrigal_core::time::Rates;
use madrigal_engine::{Trial, TrialTimes};
use madrigal_kernels::ceilings::{self, Ceilings};
use madrigal_kernels::{Block, Kernels};
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::{Delta, Instance, KAPPA, SeededRng};

use crate::everyone::everyone;
use crate::failure::{Failure, Result};
use crate::flags::{Patience, TransportArg};
use crate::machine::loopback;
use crate::reach::Network;

/// Part that protocols reach of the rate at which a kernel encrypts blocks in the first-level cache.
const OF_AES: f64 = 0.75;
/// Rates of kernels on the processor that `Rates::ZEN_5` is about (docs/BENCHMARKS.md), in bytes for
/// each second: what its other rates are scaled by.
const ZEN_5_TRANSPOSE: f64 = 19e9;
const ZEN_5_TRIPLES: f64 = 52e9;
const ZEN_5_COPY: f64 = 20e9;

/// Measures for about a second, and longer for a trial of correlations. Rates that take longer to measure are
/// taken from another machine, by the rate of the kernel that is most like it.
///
/// Two threads work at a time: what they share, such as memory and the units of one core, each has less of.
///
/// # Errors
/// [`Failure`]: a system without a loopback interface; what ends a trial.
pub fn measure(trial: Option<&Trial>) -> Result<Rates> {
    measure_together(trial, 2)
}

/// Measures as [`measure`] does where `parties` parties run on this machine: a trial is of as many, since what caches hold
/// depends on it.
///
/// # Errors
/// [`Failure`] in the same cases as [`measure`].
pub fn measure_together(trial: Option<&Trial>, parties: usize) -> Result<Rates> {
    let both = beside(|| Ok(ceilings::measure(Kernels::detect())))?;
    let least = |pick: fn(&Ceilings) -> f64| both.iter().map(pick).fold(f64::INFINITY, f64::min);
    let (round_trip, bandwidth) =
        loopback().map_err(Failure::system("cannot measure the loopback interface"))?;
    let known = Rates::ZEN_5;
    let rates = Rates {
        aes_blocks: OF_AES * least(|all| all.aes.rate),
        base_ots: beside(base_ots)?.into_iter().fold(f64::INFINITY, f64::min),
        extended_ots: known.extended_ots * least(|all| all.transpose.rate) / ZEN_5_TRANSPOSE,
        silent_rows: known.silent_rows * least(|all| all.copy.rate) / ZEN_5_COPY,
        row_bytes: known.row_bytes * least(|all| all.beaver.rate) / ZEN_5_TRIPLES,
        // It keeps a core busy at either end.
        network_bytes: bandwidth,
        hop: round_trip / 2.0,
        ..known
    };
    let Some(trial) = trial else {
        return Ok(rates);
    };
    let network = Network::default();
    let times = everyone(
        TransportArg::Memory,
        network,
        parties,
        1,
        &Patience::default(),
        async |session| {
            let job = session.job(1, &[], None).await?;
            let context = job.context().enter(Phase::Setup, "trial");
            let times = trial.run(&context).await?;
            job.finish().await?;
            Ok(times)
        },
    )?;
    let slowest = |pick: fn(&TrialTimes) -> f64| times.iter().map(pick).fold(0.0, f64::max);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Part of a core for each party.
    let part = (cores as f64 / parties as f64).min(1.0);
    let times = TrialTimes {
        base_ots: slowest(|times| times.base_ots) * part,
        first: slowest(|times| times.first) * part,
        next: slowest(|times| times.next) * part,
    };
    Ok(trial.rates(rates, &times, parties))
}

/// Measures on two threads at a time.
fn beside<T: Send>(work: impl Fn() -> Result<T> + Sync) -> Result<[T; 2]> {
    thread::scope(|scope| {
        let other = scope.spawn(&work);
        let ours = work()?;
        let panicked = |_| Err(Failure::bug("a thread that measured panicked"));
        Ok([ours, other.join().unwrap_or_else(panicked)?])
    })
}

/// Measures base OTs in a second, where each side of an OT counts as one.
fn base_ots() -> Result<f64> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(Failure::bug)?;
    let mut rng = SeededRng::from_seed(Block::from_bytes(seed));
    let choices = Delta::random(&mut rng).choice_bits();
    let instance = Instance {
        session: [0; 32],
        sender: 0,
        receiver: 1,
        stream: 0,
    };
    let mut best = f64::INFINITY;
    // Tables are made when they are first used.
    for _ in 0..3 {
        let start = Instant::now();
        let (sender, message) = BaseSender::new(&mut rng, instance);
        let response = BaseReceiver::new(instance)
            .respond(&mut rng, &message, &choices, KAPPA)
            .map_err(Failure::bug)?;
        sender
            .finish(&response.message, KAPPA)
            .map_err(Failure::bug)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(2.0 * KAPPA as f64 / best)
}
