//! A program compared with its meaning: outputs with the oracle's, costs with what was declared.

use std::fmt::Write as _;

use madrigal_circuit::Goal;
use madrigal_core::{Cost, Party};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, LocalError};
use serde::Serialize;

use crate::failure::{Failure, Fault, Result, Status};
use crate::figures::json_text;
use crate::inputs;
use crate::made::Made;
use crate::run::saving;

/// Report of what was compared, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Name of the program.
    program: &'static str,
    /// Number of parties.
    parties: usize,
    /// Names of the inputs that were random.
    random: Vec<String>,
    /// Seed that these followed from.
    seed: u64,
    /// Mixes in which outputs and costs were right.
    right: Vec<String>,
    /// Places where numbers left their ranges, if all inputs were given.
    overflows: Vec<String>,
}

/// A program that gives something else than it means.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error(
        "in mix {mix}, with circuits of little {circuits}, {party} got another {output} than the program means (seed {seed}); please report it with this text and the program"
    )]
    Output {
        mix: String,
        circuits: &'static str,
        party: Party,
        output: String,
        seed: u64,
    },
    #[error(
        "in mix {mix}, with circuits of little {circuits}, {party} spent {found:?} where {declared:?} was declared (seed {seed}); please report it with this text and the program"
    )]
    Cost {
        mix: String,
        circuits: &'static str,
        party: Party,
        found: Box<Cost>,
        declared: Box<Cost>,
        seed: u64,
    },
}

impl Fault for Wrong {
    fn status(&self) -> Status {
        Status::Internal
    }
}

pub(crate) fn check<H>(made: &Made<'_, H>) -> Result<String> {
    let (flags, program) = (made.flags, &made.program);
    let (mut inputs, missing) = inputs::read(program, &made.required, &flags.inputs, None, false)?;
    inputs.fill(program.inputs(), &missing, flags.seed);
    let checked = program.check(&inputs).map_err(Failure::bug)?;
    let mixes = match (flags.mix, program.parties()) {
        (Some(mix), _) => vec![mix],
        (None, 3) => vec![Mix::AB, Mix::B, Mix::R],
        (None, _) => vec![Mix::AB, Mix::B],
    };
    let mut right = Vec::new();
    for mix in mixes {
        let goals = match made.goal() {
            Some(goal) => vec![goal],
            None => vec![Goal::Size, Goal::Depth],
        };
        for goal in goals {
            compare(made, &inputs, &checked.outputs, mix, goal)?;
        }
        right.push(mix.to_string());
    }
    let name = |&place: &usize| {
        let port = &program.inputs()[place];
        port.name.clone().unwrap_or_else(|| place.to_string())
    };
    let overflows = match missing.is_empty() {
        // Random numbers leave their ranges.
        false => Vec::new(),
        true => checked.overflows.iter().map(ToString::to_string).collect(),
    };
    let report = Report {
        program: made.name,
        parties: program.parties(),
        random: missing.iter().map(name).collect(),
        seed: flags.seed,
        right,
        overflows,
    };
    if flags.json {
        return json_text(&report);
    }
    let mut text = format!(
        "right: {} parties, mixes {}; outputs as the program means them, costs as declared\n",
        report.parties,
        report.right.join(", ")
    );
    if !report.random.is_empty() {
        let names = report.random.join(", ");
        let _ = writeln!(text, "random, from --seed {}: {names}", report.seed);
    }
    for overflow in &report.overflows {
        let _ = writeln!(text, "note: {overflow}");
    }
    Ok(text)
}

fn compare<H>(
    made: &Made<'_, H>,
    inputs: &Inputs,
    expected: &madrigal_program::Outputs,
    mix: Mix,
    goal: Goal,
) -> Result<()> {
    let (program, seed) = (&made.program, made.flags.seed);
    let planned = made.plan_in(mix, Some(goal))?;
    let ended = planned.run_locally(program, inputs);
    let ended = ended.map_err(|error| match error {
        LocalError::Run { error, .. } => error.into(),
        error => Failure::bug(error),
    })?;
    for (party, ended) in Party::all(program.parties()).zip(ended) {
        let outputs = ended.outputs.arrays().zip(expected.arrays());
        for (place, ((found, expected), port)) in outputs.zip(program.outputs()).enumerate() {
            let expected = expected.filter(|_| port.to.contains(&party));
            if found != expected {
                let name = port.name.as_deref();
                return Err(Failure::from(Wrong::Output {
                    mix: mix.to_string(),
                    circuits: saving(goal),
                    party,
                    output: name.map_or(format!("output {place}"), |name| format!("{name:?}")),
                    seed,
                }));
            }
        }
        let declared = planned.plan.cost(party);
        let found = Cost {
            setup: ended.outcome.setup.spent,
            online: ended.outcome.online.spent,
        };
        if found != declared {
            return Err(Failure::from(Wrong::Cost {
                mix: mix.to_string(),
                circuits: saving(goal),
                party,
                found: Box::new(found),
                declared: Box::new(declared),
                seed,
            }));
        }
    }
    Ok(())
}
