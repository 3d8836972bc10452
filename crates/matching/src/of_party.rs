//! Values of flags that are all parties' or one's.

use std::str::FromStr;

/// A value of all parties, or after its number and `=` of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfParty<T> {
    /// Party that it is of.
    pub party: Option<usize>,
    /// The value.
    pub value: T,
}

impl<T: FromStr<Err: std::fmt::Display>> FromStr for OfParty<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbered = text.split_once('=').and_then(|(party, value)| {
            let party: usize = party.parse().ok()?;
            Some((party, value))
        });
        let (party, value) = match numbered {
            Some((party, value)) => (Some(party), value),
            None => (None, text),
        };
        let value = value.parse().map_err(|error: T::Err| error.to_string())?;
        Ok(Self { party, value })
    }
}

/// The value of a party, among those that a flag was given.
///
/// # Errors
/// A text that says which values are too many, or of a party that is not here.
pub(crate) fn of_party<T: Clone>(
    flag: &str,
    values: &[OfParty<T>],
    party: usize,
    here: &[usize],
) -> Result<Option<T>, String> {
    let stranger = values
        .iter()
        .find_map(|one| one.party.filter(|party| !here.contains(party)));
    if let Some(stranger) = stranger {
        return Err(format!(
            "{flag} {stranger}=...: party {stranger} is not one that runs here; leave it out, or correct the number"
        ));
    }
    let own = |one: &&OfParty<T>| one.party == Some(party);
    let all = |one: &&OfParty<T>| one.party.is_none();
    let mut values = match values.iter().any(|one| own(&one)) {
        true => values.iter().filter(own).collect::<Vec<_>>(),
        false => values.iter().filter(all).collect(),
    };
    match (values.pop(), values.is_empty()) {
        (value, true) => Ok(value.map(|one| one.value.clone())),
        _ => Err(format!(
            "{flag} was given several times for party {party}: give it once"
        )),
    }
}
