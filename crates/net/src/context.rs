//! A protocol's view of the world: who it is, which step it is in, and its peers. No socket, no
//! runtime.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::task::Poll;
use std::time::Duration;

use madrigal_core::{KeyNumbers, Party, Phase, domains};
use madrigal_kernels::Prg;
use madrigal_kernels::crew::Crew;
use sha2::{Digest, Sha256};

use crate::counters::{Counters, Meter};
use crate::error::{Error, Result};
use crate::flow::ChannelState;
use crate::frame::Frame;
use crate::generator::Generator;
use crate::session::job_shared::JobShared;

/// One party's view of one step of a job.
///
/// A context is narrowed by [`step`](Context::step) as calls go down; the path of steps is the
/// address of the step's messages and the tweak of its shared randomness, so it must be the same at
/// all parties and used once. Cloning is cheap.
///
/// A context also carries the count of rounds: a message's round is one more than that of the latest
/// message its sender had received in this context. Work that runs side by side goes into
/// [`fork`](Context::fork)s, so that it is counted side by side.
#[derive(Clone)]
pub struct Context {
    job: Arc<JobShared>,
    path: Arc<str>,
    phase: Phase,
    clock: Arc<AtomicU32>,
    parties: usize,
    gathers: bool,
    /// Counters beside the job's.
    meter: Option<Meter>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Context({} in job {}, {})",
            self.me(),
            self.job.id(),
            self.path
        )
    }
}

/// The number by which a step's frames find it: the first eight bytes of SHA-256 of its path,
/// little-endian. That two steps of one job collide is noticed when the second opens its channels.
pub fn step_id(path: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(path.as_bytes()).into();
    u64::from_le_bytes(*digest.first_chunk().unwrap_or(&[0; 8]))
}

impl Context {
    pub(crate) fn root(job: Arc<JobShared>) -> Self {
        Self {
            parties: job.session.parties(),
            job,
            path: String::from_utf8_lossy(domains::STEP_PATH).into(),
            phase: Phase::Setup,
            clock: Arc::default(),
            gathers: false,
            meter: None,
        }
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.job.session.me()
    }

    /// Number of parties that take part here: those of the session, or of [`among`](Self::among).
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Makes a context of this step for the session's first `parties` parties alone, us among them. The others take
    /// part in the job, but not in what is done in this context.
    ///
    /// # Panics
    /// If there are fewer parties, `parties` is below two, or we are not among them.
    #[must_use]
    pub fn among(&self, parties: usize) -> Self {
        assert!(
            (2..=self.parties).contains(&parties) && self.me().index() < parties,
            "{:?} is not among the first {parties} parties",
            self.me()
        );
        Self {
            parties,
            ..self.clone()
        }
    }

    /// Everybody else, in order.
    pub fn peers(&self) -> impl DoubleEndedIterator<Item = Party> + Clone + use<> {
        self.me().others(self.parties())
    }

    /// The phase that this context's messages are counted in.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The path of steps that led here.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The step `name` within this one: own messages, own randomness, same count of rounds.
    #[must_use]
    pub fn step(&self, name: &str) -> Self {
        let path = format!("{}/{name}", self.path).into();
        Self {
            path,
            ..self.clone()
        }
    }

    /// The step `name` within this one, which runs beside others: its rounds are counted from here
    /// on by itself. Take its count back with [`join`](Context::join).
    #[must_use]
    pub fn fork(&self, name: &str) -> Self {
        self.step(name).beside()
    }

    /// Makes a context of this step with a count of rounds of its own: for one of several pieces of work that share
    /// this step's channels, see [`Channel::count_in`](crate::Channel::count_in).
    #[must_use]
    pub fn beside(&self) -> Self {
        let clock = Arc::new(AtomicU32::new(self.clock.load(Relaxed)));
        Self {
            clock,
            ..self.clone()
        }
    }

    /// Makes a context of this step for one of several pieces of work that go on side by side: while it waits, short
    /// messages stay until all of them wait and whoever polls them [flushes](Self::flush). So what becomes
    /// ready together travels together.
    #[must_use]
    pub fn gathering(&self) -> Self {
        Self {
            gathers: true,
            ..self.clone()
        }
    }

    /// Makes a context of this step whose messages and AES blocks, and those of all steps within it, are also counted in
    /// `meter`, in the place of the meter that this context has.
    #[must_use]
    pub fn with_meter(&self, meter: &Meter) -> Self {
        Self {
            meter: Some(meter.clone()),
            ..self.clone()
        }
    }

    /// Makes a context of this step whose rounds are counted with those of `other`.
    #[must_use]
    pub fn counting_in(&self, other: &Self) -> Self {
        Self {
            clock: Arc::clone(&other.clock),
            ..self.clone()
        }
    }

    /// Takes in the rounds of another context: of a fork that has ended, or in a fork that is used again,
    /// those of what came before.
    pub fn join(&self, other: &Self) {
        self.clock.fetch_max(other.clock.load(Relaxed), Relaxed);
    }

    /// Counts on as if `rounds` rounds had come after `start`: where not all parties of a step have a
    /// message in each of its rounds, and yet all are to count it alike.
    pub fn advance(&self, start: &Self, rounds: u32) {
        let end = start.clock.load(Relaxed).saturating_add(rounds);
        self.clock.fetch_max(end, Relaxed);
        for counters in self.counters() {
            counters.passed(self.phase, end);
        }
    }

    /// The step `name` within this one, in `phase`, with the count of rounds at zero.
    #[must_use]
    pub fn enter(&self, phase: Phase, name: &str) -> Self {
        Self {
            phase,
            clock: Arc::default(),
            ..self.step(name)
        }
    }

    /// A generator that `peer` has too for this step, and nobody else. Needs no message: its seed
    /// comes from the two halves that both sent when the session began.
    ///
    /// # Errors
    /// [`Error::Reused`] if this step had it already: one stream masks one thing.
    pub fn shared_prg(&self, peer: Party) -> Result<Generator> {
        if self.job.use_mask(&self.path, peer) {
            let prg = self.job.session.shared_prg(self.job.id(), &self.path, peer);
            return Ok(self.generator(prg));
        }
        let what = format!("shared generator of step `{}` with {peer}", self.path);
        Err(Error::Reused { what })
    }

    /// A fresh generator that nobody else has, seeded by the operating system.
    pub fn private_prg(&self) -> Generator {
        let prg = self.job.session.private_prg();
        self.generator(prg)
    }

    fn generator(&self, prg: Prg) -> Generator {
        Generator::new(prg, Arc::clone(&self.job), self.phase, self.meter.clone())
    }

    /// 32 bytes that all parties know and that no other step of any job of this session has: for
    /// hashes that must be bound to their place.
    pub fn public_id(&self) -> [u8; 32] {
        self.job.session.public_id(self.job.id(), &self.path)
    }

    /// The numbers of the secret keys of AES that parties of this step share or know in part: the same for all.
    /// Whoever gives them out gives none twice, so that no two keys encrypt one block.
    pub fn key_numbers(&self) -> KeyNumbers {
        self.numbers_of(&[])
    }

    /// The numbers of our own secret keys of AES in this step, those of generators that a private one seeds.
    pub fn own_key_numbers(&self) -> KeyNumbers {
        self.numbers_of(&(self.me().index() as u16).to_le_bytes())
    }

    fn numbers_of(&self, owner: &[u8]) -> KeyNumbers {
        let digest = Sha256::new()
            .chain_update(domains::STEP_KEY_NUMBERS)
            .chain_update(self.public_id())
            .chain_update(owner)
            .finalize();
        KeyNumbers::from_digest(&digest.into())
    }

    /// The seed from which both sides of a base OT take their keys, instead of computing them: in tests of
    /// what starts from base OTs. Without the feature `test-seeds` there is none.
    #[doc(hidden)]
    pub fn test_base_ots(&self) -> Option<u64> {
        self.job.session.test_base_ots()
    }

    /// Notes that `what` was asked for, in the quantity of the first number and as the other numbers say,
    /// together with all other parties: [`Job::finish`](crate::Job::finish) fails if one of them asked
    /// for something else, which lengths of messages need not show. Every party that notes anything
    /// notes the same, in the same order for each `what` in each step; there are at most 64 `what`. What is
    /// done [among](Self::among) some parties is compared by these, and the others are not told.
    pub fn tally(&self, what: &'static str, numbers: &[usize]) {
        self.job.tally(self.parties, what, &self.path, numbers);
    }

    /// Runs `work` and counts the AES blocks that it computes (see [`madrigal_kernels::meter`])
    /// in this context's phase. Work inside that is counted in a context of its own is not counted here.
    ///
    /// Operations do this for themselves, in the context that their messages are counted in, and so do
    /// a context's generators: who calls them need not. Blocks that no context counts are nobody's, for example
    /// the blocks of a [`Prg`] that is no context's.
    pub fn metered_now<R>(&self, work: impl FnOnce() -> R) -> R {
        let meter = self.meter.as_ref();
        self.job.counters.metered(meter, self.phase, work)
    }

    /// Meters as [`metered_now`](Self::metered_now) does, for work that waits for messages: what else the thread
    /// does meanwhile is not counted. Blocks that [`on_threads`](crate::on_threads) computes for it are.
    pub async fn metered<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|task| self.metered_now(|| work.as_mut().poll(task))).await
    }

    /// Gives the party's [crew](madrigal_kernels::crew), of `threads` threads or of
    /// [its own number](crate::SessionConfig::threads) if that is more: one for the whole session, made when it is first
    /// asked for.
    ///
    /// # Errors
    /// [`Error`]: threads that could not be started; the job then fails for all parties.
    pub fn crew(&self, threads: usize) -> Result<Crew> {
        let crew = self.job.session.crew(threads);
        crew.map_err(|error| {
            let reason = error.to_string();
            self.fail(Error::Ended { reason })
        })
    }

    /// Fails the job for all parties, and returns the error it has failed with (an earlier one, if
    /// there was one).
    pub fn fail(&self, error: Error) -> Error {
        self.job.fail(error)
    }

    /// Sends off what has gathered. Waiting for a message does this by itself.
    pub fn flush(&self) {
        self.job.session.flush();
    }

    /// Sends what has gathered, before a wait for a message: nobody else may be keeping it back.
    pub(crate) fn flush_to_wait(&self) {
        if self.gathers {
            self.job.session.flush_long();
        } else {
            self.flush();
        }
    }

    /// The job's failure, if it has failed.
    pub fn check(&self) -> Result<()> {
        self.job.check()
    }

    /// Opens the session's state of the channel to `peer` in this step, and gives the step's number. Once.
    pub(crate) fn open(&self, peer: Party) -> Result<(u64, Arc<ChannelState>)> {
        self.check()?;
        let step = step_id(&self.path);
        let session = &self.job.session;
        let state = session.open_channel(self.job.id(), step, peer, &self.path)?;
        Ok((step, state))
    }

    pub(crate) fn clock(&self) -> &AtomicU32 {
        &self.clock
    }

    pub(crate) fn job_id(&self) -> u32 {
        self.job.id()
    }

    pub(crate) fn count_sent(&self, bytes: usize, round: u32) {
        for counters in self.counters() {
            counters.sent(self.phase, bytes, round);
        }
    }

    pub(crate) fn count_received(&self, bytes: usize, round: u32) {
        for counters in self.counters() {
            counters.received(self.phase, bytes, round);
        }
    }

    /// Counters of the job, and those beside them.
    fn counters(&self) -> impl Iterator<Item = &Counters> {
        let own = self.meter.as_ref().map(Meter::counters);
        [&self.job.counters].into_iter().chain(own)
    }

    /// Gives the [`round trip`](crate::Session::round_trip) to a peer.
    pub fn round_trip(&self, peer: Party) -> Option<Duration> {
        self.job.session.round_trip(peer)
    }

    pub(crate) fn post(&self, peer: Party, frame: Frame) {
        self.job.session.post(peer, frame);
    }
}

/// Lets everything else that is ready run once. Long local work calls this between its parts, so
/// that messages keep moving.
pub async fn breathe() {
    let mut once = false;
    poll_fn(|task| {
        if once {
            return Poll::Ready(());
        }
        once = true;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs a future that never waits for anything outside itself and its own wakers, on this thread.
///
/// # Panics
/// Never by itself; a panic inside passes through.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark {
        thread: std::thread::Thread,
        woken: AtomicBool,
    }
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.woken.store(true, Release);
            self.thread.unpark();
        }
    }
    let unpark = Arc::new(Unpark {
        thread: std::thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Arc::clone(&unpark).into();
    let mut task = std::task::Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return output;
        }
        // The future may park the thread too, and take our permit to go on.
        while !unpark.woken.swap(false, Acquire) {
            std::thread::park();
        }
    }
}
