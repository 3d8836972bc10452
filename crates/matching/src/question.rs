//! Questions to lists, and those who learn the answers.

use madrigal_core::Party;
use madrigal_psi::Security;

/// Questions to two lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Rows with keys that the other list has, too.
    Rows,
    /// Rows with keys that the other list has, too, and the other list's payload of each: for one party.
    Join,
    /// Numbers alone.
    Numbers {
        /// Number of keys that both lists have.
        keys: bool,
        /// The sum of the payloads of these keys, of each list that has payloads.
        sums: bool,
    },
    /// Nothing is told: both parties get what a program on secrets goes on from.
    Shares,
}

impl Question {
    /// Name of the question.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Join => "join",
            Self::Numbers { keys, sums } => match (keys, sums) {
                (true, false) => "size",
                (false, true) => "sum",
                _ => "size and sum",
            },
            Self::Shares => "shares",
        }
    }
}

/// Those who learn the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// Both parties.
    Both,
    /// One party.
    One(Party),
}

impl Told {
    /// Whether a party learns the answer.
    pub fn names(self, party: Party) -> bool {
        match self {
            Self::Both => true,
            Self::One(one) => one == party,
        }
    }

    /// The receiver of the protocol: who learns the answer, or of both the one with the shorter list. Where parties may be malicious it is party 0 of both: the receiver has its
    /// answer first, and a party that says what size its list has must not choose who that is.
    pub(crate) fn receiver(self, sizes: [u64; 2], security: Security) -> Party {
        match (self, security) {
            (Self::One(one), _) => one,
            (Self::Both, Security::Malicious) => Party::new(0),
            (Self::Both, Security::SemiHonest) => Party::new(usize::from(sizes[1] < sizes[0])),
        }
    }

    /// The receiver where lists are put into bins, which are compared: fewer are better.
    pub(crate) fn of_bins(self, sizes: [u64; 2]) -> Party {
        match self {
            _ if sizes[0] != sizes[1] => Self::Both.receiver(sizes, Security::SemiHonest),
            to => to.receiver(sizes, Security::SemiHonest),
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Both => "all".to_owned(),
            Self::One(one) => one.index().to_string(),
        }
    }
}
