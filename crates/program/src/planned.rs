//! Programs planned for a network, and run by one party or by all.

use std::thread;
use std::time::Duration;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_core::time::Rates;
use madrigal_engine::{
    Given, Means, Outcome, ProgramPlan, ProgramSpec, Progress, RunError, run_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};

use crate::computation::Computation;
use crate::execute::{Executable, ExecuteError};
use crate::local::LocalError;
use crate::lower::{Conditional, Lowered, Mix, Way};
use crate::simulate::{InputError, Inputs, Outputs};

/// A program with its plan.
#[derive(Debug, Clone)]
pub struct Planned {
    /// What the engine computes.
    pub executable: Executable,
    /// In which order, and at what cost.
    pub plan: ProgramPlan,
    /// What its circuits save.
    pub goal: Goal,
    /// Its conditionals on secrets, and how they are computed.
    pub conditionals: Vec<Conditional>,
    /// Where branches share their cost: what it would be if all were computed and multiplexed.
    pub multiplexed: Option<Box<ProgramPlan>>,
}

/// What one party has when a program has ended.
#[derive(Debug)]
pub struct Ended {
    /// By their names and types.
    pub outputs: Outputs,
    /// What was spent, and when each operation was at work.
    pub outcome: Outcome,
}

impl Computation {
    /// Plans the program in a mix; `adjust` says what is to be otherwise than usual: the line between the
    /// parties, above all. Without a goal, circuits save what takes less time on that line: ANDs, or layers
    /// of them. Conditionals on secrets are computed in whichever way takes the least time there. The choice is by fixed [rates](Rates::ZEN_5), so that all parties come to the same.
    ///
    /// ```
    /// use madrigal_circuit::Goal;
    /// use madrigal_program::lower::Mix;
    /// use madrigal_program::{Everyone, Party, Program};
    /// let mut p = Program::new(3);
    /// let [a, b] = [0, 1].map(|party| p.input::<u64>(Party::new(party), ()));
    /// p.open(a.lt(b), Everyone);
    /// let program = p.finish()?;
    /// let planned = program.plan(Mix::R, None, &|spec| spec.line.latency = 0.05)?;
    /// assert_eq!(planned.goal, Goal::Depth);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Computation::executable`], and a plan that cannot be.
    pub fn plan(
        &self,
        mix: Mix,
        goal: Option<Goal>,
        adjust: &dyn Fn(&mut ProgramSpec),
    ) -> Result<Planned, ExecuteError> {
        let planned = |goal, lowered: &Lowered| -> Result<Planned, ExecuteError> {
            let executable = lowered.executable()?;
            let mut spec = executable.spec();
            adjust(&mut spec);
            Ok(Planned {
                plan: ProgramPlan::new(spec)?,
                executable,
                goal,
                conditionals: lowered.conditionals(),
                multiplexed: None,
            })
        };
        let goals = match goal {
            Some(goal) => vec![goal],
            None => vec![Goal::Size, Goal::Depth],
        };
        let (mut plain, mut best) = (Fastest::default(), Fastest::default());
        for goal in goals {
            plain.take(planned(goal, &self.lower_with(mix, goal, false)?)?, ());
            if plain.conditionals().is_empty() {
                continue;
            }
            let lowered = self.lower_with(mix, goal, true)?;
            let steps = lowered.conditionals().len() - lowered.multiplexed.len();
            if steps == 0 {
                continue;
            }
            let mut fastest = Fastest::default();
            for way in Way::ALL {
                let ways = vec![way; steps];
                fastest.take(planned(goal, &lowered.with_ways(&ways))?, ways);
            }
            if (2..=EACH).contains(&steps) {
                for step in 0..steps {
                    for way in Way::ALL {
                        let mut ways = fastest.with().clone();
                        if std::mem::replace(&mut ways[step], way) != way {
                            fastest.take(planned(goal, &lowered.with_ways(&ways))?, ways);
                        }
                    }
                }
            }
            best.take(fastest.planned(), ());
        }
        let plain = plain.planned();
        let Some((seconds, best, ())) = best.0 else {
            return Ok(plain);
        };
        Ok(match seconds < plain.seconds() {
            true => Planned {
                multiplexed: Some(Box::new(plain.plan)),
                ..best
            },
            false => plain,
        })
    }
}

/// Up to how many conditionals each is computed in the way that is best for it; more are all computed in
/// one way.
const EACH: usize = 4;

/// The plan that takes the least time, the first of equal ones, and what it came of.
struct Fastest<T>(Option<(f64, Planned, T)>);

impl<T> Default for Fastest<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Fastest<T> {
    fn take(&mut self, planned: Planned, with: T) {
        let seconds = planned.seconds();
        if self.0.as_ref().is_none_or(|(least, ..)| seconds < *least) {
            self.0 = Some((seconds, planned, with));
        }
    }

    fn conditionals(&self) -> &[Conditional] {
        let taken = self.0.as_ref();
        taken.map_or(&[], |(_, planned, _)| &planned.conditionals)
    }

    fn with(&self) -> &T {
        &self.0.as_ref().expect("a plan was taken").2
    }

    fn planned(self) -> Planned {
        self.0.expect("a plan was taken").1
    }
}

impl Planned {
    /// Of the slowest party, at fixed rates.
    fn seconds(&self) -> f64 {
        let line = self.plan.spec().line;
        let of = |party| self.plan.time(party, &Rates::ZEN_5, &line).total;
        Party::all(self.plan.spec().graph.parties())
            .map(of)
            .fold(0.0, f64::max)
    }

    /// What a party brings to [`Planned::run`].
    ///
    /// # Errors
    /// Inputs of `me` that are missing, and any that are not what the program asks for.
    pub fn given<'a>(
        &self,
        program: &Computation,
        inputs: &Inputs,
        me: Party,
    ) -> Result<Given<'a>, InputError> {
        Ok(Given {
            inputs: self.executable.given(program, inputs, me)?,
            means: Means::default(),
        })
    }

    /// Runs the program as job `id` of `session`. `observe` hears of progress; it must be quick.
    ///
    /// # Errors
    /// Values that do not fit, before anything is sent; what goes wrong between the parties.
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
            outputs: self.executable.outputs(&outcome.outputs),
            outcome,
        })
    }

    /// Runs the program as all of its parties, in order: each on a thread of its own, messages through
    /// memory.
    ///
    /// # Errors
    /// Inputs that do not fit, before anything runs; what goes wrong between the parties.
    pub fn run_locally(
        &self,
        program: &Computation,
        inputs: &Inputs,
    ) -> Result<Vec<Ended>, LocalError> {
        inputs.arrays(program.inputs())?;
        let parties = program.parties();
        let all = Party::all(parties).zip(mesh(parties));
        let party = |me, transport| -> Result<Ended, LocalError> {
            let given = self.given(program, inputs, me)?;
            let done = block_on(async {
                let session = Session::new(SessionConfig::new(me, parties), transport);
                let run = async {
                    session.greet().await?;
                    self.run(&session, 1, given, None, &|_| {}).await
                };
                let done = run.await;
                session.close().await;
                done
            });
            done.map_err(|error| LocalError::Run { party: me, error })
        };
        let party = &party;
        let ended: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = all
                .map(|(me, transport)| scope.spawn(move || party(me, transport)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.join().unwrap_or_else(panicked)
            };
            threads.into_iter().map(join).collect()
        });
        ended.into_iter().collect()
    }
}
