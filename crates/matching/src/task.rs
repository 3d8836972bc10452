//! One party's part: the question, the list, and all else that a run is told.

use std::path::PathBuf;
use std::time::Duration;

use madrigal_app::over::Over;
use madrigal_app::provenance::now;
use madrigal_core::Party;
use madrigal_lists::{Room, Source};
use madrigal_net::Fact;

use crate::failure::Unmatched;
use crate::ledger::{Entry, Ledger, LedgerError};

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

    /// The receiver of the protocol: who learns the answer, or of both the one with the shorter list.
    pub(crate) fn receiver(self, sizes: [u64; 2]) -> Party {
        match self {
            Self::One(one) => one,
            Self::Both => Party::new(usize::from(sizes[1] < sizes[0])),
        }
    }

    /// The receiver where lists are put into bins, which are compared: fewer are better.
    pub(crate) fn of_bins(self, sizes: [u64; 2]) -> Party {
        match self {
            _ if sizes[0] != sizes[1] => Self::Both.receiver(sizes),
            to => to.receiver(sizes),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Both => "all".to_owned(),
            Self::One(one) => one.index().to_string(),
        }
    }
}

/// One party's part.
#[derive(Clone, Debug)]
pub struct Task {
    /// List of this party.
    pub source: Source,
    /// Question, the same at both parties.
    pub question: Question,
    /// Those who learn the answer, the same at both parties.
    pub to: Told,
    /// Digits after the point of payloads, the same at both parties.
    pub places: u32,
    /// Number that the other party is told in place of the number of different keys; not less than that.
    pub bound: Option<u64>,
    /// Bytes of memory for the list's digests, beyond which they go to a file.
    pub memory: u64,
    /// Directory for that file.
    pub folder: PathBuf,
    /// Network between the parties, by which the plan of a program is made, the same at both parties.
    pub over: Over,
    /// The most keys that the other party's list may have.
    pub most: u64,
    /// Ledger in which the list's owner counts queries, and names of the other parties there.
    pub ledger: Option<(Ledger, String)>,
    /// Time after which the job is given up.
    pub deadline: Option<Duration>,
}

impl Task {
    /// Facts that both parties compare.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let question = self.question.name();
        let mut facts = vec![
            fact("what is asked of the lists", question.to_owned()),
            fact("--to", self.to.text()),
            fact("--normal", self.source.normal_text()),
            fact("columns of a key", self.source.keys().len().to_string()),
            fact(
                "--empty",
                format!("{:?}", self.source.empties()).to_lowercase(),
            ),
        ];
        if self.question != Question::Rows {
            facts.push(fact("--places", self.places.to_string()));
        }
        if let Question::Numbers { .. } = self.question {
            // The program is planned later: nothing must be told before parties that differ here.
            facts.push(fact(
                "the line of --link or --network",
                format!("{:?}", self.over.line()),
            ));
            let extension = self.over.choose(1, 1 << 26).extension;
            facts.push(fact("--extension", extension.to_string()));
        }
        facts
    }

    /// Checks that a party brings what the question needs.
    pub(crate) fn check(&self, me: Party) -> Result<(), Unmatched> {
        let wrong = |problem: &str| Err(Unmatched::Flags(problem.to_owned()));
        let brings = self.source.numbers().is_some();
        match self.question {
            Question::Rows if brings => {
                wrong("--payload: the question does not need it; leave it out, or ask with --join")
            }
            Question::Rows => Ok(()),
            Question::Join if self.to == Told::Both => wrong(
                "--join: one party learns payloads, and the other one has them; name that party with --to",
            ),
            Question::Join if self.to.names(me) == brings => wrong(
                "--join: the party that --to names has no --payload, and the other one has: correct either",
            ),
            Question::Join => Ok(()),
            Question::Numbers { sums: false, .. } if brings => wrong(
                "--payload: the number of keys does not need it; leave it out, or ask for --sum",
            ),
            Question::Numbers { .. } | Question::Shares => Ok(()),
        }
    }

    pub(crate) fn room(&self) -> Room {
        Room {
            memory: self.memory,
            folder: self.folder.clone(),
        }
    }

    /// Counts the query in the list's ledger.
    pub(crate) fn count(&self) -> Result<(), LedgerError> {
        self.count_for(&self.to.text())
    }

    /// Counts the query in the list's ledger, for receivers as `--to` has them.
    pub(crate) fn count_for(&self, to: &str) -> Result<(), LedgerError> {
        let Some((ledger, with)) = &self.ledger else {
            return Ok(());
        };
        let entry = Entry {
            when: now(),
            with: with.clone(),
            list: self.source.path().display().to_string(),
            question: format!("{}, for {to}", self.question.name()),
        };
        ledger.count(&entry).map(drop)
    }
}
