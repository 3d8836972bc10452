//! Parties: who takes part.

use std::fmt;

/// The most parties one session may have: frames and rosters are checked against it, so that a
/// number that comes from outside never sizes anything.
pub const MAX_PARTIES: usize = 64;

/// One party of a session, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Party(u16);

impl Party {
    /// Party number `index`.
    ///
    /// # Panics
    /// If `index` is not below [`MAX_PARTIES`]; numbers from outside go through [`Party::checked`].
    pub const fn new(index: usize) -> Self {
        assert!(index < MAX_PARTIES, "a party's number is below 64");
        Self(index as u16)
    }

    /// Party number `index` of `parties`, or an error that names both.
    pub fn checked(index: usize, parties: usize) -> Result<Self, PartyError> {
        if parties > MAX_PARTIES || index >= parties {
            return Err(PartyError { index, parties });
        }
        Ok(Self(index as u16))
    }

    /// The party's number, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// All parties of a session of `parties`, in order.
    pub fn all(parties: usize) -> impl DoubleEndedIterator<Item = Party> + Clone {
        (0..parties).map(Party::new)
    }

    /// Everybody but this party, in order.
    pub fn others(self, parties: usize) -> impl DoubleEndedIterator<Item = Party> + Clone {
        Party::all(parties).filter(move |&party| party != self)
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "party {}", self.0)
    }
}

/// A party number that the session does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no party {index}: a session of {parties} has the parties 0 to {}", .parties.saturating_sub(1))]
pub struct PartyError {
    /// The number that was given.
    pub index: usize,
    /// Number of parties.
    pub parties: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_leaves_out_exactly_oneself() {
        let others: Vec<_> = Party::new(1).others(3).map(Party::index).collect();
        assert_eq!(others, [0, 2]);
    }

    #[test]
    fn a_number_from_outside_is_checked() {
        assert!(Party::checked(2, 3).is_ok());
        let error = Party::checked(3, 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no party 3: a session of 3 has the parties 0 to 2"
        );
        assert!(Party::checked(0, MAX_PARTIES + 1).is_err());
    }
}
