//! Stages run: by all parties here, or by one of several machines.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::Write as _;

use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::Session;
use madrigal_program::{Outputs, StageError, StageReport, Stages};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{How, Staging};
use crate::clients::Asked;
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

/// A stage as one party has ended it.
struct StageEnded {
    /// Outputs for reports.
    outputs: Map<String, Value>,
    /// Costs of the stage.
    figures: RunFigures,
    /// Inputs and outputs of the stage, as share files are for them.
    asked: Asked,
    /// Outputs, with shares of those for clients.
    opened: Outputs,
    /// Bytes that are the same at all parties, and of this stage alone.
    run: [u8; 32],
}

impl<D> Staging<'_, D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    pub(super) fn run(&self, present: Present<'_>) -> Result<String> {
        let (transport, me, server) = (present.transport(), present.me(), present.server());
        let quiet = self.flags.quiet || me.is_none();
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(Failure::bug)?;
        let how = How {
            server: server.as_ref(),
            ..self.how(me, false)
        };
        let work = async |session: &Session, observe: &dyn Fn(Progress)| {
            self.party(session, how, u64::from_le_bytes(seed), observe)
                .await
        };
        let ended = present.run(self.flags.threads, quiet, work)?;
        let ended: Vec<Ended> = ended.into_iter().map(|(_, ended)| ended).collect();
        if let (Some(server), [ended]) = (&server, &ended[..]) {
            let mut names = BTreeSet::new();
            for (number, stage) in ended.stages.iter().enumerate() {
                let mut asked = stage.asked.clone();
                // Several stages may have an output of this name.
                for output in &mut asked.outputs {
                    if !names.insert(output.name.clone()) {
                        output.name = format!("{}.{number}", output.name);
                    }
                }
                let shares = stage.opened.shares();
                let clients = &self.flags.clients;
                clients.leave(&asked, server, shares, stage.run, self.flags.quiet)?;
            }
        }
        self.tell(transport, &ended)
    }

    /// Runs as one party; where all are here, shares of clients' values follow from the seed.
    async fn party(
        &self,
        session: &Session,
        how: How<'_>,
        seed: u64,
        observe: &dyn Fn(Progress),
    ) -> Result<Ended> {
        let ended: RefCell<Vec<StageEnded>> = RefCell::new(Vec::new());
        // Each stage is a job.
        let first = Cell::new(1);
        let tell = |report: &StageReport<'_>| {
            let outputs = report.program.outputs().iter().zip(report.outputs.arrays());
            let outputs = outputs.enumerate().filter_map(|(place, (port, array))| {
                let name = port.name.clone().unwrap_or_else(|| place.to_string());
                Some((name, json(array?)))
            });
            let outcome = report.outcome.expect("a party's stage has spent something");
            let planned = report.planned.expect("a party's stage is planned");
            ended.borrow_mut().push(StageEnded {
                outputs: outputs.collect(),
                figures: RunFigures::from(outcome),
                asked: Asked::of_program(report.program, planned.executable.mix(), self.name),
                opened: report.outputs.clone(),
                run: session.run_id(first.get() + report.stage),
            });
        };
        let deadline = self.flags.net.patience.deadline;
        let parties = self.numbers.parties();
        let done = repeated(self.flags.repeat, async |_| {
            let stages = Stages::over(session, parties, first.get(), deadline, observe);
            let stages = match how.server {
                Some(_) => stages.telling(&tell),
                None => stages.telling(&tell).dealing(seed),
            };
            let (told, _) = self.follow(stages, how).await?;
            let stages = ended.take();
            first.set(first.get() + stages.len() as u32);
            let costs = stages.iter().map(|stage| stage.figures.clone());
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
                    let own = &ended.stages[at];
                    outputs.extend(own.outputs.clone());
                    let figures = vec![own.figures.clone()];
                    parties.push(PartyStatistics::here(ended.party, figures));
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
