//! Stages in a session that stays, or in the clear: each is asked for when the one before it has ended.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::thread;

use madrigal_core::Party;
use madrigal_engine::RunError;
use madrigal_net::block_on;
use madrigal_program::{
    Computation, Inputs, Outputs, ProgramError, StageError, StageMaker, StageReport, Stages,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Ending, Held, Kept, lock};
use crate::arguments::{Flags, Unsound, What};
use crate::clients::Asked;
use crate::failure::{Failure, Result};
use crate::flags::TransportArg;
use crate::from_file::ProgramFlags;
use crate::runs::RunFigures;
use crate::seat::Seat;
use crate::staged::run::{PartyCosts, Run, all_stages};

/// A stage that is asked for.
pub struct StageTask {
    /// The program, of the run's maker.
    pub program: Computation,
    /// The party's inputs, or all parties' where all are here or it is computed in the clear.
    pub inputs: Inputs,
    /// Whether no stage comes after it, so that it may open values to some.
    pub last: bool,
    /// Hears what was opened, on the party's thread.
    pub done: Box<dyn FnOnce(Result<Outputs, StageFailure>) + Send>,
}

/// Reason why a stage has no result.
#[derive(Debug, Clone)]
pub enum StageFailure {
    /// The program is wrong.
    Program(ProgramError),
    /// All else.
    Run(Ending),
}

/// Stages of one party, or in the clear, as other threads see them. They end when it is [ended](Self::end) or dropped.
#[derive(Debug)]
pub struct StageRun {
    tasks: Mutex<Option<UnboundedSender<StageTask>>>,
    ending: Kept,
    costs: Arc<Mutex<Costs>>,
}

/// Costs of the stages so far.
#[derive(Debug, Default)]
struct Costs {
    party: Option<(Party, TransportArg)>,
    /// Threads that all parties have in common.
    threads: usize,
    stages: Vec<(Map<String, Value>, RunFigures)>,
}

/// The party's side of a [`StageRun`].
struct Served {
    maker: StageMaker,
    tasks: UnboundedReceiver<StageTask>,
    ending: Kept,
    costs: Arc<Mutex<Costs>>,
}

impl StageRun {
    fn new(maker: &StageMaker) -> (Self, Served) {
        let (tasks, served) = unbounded_channel();
        let (ending, costs) = (Kept::default(), Arc::default());
        let served = Served {
            maker: maker.clone(),
            tasks: served,
            ending: Arc::clone(&ending),
            costs: Arc::clone(&costs),
        };
        let run = Self {
            tasks: Mutex::new(Some(tasks)),
            ending,
            costs,
        };
        (run, served)
    }

    /// Stages in the clear, on a thread of their own.
    ///
    /// # Errors
    /// [`Failure`] if the system gives no thread.
    pub fn clear(maker: &StageMaker) -> Result<Self> {
        let (run, mut served) = Self::new(maker);
        let thread = thread::Builder::new().name("madrigal stages".to_owned());
        thread
            .spawn(move || {
                let stages = Stages::simulated(served.maker.parties()).of_maker(&served.maker);
                block_on(served.serve(stages, |_, inputs| Ok(inputs)));
            })
            .map_err(Failure::system("cannot start a thread for the stages"))?;
        Ok(run)
    }

    /// Asks for the next stage.
    pub fn stage(&self, task: StageTask) {
        let rejected = match &*lock(&self.tasks) {
            Some(tasks) => tasks.send(task).err().map(|error| error.0),
            None => Some(task),
        };
        if let Some(task) = rejected {
            let ending = lock(&self.ending).clone();
            let ending = ending.unwrap_or_else(Ending::closed);
            (task.done)(Err(StageFailure::Run(ending)));
        }
    }

    /// Says that no stage comes any more: the party goes on with what else it was asked to do.
    pub fn end(&self) {
        *lock(&self.tasks) = None;
    }

    /// The report of the stages of the parties of this process, as JSON; without their outputs.
    ///
    /// # Errors
    /// [`Failure`] of the writer of JSON.
    pub fn report(name: &str, flags: &ProgramFlags, runs: &[&Self]) -> Result<String> {
        let costs = runs.iter().filter_map(|run| {
            let costs = lock(&run.costs);
            let (party, transport) = costs.party?;
            let runs = all_stages(&costs.stages).into_iter().collect();
            let stages = costs.stages.clone();
            let costs = PartyCosts {
                party,
                threads: costs.threads,
                stages,
                runs,
            };
            Some((costs, transport))
        });
        let costs: Vec<_> = costs.collect();
        let run = Run {
            program: name,
            result: "",
            transport: costs.first().map_or(TransportArg::Memory, |one| one.1),
        };
        let costs: Vec<&PartyCosts> = costs.iter().map(|(costs, _)| costs).collect();
        run.json(&flags.flags, &costs)
    }
}

impl Held {
    /// Begins stages as the party of a seat, after all that it was asked to do before; until they end it does nothing else.
    /// Where all parties are here, shares of clients' inputs follow from `dealing`, the same at all of them.
    ///
    /// # Panics
    /// If there is no such seat.
    pub fn stages(
        &self,
        seat: usize,
        name: String,
        maker: &StageMaker,
        flags: ProgramFlags,
        dealing: u64,
    ) -> StageRun {
        let (run, mut served) = StageRun::new(maker);
        self.submit(
            seat,
            Box::new(move |seat| {
                Box::pin(async move {
                    match seat {
                        Ok(seat) => stages(seat, &name, flags.flags, &mut served, dealing).await,
                        Err(ending) => served.refuse(ending).await,
                    }
                })
            }),
        );
        run
    }
}

async fn stages(seat: &Seat<'_>, name: &str, mut flags: Flags, served: &mut Served, dealing: u64) {
    let parties = served.maker.parties();
    let sound = flags.settle(What::Run).and_then(|()| {
        let here = seat.session().parties();
        if parties == here {
            return Ok(());
        }
        let problem = format!("the stages are for {parties} parties, and there are {here}");
        let remedy = "take a list with as many";
        Err(Failure::from(Unsound::Plan { problem, remedy }))
    });
    if let Err(failure) = sound {
        return served.refuse(Ending::from(&failure)).await;
    }
    let threads = match seat.session().common_threads(parties) {
        Ok(threads) => threads,
        Err(error) => {
            let ending = Ending::from(&Failure::from(error));
            seat.fail(ending.clone());
            return served.refuse(ending).await;
        }
    };
    lock(&served.costs).threads = threads;
    let mix = |program: &Computation| flags.mix.unwrap_or_else(|| program.mix());
    let plan = |program: &Computation| {
        let ways = flags.ways(&[], threads);
        ways.plan(program, mix(program), flags.goal())
    };
    lock(&served.costs).party = Some((seat.session().me(), seat.transport()));
    let costs = Arc::clone(&served.costs);
    let tell = |report: &StageReport<'_>| {
        if let Some(outcome) = report.outcome {
            let figures = RunFigures::from(outcome);
            lock(&costs).stages.push((Map::new(), figures));
        }
    };
    let deadline = flags.net.patience.deadline;
    let stages = Stages::over(
        seat.session(),
        parties,
        seat.next_job(),
        deadline,
        seat.observe(),
    );
    let stages = stages.of_maker(&served.maker).with_plan(plan).telling(tell);
    let stages = match seat.server() {
        Some(_) => stages,
        None => stages.dealing(dealing),
    };
    let bring = |program: &Computation, inputs| {
        let asked = Asked::of_program(program, mix(program), name);
        let clients = &flags.clients;
        clients.bring_to_stage(&asked, program, seat.server(), inputs)
    };
    let (next, failed) = served.serve(stages, bring).await;
    if let Some(next) = next {
        seat.went_on(next);
    }
    if let Some(failed) = failed {
        seat.fail(failed);
    }
}

impl Served {
    /// Runs stages until nobody asks for more, or one fails between the parties: gives that failure then, and the number of the
    /// session's next job.
    async fn serve(
        &mut self,
        mut stages: Stages<'_>,
        bring: impl Fn(&Computation, Inputs) -> Result<Inputs>,
    ) -> (Option<u32>, Option<Ending>) {
        let failed = RefCell::new(None);
        while let Some(task) = self.tasks.recv().await {
            let StageTask {
                program,
                inputs,
                last,
                done,
            } = task;
            let run = async {
                let inputs = bring(&program, inputs);
                let inputs = inputs.map_err(|failure| StageFailure::Run(Ending::from(&failure)))?;
                let opened = match last {
                    true => stages.last_finished(program, &inputs).await,
                    false => stages.run_finished(program, &inputs).await,
                };
                opened.map_err(|error| {
                    let between = matches!(&error, StageError::Run(RunError::Net(_)));
                    let failure = StageFailure::from(error);
                    if let (true, StageFailure::Run(ending)) = (between, &failure) {
                        *failed.borrow_mut() = Some(ending.clone());
                    }
                    failure
                })
            };
            done(run.await);
            let failed = failed.borrow().as_ref().map(Ending::for_later);
            if let Some(ending) = failed {
                self.refuse(ending).await;
                break;
            }
        }
        (stages.next_job(), failed.into_inner())
    }

    /// Tells this failure to all that wait or come.
    async fn refuse(&mut self, ending: Ending) {
        *lock(&self.ending) = Some(ending.clone());
        self.tasks.close();
        while let Some(task) = self.tasks.recv().await {
            (task.done)(Err(StageFailure::Run(ending.clone())));
        }
    }
}

impl From<StageError> for StageFailure {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Program(error) => Self::Program(error),
            error => Self::Run(Ending::from(&Failure::from(error))),
        }
    }
}
