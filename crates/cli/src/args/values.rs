//! Values of flags that have a form of their own.

use std::path::PathBuf;
use std::str::FromStr;

use madrigal_core::Party;

use crate::exit::Usage;

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

impl Receivers {
    /// Gives the parties that are named, among `parties` parties.
    pub fn parties(&self, parties: usize) -> Result<Vec<Party>, Usage> {
        match self {
            Self::All => Ok(Party::all(parties).collect()),
            Self::These(to) => Usage::checked("--to", to, parties),
        }
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

/// A party's number, in a list of them.
pub(super) fn party(text: &str) -> Result<usize, String> {
    let party = text.trim().parse();
    party.map_err(|_| "expected numbers of parties, for example 0,1,1".to_owned())
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
    fn parties_are_numbers() {
        assert_eq!(party("7"), Ok(7));
        assert!(party("a").unwrap_err().contains("numbers of parties"));
    }
}
