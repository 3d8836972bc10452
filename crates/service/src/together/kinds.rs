//! The batches of one kind: the machine that agrees about them with the other servers, and all that it asks for.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt as _;
use madrigal_core::{Digest256, Party};
use madrigal_net::Session;
use madrigal_vault::agreement::{
    Action, Assembler, Contradiction, Event, Follower, Host, Leader, Message, Outcome, Rules,
    frames,
};
use madrigal_vault::{Id, Vault, VaultError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking, spawn_local};
use tracing::{debug, error, info, warn};

use super::admission::Admission;
use super::lines::Lines;
use super::notes::{JobNumber, Note};
use super::stall::Stall;
use super::versions::NotesVersion;
use crate::ahead::{Shelves, Taken};
use crate::keep::Keep;
use crate::kind::Kind;
use crate::operation::{End, EndLabel, KindLabel, Meters};
use crate::work::{Beside, Place, Ready};

/// Pause after a first look for a batch that found none: a submission often is on its way to the other servers still. Each further pause is twice as
/// long, up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(10);
/// The longest pause between looks for a batch.
const LONGEST: Duration = Duration::from_millis(640);
/// Pause between two looks for submissions that expire.
const EXPIRY: Duration = Duration::from_secs(60);

/// All that the kinds of a server have in common.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) me: Party,
    pub(crate) servers: usize,
    pub(crate) keep: Arc<Keep>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) admission: Admission,
    /// Correlations that are kept ready.
    pub(crate) ahead: Shelves,
    /// Number of the session's next job, at the leader.
    pub(crate) next_job: Cell<u32>,
    /// Jobs at work.
    pub(crate) jobs: Cell<i64>,
    /// Whether a server takes leave.
    pub(crate) leaving: Cell<bool>,
}

/// A session, as kinds use it.
#[derive(Clone)]
pub(crate) struct InSession {
    pub(crate) generation: u64,
    pub(crate) session: Session,
    pub(crate) lines: Lines,
    /// Whether the kind's notes are still of this beginning: others are not sent.
    pub(crate) open: Rc<Cell<bool>>,
}

/// Events of a kind.
pub(crate) enum KindEvent {
    /// A session is there in which all servers have this kind.
    Up(InSession),
    /// The session is over.
    Down,
    /// A frame of another server.
    Frame { from: Party, frame: Bytes },
    /// Word of another server whether its policy lets batches begin.
    Refusal { from: Party, reason: Option<String> },
    /// The number of a run's job.
    JobNumber(JobNumber),
    /// A job is at work no more, of which the machine hears otherwise.
    JobGone { n: u64, run: u32 },
    /// An event of the machine.
    Machine(Event),
    /// A look whether a batch can begin.
    Look,
    /// The kind as the service's file has it, which was read again.
    Renewed(Arc<Kind>),
    /// The kind is another one now.
    Gone,
}

/// Sends events to a kind.
#[derive(Clone)]
pub(crate) struct KindDoor {
    pub(crate) kind: Arc<Kind>,
    events: UnboundedSender<KindEvent>,
}

impl KindDoor {
    /// Takes the kind as a file has it that was read again.
    pub(crate) fn renew(&mut self, kind: Arc<Kind>) {
        self.kind = Arc::clone(&kind);
        self.tell(KindEvent::Renewed(kind));
    }

    pub(crate) fn tell(&self, event: KindEvent) {
        // Nobody hears where the server has ended.
        let _ = self.events.send(event);
    }
}

impl Common {
    /// Number of the session's next job, at the leader. Nothing once all are used: then the session ends, and another one begins.
    pub(crate) fn job_number(&self, session: &Session) -> Option<u32> {
        let number = self.next_job.get();
        let next = number.checked_add(1);
        match next {
            Some(next) => self.next_job.set(next),
            None => {
                let reason = "all numbers of jobs are used".to_owned();
                session.fail(madrigal_net::Error::Ended { reason });
            }
        }
        next.map(|_| number)
    }

    /// Counts jobs that begin, or end.
    pub(crate) fn count_job(&self, by: i64) {
        if by > 0 {
            self.ahead.give_way();
        }
        let jobs = self.jobs.get() + by;
        self.jobs.set(jobs);
        self.meters.jobs.set(jobs);
    }
}

enum Machine {
    Leader(Box<Leader>),
    Follower(Box<Follower>),
}

impl Machine {
    fn handle(&mut self, event: Event, host: &dyn Host) -> Vec<Action> {
        match self {
            Self::Leader(machine) => machine.handle(event, host),
            Self::Follower(machine) => machine.handle(event, host),
        }
    }
}

/// One kind at work.
pub(crate) struct KindTask {
    kind: Arc<Kind>,
    common: Rc<Common>,
    machine: Machine,
    events: UnboundedReceiver<KindEvent>,
    door: UnboundedSender<KindEvent>,
    session: Option<InSession>,
    frames: BTreeMap<Party, Assembler>,
    /// Runs that the leader has told of and that have not begun here.
    numbers: BTreeMap<(u64, u32), JobNumber>,
    job: Option<Running>,
    /// Bytes of memory that the leader holds for a batch, from the look for it to its end.
    admitted: Option<u64>,
    /// The first submission that has waited since the last batch.
    first: Option<Instant>,
    next_look: Instant,
    /// Pause after the next look that finds no batch.
    pause: Duration,
    next_expiry: Instant,
    /// Whether an operator has to look before the kind goes on.
    stopped: bool,
    /// The other servers' last word of ours in this session, whether our policy lets batches begin.
    told: Option<String>,
    /// Whoever lacks what waits here, at the leader.
    stall: Stall,
}

struct Running {
    n: u64,
    run: u32,
    task: JoinHandle<()>,
}

impl KindTask {
    /// The kind, from what is on the disk.
    ///
    /// # Errors
    /// The vault's.
    pub(crate) fn new(kind: Arc<Kind>, common: Rc<Common>) -> Result<(Self, KindDoor), VaultError> {
        let (door, events) = unbounded_channel();
        let name = &kind.config.name;
        let restored = common.keep.restored(name)?;
        let machine = match common.me.index() {
            0 => {
                let rules = Rules {
                    most: kind.config.most,
                    broken: kind.config.runs,
                    ..Rules::default()
                };
                let leader = Leader::new(name, common.servers, rules, restored);
                Machine::Leader(Box::new(leader))
            }
            _ => Machine::Follower(Box::new(Follower::new(name, restored))),
        };
        let task = Self {
            machine,
            common,
            events,
            door: door.clone(),
            session: None,
            frames: BTreeMap::new(),
            numbers: BTreeMap::new(),
            job: None,
            admitted: None,
            first: None,
            next_look: Instant::now(),
            pause: SHORTEST,
            next_expiry: Instant::now(),
            stopped: false,
            told: None,
            stall: Stall::default(),
            kind: Arc::clone(&kind),
        };
        let events = door;
        Ok((task, KindDoor { kind, events }))
    }

    /// Handles events until the server ends.
    pub(crate) async fn work(mut self) {
        while let Some(event) = self.events.recv().await {
            if matches!(event, KindEvent::Gone) {
                break;
            }
            self.take(event);
        }
    }

    fn name(&self) -> &str {
        &self.kind.config.name
    }

    fn take(&mut self, event: KindEvent) {
        match event {
            KindEvent::Up(session) => {
                let generation = session.generation;
                self.frames.clear();
                self.numbers.clear();
                self.session = Some(session);
                self.told = None;
                // A reason that went away while there was no session would stay for ever: nobody is told of what they do not know.
                let (name, me) = (&self.kind.config.name, self.common.me);
                self.common.keep.note_refusal(name, me, None);
                self.tell_refusal();
                if self.is_open() && self.admitted.is_none() {
                    // It was begun in an earlier session, and goes on whatever else is at work.
                    self.common.admission.admit_again(self.kind.memory);
                    self.admitted = Some(self.kind.memory);
                }
                self.handle(Event::SessionUp { generation });
            }
            KindEvent::Down => {
                self.session = None;
                self.common
                    .keep
                    .forget_refusals(&self.kind.config.name, self.common.me);
                self.handle(Event::SessionDown);
                self.common.admission.withdraw(&self.kind.config.name);
                if !self.is_open() {
                    self.release();
                }
            }
            KindEvent::Frame { from, frame } => self.frame(from, &frame),
            KindEvent::Refusal { from, reason } => self.refused(from, reason),
            KindEvent::JobNumber(job) => {
                // The leader alone numbers jobs, and tells one before each run.
                if self.common.me.index() != 0 {
                    self.numbers.clear();
                    self.numbers.insert((job.batch, job.run), job);
                }
            }
            KindEvent::Machine(event) => {
                if let Event::JobDone { n, run } | Event::JobBroken { n, run, .. } = &event {
                    self.end_job(*n, *run);
                }
                self.handle(event);
            }
            KindEvent::JobGone { n, run } => drop(self.end_job(n, run)),
            KindEvent::Look => {
                self.tell_refusal();
                self.look();
            }
            KindEvent::Renewed(kind) => {
                self.kind = kind;
                self.tell_refusal();
                self.look();
            }
            KindEvent::Gone => {}
        }
    }

    /// Tells the other servers when the policy begins to let no batch begin, and when it does again.
    fn tell_refusal(&mut self) {
        let reason = self.common.keep.refusal(self.name());
        let Some(InSession { lines, .. }) = self.session.as_ref().filter(|_| reason != self.told)
        else {
            return;
        };
        let (kind, told) = (self.name().to_owned(), reason.clone());
        lines.send_all(&Note::Refusal { kind, reason: told });
        self.told.clone_from(&reason);
        self.refused(self.common.me, reason);
    }

    /// Notes a server's word whether its policy lets batches begin.
    fn refused(&self, from: Party, reason: Option<String>) {
        let kind = self.name();
        match &reason {
            Some(reason) => warn!(kind, party = %from, reason, "no batch begins"),
            None => info!(kind, party = %from, "batches may begin again"),
        }
        self.common.keep.note_refusal(kind, from, reason);
    }

    /// Whether a batch of the kind is under way at the leader.
    fn is_open(&self) -> bool {
        matches!(&self.machine, Machine::Leader(leader) if leader.open().is_some())
    }

    fn frame(&mut self, from: Party, frame: &[u8]) {
        let Some(session) = &self.session else {
            return;
        };
        let generation = session.generation;
        match self.frames.entry(from).or_default().frame(frame) {
            Ok(None) => {}
            Ok(Some(message)) => {
                if let Message::Have { have, .. } = &message {
                    let lacks = self.stall.answered(from, have);
                    let name = &self.kind.config.name;
                    self.common.meters.lacks(name, from.index(), lacks);
                }
                self.handle(Event::Message {
                    from,
                    generation,
                    message,
                });
            }
            Err(problem) => {
                let reason = format!("{from} about kind `{}`: {problem}", self.name());
                session.session.fail(madrigal_net::Error::Ended { reason });
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let (keep, machine) = (&self.common.keep, &mut self.machine);
        let (actions, error) = keep.with_view(&self.kind.config.name, |view| {
            (machine.handle(event, view), view.error())
        });
        if let Some(error) = error {
            keep.trouble(&error);
        }
        actions.into_iter().for_each(|action| self.perform(action));
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Send { to, message } => self.send(to, &message),
            Action::Write { token, record } => {
                let written = self.common.keep.write(self.name(), record);
                let (door, kind) = (self.door.clone(), self.name().to_owned());
                let keep = Arc::clone(&self.common.keep);
                spawn_local(async move {
                    match Vault::written(token, written.await) {
                        Ok(event) => drop(door.send(KindEvent::Machine(event))),
                        // The server ends, and goes on from its disk when it is started again.
                        Err(problem) => {
                            error!(kind, error = %problem, "a record of a batch was not written");
                            keep.trouble(&problem);
                        }
                    }
                });
            }
            Action::StartJob { n, run, name, ids } => {
                self.moves();
                self.start(n, run, name, &ids);
            }
            Action::StopJob { n, run } => {
                if let Some(job) = self.end_job(n, run) {
                    job.task.abort();
                }
            }
            Action::Ended { n, outcome } => self.ended(n, &outcome),
            Action::NoBatch { common, least } => {
                debug!(kind = self.name(), common, least, "no batch yet");
                self.no_batch(least);
                self.release();
                self.look_later();
            }
            Action::Report(contradiction) => self.report(&contradiction),
        }
    }

    fn send(&mut self, to: Party, message: &Message) {
        let session = self.session.as_ref();
        let Some(InSession { lines, .. }) = session.filter(|session| session.open.get()) else {
            return;
        };
        let kind = self.name().to_owned();
        if let Message::Run { n, run } = *message {
            let told = self.numbers.get(&(n, run)).cloned();
            let job = told.unwrap_or_else(|| {
                let number = self.common.next_job.get();
                self.common.next_job.set(number + 1);
                JobNumber {
                    kind: kind.clone(),
                    batch: n,
                    run,
                    number,
                    // One choice for all servers: shares of two loads do not go together.
                    held: self.common.keep.held().all_now(&self.kind.holders()),
                    unit: self.unit(run),
                }
            });
            lines.send(to, Note::JobNumber(job.clone()));
            self.numbers.insert((n, run), job);
        }
        for frame in frames(message) {
            let (kind, frame) = (kind.clone(), frame.into());
            lines.send(to, Note::OfKind { kind, frame });
        }
    }

    /// The unit of correlations that a run takes, as the leader names it. A run after one that came to nothing takes none: its correlations are made
    /// in the job, whatever it was that failed.
    fn unit(&self, run: u32) -> Option<Digest256> {
        let (Machine::Leader(leader), Some(here)) = (&self.machine, &self.session) else {
            return None;
        };
        if !here.lines.notes.has(NotesVersion::AHEAD) {
            return None;
        }
        let size = leader.open().filter(|_| run == 1)?.ids.len();
        let threads = here.session.common_threads(self.common.servers).ok()?;
        self.common.ahead.choose(self.name(), size, threads)
    }

    fn start(&mut self, n: u64, run: u32, name: Digest256, ids: &Arc<[Id]>) {
        // The kind has ended in this session, or begins anew: the machine hears of it next, and begins another run.
        if self.session.as_ref().is_some_and(|here| !here.open.get()) {
            return;
        }
        let job = self.numbers.remove(&(n, run));
        let (Some(InSession { session, .. }), Some(job)) = (self.session.clone(), job) else {
            let reason = "no job's number was told for this run".to_owned();
            return self.handle(Event::JobBroken { n, run, reason });
        };
        let taken = job
            .unit
            .map(|unit| self.common.ahead.take(self.name(), unit));
        let taken = match taken.transpose() {
            Ok(taken) => taken,
            Err(reason) => {
                let kind = self.name();
                warn!(
                    kind,
                    batch = n,
                    run,
                    error = reason,
                    "a job came to nothing"
                );
                let broken = &self.common.meters.broken_runs;
                broken.get_or_create(&KindLabel::from(kind)).inc();
                return self.handle(Event::JobBroken { n, run, reason });
            }
        };
        info!(
            kind = self.name(),
            batch = n,
            run,
            submissions = ids.len(),
            ahead = taken.is_some(),
            "a job begins"
        );
        let (kind, common, door) = (
            Arc::clone(&self.kind),
            Rc::clone(&self.common),
            self.door.clone(),
        );
        let ids = Arc::clone(ids);
        let task = spawn_local(async move {
            let begun = Instant::now();
            let done = compute(&kind, &common, &session, (&job, taken), name, &ids);
            let done = AssertUnwindSafe(done).catch_unwind().await;
            let done =
                done.unwrap_or_else(|_| Err("a fault of madrigal: the job panicked".to_owned()));
            let label = KindLabel::from(&*kind.config.name);
            let seconds = begun.elapsed().as_secs_f64();
            common
                .meters
                .run_seconds
                .get_or_create(&label)
                .observe(seconds);
            let event = match done {
                Ok(sent) => {
                    info!(
                        kind = kind.config.name,
                        batch = n,
                        run,
                        seconds,
                        sent,
                        "a job is done"
                    );
                    common.meters.sent.get_or_create(&label).inc_by(sent);
                    Event::JobDone { n, run }
                }
                // The session's end comes as an event of its own, and is no fault of this job.
                Err(_) if session.failure().is_some() => {
                    let _ = door.send(KindEvent::JobGone { n, run });
                    return;
                }
                Err(reason) => {
                    warn!(
                        kind = kind.config.name,
                        batch = n,
                        run,
                        error = reason,
                        "a job came to nothing"
                    );
                    common.meters.broken_runs.get_or_create(&label).inc();
                    Event::JobBroken { n, run, reason }
                }
            };
            let _ = door.send(KindEvent::Machine(event));
        });
        self.common.count_job(1);
        if let Some(before) = self.job.replace(Running { n, run, task }) {
            before.task.abort();
            self.common.count_job(-1);
        }
    }

    /// Takes note that a job is at work no more; gives it if it was.
    fn end_job(&mut self, n: u64, run: u32) -> Option<Running> {
        let ended = self.job.take_if(|job| (job.n, job.run) == (n, run));
        if ended.is_some() {
            self.common.count_job(-1);
        }
        ended
    }

    fn ended(&mut self, n: u64, outcome: &Outcome) {
        self.release();
        let kind = self.name().to_owned();
        let end = match outcome {
            Outcome::Final { run } => {
                info!(kind, batch = n, run, "a batch is done");
                End::Done
            }
            Outcome::Failed { reason } => {
                warn!(kind, batch = n, reason, "a batch has failed");
                End::Failed
            }
        };
        let label = EndLabel { kind, end };
        self.common.meters.batches.get_or_create(&label).inc();
        self.common.keep.batch_ended(self.name());
        if self.kind.config.holds.is_some() {
            // The load before goes away.
            let keep = Arc::clone(&self.common.keep);
            spawn_local(async move {
                if let Err(error) = keep.sweep().await {
                    keep.trouble(&error);
                }
            });
        }
        self.first = None;
        self.pause = SHORTEST;
        self.look();
    }

    fn release(&mut self) {
        // The kind may take another amount by now, where the file was read again.
        if let Some(memory) = self.admitted.take() {
            self.common.admission.release(memory);
        }
        self.common
            .meters
            .job_memory
            .set(self.common.admission.used() as i64);
    }

    fn report(&mut self, contradiction: &Contradiction) {
        error!(kind = self.name(), error = %contradiction, "the kind has stopped");
        self.common
            .keep
            .stopped(self.name(), contradiction.to_string());
        self.release();
    }

    /// Takes note that no batch came of what waits, and tells who lacks it if that goes on. Where a policy refuses, `least` is more than can be.
    fn no_batch(&mut self, least: u64) {
        let waiting = self.common.keep.waiting(self.name()) as u64;
        if waiting < least {
            return self.moves();
        }
        let Some(still) = self.stall.none(Instant::now()) else {
            return;
        };
        let (kind, who) = (self.name(), still.who);
        warn!(
            kind,
            who, "no batch begins: submissions that wait here are not at all servers"
        );
        if still.is_trouble {
            let who = format!("no batch begins: {who}");
            self.common.keep.stalled(kind, Some(who));
        }
    }

    /// Takes note that batches begin, or that none has to.
    fn moves(&mut self) {
        if self.stall.over() {
            self.common.keep.stalled(self.name(), None);
        }
    }

    /// Has a look made after a pause.
    fn look_later(&mut self) {
        let (pause, door) = (self.pause, self.door.clone());
        self.next_look = Instant::now() + pause;
        self.pause = (2 * pause).min(LONGEST);
        spawn_local(async move {
            tokio::time::sleep(pause).await;
            let _ = door.send(KindEvent::Look);
        });
    }

    /// Looks whether a batch can begin, as the leader.
    fn look(&mut self) {
        let Machine::Leader(leader) = &self.machine else {
            return;
        };
        let now = Instant::now();
        let free = !self.stopped
            && leader.is_idle()
            && self.admitted.is_none()
            && !self.common.leaving.get();
        if !free || self.session.is_none() || now < self.next_look {
            return;
        }
        if now >= self.next_expiry {
            // A look whether followers have overdue submissions, too: none need wait here. It makes no batch, and takes no memory.
            self.next_expiry = now + EXPIRY;
            return self.handle(Event::Overdue);
        }
        let kind = Arc::clone(&self.kind);
        let config = &kind.config;
        let waiting = self.common.keep.waiting(&config.name);
        if waiting == 0 {
            self.moves();
            self.first = None;
            self.common.admission.withdraw(&config.name);
            return;
        }
        let first = *self.first.get_or_insert(now);
        let enough = waiting >= config.most
            || waiting >= config.least && now.duration_since(first) >= config.after;
        let there = || self.common.keep.are_waiting(&config.name);
        // Where a policy refuses, or held inputs are missing, none is asked for.
        if self.common.keep.hindrance(&config.name).is_some() {
            self.common.admission.withdraw(&config.name);
            return;
        }
        if !(enough && there()) {
            return;
        }
        if !self.common.admission.admit(&config.name, self.kind.memory) {
            return;
        }
        self.admitted = Some(self.kind.memory);
        self.common.ahead.give_way();
        self.common
            .meters
            .job_memory
            .set(self.common.admission.used() as i64);
        self.handle(Event::Trigger);
    }
}

/// Computes a batch and hands its results to the disk. Gives the bytes that were sent.
async fn compute(
    kind: &Arc<Kind>,
    common: &Common,
    session: &Session,
    (told, mut taken): (&JobNumber, Option<Taken>),
    name: Digest256,
    ids: &Arc<[Id]>,
) -> Result<u64, String> {
    let (n, run) = (told.batch, told.run);
    if kind.config.holds.is_some() {
        common.keep.hold(kind, common.me, (n, run), ids).await?;
        return Ok(0);
    }
    let threads = session.common_threads(session.parties());
    let threads = threads.map_err(|error| error.to_string())?;
    // Planned beside this thread's tasks, which other servers wait for.
    let (of, size, stored) = (Arc::clone(kind), ids.len(), taken.is_some());
    let planned = spawn_blocking(move || of.prepared(size, threads, stored).map(drop));
    let held = common.keep.held_shares(kind, common.me, &told.held).await?;
    let batch = common.keep.batch(kind, common.me, ids).await?;
    let planned = planned.await.map_err(|error| error.to_string())?;
    planned.map_err(|error| error.to_string())?;
    let place = Place {
        session,
        job: told.number,
        run: name.0,
    };
    let deadline = kind.config.deadline;
    let shares: Vec<_> = held.iter().map(|held| Arc::clone(&held.shares)).collect();
    let beside = Beside {
        held: &shares,
        ready: match &mut taken {
            Some(taken) => Ready::of_store(taken),
            None => Ready::default(),
        },
    };
    let done = kind.work_with(place, batch, beside, deadline, &|_| {});
    let done = done.await.map_err(|error| error.to_string())?;
    if let Some(taken) = taken {
        common.ahead.put_back(&kind.config.name, taken);
    }
    common.keep.note_held(kind, (n, run), &held).await?;
    common.keep.results(kind, n, run, done.outputs).await?;
    Ok(done.bytes_sent)
}
