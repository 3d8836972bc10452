//! A session: N parties that have greeted each other, and the jobs they run together over one
//! transport.

mod config;
mod greeting;
mod inbox;
pub(crate) mod job;
mod outbox;
mod waits;
mod watchdog;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use madrigal_core::{MAX_PARTIES, Party};
use zeroize::Zeroizing;

use crate::channel::ChannelState;
use crate::control::{self, Control, FinishJob, Hello, Message, OpenJob};
use crate::error::{Blame, Error, Result};
use crate::transport::Transport;

pub use config::{MIN_WINDOW, SessionConfig};
use greeting::fresh_prg;
pub use inbox::Inbox;
pub use job::{Fact, Job};
use job::{JobMap, JobShared};
use outbox::Gathered;
use waits::{Attending, Waiting};

/// One party's side of a session. Cloning gives another handle to the same session.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let config = &self.shared.config;
        write!(
            f,
            "Session({:?}, {} of {})",
            config.name, config.me, config.parties
        )
    }
}

pub(crate) struct Shared {
    pub(crate) config: SessionConfig,
    transport: Arc<dyn Transport>,
    peers: Vec<Peer>,
    jobs: JobMap,
    failure: OnceLock<Error>,
    closed: AtomicBool,
    /// Whether we have given up the session or a job of it and told the others why.
    gave_up: AtomicBool,
    /// Whether frames have gathered for any peer.
    dirty: AtomicBool,
    /// How many threads have something to say that is not sent yet: see [`speak`](Shared::speak).
    speaking: AtomicUsize,
    wire_bytes_sent: AtomicU64,
    /// Tasks that wait for control messages, each under its own number.
    control_waits: Mutex<HashMap<u64, Waiting>>,
    waits: AtomicU64,
    /// How many tasks wait for the others to announce a job.
    attending: AtomicUsize,
    epoch: Instant,
    prgs: AtomicU64,
    nonce: [u8; 16],
    /// Hash of all parties' nonces: no two sessions have the same.
    identity: OnceLock<[u8; 32]>,
    watchdog: OnceLock<JoinHandle<()>>,
}

/// All we keep of one other party.
pub(crate) struct Peer {
    pub(crate) party: Party,
    channels: Mutex<Channels>,
    /// Bytes that have come for steps that we have not opened.
    early: AtomicU64,
    gathered: Mutex<Gathered>,
    control: Mutex<ControlState>,
    seed_half: Zeroizing<[u8; 16]>,
    seed: OnceLock<Zeroizing<[u8; 32]>>,
    nonce: OnceLock<Vec<u8>>,
    left: AtomicBool,
    /// Milliseconds since the session's epoch.
    heard: AtomicU64,
    sent: AtomicU64,
}

#[derive(Default)]
struct Channels {
    by_address: HashMap<(u32, u64), Arc<ChannelState>>,
    /// How many of these only the peer has addressed yet.
    unopened: usize,
    /// Jobs that are over: what still arrives for them is dropped.
    over: HashSet<u32>,
}

/// What the peer has said that has not been asked for yet.
#[derive(Default)]
pub(crate) struct ControlState {
    hello: Option<Hello>,
    pub(crate) opened: HashMap<u32, OpenJob>,
    pub(crate) finished: HashMap<u32, FinishJob>,
    /// Jobs that the peer has given up before we opened them.
    pub(crate) aborted: HashMap<u32, Error>,
}

impl Session {
    /// A session over `transport`. Nothing is sent before [`greet`](Session::greet).
    ///
    /// # Panics
    /// If the configuration is not one: fewer than 2 parties or more than [`MAX_PARTIES`], `me` not
    /// among them, a window below [`MIN_WINDOW`], an empty name or one of more than 64 bytes.
    pub fn new(config: SessionConfig, transport: impl Transport) -> Self {
        assert!(
            (2..=MAX_PARTIES).contains(&config.parties),
            "a session has 2 to 64 parties"
        );
        assert!(
            config.me.index() < config.parties,
            "we are one of the parties"
        );
        assert!(
            config.window >= MIN_WINDOW,
            "two full frames fit the window"
        );
        assert!(
            (1..=64).contains(&config.name.len()),
            "a session's name has 1 to 64 bytes"
        );
        let transport: Arc<dyn Transport> = Arc::new(transport);
        let mut prgs = 0;
        let peers = config.me.others(config.parties).map(|party| {
            let mut seed_half = Zeroizing::new([0; 16]);
            fresh_prg(&config, &mut prgs).fill(&mut *seed_half);
            Peer {
                party,
                channels: Mutex::default(),
                early: AtomicU64::new(0),
                gathered: Mutex::default(),
                control: Mutex::default(),
                seed_half,
                seed: OnceLock::new(),
                nonce: OnceLock::new(),
                left: AtomicBool::new(false),
                heard: AtomicU64::new(0),
                sent: AtomicU64::new(0),
            }
        });
        let peers = peers.collect();
        let mut nonce = [0; 16];
        fresh_prg(&config, &mut prgs).fill(&mut nonce);
        let shared = Arc::new(Shared {
            peers,
            transport: Arc::clone(&transport),
            jobs: JobMap::default(),
            failure: OnceLock::new(),
            closed: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
            dirty: AtomicBool::new(false),
            speaking: AtomicUsize::new(0),
            wire_bytes_sent: AtomicU64::new(0),
            control_waits: Mutex::default(),
            waits: AtomicU64::new(0),
            attending: AtomicUsize::new(0),
            epoch: Instant::now(),
            prgs: AtomicU64::new(prgs),
            nonce,
            identity: OnceLock::new(),
            watchdog: OnceLock::new(),
            config,
        });
        transport.attach(Inbox::new(&shared));
        let _ = shared.watchdog.set(watchdog::spawn(&shared));
        Self { shared }
    }

    /// Who we are.
    pub fn me(&self) -> Party {
        self.shared.me()
    }

    /// How many parties there are.
    pub fn parties(&self) -> usize {
        self.shared.parties()
    }

    /// Greets all parties and waits for their greetings: versions, names and numbers must fit, and
    /// each pair gets a seed that only these two know.
    ///
    /// # Errors
    /// [`Error::Version`] or [`Error::Session`] at both sides of a mismatch, [`Error::Late`] if a
    /// party does not answer within the configured patience.
    pub async fn greet(&self) -> Result<()> {
        let shared = &*self.shared;
        for peer in &shared.peers {
            let hello = Hello {
                protocol_version: shared.config.protocol_version,
                from: shared.me().index() as u32,
                to: peer.party.index() as u32,
                parties: shared.parties() as u32,
                session: shared.config.name.clone(),
                seed_half: peer.seed_half.to_vec(),
                software: concat!("madrigal ", env!("CARGO_PKG_VERSION")).into(),
                nonce: shared.nonce.to_vec(),
            };
            shared.tell(peer, 0, &Control::new(Message::Hello(hello)));
        }
        shared.flush();
        let patience = shared.config.patience;
        let until = Instant::now() + patience;
        // A greeting that does not fit says more than that somebody gave up because of it or is late
        // because of it: so each is judged as soon as it is here, whomever we wait for.
        let look = || {
            if let Err(error) = shared.peers.iter().try_for_each(|peer| shared.meet(peer)) {
                return Some(Err(error));
            }
            let greeted = |peer: &Peer| peer.seed.get().is_some();
            let done = || shared.peers.iter().all(greeted).then_some(Ok(()));
            done().or_else(|| shared.check().err().map(Err))
        };
        let late = || {
            let mut peers = shared.peers.iter();
            let late = peers.find(|peer| peer.seed.get().is_none());
            Err(Error::Late {
                peer: late.map_or(shared.me(), |peer| peer.party),
                what: "greet us",
                after: patience,
            })
        };
        let greeted = shared.control(until, look).await;
        greeted.unwrap_or_else(late).inspect_err(|error| {
            shared.fail(error.clone());
        })?;
        shared.identify();
        shared.check()
    }

    /// Opens job `id` (from 1 on, each used once) on `facts` that all parties must announce alike. The
    /// job fails by itself when `deadline` has passed.
    ///
    /// What the facts do not name is not compared before work begins. Two parties whose calls then differ
    /// find out where a message has another length than is due; but lengths are rounded up to whole
    /// bytes or blocks, and what has the right length by chance is computed on, with wrong results, until
    /// [`Job::finish`] compares what was noted ([`Context::tally`](crate::Context::tally)). So let the
    /// facts name all that decides what is sent: kinds, numbers, widths, extension.
    ///
    /// # Errors
    /// [`Error::Program`] at both sides if the facts differ, [`Error::Late`] if a party announces
    /// nothing, [`Error::Reused`] for a number that was used.
    pub async fn job(&self, id: u32, facts: &[Fact], deadline: Option<Duration>) -> Result<Job> {
        Job::open(Arc::clone(&self.shared), id, facts, deadline).await
    }

    /// Takes part in the next job that the other parties announce, on whatever facts they agree: for a
    /// party that serves jobs without knowing them. Gives the facts too; `None` when one of the others
    /// has left. Waits for as long as signs of life come from all others. Of several jobs that wait,
    /// the one with the smallest number is the next.
    ///
    /// # Errors
    /// The session's failure, [`Error::Silent`] among them; as [`job`](Self::job).
    pub async fn attend(&self, deadline: Option<Duration>) -> Result<Option<(Job, Vec<Fact>)>> {
        let shared = &*self.shared;
        let look = || {
            if let Err(error) = shared.check() {
                return Some(Err(error));
            }
            let first = shared.peers.first()?;
            let next = first
                .control()
                .opened
                .iter()
                .map(|(&id, job)| (id, job.facts()))
                .min();
            match next {
                Some(found) => Some(Ok(Some(found))),
                None if shared.peers.iter().any(|peer| peer.left.load(Relaxed)) => Some(Ok(None)),
                None => None,
            }
        };
        let attending = Attending::new(shared);
        let found = shared.control_idly(look).await?;
        drop(attending);
        match found {
            Some((id, facts)) => {
                let job = self.job(id, &facts, deadline).await?;
                Ok(Some((job, facts)))
            }
            None => Ok(None),
        }
    }

    /// Takes leave of all parties and closes the transport once everything has left.
    pub async fn close(self) {
        let shared = &*self.shared;
        if shared.check().is_ok() {
            for peer in &shared.peers {
                shared.tell(peer, 0, &Control::new(Message::Leave(control::Leave {})));
            }
        }
        shared.flush();
        // Whatever else still waits in this session waits in vain.
        let closed = "the session was closed".into();
        let _ = shared.failure.set(Error::Ended { reason: closed });
        shared.wake_all();
        shared.closed.store(true, Relaxed);
        // Another thread may just have taken what had gathered, or tell why all is over: who hears
        // that we are gone before the reason takes us for the culprit. Sending does not block, so
        // this is short. Whoever begins to speak after this (an addition of nothing, which orders the
        // two) sees that the session has ended, and is quiet.
        while shared.speaking.fetch_add(0, SeqCst) > 0 {
            thread::yield_now();
        }
        shared.transport.close();
        shared.closing().await;
    }

    /// Bytes sent so far with headers and control messages, by all jobs together.
    pub fn wire_bytes_sent(&self) -> u64 {
        self.shared.wire_bytes_sent.load(Relaxed)
    }

    /// Ends the session for all parties.
    pub fn fail(&self, error: Error) -> Error {
        self.shared.fail(error)
    }
}

impl Shared {
    pub(crate) fn me(&self) -> Party {
        self.config.me
    }

    pub(crate) fn parties(&self) -> usize {
        self.config.parties
    }

    pub(crate) fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The others' list leaves us out.
    fn peer(&self, party: Party) -> &Peer {
        assert_ne!(party, self.me(), "a party is not its own peer");
        &self.peers[party.index() - usize::from(party > self.me())]
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.get() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Fails the session and all its jobs, and tells the peers, also what one of them has told us:
    /// else they would see that we are gone before they hear why. The first failure counts.
    pub(crate) fn fail(&self, error: Error) -> Error {
        let speaking = self.speak();
        let first = self.failure.set(error.clone()).is_ok();
        let error = self.failure.get().cloned().unwrap_or(error);
        if first {
            self.abort(0, &error);
        }
        // Those that are woken may close the session, which waits for who speaks.
        drop(speaking);
        if first {
            self.wake_all();
        }
        error
    }

    /// Tells all peers that job `id` (0: the session) has failed here.
    pub(crate) fn abort(&self, id: u32, error: &Error) {
        self.gave_up.store(true, SeqCst);
        let abort = control::Abort {
            reason: control::shorten(&error.to_string(), 1024),
            culprit: error.culprit().map_or(0, |party| party.index() as u32 + 1),
            network: error.blame() == Blame::Network,
        };
        self.tell_all(id, &Control::new(Message::Abort(abort)));
        self.flush();
    }

    fn wake_all(&self) {
        for peer in &self.peers {
            let channels: Vec<_> = lock(&peer.channels).by_address.values().cloned().collect();
            channels.iter().for_each(|channel| channel.wake());
        }
        self.wake_control();
    }

    pub(crate) fn wake_job(&self, id: u32) {
        for peer in &self.peers {
            let channels: Vec<_> = lock(&peer.channels)
                .by_address
                .iter()
                .filter(|((job, _), _)| *job == id)
                .map(|(_, channel)| Arc::clone(channel))
                .collect();
            channels.iter().for_each(|channel| channel.wake());
        }
        self.wake_control();
    }

    /// Milliseconds since the session began.
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_millis() as u64
    }

    pub(crate) fn open_channel(
        &self,
        job: u32,
        step: u64,
        peer: Party,
        path: &Arc<str>,
    ) -> Result<Arc<ChannelState>> {
        use std::collections::hash_map::Entry;
        let peer = self.peer(peer);
        let mut channels = lock(&peer.channels);
        if channels.over.contains(&job) {
            let reason = "it is finished".into();
            return Err(Error::Ended { reason });
        }
        let known = match channels.by_address.entry((job, step)) {
            Entry::Vacant(entry) => {
                let state = Arc::new(ChannelState::new(self.config.window));
                let _ = state.open(path);
                return Ok(Arc::clone(entry.insert(state)));
            }
            Entry::Occupied(entry) => Arc::clone(entry.get()),
        };
        let Some(early) = known.open(path) else {
            let first = known.name().unwrap_or_default();
            return Err(Error::Reused {
                what: format!("step `{path}` (channel of `{first}`)"),
            });
        };
        channels.unopened -= 1;
        peer.early.fetch_sub(early, Relaxed);
        Ok(known)
    }

    pub(crate) fn register(&self, job: &Arc<JobShared>) -> Result<()> {
        self.check()?;
        let what = || Error::Reused {
            what: format!("job {}", job.id),
        };
        if job.id == 0
            || self
                .peers
                .iter()
                .any(|peer| lock(&peer.channels).over.contains(&job.id))
        {
            return Err(what());
        }
        if self.identity.get().is_none() {
            return Err(Error::Ungreeted);
        }
        match lock(&self.jobs).entry(job.id) {
            std::collections::hash_map::Entry::Occupied(_) => return Err(what()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Arc::clone(job));
            }
        }
        // From here on an abort, and the news that a party has left, finds the job itself; what came
        // earlier is here. Why a party gave the job up says more than that it left then.
        let aborted = |peer: &Peer| peer.control().aborted.remove(&job.id);
        let mut aborted: Vec<Error> = self.peers.iter().filter_map(aborted).collect();
        if !aborted.is_empty() {
            job.fail(aborted.swap_remove(0));
        } else if let Some(peer) = self.peers.iter().find(|peer| peer.left.load(SeqCst)) {
            lock(&self.jobs).remove(&job.id);
            return Err(peer.has_left());
        }
        Ok(())
    }

    pub(crate) fn unregister(&self, id: u32) {
        let over: Arc<str> = "over".into();
        for peer in &self.peers {
            let mut channels = lock(&peer.channels);
            channels.over.insert(id);
            let mut unopened = 0;
            channels.by_address.retain(|(job, _), channel| {
                let ours = *job == id;
                if ours && let Some(early) = channel.open(&over) {
                    peer.early.fetch_sub(early, Relaxed);
                    unopened += 1;
                }
                !ours
            });
            channels.unopened -= unopened;
            drop(channels);
            let mut control = peer.control();
            control.opened.remove(&id);
            control.finished.remove(&id);
            control.aborted.remove(&id);
        }
        lock(&self.jobs).remove(&id);
    }

    /// The jobs that still need something from `peer`.
    fn unfinished(&self, peer: &Peer) -> Vec<Arc<JobShared>> {
        let jobs: Vec<_> = lock(&self.jobs).values().cloned().collect();
        let control = peer.control();
        let open = |job: &Arc<JobShared>| !job.over() && !control.finished.contains_key(&job.id);
        jobs.into_iter().filter(open).collect()
    }

    fn find_job(&self, id: u32) -> Option<Arc<JobShared>> {
        lock(&self.jobs).get(&id).cloned()
    }
}

/// A session that is dropped unclosed is one whose party died: the others notice.
impl Drop for Shared {
    fn drop(&mut self) {
        if !self.closed.load(Relaxed) {
            self.transport.close();
        }
        // The watchdog does not outlive its session, unless it is the one that drops it.
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.thread().unpark();
            if watchdog.thread().id() != thread::current().id() {
                let _ = watchdog.join();
            }
        }
    }
}

impl Peer {
    fn has_left(&self) -> Error {
        Error::Lost {
            peer: self.party,
            step: None,
            missing: 0,
            reason: "it has left the session".into(),
        }
    }

    pub(crate) fn control(&self) -> MutexGuard<'_, ControlState> {
        lock(&self.control)
    }

    /// The same to note something about a job; `None` if that is over. So nothing is noted of a job
    /// after all that was noted of it has been thrown away.
    fn control_of(&self, job: u32) -> Option<MutexGuard<'_, ControlState>> {
        let channels = lock(&self.channels);
        (!channels.over.contains(&job)).then(|| self.control())
    }
}

/// No lock in this crate is held across a panic that would leave its content half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
