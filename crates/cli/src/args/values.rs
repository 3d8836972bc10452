//! Values of flags that have a form of their own.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use madrigal_engine::MAX_THREADS;
use parse_size::UnitSystem;
use serde::{Deserialize, Serialize};

/// `--input`: a party, if one is named, and a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    pub party: Option<usize>,
    pub path: PathBuf,
}

impl FromStr for InputFile {
    type Err = std::convert::Infallible;

    /// What stands before a `=` is a party only if it is a number: file names may have a `=`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = text.split_once('=').and_then(|(party, path)| {
            let party = party.parse().ok()?;
            Some(Self {
                party: Some(party),
                path: path.into(),
            })
        });
        Ok(named.unwrap_or_else(|| Self {
            party: None,
            path: text.into(),
        }))
    }
}

/// `--to`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receivers {
    All,
    These(Vec<usize>),
}

impl FromStr for Receivers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        let parse = |part: &str| part.trim().parse::<usize>();
        let mut parties = text
            .split(',')
            .map(parse)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| "expected `all` or numbers of parties, for example 0,2".to_owned())?;
        parties.sort_unstable();
        parties.dedup();
        Ok(Self::These(parties))
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    /// `K`, `KiB`, `M`, `MiB` and so on are powers of 1024; `KB`, `MB` and so on are powers of 1000.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let system = if text.trim_end().ends_with(['b', 'B']) {
            UnitSystem::Decimal // which reads KiB as 1024 all the same
        } else {
            UnitSystem::Binary
        };
        match parse_size::Config::new()
            .with_unit_system(system)
            .parse_size(text)
        {
            Ok(bytes) => Ok(Self(bytes)),
            Err(parse_size::Error::PosOverflow) => {
                Err("that is more than any machine has: the most is 15EiB".to_owned())
            }
            Err(_) => Err(
                "expected a size in bytes, KiB, MiB, GiB or TiB, for example 512MiB or 2GiB"
                    .to_owned(),
            ),
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", indicatif::BinaryBytes(self.0))
    }
}

/// 16 bytes as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HexBlock(pub [u8; 16]);

impl FromStr for HexBlock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("expected 32 hexadecimal digits".to_owned());
        }
        u128::from_str_radix(digits, 16)
            .map(|number| Self(number.to_be_bytes()))
            .map_err(|error| error.to_string())
    }
}

/// A number of threads of a party.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    let threads: Option<usize> = text.parse().ok();
    threads
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// A number of lanes.
pub(super) fn lanes() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1 << 30)
}

pub(super) fn parties(text: &str) -> Result<usize, String> {
    let most = madrigal_core::MAX_PARTIES;
    let parties = text.parse().ok().filter(|n| (2..=most).contains(n));
    parties.ok_or_else(|| format!("expected a number of parties, 2 to {most}"))
}

/// An interface, by name or address, and a port.
pub(super) fn listen_address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':');
    let sound = parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if sound {
        return Ok(text.to_owned());
    }
    Err("expected an address and a port, for example 0.0.0.0:7000 or [::]:7000".to_owned())
}

/// A party's number, in a list of them.
pub(super) fn party(text: &str) -> Result<usize, String> {
    let party = text.trim().parse();
    party.map_err(|_| "expected numbers of parties, for example 0,1,1".to_owned())
}

/// A time such as `500ms`, `10s`, `1.5m`, `1h 30m`; a number alone counts seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim().parse().ok();
    let seconds = match seconds {
        Some(seconds) => Some(seconds).filter(|seconds| seconds.is_finite()),
        None => humantime::parse_duration(text)
            .ok()
            .map(|time| time.as_secs_f64()),
    };
    let Some(seconds) = seconds else {
        return Err(
            "expected a time, for example 500ms, 10s, 2m or 1h; a number alone counts seconds"
                .to_owned(),
        );
    };
    if seconds <= 0.0 {
        return Err("expected a time above zero".to_owned());
    }
    // A year is as good as for ever, and no clock overflows.
    if !(1e-3..=31_536_000.0).contains(&seconds) {
        return Err("expected a time from 1ms to 8760h, which is a year".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_an_equals_sign() {
        let of = |text: &str| text.parse::<InputFile>().unwrap();
        assert_eq!(
            of("1=a=b"),
            InputFile {
                party: Some(1),
                path: "a=b".into()
            }
        );
        assert_eq!(
            of("x=b"),
            InputFile {
                party: None,
                path: "x=b".into()
            }
        );
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1.5 min"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for (wrong, why) in [
            ("", "500ms, 10s"),
            ("-1", "above zero"),
            ("0", "above zero"),
            ("inf", "500ms, 10s"),
            ("10 parsecs", "counts seconds"),
            ("-1s", "counts seconds"),
            ("0ms", "above zero"),
            ("10000h", "1ms to 8760h"),
            ("0.1ms", "1ms to 8760h"),
        ] {
            let told = duration(wrong).unwrap_err();
            assert!(told.contains(why), "{wrong}: {told}");
        }
        assert_eq!(duration("8760h"), Ok(Duration::from_secs(31_536_000)));
        for (text, bytes) in [
            ("64", 64),
            ("64b", 64),
            ("512MiB", 512 << 20),
            ("512 mib", 512 << 20),
            ("2G", 2 << 30),
            ("3k", 3 << 10),
            ("3kB", 3_000),
            ("7TB", 7_000_000_000_000),
            ("15EiB", 15 << 60),
            ("1.5GiB", 3 << 29),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for (wrong, why) in [
            ("16EiB", "15EiB"),
            ("99999999999GiB", "more than"),
            ("2 gallons", "TiB"),
            ("-1MiB", "TiB"),
            ("", "TiB"),
        ] {
            let told = wrong.parse::<Size>().unwrap_err();
            assert!(told.contains(why), "{wrong}: {told}");
        }
        assert_eq!(party("7"), Ok(7));
        assert!(party("a").unwrap_err().contains("numbers of parties"));
    }
}
