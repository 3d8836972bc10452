//! Tallies of what all parties of a job must have done alike: noted as it is done, compared when the job ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_kernels::Crc32;

/// Tallies by how many of the session's first parties did it, what was done, and in which step: steps may run side by side.
#[derive(Default)]
pub(super) struct Tallies(BTreeMap<(usize, &'static str), BTreeMap<Arc<str>, Tally>>);

/// Tally of what all parties must have done alike in one step.
#[derive(Default)]
struct Tally {
    amount: u64,
    calls: u64,
    /// Checksum of all calls' numbers, in order: by accident no two are the same.
    crc: Crc32,
}

impl Tallies {
    pub(super) fn note(
        &mut self,
        among: usize,
        what: &'static str,
        step: &Arc<str>,
        numbers: &[usize],
    ) {
        let steps = self.0.entry((among, what)).or_default();
        let tally = steps.entry(Arc::clone(step)).or_default();
        let amount = numbers.first().map_or(0, |&number| number as u64);
        tally.amount = tally.amount.saturating_add(amount);
        tally.calls += 1;
        for &number in numbers {
            tally.crc.update(&(number as u64).to_le_bytes());
        }
    }

    /// Gives the facts that are compared with those of a peer: it is not told those in which it took no part.
    pub(super) fn facts(&self, peer: Party) -> Vec<(String, String)> {
        let theirs = self
            .0
            .iter()
            .filter(|((among, _), _)| peer.index() < *among);
        let fact = |((_, what), steps): (&(usize, &str), &BTreeMap<Arc<str>, Tally>)| {
            let (mut amount, mut calls) = (0_u64, 0);
            let mut crc = Crc32::new();
            for (step, tally) in steps {
                amount = amount.saturating_add(tally.amount);
                calls += tally.calls;
                crc.update(step.as_bytes());
                crc.update(&tally.crc.value().to_le_bytes());
            }
            let plural = if calls == 1 { "" } else { "s" };
            let value = format!("{amount} in {calls} call{plural}, crc {:08x}", crc.value());
            ((*what).to_owned(), value)
        };
        theirs.map(fact).collect()
    }
}
