//! Generators of a step, which count what they compute.

use std::sync::Arc;

use madrigal_core::Phase;
use madrigal_kernels::{Block, Prg};

use crate::counters::Meter;
use crate::session::job_shared::JobShared;

/// A [`Prg`] from a [`Context`](crate::Context): its AES blocks are counted in the context's phase,
/// whoever asks for them and wherever.
pub struct Generator {
    prg: Prg,
    job: Arc<JobShared>,
    phase: Phase,
    meter: Option<Meter>,
}

impl Generator {
    pub(crate) fn new(prg: Prg, job: Arc<JobShared>, phase: Phase, meter: Option<Meter>) -> Self {
        Self {
            prg,
            job,
            phase,
            meter,
        }
    }

    /// Overwrites `out` with the next bytes of the stream; see [`Prg::fill`].
    pub fn fill(&mut self, out: &mut [u8]) {
        self.counted(|prg| prg.fill(out));
    }

    /// Adds (XOR) the next bytes of the stream to `data`.
    pub fn xor_into(&mut self, data: &mut [u8]) {
        self.counted(|prg| prg.xor_into(data));
    }

    /// The next block of the stream.
    pub fn next_block(&mut self) -> Block {
        self.counted(Prg::next_block)
    }

    fn counted<R>(&mut self, work: impl FnOnce(&mut Prg) -> R) -> R {
        let counters = &self.job.counters;
        counters.metered(self.meter.as_ref(), self.phase, || work(&mut self.prg))
    }
}

madrigal_core::opaque!(Generator);
