//! What this machine computes in a second, for estimates of how long work takes.

use std::time::Instant;

use madrigal_core::time::Rates;
use madrigal_kernels::Block;
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::{Delta, Instance, KAPPA, SeededRng};

use crate::failure::{Failure, Result};
use crate::machine::Machine;

/// What protocols reach of the rate at which a kernel encrypts blocks in the first-level cache.
const OF_AES: f64 = 0.75;
/// Rates of kernels on the processor that `Rates::ZEN_5` is about (docs/BENCHMARKS.md), in bytes for
/// each second: what its other rates are scaled by.
const ZEN_5_TRANSPOSE: f64 = 19e9;
const ZEN_5_TRIPLES: f64 = 52e9;
const ZEN_5_COPY: f64 = 20e9;

/// Measures for about half a second. What takes longer to measure is taken from another machine, by
/// the rate of the kernel that is most like it.
///
/// # Errors
/// A system without a loopback interface.
pub fn measure() -> Result<Rates> {
    let machine = Machine::measure()?;
    let ceilings = &machine.ceilings;
    let known = Rates::ZEN_5;
    Ok(Rates {
        aes_blocks: OF_AES * ceilings.aes.rate,
        base_ots: base_ots()?,
        extended_ots: known.extended_ots * ceilings.transpose.rate / ZEN_5_TRANSPOSE,
        silent_rows: known.silent_rows * ceilings.copy.rate / ZEN_5_COPY,
        row_bytes: known.row_bytes * ceilings.beaver.rate / ZEN_5_TRIPLES,
        // It keeps a core busy at either end.
        network_bytes: machine.loopback_bytes_per_second,
        hop: machine.loopback_round_trip_seconds / 2.0,
        ..known
    })
}

/// Base OTs in a second, each side of each by itself.
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
