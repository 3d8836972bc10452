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
use crate::figures::{PartyFigures, PhaseFigures, costs, json_text};
use crate::flags::TransportArg;
use crate::numbers::counted;
use crate::present::Present;
use crate::public_numbers::Numbers;
use crate::run::json;

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Name of the program.
    program: &'static str,
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
    /// Stages, in order.
    stages: Vec<Stage>,
    /// Parties of this process, over all stages.
    parties: Vec<PartyFigures>,
}

/// A stage.
#[derive(Serialize)]
struct Stage {
    /// Values that were opened to parties of this process, by name or place.
    outputs: Map<String, Value>,
    /// Parties of this process, in this stage.
    parties: Vec<PartyFigures>,
}

/// Result of a run at one party.
struct Ended {
    told: String,
    stages: Vec<(Map<String, Value>, PartyFigures)>,
}

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
        let ended = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            let outputs = report.program.outputs().iter().zip(report.outputs.arrays());
            let outputs = outputs.enumerate().filter_map(|(place, (port, array))| {
                let name = port.name.clone().unwrap_or_else(|| place.to_string());
                Some((name, json(array?)))
            });
            let outcome = report.outcome.expect("a party's stage has spent something");
            let figures = PartyFigures::new(session.me(), outcome);
            ended.borrow_mut().push((outputs.collect(), figures));
        };
        let deadline = self.flags.net.patience.deadline;
        let parties = self.numbers.parties();
        let stages = Stages::over(session, parties, 1, deadline, observe).telling(tell);
        let (told, _) = self.follow(stages, self.how(me, false)).await?;
        let stages = ended.into_inner();
        Ok(Ended { told, stages })
    }

    /// The result, as text or JSON; the costs go to standard error.
    fn tell(&self, transport: TransportArg, ended: &[Ended]) -> Result<String> {
        let flags = self.flags;
        let Some(first) = ended.first() else {
            return Err(Failure::bug("a run without parties"));
        };
        let of = |ended: &Ended| {
            let figures = ended.stages.iter().map(|(_, figures)| *figures);
            figures.reduce(together)
        };
        let parties: Vec<PartyFigures> = ended.iter().filter_map(of).collect();
        let mut text = first.told.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if flags.json {
            let stage = |at: usize| {
                let mut outputs = Map::new();
                let all = ended.iter().map(|ended| &ended.stages[at]);
                all.clone().for_each(|(own, _)| outputs.extend(own.clone()));
                Stage {
                    outputs,
                    parties: all.map(|(_, figures)| *figures).collect(),
                }
            };
            let report = Report {
                program: self.name,
                mix: flags.mix.map(|mix| mix.to_string()),
                threads: flags.threads,
                transport,
                network: flags.net.network.clone(),
                result: text.trim_end().to_owned(),
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

/// Two stages of one party, one after the other.
fn together(a: PartyFigures, b: PartyFigures) -> PartyFigures {
    let phase = |a: PhaseFigures, b: PhaseFigures| PhaseFigures {
        seconds: a.seconds + b.seconds,
        bytes_sent: a.bytes_sent + b.bytes_sent,
        bytes_received: a.bytes_received + b.bytes_received,
        messages: a.messages + b.messages,
        rounds: a.rounds + b.rounds,
        aes_blocks: a.aes_blocks + b.aes_blocks,
    };
    PartyFigures {
        party: a.party,
        setup: phase(a.setup, b.setup),
        online: phase(a.online, b.online),
        total_seconds: a.total_seconds + b.total_seconds,
        wire_bytes_sent: a.wire_bytes_sent + b.wire_bytes_sent,
    }
}
