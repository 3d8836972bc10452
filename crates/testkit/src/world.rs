//! All parties of one session, each on its own thread.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use madrigal_core::{Cost, Party, Phase};
use madrigal_kernels::meter::metered;
use madrigal_net::transport::{Transport, mesh};
use madrigal_net::{Context, Result, Session, SessionConfig, block_on};

/// Setup of a test's parties.
#[derive(Clone, Debug)]
pub struct World {
    parties: usize,
    seed: u64,
    limits: SessionConfig,
    given_base_ots: bool,
    deadline: Option<Duration>,
}

/// Result of one party, and the cost that its counters say.
pub type PartyResult<T> = Result<(T, Cost)>;

/// Runs `work`, and says how many AES blocks it computes that no context counts.
pub async fn uncounted<F: Future>(work: F) -> (F::Output, u64) {
    let (mut work, mut blocks) = (pin!(work), 0);
    let output = poll_fn(|task| {
        let (poll, more) = metered(|| work.as_mut().poll(task));
        blocks += more;
        poll
    })
    .await;
    (output, blocks)
}

impl World {
    /// `parties` parties over the memory transport, with randomness from `seed`.
    pub fn new(parties: usize, seed: u64) -> Self {
        let limits = SessionConfig::new(Party::new(0), parties);
        Self {
            parties,
            seed,
            limits,
            given_base_ots: false,
            deadline: None,
        }
    }

    /// Makes a world with the keys of base OTs from the seed: all messages, lengths and counts are as ever, but what
    /// would be points of a curve is random. For the many tests that look at what starts from base OTs, and
    /// would compute these most of the time.
    pub fn light(parties: usize, seed: u64) -> Self {
        Self {
            given_base_ots: true,
            ..Self::new(parties, seed)
        }
    }

    /// Changes limits and patience.
    #[must_use]
    pub fn with_limits(mut self, change: impl FnOnce(&mut SessionConfig)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Gives the job a deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The configuration of one party.
    pub fn config(&self, me: Party) -> SessionConfig {
        let mut config = SessionConfig {
            me,
            ..self.limits.clone()
        };
        config.test_seed = Some(self.seed);
        config.test_base_ots = self.given_base_ots;
        config
    }

    /// Runs `program` as every party over the memory transport.
    ///
    /// # Panics
    /// If a party fails: for programs that should succeed.
    pub fn run<T: Send, F>(&self, program: impl Fn(Context) -> F + Sync) -> Vec<(T, Cost)>
    where
        F: Future<Output = Result<T>>,
    {
        let results = self.run_over(mesh(self.parties), program);
        results
            .into_iter()
            .enumerate()
            .map(|(i, result)| result.unwrap_or_else(|error| panic!("party {i}: {error}")))
            .collect()
    }

    /// Runs `program` as every party over the given transports, each to its own end.
    pub fn run_over<T: Send, F>(
        &self,
        transports: Vec<impl Transport>,
        program: impl Fn(Context) -> F + Sync,
    ) -> Vec<PartyResult<T>>
    where
        F: Future<Output = Result<T>>,
    {
        assert_eq!(
            transports.len(),
            self.parties,
            "one transport for each party"
        );
        let program = &program;
        std::thread::scope(|scope| {
            let threads: Vec<_> = Party::all(self.parties)
                .zip(transports)
                .map(|(me, transport)| scope.spawn(move || self.run_one(me, transport, program)))
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        })
    }
    /// Runs `program` as party `me` on this thread, in a session and a job of its own.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the first thing that fails.
    pub fn run_one<T, F>(
        &self,
        me: Party,
        transport: impl Transport,
        program: impl Fn(Context) -> F,
    ) -> PartyResult<T>
    where
        F: Future<Output = Result<T>>,
    {
        block_on(self.take_part(me, transport, program))
    }

    /// Runs [`run_one`](Self::run_one) as a future, for transports that need a runtime.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the first thing that fails.
    pub async fn take_part<T, F>(
        &self,
        me: Party,
        transport: impl Transport,
        program: impl Fn(Context) -> F,
    ) -> PartyResult<T>
    where
        F: Future<Output = Result<T>>,
    {
        let session = Session::new(self.config(me), transport);
        session.greet().await?;
        let job = session.job(1, &[], self.deadline).await?;
        let (output, uncounted) = uncounted(program(job.context())).await;
        let output = output?;
        assert_eq!(
            uncounted, 0,
            "AES blocks of {me} that no context counts: an operation computes them outside of \
             `Context::metered`, or the test itself outside of `meter::unmetered`"
        );
        let cost = Cost {
            setup: job.spent(Phase::Setup),
            online: job.spent(Phase::Online),
        };
        job.finish().await?;
        session.close().await;
        Ok((output, cost))
    }
}
