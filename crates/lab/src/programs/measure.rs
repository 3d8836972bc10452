//! A program run by all parties, again and again, and compared with its meaning in the clear.

use madrigal_circuit::{Goal, Rows};
use madrigal_core::time::Rates;
use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{
    Extension, Given, Graph, Matrices, Origin, Phases, Plan, PlanSpec, Shares, run_program,
};
use madrigal_hycc::{Hybrid, Values};
use madrigal_net::Session;
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Array, Executable, Outputs};

use super::workloads::Recorded;
use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::measured::base_ots;
use crate::reach::Network;

/// How programs are measured.
pub struct Setting<'a> {
    pub transport: TransportArg,
    pub network: Network,
    /// Threads of each party.
    pub threads: usize,
    /// Runs.
    pub repeat: u32,
    /// Rates of this machine, by which circuits are chosen.
    pub rates: &'a Rates,
    /// Whether online time is what counts: then tables of Y2 are in setup, however large they are.
    pub online: bool,
}

/// What a run took: all of it, base OTs alone, and the two phases.
#[derive(Clone, Copy, Default)]
pub struct Times {
    pub total: f64,
    pub setup: f64,
    pub online: f64,
    /// Measured by themselves, just before.
    pub base_ots: f64,
}

/// All runs of all parties.
pub struct Measured {
    /// Times of the slowest party, for each run.
    pub times: Vec<Times>,
    /// Costs of each party in one run, both phases together.
    pub costs: Vec<PhaseCost>,
    /// Online alone.
    pub online_costs: Vec<PhaseCost>,
    /// What circuits save.
    pub goal: Goal,
}

/// Memory of a party where tables are to be in setup.
const FOR_TABLES: usize = 1 << 30;

/// A program made ready.
struct Ready {
    executable: Executable,
    plan: Plan,
    goal: Goal,
}

impl Ready {
    /// Makes a program ready, with the circuits that are expected to take less time.
    fn new(mix: Mix, recorded: &Recorded, setting: &Setting<'_>) -> Result<Self> {
        let line = setting.network.link();
        let ready = |goal, pairs| -> Result<Self> {
            let mut lowered = recorded.program.lower(mix, goal).map_err(Failure::bug)?;
            if pairs {
                lowered = lowered.in_pairs();
            }
            let executable = lowered.executable().map_err(Failure::bug)?;
            let mut spec = executable.spec();
            (spec.threads, spec.line) = (setting.threads, line);
            if setting.online && mix.bits() == Sharing::Y2 {
                (spec.phases, spec.memory) = (Some(Phases::Sequential), FOR_TABLES);
            }
            let planned = |spec| Plan::new(spec).map_err(Failure::bug);
            let needs = planned(spec.clone())?.needs();
            let extension = setting.network.extension(setting.threads, needs.steps());
            spec.origin = Origin::Ot {
                extension,
                threads: setting.threads,
                matrices: Matrices::choose(extension, recorded.program.parties(), &needs),
            };
            let plan = match setting.online {
                true => planned(spec)?,
                false => Plan::fastest(spec).map_err(Failure::bug)?,
            };
            Ok(Self {
                executable,
                plan,
                goal,
            })
        };
        let time = |ready: &Self| ready.plan.time(Party::new(0), setting.rates, &line).total;
        let faster = |one: Self, other: Self| match time(&other) < time(&one) {
            true => other,
            false => one,
        };
        let best = faster(ready(Goal::Size, false)?, ready(Goal::Depth, false)?);
        if mix.bits() != Sharing::BETA {
            return Ok(best);
        }
        let goal = best.goal;
        // What does not fit in pairs may fit without.
        Ok(match ready(goal, true) {
            Ok(in_pairs) => faster(best, in_pairs),
            Err(_) => best,
        })
    }
}

/// What is run again and again.
trait Work: Sync {
    fn plan(&self) -> &Plan;

    /// What a party brings.
    fn given(&self, me: Party) -> Result<Vec<Shares>>;

    /// Whether a party got what it should.
    fn is_right(&self, me: Party, outputs: &[Shares]) -> bool;
}

/// A typed program.
struct Typed<'a> {
    ready: Ready,
    recorded: &'a Recorded,
    expected: Outputs,
}

impl Work for Typed<'_> {
    fn plan(&self) -> &Plan {
        &self.ready.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        let Recorded { program, inputs } = self.recorded;
        let given = self.ready.executable.given(program, inputs, me);
        given.map_err(Failure::bug)
    }

    fn is_right(&self, _: Party, outputs: &[Shares]) -> bool {
        is_right(&self.ready.executable.outputs(outputs), &self.expected)
    }
}

/// Operations of the engine on bits, which are opened to all.
struct Bare {
    plan: Plan,
    inputs: Vec<Shares>,
    expected: Vec<Shares>,
}

impl Work for Bare {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        let of = |shares: &Shares| match shares.sort().sharing.is_known_to(me) {
            true => shares.clone(),
            false => Shares::unknown(*shares.sort()),
        };
        Ok(self.inputs.iter().map(of).collect())
    }

    fn is_right(&self, _: Party, outputs: &[Shares]) -> bool {
        let pairs = outputs.iter().zip(&self.expected);
        pairs.into_iter().all(|(found, expected)| {
            let rows = [found, expected].map(|shares| {
                let mut rows = shares.to_rows();
                rows.iter_mut().for_each(Rows::clear_padding);
                rows
            });
            rows[0].is_some() && rows[0] == rows[1]
        })
    }
}

/// A program of single gates, with inputs and what comes out of it.
pub struct Gates {
    pub hybrid: Hybrid,
    pub values: Values,
    pub expected: Values,
}

struct PlannedGates {
    plan: Plan,
    gates: Gates,
}

impl Work for PlannedGates {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        let given = self.gates.hybrid.given(me, &self.gates.values);
        Ok(given.map_err(Failure::bug)?.inputs)
    }

    fn is_right(&self, me: Party, outputs: &[Shares]) -> bool {
        let values = self.gates.hybrid.values(me, outputs);
        values.is_none_or(|values| values == self.gates.expected)
    }
}

/// A program in a mix.
pub fn measure(mix: Mix, recorded: &Recorded, setting: &Setting<'_>) -> Result<Measured> {
    let ready = Ready::new(mix, recorded, setting)?;
    let expected = recorded
        .program
        .simulate(&recorded.inputs)
        .map_err(Failure::bug)?;
    let goal = ready.goal;
    let work = Typed {
        ready,
        recorded,
        expected,
    };
    run(&work, goal, setting)
}

/// Operations of the engine on bits, which are opened to all.
pub fn measure_graph(graph: Graph, inputs: Vec<Shares>, setting: &Setting<'_>) -> Result<Measured> {
    let expected = graph.simulate(&inputs).map_err(Failure::bug)?;
    let mut spec = PlanSpec::new(graph);
    (spec.threads, spec.line) = (setting.threads, setting.network.link());
    let plan = Plan::new(spec).map_err(Failure::bug)?;
    let work = Bare {
        plan,
        inputs,
        expected,
    };
    run(&work, Goal::Size, setting)
}

/// A program of single gates.
pub fn measure_gates(gates: Gates, setting: &Setting<'_>) -> Result<Measured> {
    let mut spec = gates.hybrid.spec();
    (spec.threads, spec.line) = (setting.threads, setting.network.link());
    (spec.phases, spec.memory) = (Some(Phases::Sequential), FOR_TABLES);
    let plan = Plan::new(spec).map_err(Failure::bug)?;
    run(&PlannedGates { plan, gates }, Goal::Size, setting)
}

fn run(work: &impl Work, goal: Goal, setting: &Setting<'_>) -> Result<Measured> {
    let (threads, plan) = (setting.threads, work.plan());
    let extension = match plan.spec().origin {
        Origin::Ot { extension, .. } => extension,
        _ => Extension::default(),
    };
    let parties = everyone(
        setting.transport,
        setting.network,
        plan.spec().graph.parties(),
        threads,
        &Patience::default(),
        async |session: &Session| {
            let me = session.me();
            let mut runs = Vec::new();
            for run in 0..setting.repeat {
                let inputs = work.given(me)?;
                let first = 2 * run + 1;
                let with_ots = !plan.needs().is_empty();
                let base_ots = base_ots(session, first, with_ots, extension, threads).await?;
                let given = Given {
                    inputs,
                    ..Given::default()
                };
                let outcome = run_program(session, first + 1, plan, given, None, &|_| {});
                let outcome = outcome.await?;
                if !work.is_right(me, &outcome.outputs) {
                    return Err(Failure::bug("a wrong result"));
                }
                let times = Times {
                    total: outcome.total.as_secs_f64(),
                    setup: outcome.setup.time.as_secs_f64(),
                    online: outcome.online.time.as_secs_f64(),
                    base_ots,
                };
                runs.push((times, [outcome.setup.spent, outcome.online.spent]));
            }
            Ok(runs)
        },
    )?;
    let slowest = |run: usize| {
        let of = |pick: fn(&Times) -> f64| {
            let times = parties.iter().map(|runs| pick(&runs[run].0));
            times.fold(0.0, f64::max)
        };
        Times {
            total: of(|times| times.total),
            setup: of(|times| times.setup),
            online: of(|times| times.online),
            base_ots: of(|times| times.base_ots),
        }
    };
    Ok(Measured {
        times: (0..setting.repeat as usize).map(slowest).collect(),
        // Costs are declared and counted alike in all runs.
        costs: parties
            .iter()
            .map(|runs| runs[0].1[0] + runs[0].1[1])
            .collect(),
        online_costs: parties.iter().map(|runs| runs[0].1[1]).collect(),
        goal,
    })
}

/// Compares what a party got with the program's meaning.
fn is_right(outputs: &Outputs, expected: &Outputs) -> bool {
    let codes = |array: &Array| array.codes().collect::<Vec<_>>();
    let mut pairs = outputs.arrays().zip(expected.arrays());
    pairs.all(|(found, expected)| match (found, expected) {
        (Some(found), Some(expected)) => codes(found) == codes(expected),
        (found, _) => found.is_none(),
    })
}
