//! One random program or network: made, run by all parties, compared with the oracle, and made smaller where it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::{Given, Opening, Phases, Plan, RunError, evaluate_program};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Error;
use madrigal_program::generator::Recipe;
use madrigal_program::lower::{Lowered, Mix, Sharing};
use madrigal_program::{Array, Computation, Inputs, Outputs};
use madrigal_testkit::World;

use super::networks;
use crate::common::Random;

/// Mixes with numbers of parties they are for.
pub(crate) const MIXES: [(Mix, usize); 14] = [
    (Mix::AB, 2),
    (Mix::ALPHA_BETA, 2),
    (Mix::R, 3),
    (Mix::ALPHA_Y2, 2),
    (Mix::AY2, 2),
    (Mix::AY, 2),
    (Mix::B, 2),
    (Mix::Y2, 2),
    (Mix::BETA, 2),
    (Mix::Y, 2),
    (Mix::AB, 3),
    (Mix::B, 3),
    (Mix::AY, 3),
    (Mix::Y, 3),
];

/// Networks among trials: the first of these numbers of trials has the second number of networks.
const NETWORKS: [u64; 2] = [5, 2];

/// A smaller one that fails may need other shares to do so.
const TRIES: u64 = 4;

/// Counts of trials.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u64,
    pub(crate) networks: u64,
    /// Networks that cannot be computed on secrets, and that therefore were none.
    pub(crate) refused: u64,
}

/// A trial: everything follows from it.
#[derive(Debug, Clone)]
struct Trial {
    mix: Mix,
    parties: usize,
    goal: Goal,
    threads: usize,
    phases: Option<Phases>,
    opening: Opening,
    seed: u64,
    network: bool,
    /// Operations or layers.
    size: usize,
}

/// A program with inputs.
pub(crate) struct Made {
    pub(crate) program: Computation,
    pub(crate) inputs: Inputs,
    pub(crate) what: String,
}

/// Trial `number` of those that follow from a seed.
///
/// # Errors
/// Text that says what is wrong, and the smallest trial of its kind.
pub(crate) fn trial(
    seed: u64,
    number: u64,
    mix: Option<&str>,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixes: Vec<_> = MIXES
        .into_iter()
        .filter(|(own, _)| mix.is_none_or(|mix| own.to_string() == mix))
        .collect();
    let turn = number / mixes.len() as u64;
    let (mix, parties) = mixes[(number % mixes.len() as u64) as usize];
    let network = turn % NETWORKS[0] < NETWORKS[1];
    let trial = Trial {
        mix,
        parties,
        goal: [Goal::Depth, Goal::Size][random.below(2)],
        threads: [1, 1, 1, 2][random.below(4)],
        phases: [None, Some(Phases::Sequential), Some(Phases::Interleaved)][random.below(3)],
        opening: [Opening::Direct, Opening::Direct, Opening::Relay][random.below(3)],
        seed: random.below(usize::MAX) as u64,
        network,
        size: match network {
            true => 1 + random.below(5),
            false => [3, 8, 8, 15, 30][random.below(5)],
        },
    };
    let Some(made) = trial.make() else {
        tally.refused += 1;
        return Ok(());
    };
    match network {
        true => tally.networks += 1,
        false => tally.programs += 1,
    }
    let Err(what) = trial.run(&made, trial.seed) else {
        return Ok(());
    };
    // The first operations of a larger program are a smaller one.
    for size in 1..trial.size {
        let smaller = Trial {
            size,
            ..trial.clone()
        };
        let Some(made) = smaller.make() else {
            continue;
        };
        for shares in 0..TRIES {
            if let Err(what) = smaller.run(&made, trial.seed.wrapping_add(shares)) {
                return Err(smaller.told(&made, &what));
            }
        }
    }
    Err(trial.told(&made, &what))
}

impl Trial {
    fn make(&self) -> Option<Made> {
        if self.network {
            return networks::network(self.seed, self.size, self.parties);
        }
        let recipe = Recipe {
            seed: self.seed,
            parties: self.parties,
            operations: self.size,
            mix: self.mix,
            functions: !self.seed.is_multiple_of(4),
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        Some(Made {
            program,
            inputs,
            what: format!("{recipe:?}"),
        })
    }

    fn told(&self, made: &Made, what: &str) -> String {
        let text = made.program.describe().join("\n");
        format!("{self:?}\n{}\n{text}\n{what}", made.what)
    }

    /// Runs the program by all parties; a panic is an error as others are.
    fn run(&self, made: &Made, shares: u64) -> Result<(), String> {
        let run = || {
            let lowered = made.program.lower(self.mix, self.goal);
            let lowered = lowered.map_err(|error| format!("it is not lowered: {error}"))?;
            if self.mix.bits() == Sharing::BETA && self.seed.is_multiple_of(2) {
                return self.run_lowered(made, &lowered.in_pairs(), shares);
            }
            self.run_lowered(made, &lowered, shares)
        };
        let panicked = |panic: Box<dyn std::any::Any + Send>| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Err(format!("a panic: {}", text.unwrap_or("without words")))
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked)
    }

    fn run_lowered(&self, made: &Made, lowered: &Lowered, shares: u64) -> Result<(), String> {
        let (program, inputs) = (&made.program, &made.inputs);
        let wrong = |error: &dyn std::fmt::Display| error.to_string();
        let expected = program.simulate(inputs).map_err(|error| wrong(&error))?;
        let executable = lowered.executable().map_err(|error| wrong(&error))?;
        let mut spec = executable.spec();
        (spec.threads, spec.phases) = (self.threads, self.phases);
        spec.opening = self.opening;
        let plan = Plan::new(spec).map_err(|error| wrong(&error))?;
        let world = World::light(self.parties, shares);
        let mut random = Prg::new(Block::new(shares, 2));
        let dealt = program.deal(inputs, lowered.mix, &mut random);
        let dealt = dealt.map_err(|error| wrong(&error))?;
        let (plan, executable, dealt) = (&plan, &executable, &dealt);
        let ended = world.run(|context| async move {
            let given = executable.given(program, &dealt[context.me().index()], context.me());
            let given = Given {
                inputs: given.expect("inputs as declared"),
                ..Given::default()
            };
            match evaluate_program(&context, plan, given, &|_| {}).await {
                Ok(values) => Ok(executable.outputs(&values).expect("what is required holds")),
                Err(RunError::Net(error)) => Err(error),
                Err(other) => Err(Error::Ended {
                    reason: other.to_string(),
                }),
            }
        });
        let codes = |array: Option<&Array>| array.map(|array| array.codes().collect::<Vec<_>>());
        let all: Vec<Outputs> = ended.iter().map(|(outputs, _)| outputs.clone()).collect();
        let together = program.put_together(&all).map_err(|error| wrong(&error))?;
        let clients = together
            .arrays()
            .zip(expected.arrays())
            .zip(program.outputs());
        for (number, ((found, expected), port)) in clients.enumerate() {
            let expected = expected.filter(|_| port.clients().next().is_some());
            let (found, expected) = (codes(found), codes(expected));
            if found != expected {
                return Err(format!(
                    "clients get {found:?} as output {number}, not {expected:?}"
                ));
            }
        }
        for (me, (outputs, cost)) in Party::all(self.parties).zip(ended) {
            let ports = outputs
                .arrays()
                .zip(expected.arrays())
                .zip(program.outputs());
            for (number, ((found, expected), port)) in ports.enumerate() {
                let expected = if port.is_for(me) { expected } else { None };
                let (found, expected) = (codes(found), codes(expected));
                if found != expected {
                    return Err(format!(
                        "{me}: output {number} is {found:?}, not {expected:?}"
                    ));
                }
            }
            if cost != plan.cost(me) {
                return Err(format!("{me}: it cost {cost:?}, not {:?}", plan.cost(me)));
            }
        }
        Ok(())
    }
}
