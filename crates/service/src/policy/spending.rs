//! Batches of a kind that this server has taken part in, counted against the limit of its policy.
//!
//! The count is a note in the vault, which is written with the record that a batch is prepared: nothing is computed that was not counted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use madrigal_noise::{Delta, Epsilon};
use madrigal_program::Privacy;

use super::file::Batches;
use super::{Allowed, Budget, Verdict, in_words};

/// Version of the note.
const VERSION: u8 = 1;
/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// A kind's limit, and what was taken of it.
#[derive(Debug, Clone)]
pub(crate) struct Spending {
    kind: String,
    allowed: Option<Allowed>,
    /// Spent by each batch, where the kind is private.
    each: Privacy,
    /// Batches and epsilon that were spent: one count for all limits that the kind had since the server was started.
    spent: Arc<Mutex<Spent>>,
}

/// Batches that have begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Spent {
    /// Number of all.
    all: u64,
    /// Times of the last ones, in seconds, in the order of the batches: as many as the limit asks for.
    times: Vec<u64>,
    /// The latest time of those whose times are not kept, or 0.
    forgotten: u64,
    /// Spent by all of them.
    privacy: Privacy,
}

impl Spending {
    /// The spending of a kind of which each batch spends this, from what the vault has of it.
    ///
    /// # Errors
    /// A note that this version has not written, in words.
    pub(crate) fn new(
        kind: &str,
        verdict: &Verdict,
        each: Privacy,
        note: Option<&[u8]>,
    ) -> Result<Self, String> {
        let spent = match note {
            None => Spent::default(),
            Some(note) => Spent::decode(note).ok_or_else(|| {
                format!("the count of batches of kind `{kind}` in the vault is of another version of this program: use that one")
            })?,
        };
        Ok(Self {
            kind: kind.to_owned(),
            each,
            allowed: verdict.allowed(),
            spent: Arc::new(Mutex::new(spent)),
        })
    }

    /// Spending so far, under another verdict.
    pub(crate) fn under(&self, verdict: &Verdict) -> Self {
        Self {
            allowed: verdict.allowed(),
            ..self.clone()
        }
    }

    /// The fewest submissions of a batch, where the service's file says `least`.
    pub(crate) fn least(&self, least: usize) -> usize {
        let allowed = self.allowed.as_ref();
        allowed.map_or(least, |allowed| allowed.least.max(least))
    }

    fn limit(&self) -> Option<Batches> {
        self.allowed.as_ref().and_then(|allowed| allowed.batches)
    }

    fn budget(&self) -> Option<Budget> {
        self.allowed.as_ref().and_then(|allowed| allowed.budget)
    }

    /// Epsilon that may yet be spent, where there is a budget.
    pub(crate) fn epsilon_left(&self) -> Option<f64> {
        let most = self.budget()?.most.epsilon.get();
        Some((most - self.spent().privacy.epsilon.get()).max(0.0))
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of batches that may begin at this time, where there is a limit.
    pub(crate) fn left(&self, now: u64) -> Option<u64> {
        let limit = self.limit()?;
        Some(
            limit
                .most
                .saturating_sub(self.spent().within(limit.per, now)),
        )
    }

    /// Reason for which no batch may begin at this time, if so.
    pub(crate) fn refusal(&self, now: u64) -> Option<String> {
        let (kind, spent) = (&self.kind, self.spent());
        if let Some(budget) = self.budget().filter(|budget| !budget.allows(spent.privacy)) {
            let [spent, most, each] = [spent.privacy, budget.most, budget.each].map(in_words);
            return Some(format!(
                "the budget of kind `{kind}` in its policy is used up: {spent} of {most} are spent, and a batch spends {each}"
            ));
        }
        let limit = self.limit()?;
        if spent.within(limit.per, now) < limit.most {
            return None;
        }
        let mut text =
            format!("the limit of batches of kind `{kind}` in its policy is used up ({limit})");
        let free = limit.per.and_then(|per| spent.free_at(limit.most, per));
        // Later times have no date that could be written.
        if let Some(at) = free.filter(|at| *at <= LAST) {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
            let at = humantime::format_rfc3339_seconds(at);
            text.push_str(&format!("; the next may begin at {at}"));
        }
        Some(text)
    }

    /// Counts a batch that begins at this time. Gives the note that has to be on disk before anything is computed.
    pub(crate) fn spend(&self, now: u64) -> Vec<u8> {
        // Without a time in the limit, no times are needed.
        let keep = self.limit().filter(|limit| limit.per.is_some());
        let mut spent = self.spent();
        spent.add(now, keep.map_or(0, |limit| limit.most as usize));
        let Privacy { epsilon, delta } = spent.privacy;
        spent.privacy = Privacy {
            epsilon: epsilon.plus(self.each.epsilon),
            delta: delta.plus(self.each.delta),
        };
        spent.encode()
    }
}

impl Spent {
    fn add(&mut self, now: u64, keep: usize) {
        self.all = self.all.saturating_add(1);
        self.times.push(now);
        let beyond = self.times.len().saturating_sub(keep);
        let beyond = self.times.drain(..beyond).max();
        self.forgotten = self.forgotten.max(beyond.unwrap_or(0));
    }

    /// Number of batches that began within a time before now; those whose times are not kept count if one of them may have. A time that is yet to
    /// come, by a clock that was set back, is within.
    fn within(&self, per: Option<Duration>, now: u64) -> u64 {
        let Some(per) = per else {
            return self.all;
        };
        let is_in = |at: u64| at.saturating_add(seconds(per)) > now;
        let kept = self.times.iter().filter(|at| is_in(**at)).count() as u64;
        let forgotten = self.all - self.times.len() as u64;
        match forgotten > 0 && is_in(self.forgotten) {
            true => kept + forgotten,
            false => kept,
        }
    }

    /// Time from which on fewer than `most` began within `per`; nothing if that never is.
    fn free_at(&self, most: u64, per: Duration) -> Option<u64> {
        let mut times: Vec<u64> = self.times.clone();
        times.push(self.forgotten);
        times.sort_unstable();
        let ends = times.into_iter().map(|at| at.saturating_add(seconds(per)));
        ends.into_iter()
            .find(|&at| self.within(Some(per), at) < most)
    }

    fn encode(&self) -> Vec<u8> {
        let mut note = Vec::with_capacity(33 + 8 * self.times.len());
        note.push(VERSION);
        let Privacy { epsilon, delta } = self.privacy;
        let numbers = [self.all, self.forgotten, epsilon.units(), delta.units()];
        let numbers = numbers.iter().chain(&self.times);
        numbers.for_each(|number| note.extend(number.to_le_bytes()));
        note
    }

    fn decode(note: &[u8]) -> Option<Self> {
        let (&VERSION, rest) = note.split_first()? else {
            return None;
        };
        let (numbers, []) = rest.as_chunks::<8>() else {
            return None;
        };
        let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let (all, forgotten) = (numbers.next()?, numbers.next()?);
        let (epsilon, delta) = (numbers.next()?, numbers.next()?);
        let times: Vec<u64> = numbers.collect();
        (times.len() as u64 <= all).then_some(Self {
            all,
            times,
            forgotten,
            privacy: Privacy {
                epsilon: Epsilon::of_units(epsilon),
                delta: Delta::of_units(delta),
            },
        })
    }
}

/// Whole seconds of a time, rounded up: a limit holds for as long as it says.
fn seconds(per: Duration) -> u64 {
    per.as_secs()
        .saturating_add(u64::from(per.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests;
