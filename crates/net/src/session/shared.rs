//! State that all handles to a session share, and what it keeps of each peer and of each job. How they fail, how
//! jobs come and go, what is heard, said and waited for is in the files beside this one.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::crew::{Crew, CrewError};

use super::config::SessionConfig;
use super::over::Over;
use super::round_trip::RoundTrip;
use crate::control::{FinishJob, Hello, OpenJob};
use crate::error::{Error, Result};
use crate::flow::ChannelState;
use crate::frame::Frame;
use crate::transport::Transport;
use crate::versions::Versions;
use crate::window::Room;

/// The most threads of a crew, whatever a configuration says: more than share a call with any gain.
const MOST_IN_CREW: usize = 64;

pub(crate) struct Shared {
    pub(crate) config: SessionConfig,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) peers: Vec<Peer>,
    pub(super) jobs: Mutex<HashMap<u32, Arc<JobState>>>,
    pub(super) failure: OnceLock<Error>,
    pub(super) closed: AtomicBool,
    /// Whether we have given up the session or a job of it and told the others why.
    pub(super) gave_up: AtomicBool,
    /// Whether frames have gathered for any peer.
    pub(super) dirty: AtomicBool,
    /// Number of threads that have something to say that is not sent yet: see [`speak`](Shared::speak).
    pub(super) speaking: AtomicUsize,
    pub(super) wire_bytes_sent: AtomicU64,
    /// Tasks that wait for control messages, each under its own number.
    pub(super) control_waits: Mutex<HashMap<u64, Waiting>>,
    pub(super) waits: AtomicU64,
    /// Number of tasks that wait for the others to announce a job.
    pub(super) attending: AtomicUsize,
    pub(super) epoch: Instant,
    pub(super) prgs: AtomicU64,
    pub(super) nonce: [u8; 16],
    /// Hash of all parties' nonces: no two sessions have the same. Each job begins with a comparison.
    pub(super) identity: OnceLock<[u8; 32]>,
    pub(super) watchdog: OnceLock<JoinHandle<()>>,
    /// Threads that share whole-value work.
    pub(super) crew: Mutex<Crew>,
}

/// All we keep of one other party.
pub(crate) struct Peer {
    pub(crate) party: Party,
    pub(super) channels: Mutex<Channels>,
    /// Bytes that we keep of steps that we have not opened, as they are counted towards `store`.
    pub(super) early: AtomicU64,
    /// Room for the windows of what we receive from it.
    pub(super) room: Arc<Room>,
    pub(super) gathered: Mutex<Gathered>,
    pub(super) control: Mutex<ControlState>,
    pub(super) seed_half: Zeroizing<[u8; 16]>,
    pub(super) seed: OnceLock<Zeroizing<[u8; 32]>>,
    pub(super) nonce: OnceLock<Vec<u8>>,
    /// Address where we meet it, as far as that tells sessions apart: empty in one that has a name.
    pub(super) meeting: String,
    /// Clock of the peer minus ours, in seconds.
    pub(super) clock_ahead: OnceLock<i64>,
    /// Versions that the peer speaks of each protocol that we [speak](SessionConfig::speaks), in our order, once it has greeted us.
    pub(super) spoken: OnceLock<Vec<Versions>>,
    /// Threads that the peer computes with, as it tells: 0 if it computes nothing.
    pub(super) threads: OnceLock<u32>,
    pub(super) left: AtomicBool,
    pub(super) round_trip: RoundTrip,
    /// Milliseconds since the session's epoch.
    pub(super) heard: AtomicU64,
    pub(super) sent: AtomicU64,
}

#[derive(Default)]
pub(super) struct Channels {
    pub(super) by_address: HashMap<(u32, u64), Arc<ChannelState>>,
    /// Number of these channels that only the peer has addressed yet.
    pub(super) unopened: usize,
    /// Jobs that are over: what still arrives for them is dropped.
    pub(super) over: Over,
}

/// Messages of the peer that have not been asked for yet.
#[derive(Default)]
pub(crate) struct ControlState {
    pub(super) hello: Option<Hello>,
    pub(crate) opened: HashMap<u32, OpenJob>,
    pub(crate) finished: HashMap<u32, FinishJob>,
    /// Jobs that we have announced and the peer has not: each holds a place with it.
    pub(super) announced: HashSet<u32>,
    /// Jobs that the peer has given up before we opened them.
    pub(crate) aborted: HashMap<u32, Error>,
}

/// Frames that wait to be sent to one peer.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) frames: Vec<Frame>,
    pub(super) bytes: usize,
}

/// A task that waits for control messages.
pub(super) struct Waiting {
    pub(super) since: Instant,
    pub(super) until: Instant,
    pub(super) waker: Waker,
}

/// State of a job that is open here.
pub(crate) struct JobState {
    pub(crate) id: u32,
    /// Number of the session's first parties that hear why the job failed; the others hear that it did.
    pub(super) insiders: AtomicUsize,
    pub(super) deadline: Option<(Instant, Duration)>,
    /// Error with which it ended: finished too, so that it is either finished or failed.
    pub(super) ended: OnceLock<Error>,
}

impl JobState {
    pub(super) fn over(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Gives the job's own failure, or that of its session. A peer that fails the job and is gone after it fails
    /// both, in this order, also between two looks of ours: so the job is looked at last.
    pub(super) fn check(&self, session: &Shared) -> Result<()> {
        let whole = session.check();
        match self.ended.get() {
            Some(error) => Err(error.clone()),
            None => whole,
        }
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
    pub(super) fn peer(&self, party: Party) -> &Peer {
        assert_ne!(party, self.me(), "a party is not its own peer");
        &self.peers[party.index() - usize::from(party > self.me())]
    }

    /// Round trip that was measured, once it was.
    pub(crate) fn round_trip(&self, party: Party) -> Option<Duration> {
        let peer = self.peers.iter().find(|peer| peer.party == party)?;
        peer.round_trip.shortest()
    }

    /// Crew of `threads` threads, or of as many as this party has, if these are more.
    pub(crate) fn crew(&self, threads: usize) -> Result<Crew, CrewError> {
        let threads = threads.max(self.config.threads).min(MOST_IN_CREW);
        let mut crew = lock(&self.crew);
        if crew.threads() < threads {
            *crew = Crew::new(threads)?;
        }
        Ok(crew.clone())
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.get() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Milliseconds since the session began.
    pub(super) fn now(&self) -> u64 {
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
        if channels.over.contains(job) {
            let reason = "it is finished".into();
            return Err(Error::Ended { reason });
        }
        let known = match channels.by_address.entry((job, step)) {
            Entry::Vacant(entry) => {
                let state = Arc::new(ChannelState::new(self.config.window, &peer.room));
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

/// The most jobs that one party may have announced, finished or given up, each, that another one has
/// not opened.
pub(super) const MAX_ANNOUNCED: usize = 64;

impl ControlState {
    /// Takes a place for the announcement of a job; whether there is one, or the job needs none because
    /// the peer has announced it.
    pub(super) fn announce(&mut self, job: u32) -> bool {
        let free = self.announced.len() < MAX_ANNOUNCED;
        let known = self.opened.contains_key(&job);
        if free && !known {
            self.announced.insert(job);
        }
        free || known
    }
}

impl Peer {
    pub(super) fn has_left(&self) -> Error {
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

    /// Gives the state to note something about a job; `None` if the job is over. So nothing is noted of a job
    /// after all that was noted of it has been thrown away.
    pub(super) fn control_of(&self, job: u32) -> Option<MutexGuard<'_, ControlState>> {
        let channels = lock(&self.channels);
        (!channels.over.contains(job)).then(|| self.control())
    }
}

/// No lock in this crate is held across a panic that would leave its content half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
