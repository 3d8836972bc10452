//! Setup done ahead: the correlations of later runs are made into stores, and runs take them from there.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, ValueHint};
use madrigal_core::Party;
use madrigal_correlations_store::Store;
use madrigal_engine::{Given, Means, Precomputation, Progress, StoreReport, StoreSpec};
use madrigal_net::Session;
use madrigal_program::{Computation, Ended, Inputs, Planned};
use serde::Serialize;

use crate::failure::{Failure, Fault, Result, Status};
use crate::numbers::{bytes, seconds};
use crate::present::Present;
use crate::runs::{RunFigures, repeated};
use crate::stores::{StoreFiles, Unfinished};
use crate::threads::unplanned;

/// The job that fills stores, and the first of those that use them.
pub const JOB: u32 = 1;

/// The flags.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Setup ahead")]
pub struct Ahead {
    /// Take correlations from this store, which --prepare has made, instead of making them in setup.
    /// With --local, party I's store is DIR/partyI
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: Option<PathBuf>,

    /// The file with the store's key, made with it [default: BASE.store-key next to our identity, or
    /// DIR.key if there is no identity]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store", conflicts_with = "local")]
    pub store_key: Option<PathBuf>,

    /// Make the correlations of N runs into --store, a new directory, and compute nothing: no inputs are
    /// needed. The runs take the same flags; all parties do this together
    #[arg(long, value_name = "N", requires = "store", value_parser = clap::value_parser!(u32).range(1..))]
    pub prepare: Option<u32>,
}

/// Nothing can be done ahead.
#[derive(Debug, thiserror::Error)]
#[error(
    "in this mix of protocols no correlations are needed, so that nothing can be made ahead; leave out --store, or name another mix"
)]
struct Nothing;

impl Fault for Nothing {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// Stores as they were made.
#[derive(Serialize, Debug)]
pub struct Prepared {
    /// Name of the store, the same at all parties.
    store: String,
    /// Directory of the store.
    directory: PathBuf,
    /// Runs that it suffices for.
    runs: u32,
    /// Correlations that it holds, as `--triples` of `madrigal precompute` writes them.
    correlations: String,
    /// Bytes of correlations on each party's disk.
    store_bytes: u64,
    /// Time from the opening of the job to its finish.
    seconds: f64,
    /// Bytes of the party here that sent most, headers included.
    bytes_sent: u64,
}

impl Ahead {
    /// Whether correlations come from stores.
    pub fn is_stored(&self) -> bool {
        self.store.is_some()
    }

    /// Fills the stores of the parties here, which compute on this many threads each. `spec` says what they are to be where
    /// all parties have a number of threads.
    ///
    /// # Errors
    /// [`Failure`] of `spec`; directories that are not empty or cannot be made; what goes wrong between the parties. No
    /// store is left then.
    pub fn prepare(
        &self,
        spec: &(dyn Fn(usize) -> Result<StoreSpec> + Sync),
        threads: usize,
        present: Present<'_>,
        quiet: bool,
    ) -> Result<Prepared> {
        let directory = self.store.clone();
        let directory = directory.ok_or_else(|| Failure::bug("a new store without a directory"))?;
        let files = present.stores(&directory, self.store_key.as_deref());
        let unfinished = files.iter().map(|files| files.clone().new_store());
        let _unfinished: Vec<Unfinished> = unfinished.collect();
        let first = spec(threads)?;
        let new = files.into_iter().map(|files| {
            let new = make(&files, &first)?;
            Ok((files, new))
        });
        let new = ForEach::new(&present, new)?;
        let (deadline, parties) = (present.deadline(), present.parties());
        let work = async |session: &Session, observe: &dyn Fn(Progress)| {
            let (files, mut new) = new.take(session.me())?;
            let common = session.common_threads(parties)?;
            if common != threads {
                // The directory is free again then.
                drop(new);
                let made = spec(common).and_then(|spec| make(&files, &spec));
                new = made.inspect_err(|_| unplanned(session))?;
            }
            let spec = new.spec().clone();
            let made = new.run(session, JOB, deadline, observe).await?;
            Ok((spec, made))
        };
        let made = present.run(threads, quiet, work)?;
        let (specs, made): (Vec<StoreSpec>, Vec<StoreReport>) =
            made.into_iter().map(|(_, made)| made).unzip();
        Ok(self.prepared(directory, specs.first().unwrap_or(&first), &made))
    }

    fn prepared(&self, directory: PathBuf, spec: &StoreSpec, made: &[StoreReport]) -> Prepared {
        let time = made.iter().map(|one| one.setup.time.as_secs_f64());
        let sent = made.iter().map(|one| one.wire_bytes_sent);
        Prepared {
            store: made
                .first()
                .map(|one| one.id.to_string())
                .unwrap_or_default(),
            directory,
            runs: self.prepare.unwrap_or_default(),
            correlations: spec.holds.to_string(),
            store_bytes: u64::try_from(spec.holds.share_bytes()).unwrap_or(u64::MAX),
            seconds: time.fold(0.0, f64::max),
            bytes_sent: sent.max().unwrap_or(0),
        }
    }
}

fn make(files: &StoreFiles, spec: &StoreSpec) -> Result<Precomputation> {
    match spec.holds.is_empty() {
        true => Err(Nothing.into()),
        false => files.make(spec.clone()),
    }
}

impl Prepared {
    /// Tells people what was made.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let runs = match self.runs {
            1 => "one run".to_owned(),
            more => format!("{more} runs"),
        };
        // A string takes everything.
        let _ = writeln!(
            text,
            "Store {} in {}, for {runs}: {} for each party, made in {}, each sent at most {}.",
            self.store,
            self.directory.display(),
            bytes(self.store_bytes),
            seconds(self.seconds),
            bytes(self.bytes_sent),
        );
        text
    }
}

/// Ways to plan a program, and to bring inputs to the plan.
#[derive(Clone, Copy)]
pub struct Planning<'a> {
    /// Plans it for parties of a number of threads each.
    pub plan: &'a (dyn Fn(usize) -> Result<Planned> + Sync),
    /// Makes of the inputs that flags give all that the parties here bring to a plan.
    pub bring: &'a (dyn Fn(&Planned, Inputs) -> Result<Inputs> + Sync),
}

/// Inputs of the parties here and their open stores, for runs of a plan, one after the other.
pub struct ReadyRun<'a> {
    program: &'a Computation,
    planning: Planning<'a>,
    planned: Planned,
    /// Inputs to plan again with, where a party elsewhere may have fewer threads.
    inputs: Mutex<Option<Inputs>>,
    /// Number of runs.
    repeat: u32,
    parties: ForEach<(Given<'static>, Option<(StoreFiles, Store)>)>,
}

/// Runs of a plan that have ended.
pub struct EndedRuns {
    /// Results of the last run.
    pub ended: Ended,
    /// Cost of each run.
    pub figures: Vec<RunFigures>,
    /// The plan, if it is another one than was made before the parties met.
    pub replanned: Option<Planned>,
}

impl<'a> ReadyRun<'a> {
    /// Gives each party here its part of the inputs to a plan that is for as many threads as each of them has, and its store if
    /// correlations come from stores, for `repeat` runs.
    ///
    /// # Errors
    /// [`Failure`] of `planning`; stores that are not there, damaged, or too small; a plan that needs nothing from them.
    pub fn new(
        program: &'a Computation,
        planning: Planning<'a>,
        planned: Planned,
        inputs: Inputs,
        ahead: &Ahead,
        repeat: u32,
        present: &Present<'_>,
    ) -> Result<Self> {
        // All parties here have as many threads, and nobody fewer than one.
        let others = planned.plan.spec().threads > 1;
        let again = present.me().filter(|_| others).map(|_| inputs.clone());
        let inputs = (planning.bring)(&planned, inputs)?;
        let stores = match &ahead.store {
            Some(directory) => {
                present.check_stores(directory)?;
                let files = present.stores(directory, ahead.store_key.as_deref());
                files.into_iter().map(Some).collect()
            }
            None => vec![None; present.here().len()],
        };
        let given = match present.me() {
            Some(me) => planned.given(program, &inputs, me).map(|given| vec![given]),
            None => planned.given_to_all(program, &inputs),
        };
        let given = given?.into_iter();
        let parties = given.zip(stores).map(|(given, files)| {
            let store = files.map(|files| {
                let store = open(&planned, &files, repeat)?;
                Ok::<_, Failure>((files, store))
            });
            Ok((given, store.transpose()?))
        });
        let parties = ForEach::new(present, parties)?;
        Ok(Self {
            program,
            planning,
            planned,
            inputs: Mutex::new(again),
            repeat,
            parties,
        })
    }

    /// The plan as it was made before the parties met.
    pub fn planned(&self) -> &Planned {
        &self.planned
    }

    /// Plans for the number of threads that the parties have in common, if this one has more.
    fn replan(&self, session: &Session) -> Result<Option<(Planned, Given<'static>)>> {
        let common = session.common_threads(self.program.parties())?;
        if common == self.planned.plan.spec().threads {
            return Ok(None);
        }
        let inputs = self
            .inputs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let inputs = inputs.ok_or_else(|| Failure::bug("parties here have other threads"))?;
        let planned = (self.planning.plan)(common)?;
        let inputs = (self.planning.bring)(&planned, inputs)?;
        let given = planned.given(self.program, &inputs, session.me())?;
        Ok(Some((planned, given)))
    }

    /// Runs the plan as the party of a session, planned again where the parties have fewer threads in common than this one
    /// has. Gives what came of the last run, and what each run cost.
    ///
    /// # Errors
    /// [`Failure`]: what goes wrong between the parties; inputs and stores that do not fit the new plan.
    pub async fn run(
        &self,
        session: &Session,
        deadline: Option<Duration>,
        observe: &dyn Fn(Progress),
    ) -> Result<EndedRuns> {
        let (mut given, mut store) = self.parties.take(session.me())?;
        let again = || -> Result<_> {
            let replanned = self.replan(session)?;
            if let (Some((planned, _)), Some((files, store))) = (&replanned, &store) {
                enough(planned, store, files, self.repeat)?;
            }
            Ok(replanned)
        };
        let mut replanned = None;
        if let Some((planned, anew)) = again().inspect_err(|_| unplanned(session))? {
            given = anew;
            replanned = Some(planned);
        }
        let planned = replanned.as_ref().unwrap_or(&self.planned);
        let done = repeated(self.repeat, async |repetition| {
            let inputs = match repetition + 1 == self.repeat {
                true => std::mem::take(&mut given.inputs),
                false => given.inputs.clone(),
            };
            let means = match &mut store {
                Some((_, store)) => Means::from(store),
                None => Means::default(),
            };
            let facts = given.facts.clone();
            let given = Given {
                inputs,
                means,
                facts,
            };
            let id = JOB + repetition;
            let ended = planned.run(session, id, given, deadline, observe);
            let ended = ended.await?;
            let figures = RunFigures::from(&ended.outcome);
            Ok((ended, figures))
        });
        let (ended, figures) = done.await?;
        Ok(EndedRuns {
            ended,
            figures,
            replanned,
        })
    }
}

fn open(planned: &Planned, files: &StoreFiles, repeat: u32) -> Result<Store> {
    if planned.plan.needs().is_empty() {
        return Err(Nothing.into());
    }
    let store = files.open()?;
    enough(planned, &store, files, repeat)?;
    Ok(store)
}

/// Checks that a store has enough for all runs.
fn enough(planned: &Planned, store: &Store, files: &StoreFiles, repeat: u32) -> Result<()> {
    let enough = planned.plan.check_store(store, repeat);
    enough.map_err(files.failed())
}

/// Something for each party here, which takes it once.
struct ForEach<T>(Vec<(Party, Mutex<Option<T>>)>);

impl<T> ForEach<T> {
    fn new(present: &Present<'_>, all: impl Iterator<Item = Result<T>>) -> Result<Self> {
        let all = present.here().into_iter().zip(all);
        let all = all.map(|(party, one)| Ok((party, Mutex::new(Some(one?)))));
        all.collect::<Result<_>>().map(Self)
    }

    fn take(&self, party: Party) -> Result<T> {
        let own = self.0.iter().find(|(of, _)| *of == party);
        let own =
            own.and_then(|(_, one)| one.lock().unwrap_or_else(PoisonError::into_inner).take());
        own.ok_or_else(|| Failure::bug("a party takes its part once"))
    }
}
