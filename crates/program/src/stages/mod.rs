//! Programs one after another, where values that were opened decide which comes next.

mod cell;
mod local;
mod maker;

use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_engine::{Outcome, Progress, RunError, StageOutcome, Stages as Engine};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Session;
use thiserror::Error;

use crate::computation::Computation;
use crate::error::{Fault, ProgramError};
use crate::lower::ExecuteError;
use crate::lower::Mix;
use crate::planned::Planned;
use crate::ports::OutputPort;
use crate::program::Program;
use crate::simulate::{InputError, Inputs, Outputs};

pub(crate) use cell::{Cell, Content, Held, StagesRun};
pub use cell::{Kept, KeptTensor};
pub use maker::StageMaker;

/// A run of stages: programs one after another, among the same parties, where plain Rust looks at what one has
/// opened and builds the next one accordingly.
///
/// A function of a `Stages` is one party of a session ([`over`](Self::over)), all parties of a trial
/// ([`locally`](Self::locally)), or the meaning in the clear ([`simulated`](Self::simulated)), by the same
/// lines. Values that a stage [keeps](Program::keep) are there as shares for later ones ([`Program::kept`]).
///
/// Each stage is planned when it is reached, by the same rules at all parties, so what a stage costs is known
/// before its first byte, and what all of them will cost is not. What decides what is done next must be known to
/// all parties: [`run`](Self::run) takes programs that open to everyone, and [`last`](Self::last) others. Parties
/// that go on differently all the same learn which operation differs, before that stage computes anything.
///
/// A stage makes its correlations by itself, base OTs between all pairs of parties included: where there are any, they
/// are most of the time of a short stage. So few stages that do much are better than many that do little.
///
/// Whoever sees how many stages there are, and of what, learns what decided it. So open nothing that is not to be
/// known.
///
/// ```
/// use madrigal_program::{Everyone, Inputs, Party, StageError, Stages};
///
/// /// How often a secret can be halved until it is below a limit: three stages for 20 and 4.
/// async fn halvings(mut stages: Stages<'_>) -> Result<usize, StageError> {
///     let mut p = stages.program();
///     let secret = p.input::<u32>(Party::new(0), ());
///     let mut kept = p.keep(&secret);
///     stages.run_with(p, &Inputs::new().with(20u32)).await?;
///     for times in 0.. {
///         let mut p = stages.program();
///         let secret = p.kept(&kept);
///         let below = p.open(secret.lt(4u32), Everyone);
///         kept = p.keep(&(secret >> 1));
///         if stages.run(p).await?.get(below) == [true] {
///             return Ok(times);
///         }
///     }
///     unreachable!("a secret has 32 bits")
/// }
///
/// assert_eq!(Stages::simulate(2, halvings)?, 3);
/// assert_eq!(Stages::locally(2, halvings)?, [3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stages<'a> {
    parties: usize,
    run: Arc<StagesRun>,
    mode: Mode<'a>,
    plan: Box<Planner<'a>>,
    inputs: Box<InputSource<'a>>,
    tell: Box<dyn FnMut(&StageReport<'_>) + 'a>,
    ended: u32,
    /// Generator of shares of clients' values, where these are here in the clear.
    dealer: Option<Prg>,
}

type Planner<'a> = dyn Fn(&Computation) -> Result<Planned, ExecuteError> + 'a;
type InputSource<'a> = dyn FnMut(&Computation) -> Result<Inputs, StageError> + 'a;

/// How stages are run.
enum Mode<'a> {
    /// Stages in the clear; each is planned all the same if somebody wants to know what it would cost.
    Clear { planned: bool },
    /// As one party of a session.
    Party {
        stages: Engine,
        me: Party,
        deadline: Option<Duration>,
        observe: &'a dyn Fn(Progress),
    },
}

/// A stage that has ended.
#[derive(Debug)]
pub struct StageReport<'a> {
    /// Number of the stage, from 0 on.
    pub stage: u32,
    /// Who ran it, unless it was simulated.
    pub party: Option<Party>,
    /// The program that was computed.
    pub program: &'a Computation,
    /// Order and cost of what was computed, unless the stage was simulated without a plan.
    pub planned: Option<&'a Planned>,
    /// Values that were opened.
    pub outputs: &'a Outputs,
    /// Costs that were paid, unless the stage was simulated.
    pub outcome: Option<&'a Outcome>,
}

/// Why a stage could not be run. It ends the run: stages after it have the same error between the parties.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StageError {
    /// An operator that cannot be; a value that is opened to some, or of another run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A stage that cannot be planned.
    #[error(transparent)]
    Execute(ExecuteError),
    /// Inputs that are not those that a stage asks for.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// Something went wrong between the parties.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The closure of [`Stages::with_inputs`] has no inputs for the stage.
    #[error("{reason}")]
    NoInputs {
        /// Reason that the closure gives.
        reason: String,
    },
}

impl From<ExecuteError> for StageError {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Program(error) => Self::Program(error),
            error => Self::Execute(error),
        }
    }
}

impl<'a> Stages<'a> {
    fn new(parties: usize, mode: Mode<'a>) -> Self {
        Self {
            parties,
            run: Arc::new(StagesRun),
            mode,
            plan: Box::new(|program| program.plan(program.mix(), None, &|_| {})),
            inputs: Box::new(|_| Ok(Inputs::new())),
            tell: Box::new(|_| {}),
            ended: 0,
            dealer: None,
        }
    }

    /// Stages in the clear: what the protocols compute, whichever they are.
    pub fn simulated(parties: usize) -> Self {
        Self::new(parties, Mode::Clear { planned: false })
    }

    /// Stages in the clear, each of which is planned all the same: its [report](StageReport) says what it would cost.
    pub fn estimated(parties: usize) -> Self {
        Self::new(parties, Mode::Clear { planned: true })
    }

    /// Stages as one of the first `parties` parties of a session, as its jobs from number `first_job` on; a dealer
    /// would be the session's last party. `observe` hears of progress; it must be quick.
    pub fn over(
        session: &Session,
        parties: usize,
        first_job: u32,
        deadline: Option<Duration>,
        observe: &'a dyn Fn(Progress),
    ) -> Self {
        let mode = Mode::Party {
            stages: Engine::new(session, first_job),
            me: session.me(),
            deadline,
            observe,
        };
        Self::new(parties, mode)
    }

    /// Runs stages in another mix than the programs' own.
    #[must_use]
    pub fn with_mix(self, mix: Mix) -> Self {
        self.with_plan(move |program| program.plan(mix, None, &|_| {}))
    }

    /// Has a closure plan each stage: all parties in the same way.
    #[must_use]
    pub fn with_plan(
        self,
        plan: impl Fn(&Computation) -> Result<Planned, ExecuteError> + 'a,
    ) -> Self {
        let plan = Box::new(plan);
        Self { plan, ..self }
    }

    /// Has a closure give the inputs of stages that are [run](Self::run) without any: of a party's own,
    /// or of all.
    #[must_use]
    pub fn with_inputs(
        self,
        inputs: impl FnMut(&Computation) -> Result<Inputs, StageError> + 'a,
    ) -> Self {
        let inputs = Box::new(inputs);
        Self { inputs, ..self }
    }

    /// Takes what clients bring in the clear, as part of the inputs, and deals shares of it that follow from this seed, for trials
    /// in which all parties are here: they take the same seed. Otherwise a party gives its share of a client's input
    /// ([`Inputs::with_share`]).
    #[must_use]
    pub fn dealing(self, seed: u64) -> Self {
        let dealer = Some(Prg::new(Block::new(seed, 0)));
        Self { dealer, ..self }
    }

    /// Makes the stages those of a maker's programs.
    ///
    /// # Panics
    /// If the maker is for another number of parties.
    #[must_use]
    pub fn of_maker(self, maker: &StageMaker) -> Self {
        assert_eq!(self.parties, maker.parties, "a maker for these parties");
        let run = Arc::clone(&maker.run);
        Self { run, ..self }
    }

    /// Has a closure hear of each stage that has ended.
    #[must_use]
    pub fn telling(self, tell: impl FnMut(&StageReport<'_>) + 'a) -> Self {
        let tell = Box::new(tell);
        Self { tell, ..self }
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The party that this is, unless the stages are simulated. What is done next must not depend on it.
    pub fn me(&self) -> Option<Party> {
        match &self.mode {
            Mode::Party { me, .. } => Some(*me),
            Mode::Clear { .. } => None,
        }
    }

    /// Number of stages that have ended.
    pub fn ended(&self) -> u32 {
        self.ended
    }

    /// Number of the session's job that the next stage would be; `None` where stages are simulated. A stage that was refused
    /// before anything was sent has taken no number, one that did not meet a requirement has.
    pub fn next_job(&self) -> Option<u32> {
        match &self.mode {
            Mode::Party { stages, .. } => Some(stages.next_job()),
            Mode::Clear { .. } => None,
        }
    }

    /// An empty program, for a stage of this run.
    #[track_caller]
    pub fn program(&self) -> Program {
        Program::new(self.parties).of_run(&self.run)
    }

    /// Runs a program as the next stage and gives what it opened, to everyone. Its inputs are those of
    /// [`with_inputs`](Self::with_inputs).
    ///
    /// # Errors
    /// The first operator that could not be, an opening to some of the parties alone, a stage that cannot be
    /// planned, inputs that do not fit, all before anything is sent; what goes wrong between the parties.
    pub async fn run(&mut self, program: Program) -> Result<Outputs, StageError> {
        let program = decided(program.finish()?)?;
        let inputs = (self.inputs)(&program)?;
        self.stage(program, &inputs).await
    }

    /// Runs a program as the next stage with inputs: a party's own, or all parties'.
    ///
    /// # Errors
    /// [`StageError`] in the same cases as [`run`](Self::run).
    pub async fn run_with(
        &mut self,
        program: Program,
        inputs: &Inputs,
    ) -> Result<Outputs, StageError> {
        self.stage(decided(program.finish()?)?, inputs).await
    }

    /// Runs a program as the last stage: it may open values to some of the parties alone, since nothing comes
    /// after it that they could decide.
    ///
    /// # Errors
    /// [`StageError`] in the same cases as [`run`](Self::run), but for openings.
    pub async fn last(mut self, program: Program) -> Result<Outputs, StageError> {
        let program = program.finish()?;
        let inputs = (self.inputs)(&program)?;
        self.stage(program, &inputs).await
    }

    /// Runs a program that is finished already as the next stage, with inputs: a party's own, or all parties'. For front ends.
    ///
    /// # Errors
    /// [`StageError`] in the same cases as [`run`](Self::run).
    pub async fn run_finished(
        &mut self,
        program: Computation,
        inputs: &Inputs,
    ) -> Result<Outputs, StageError> {
        self.stage(decided(program)?, inputs).await
    }

    /// Runs a program that is finished already as the last stage, as [`last`](Self::last) does. For front ends, who see to it
    /// that nothing comes after it.
    ///
    /// # Errors
    /// [`StageError`] in the same cases as [`run`](Self::run), but for openings.
    pub async fn last_finished(
        &mut self,
        program: Computation,
        inputs: &Inputs,
    ) -> Result<Outputs, StageError> {
        self.stage(program, inputs).await
    }

    async fn stage(
        &mut self,
        program: Computation,
        inputs: &Inputs,
    ) -> Result<Outputs, StageError> {
        let own = |run: &Option<Arc<StagesRun>>| {
            run.as_ref().is_some_and(|of| Arc::ptr_eq(of, &self.run))
        };
        if let Some(at) = program.stray(own) {
            let fault = Fault::OtherRun;
            return Err(ProgramError { at, fault }.into());
        }
        let (stage, party) = (self.ended, self.me());
        let planned = match &self.mode {
            Mode::Clear { planned: false } => None,
            _ => Some((self.plan)(&program)?),
        };
        let (outputs, outcome, contents) = match (&mut self.mode, &planned) {
            (
                Mode::Party {
                    stages,
                    me,
                    deadline,
                    observe,
                },
                Some(planned),
            ) => {
                let shares = planned.executable.kept(&program)?;
                let shares: Vec<_> = shares.iter().map(|(value, kept)| (*value, kept)).collect();
                let dealt = self
                    .dealer
                    .as_mut()
                    .map(|random| program.deal_to(*me, inputs, planned.executable.mix(), random));
                let dealt = dealt.transpose()?;
                let given = planned.given(&program, dealt.as_ref().unwrap_or(inputs), *me)?;
                let done = stages.run(&planned.plan, given, &shares, *deadline, *observe);
                let StageOutcome { outcome, kept } = done.await?;
                let (outputs, kept) = planned.executable.of_stage(&outcome.outputs, kept)?;
                let values = kept.into_iter();
                let values: Vec<_> = values
                    .map(|shares| (Some(*shares.sort()), Held::Shared(shares)))
                    .collect();
                (outputs, Some(outcome), values)
            }
            (_, planned) => {
                let (outputs, kept) = program.simulate_stage(inputs)?;
                let mut sorts = planned.iter().flat_map(|one| one.executable.kept_sorts());
                let values = kept.into_iter();
                let values: Vec<_> = values
                    .map(|array| (sorts.next(), Held::Clear(array)))
                    .collect();
                (outputs, None, values)
            }
        };
        let kept = program.kept_values().iter().zip(contents);
        for (place, (cell, (sort, value))) in kept.enumerate() {
            let name = format!("value {place} of stage {stage}");
            cell.fill(Content { name, sort, value });
        }
        self.ended += 1;
        (self.tell)(&StageReport {
            stage,
            party,
            program: &program,
            planned: planned.as_ref(),
            outputs: &outputs,
            outcome: outcome.as_ref(),
        });
        Ok(outputs)
    }
}

impl std::fmt::Debug for Stages<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { parties, ended, .. } = self;
        write!(f, "Stages({ended} ended, {parties} parties)")
    }
}

/// A program whose openings can decide what is done next.
fn decided(program: Computation) -> Result<Computation, ProgramError> {
    let parties = program.parties();
    // A value that clients alone learn decides nothing here.
    let some = |port: &&OutputPort| (1..parties).contains(&port.parties().len());
    match program.outputs().iter().find(some) {
        None => Ok(program),
        Some(port) => Err(ProgramError {
            at: port.at,
            fault: Fault::OpenedToSome {
                to: crate::error::Words(port.to.clone()),
            },
        }),
    }
}
