//! Numbers of threads: as flags say them, and as this machine has cores for them. What parties make of theirs together is
//! [`Session::common_threads`](madrigal_net::Session::common_threads).

use std::fmt;
use std::fs;
use std::str::FromStr;
use std::thread;

use madrigal_engine::MAX_THREADS;
use madrigal_net::{Error, Session};
use serde::{Deserialize, Serialize};

/// `--threads`: with how many threads a party computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Threads {
    /// As many as this machine has cores for.
    #[default]
    Auto,
    /// This many.
    Exactly(usize),
}

impl Threads {
    /// Gives the number for each of `here` parties that compute on this machine: 1 to [`MAX_THREADS`]. Cores are those
    /// that this process may use, by the affinity and the quota that the system has for it.
    pub fn resolve(self, here: usize) -> usize {
        match self {
            Self::Auto => share(cores(), here),
            Self::Exactly(threads) => threads,
        }
    }
}

/// Number of threads of each of `here` parties on `cores` cores.
fn share(cores: usize, here: usize) -> usize {
    (cores / here.max(1)).clamp(1, MAX_THREADS)
}

/// Ends a session for all parties in which this one cannot plan its work for the number of threads that they have in common.
/// The others are not told what is wrong: it may be about values.
pub fn unplanned(session: &Session) {
    session.fail(Error::Ended {
        reason: "what it brings does not fit the plan for as many threads as all parties have"
            .to_owned(),
    });
}

/// Cores that this process may use: 1 where the system does not tell.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let threads: Option<usize> = text.parse().ok();
        let threads = threads.filter(|threads| (1..=MAX_THREADS).contains(threads));
        threads
            .map(Self::Exactly)
            .ok_or_else(|| format!("expected auto, or a number from 1 to {MAX_THREADS}"))
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(threads) => write!(f, "{threads}"),
        }
    }
}

/// Number that `auto` stands for on this machine, and why.
#[derive(Debug, Clone, Serialize)]
pub struct AutoThreads {
    /// Threads of a party that is alone here.
    pub alone: usize,
    /// Threads of each of two parties that are both here.
    pub of_two: usize,
    /// Threads of each of three parties that are all here.
    pub of_three: usize,
    /// Reason in words.
    pub because: String,
}

impl AutoThreads {
    /// Looks at this machine.
    pub fn here() -> Self {
        let list = |path| fs::read_to_string(path).ok();
        let status = list("/proc/self/status");
        let allowed = status.as_deref().and_then(|status| {
            let mut lines = status.lines();
            lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        });
        let online = list("/sys/devices/system/cpu/online");
        Self::of(
            cores(),
            allowed.and_then(counted),
            online.as_deref().and_then(counted),
        )
    }

    /// Tells it of a process that may use `cores` cores, and whose affinity allows some of those that are online.
    fn of(cores: usize, allowed: Option<usize>, online: Option<usize>) -> Self {
        let of = |here| share(cores, here);
        // The affinity is what the machine has, unless somebody has chosen.
        let allowed = allowed.map(|allowed| online.map_or(allowed, |online| allowed.min(online)));
        let because = match (allowed, online) {
            (Some(allowed), _) if cores < allowed => {
                format!("a quota leaves this process {cores} of {allowed} cores")
            }
            (Some(allowed), Some(online)) if allowed < online => {
                format!("this process may use {allowed} of {online} cores")
            }
            _ if cores > MAX_THREADS => {
                format!("{cores} cores, and a party computes with {MAX_THREADS} threads at most")
            }
            _ if cores == 1 => "1 core".to_owned(),
            _ => format!("{cores} cores"),
        };
        Self {
            alone: of(1),
            of_two: of(2),
            of_three: of(3),
            because,
        }
    }

    /// Tells people.
    pub fn text(&self) -> String {
        let Self {
            alone,
            of_two,
            of_three,
            because,
        } = self;
        format!("{alone} ({because}); {of_two} each with --local 2, {of_three} each with --local 3")
    }
}

/// Counts the processors of a list such as `0-3,8`.
fn counted(list: &str) -> Option<usize> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_add(1)?.checked_sub(first)
    };
    list.trim().split(',').map(range).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_out_among_those_here() {
        for (cores, here, each) in [
            (16, 1, 16),
            (16, 2, 8),
            (16, 3, 5),
            (2, 3, 1),
            (1, 1, 1),
            (192, 1, 64),
            (192, 2, 64),
            (192, 3, 64),
            (8, 0, 8),
        ] {
            assert_eq!(share(cores, here), each, "{cores} cores, {here} parties");
        }
        assert!((1..=MAX_THREADS).contains(&Threads::Auto.resolve(1)));
        assert!(Threads::Auto.resolve(2) <= Threads::Auto.resolve(1));
        assert_eq!(Threads::Exactly(7).resolve(3), 7);
    }

    #[test]
    fn numbers_and_auto_are_read() {
        for (text, read) in [
            ("auto", Some(Threads::Auto)),
            ("1", Some(Threads::Exactly(1))),
            ("64", Some(Threads::Exactly(64))),
            ("0", None),
            ("65", None),
            ("Auto", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), read, "{text:?}");
            let written = read.map(|read| read.to_string());
            assert!(written.is_none_or(|written| written == text));
        }
    }

    #[test]
    fn the_reason_is_told() {
        for (cores, allowed, online, told) in [
            (16, Some(16), Some(16), "16 cores"),
            (16, None, None, "16 cores"),
            (1, Some(1), Some(1), "1 core"),
            (
                4,
                Some(16),
                Some(16),
                "a quota leaves this process 4 of 16 cores",
            ),
            (2, Some(2), Some(16), "this process may use 2 of 16 cores"),
            // Processors that may come are allowed before they are there.
            (16, Some(128), Some(16), "16 cores"),
            (
                1,
                Some(2),
                Some(16),
                "a quota leaves this process 1 of 2 cores",
            ),
        ] {
            assert_eq!(AutoThreads::of(cores, allowed, online).because, told);
        }
        let many = AutoThreads::of(192, Some(192), Some(192));
        assert!(
            many.text().starts_with("64 (192 cores, and"),
            "{}",
            many.text()
        );
        for (list, count) in [
            ("0-3,8\n", Some(5)),
            ("0", Some(1)),
            ("3-1", None),
            ("", None),
        ] {
            assert_eq!(counted(list), count, "{list:?}");
        }
    }
}
