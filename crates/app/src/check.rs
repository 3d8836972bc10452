//! A program compared with its meaning: outputs with the oracle's, costs with what was declared.

use std::fmt::Write as _;

use madrigal_circuit::Goal;
use madrigal_core::{Cost, Party};
use madrigal_engine::{Outcome, Plan};
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Computation, Holder, Inputs, LocalError, OutputPort, Outputs};
use serde::Serialize;

use crate::explain::saving;
use crate::failure::{Failure, Fault, Result, Status};
use crate::figures::json_text;
use crate::flagged::FlaggedProgram;
use crate::inputs;
use crate::progress::Steps;
use crate::wanted::is_wanted;

/// Report of what was compared, as JSON has it.
#[derive(Serialize)]
struct Report<'a> {
    /// Name of the program.
    program: &'a str,
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
        "in mix {mix}, with circuits of little {circuits}, {who} got another {output} than the program means (seed {seed}); please report it with this text and the program"
    )]
    Output {
        mix: String,
        circuits: &'static str,
        who: Holder,
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

impl Wrong {
    /// Tells of which stage an output is.
    pub(crate) fn of_stage(mut self, stage: u32) -> Self {
        if let Self::Output { output, .. } = &mut self {
            *output += &format!(" of stage {stage}");
        }
        self
    }
}

impl Fault for Wrong {
    fn status(&self) -> Status {
        Status::Internal
    }
}

pub(crate) fn check<H>(made: &FlaggedProgram<'_, H>) -> Result<String> {
    let (flags, program) = (made.flags, &made.program);
    let (mut inputs, missing) = inputs::read(program, &made.required, &flags.inputs, None, false)?;
    inputs.fill(program.inputs(), &missing, flags.seed);
    let checked = program.check(&inputs)?;
    let mixes = mixes(flags.mix, program.parties());
    let goals = goals(made.goal());
    let steps = Steps::new(
        (mixes.len() * goals.len()) as u64,
        flags.quiet || flags.json,
    );
    for &mix in &mixes {
        for &goal in &goals {
            is_wanted()?;
            steps.name(&format!("{mix}, circuits of little {}", saving(goal)));
            compare(made, &inputs, &checked.outputs, mix, goal)?;
            steps.advance();
        }
    }
    steps.clear();
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
        right: mixes.iter().map(ToString::to_string).collect(),
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
    made: &FlaggedProgram<'_, H>,
    inputs: &Inputs,
    expected: &Outputs,
    mix: Mix,
    goal: Goal,
) -> Result<()> {
    let (program, seed) = (&made.program, made.flags.seed);
    let threads = made.flags.threads.resolve(program.parties());
    let planned = made.planner().plan_in(mix, Some(goal), threads)?;
    let ended = planned.run_locally(program, inputs);
    let ended = ended.map_err(|error| match error {
        LocalError::Run { error, .. } => error.into(),
        error => Failure::bug(error),
    })?;
    let tried = Tried { mix, goal, seed };
    let outputs: Vec<Outputs> = ended.iter().map(|party| party.outputs.clone()).collect();
    tried.judge_clients(program, &outputs, expected)?;
    for (party, ended) in Party::all(program.parties()).zip(ended) {
        let expected: Vec<_> = expected.arrays().collect();
        let outputs = (&ended.outputs, program.outputs());
        tried.judge(party, outputs, &expected, &ended.outcome, &planned.plan)?;
    }
    Ok(())
}

/// An output in words.
fn named(place: usize, port: &OutputPort) -> String {
    match &port.name {
        Some(name) => format!("{name:?}"),
        None => format!("output {place}"),
    }
}

/// Lists the mixes that are compared: the one that is named, or those that have most in them.
pub(crate) fn mixes(named: Option<Mix>, parties: usize) -> Vec<Mix> {
    match (named, parties) {
        (Some(mix), _) => vec![mix],
        (None, 3) => vec![Mix::AB, Mix::B, Mix::R],
        (None, _) => vec![Mix::AB, Mix::B],
    }
}

/// Lists the goals of circuits that are compared.
pub(crate) fn goals(named: Option<Goal>) -> Vec<Goal> {
    named.map_or_else(|| vec![Goal::Size, Goal::Depth], |goal| vec![goal])
}

/// Way in which a program is run to be compared.
#[derive(Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) mix: Mix,
    pub(crate) goal: Goal,
    /// Seed of random inputs.
    pub(crate) seed: u64,
}

impl Tried {
    /// Compares what clients get of all parties' shares with what all outputs mean.
    fn judge_clients(
        self,
        program: &Computation,
        parties: &[Outputs],
        expected: &Outputs,
    ) -> Result<()> {
        let Self { mix, goal, seed } = self;
        let (mix, circuits) = (mix.to_string(), saving(goal));
        let together = program.put_together(parties).map_err(Failure::bug)?;
        let outputs = together
            .arrays()
            .zip(expected.arrays())
            .zip(program.outputs());
        for (place, ((found, expected), port)) in outputs.enumerate() {
            let client = port.clients().next();
            if let (Some(client), true) = (client, found != expected) {
                let (who, output) = (client.into(), named(place, port));
                return Err(Failure::from(Wrong::Output {
                    mix,
                    circuits,
                    who,
                    output,
                    seed,
                }));
            }
        }
        Ok(())
    }

    /// Compares what a party got with what all outputs mean, and what it spent with what its plan declares.
    pub(crate) fn judge(
        self,
        party: Party,
        (outputs, ports): (&Outputs, &[OutputPort]),
        expected: &[Option<&Array>],
        outcome: &Outcome,
        plan: &Plan,
    ) -> Result<(), Wrong> {
        let Self { mix, goal, seed } = self;
        let (mix, circuits) = (mix.to_string(), saving(goal));
        for (place, (found, port)) in outputs.arrays().zip(ports).enumerate() {
            let expected = expected.get(place).copied().flatten();
            if found != expected.filter(|_| port.is_for(party)) {
                let (who, output) = (party.into(), named(place, port));
                return Err(Wrong::Output {
                    mix,
                    circuits,
                    who,
                    output,
                    seed,
                });
            }
        }
        let declared = plan.cost(party);
        let found = Cost {
            setup: outcome.setup.spent,
            online: outcome.online.spent,
        };
        match found == declared {
            true => Ok(()),
            false => Err(Wrong::Cost {
                mix,
                circuits,
                party,
                found: Box::new(found),
                declared: Box::new(declared),
                seed,
            }),
        }
    }
}
