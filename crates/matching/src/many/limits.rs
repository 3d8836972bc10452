//! Bounds of lists of many parties.

use madrigal_core::Party;

/// The most keys of all lists together. At who learns the answer, tags of all take 16 bytes for each: a gigabyte.
pub(super) const MOST: u64 = 1 << 26;

/// Lists that are too long.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TooMany {
    /// One party's list.
    #[error(
        "the list of {party} has {keys} different keys, or is said to, and {most} are accepted (--most): have it match parts of it, or raise that"
    )]
    One {
        /// Owner of the list.
        party: Party,
        /// Different keys, or their bound.
        keys: u64,
        /// The most that are accepted.
        most: u64,
    },
    /// All lists together.
    #[error(
        "all lists together have {keys} different keys, or bounds of as many, and {most} can be matched at a time, as each takes 16 bytes of memory at who learns the \
         answer: match parts of the lists"
    )]
    All {
        /// Different keys of all lists, or their bounds.
        keys: u64,
        /// The most that can be matched.
        most: u64,
    },
}

/// Checks the sizes of all lists, by the parties' order, where those of others than `me` may have `most` keys.
pub(super) fn check(sizes: &[u64], me: Option<Party>, most: u64) -> Result<(), TooMany> {
    for (party, &keys) in sizes.iter().enumerate() {
        let party = Party::new(party);
        if Some(party) != me && keys > most {
            return Err(TooMany::One { party, keys, most });
        }
    }
    let keys = sizes
        .iter()
        .fold(0, |sum: u64, &keys| sum.saturating_add(keys));
    match keys > MOST {
        true => Err(TooMany::All { keys, most: MOST }),
        false => Ok(()),
    }
}
