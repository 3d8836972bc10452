//! Receivers of results, as flags name them.

use std::str::FromStr;

use madrigal_core::Party;
use madrigal_program::Holder;

use crate::failure::Usage;
use crate::holders::HolderArg;

/// Those who get results, as `--to` names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receivers {
    /// All parties.
    All,
    /// Parties and clients, in order.
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
    ///
    /// # Errors
    /// [`Usage::Party`]: a party that is not there.
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
    ///
    /// # Errors
    /// [`Usage`]: a party that is not there, or a client.
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
    ///
    /// # Errors
    /// [`Usage::Party`]: a party that is not there.
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

/// Reads a client's name.
///
/// # Errors
/// Text that is none, or a party's number.
pub fn client(text: &str) -> Result<String, String> {
    match text.parse()? {
        HolderArg::Client(name) => Ok(name),
        HolderArg::Party(_) => Err("expected the name of a client, which is no number".to_owned()),
    }
}
