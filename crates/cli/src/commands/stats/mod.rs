//! `stats`: statistics of tables that several parties hold.

mod consent;
mod question;

use std::io::Write as _;
use std::path::PathBuf;

use madrigal_app::agreed::{AgreedRun, Agreeing};
use madrigal_app::explain::origin;
use madrigal_app::failure::Fault;
use madrigal_app::present::Present;
use madrigal_app::provenance::Provenance;
use madrigal_app::read::read_file;
use madrigal_app::runs::{PartyStatistics, costs};
use madrigal_core::{Party, Zeroizing};
use madrigal_net::Fact;
use madrigal_program::{Computation, Inputs, ProgramError};
use madrigal_stats::{
    AgreeError, Agreed, Answering, Answers, Card, Holding, HoldingError, MOST_BYTES, OneAnswer,
    Question, inputs, learned,
};
use serde::Serialize;

use crate::args::{Stats, TransportArg};
use crate::exit::{Failure, Result, Status};
use crate::figures::{json_text, print};
use crate::numbers::counted;

/// Tables that cannot be computed with, or not together.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{}: {problem}{}", path.display(), remedy(problem))]
    Table {
        path: PathBuf,
        problem: Box<HoldingError>,
    },
    #[error("{0}{hint}", hint = agree_remedy(.0))]
    Apart(AgreeError),
    #[error(
        "the tables are too large for one program: {0}; ask for less at once, or of fewer rows"
    )]
    Large(ProgramError),
    #[error("{found} for {parties} parties: give one for each of the first parties, in order")]
    Many { found: String, parties: usize },
    #[error("a party has one table, and {0} are given; leave the others out")]
    Several(usize),
}

/// The flag that mends what is wrong with a table.
fn remedy(problem: &HoldingError) -> &'static str {
    use madrigal_stats::table::TableError;
    match problem {
        HoldingError::Table(TableError::Ragged { .. }) => " (--delimiter)",
        HoldingError::Places { .. } => " (--decimals)",
        HoldingError::Range { .. } => " (--range)",
        HoldingError::Group { .. } => " (--groups, --other)",
        HoldingError::Pad { .. } => " (--pad)",
        HoldingError::Missing { .. } => " (for parties that hold columns: --held columns)",
        _ => "",
    }
}

fn agree_remedy(problem: &AgreeError) -> &'static str {
    match problem {
        AgreeError::Two { .. } | AgreeError::Rows { .. } => " (--held rows)",
        _ => "",
    }
}

impl Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::Table { problem, .. } => match **problem {
                HoldingError::Question(_) => Status::Usage,
                _ => Status::File,
            },
            Self::Apart(AgreeError::Card { .. }) => Status::Peer,
            Self::Apart(AgreeError::Question(_) | AgreeError::NoTable) => Status::Usage,
            Self::Apart(_) => Status::File,
            Self::Large(_) | Self::Many { .. } | Self::Several(_) => Status::Usage,
        }
    }
}

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Answers, in the order of the question, and within each statistic in that of the groups.
    answers: Vec<OneAnswer>,
    /// Fewest values of a group or bin that is told of.
    least: u32,
    /// Sharings that are mixed, as in A+B.
    mix: String,
    /// Parties that may be corrupted together without learning more.
    withstands: usize,
    /// Origin of the correlations, or `none`.
    correlations: String,
    /// Threads for which the work was planned: the least number of all parties.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: String,
    /// Parties of this process.
    parties: Vec<PartyStatistics>,
}

/// A question with the tables of the parties here.
struct Asking<'a> {
    question: &'a Question,
    tables: Vec<(Party, PathBuf, Holding)>,
}

pub fn run(mut args: Stats) -> Result<()> {
    if args.show_values {
        madrigal_core::text::show_own_data();
    }
    args.run.settle();
    let question = question::of(&args)?;
    args.run.who.check()?;
    let present = Present::new(&args.run.who, &args.run.net)?;
    let (parties, here) = (present.parties(), present.here());
    let asking = Asking {
        question: &question,
        tables: tables(&args, &question, parties, &here)?,
    };
    let quiet = args.quiet || args.explain;
    if args.explain {
        let told = args.run.explain(&asking, "stats", parties, args.json)?;
        return print(told.as_bytes());
    }
    let told = learned(&question, parties);
    let asks = present.me().is_some() && !args.yes;
    if asks || !quiet {
        let _ = write!(crate::terminal::stderr(), "{told}");
    }
    if asks {
        consent::ask()?;
    }
    let transport = present.transport();
    let quiet_work = args.quiet || present.me().is_none();
    let ended = args.run.run(&asking, present, MOST_BYTES, quiet_work)?;
    tell(&args, &question, parties, transport, ended)
}

/// Reads the tables of the parties here.
fn tables(
    args: &Stats,
    question: &Question,
    parties: usize,
    here: &[Party],
) -> Result<Vec<(Party, PathBuf, Holding)>> {
    let given = args.tables.len();
    if given > here.len() {
        return Err(match here {
            [_] => Unfit::Several(given).into(),
            _ => {
                let found = counted(given as u64, "table");
                Unfit::Many { found, parties }.into()
            }
        });
    }
    let read = |(place, &party): (usize, &Party)| {
        let Some(path) = args.tables.get(place) else {
            return Ok((party, PathBuf::new(), Holding::nothing(question)));
        };
        let bytes = Zeroizing::new(read_file("read the table", path)?);
        let held = Holding::read(question, parties, &bytes, args.delimiter);
        let held = held.map_err(|problem| unfit(path, problem))?;
        Ok((party, path.clone(), held))
    };
    here.iter().enumerate().map(read).collect()
}

fn unfit(path: &std::path::Path, problem: HoldingError) -> Failure {
    let (path, problem) = (path.to_owned(), Box::new(problem));
    Unfit::Table { path, problem }.into()
}

impl Asking<'_> {
    fn table(&self, party: Party) -> Result<&(Party, PathBuf, Holding)> {
        let found = self.tables.iter().find(|(of, ..)| *of == party);
        found.ok_or_else(|| Failure::bug("a party without its part"))
    }
}

impl Agreeing for Asking<'_> {
    type Facts = (Agreed, Answering);

    fn asked(&self) -> Vec<Fact> {
        question::facts(self.question)
    }

    fn card(&self, me: Party) -> Vec<u8> {
        let table = self.table(me);
        table.map_or_else(
            |_| Vec::new(),
            |(.., held)| Card::new(self.question, held).bytes(),
        )
    }

    fn program(&self, cards: &[Vec<u8>]) -> Result<(Computation, Self::Facts)> {
        let agreed = Agreed::new(self.question, cards).map_err(Unfit::Apart)?;
        let answering = Answering::new(self.question, &agreed).map_err(Unfit::Large)?;
        Ok((answering.program.clone(), (agreed, answering)))
    }

    fn inputs(&self, me: Party, (agreed, _): &Self::Facts) -> Result<Inputs> {
        let (_, path, held) = self.table(me)?;
        let inputs = inputs(self.question, agreed, me.index(), held);
        inputs.map_err(|problem| unfit(path, problem))
    }
}

/// The answers, as text or JSON; the costs go to standard error.
fn tell(
    args: &Stats,
    question: &Question,
    parties: usize,
    transport: TransportArg,
    ended: AgreedRun<(Agreed, Answering)>,
) -> Result<()> {
    let (agreed, answering) = &ended.facts;
    let answers = Answers::new(question, agreed, answering, &ended.outputs);
    let mix = ended.planned.mix;
    if args.json {
        let report = Report {
            provenance: Provenance::of_process(),
            answers: answers.answers,
            least: question.least,
            mix: mix.to_string(),
            withstands: mix.withstands(parties),
            correlations: origin(&ended.planned.plan),
            threads: ended.planned.plan.spec().threads,
            transport,
            network: args.run.net.network.clone(),
            parties: ended.parties,
        };
        return print(json_text(&report)?.as_bytes());
    }
    if !args.quiet {
        let corrupted = counted(mix.withstands(parties) as u64, "corrupted party");
        let mut to = crate::terminal::stderr();
        let _ = writeln!(to, "{}", costs(&ended.parties));
        let _ = writeln!(
            to,
            "computed in {mix}, where {corrupted} of {parties} would learn no more"
        );
    }
    print(answers.text().as_bytes())
}
