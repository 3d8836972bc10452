//! Units of what the papers report, and how numbers of each are written.

use crate::numbers::count;

/// Unit of a number. Numbers are kept in the base unit, the papers' prefixes are taken off when they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Bytes,
    Bits,
    Messages,
    Operations,
    Ots,
    PerSecond,
    /// Half the width of an interval of what is done in a second.
    WithinPerSecond,
    /// Factor between two values.
    Times,
}

impl Unit {
    /// Reads a unit as the data names it, with what one of it is in base units.
    pub fn parse(text: &str) -> Option<(Self, f64)> {
        Some(match text {
            "s" => (Self::Seconds, 1.0),
            "ms" => (Self::Seconds, 1e-3),
            "us" => (Self::Seconds, 1e-6),
            "ns" => (Self::Seconds, 1e-9),
            "MB" => (Self::Bytes, 1e6),
            "bits" => (Self::Bits, 1.0),
            "messages" => (Self::Messages, 1.0),
            "operations" => (Self::Operations, 1.0),
            "OTs" => (Self::Ots, 1.0),
            "/s" => (Self::PerSecond, 1.0),
            "± /s" => (Self::WithinPerSecond, 1.0),
            "times" => (Self::Times, 1.0),
            _ => return None,
        })
    }

    /// Name of the base unit.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::Bits => "bits",
            Self::Messages => "messages",
            Self::Operations => "operations",
            Self::Ots => "OTs",
            Self::PerSecond => "/s",
            Self::WithinPerSecond => "± /s",
            Self::Times => "times",
        }
    }

    /// Says how many times as good a value is as the papers'; nothing where more is neither better nor worse, and where
    /// nothing is divided by nothing.
    pub fn better(self, ours: f64, theirs: f64) -> Option<f64> {
        let times = match self {
            Self::Times | Self::WithinPerSecond => return None,
            Self::PerSecond => ours / theirs,
            _ => theirs / ours,
        };
        times.is_finite().then_some(times)
    }

    /// Writes a value with three digits.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Seconds => time(value),
            Self::Bytes => format!("{:.2} MB", value / 1e6),
            Self::Times => format!("{value:.2} x"),
            Self::PerSecond | Self::WithinPerSecond => {
                format!("{} /s", count(value.round() as u64))
            }
            _ if value < 100.0 && value.fract() != 0.0 => format!("{value:.1}"),
            _ => count(value.round() as u64),
        }
    }
}

/// `3.42 µs`: three digits, whatever the unit.
fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let fits = |(unit, _): &(f64, &str)| seconds.abs() >= *unit;
    let (unit, name) = units.into_iter().find(fits).unwrap_or(units[3]);
    let digits = match seconds / unit {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{:.digits$} {name}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(Unit::Seconds.text(3.417e-6), "3.42 µs");
        assert_eq!(Unit::Seconds.text(0.0999), "99.9 ms");
        assert_eq!(Unit::Seconds.text(1152.0), "1152 s");
        assert_eq!(Unit::Bytes.text(16_390_000.0), "16.39 MB");
        assert_eq!(Unit::PerSecond.text(100_103.4), "100,103 /s");
        assert_eq!(Unit::Bits.text(12.25), "12.2");
        assert_eq!(Unit::Times.text(2.9), "2.90 x");
    }

    #[test]
    fn better_is_less_time_and_more_throughput() {
        assert_eq!(Unit::Seconds.better(1.0, 3.0), Some(3.0));
        assert_eq!(Unit::PerSecond.better(3.0, 1.0), Some(3.0));
        assert_eq!(Unit::Times.better(3.0, 1.0), None);
        assert_eq!(Unit::Bits.better(0.0, 0.0), None);
    }
}
