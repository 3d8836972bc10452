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
use crate::arguments::Flags;
use crate::clients::Asked;
use crate::failure::{Failure, Result};
use crate::figures::json_text;
use crate::flags::TransportArg;
use crate::numbers::counted;
use crate::present::Present;
use crate::provenance::Provenance;
use crate::public_numbers::Numbers;
use crate::run::json;
use crate::runs::{self, PartyStatistics, RunFigures, repeated};

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report<'a> {
    /// Name of the program.
    program: &'a str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Mix of all programs; `null` where each has its own.
    mix: Option<String>,
    /// Threads for which the work was planned: the least number of all parties.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: &'a str,
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
    told: String,
    stages: Vec<StageEnded>,
    costs: PartyCosts,
}

/// Costs of a run at one party.
pub(crate) struct PartyCosts {
    pub(crate) party: Party,
    /// Threads that all parties have in common.
    pub(crate) threads: usize,
    /// Stages of the last run, each with its outputs for reports.
    pub(crate) stages: Vec<(Map<String, Value>, RunFigures)>,
    /// All stages of each run.
    pub(crate) runs: Vec<RunFigures>,
}

/// A stage as one party has ended it.
struct StageEnded {
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
        let ended = present.run(self.flags.own_threads(), quiet, work)?;
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
        let (ended, costs) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
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
            costs
                .borrow_mut()
                .push((outputs.collect(), RunFigures::from(outcome)));
            ended.borrow_mut().push(StageEnded {
                asked: Asked::of_program(report.program, planned.executable.mix(), self.name),
                opened: report.outputs.clone(),
                run: session.run_id(first.get() + report.stage),
            });
        };
        let deadline = self.flags.net.patience.deadline;
        let parties = self.numbers.parties();
        let threads = session.common_threads(parties)?;
        let how = How { threads, ..how };
        let done = repeated(self.flags.repeat, async |_| {
            let stages = Stages::over(session, parties, first.get(), deadline, observe);
            let stages = match how.server {
                Some(_) => stages.telling(&tell),
                None => stages.telling(&tell).dealing(seed),
            };
            let (told, _) = self.follow(stages, how).await?;
            let (ended, costs) = (ended.take(), costs.take());
            first.set(first.get() + ended.len() as u32);
            let all = all_stages(&costs).ok_or_else(|| Failure::bug("a run without stages"))?;
            Ok(((told, ended, costs), all))
        });
        let ((told, stages, costs), runs) = done.await?;
        let party = session.me();
        Ok(Ended {
            told,
            stages,
            costs: PartyCosts {
                party,
                threads,
                stages: costs,
                runs,
            },
        })
    }

    /// The result, as text or JSON; the costs go to standard error.
    fn tell(&self, transport: TransportArg, ended: &[Ended]) -> Result<String> {
        let flags = self.flags;
        let Some(first) = ended.first() else {
            return Err(Failure::bug("a run without parties"));
        };
        let mut text = first.told.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let costs: Vec<&PartyCosts> = ended.iter().map(|ended| &ended.costs).collect();
        if flags.json {
            let run = Run {
                program: self.name,
                result: text.trim_end(),
                transport,
            };
            return run.json(flags, &costs);
        }
        if !flags.quiet {
            let stages = counted(first.stages.len() as u64, "stage");
            let table = runs::costs(&statistics(&costs));
            let _ = writeln!(crate::terminal::stderr(), "{table}\n{stages}");
        }
        Ok(text)
    }
}

/// Costs of all stages of a run together; `None` without any.
pub(crate) fn all_stages(stages: &[(Map<String, Value>, RunFigures)]) -> Option<RunFigures> {
    let figures = stages.iter().map(|(_, figures)| figures.clone());
    figures.reduce(RunFigures::then)
}

fn statistics(costs: &[&PartyCosts]) -> Vec<PartyStatistics> {
    let of = |one: &&PartyCosts| PartyStatistics::here(one.party, one.runs.clone());
    costs.iter().map(of).collect()
}

/// A run of stages, for its report.
pub(crate) struct Run<'a> {
    /// Name of the program.
    pub(crate) program: &'a str,
    /// Text that is printed without `--json`.
    pub(crate) result: &'a str,
    pub(crate) transport: TransportArg,
}

impl Run<'_> {
    /// The report, as JSON.
    pub(crate) fn json(&self, flags: &Flags, costs: &[&PartyCosts]) -> Result<String> {
        let stage = |at: usize| {
            let mut stage = Stage {
                outputs: Map::new(),
                parties: Vec::new(),
            };
            for one in costs {
                let Some((outputs, figures)) = one.stages.get(at) else {
                    continue;
                };
                stage.outputs.extend(outputs.clone());
                let own = PartyStatistics::here(one.party, vec![figures.clone()]);
                stage.parties.push(own);
            }
            stage
        };
        let stages = costs.iter().map(|one| one.stages.len()).max();
        json_text(&Report {
            program: self.program,
            provenance: Provenance::of_process(),
            mix: flags.mix.map(|mix| mix.to_string()),
            threads: costs
                .first()
                .map_or_else(|| flags.own_threads(), |one| one.threads),
            transport: self.transport,
            network: &flags.net.network,
            result: self.result.to_owned(),
            repeat: flags.repeat,
            stages: (0..stages.unwrap_or(0)).map(stage).collect(),
            parties: statistics(costs),
        })
    }
}
