//! All parties of a program in one process, for trials and tests.

use std::thread;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::{Given, ProgramPlan, RunError, run_program};
use madrigal_net::transport::{MemoryTransport, mesh};
use madrigal_net::{Session, SessionConfig, block_on};
use thiserror::Error;

use crate::computation::Computation;
use crate::execute::{Executable, ExecuteError};
use crate::lower::Mix;
use crate::simulate::{InputError, Inputs, Outputs};

/// Why a program could not be run by all of its parties.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The inputs are not those that the program asks for.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// The program cannot be carried out in this mix.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// Something went wrong between the parties.
    #[error("{party}: {error}")]
    Run {
        /// The first party that says so.
        party: Party,
        /// What it says.
        error: RunError,
    },
}

impl Computation {
    /// Runs the program as all of its parties and gives the outputs of each, in order: real protocols, each
    /// party on a thread of its own, messages through memory. It is for trials and tests, since one process
    /// then knows all inputs; parties on machines of their own call
    /// [`run_program`](madrigal_engine::run_program).
    ///
    /// ```
    /// use madrigal_program::lower::Mix;
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let a = p.input::<u64>(Party::new(0), ());
    /// let b = p.input::<u64>(Party::new(1), ());
    /// let larger = p.open(a.gt(&b), Everyone);
    /// let parties = p.finish()?.run_locally(&Inputs::new().with(3u64).with(2u64), Mix::AB)?;
    /// assert_eq!(parties.len(), 2);
    /// assert!(parties.iter().all(|outputs| outputs.get(larger) == [true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Inputs that do not fit, and a program that the mix cannot do, before anything runs; what goes wrong
    /// between the parties.
    pub fn run_locally(&self, inputs: &Inputs, mix: Mix) -> Result<Vec<Outputs>, LocalError> {
        let executable = self.executable(mix, Goal::Size)?;
        let plan = executable.plan()?;
        inputs.arrays(self.inputs())?;
        let all = Party::all(self.parties()).zip(mesh(self.parties()));
        let (executable, plan) = (&executable, &plan);
        let ended: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = all
                .map(|(me, transport)| {
                    scope.spawn(move || self.run_as(me, transport, executable, plan, inputs))
                })
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.join().unwrap_or_else(panicked)
            };
            threads.into_iter().map(join).collect()
        });
        ended.into_iter().collect()
    }

    fn run_as(
        &self,
        me: Party,
        transport: MemoryTransport,
        executable: &Executable,
        plan: &ProgramPlan,
        inputs: &Inputs,
    ) -> Result<Outputs, LocalError> {
        let given = Given {
            inputs: executable.given(self, inputs, me)?,
            ..Given::default()
        };
        let config = SessionConfig::new(me, self.parties());
        let outcome = block_on(async {
            let session = Session::new(config, transport);
            let run = async {
                session.greet().await?;
                run_program(&session, 1, plan, given, None, &|_| {}).await
            };
            let outcome = run.await;
            session.close().await;
            outcome
        });
        let outcome = outcome.map_err(|error| LocalError::Run { party: me, error })?;
        Ok(executable.outputs(&outcome.outputs))
    }
}
