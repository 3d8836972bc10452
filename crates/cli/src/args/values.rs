//! Values of flags that have a form of their own.

use std::path::PathBuf;
use std::str::FromStr;

/// `--input`: a party, if one is named, and a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    pub party: Option<usize>,
    pub path: PathBuf,
}

impl FromStr for InputFile {
    type Err = std::convert::Infallible;

    /// Text before a `=` is a party only if it is a number: file names may have a `=`.
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

/// A number of lanes.
pub(super) fn lanes() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1 << 30)
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
}
