//! Profiles of networks: latency and bandwidth, by name or by value.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The properties of one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Time from one end to the other, one way. Half of the round-trip time that papers state.
    pub latency: Duration,
    /// Bits that the link carries in a second; `None`: as many as come.
    pub bits_per_second: Option<u64>,
    /// Most that is added to the latency of each packet by chance, so that packets overtake
    /// each other.
    pub jitter: Duration,
}

/// A named setting: names, round trip in microseconds, bandwidth in Mbit/s, source.
type Preset = (&'static [&'static str], u64, u64, &'static str);

/// The settings in which the papers measured.
const PRESETS: &[Preset] = &[
    (
        &["lan", "motion-lan"],
        250,
        10_000,
        "MOTION, section 8: own servers",
    ),
    (
        &["wan", "motion-wan"],
        100_000,
        1_000,
        "MOTION, section 8: own servers, limited by tc",
    ),
    (
        &["motion-aws"],
        79,
        4_800,
        "MOTION, section 8: AWS, the slower ends of what was measured",
    ),
    (
        &["motif-lan", "masked-triples-lan"],
        2_000,
        1_000,
        "MOTIF and Masked Triples, evaluation: LAN",
    ),
    (
        &["motif-shared-lan", "masked-triples-shared-lan"],
        2_000,
        50,
        "MOTIF and Masked Triples, evaluation: shared LAN",
    ),
    (
        &["motif-wan", "masked-triples-wan"],
        20_000,
        100,
        "MOTIF and Masked Triples, evaluation: WAN",
    ),
    (
        &["three-party-lan"],
        130,
        10_000,
        "High-throughput three-party computation, section 5.2",
    ),
];

impl Profile {
    /// The LAN of MOTION, section 8: 10 Gbit/s, 0.25 ms round trip.
    pub const fn lan() -> Self {
        Self::from_round_trip(Duration::from_micros(250), 10_000_000_000)
    }

    /// The WAN of MOTION, section 8: 1 Gbit/s, 100 ms round trip.
    pub const fn wan() -> Self {
        Self::from_round_trip(Duration::from_millis(100), 1_000_000_000)
    }

    /// A link as papers describe it.
    pub const fn from_round_trip(round_trip: Duration, bits_per_second: u64) -> Self {
        Self {
            latency: Duration::from_nanos(round_trip.as_nanos() as u64 / 2),
            bits_per_second: Some(bits_per_second),
            jitter: Duration::ZERO,
        }
    }

    /// Makes the same network with packets that overtake each other by up to `jitter`.
    #[must_use]
    pub const fn with_jitter(self, jitter: Duration) -> Self {
        Self { jitter, ..self }
    }

    /// Reads a setting's name (`lan`, `wan`, `motif-wan`, ...), or values: round-trip time,
    /// bandwidth and jitter, each optional, as in `20ms,100Mbps` or `0.5ms,1Gbps,jitter=1ms`.
    ///
    /// # Errors
    /// [`ProfileError`], which lists what there is.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let text = text.trim();
        for (names, micros, megabits, _) in PRESETS {
            if names.iter().any(|name| name.eq_ignore_ascii_case(text)) {
                let round_trip = Duration::from_micros(*micros);
                return Ok(Self::from_round_trip(round_trip, megabits * 1_000_000));
            }
        }
        let mut profile = Self::default();
        let (mut has_latency, mut has_bandwidth, mut has_jitter) = (false, false, false);
        for part in text.split(',').map(str::trim) {
            let bad = || ProfileError { part: part.into() };
            let repeated = if let Some(jitter) = part.strip_prefix("jitter=") {
                profile.jitter = duration(jitter).ok_or_else(bad)?;
                std::mem::replace(&mut has_jitter, true)
            } else if let Some(bits) = bandwidth(part) {
                profile.bits_per_second = Some(bits);
                std::mem::replace(&mut has_bandwidth, true)
            } else {
                profile.latency = duration(part).ok_or_else(bad)? / 2;
                std::mem::replace(&mut has_latency, true)
            };
            if repeated {
                return Err(bad());
            }
        }
        Ok(profile)
    }

    /// The names that [`parse`](Profile::parse) knows, each with its source.
    pub fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
        PRESETS
            .iter()
            .flat_map(|(names, _, _, source)| names.iter().map(|name| (*name, *source)))
    }

    /// Time for which a link of this kind is busy with `bytes` bytes.
    pub fn busy(&self, bytes: usize) -> Duration {
        match self.bits_per_second {
            Some(bits) => {
                let nanos = bytes as u128 * 8 * 1_000_000_000 / u128::from(bits.max(1));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
            None => Duration::ZERO,
        }
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::parse(text)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} round trip, ", self.latency * 2)?;
        match self.bits_per_second {
            Some(bits) if bits % 1_000_000_000 == 0 => write!(f, "{} Gbit/s", bits / 1_000_000_000),
            Some(bits) if bits % 1_000_000 == 0 => write!(f, "{} Mbit/s", bits / 1_000_000),
            Some(bits) => write!(f, "{bits} bit/s"),
            None => write!(f, "unlimited bandwidth"),
        }?;
        if self.jitter.is_zero() {
            return Ok(());
        }
        write!(f, ", up to {:?} jitter", self.jitter)
    }
}

/// A text that describes no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no network: give a name ({}), or round-trip time and bandwidth as in `20ms,100Mbps`, with `jitter=1ms` if packets shall overtake each other",
    names()
)]
pub struct ProfileError {
    part: String,
}

fn names() -> String {
    Profile::presets()
        .map(|(name, _)| name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A decimal number of at most `most` and its unit.
fn quantity(text: &str, most: f64) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let value: f64 = text[..end].parse().ok()?;
    (value <= most).then(|| (value, text[end..].trim()))
}

fn duration(text: &str) -> Option<Duration> {
    let (value, unit) = quantity(text, 1e6)?;
    let seconds = match unit {
        "us" | "µs" => value / 1e6,
        "ms" => value / 1e3,
        "s" => value,
        _ => return None,
    };
    // An hour of latency is a mistake, and sums of times must not overflow.
    (seconds <= 3600.0).then(|| Duration::from_secs_f64(seconds))
}

fn bandwidth(text: &str) -> Option<u64> {
    let (value, unit) = quantity(text, 1e6)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "kbps" | "kbit/s" => 1e3,
        "mbps" | "mbit/s" => 1e6,
        "gbps" | "gbit/s" => 1e9,
        _ => return None,
    };
    let bits = (value * scale) as u64;
    (bits > 0).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read() {
        assert_eq!(Profile::parse("lan"), Ok(Profile::lan()));
        assert_eq!(Profile::parse("motion-WAN"), Ok(Profile::wan()));
        assert_eq!(
            Profile::parse("masked-triples-wan"),
            Profile::parse("20ms,100Mbps")
        );
        let mixed = Profile::parse(" 0.5ms , 2.5 Gbps, jitter=1ms").unwrap();
        assert_eq!(mixed.latency, Duration::from_micros(250));
        assert_eq!(mixed.bits_per_second, Some(2_500_000_000));
        assert_eq!(mixed.jitter, Duration::from_millis(1));
        assert_eq!(Profile::parse("5s").unwrap().bits_per_second, None);
        for (name, _) in Profile::presets() {
            assert!(Profile::parse(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_is_no_network_is_explained() {
        for text in [
            "",
            "wann",
            "20",
            "20ms,20ms",
            "1ms,0Mbps",
            "-3ms",
            "1e9s",
            "99999s",
            "3ms,",
            "NaNms",
            "jitter=x",
            "..ms",
            "10 parsec",
        ] {
            let error = Profile::parse(text).expect_err(text).to_string();
            assert!(error.contains("motif-shared-lan"), "{error}");
        }
    }

    #[test]
    fn it_is_shown_in_the_units_of_papers() {
        assert_eq!(Profile::wan().to_string(), "100ms round trip, 1 Gbit/s");
        let jittery = Profile::parse("20ms,100Mbps,jitter=3ms").unwrap();
        assert_eq!(
            jittery.to_string(),
            "20ms round trip, 100 Mbit/s, up to 3ms jitter"
        );
    }
}
