//! Tells the cost of stages, each exactly, on the way that some inputs take.

use std::cell::RefCell;

use madrigal_core::time::Rates;
use madrigal_net::block_on;
use madrigal_program::{OutputPort, Planned, StageError, StageReport, Stages};
use serde::Serialize;

use super::Staging;
use crate::costs::Costs;
use crate::explain::{Operation, most_memory, operations, origin, phases, slowest};
use crate::failure::Result;
use crate::figures::json_text;
use crate::numbers::{bytes, count, counted, seconds, table};
use crate::public_numbers::Numbers;
use crate::rates;
use crate::reach::Network;

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation {
    /// Name of the program.
    program: &'static str,
    /// Number of parties.
    parties: usize,
    /// Mix of all programs; `null` where each has its own.
    mix: Option<String>,
    /// Network, as given.
    network: String,
    /// Threads that each party is taken to compute with.
    threads: usize,
    /// Names of the inputs that were random.
    random: Vec<String>,
    /// Seed that these followed from.
    seed: u64,
    /// Stages that these inputs lead to; on others there may be more, fewer, or others.
    stages: Vec<Stage>,
}

/// A stage; costs are of the party that has most of each.
#[derive(Serialize)]
struct Stage {
    /// Inputs that the stage asks for, with their owners.
    inputs: Vec<String>,
    /// Values that it opens to all; the last stage, to whom the program says.
    opens: Vec<String>,
    /// Values that are kept as shares for later stages.
    keeps: Vec<String>,
    /// Mix of its program.
    mix: String,
    /// Origin of the correlations, or `none`.
    correlations: String,
    /// Cost of setup, of the party that has most of each.
    setup: Costs,
    /// Cost of the online phase, of the party that has most of each.
    online: Costs,
    /// Time from the opening of the job to its finish, by an estimate.
    total_seconds: f64,
    /// Memory for correlations and values that are there at the same time.
    memory_bytes: usize,
    /// Operations, each at the party that it costs most.
    operations: Vec<Operation>,
}

/// A stage before its times are known.
struct Seen {
    inputs: Vec<String>,
    opens: Vec<String>,
    planned: Planned,
}

impl<D> Staging<'_, D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    pub(super) fn explain(&self) -> Result<String> {
        let flags = self.flags;
        let network = Network::parse(&flags.net.network)?;
        let seen = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            let (ports, planned) = (report.program, report.planned);
            let inputs = ports.inputs().iter().map(|port| {
                let name = port.name.as_deref().unwrap_or("an input");
                format!("{name}: {} of {}", port.tensor_type, port.owner)
            });
            seen.borrow_mut().push(Seen {
                inputs: inputs.collect(),
                opens: ports.outputs().iter().map(opened).collect(),
                planned: planned.expect("estimates plan each stage").clone(),
            });
        };
        let stages = Stages::estimated(self.numbers.parties()).telling(tell);
        let (_, random) = block_on(self.follow(stages, self.how(None, true)))?;
        let seen = seen.into_inner();
        let mut trials = seen.iter().filter_map(|one| one.planned.plan.trial());
        let rates = rates::measure(trials.next().as_ref())?;
        let stages = seen.into_iter().map(|one| stage(one, &rates, &network));
        let explanation = Explanation {
            program: self.name,
            parties: self.numbers.parties(),
            mix: flags.mix.map(|mix| mix.to_string()),
            network: flags.net.network.clone(),
            threads: flags.own_threads(),
            random,
            seed: flags.seed,
            stages: stages.collect(),
        };
        if flags.json {
            return json_text(&explanation);
        }
        Ok(explanation.text())
    }
}

fn opened(port: &OutputPort) -> String {
    let name = port.name.as_deref().unwrap_or("a value");
    format!("{name}: {}", port.tensor_type)
}

fn stage(seen: Seen, rates: &Rates, network: &Network) -> Stage {
    let (plan, link) = (&seen.planned.plan, network.link());
    let graph = &plan.spec().graph;
    let [setup, online] = phases(plan, rates, &link);
    let kept = graph.outputs().iter().map(|&value| graph.sort(value));
    let kept = kept.filter(|sort| !sort.sharing.is_clear());
    Stage {
        inputs: seen.inputs,
        opens: seen.opens,
        keeps: kept.map(ToString::to_string).collect(),
        mix: seen.planned.mix.to_string(),
        correlations: origin(plan),
        setup,
        online,
        total_seconds: slowest(plan, rates, &link),
        memory_bytes: most_memory(plan),
        operations: operations(plan, Some((rates, &link))),
    }
}

impl Explanation {
    fn text(&self) -> String {
        let mut rows = table(&[
            "stage",
            "opens",
            "keeps",
            "setup",
            "sends in setup",
            "online",
            "sends online",
            "rounds",
        ]);
        for (number, stage) in self.stages.iter().enumerate() {
            let time = |costs: &Costs| costs.seconds.map_or_else(String::new, seconds);
            rows.add_row([
                number.to_string(),
                stage.opens.join(", "),
                stage.keeps.join(", "),
                time(&stage.setup),
                bytes(stage.setup.bytes_sent),
                time(&stage.online),
                bytes(stage.online.bytes_sent),
                count(stage.online.rounds),
            ]);
        }
        let sum = |of: fn(&Stage) -> u64| self.stages.iter().map(of).sum::<u64>();
        let total: f64 = self.stages.iter().map(|stage| stage.total_seconds).sum();
        let inputs = match self.random.is_empty() {
            true => "the inputs that were given".to_owned(),
            false => format!(
                "random inputs ({}; --seed {})",
                self.random.join(", "),
                self.seed
            ),
        };
        format!(
            "{}: {} parties of {} each, network {}.\n\
             On {inputs}: {}, about {}, {} sent by the party that sends most, {}.\n\
             On other inputs there may be more or fewer, and others: what a stage opens decides.\n\n{rows}\n\n\
             Bytes and rounds of each stage are exact. Times are estimates for machines like this one.\n",
            self.program,
            self.parties,
            counted(self.threads as u64, "thread"),
            self.network,
            counted(self.stages.len() as u64, "stage"),
            seconds(total),
            bytes(sum(|stage| stage.setup.bytes_sent + stage.online.bytes_sent)),
            counted(
                sum(|stage| stage.setup.rounds + stage.online.rounds),
                "round"
            ),
        )
    }
}
