//! Amounts of memory that flags name.

use std::str::FromStr;

use parse_size::UnitSystem;
use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryArg(pub u64);

impl FromStr for MemoryArg {
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

impl std::fmt::Display for MemoryArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", indicatif::BinaryBytes(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
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
            assert_eq!(text.parse(), Ok(MemoryArg(bytes)), "{text}");
        }
        for (wrong, why) in [
            ("16EiB", "15EiB"),
            ("99999999999GiB", "more than"),
            ("2 gallons", "TiB"),
            ("-1MiB", "TiB"),
            ("", "TiB"),
        ] {
            let told = wrong.parse::<MemoryArg>().unwrap_err();
            assert!(told.contains(why), "{wrong}: {told}");
        }
    }
}
