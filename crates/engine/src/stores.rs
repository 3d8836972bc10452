//! Stores of correlations: made ahead by all parties in a job of their own, for jobs whose plans name
//! [`Origin::Store`](crate::Origin::Store).
//!
//! # Example
//! Two parties in one process make a store each, which later jobs take their triples from.
//! ```
//! use std::path::Path;
//!
//! use madrigal_core::Party;
//! use madrigal_correlations_store::{Store, StoreKey};
//! use madrigal_engine::{Precomputation, StoreSpec};
//! use madrigal_net::transport::{MemoryTransport, mesh};
//! use madrigal_net::{Session, SessionConfig, block_on};
//!
//! type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
//!
//! fn party(me: usize, transport: MemoryTransport, directory: &Path) -> Result<()> {
//!     let key = StoreKey::load_or_make(&directory.with_extension("key"))?;
//!     // What is wrong with the directory is known before the parties meet.
//!     let spec = StoreSpec::new("bits=1000,u64=30".parse()?);
//!     let precomputation = Precomputation::new(spec, directory, &key)?;
//!     let made = block_on(async {
//!         let session = Session::new(SessionConfig::new(Party::new(me), 2), transport);
//!         session.greet().await?;
//!         let made = precomputation.run(&session, 1, None, &|_| {}).await?;
//!         session.close().await;
//!         Ok::<_, madrigal_net::Error>(made)
//!     })?;
//!     let store = Store::open(directory, &key)?;
//!     assert_eq!((store.id(), store.holdings()[0].left()), (made.id, 1000));
//!     Ok(())
//! }
//!
//! fn main() -> Result<()> {
//!     let root = tempfile::tempdir()?;
//!     std::thread::scope(|scope| {
//!         let start = |(me, transport)| {
//!             let directory = root.path().join(format!("party{me}"));
//!             scope.spawn(move || party(me, transport, &directory))
//!         };
//!         let parties: Vec<_> = mesh(2).into_iter().enumerate().map(start).collect();
//!         let done = parties.into_iter().map(|party| party.join().expect("no panic"));
//!         done.collect::<Result<()>>()
//!     })
//! }
//! ```

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use madrigal_core::time::{Link, Rates, Time};
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations::{Means, Needs};
use madrigal_correlations_make::{
    Extension, MAX_THREADS, Made, Matrices, Origin, OtCosts, Supply, SupplyCosts,
};
use madrigal_correlations_store::{NewStore, Store, StoreError, StoreId, StoreKey};
use madrigal_net::{Error, Fact, Session};

use crate::plan::Plan;
use crate::report::{PhaseReport, Progress};
use crate::time::{JOB_ROUNDS, bills};
use crate::trial::Trial;

/// Specification of a new store: what it holds, and how that is made. All parties have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSpec {
    /// The kinds of correlations and how many of each.
    pub holds: Needs,
    /// The OT extension that makes them.
    pub extension: Extension,
    /// Threads that each party computes with, 1 to [`MAX_THREADS`].
    pub threads: usize,
    /// How matrix triples are made.
    pub matrices: Matrices,
}

impl StoreSpec {
    /// A store with `holds`, made on one thread over the default extension. Change what should be
    /// otherwise.
    pub fn new(holds: Needs) -> Self {
        Self {
            holds,
            extension: Extension::default(),
            threads: 1,
            matrices: Matrices::default(),
        }
    }

    /// Cost of one of `parties` parties in the setup phase, to the byte.
    pub fn cost(&self, me: Party, parties: usize) -> PhaseCost {
        let makes = self
            .costs(me, parties)
            .filling(&self.holds, NewStore::batch);
        NewStore::cost(makes, parties)
    }

    /// How long one of `parties` parties is expected to take, as [`Plan::time`](
    /// crate::Plan::time) has it; what the disk takes is not in it.
    pub fn time(&self, me: Party, parties: usize, rates: &Rates, link: &Link) -> Time {
        let costs = SupplyCosts::Ot(self.costs(me, parties));
        let bills = bills(&costs, &self.holds, self.cost(me, parties));
        let [start, correlations] = bills.map(|bill| bill.time(rates, link));
        let job = JOB_ROUNDS as f64 * (link.latency + rates.hop);
        let mut time = start.then(correlations);
        time.waiting += job;
        time.total += job;
        time
    }

    /// A trial of what it is to hold.
    pub fn trial(&self) -> Trial {
        Trial::new(
            self.extension,
            self.matrices == Matrices::Lattice,
            &self.holds,
        )
    }

    /// Costs of the source.
    pub(crate) fn costs(&self, me: Party, parties: usize) -> OtCosts {
        let costs = OtCosts::with_threads(self.extension, self.threads, me, parties);
        match self.matrices {
            Matrices::Lattice => costs.with_lattice_matrices(),
            Matrices::Ot => costs,
        }
    }

    /// Facts that all parties must agree on.
    pub fn facts(&self) -> Vec<Fact> {
        [
            ("program", "a new store".to_owned()),
            ("triples", self.holds.to_string()),
            ("extension", self.extension.to_string()),
            ("threads", self.threads.to_string()),
            ("matrices", self.matrices.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// A party's store that is about to be filled. Dropped before [`run`](Self::run) has succeeded, it
/// leaves no store behind.
#[derive(Debug)]
pub struct Precomputation {
    spec: StoreSpec,
    new: NewStore,
}

/// A store that has been filled, and what that took.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoreReport {
    /// Names the store; the same at all parties.
    pub id: StoreId,
    /// From the opening of the job to its finish at all parties.
    pub setup: PhaseReport,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
    /// Costs of each primitive that the correlations were made of.
    pub made: Vec<Made>,
}

impl Precomputation {
    /// Makes the store's directory, so that what is wrong with it is known before the parties meet.
    ///
    /// # Errors
    /// [`StoreError`] if the directory exists and is not empty, or cannot be made; if the store would hold nothing, or far
    /// too much.
    ///
    /// # Panics
    /// Without threads, or with more than [`MAX_THREADS`].
    pub fn new(spec: StoreSpec, directory: &Path, key: &StoreKey) -> Result<Self, StoreError> {
        assert!(
            (1..=MAX_THREADS).contains(&spec.threads),
            "a store is made on 1 to {MAX_THREADS} threads"
        );
        let new = NewStore::create(directory, key, &spec.holds)?;
        Ok(Self { spec, new })
    }

    /// Specification of the store.
    pub fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    /// Fills the store, together with all other parties of `session`, who do the same under the same
    /// number `id`; no dealer is among them. It fails after `deadline`. `observe` hears how many steps
    /// of [`Needs::steps`] are done.
    ///
    /// # Errors
    /// [`Error`] of the network, of parties that want different stores, or of the disk.
    pub fn run<'a>(
        self,
        session: &'a Session,
        id: u32,
        deadline: Option<Duration>,
        observe: &'a dyn Fn(Progress),
    ) -> LocalBoxFuture<'a, Result<StoreReport, Error>> {
        Box::pin(self.fill(session, id, deadline, observe))
    }

    async fn fill(
        self,
        session: &Session,
        id: u32,
        deadline: Option<Duration>,
        observe: &dyn Fn(Progress),
    ) -> Result<StoreReport, Error> {
        let Self { spec, new } = self;
        let (start, wire_bytes) = (Instant::now(), session.wire_bytes_sent());
        let job = session.job(id, &spec.facts(), deadline).await?;
        let context = job.context();
        let (done, total) = (Cell::new(0), spec.holds.steps());
        let made = |more: usize| {
            done.set(done.get() + more as u64);
            observe(Progress {
                phase: Phase::Setup,
                done: done.get(),
                total,
            });
        };
        let origin = Origin::Ot {
            extension: spec.extension,
            threads: spec.threads,
            matrices: spec.matrices,
        };
        let means = Means::default();
        let mut source = Supply::open(&origin, &context, &spec.holds, means).await?;
        let filled = new.fill(&context, &mut source, &made).await?;
        let spent = job.spent(Phase::Setup);
        job.finish().await?;
        let id = filled.complete()?;
        Ok(StoreReport {
            id,
            setup: PhaseReport {
                time: start.elapsed(),
                spent,
            },
            wire_bytes_sent: session.wire_bytes_sent() - wire_bytes,
            made: source.made().to_vec(),
        })
    }
}

impl Plan {
    /// Whether `store` has enough for this plan to run `times` times. The other parties may have used
    /// more of theirs: a job asks again.
    ///
    /// # Errors
    /// [`StoreError::Few`], for the first kind of which too little is left.
    pub fn check_store(&self, store: &Store, times: u32) -> Result<(), StoreError> {
        let holdings = store.holdings();
        for (kind, needed) in self.needs().kinds() {
            let holding = holdings.iter().find(|holding| holding.kind == kind);
            let (made, left) = holding.map_or((0, 0), |holding| (holding.made, holding.left()));
            let needed = (needed as u64).saturating_mul(times.into());
            if needed > left {
                return Err(StoreError::Few {
                    kind: Box::new(kind),
                    needed,
                    left,
                    made,
                });
            }
        }
        Ok(())
    }
}
