//! The flags of `psi`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::flags::{Net, Who};
use madrigal_app::over::Over;
use madrigal_app::receivers::Receivers;
use madrigal_app::threads::Threads;
use madrigal_lists::{Duplicates, Empty, Normal};

use crate::cells::MOST;
use crate::many::protocol::ProtocolArg;
use crate::noisy::Noisy;
pub use crate::of_party::OfParty;
pub(crate) use crate::of_party::of_party;
use crate::question::Question;
use crate::security::Against;
use crate::several::Several;
use crate::state::StateArgs;

/// Text below the flags.
const BELOW: &str = "\
Two parties have a list each, as .csv with names of columns in the first line, or as .parquet. Each learns how many different keys the other
list has, or the bound that --bound says; whom --to names learns which of its own rows have keys that the other list has, too, or what --join, --size or
--sum ask for in place of that. Nothing else.

Three parties or more learn which of their rows have keys that all lists have; and beside that of each of their own keys which of the others have it, and how many keys,
not which, others have in common without them.

";

fn below() -> String {
    format!("{BELOW}{EXIT_STATUS}")
}

/// Flags of the matching of two lists.
#[derive(Args, Debug)]
#[command(after_help = below())]
pub struct Psi {
    /// Our list; with --local that of each party, as 0=a.csv, 1=b.csv and so on
    #[arg(
        long,
        short = 'i',
        value_name = "[PARTY=]FILE",
        required_unless_present = "explain",
        help_heading = "Lists"
    )]
    pub input: Vec<OfParty<PathBuf>>,

    /// Column of the keys; several with commas between them are one key together. Its name may differ between parties
    #[arg(
        long,
        short = 'c',
        value_name = "[PARTY=]COLUMNS",
        required_unless_present = "explain",
        help_heading = "Lists"
    )]
    pub column: Vec<OfParty<String>>,

    /// Form in which keys are compared: exact, or some of lower (small letters) and trim (no needless white space), or phone:P
    /// (digits alone, with the country's prefix P where a number has none); the same at both parties. With --or once for all keys, or once for each
    #[arg(
        long,
        value_name = "FORM",
        default_value = "exact",
        help_heading = "Lists"
    )]
    pub normal: Vec<Normal>,

    /// Further keys of each row.
    #[command(flatten)]
    pub several: Several,

    /// Column of numbers that go with the keys, for --join, --sum and --shares; with --local of a party, as 1=amount
    #[arg(long, value_name = "[PARTY=]COLUMN", help_heading = "Lists")]
    pub payload: Vec<OfParty<String>>,

    /// Digits after the point of these numbers; the same at both parties
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=18), help_heading = "Lists")]
    pub places: u32,

    /// Payload of a key that several rows have
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "refuse",
        help_heading = "Lists"
    )]
    pub repeated: RepeatedArg,

    /// What becomes of rows without a key
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "skip",
        help_heading = "Lists"
    )]
    pub empty: EmptyArg,

    /// Tell the other party this number in place of the number of different keys, which must not be larger; with --local for each party, as
    /// 0=1000000. The work follows from it
    #[arg(long, value_name = "[PARTY=]KEYS", help_heading = "Lists")]
    pub bound: Vec<OfParty<u64>>,

    /// Give up if the other party's list has more different keys than this, or is said to: work and memory follow from both lists
    #[arg(long, value_name = "KEYS", default_value_t = MOST, value_parser = clap::value_parser!(u64).range(1..=MOST), help_heading = "Lists")]
    pub most: u64,

    /// Count this query in a ledger (TOML), and answer none beyond the limit that the list's owner has set there; with --local for each party,
    /// as 0=a.ledger
    #[arg(long, value_name = "[PARTY=]FILE", help_heading = "Lists")]
    pub ledger: Vec<OfParty<PathBuf>>,

    /// Queries that the list may answer in all, for a ledger that does not exist yet
    #[arg(long, value_name = "N", requires = "ledger", help_heading = "Lists")]
    pub limit: Option<u64>,

    /// Parties that learn which of their rows match, with commas between them, or all; the same at both parties
    #[arg(
        long,
        value_name = "PARTIES|all",
        default_value = "all",
        help_heading = "Result"
    )]
    pub to: Receivers,

    /// Write the rows that match to this file as CSV, as they stand in the list and in its order; with --local for each party, as 0=a-matches.csv
    #[arg(
        long,
        short = 'o',
        value_name = "[PARTY=]FILE",
        help_heading = "Result"
    )]
    pub out: Vec<OfParty<PathBuf>>,

    /// Rows that are written
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "matched",
        requires = "out",
        help_heading = "Result"
    )]
    pub rows: RowsArg,

    /// Learn the other party's --payload of each row that matches, too, as a column of what is written; the same at both parties, and --to names
    /// one of them
    #[arg(long, help_heading = "Result")]
    pub join: bool,

    /// Learn how many keys both lists have, and not which
    #[arg(long, conflicts_with_all = ["join", "shares", "out"], help_heading = "Result")]
    pub size: bool,

    /// Learn the sum of each party's --payload over the keys that both lists have, and not which these are
    #[arg(long, conflicts_with_all = ["join", "shares", "out"], help_heading = "Result")]
    pub sum: bool,

    /// Noise of numbers.
    #[command(flatten)]
    pub noisy: Noisy,

    /// Learn nothing: write what a program on secrets goes on from into this directory, which its owner alone can read; with --local of each
    /// party, as 0=a-shares
    #[arg(long, value_name = "[PARTY=]DIR", conflicts_with_all = ["join", "out"], help_heading = "Result")]
    pub shares: Vec<OfParty<PathBuf>>,

    /// Name of that column
    #[arg(
        long,
        value_name = "NAME",
        default_value = "payload",
        help_heading = "Result"
    )]
    pub name: String,

    /// Parties against which the lists are protected.
    #[command(flatten)]
    pub against: Against,

    /// Read and send nothing: say what it will cost, and who learns what, for lists of --keys
    #[arg(long, requires = "keys", help_heading = "Result")]
    pub explain: bool,

    /// Different keys of each party's list, party 0's first, for --explain; with --or those of all of a row's keys together
    #[arg(
        long,
        value_name = "KEYS,KEYS,...",
        value_delimiter = ',',
        num_args = 1,
        requires = "explain",
        help_heading = "Result"
    )]
    pub keys: Vec<u64>,

    /// Whether --shares is asked for without a directory: callers in this process take what a program goes on from.
    #[arg(skip)]
    pub keep_shares: bool,

    /// Print JSON: numbers of keys and rows, costs
    #[arg(long, help_heading = "Result")]
    pub json: bool,

    /// Print the numbers of keys and rows alone
    #[arg(long, short, help_heading = "Result")]
    pub quiet: bool,

    /// Memory for digests of a list's keys, in megabytes; beyond it they go to a file
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 24), help_heading = "Resources")]
    pub memory: u64,

    /// Directory for that file, which its owner alone can read and which is gone in the end [default: that of temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Resources")]
    pub spill: Option<PathBuf>,

    /// Where a run keeps its state.
    #[command(flatten)]
    pub state: StateArgs,

    /// Threads that each party computes with; auto: as many as there are cores for it here. Parties with different numbers take the least
    #[arg(
        long,
        value_name = "auto|N",
        default_value_t,
        help_heading = "Resources"
    )]
    pub threads: Threads,

    /// Protocol in which three parties or more match their lists, the same at all [default: R for three, B for more]
    #[arg(long, value_name = "R|B", help_heading = "Resources")]
    pub protocol: Option<ProtocolArg>,

    /// Network between the parties.
    #[command(flatten)]
    pub over: Over,

    /// Who takes part.
    #[command(flatten)]
    pub who: Who,

    /// What is between the parties.
    #[command(flatten)]
    pub net: Net,
}

/// Treatment of rows without a key.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyArg {
    /// They match nothing, and their number is told
    Skip,
    /// The list is refused
    Refuse,
    /// They match rows without a key
    Match,
}

impl From<EmptyArg> for Empty {
    fn from(arg: EmptyArg) -> Self {
        match arg {
            EmptyArg::Skip => Self::Skip,
            EmptyArg::Refuse => Self::Refuse,
            EmptyArg::Match => Self::Match,
        }
    }
}

/// Payload of a key that several rows have.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedArg {
    /// The list is refused
    Refuse,
    /// That of the first row
    First,
    /// The sum of all rows
    Sum,
}

impl From<RepeatedArg> for Duplicates {
    fn from(arg: RepeatedArg) -> Self {
        match arg {
            RepeatedArg::Refuse => Self::Refuse,
            RepeatedArg::First => Self::First,
            RepeatedArg::Sum => Self::Sum,
        }
    }
}

/// Rows that are written.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsArg {
    /// Those that match
    Matched,
    /// Those that do not
    Others,
    /// All of them
    All,
}

impl Psi {
    /// The question that the flags ask.
    pub fn question(&self) -> Question {
        let shares = self.keep_shares || !self.shares.is_empty();
        match (self.join, self.size || self.sum, shares) {
            (true, ..) => Question::Join,
            (_, true, _) => Question::Numbers {
                keys: self.size,
                sums: self.sum,
            },
            (.., true) => Question::Shares,
            _ => Question::Rows,
        }
    }
}
