//! Measures how long a message to a peer and its answer take.
//!
//! Whoever computes on the thread of its sockets answers late, and who has just begun later still; so the
//! question is asked [a few times](TIMES), each time when the answer before has come, and the shortest time
//! counts. A round trip that is measured too long puts more under way than the line holds, in memory.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of times that a peer is asked, and answered.
const TIMES: u8 = 8;

#[derive(Debug, Default)]
pub(super) struct RoundTrip(Mutex<Measured>);

#[derive(Debug, Default)]
struct Measured {
    /// Time since when we wait for an answer.
    asked: Option<Instant>,
    /// Number of times that we have asked.
    questions: u8,
    /// Number of times that the peer has had our answer.
    answers: u8,
    shortest: Option<Duration>,
}

impl RoundTrip {
    /// `None` until the first answer has come.
    pub(super) fn shortest(&self) -> Option<Duration> {
        self.with(|measured| measured.shortest)
    }

    /// Whether the peer is to be asked now.
    pub(super) fn ask(&self, now: Instant) -> bool {
        self.with(|measured| {
            let asks = measured.asked.is_none() && measured.questions < TIMES;
            if asks {
                measured.asked = Some(now);
                measured.questions += 1;
            }
            asks
        })
    }

    /// The peer has answered; an answer that nobody waits for says nothing.
    pub(super) fn answered(&self, now: Instant) {
        self.with(|measured| {
            if let Some(asked) = measured.asked.take() {
                let took = now.saturating_duration_since(asked);
                let shortest = measured.shortest.get_or_insert(took);
                *shortest = took.min(*shortest);
            }
        });
    }

    /// Whether a question of the peer is to be answered.
    pub(super) fn answer(&self) -> bool {
        self.with(|measured| {
            let answers = measured.answers < TIMES;
            measured.answers += u8::from(answers);
            answers
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Measured) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_of_a_few_times_counts() {
        let trip = RoundTrip::default();
        let start = Instant::now();
        trip.answered(start);
        assert_eq!(trip.shortest(), None);
        let mut now = start;
        for milliseconds in [5, 3, 9, 4, 4, 4, 4, 4] {
            assert!(trip.ask(now));
            assert!(!trip.ask(now), "one question at a time");
            now += Duration::from_millis(milliseconds);
            trip.answered(now);
            trip.answered(now);
        }
        assert_eq!(trip.shortest(), Some(Duration::from_millis(3)));
        assert!(!trip.ask(now));
    }

    #[test]
    fn whoever_asks_for_ever_is_not_answered_for_ever() {
        let trip = RoundTrip::default();
        assert_eq!((0..1000).filter(|_| trip.answer()).count(), TIMES.into());
    }
}
