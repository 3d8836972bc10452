//! One party's part: the question, the list, and all else that a run is told.

use std::path::PathBuf;
use std::time::Duration;

use madrigal_app::over::Over;
use madrigal_app::provenance::now;
use madrigal_core::Party;
use madrigal_lists::{Room, Source};
use madrigal_net::Fact;
use madrigal_noise::Noise;
use madrigal_psi::Security;

use crate::cells::KEYS;
use crate::failure::Unmatched;
use crate::ledger::{Entry, Ledger, LedgerError};
use crate::noisy;
use crate::question::{Question, Told};
use crate::security;
use crate::state::State;

/// Numbers of columns, key by key of a row.
fn columns(source: &Source) -> String {
    let keys = source.all_keys().iter();
    let columns: Vec<String> = keys.map(|key| key.len().to_string()).collect();
    columns.join(" or ")
}

/// Checks that a list whose rows have several keys is asked for rows.
pub(crate) fn check_keys(source: &Source, question: Question) -> Result<(), Unmatched> {
    match (source.all_keys().len(), question) {
        (..=1, _) | (_, Question::Rows | Question::Join) => Ok(()),
        (keys, Question::Numbers { .. } | Question::Shares) => Err(Unmatched::Flags(format!(
            "--size, --sum and --shares count keys, and each row has {keys} of them (--or): ask for rows, or give one key alone"
        ))),
    }
}

/// One party's part.
#[derive(Clone, Debug)]
pub struct Task {
    /// List of this party.
    pub source: Source,
    /// Question, the same at both parties.
    pub question: Question,
    /// Noise with which each party hides its list in a number of keys, the same at both parties.
    pub noise: Option<Noise>,
    /// Those who learn the answer, the same at both parties.
    pub to: Told,
    /// Parties against which the lists are protected, the same at both parties.
    pub security: Security,
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
    /// Threads for steps during which the other party waits.
    pub alone: usize,
    /// Directory in which the run keeps its state, to go on after a lost line: for rows.
    pub state: Option<State>,
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
            fact("--security", security::name(self.security).to_owned()),
            fact("--normal", self.source.normal_text()),
            fact("columns of a key", columns(&self.source)),
            fact(
                "--empty",
                format!("{:?}", self.source.empties()).to_lowercase(),
            ),
        ];
        if let Question::Rows | Question::Join = self.question {
            let partitions = |state: &State| format!("partitions of {} keys", state.keys);
            let state = self
                .state
                .as_ref()
                .map_or("not given".to_owned(), partitions);
            facts.push(fact("--state", state));
        }
        if self.question != Question::Rows {
            facts.push(fact("--places", self.places.to_string()));
        }
        if let Question::Numbers { .. } = self.question {
            facts.push(fact("--noise", noisy::fact(self.noise)));
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

    /// Parts of the question, as a state has them: what both parties compare, and what else the answer depends on.
    pub(crate) fn question(&self, me: Party) -> Vec<(String, String)> {
        let source = &self.source;
        let keys = (0..source.all_keys().len()).map(|key| source.name_of_key(key));
        let payload = source.numbers().map(|payload| {
            let repeated = payload.duplicates;
            format!("{}, --repeated {repeated:?}", payload.column).to_lowercase()
        });
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let mut question = self.facts();
        question.push(fact("party", me.index().to_string()));
        question.push(fact("--column", keys.collect::<Vec<_>>().join(" or ")));
        question.push(fact("--payload", payload.unwrap_or_default()));
        question.push(fact(
            "--bound",
            self.bound.map_or(String::new(), |bound| bound.to_string()),
        ));
        question
    }

    /// Keys of a partition, at most.
    pub(crate) fn keys_of_partition(&self) -> u64 {
        self.state.as_ref().map_or(KEYS, |state| state.keys)
    }

    /// Checks that a party brings what the question needs.
    pub(crate) fn check(&self, me: Party) -> Result<(), Unmatched> {
        security::check(self.question, self.security)?;
        let wrong = |problem: &str| Err(Unmatched::Flags(problem.to_owned()));
        check_keys(&self.source, self.question)?;
        if let (Some(_), Question::Numbers { .. } | Question::Shares) = (&self.state, self.question)
        {
            return wrong(
                "--state: the answer is one piece, of which nothing could be kept; leave it out, or ask for rows",
            );
        }
        let brings = self.source.numbers().is_some();
        noisy::check(self.noise, self.question)?;
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

    /// Counts the query in the list's ledger, unless it has the run of this name.
    pub(crate) fn count(&self, run: Option<&str>) -> Result<(), LedgerError> {
        self.count_for(&self.to.text(), run)
    }

    /// Counts the query in the list's ledger, for receivers as `--to` has them, unless it has the run of this name.
    pub(crate) fn count_for(&self, to: &str, run: Option<&str>) -> Result<(), LedgerError> {
        let Some((ledger, with)) = &self.ledger else {
            return Ok(());
        };
        let entry = Entry {
            when: now(),
            with: with.clone(),
            list: self.source.path().display().to_string(),
            question: format!("{}, for {to}", self.question.name()),
            noise: self.noise,
            is_bounded: self.bound.is_some(),
            run: run.map(str::to_owned),
        };
        ledger.count(&entry).map(drop)
    }
}
