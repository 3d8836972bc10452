//! Setup done ahead: the correlations of later runs are made into stores, and runs take them from there.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::{Args, ValueHint};
use madrigal_correlations_store::Store;
use madrigal_engine::{Precomputation, Progress, StoreReport, StoreSpec};
use madrigal_net::Session;
use madrigal_program::Planned;
use serde::Serialize;

use crate::everyone::everyone;
use crate::failure::{Failure, Fault, Result, Status};
use crate::flags::{Net, TransportArg};
use crate::numbers::{bytes, seconds};
use crate::progress::Bars;
use crate::reach::Network;
use crate::remote::RemoteParty;
use crate::stores::{StoreFiles, Unfinished, check_local};

/// The job that fills stores, and those that use them.
const JOB: u32 = 1;

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

    /// The stores of all parties here, for one run of a plan; none if correlations do not come from stores.
    ///
    /// # Errors
    /// [`Failure`]: stores that are not there, damaged, or too small; a plan that needs nothing from them.
    pub fn open_all(&self, planned: &Planned) -> Result<Stores> {
        let Some(directory) = &self.store else {
            return Ok(Stores::default());
        };
        let parties = planned.plan.spec().graph.parties();
        check_local(directory, parties)?;
        let files = (0..parties).map(|me| StoreFiles::local(directory, me));
        Stores::open(planned, files)
    }

    /// The store of one real party, likewise.
    ///
    /// # Errors
    /// [`Failure`] in the same cases as [`open_all`](Self::open_all).
    pub fn open_one(&self, planned: &Planned, party: &RemoteParty<'_>) -> Result<Stores> {
        Stores::open(planned, self.files(party).into_iter())
    }

    fn files(&self, party: &RemoteParty<'_>) -> Option<StoreFiles> {
        let (directory, key) = (self.store.as_ref()?, self.store_key.as_deref());
        Some(StoreFiles::remote(directory, key, party.identity()))
    }

    /// Fills the stores of all parties, which are threads of this process.
    ///
    /// # Errors
    /// [`Failure`]: directories that are not empty or cannot be made; what goes wrong between the parties. No
    /// store is left then.
    pub fn prepare_all(
        &self,
        spec: &StoreSpec,
        parties: usize,
        net: &Net,
        quiet: bool,
    ) -> Result<Prepared> {
        let directory = self.directory()?;
        let files: Vec<_> = (0..parties)
            .map(|me| StoreFiles::local(&directory, me))
            .collect();
        let _unfinished: Vec<Unfinished> = files
            .iter()
            .map(|files| files.clone().new_store())
            .collect();
        let new = files
            .iter()
            .map(|files| Ok(Mutex::new(Some(make(files, spec)?))));
        let new = new.collect::<Result<Vec<_>>>()?;
        let bars = Bars::new(parties, quiet);
        let made = everyone(
            net.transport.unwrap_or(TransportArg::Tcp),
            Network::parse(&net.network)?,
            parties,
            spec.threads,
            &net.patience,
            async |session: &Session| {
                let me = session.me().index();
                let new = lock(&new[me]).take();
                let new = new.ok_or_else(|| Failure::bug("a store is made once"))?;
                let observe = |progress: Progress| bars.update(me, progress.into());
                Ok(new
                    .run(session, JOB, net.patience.deadline, &observe)
                    .await?)
            },
        );
        bars.clear();
        Ok(self.prepared(directory, spec, &made?))
    }

    /// Fills the store of one real party.
    ///
    /// # Errors
    /// [`Failure`] in the same cases as [`prepare_all`](Self::prepare_all).
    pub fn prepare_one(
        &self,
        spec: &StoreSpec,
        party: RemoteParty<'_>,
        quiet: bool,
    ) -> Result<Prepared> {
        let files = self.files(&party);
        let files = files.ok_or_else(|| Failure::bug("a new store without a directory"))?;
        let directory = files.directory.clone();
        let _unfinished = files.clone().new_store();
        let new = make(&files, spec)?;
        let deadline = party.patience().deadline;
        let bars = Bars::new(1, quiet);
        let observe = |progress: Progress| bars.update(0, progress.into());
        bars.meeting();
        let party = party.with_quiet(quiet);
        let made = party.in_session(async |session| {
            bars.met();
            Ok(new.run(session, JOB, deadline, &observe).await?)
        });
        bars.clear();
        Ok(self.prepared(directory, spec, &[made?]))
    }

    fn directory(&self) -> Result<PathBuf> {
        let directory = self.store.clone();
        directory.ok_or_else(|| Failure::bug("a new store without a directory"))
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
        true => Err(Failure::other(Nothing)),
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

/// Open stores of the parties here, each for its one use.
#[derive(Debug, Default)]
pub struct Stores(Vec<Mutex<Option<Store>>>);

impl Stores {
    fn open(planned: &Planned, files: impl Iterator<Item = StoreFiles>) -> Result<Self> {
        let mut stores = Vec::new();
        for files in files {
            if planned.plan.needs().is_empty() {
                return Err(Failure::other(Nothing));
            }
            let store = files.open()?;
            let enough = planned.plan.check_store(&store, 1);
            enough.map_err(files.failed())?;
            stores.push(Mutex::new(Some(store)));
        }
        Ok(Self(stores))
    }

    /// Takes the store of a party, if correlations come from stores: by its number where all parties are here, else 0.
    pub fn take(&self, place: usize) -> Option<Store> {
        lock(self.0.get(place)?).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
