//! Clocks: the one that tells the time, and the one by which things expire.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Times as fast as it passes that the time of expiry goes at most.
const FASTEST: u32 = 10;

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The time by which things expire: that of the clock, but a clock that jumps ahead does not take it along. It follows, ten times as fast as
/// time passes, so a clock that is put right again within minutes has let next to nothing expire. Behind a clock that is set back it goes back at
/// once, so that what is new does not look old.
#[derive(Debug)]
pub(crate) struct Expiry(Mutex<(Duration, Instant)>);

impl Expiry {
    /// Goes on from a time that was noted down, if one was, else from now.
    pub(crate) fn from(noted: Option<u64>) -> Self {
        Self::starting(noted, now(), Instant::now())
    }

    fn starting(noted: Option<u64>, wall: u64, at: Instant) -> Self {
        let first = noted.map_or(wall, |noted| noted.min(wall));
        Self(Mutex::new((Duration::from_secs(first), at)))
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.step(now(), Instant::now())
    }

    fn step(&self, wall: u64, at: Instant) -> u64 {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (time, before) = &mut *held;
        let passed = at.saturating_duration_since(*before);
        *time = (*time + passed * FASTEST).min(Duration::from_secs(wall));
        *before = (*before).max(at);
        time.as_secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;

    #[test]
    fn a_clock_that_jumps_lets_nothing_expire_at_once() {
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let clock = Expiry::starting(None, 1000 * DAY, begin);
        // Usually it tells what the clock tells.
        assert_eq!(clock.step(1000 * DAY + 5, at(5)), 1000 * DAY + 5);
        // A day ahead: ten seconds of it each second, and all at last.
        assert_eq!(clock.step(1001 * DAY + 6, at(6)), 1000 * DAY + 15);
        assert_eq!(clock.step(1001 * DAY + 66, at(66)), 1000 * DAY + 615);
        // It is put right again, and back where it was.
        assert_eq!(clock.step(1000 * DAY + 70, at(70)), 1000 * DAY + 70);
        // A day behind, at once; and forward again, slowly.
        assert_eq!(clock.step(999 * DAY, at(80)), 999 * DAY);
        assert_eq!(clock.step(1000 * DAY + 81, at(81)), 999 * DAY + 10);
        assert_eq!(clock.step(1000 * DAY + 81, at(81)), 999 * DAY + 10);
        let later = 81 + DAY / 8;
        let caught_up = clock.step(1000 * DAY + later, at(later));
        assert_eq!(caught_up, 1000 * DAY + later);
        // Times of a second's parts add up.
        let clock = Expiry::starting(None, 0, begin);
        let steps = (1..=100).map(|i| clock.step(DAY, begin + Duration::from_millis(10 * i)));
        assert_eq!(steps.last(), Some(10));
    }

    #[test]
    fn a_restart_is_no_way_around() {
        let begin = Instant::now();
        let clock = Expiry::starting(Some(1000 * DAY), 1001 * DAY, begin);
        assert_eq!(clock.step(1001 * DAY, begin), 1000 * DAY);
        // A clock that was ahead when it was noted down does not count.
        let clock = Expiry::starting(Some(1001 * DAY), 1000 * DAY, begin);
        assert_eq!(clock.step(1000 * DAY, begin), 1000 * DAY);
    }
}
