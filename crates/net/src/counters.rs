//! Counters of one job: what really went out and came in, per phase, to be held against the
//! declared cost.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use madrigal_core::{Phase, PhaseCost};
use madrigal_kernels::meter;

/// Counters of both phases. Plain atomics: they are read when the work they count is over.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    phases: [PhaseCounters; 2],
}

#[derive(Debug, Default)]
struct PhaseCounters {
    rounds: AtomicU64,
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    messages: AtomicU64,
    aes_blocks: AtomicU64,
}

impl Counters {
    pub(crate) fn sent(&self, phase: Phase, bytes: usize, round: u32) {
        let phase = &self.phases[phase.index()];
        phase.bytes_sent.fetch_add(bytes as u64, Relaxed);
        phase.messages.fetch_add(1, Relaxed);
        phase.rounds.fetch_max(round.into(), Relaxed);
    }

    pub(crate) fn received(&self, phase: Phase, bytes: usize, round: u32) {
        let phase = &self.phases[phase.index()];
        phase.bytes_received.fetch_add(bytes as u64, Relaxed);
        phase.rounds.fetch_max(round.into(), Relaxed);
    }

    /// Counts rounds up to this one, in which the party had nothing to send and waits for nobody.
    pub(crate) fn passed(&self, phase: Phase, round: u32) {
        let phase = &self.phases[phase.index()];
        phase.rounds.fetch_max(round.into(), Relaxed);
    }

    /// Runs `work`; the AES blocks that it computes on this thread are the phase's.
    pub(crate) fn metered<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let (result, blocks) = meter::metered(work);
        if blocks > 0 {
            let counter = &self.phases[phase.index()].aes_blocks;
            counter.fetch_add(blocks, Relaxed);
        }
        result
    }

    /// Cost of one phase so far.
    pub(crate) fn phase(&self, phase: Phase) -> PhaseCost {
        let phase = &self.phases[phase.index()];
        PhaseCost {
            rounds: phase.rounds.load(Relaxed),
            bytes_sent: phase.bytes_sent.load(Relaxed),
            bytes_received: phase.bytes_received.load(Relaxed),
            messages: phase.messages.load(Relaxed),
            aes_blocks: phase.aes_blocks.load(Relaxed),
        }
    }
}
