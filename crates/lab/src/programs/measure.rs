//! A program run by all parties, again and again, and compared with its meaning in the clear.

use madrigal_circuit::{Goal, Rows};
use madrigal_core::Party;
use madrigal_engine::{Matrices, Origin, Phases, Plan, PlanError, PlanSpec, Shares};
use madrigal_hycc::{Hybrid, Values};
use madrigal_operations::Variants;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Executable, ExecuteError, Outputs, Planned};

use super::workloads::Recorded;
use crate::exit::{Failure, Result};
use crate::graphs::{self, Measured, Repeated};

/// How programs are measured.
pub struct Setting {
    pub runs: graphs::Setting,
    /// Whether the phases' times count: then setup ends before the inputs are needed, with all garbled tables in it.
    pub online: bool,
    /// Ways that papers describe beside the chosen ones.
    pub variants: Variants,
}

/// Memory of a party where tables are to be in setup.
const FOR_TABLES: usize = 1 << 30;

/// A program made ready.
pub struct Ready {
    pub executable: Executable,
    pub plan: Plan,
    goal: Goal,
}

impl Ready {
    /// Makes a program ready, in the way that is expected to take the least time.
    pub fn new(mix: Mix, recorded: &Recorded, setting: &Setting) -> Result<Self> {
        let first = planned(mix, recorded, setting, None, None)?;
        if setting.variants != Variants::default() {
            let lowered = recorded.program.lower(mix, first.goal);
            let lowered = lowered
                .map_err(Failure::bug)?
                .with_variants(setting.variants);
            let executable = lowered.executable().map_err(Failure::bug)?;
            let spec = with_extension(spec_in(executable.spec(), setting), setting)?;
            return Ok(Self {
                executable,
                plan: sequential(spec)?,
                goal: first.goal,
            });
        }
        let origin = extension_for(&first.plan, setting);
        let Planned {
            executable,
            plan,
            goal,
            ..
        } = planned(mix, recorded, setting, Some(first.goal), Some(origin))?;
        Ok(Self {
            executable,
            plan,
            goal,
        })
    }
}

/// A typed program, planned.
pub struct Typed<'a> {
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
        let outputs = self.ready.executable.outputs(outputs);
        outputs.is_ok_and(|outputs| is_right(&outputs, &self.expected))
    }
}

/// A program of single gates, with inputs and what comes out of it.
pub struct Gates {
    pub hybrid: Hybrid,
    pub values: Values,
    pub expected: Values,
}

/// A program of single gates, planned.
pub struct PlannedGates {
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

/// Plans a program in a mix.
pub fn typed<'a>(mix: Mix, recorded: &'a Recorded, setting: &Setting) -> Result<Typed<'a>> {
    let ready = Ready::new(mix, recorded, setting)?;
    let expected = recorded.program.simulate(&recorded.inputs);
    Ok(Typed {
        goal: ready.goal,
        ready,
        recorded,
        expected: expected.map_err(Failure::bug)?,
    })
}

/// Measures a program in a mix; also gives what its circuits save.
pub fn measure(mix: Mix, recorded: &Recorded, setting: &Setting) -> Result<(Measured, Goal)> {
    let typed = typed(mix, recorded, setting)?;
    Ok((graphs::run(&typed, &setting.runs)?, typed.goal))
}

/// Operations of the engine on bits, which are opened to all, planned.
pub struct Operations {
    plan: Plan,
    inputs: Vec<Shares>,
    expected: Vec<Option<Rows>>,
}

impl Operations {
    /// Plans them.
    pub fn new(spec: PlanSpec, inputs: Vec<Shares>, setting: &Setting) -> Result<Self> {
        let expected = spec.graph.simulate(&inputs).map_err(Failure::bug)?;
        Ok(Self {
            plan: sequential(with_extension(spec_in(spec, setting), setting)?)?,
            inputs,
            expected: expected.iter().map(cleared).collect(),
        })
    }
}

/// Rows without anything in their padding.
fn cleared(shares: &Shares) -> Option<Rows> {
    let mut rows = shares.to_rows();
    rows.iter_mut().for_each(Rows::clear_padding);
    rows
}

impl Repeated for Operations {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        Ok(graphs::known_to(me, &self.inputs))
    }

    fn is_right(&self, _: Party, outputs: &[Shares]) -> bool {
        let found: Vec<_> = outputs.iter().map(cleared).collect();
        found.iter().all(Option::is_some) && found == self.expected
    }
}

/// Plans a program of single gates.
pub fn of_gates(gates: Gates, setting: &Setting) -> Result<PlannedGates> {
    let spec = spec_in(gates.hybrid.spec(), setting);
    let plan = sequential(with_extension(spec, setting)?)?;
    Ok(PlannedGates { plan, gates })
}

/// Plans a program; where the phases' times count, setup ends before the inputs are needed, with all garbled tables in it.
fn planned(
    mix: Mix,
    recorded: &Recorded,
    setting: &Setting,
    goal: Option<Goal>,
    origin: Option<Origin>,
) -> Result<Planned> {
    let with = |memory| {
        recorded.program.plan(mix, goal, &|spec| {
            *spec = spec_in(spec.clone(), setting);
            if setting.online {
                (spec.phases, spec.memory) = (Some(Phases::Sequential), memory);
            }
            if let Some(origin) = &origin {
                spec.origin = origin.clone();
            }
        })
    };
    let planned = match with(FOR_TABLES) {
        Err(ExecuteError::Plan(PlanError::Memory { needed, .. })) if setting.online => {
            with(usize::try_from(needed).map_err(Failure::bug)?)
        }
        planned => planned,
    };
    planned.map_err(Failure::bug)
}

/// Plans with a setup that ends before the inputs are needed, with all garbled tables in it.
fn sequential(spec: PlanSpec) -> Result<Plan> {
    let with = |memory| PlanSpec {
        phases: Some(Phases::Sequential),
        memory,
        ..spec.clone()
    };
    let plan = match Plan::new(with(FOR_TABLES)) {
        Err(PlanError::Memory { needed, .. }) => {
            Plan::new(with(usize::try_from(needed).map_err(Failure::bug)?))
        }
        plan => plan,
    };
    plan.map_err(Failure::bug)
}

/// Plans with the extension that suits the line and the number of OTs.
fn with_extension(spec: PlanSpec, setting: &Setting) -> Result<PlanSpec> {
    let plan = Plan::new(spec.clone()).map_err(Failure::bug)?;
    let origin = extension_for(&plan, setting);
    Ok(PlanSpec { origin, ..spec })
}

/// OTs by the extension that suits the line and their number.
fn extension_for(plan: &Plan, setting: &Setting) -> Origin {
    let (runs, needs) = (&setting.runs, plan.needs());
    let extension = runs.network.extension(runs.threads, needs.steps());
    Origin::Ot {
        extension,
        threads: runs.threads,
        matrices: Matrices::choose(extension, plan.spec().graph.parties(), &needs),
    }
}

/// Plans for the threads and the line of a setting.
fn spec_in(spec: PlanSpec, setting: &Setting) -> PlanSpec {
    PlanSpec {
        threads: setting.runs.threads,
        line: setting.runs.network.link(),
        ..spec
    }
}

/// Compares what a party got with the program's meaning.
pub fn is_right(outputs: &Outputs, expected: &Outputs) -> bool {
    let codes = |array: &Array| array.codes().collect::<Vec<_>>();
    let mut pairs = outputs.arrays().zip(expected.arrays());
    pairs.all(|(found, expected)| match (found, expected) {
        (Some(found), Some(expected)) => codes(found) == codes(expected),
        (found, _) => found.is_none(),
    })
}
