//! Names that each file of OTs adds to the benchmark, and how each is measured.

use madrigal_kernels::Block;
use madrigal_ot::{Instance, SeededRng, softspoken};

use super::sides::Measured;
use crate::exit::{Failure, Result};
use crate::measured::Watch;
use crate::progress::Steps;

/// OTs of one call.
pub(super) const CALL: usize = 2 * softspoken::CHUNK;

/// The extensions that are measured: sender and receiver of the OTs.
pub(super) const INSTANCE: Instance = Instance {
    session: [0x42; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};

/// How much is measured.
pub(super) struct Plan<'a> {
    /// OTs of a run.
    pub ots: usize,
    /// Runs.
    pub repeat: u32,
    pub steps: &'a Steps,
    pub watch: &'a Watch,
}

impl Plan<'_> {
    /// Does `run` as often as wanted.
    pub fn repeat<T>(&self, mut run: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
        let runs = (0..self.repeat).map(|_| {
            self.steps.advance();
            self.watch.look();
            let done = run();
            self.watch.look();
            done
        });
        runs.collect()
    }
}

pub(super) type Measure = dyn Fn(&Plan<'_>) -> Result<Measured>;

/// A name, and how to measure it.
pub(super) struct Bench {
    pub name: String,
    pub measure: Box<Measure>,
}

impl Bench {
    pub fn new(
        name: impl Into<String>,
        measure: impl Fn(&Plan<'_>) -> Result<Measured> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            measure: Box::new(measure),
        }
    }
}

/// Sizes of the calls for `ots` OTs, the last one shorter.
pub(super) fn calls(ots: usize, call: usize) -> impl Iterator<Item = usize> {
    (0..ots).step_by(call).map(move |done| call.min(ots - done))
}

/// Size of the last call.
pub(super) fn last_call(ots: usize, call: usize) -> usize {
    (ots - 1) % call + 1
}

/// Fresh randomness from the operating system.
pub(super) fn rng() -> Result<SeededRng> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(Failure::bug)?;
    Ok(SeededRng::from_seed(Block::from_bytes(seed)))
}
