//! All that a server does together with the others, on a thread of its own: it meets them, agrees about batches, computes.

mod admission;
mod ahead;
mod kinds;
mod lines;
mod meet;
mod notes;
mod requests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use madrigal_core::{Digest256, Party};
use madrigal_net::transport::HandedOn;
use madrigal_net::{Error, Fact, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

use self::admission::Admission;
use self::ahead::Ahead;
use self::kinds::{Common, InSession, KindDoor, KindEvent, KindTask};
use self::lines::{Ends, Lines, Reader};
pub use self::meet::Between;
pub(crate) use self::meet::Meet;
use self::notes::{Kinds, Note};
use self::requests::{RequestDoor, RequestEvent, RequestTask};
use crate::ahead::Shelves;
use crate::keep::Keep;
use crate::kind::Kind;
use crate::operation::{Health, Meters, Trouble};
use crate::requests::{Key, Pool, RequestKind};

/// Pause between two looks whether batches can begin.
const TICK: Duration = Duration::from_millis(50);
/// Version of the notes, which servers compare.
const NOTES: &str = "4";

/// Everything that the thread needs.
pub(crate) struct Setup {
    pub(crate) meet: Meet,
    pub(crate) kinds: Vec<Arc<Kind>>,
    /// Kinds of requests, with the part of the key and what waits.
    pub(crate) requests: Vec<(Arc<RequestKind>, Key, Arc<Pool>)>,
    pub(crate) keep: Arc<Keep>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) health: Arc<Health>,
    /// Memory that jobs may take together here, in bytes.
    pub(crate) memory: u64,
    /// Correlations that are kept ready.
    pub(crate) ahead: Shelves,
}

/// The thread, as others see it.
#[derive(Debug)]
pub(crate) struct Together {
    asks: UnboundedSender<Ask>,
    thread: JoinHandle<()>,
}

/// A way to tell the thread something.
#[derive(Debug, Clone)]
pub(crate) struct Teller(UnboundedSender<Ask>);

#[derive(Debug)]
enum Ask {
    /// A submission to a kind was accepted.
    Accepted(String),
    /// The server takes leave, within this time.
    Leave(Duration),
}

impl Together {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(setup: Setup, handed: HandedOn) -> io::Result<Self> {
        let (asks, asked) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let work = move || {
            let all = LocalSet::new();
            all.block_on(&runtime, stay(setup, handed, asked));
        };
        let thread = thread::Builder::new().name("madrigal servers".to_owned());
        let thread = thread.spawn(work)?;
        Ok(Self { asks, thread })
    }

    /// A way to tell the thread something.
    pub(crate) fn teller(&self) -> Teller {
        Teller(self.asks.clone())
    }

    /// Has the server take leave: nothing new begins, and jobs have this time to end.
    pub(crate) fn leave(&self, within: Duration) {
        let _ = self.asks.send(Ask::Leave(within));
    }

    /// Whether the thread has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }
}

impl Teller {
    /// Tells that a submission to a kind was accepted.
    pub(crate) fn accepted(&self, kind: &str) {
        // Nobody hears while the server takes leave; the next one finds it on the disk.
        let _ = self.0.send(Ask::Accepted(kind.to_owned()));
    }
}

async fn stay(setup: Setup, mut handed: HandedOn, mut asks: UnboundedReceiver<Ask>) {
    let Setup {
        meet,
        kinds,
        requests,
        keep,
        meters,
        health,
        memory,
        ahead,
    } = setup;
    let common = Rc::new(Common {
        me: meet.me,
        servers: meet.addresses.len(),
        keep,
        meters: Arc::clone(&meters),
        admission: Admission::default(),
        ahead,
        next_job: Cell::new(lines::NOTES_JOB + 1),
        jobs: Cell::new(0),
        leaving: Cell::new(false),
    });
    let mut doors = BTreeMap::new();
    for kind in kinds {
        let name = kind.config.name.clone();
        match KindTask::new(kind, Rc::clone(&common)) {
            Ok((task, door)) => {
                spawn_local(task.work());
                doors.insert(name, door);
            }
            Err(error) => common.keep.trouble(&error),
        }
    }
    let mut request_doors = BTreeMap::new();
    for request in requests {
        let name = request.0.config.name.clone();
        let (common, health) = (Rc::clone(&common), Arc::clone(&health));
        let (task, door) = RequestTask::new(request, common, health, meet.names.clone());
        spawn_local(task.work());
        request_doors.insert(name, door);
    }
    let all = doors.clone();
    spawn_local(async move {
        loop {
            sleep(TICK).await;
            all.values().for_each(|door| door.tell(KindEvent::Look));
        }
    });
    let ahead = Ahead::new(Rc::clone(&common));
    spawn_local(Rc::clone(&ahead).look_forever());
    let mut generation = 0;
    let servers = Servers {
        common: &common,
        ahead: &ahead,
        doors: &doors,
        requests: &request_doors,
        health: &health,
        memory,
        lines: RefCell::default(),
        left: Cell::default(),
        told: Cell::default(),
    };
    while !servers.told.get() {
        let session = tokio::select! {
            session = meet.next(&mut handed) => session,
            () = servers.hear(&mut asks) => continue,
        };
        if servers.told.get() {
            session.close().await;
            break;
        }
        generation += 1;
        common.next_job.set(lines::NOTES_JOB + 1);
        common.leaving.set(false);
        meters.sessions.inc();
        meters.in_session.set(1);
        info!(generation, "in session with all servers");
        let ended = tokio::select! {
            ended = servers.in_session(&session, generation) => Some(ended),
            () = servers.hear(&mut asks) => None,
        };
        meters.in_session.set(0);
        servers.lines.take();
        match (ended, servers.left.take()) {
            (None, _) => {}
            (Some(_), Some(party)) => {
                info!(%party, "another server has taken leave");
                health.trouble(Trouble::Servers, format!("{party} has taken leave"));
            }
            (Some(error), None) => {
                warn!(%error, "the session with the other servers has ended");
                health.trouble(Trouble::Servers, error.to_string());
            }
        }
        doors.values().for_each(|door| door.tell(KindEvent::Down));
        ahead.down();
        let requests = request_doors.values();
        requests.for_each(|door| door.tell(RequestEvent::Down));
        session.close().await;
    }
}

/// The other servers, while there is a session.
struct Servers<'a> {
    common: &'a Rc<Common>,
    ahead: &'a Rc<Ahead>,
    doors: &'a BTreeMap<String, KindDoor>,
    requests: &'a BTreeMap<String, RequestDoor>,
    health: &'a Health,
    memory: u64,
    /// Lines to the others, while there are some.
    lines: RefCell<Option<Lines>>,
    /// A server that has said that it takes leave.
    left: Cell<Option<Party>>,
    /// Whether this server was told to take leave. Hearing that is given up halfway where the session ends or comes meanwhile, as it does when all are
    /// told at once.
    told: Cell<bool>,
}

impl Servers<'_> {
    /// Hears what other threads tell, until the server has taken leave.
    async fn hear(&self, asks: &mut UnboundedReceiver<Ask>) {
        let within = loop {
            match asks.recv().await {
                Some(Ask::Accepted(kind)) => {
                    if let Some(door) = self.doors.get(&kind) {
                        door.tell(KindEvent::Look);
                    }
                }
                Some(Ask::Leave(within)) => break within,
                None => break Duration::ZERO,
            }
        };
        self.told.set(true);
        let why = "it was told to; jobs that are at work are finished first";
        self.health.trouble(Trouble::Leaving, why);
        self.common.leaving.set(true);
        let requests = self.requests.values();
        requests.for_each(|door| door.tell(RequestEvent::Leaving));
        if let Some(lines) = &*self.lines.borrow() {
            lines.send_all(&Note::Leaving);
        }
        let until = Instant::now() + within;
        // Once at least, for what was just sent.
        sleep(TICK).await;
        while self.common.jobs.get() > 0 && Instant::now() < until {
            sleep(TICK).await;
        }
    }

    /// Works in a session until it ends.
    async fn in_session(&self, session: &Session, generation: u64) -> Error {
        match self.try_in_session(session, generation).await {
            Ok(()) => Error::Ended {
                reason: "a server has left".to_owned(),
            },
            Err(error) => error,
        }
    }

    async fn try_in_session(&self, session: &Session, generation: u64) -> Result<(), Error> {
        let facts: [Fact; 1] = [("version of servers' notes".to_owned(), NOTES.to_owned())];
        let (lines, ends) = Lines::open(session, &facts).await?;
        let Ends {
            job,
            writers,
            mut readers,
        } = ends;
        let kinds = self.doors.iter();
        let kinds = kinds.map(|(name, door)| (name.clone(), Digest256(door.kind.digest)));
        let kinds: BTreeMap<_, _> = kinds.collect();
        *self.lines.borrow_mut() = Some(lines.clone());
        let requests = self.requests.iter();
        let requests = requests.map(|(name, door)| (name.clone(), door.told()));
        let told = |name: &String| (name.clone(), self.common.ahead.told(name));
        let ours = Kinds {
            ahead: kinds.keys().map(told).collect(),
            kinds,
            requests: requests.collect(),
            memory: self.memory,
        };
        lines.send_all(&Note::Kinds(ours.clone()));
        let mut writing: FuturesUnordered<_> = writers.into_iter().map(|one| one.work()).collect();
        let work = async {
            let theirs = try_join_all(readers.iter_mut().map(first)).await?;
            self.health.over(&Trouble::Servers);
            let memory = theirs.iter().map(|(_, theirs)| theirs.memory).min();
            let memory = memory.unwrap_or(u64::MAX).min(self.memory);
            self.common.admission.allow(memory);
            let mut ready = BTreeSet::new();
            for (name, door) in self.doors {
                let differs = theirs.iter().find_map(|(from, theirs)| {
                    let why = match theirs.kinds.get(name) {
                        Some(digest) if *digest == kinds_digest(door) => return None,
                        Some(_) => "has another program, other lengths, sharings or receivers",
                        None => "does not have it",
                    };
                    Some(format!("{from} {why}: compare the two services' files"))
                });
                let trouble = Trouble::Kind(name.clone());
                match differs {
                    None => {
                        self.health.over(&trouble);
                        ready.insert(name.clone());
                        door.tell(KindEvent::Up(InSession {
                            generation,
                            session: session.clone(),
                            lines: lines.clone(),
                        }));
                    }
                    Some(why) => {
                        warn!(kind = name, why, "a kind is not ready");
                        self.health.trouble(trouble, why);
                    }
                }
            }
            let here = InSession {
                generation,
                session: session.clone(),
                lines: lines.clone(),
            };
            self.requests_up(&here, &ours, &theirs);
            let told = theirs.iter().map(|(_, theirs)| theirs);
            self.ahead.up(here, ready, told.chain([&ours]));
            try_join_all(readers.iter_mut().map(|reader| self.read(reader))).await?;
            Ok(())
        };
        let ended = tokio::select! {
            ended = work => ended,
            Some(ended) = writing.next() => ended,
        };
        // Notes end with the session alone.
        drop(job);
        ended
    }

    /// Tells kinds of requests that there is a session, or why it is of no use to them.
    fn requests_up(&self, here: &InSession, ours: &Kinds, theirs: &[(Party, Kinds)]) {
        for (name, door) in self.requests {
            let digest = Digest256(door.kind.digest);
            let mut told = vec![None; self.common.servers];
            let mut differs = None;
            let mine = std::iter::once((self.common.me, ours));
            for (from, kinds) in mine.chain(theirs.iter().map(|(from, kinds)| (*from, kinds))) {
                match kinds.requests.get(name) {
                    Some((theirs, key)) if *theirs == digest => {
                        told[from.index()] = Some(key.clone());
                    }
                    Some(_) => differs = Some((from, "has another function, or other limits")),
                    None => differs = Some((from, "does not have it")),
                }
            }
            let told: Option<Vec<_>> = told.into_iter().collect();
            let told = told.and_then(|told| told.try_into().ok());
            door.tell(match (told, differs) {
                (Some(told), None) => RequestEvent::Up(here.clone(), told),
                (_, Some((from, why))) => {
                    RequestEvent::NotReady(format!("{from} {why}: compare the two services' files"))
                }
                (None, None) => RequestEvent::NotReady("it is for three servers".to_owned()),
            });
        }
    }

    /// Passes the notes of a server on.
    async fn read(&self, reader: &mut Reader) -> Result<(), Error> {
        loop {
            let event = match reader.next().await? {
                Note::OfKind { kind, frame } => {
                    let from = reader.from;
                    (kind, KindEvent::Frame { from, frame })
                }
                Note::JobNumber(job) if reader.from == Party::new(0) => {
                    (job.kind.clone(), KindEvent::JobNumber(job))
                }
                Note::Refusal { kind, reason } => {
                    let from = reader.from;
                    (kind, KindEvent::Refusal { from, reason })
                }
                Note::JobNumber(_) => {
                    return Err(reader.refuse("the number of a job, which party 0 tells"));
                }
                Note::Ahead { kind, note } => {
                    if reader.from != Party::new(0) {
                        return Err(reader.refuse("a note about correlations, which party 0 tells"));
                    }
                    let heard = self.ahead.hear(&kind, &note);
                    heard.map_err(|problem| reader.refuse(problem))?;
                    continue;
                }
                Note::Leaving => {
                    self.left.set(Some(reader.from));
                    self.common.leaving.set(true);
                    continue;
                }
                Note::Requests { kind, note } => {
                    let from = reader.from;
                    match self.requests.get(&kind) {
                        Some(door) => door.tell(RequestEvent::Note { from, note }),
                        None => {
                            return Err(reader.refuse("a note about a kind that is not here"));
                        }
                    }
                    continue;
                }
                Note::Kinds(_) => {
                    return Err(reader.refuse("its kinds a second time"));
                }
            };
            // The other side sends nothing of a kind that is not ready here.
            match self.doors.get(&event.0) {
                Some(door) => door.tell(event.1),
                None => return Err(reader.refuse("a note about a kind that is not here")),
            }
        }
    }
}

fn kinds_digest(door: &KindDoor) -> Digest256 {
    Digest256(door.kind.digest)
}

/// The first note of a server.
async fn first(reader: &mut Reader) -> Result<(Party, Kinds), Error> {
    let first = timeout(Duration::from_secs(20), reader.next()).await;
    match first {
        Ok(note) => match note? {
            Note::Kinds(kinds) => Ok((reader.from, kinds)),
            _ => Err(reader.refuse("another note before its kinds")),
        },
        Err(_) => Err(Error::Late {
            peer: reader.from,
            what: "tell its kinds",
            after: Duration::from_secs(20),
        }),
    }
}
