//! Values of flags that have a form of their own.

use std::path::PathBuf;
use std::str::FromStr;

use madrigal_app::holders::HolderArg;
use madrigal_core::Party;
use madrigal_program::Holder;

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
    These(Vec<HolderArg>),
}

impl FromStr for Receivers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        let mut holders = text
            .split(',')
            .map(str::parse)
            .collect::<Result<Vec<_>, String>>()
            .map_err(|error| format!("{error}; or `all`"))?;
        holders.sort_unstable();
        holders.dedup();
        Ok(Self::These(holders))
    }
}

impl Receivers {
    /// Gives those that are named, among `parties` parties and clients.
    pub fn holders(&self, parties: usize) -> Result<Vec<HolderArg>, Usage> {
        match self {
            Self::All => Ok((0..parties).map(HolderArg::Party).collect()),
            Self::These(to) => {
                Self::checked("--to", to, parties)?;
                Ok(to.clone())
            }
        }
    }

    /// Gives the parties that are named, among `parties` parties, where clients get nothing.
    pub fn parties(&self, parties: usize) -> Result<Vec<Party>, Usage> {
        let holders = self.holders(parties)?;
        let client = holders.iter().find_map(HolderArg::client);
        if let Some(client) = client {
            let client = client.to_owned();
            return Err(Usage::NoClients { client });
        }
        let parties = holders.iter().filter_map(HolderArg::party);
        Ok(parties.map(Party::new).collect())
    }

    /// Whether a party is named.
    pub fn names(&self, party: usize) -> bool {
        match self {
            Self::All => true,
            Self::These(to) => to.contains(&HolderArg::Party(party)),
        }
    }

    /// Checks that the parties that a flag names are there.
    pub fn checked(
        flag: &'static str,
        named: &[HolderArg],
        parties: usize,
    ) -> Result<Vec<Holder>, Usage> {
        let holder = |named: &HolderArg| named.holder(parties);
        let all: Result<_, _> = named.iter().map(holder).collect();
        all.map_err(|source| Usage::Party { flag, source })
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

/// A client's name.
pub(super) fn client(text: &str) -> Result<String, String> {
    match text.parse()? {
        HolderArg::Client(name) => Ok(name),
        HolderArg::Party(_) => Err("expected the name of a client, which is no number".to_owned()),
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
