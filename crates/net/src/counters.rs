//! Counters of one job: what really went out and came in, per phase, to be held against the
//! declared cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use madrigal_core::{Phase, PhaseCost};
use madrigal_kernels::meter;

/// Counters of both phases. Plain atomics: they are read when the work they count is over.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    phases: [PhaseCounters; 2],
}

/// Counters of one piece of work, beside those of its job: a [context](crate::Context::with_meter) has them, and what
/// comes of it. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Counters>);

impl Meter {
    /// Cost of the work in one phase so far. Rounds are the job's: those up to the work's last message.
    pub fn spent(&self, phase: Phase) -> PhaseCost {
        self.0.phase(phase)
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.0
    }
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

    /// Runs `work`; the AES blocks that it computes on this thread are the phase's, here and on `meter`.
    pub(crate) fn metered<R>(
        &self,
        meter: Option<&Meter>,
        phase: Phase,
        work: impl FnOnce() -> R,
    ) -> R {
        let (result, blocks) = meter::metered(work);
        if blocks > 0 {
            for counters in [self].into_iter().chain(meter.map(Meter::counters)) {
                let counter = &counters.phases[phase.index()].aes_blocks;
                counter.fetch_add(blocks, Relaxed);
            }
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
