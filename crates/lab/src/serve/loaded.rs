//! Results of a load.

use super::times::Times;

/// Results of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Requests that were answered rightly, or submissions that all servers have accepted.
    pub answered: u64,
    /// Requests or submissions that were refused, not answered, or not counted.
    pub lost: u64,
    /// Answers that are not the right ones, or whose copies differ; totals that differ.
    pub wrong: u64,
    pub seconds: f64,
    /// Times from a request to its answer.
    pub times: Times,
}

impl Loaded {
    /// Adds what another client saw.
    pub fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.lost += other.lost;
        self.wrong += other.wrong;
        self.times.append(other.times);
    }
}
