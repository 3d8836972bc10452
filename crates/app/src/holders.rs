//! Those who bring values and get them, as flags name them.

use std::fmt;
use std::str::FromStr;

use madrigal_core::{Party, PartyError};
use madrigal_net::roster::is_name;
use madrigal_program::{Client, Holder};
use serde::{Deserialize, Serialize};

/// A party by its number, or a client, which computes nothing, by its name. JSON has the number or the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HolderArg {
    /// Number of a party.
    Party(usize),
    /// Name of a client.
    Client(String),
}

impl HolderArg {
    /// The party's number, if it is one.
    pub fn party(&self) -> Option<usize> {
        match self {
            Self::Party(party) => Some(*party),
            Self::Client(_) => None,
        }
    }

    /// The client's name, if it is one.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Client(name) => Some(name),
            Self::Party(_) => None,
        }
    }

    /// The party or client, among `parties` parties.
    ///
    /// # Errors
    /// [`PartyError`]: a party that is not there.
    pub fn holder(&self, parties: usize) -> Result<Holder, PartyError> {
        Ok(match self {
            Self::Party(party) => Party::checked(*party, parties)?.into(),
            Self::Client(name) => Client::new(name).into(),
        })
    }

    /// Numbers and names with commas between them.
    pub fn list(holders: &[Self]) -> String {
        let names: Vec<String> = holders.iter().map(ToString::to_string).collect();
        names.join(",")
    }
}

impl From<&Holder> for HolderArg {
    fn from(holder: &Holder) -> Self {
        match holder {
            Holder::Party(party) => Self::Party(party.index()),
            Holder::Client(client) => Self::Client(client.name().to_owned()),
        }
    }
}

impl fmt::Display for HolderArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Party(party) => party.fmt(f),
            Self::Client(name) => f.write_str(name),
        }
    }
}

impl FromStr for HolderArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        match text.parse() {
            Ok(party) => Ok(Self::Party(party)),
            Err(_) if is_name(text) => Ok(Self::Client(text.to_owned())),
            Err(_) => Err("expected numbers of parties, or clients' names of letters, digits, `-`, `_` and `.`, for example 0,1 or 0,alice".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parties_and_names_are_clients() {
        let of = |text: &str| text.parse::<HolderArg>();
        assert_eq!(of(" 7"), Ok(HolderArg::Party(7)));
        assert_eq!(of("alice"), Ok(HolderArg::Client("alice".to_owned())));
        for text in ["", "-1/2", "al ice", "="] {
            assert!(
                of(text).unwrap_err().contains("numbers of parties"),
                "{text}"
            );
        }
        let both = [HolderArg::Party(0), HolderArg::Client("bob".to_owned())];
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(json, "[0,\"bob\"]");
        assert_eq!(serde_json::from_str::<Vec<HolderArg>>(&json).unwrap(), both);
        assert_eq!(HolderArg::list(&both), "0,bob");
    }
}
