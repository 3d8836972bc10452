//! A program run by all parties, again and again, and compared with its meaning in the clear.

use madrigal_circuit::{Goal, Rows};
use madrigal_core::Party;
use madrigal_core::time::Rates;
use madrigal_engine::{Graph, Matrices, Origin, Phases, Plan, PlanSpec, Shares};
use madrigal_hycc::{Hybrid, Values};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Array, Executable, Outputs};

use super::workloads::Recorded;
use crate::exit::{Failure, Result};
use crate::graphs::{self, Measured, Opened, Repeated};

/// How programs are measured.
pub struct Setting<'a> {
    pub runs: graphs::Setting,
    /// Rates of this machine, by which circuits are chosen.
    pub rates: &'a Rates,
    /// Whether online time is what counts: then tables of Y2 are in setup, however large they are.
    pub online: bool,
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
        let (runs, line) = (&setting.runs, setting.runs.network.link());
        let ready = |goal, pairs| -> Result<Self> {
            let mut lowered = recorded.program.lower(mix, goal).map_err(Failure::bug)?;
            if pairs {
                lowered = lowered.in_pairs();
            }
            let executable = lowered.executable().map_err(Failure::bug)?;
            let mut spec = spec_in(executable.spec(), setting);
            if setting.online && mix.bits() == Sharing::Y2 {
                (spec.phases, spec.memory) = (Some(Phases::Sequential), FOR_TABLES);
            }
            let planned = |spec| Plan::new(spec).map_err(Failure::bug);
            let needs = planned(spec.clone())?.needs();
            let extension = runs.network.extension(runs.threads, needs.steps());
            spec.origin = Origin::Ot {
                extension,
                threads: runs.threads,
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
        // A program that does not fit in pairs of layers may fit without them.
        Ok(match ready(goal, true) {
            Ok(in_pairs) => faster(best, in_pairs),
            Err(_) => best,
        })
    }
}

/// A typed program.
struct Typed<'a> {
    ready: Ready,
    goal: Goal,
    recorded: &'a Recorded,
    expected: Outputs,
}

impl Repeated for Typed<'_> {
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

impl Repeated for PlannedGates {
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

/// Measures a program in a mix; also gives what its circuits save.
pub fn measure(mix: Mix, recorded: &Recorded, setting: &Setting<'_>) -> Result<(Measured, Goal)> {
    let ready = Ready::new(mix, recorded, setting)?;
    let expected = recorded.program.simulate(&recorded.inputs);
    let typed = Typed {
        goal: ready.goal,
        ready,
        recorded,
        expected: expected.map_err(Failure::bug)?,
    };
    Ok((graphs::run(&typed, &setting.runs)?, typed.goal))
}

/// Measures operations of the engine on bits, which are opened to all.
pub fn measure_graph(graph: Graph, inputs: &[Shares], setting: &Setting<'_>) -> Result<Measured> {
    let expected = graph.simulate(inputs).map_err(Failure::bug)?;
    let plan = Plan::new(spec_in(PlanSpec::new(graph), setting)).map_err(Failure::bug)?;
    let rows = |shares: &Shares| {
        let mut rows = shares.to_rows();
        rows.iter_mut().for_each(Rows::clear_padding);
        rows
    };
    let is_right = |outputs: &[Shares]| {
        let mut pairs = outputs.iter().zip(&expected);
        pairs.all(|(found, expected)| {
            let found = rows(found);
            found.is_some() && found == rows(expected)
        })
    };
    let opened = Opened {
        plan: &plan,
        inputs,
        is_right: &is_right,
    };
    graphs::run(&opened, &setting.runs)
}

/// Measures a program of single gates.
pub fn measure_gates(gates: Gates, setting: &Setting<'_>) -> Result<Measured> {
    let mut spec = spec_in(gates.hybrid.spec(), setting);
    (spec.phases, spec.memory) = (Some(Phases::Sequential), FOR_TABLES);
    let plan = Plan::new(spec).map_err(Failure::bug)?;
    graphs::run(&PlannedGates { plan, gates }, &setting.runs)
}

/// Plans for the threads and the line of a setting.
fn spec_in(spec: PlanSpec, setting: &Setting<'_>) -> PlanSpec {
    PlanSpec {
        threads: setting.runs.threads,
        line: setting.runs.network.link(),
        ..spec
    }
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
