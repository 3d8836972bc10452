//! A session: N parties that have greeted each other, and the jobs they run together over one
//! transport.

mod config;
mod failing;
mod greeting;
mod inbox;
mod job;
pub(crate) mod job_shared;
mod jobs;
mod outbox;
mod over;
mod round_trip;
mod shared;
mod signs;
mod tally;
mod waits;
mod watchdog;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use madrigal_core::{MAX_PARTIES, Party, Zeroizing};
use madrigal_kernels::marks;

use crate::control::{self, Control, Hello, MAX_ADDRESS, Message, shorten};
use crate::error::{Error, Result};
use crate::transport::{Inbox, Transport};
use crate::versions::Versions;
use crate::window::{MAX_WINDOW, Room};

pub use config::{MIN_WINDOW, SessionConfig};
use greeting::{fresh_prg, unix_seconds};
use job::Own;
pub use job::{Attended, Fact, Job};
use round_trip::RoundTrip;
use shared::{Peer, Shared};
use waits::Attending;

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

impl Session {
    /// A session over `transport`. Nothing is sent before [`greet`](Session::greet).
    ///
    /// # Panics
    /// If the configuration is not one: fewer than 2 parties or more than [`MAX_PARTIES`], `me` not
    /// among them, a window below [`MIN_WINDOW`] or above [`MAX_WINDOW`], a name of more than 64 bytes.
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
            (MIN_WINDOW..=MAX_WINDOW).contains(&config.window),
            "two full frames fit the window, which is 64 MiB at most"
        );
        assert!(
            config.name.len() <= 64,
            "a session's name has 64 bytes at most"
        );
        crate::warning::of_kernels();
        let transport: Arc<dyn Transport> = Arc::new(transport);
        let mut prgs = 0;
        let peers = config.me.others(config.parties).map(|party| {
            let mut seed_half = Zeroizing::new([0; 16]);
            fresh_prg(&config, &mut prgs).fill(&mut *seed_half);
            Peer {
                party,
                channels: Mutex::default(),
                early: AtomicU64::new(0),
                room: Room::new(config.growth),
                gathered: Mutex::default(),
                control: Mutex::default(),
                seed_half,
                seed: OnceLock::new(),
                nonce: OnceLock::new(),
                meeting: match config.name.is_empty() {
                    true => shorten(&transport.meeting(party).unwrap_or_default(), MAX_ADDRESS),
                    false => String::new(),
                },
                clock_ahead: OnceLock::new(),
                threads: OnceLock::new(),
                spoken: OnceLock::new(),
                left: AtomicBool::new(false),
                round_trip: RoundTrip::default(),
                heard: AtomicU64::new(0),
                sent: AtomicU64::new(0),
            }
        });
        let peers = peers.collect();
        let mut nonce = [0; 16];
        fresh_prg(&config, &mut prgs).fill(&mut nonce);
        // All parties get it, and public identifiers are made of it.
        marks::public(&mut nonce);
        let shared = Arc::new(Shared {
            peers,
            transport: Arc::clone(&transport),
            jobs: Mutex::default(),
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
            crew: Mutex::default(),
            config,
        });
        transport.attach(Inbox::new(Arc::<Shared>::downgrade(&shared)));
        let _ = shared.watchdog.set(watchdog::spawn(&shared));
        Self { shared }
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.shared.me()
    }

    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.shared.parties()
    }

    /// The session's identity, the same at all parties and in no other session: a hash of its name and of
    /// what each party has drawn at random for it. `None` before all have greeted each other. It is public.
    pub fn identity(&self) -> Option<[u8; 32]> {
        self.shared.identity.get().copied()
    }

    /// Greets all parties and waits for their greetings: versions, names and numbers must fit, without a
    /// name also where each two meet, and each pair gets a seed that only these two know.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::Session`] or [`Error::Run`] at both sides of a mismatch,
    /// [`Error::Late`] if a party does not answer within the configured patience.
    pub fn greet(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.greet_all())
    }

    async fn greet_all(&self) -> Result<()> {
        let shared = &*self.shared;
        for peer in &shared.peers {
            let hello = Hello {
                protocol_version: shared.config.protocol.oldest,
                // Who speaks one version says what it always said.
                newest_version: match shared.config.protocol {
                    Versions { oldest, newest } if newest > oldest => newest,
                    _ => 0,
                },
                speaks: shared.config.speaks.iter().map(control::speaks).collect(),
                from: shared.me().index() as u32,
                to: peer.party.index() as u32,
                parties: shared.parties() as u32,
                session: shared.config.name.clone(),
                seed_half: peer.seed_half.to_vec(),
                software: concat!("madrigal ", env!("CARGO_PKG_VERSION")).into(),
                nonce: shared.nonce.to_vec(),
                meeting: peer.meeting.clone(),
                clock: unix_seconds(),
                threads: shared.told_threads(),
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

    /// Number of threads that this party computes with, of its [configuration](SessionConfig::threads).
    pub fn threads(&self) -> usize {
        self.shared.config.threads
    }

    /// The least number of threads of the session's first `parties` parties, which compute and of which we are one: the
    /// same at all of them, so that they can plan a job for it. It is known once all have greeted each other.
    ///
    /// # Errors
    /// [`Error::Idle`] at all parties if one of these says that it computes nothing; [`Error::Ungreeted`] before the
    /// greeting.
    pub fn common_threads(&self, parties: usize) -> Result<usize> {
        self.shared.common_threads(parties)
    }

    /// Opens job `id` (from 1 on, each used once) on `facts` that all parties must announce alike. The
    /// job fails by itself when `deadline` has passed.
    ///
    /// Anything that the facts do not name is not compared before work begins. Two parties whose calls then differ
    /// find out where a message has another length than is due; but lengths are rounded up to whole
    /// bytes or blocks, and what has the right length by chance is computed on, with wrong results, until
    /// [`Job::finish`] compares what was noted ([`Context::tally`](crate::Context::tally)). So let the
    /// facts name all that decides what is sent: kinds, numbers, widths, extension.
    ///
    /// # Errors
    /// [`Error::Mixed`] at both sides if the parties have not all greeted each other, but some those of
    /// another session; [`Error::Program`] at both sides if the facts differ, [`Error::Late`] if a party
    /// announces nothing, [`Error::Reused`] for a number that was used.
    pub fn job<'a>(
        &'a self,
        id: u32,
        facts: &'a [Fact],
        deadline: Option<Duration>,
    ) -> BoxFuture<'a, Result<Job>> {
        let own = Own {
            parties: self.parties(),
            facts: &[],
        };
        let session = Arc::clone(&self.shared);
        Box::pin(Job::open(session, id, facts, own, deadline))
    }

    /// Opens a job as [`job`](Self::job) does, where the session's first `parties` parties, of which we are one, also agree on
    /// `own` facts. The others, who help without computing, are not told these, nor of anything else that would show them:
    /// digests of constants, of which a guess could be tested. They [attend](Self::attend) with `facts` alone.
    ///
    /// # Errors
    /// [`Error`] in the same cases as [`job`](Self::job).
    pub fn job_among<'a>(
        &'a self,
        id: u32,
        facts: &'a [Fact],
        parties: usize,
        own: &'a [Fact],
        deadline: Option<Duration>,
    ) -> BoxFuture<'a, Result<Job>> {
        let own = Own {
            parties,
            facts: own,
        };
        let session = Arc::clone(&self.shared);
        Box::pin(Job::open(session, id, facts, own, deadline))
    }

    /// Version of a protocol above the session's that all parties have in common: the newest that each of them speaks, by what
    /// they [told](SessionConfig::speaks) in their greetings. It is the same at all of them. `None` before the greeting, and of a
    /// protocol that this party does not speak.
    pub fn spoken(&self, protocol: &str) -> Option<u32> {
        self.shared.spoken(protocol)
    }

    /// Versions of a protocol above the session's that a party of the session speaks, as it told in its greeting: who has to be
    /// upgraded before a newer one can be used. `None` in the same cases as of [`spoken`](Self::spoken).
    pub fn spoken_by(&self, party: Party, protocol: &str) -> Option<Versions> {
        self.shared.spoken_by(party, protocol)
    }

    /// Takes part in the next job that the other parties announce, on whatever facts they agree: for a
    /// party that serves jobs without knowing them. Gives the facts too; `None` when one of the others
    /// has left. Waits for as long as signs of life come from all others. Among several jobs that wait,
    /// the one with the smallest number is the next.
    ///
    /// # Errors
    /// The session's failure, [`Error::Silent`] among them; as [`job`](Self::job).
    pub fn attend(&self, deadline: Option<Duration>) -> BoxFuture<'_, Result<Attended>> {
        Box::pin(self.attend_next(deadline))
    }

    async fn attend_next(&self, deadline: Option<Duration>) -> Result<Attended> {
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
    pub fn close(self) -> BoxFuture<'static, ()> {
        Box::pin(self.leave())
    }

    async fn leave(self) {
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

    /// 32 bytes that all parties know and that no other job of any session has: a name for what the job gave.
    pub fn run_id(&self, job: u32) -> [u8; 32] {
        // No step has an empty path.
        self.shared.public_id(job, "")
    }

    /// Time that a message to `peer` and its answer took at best, of a few that follow the greeting; `None`
    /// until the first answer has come, and with ourselves.
    pub fn round_trip(&self, peer: Party) -> Option<Duration> {
        self.shared.round_trip(peer)
    }

    /// Seconds by which the clock of `peer` was ahead of ours when its greeting came, behind if it is
    /// negative; `None` before that, with ourselves, and of who does not say. Messages take their time, so
    /// it is right to a second or two at best.
    pub fn clock_ahead(&self, peer: Party) -> Option<i64> {
        let peer = self
            .shared
            .peers()
            .iter()
            .find(|known| known.party == peer)?;
        peer.clock_ahead.get().copied()
    }

    /// The failure that has ended the session, if one has.
    pub fn failure(&self) -> Option<Error> {
        self.shared.check().err()
    }

    /// Ends the session for all parties.
    pub fn fail(&self, error: Error) -> Error {
        self.shared.fail(error)
    }
}
