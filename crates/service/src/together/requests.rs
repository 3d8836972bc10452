//! Requests of one kind at a server: the leader names batches, the others say what they are missing, and all compute, several batches at once.
//!
//! A batch takes three notes: its requests in order, by the leader; what is missing, by each other server; its start. Then it is a job of the session. What
//! was missing is left out, and waits for another batch; clients of whom something was missing come in batches of their own from then on.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::{Digest256, Party};
use madrigal_engine::Shares;
use madrigal_intake::Code;
use madrigal_net::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::sleep_until;
use tracing::{debug, error, info, warn};

use super::kinds::{Common, InSession};
use super::notes::{Note, RequestNote};
use crate::operation::{Health, KindLabel, Trouble};
use crate::requests::{Batch, Cipher, Key, KeyTold, Lanes, Pool, RequestKind, Settled};

/// Batches that the leader has under way at once: while one waits for a message, others are computed.
const UNDER_WAY: usize = 3;
/// Batches that a server holds at once, at most.
const HELD: usize = 4 * UNDER_WAY;
/// Time for which a server waits for requests of a batch that have not come yet.
const WAIT: Duration = Duration::from_millis(20);
/// Pause between two looks for requests that nobody answers.
const EXPIRY: Duration = Duration::from_millis(100);
/// The shortest time that a job has.
const JOB: Duration = Duration::from_secs(10);

/// Events of a kind of requests.
pub(crate) enum RequestEvent {
    /// A session is there in which all servers have this kind, with what they tell of its key.
    Up(InSession, [KeyTold; 3]),
    /// The kind cannot be done in this session.
    NotReady(String),
    /// The session is over.
    Down,
    /// The server takes leave.
    Leaving,
    /// A note of another server.
    Note { from: Party, note: RequestNote },
    /// The vault keeps what was settled about the key, or cannot.
    Kept {
        generation: u64,
        kept: Result<Settled, String>,
    },
    /// The keys of all rounds are there, or the job came to nothing.
    Keys {
        generation: u64,
        keys: Result<Vec<Shares>, String>,
    },
    /// A batch's job has ended: with the shares of all answers, and the bytes sent meanwhile.
    Done {
        generation: u64,
        number: u32,
        done: Result<(Vec<u8>, u64), String>,
    },
}

/// Sends events to a kind of requests.
#[derive(Clone)]
pub(crate) struct RequestDoor {
    pub(crate) kind: Arc<RequestKind>,
    /// Word for the other servers about the key, as long as no session has settled it.
    told: Rc<RefCell<KeyTold>>,
    events: UnboundedSender<RequestEvent>,
}

impl RequestDoor {
    pub(crate) fn tell(&self, event: RequestEvent) {
        // Nobody hears where the server has ended.
        let _ = self.events.send(event);
    }

    /// Digest of the kind and word about its key, for the other servers.
    pub(crate) fn told(&self) -> (Digest256, KeyTold) {
        (Digest256(self.kind.digest), self.told.borrow().clone())
    }
}

/// A batch under way.
struct Flight {
    batch: Arc<Batch>,
    stage: Stage,
    begun: Instant,
    late: bool,
}

enum Stage {
    /// The leader waits for these to say what they are missing; so far these lanes are.
    Asked {
        waits: BTreeSet<Party>,
        missing: BTreeSet<(u32, u32)>,
    },
    /// A server waits for requests, until then.
    Waits(Instant),
    /// A server waits for the start.
    Told,
    /// It begins once the keys are there.
    Ready,
    /// At work.
    Works,
}

/// Parts that last as long as a session.
struct Sitting {
    session: InSession,
    cipher: Option<Arc<Cipher>>,
    /// Number of the job that makes the keys of all rounds, once it is told.
    key_job: Option<u32>,
    /// Whether all servers know the key as the same.
    settled: bool,
    keys: Option<Arc<Vec<Shares>>>,
    flights: BTreeMap<u32, Flight>,
    last: u32,
}

/// One kind of requests at work.
pub(crate) struct RequestTask {
    kind: Arc<RequestKind>,
    key: Rc<RefCell<Key>>,
    told: Rc<RefCell<KeyTold>>,
    pool: Arc<Pool>,
    common: Rc<Common>,
    health: Arc<Health>,
    names: Vec<String>,
    events: UnboundedReceiver<RequestEvent>,
    door: UnboundedSender<RequestEvent>,
    sitting: Option<Sitting>,
    next_expiry: Instant,
    label: KindLabel,
}

impl RequestTask {
    pub(crate) fn new(
        (kind, key, pool): (Arc<RequestKind>, Key, Arc<Pool>),
        common: Rc<Common>,
        health: Arc<Health>,
        names: Vec<String>,
    ) -> (Self, RequestDoor) {
        let (door, events) = unbounded_channel();
        let told = Rc::new(RefCell::new(key.told()));
        let task = Self {
            label: KindLabel::from(&*kind.config.name),
            key: Rc::new(RefCell::new(key)),
            told: Rc::clone(&told),
            pool,
            common,
            health,
            names,
            events,
            door: door.clone(),
            sitting: None,
            next_expiry: Instant::now() + EXPIRY,
            kind: Arc::clone(&kind),
        };
        let events = door;
        (task, RequestDoor { kind, told, events })
    }

    /// Handles events until the server ends.
    pub(crate) async fn work(mut self) {
        let pool = Arc::clone(&self.pool);
        loop {
            let wake = self.wake().into();
            tokio::select! {
                event = self.events.recv() => match event {
                    None => return,
                    Some(event) => {
                        self.take(event);
                        while let Ok(event) = self.events.try_recv() {
                            self.take(event);
                        }
                    }
                },
                () = pool.came() => {}
                () = sleep_until(wake) => {}
            }
            self.step();
        }
    }

    fn name(&self) -> &str {
        &self.kind.config.name
    }

    fn is_leader(&self) -> bool {
        self.common.me.index() == 0
    }

    /// Time of the next thing that is to be done without an event.
    fn wake(&self) -> Instant {
        let mut wake = self.next_expiry;
        let Some(sitting) = &self.sitting else {
            return wake;
        };
        for flight in sitting.flights.values() {
            if let Stage::Waits(until) = flight.stage {
                wake = wake.min(until);
            }
        }
        if self.is_leader() && sitting.keys.is_some() {
            for late in [false, true] {
                if sitting.has_room(late)
                    && let Some(due) = self.due(late)
                {
                    wake = wake.min(due);
                }
            }
        }
        wake
    }

    fn due(&self, late: bool) -> Option<Instant> {
        let config = &self.kind.config;
        self.pool.due(late, config.most, config.window)
    }

    fn take(&mut self, event: RequestEvent) {
        match event {
            RequestEvent::Up(session, told) => self.up(session, &told),
            RequestEvent::NotReady(why) => self.not_ready(&why),
            RequestEvent::Down => self.down(),
            RequestEvent::Leaving => self.pool.close(Code::Closing, "the server stops"),
            RequestEvent::Note { from, note } => {
                if let Err(problem) = self.note(from, note) {
                    self.fault(from, problem);
                }
            }
            RequestEvent::Kept { generation, kept } => {
                if self.is_of(generation) {
                    match kept {
                        Ok(settled) => self.settled(&settled),
                        Err(why) => self.not_ready(&why),
                    }
                }
            }
            RequestEvent::Keys { generation, keys } => {
                if self.is_of(generation) {
                    self.keys(keys);
                }
            }
            RequestEvent::Done {
                generation,
                number,
                done,
            } => {
                if self.is_of(generation) {
                    self.done(number, done);
                }
            }
        }
    }

    fn is_of(&self, generation: u64) -> bool {
        let sitting = self.sitting.as_ref();
        sitting.is_some_and(|sitting| sitting.session.generation == generation)
    }

    /// Ends the session because a note cannot be.
    fn fault(&self, from: Party, problem: &str) {
        if let Some(sitting) = &self.sitting {
            let reason = format!("{from} about kind `{}`: {problem}", self.name());
            sitting.session.session.fail(Error::Ended { reason });
        }
    }

    fn not_ready(&mut self, why: &str) {
        warn!(kind = self.name(), why, "a kind is not ready");
        self.health
            .trouble(Trouble::Kind(self.name().to_owned()), why);
        self.pool.close(Code::Server, why);
    }

    fn up(&mut self, session: InSession, told: &[KeyTold; 3]) {
        let generation = session.generation;
        self.sitting = Some(Sitting {
            session,
            cipher: None,
            key_job: None,
            settled: false,
            keys: None,
            flights: BTreeMap::new(),
            last: 0,
        });
        let settled = self.key.borrow().settle(told, &self.names);
        let settled = match settled {
            Ok(settled) => settled,
            Err(why) => return self.not_ready(&why),
        };
        if settled.known {
            return self.settled(&settled);
        }
        let (name, value) = self.key.borrow().note(&settled);
        let written = self.common.keep.vault().note(&name, Some(value));
        let door = self.door.clone();
        spawn_local(async move {
            let kept = written.await.map(|()| settled);
            let kept = kept.map_err(|error| error.to_string());
            let _ = door.send(RequestEvent::Kept { generation, kept });
        });
    }

    /// Goes on once all servers know the key as the same: the keys of all rounds are computed.
    fn settled(&mut self, settled: &Settled) {
        info!(kind = self.name(), check = %settled.check, "the key is the one that all servers know");
        self.key.borrow_mut().remember(settled);
        *self.told.borrow_mut() = self.key.borrow().told();
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        sitting.settled = true;
        if self.common.me.index() == 0
            && let Some(number) = self.common.job_number(&sitting.session.session)
        {
            let note = RequestNote::Key { number };
            let kind = self.kind.config.name.clone();
            let note = Note::Requests { kind, note };
            sitting.session.lines.send_all(&note);
            sitting.key_job = Some(number);
        }
        self.schedule();
    }

    /// Begins the job that makes the keys of all rounds, if all is there for it.
    fn schedule(&mut self) {
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        let (true, Some(number), None) = (sitting.settled, sitting.key_job, &sitting.cipher) else {
            return;
        };
        let session = sitting.session.session.clone();
        let threads = session.common_threads(self.common.servers);
        let threads = threads.map_err(|error| error.to_string());
        let cipher = threads
            .and_then(|threads| self.kind.cipher(threads).map_err(|error| error.to_string()));
        let cipher = match cipher {
            Ok(cipher) => cipher,
            Err(reason) => {
                session.fail(Error::Ended { reason });
                return;
            }
        };
        sitting.cipher = Some(Arc::clone(&cipher));
        let (generation, door, key) = (
            sitting.session.generation,
            self.door.clone(),
            Rc::clone(&self.key),
        );
        spawn_local(async move {
            let part = madrigal_core::Zeroizing::new(*key.borrow().part());
            let keys = cipher.keys(&session, number, &part, JOB).await;
            let keys = keys.map_err(|error| error.to_string());
            let _ = door.send(RequestEvent::Keys { generation, keys });
        });
    }

    fn keys(&mut self, keys: Result<Vec<Shares>, String>) {
        let keys = match keys {
            Ok(keys) => keys,
            Err(reason) => {
                // A session without the keys serves nobody: another one may.
                if let Some(sitting) = &self.sitting {
                    sitting.session.session.fail(Error::Ended { reason });
                }
                return;
            }
        };
        let name = self.name().to_owned();
        info!(kind = name, "requests are answered");
        self.health.over(&Trouble::Kind(name));
        if !self.common.leaving.get() {
            self.pool.open();
        }
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        sitting.keys = Some(Arc::new(keys));
        let ready = sitting.flights.iter();
        let ready = ready.filter(|(_, flight)| matches!(flight.stage, Stage::Ready));
        let ready: Vec<u32> = ready.map(|(number, _)| *number).collect();
        ready.into_iter().for_each(|number| self.begin(number));
    }

    /// Ends all that the session had: whoever asked may ask again.
    fn down(&mut self) {
        const WHY: &str = "the servers have lost each other: ask again";
        let Some(sitting) = self.sitting.take() else {
            return;
        };
        for flight in sitting.flights.values() {
            self.pool.refuse(&flight.batch, Code::Retry, WHY);
            if matches!(flight.stage, Stage::Works) {
                self.common.count_job(-1);
            }
        }
        self.pool.close(Code::Retry, WHY);
    }

    fn note(&mut self, from: Party, note: RequestNote) -> Result<(), &'static str> {
        let is_leader = self.is_leader();
        if is_leader != matches!(note, RequestNote::Missing { .. })
            || !is_leader && from.index() != 0
        {
            return Err("a note that is another server's to send");
        }
        let most = self.kind.config.most;
        let Some(sitting) = &mut self.sitting else {
            return Ok(());
        };
        match note {
            RequestNote::Key { number } => {
                if sitting.key_job.replace(number).is_some() {
                    return Err("a second job for the key");
                }
                sitting.last = number;
                self.schedule();
            }
            RequestNote::Batch { number, runs } => {
                let lanes = runs.iter().map(|run| u64::from(run.count)).sum::<u64>();
                if number <= sitting.last || lanes == 0 || lanes > most as u64 {
                    return Err("a batch that cannot be");
                }
                if sitting.flights.len() >= HELD {
                    return Err("more batches at once than a leader begins");
                }
                sitting.last = number;
                let mut batch = Batch::new(runs);
                self.pool.fill(&mut batch);
                let now = Instant::now();
                sitting.flights.insert(
                    number,
                    Flight {
                        batch: Arc::new(batch),
                        stage: Stage::Waits(now + WAIT),
                        begun: now,
                        late: false,
                    },
                );
                self.look(now);
            }
            RequestNote::Missing { number, lanes } => {
                let Some(flight) = sitting.flights.get_mut(&number) else {
                    return Err("what is missing of a batch that there is not");
                };
                let Stage::Asked { waits, missing } = &mut flight.stage else {
                    return Err("what is missing of a batch that has begun");
                };
                if !flight.batch.has(&lanes) || !waits.remove(&from) {
                    return Err("lanes that the batch does not have, or a second time");
                }
                missing.extend(lanes.iter().map(|lanes| (lanes.first, lanes.count)));
                if waits.is_empty() {
                    self.all_have_told(number);
                }
            }
            RequestNote::Start { number, without } => {
                let Some(flight) = sitting.flights.get_mut(&number) else {
                    return Err("the start of a batch that there is not");
                };
                if !matches!(flight.stage, Stage::Told) || !flight.batch.has(&without) {
                    return Err("a start that cannot be");
                }
                if !without.is_empty()
                    && let Some(batch) = Arc::get_mut(&mut flight.batch)
                {
                    self.pool.put_back(batch, &without, false);
                }
                if flight.batch.absent() != without {
                    return Err("a start with requests that are missing here");
                }
                flight.stage = Stage::Ready;
                self.begin(number);
            }
        }
        Ok(())
    }

    /// Starts a batch, now that all other servers have told what they are missing.
    fn all_have_told(&mut self, number: u32) {
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        let Some(flight) = sitting.flights.get_mut(&number) else {
            return;
        };
        let mut without: Vec<Lanes> = Vec::new();
        if let Stage::Asked { missing, .. } = &flight.stage
            && !missing.is_empty()
        {
            let mut out = vec![false; flight.batch.lanes()];
            for &(first, count) in missing {
                out[first as usize..][..count as usize].fill(true);
            }
            without = Lanes::marked(&out);
            debug!(
                kind = self.kind.config.name,
                batch = number,
                "requests are not yet at all servers"
            );
        }
        if let Some(batch) = Arc::get_mut(&mut flight.batch) {
            match without.is_empty() {
                true if flight.late => self.pool.in_time(batch),
                true => {}
                false => self.pool.put_back(batch, &without, true),
            }
        }
        flight.stage = Stage::Ready;
        let note = RequestNote::Start { number, without };
        let kind = self.kind.config.name.clone();
        let note = Note::Requests { kind, note };
        sitting.session.lines.send_all(&note);
        self.begin(number);
    }

    /// Begins a batch's job. One of which nothing is left is over.
    fn begin(&mut self, number: u32) {
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        let (Some(keys), Some(cipher)) = (&sitting.keys, &sitting.cipher) else {
            return;
        };
        let Some(flight) = sitting.flights.get_mut(&number) else {
            return;
        };
        if flight.batch.is_empty() {
            sitting.flights.remove(&number);
            return;
        }
        flight.stage = Stage::Works;
        self.common.count_job(1);
        let (keys, cipher, batch) = (
            Arc::clone(keys),
            Arc::clone(cipher),
            Arc::clone(&flight.batch),
        );
        let (generation, session) = (sitting.session.generation, sitting.session.session.clone());
        let (door, deadline) = (self.door.clone(), self.kind.config.deadline.max(JOB));
        spawn_local(async move {
            let done = cipher.encrypt(&session, number, &keys, &batch, deadline);
            let done = done.await.map_err(|error| error.to_string());
            drop(batch);
            let _ = door.send(RequestEvent::Done {
                generation,
                number,
                done,
            });
        });
    }

    fn done(&mut self, number: u32, done: Result<(Vec<u8>, u64), String>) {
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        let Some(flight) = sitting.flights.remove(&number) else {
            return;
        };
        self.common.count_job(-1);
        let meters = &self.common.meters;
        let seconds = flight.begun.elapsed().as_secs_f64();
        meters
            .run_seconds
            .get_or_create(&self.label)
            .observe(seconds);
        match done {
            Ok((answers, sent)) => {
                let answered = self.pool.answer(&flight.batch, answers);
                meters.answered.get_or_create(&self.label).inc_by(answered);
                meters.sent.get_or_create(&self.label).inc_by(sent);
            }
            Err(reason) => {
                error!(
                    kind = self.name(),
                    batch = number,
                    error = reason,
                    "requests came to nothing"
                );
                meters.broken_runs.get_or_create(&self.label).inc();
                let why = "their job came to nothing: ask again";
                self.pool.refuse(&flight.batch, Code::Retry, why);
            }
        }
    }

    /// Does what time and requests that came have made due.
    fn step(&mut self) {
        let now = Instant::now();
        if now >= self.next_expiry {
            self.next_expiry = now + EXPIRY;
            let deadline = self.kind.config.deadline;
            let why =
                "they were not at all servers in time, or there was too much to do: ask again";
            if let Some(before) = now.checked_sub(deadline) {
                let expired = self.pool.expire(before, why);
                if expired > 0 {
                    self.common.meters.refuse("requests late");
                    debug!(
                        kind = self.name(),
                        expired, "requests were not answered in time"
                    );
                }
            }
        }
        match self.is_leader() {
            true => {
                self.form(now, false);
                self.form(now, true);
            }
            false => self.look(now),
        }
    }

    /// Looks for requests of batches that wait for some, and tells the leader what is missing once all are there or it is time.
    fn look(&mut self, now: Instant) {
        let Some(sitting) = &mut self.sitting else {
            return;
        };
        for (&number, flight) in &mut sitting.flights {
            let Stage::Waits(until) = flight.stage else {
                continue;
            };
            let Some(batch) = Arc::get_mut(&mut flight.batch) else {
                continue;
            };
            if !batch.is_whole() {
                self.pool.fill(batch);
            }
            if batch.is_whole() || now >= until {
                let lanes = batch.absent();
                flight.stage = Stage::Told;
                let note = RequestNote::Missing { number, lanes };
                let kind = self.kind.config.name.clone();
                let leader = Party::new(0);
                sitting
                    .session
                    .lines
                    .send(leader, Note::Requests { kind, note });
            }
        }
    }

    /// Forms batches that are due, as the leader.
    fn form(&mut self, now: Instant, late: bool) {
        loop {
            let due = self.due(late).is_some_and(|due| due <= now);
            let (me, servers) = (self.common.me, self.common.servers);
            let Some(sitting) = &mut self.sitting else {
                return;
            };
            if !due || sitting.keys.is_none() || !sitting.has_room(late) {
                return;
            }
            let batch = self.pool.form(late, self.kind.config.most);
            if batch.lanes() == 0 {
                return;
            }
            let Some(number) = self.common.job_number(&sitting.session.session) else {
                let why = "the servers begin a new session: ask again";
                return self.pool.refuse(&batch, Code::Retry, why);
            };
            let runs = batch.runs().to_vec();
            let note = RequestNote::Batch { number, runs };
            let kind = self.kind.config.name.clone();
            sitting
                .session
                .lines
                .send_all(&Note::Requests { kind, note });
            let waits = Party::all(servers).filter(|&party| party != me).collect();
            sitting.flights.insert(
                number,
                Flight {
                    batch: Arc::new(batch),
                    stage: Stage::Asked {
                        waits,
                        missing: BTreeSet::new(),
                    },
                    begun: now,
                    late,
                },
            );
        }
    }
}

impl Sitting {
    /// Whether the leader may begin another batch: one at a time of clients that are late, and several of others.
    fn has_room(&self, late: bool) -> bool {
        let flights = self.flights.values();
        let under_way = flights.filter(|flight| flight.late == late).count();
        under_way < if late { 1 } else { UNDER_WAY }
    }
}
