//! Programs planned for a network, and run by one party or by all.

mod plan;
mod search;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use madrigal_circuit::Goal;
use madrigal_core::time::Rates;
use madrigal_core::{Party, Phase, Zeroizing};
use madrigal_engine::{Given, Means, Outcome, Plan, PlanSpec, Progress, RunError, run_program};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Session;
use madrigal_operations::SortRounds;

use crate::computation::Computation;
use crate::error::Source;
use crate::local::{LocalError, all_parties};
use crate::lower::{Conditional, Executable, ExecuteError, Mix, Sharing};
use crate::simulate::{InputError, Inputs, Outputs};

/// A program with its plan. Printed, it tells what it costs the party that has most of each.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The program for the engine.
    pub executable: Executable,
    /// Order and cost of what it computes.
    pub plan: Plan,
    /// The mix that it is in: of the sharings of bits that were to choose from, those that are used.
    pub mix: Mix,
    /// The sharing of bits that operations are in, in the order of the program.
    pub held: Vec<Held>,
    /// The fastest plan in which all bits are in one sharing, where there were several.
    pub single: Option<Box<Planned>>,
    /// The goal of its circuits: what they save.
    pub goal: Goal,
    /// Whether those on masked bits do two layers of ANDs in a round.
    pub pairs: bool,
    /// Whether those in B do ANDs of a layer with an operand in common by vector triples.
    pub vectors: bool,
    /// Rounds of sorts of rows: the default without any.
    pub sort_rounds: SortRounds,
    /// Whether the least or greatest of many elements is found in groups, of which all members are compared at once.
    pub groups: bool,
    /// Conditionals on secrets, and how they are computed.
    pub conditionals: Vec<Conditional>,
    /// Plan of the program if all branches were computed and multiplexed, where branches share their cost.
    pub multiplexed: Option<Box<Plan>>,
    /// Ways in which the conditionals could be computed, of which the fastest was taken; nothing without any.
    pub considered: Vec<Considered>,
}

/// Operations on bits, and the sharing that they are in.
#[derive(Debug, Clone)]
pub struct Held {
    /// Line of the first of them.
    pub at: Source,
    /// Their names.
    pub what: String,
    /// The sharing.
    pub sharing: Sharing,
    /// Whether the program says so, or no other sharing of the mix can do it; else the plan has chosen it.
    pub said: bool,
}

/// A way to compute a program's conditionals, and what the program costs then.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// The way in words.
    pub how: &'static str,
    /// Estimated on the line at fixed rates, of the slowest party.
    pub seconds: f64,
    /// Bytes sent in setup and online, by the party that sends most.
    pub bytes_sent: u64,
}

/// Results of one party when a program has ended.
#[derive(Debug)]
pub struct Ended {
    /// Outputs by their names and types.
    pub outputs: Outputs,
    /// Costs that were paid, and the times at which each operation was at work.
    pub outcome: Outcome,
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parties = self.plan.spec().graph.parties();
        let goal = match self.goal {
            Goal::Size => "few gates",
            Goal::Depth => "few layers",
        };
        let groups = match self.groups {
            true => ", the least and greatest found in groups",
            false => "",
        };
        let sorts = match self.sort_rounds {
            SortRounds::Many => "",
            SortRounds::Few => ", sorts of few rounds",
            SortRounds::Fewest => ", sorts of the fewest rounds",
        };
        writeln!(f, "{parties} parties, circuits of {goal}{groups}{sorts}")?;
        for phase in Phase::ALL {
            let costs = || Party::all(parties).map(|party| *self.plan.cost(party).phase(phase));
            writeln!(
                f,
                "{phase}: {} bytes sent, {} rounds, {} AES blocks",
                costs().map(|cost| cost.bytes_sent).max().unwrap_or(0),
                costs().map(|cost| cost.rounds).max().unwrap_or(0),
                costs().map(|cost| cost.aes_blocks).max().unwrap_or(0),
            )?;
        }
        for conditional in &self.conditionals {
            writeln!(f, "{conditional}")?;
        }
        let chosen = self.held.iter().filter(|_| self.single.is_some());
        for held in chosen {
            writeln!(f, "{held}")?;
        }
        if let Some(single) = &self.single {
            let (mix, seconds) = (single.mix, single.seconds());
            writeln!(f, "in {mix} alone: about {seconds:.3} s, by fixed rates")?;
        }
        write!(f, "about {:.3} s, by fixed rates", self.seconds())
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            what,
            sharing,
            said,
        } = self;
        let who = if *said { ", as it must be" } else { "" };
        write!(f, "{at}: {what} in {sharing}{who}")
    }
}

impl Planned {
    /// Plans the same steps with other changes to the usual plan, as [`Computation::plan`] takes them. Where a plan in one
    /// sharing of bits takes less time then, it is the one.
    ///
    /// # Errors
    /// [`ExecuteError`] for a plan that cannot be.
    pub fn again(&self, adjust: &dyn Fn(&mut PlanSpec)) -> Result<Self, ExecuteError> {
        let mut spec = self.executable.spec();
        adjust(&mut spec);
        let single = match &self.single {
            Some(single) => Some(Box::new(single.again(adjust)?)),
            None => None,
        };
        let made = Self {
            plan: Plan::fastest(spec)?,
            single,
            ..self.clone()
        };
        Ok(made.or_single())
    }

    /// The plan, or the one in a single sharing of bits where that takes less time.
    pub(crate) fn or_single(self) -> Self {
        match self.single {
            Some(single) if single.seconds() < self.seconds() => Self {
                single: Some(single.clone()),
                ..*single
            },
            _ => self,
        }
    }

    /// Time at fixed rates.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_at(&Rates::ZEN_5)
    }

    /// How long it is expected to take the slowest party on the line that it is planned for, on machines with these
    /// rates: with fixed ones, to choose among plans as all parties do.
    pub fn seconds_at(&self, rates: &Rates) -> f64 {
        let line = self.plan.spec().line;
        let of = |party| self.plan.time(party, rates, &line).total;
        Party::all(self.plan.spec().graph.parties())
            .map(of)
            .fold(0.0, f64::max)
    }

    /// Values that a party brings to [`Planned::run`], and its shares of what clients bring.
    ///
    /// # Errors
    /// Inputs of `me` that are missing, and any that are not what the program asks for; a client's input that is not
    /// shared.
    pub fn given<'a>(
        &self,
        program: &Computation,
        inputs: &Inputs,
        me: Party,
    ) -> Result<Given<'a>, InputError> {
        Ok(Given {
            inputs: self.executable.given(program, inputs, me)?,
            means: Means::default(),
            facts: inputs.facts(program.inputs())?,
        })
    }

    /// Values that all parties bring, in order, where what clients bring is dealt to them: for trials and tests.
    ///
    /// # Errors
    /// Inputs that are missing, and any that are not what the program asks for.
    pub fn given_to_all<'a>(
        &self,
        program: &Computation,
        inputs: &Inputs,
    ) -> Result<Vec<Given<'a>>, InputError> {
        let mut seed = Zeroizing::new([0; 24]);
        getrandom::fill(&mut *seed).map_err(|_| InputError::NoRandomness)?;
        let word = |at: usize| {
            let bytes = (0..8).map(|byte| u64::from(seed[8 * at + byte]) << (8 * byte));
            bytes.sum::<u64>()
        };
        let mut random = Prg::numbered(Block::new(word(0), word(1)), word(2));
        let dealt = program.deal(inputs, self.executable.mix(), &mut random)?;
        Party::all(program.parties())
            .zip(&dealt)
            .map(|(me, own)| self.given(program, own, me))
            .collect()
    }

    /// Runs the program as job `id` of `session`. `observe` hears of progress; it must be quick.
    ///
    /// # Errors
    /// Values that do not fit, before anything is sent; requirements that are not met; what goes wrong between the parties.
    pub async fn run(
        &self,
        session: &Session,
        id: u32,
        given: Given<'_>,
        deadline: Option<Duration>,
        observe: &dyn Fn(Progress),
    ) -> Result<Ended, RunError> {
        let outcome = run_program(session, id, &self.plan, given, deadline, observe).await?;
        Ok(Ended {
            outputs: self.executable.outputs(&outcome.outputs)?,
            outcome,
        })
    }

    /// Runs the program as all of its parties, in order: each on a thread of its own, messages through
    /// memory. What clients bring is dealt to the parties first.
    ///
    /// # Errors
    /// Inputs that do not fit, before anything runs; what goes wrong between the parties.
    pub fn run_locally(
        &self,
        program: &Computation,
        inputs: &Inputs,
    ) -> Result<Vec<Ended>, LocalError> {
        let given = self.given_to_all(program, inputs)?;
        let given: Vec<_> = given.into_iter().map(|one| Mutex::new(Some(one))).collect();
        all_parties(program.parties(), async |session, me| {
            let own = &given[me.index()];
            let own = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            let given = own.expect("each party runs once");
            let run = async {
                session.greet().await?;
                self.run(session, 1, given, None, &|_| {}).await
            };
            run.await
                .map_err(|error| LocalError::Run { party: me, error })
        })
    }
}
