//! Who ran what, when, where and how: what makes a figure one that can be found again.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use madrigal_kernels::Kernels;
use serde::Serialize;

use crate::machine::processor;
use crate::threads::cores;

/// Origin of a report.
#[derive(Debug, Clone, Serialize)]
pub struct Provenance {
    /// Commit that this program was built of, where it was built for release from a repository: what was checked out, without
    /// changes that were not committed.
    pub commit: Option<&'static str>,
    /// User whose process it was, where the system tells it.
    pub user: Option<String>,
    /// Name of the machine, where the system tells it.
    pub host: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// Name of the processor, where the system tells it.
    pub processor: Option<String>,
    /// Cores that the process may use.
    pub cores: usize,
    /// Instruction level that the kernels use.
    pub level: &'static str,
    /// When the report was written, in UTC, as in `2026-01-31T23:59:59Z`.
    pub written: String,
    /// Command line, without the values of inputs and keys.
    pub command: Vec<String>,
}

/// Flags whose values are secrets, or may be.
const HIDDEN: [&str; 4] = ["--input", "-i", "--key", "--iv"];

impl Provenance {
    /// Tells it of this process, now.
    pub fn of_process() -> Self {
        Self {
            commit: option_env!("MADRIGAL_COMMIT").filter(|commit| !commit.is_empty()),
            user: env::var("USER").or_else(|_| env::var("USERNAME")).ok(),
            host: host(),
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            processor: processor(),
            cores: cores(),
            level: Kernels::detect().level().name(),
            written: now(),
            command: shown(env::args_os()),
        }
    }
}

fn host() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| env::var("COMPUTERNAME").ok())?;
    Some(name.trim().to_owned())
}

/// Arguments as they may be told. Of an input its name or its party is left, and a file where the flag says that it is one.
fn shown(arguments: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut hides = false;
    let one = |argument: OsString| {
        let text = argument.to_string_lossy().into_owned();
        if std::mem::take(&mut hides) {
            return hidden(&text);
        }
        if HIDDEN.contains(&&*text) {
            hides = true;
            return text;
        }
        if let Some(value) = text.strip_prefix("-i").filter(|value| !value.is_empty()) {
            return format!("-i{}", hidden(value));
        }
        match text.split_once('=') {
            Some((flag, value)) if HIDDEN.contains(&flag) => format!("{flag}={}", hidden(value)),
            _ => text,
        }
    };
    arguments.map(one).collect()
}

/// The value of a flag that may be a secret: `P=FILE` and `NAME=@FILE` name files, and all else is left out.
fn hidden(value: &str) -> String {
    match value.split_once('=') {
        Some((party, _)) if party.bytes().all(|byte| byte.is_ascii_digit()) => value.to_owned(),
        Some((_, file)) if file.starts_with('@') => value.to_owned(),
        Some((name, _)) => format!("{name}=..."),
        None => "...".to_owned(),
    }
}

/// The time in UTC, as in `2026-01-31T23:59:59Z`.
pub fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    utc(now.map_or(0, |since| since.as_secs()))
}

/// A time in seconds since 1970, in UTC, by the rules of the Gregorian calendar.
fn utc(seconds: u64) -> String {
    let (mut days, within) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (within / 3600, within / 60 % 60, within % 60);
    format!(
        "{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        days + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, told) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_740_787_200, "2025-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), told);
        }
    }

    #[test]
    fn values_are_left_out_of_the_command() {
        let words = "madrigal run --input 0=a.txt --input INPUT_A=42 --input=INPUT_B=7 -i x=@y.txt \
            -iy=3 --input secret --key 00ff --lanes 3";
        let told = shown(words.split_whitespace().map(OsString::from)).join(" ");
        assert_eq!(
            told,
            "madrigal run --input 0=a.txt --input INPUT_A=... --input=INPUT_B=... -i x=@y.txt \
             -iy=... --input ... --key ... --lanes 3"
        );
    }
}
