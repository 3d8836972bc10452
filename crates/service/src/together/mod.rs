//! All that a server does together with the others, on a thread of its own: it meets them, agrees about batches, computes.

mod admission;
mod ahead;
mod kinds;
mod lines;
mod meet;
mod notes;
mod requests;
mod servers;
mod settling;
mod sitting;
mod stall;
mod versions;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
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
use tracing::{debug, info, warn};

use self::admission::Admission;
use self::ahead::Ahead;
use self::kinds::{Common, InSession, KindEvent};
use self::lines::{Ends, Lines, Reader};
pub use self::meet::Between;
pub(crate) use self::meet::Meet;
use self::notes::{Kinds, Note};
use self::requests::{RequestEvent, RequestTask};
use self::servers::{Servers, TICK};
use self::sitting::Sitting;
use self::versions::{Notes, NotesVersion};
pub(crate) use self::versions::{SPOKEN, speaks};
use crate::ahead::Shelves;
use crate::keep::Keep;
use crate::kind::Kind;
use crate::operation::{Health, Meters, Trouble};
use crate::requests::{Key, Pool, RequestKind};

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
    /// The service's file was read again, and has these kinds.
    Kinds(Vec<Arc<Kind>>),
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

    /// Takes the kinds of a file that was read again.
    pub(crate) fn reload(&self, kinds: Vec<Arc<Kind>>) {
        let _ = self.asks.send(Ask::Kinds(kinds));
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
    let mut request_doors = BTreeMap::new();
    for request in requests {
        let name = request.0.config.name.clone();
        let (common, health) = (Rc::clone(&common), Arc::clone(&health));
        let (task, door) = RequestTask::new(request, common, health, meet.names.clone());
        spawn_local(task.work());
        request_doors.insert(name, door);
    }
    let ahead = Ahead::new(Rc::clone(&common));
    spawn_local(Rc::clone(&ahead).look_forever());
    let servers = Servers {
        common: &common,
        ahead: &ahead,
        doors: Rc::default(),
        requests: &request_doors,
        health: &health,
        names: meet.names.clone(),
        memory,
        sitting: RefCell::default(),
        generation: Cell::new(0),
        left: Cell::default(),
        told: Cell::default(),
    };
    kinds.into_iter().for_each(|kind| servers.add(kind));
    let all = Rc::clone(&servers.doors);
    spawn_local(async move {
        loop {
            sleep(TICK).await;
            let doors = all.borrow();
            doors.values().for_each(|door| door.tell(KindEvent::Look));
        }
    });
    while !servers.told.get() {
        let session = tokio::select! {
            session = meet.next(&mut handed) => session,
            () = servers.hear(&mut asks) => continue,
        };
        if servers.told.get() {
            session.close().await;
            break;
        }
        common.next_job.set(lines::NOTES_JOB + 1);
        common.leaving.set(false);
        meters.sessions.inc();
        meters.in_session.set(1);
        info!(
            generation = meters.sessions.get(),
            notes = %Notes::of(&session, &meet.names),
            "in session with all servers"
        );
        let ended = tokio::select! {
            ended = servers.in_session(&session) => Some(ended),
            () = servers.hear(&mut asks) => None,
        };
        meters.in_session.set(0);
        servers.sitting.take();
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
        servers.tell_all(|| KindEvent::Down);
        ahead.down();
        let requests = request_doors.values();
        requests.for_each(|door| door.tell(RequestEvent::Down));
        session.close().await;
    }
}

impl Servers<'_> {
    /// Hears what other threads tell, until the server has taken leave.
    async fn hear(&self, asks: &mut UnboundedReceiver<Ask>) {
        let within = loop {
            match asks.recv().await {
                Some(Ask::Accepted(kind)) => {
                    if let Some(door) = self.doors.borrow().get(&kind) {
                        door.tell(KindEvent::Look);
                    }
                }
                Some(Ask::Kinds(kinds)) => self.reload(kinds),
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
        if let Some(sitting) = &*self.sitting.borrow() {
            sitting.lines.send_all(&Note::Leaving);
        }
        let until = Instant::now() + within;
        // Once at least, for what was just sent.
        sleep(TICK).await;
        while self.common.jobs.get() > 0 && Instant::now() < until {
            sleep(TICK).await;
        }
    }

    /// Works in a session until it ends.
    async fn in_session(&self, session: &Session) -> Error {
        match self.try_in_session(session).await {
            Ok(()) => Error::Ended {
                reason: "a server has left".to_owned(),
            },
            Err(error) => error,
        }
    }

    async fn try_in_session(&self, session: &Session) -> Result<(), Error> {
        let notes = Notes::of(session, &self.names);
        let facts: [Fact; 1] = [notes.settled().fact()];
        self.common
            .meters
            .notes_version
            .set(notes.settled().number());
        let (lines, ends) = Lines::open(session, &facts, notes).await?;
        let Ends {
            job,
            writers,
            mut readers,
        } = ends;
        let sitting = Sitting::new(session.clone(), lines.clone());
        *self.sitting.borrow_mut() = Some(sitting);
        let ours = self.ours(&lines);
        lines.send_all(&Note::Kinds(ours.clone()));
        let mut writing: FuturesUnordered<_> = writers.into_iter().map(|one| one.work()).collect();
        let work = async {
            let theirs = try_join_all(readers.iter_mut().map(first)).await?;
            self.health.over(&Trouble::Servers);
            let memory = theirs.iter().map(|(_, theirs)| theirs.memory).min();
            let memory = memory.unwrap_or(u64::MAX).min(self.memory);
            self.common.admission.allow(memory);
            for (from, theirs) in &theirs {
                self.told_kinds(*from, theirs.clone());
            }
            if lines.notes.has(NotesVersion::AHEAD) {
                let told = theirs.iter().map(|(_, theirs)| theirs.clone());
                let told = told.chain([ours.clone()]);
                let here = (self.next_generation(), session.clone(), lines.clone());
                self.ahead.up(here, told.collect());
            }
            self.settle();
            let here = InSession {
                generation: self.next_generation(),
                session: session.clone(),
                lines: lines.clone(),
                open: Rc::new(Cell::new(true)),
            };
            self.requests_up(&here, &ours, &theirs);
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
            let note = reader.next().await?;
            let from = reader.from;
            let (kind, event) = match note {
                Note::OfKind { kind, frame } => (kind, KindEvent::Frame { from, frame }),
                Note::JobNumber(job) if from == Party::new(0) => {
                    (job.kind.clone(), KindEvent::JobNumber(job))
                }
                Note::Refusal { kind, reason } => (kind, KindEvent::Refusal { from, reason }),
                Note::JobNumber(_) | Note::Begin { .. } | Note::Ahead { .. }
                    if from != Party::new(0) =>
                {
                    return Err(reader.refuse("a note that party 0 alone sends"));
                }
                note => {
                    self.read_other(reader, note)?;
                    continue;
                }
            };
            let doors = self.doors.borrow();
            let door = doors.get(&kind);
            let refusal = matches!(event, KindEvent::Refusal { .. });
            match (door, self.is_of_beginning(from, &kind)) {
                // A refusal does not depend on when the kind has begun.
                (Some(door), None | Some(true)) => door.tell(event),
                (Some(door), _) if refusal => door.tell(event),
                // It was on its way when a kind ended, or ended here.
                (_, Some(_)) => debug!(kind, %from, "a note about a kind that has not begun"),
                // In version 3 the other side sends nothing of a kind that is not ready here.
                (None, None) => return Err(reader.refuse("a note about a kind that is not here")),
            }
        }
    }

    /// Takes a note that is not for a kind of jobs.
    fn read_other(&self, reader: &Reader, note: Note) -> Result<(), Error> {
        let from = reader.from;
        match note {
            Note::Leaving => {
                self.left.set(Some(from));
                self.common.leaving.set(true);
            }
            Note::Requests { kind, note } => match self.requests.get(&kind) {
                Some(door) => door.tell(RequestEvent::Note { from, note }),
                None => return Err(reader.refuse("a note about a kind that is not here")),
            },
            Note::Kinds(_) | Note::Begin { .. } | Note::Begun { .. } | Note::Ahead { .. }
                if !self.tells_anew() =>
            {
                return Err(
                    reader.refuse("a note of a newer version than the servers have in common")
                );
            }
            Note::Kinds(kinds) => {
                self.told_kinds(from, kinds);
                self.settle();
            }
            Note::Begin {
                kind,
                digest,
                number,
            } => self.told_begin(&kind, digest, number),
            Note::Begun { kind, number } => self.told_begun(from, &kind, number),
            Note::Ahead { kind, note } => {
                let heard = self.ahead.hear(&kind, &note);
                heard.map_err(|problem| reader.refuse(problem))?;
            }
            Note::OfKind { .. } | Note::JobNumber(_) | Note::Refusal { .. } => {
                return Err(reader.refuse("a note that is none of this place"));
            }
        }
        Ok(())
    }

    /// Tells all kinds of jobs something.
    fn tell_all(&self, event: impl Fn() -> KindEvent) {
        let doors = self.doors.borrow();
        doors.values().for_each(|door| door.tell(event()));
    }
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
