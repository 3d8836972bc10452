//! Flags of rows with several keys.

use clap::Args;
use madrigal_lists::{Key, ListError, Normal, Source};

use crate::failure::Unmatched;
use crate::of_party::OfParty;

/// Further keys of each row.
#[derive(Args, Debug, Default)]
pub struct Several {
    /// A further key of each row, tried where those before are not in the other list: a row matches by the first of its keys that the other list
    /// has in the same place. May be repeated; with --local each party's, as 0=phone and 1=mobile
    #[arg(long, value_name = "[PARTY=]COLUMNS", help_heading = "Lists")]
    pub or: Vec<OfParty<String>>,

    /// Write, as one more column of this name, the column by which each row matches
    #[arg(long, value_name = "NAME", requires = "out", help_heading = "Result")]
    pub by: Option<String>,
}

impl Several {
    /// A party's further keys, each as its columns are named.
    ///
    /// # Errors
    /// [`Unmatched::Flags`]: keys of which it is not clear whose they are.
    fn of(&self, party: usize, here: &[usize]) -> Result<Vec<&str>, Unmatched> {
        let wrong = |problem: &str| Err(Unmatched::Flags(problem.to_owned()));
        if self.or.iter().any(|key| key.party.is_none())
            && self.or.iter().any(|key| key.party.is_some())
        {
            // The order of a party's keys would follow from how these are mixed.
            return wrong(
                "--or is given with a party's number and without: name the party in all of them, as 0=phone, or in none",
            );
        }
        let mut numbers = self.or.iter().filter_map(|key| key.party);
        if let Some(stranger) = numbers.find(|number| !here.contains(number)) {
            return wrong(&format!(
                "--or {stranger}=...: party {stranger} is not one that runs here; leave it out, or correct the number"
            ));
        }
        let own = |key: &&OfParty<String>| key.party.is_none_or(|number| number == party);
        let own = self.or.iter().filter(own);
        Ok(own.map(|key| key.value.as_str()).collect())
    }

    /// Adds a party's further keys to its list, and gives all keys their normal forms: one for all, or one for each in order.
    ///
    /// # Errors
    /// [`Unmatched`]: keys that there are not, too many of them, or another number of forms.
    pub(crate) fn keys(
        &self,
        source: Source,
        normal: &[Normal],
        (party, here): (usize, &[usize]),
    ) -> Result<Source, Unmatched> {
        let more = self.of(party, here)?;
        let keys = 1 + more.len();
        let form = |key: usize| match normal {
            [] => Ok(Normal::default()),
            [one] => Ok(one.clone()),
            all if all.len() == keys => Ok(all[key].clone()),
            all => Err(Unmatched::Flags(format!(
                "--normal is given {} times, and a row has {}: give it once for all, or once for each key, --column's first",
                all.len(),
                match keys {
                    1 => "one key".to_owned(),
                    keys => format!("{keys} keys"),
                }
            ))),
        };
        let mut source = source.normal(&form(0)?);
        for (place, columns) in (1..).zip(more) {
            let normal = form(place)?;
            let key = |column: &str| Key {
                column: column.trim().to_owned(),
                normal: normal.clone(),
            };
            let key = columns.split(',').map(key).collect();
            source = source.or(key).map_err(|error| match error {
                ListError::TooManyKeys => Unmatched::Flags(format!("--or: {error}")),
                other => other.into(),
            })?;
        }
        Ok(source)
    }
}
