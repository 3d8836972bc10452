//! Stages run: by all parties here, or by one of several machines.

use std::cell::RefCell;
use std::io::Write as _;

use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::Session;
use madrigal_program::{StageError, StageReport, Stages};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Staging;
use crate::failure::{Failure, Result};
use crate::figures::json_text;
use crate::flags::TransportArg;
use crate::numbers::counted;
use crate::present::Present;
use crate::provenance::Provenance;
use crate::public_numbers::Numbers;
use crate::run::json;
use crate::runs::{PartyStatistics, RunFigures, costs, repeated};

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Name of the program.
    program: &'static str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Mix of all programs; `null` where each has its own.
    mix: Option<String>,
    /// Threads that each party computes with.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: String,
    /// Text that is printed without `--json`.
    result: String,
    /// Number of runs; the result and the stages are those of the last one.
    repeat: u32,
    /// Stages, in order.
    stages: Vec<Stage>,
    /// Parties of this process, over all stages.
    parties: Vec<PartyStatistics>,
}

/// A stage.
#[derive(Serialize)]
struct Stage {
    /// Values that were opened to parties of this process, by name or place.
    outputs: Map<String, Value>,
    /// Parties of this process, in this stage.
    parties: Vec<PartyStatistics>,
}

/// Result of the last run at one party, and what all of them cost.
struct Ended {
    party: Party,
    told: String,
    stages: Vec<StageEnded>,
    runs: Vec<RunFigures>,
}

/// Outputs and costs of a stage.
type StageEnded = (Map<String, Value>, RunFigures);

impl<D> Staging<'_, D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    pub(super) fn run(&self, present: Present<'_>) -> Result<String> {
        let (transport, me) = (present.transport(), present.me());
        let quiet = self.flags.quiet || me.is_none();
        let work = async |session: &Session, observe: &dyn Fn(Progress)| {
            self.party(session, me, observe).await
        };
        let ended = present.run(self.flags.threads, quiet, work)?;
        let ended: Vec<Ended> = ended.into_iter().map(|(_, ended)| ended).collect();
        self.tell(transport, &ended)
    }

    /// Runs as one party, which reads the inputs of `me` alone, or all.
    async fn party(
        &self,
        session: &Session,
        me: Option<Party>,
        observe: &dyn Fn(Progress),
    ) -> Result<Ended> {
        let ended: RefCell<Vec<StageEnded>> = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            let outputs = report.program.outputs().iter().zip(report.outputs.arrays());
            let outputs = outputs.enumerate().filter_map(|(place, (port, array))| {
                let name = port.name.clone().unwrap_or_else(|| place.to_string());
                Some((name, json(array?)))
            });
            let outcome = report.outcome.expect("a party's stage has spent something");
            let figures = RunFigures::from(outcome);
            ended.borrow_mut().push((outputs.collect(), figures));
        };
        let deadline = self.flags.net.patience.deadline;
        let parties = self.numbers.parties();
        // Each stage is a job.
        let mut first = 1;
        let done = repeated(self.flags.repeat, async |_| {
            let stages = Stages::over(session, parties, first, deadline, observe).telling(&tell);
            let (told, _) = self.follow(stages, self.how(me, false)).await?;
            let stages = ended.take();
            first += stages.len() as u32;
            let costs = stages.iter().map(|(_, figures)| figures.clone());
            let costs = costs.reduce(RunFigures::then);
            let costs = costs.ok_or_else(|| Failure::bug("a run without stages"))?;
            Ok(((told, stages), costs))
        });
        let ((told, stages), runs) = done.await?;
        Ok(Ended {
            party: session.me(),
            told,
            stages,
            runs,
        })
    }

    /// The result, as text or JSON; the costs go to standard error.
    fn tell(&self, transport: TransportArg, ended: &[Ended]) -> Result<String> {
        let flags = self.flags;
        let Some(first) = ended.first() else {
            return Err(Failure::bug("a run without parties"));
        };
        let of = |ended: &Ended| PartyStatistics::here(ended.party, ended.runs.clone());
        let parties: Vec<PartyStatistics> = ended.iter().map(of).collect();
        let mut text = first.told.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if flags.json {
            let stage = |at: usize| {
                let mut outputs = Map::new();
                let mut parties = Vec::new();
                for ended in ended {
                    let (own, figures) = &ended.stages[at];
                    outputs.extend(own.clone());
                    parties.push(PartyStatistics::here(ended.party, vec![figures.clone()]));
                }
                Stage { outputs, parties }
            };
            let report = Report {
                program: self.name,
                provenance: Provenance::of_process(),
                mix: flags.mix.map(|mix| mix.to_string()),
                threads: flags.threads,
                transport,
                network: flags.net.network.clone(),
                result: text.trim_end().to_owned(),
                repeat: flags.repeat,
                stages: (0..first.stages.len()).map(stage).collect(),
                parties,
            };
            return json_text(&report);
        }
        if !flags.quiet {
            let stages = counted(first.stages.len() as u64, "stage");
            let _ = writeln!(crate::terminal::stderr(), "{}\n{stages}", costs(&parties));
        }
        Ok(text)
    }
}
