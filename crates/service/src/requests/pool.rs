//! Requests that wait for a batch, and the way of answers to whoever asked: what the desk and the servers' thread have in common.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use madrigal_intake::{Answers, Code, Payload, Refused, Requests};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use super::batch::{Batch, Lanes, Run, SessionName};
use super::lanes::{ANSWER, REQUEST};

/// The most requests that wait at a server, of all clients.
const MOST_WAITING: usize = 1 << 18;
/// Answers of one message.
const TOGETHER: usize = 2048;

/// A word on requests for whoever asked.
#[derive(Debug)]
pub(crate) enum Told {
    Answers(Answers),
    Refused(Refused),
}

/// Requests of one kind at a server.
#[derive(Debug)]
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Tells that requests came.
    came: Notify,
}

#[derive(Debug)]
struct State {
    /// Why nothing is taken.
    closed: Option<(Code, String)>,
    clients: HashMap<SessionName, Client>,
    /// Clients whose requests wait, in turn; apart those that were late before.
    turns: [VecDeque<SessionName>; 2],
    /// Requests that wait, of either sort of clients.
    waiting: [usize; 2],
    /// Time since when the oldest of them waits, or a little longer.
    since: [Option<Instant>; 2],
    /// Number of the next connection.
    next: u64,
}

/// A client that has asked.
#[derive(Debug)]
struct Client {
    /// Number of its connection.
    connection: u64,
    replies: UnboundedSender<Told>,
    waiting: VecDeque<Waiting>,
    /// Whether requests of it were missing at another server: then its next ones hold up no others.
    late: bool,
    /// Whether it has a turn.
    in_turn: bool,
}

/// Requests side by side.
#[derive(Debug, Clone)]
struct Waiting {
    first: u64,
    shares: Bytes,
    came: Instant,
}

impl Waiting {
    fn count(&self) -> u64 {
        (self.shares.len() / REQUEST) as u64
    }

    fn end(&self) -> u64 {
        self.first + self.count()
    }

    /// Those with numbers from `first` on and below `end`, if there are any.
    fn part(&self, first: u64, end: u64) -> Option<Self> {
        let (first, end) = (first.max(self.first), end.min(self.end()));
        if first >= end {
            return None;
        }
        let at = |number: u64| (number - self.first) as usize * REQUEST;
        Some(Self {
            first,
            shares: self.shares.slice(at(first)..at(end)),
            came: self.came,
        })
    }
}

impl Client {
    /// Takes those out that have numbers from `first` on and below `end`.
    fn take(&mut self, first: u64, end: u64, mut give: impl FnMut(Waiting)) -> usize {
        let mut at = self.waiting.partition_point(|one| one.end() <= first);
        let mut taken = 0;
        while let Some(one) = self.waiting.get(at) {
            let Some(part) = one.part(first, end) else {
                break;
            };
            let (before, after) = (one.part(0, part.first), one.part(part.end(), u64::MAX));
            taken += part.count() as usize;
            give(part);
            match (before, after) {
                (None, None) => drop(self.waiting.remove(at)),
                (Some(before), None) => {
                    self.waiting[at] = before;
                    at += 1;
                }
                (None, Some(after)) => self.waiting[at] = after,
                (Some(before), Some(after)) => {
                    self.waiting[at] = before;
                    self.waiting.insert(at + 1, after);
                }
            }
        }
        taken
    }
}

impl Pool {
    /// A pool that takes nothing yet.
    pub(crate) fn new() -> Self {
        let closed = Some((Code::Retry, "the servers have just started".to_owned()));
        Self {
            state: Mutex::new(State {
                closed,
                clients: HashMap::new(),
                turns: Default::default(),
                waiting: [0; 2],
                since: [None; 2],
                next: 1,
            }),
            came: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes requests that a client brings; gives the number of its connection.
    ///
    /// # Errors
    /// Why they are refused.
    pub(crate) fn push(
        &self,
        session: SessionName,
        connection: Option<u64>,
        replies: &UnboundedSender<Told>,
        requests: Requests,
    ) -> Result<u64, (Code, String)> {
        let mut state = self.lock();
        let state = &mut *state;
        if let Some((code, why)) = &state.closed {
            return Err((*code, why.clone()));
        }
        let count = requests.count() as usize;
        if state.waiting.iter().sum::<usize>() + count > MOST_WAITING {
            let text = format!("{MOST_WAITING} requests wait already");
            return Err((Code::Busy, text));
        }
        let client = match state.clients.entry(session) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                state.next += 1;
                entry.insert(Client {
                    connection: connection.unwrap_or(state.next),
                    replies: replies.clone(),
                    waiting: VecDeque::new(),
                    late: false,
                    in_turn: false,
                })
            }
        };
        if connection.is_some_and(|known| known != client.connection)
            || connection.is_none() && !client.replies.same_channel(replies)
        {
            let text = "another connection has this session: draw another one for each";
            return Err((Code::NotAllowed, text.to_owned()));
        }
        let now = Instant::now();
        client.waiting.push_back(Waiting {
            first: requests.first_number,
            shares: requests.payload.0,
            came: now,
        });
        let sort = usize::from(client.late);
        if !client.in_turn {
            client.in_turn = true;
            state.turns[sort].push_back(session);
        }
        state.waiting[sort] += count;
        state.since[sort].get_or_insert(now);
        let connection = client.connection;
        self.came.notify_one();
        Ok(connection)
    }

    /// Forgets a connection and what it asked for.
    pub(crate) fn leave(&self, session: &SessionName, connection: u64) {
        let mut state = self.lock();
        let state = &mut *state;
        if let Some(client) = state.clients.get(session)
            && client.connection == connection
        {
            let left: u64 = client.waiting.iter().map(Waiting::count).sum();
            state.waiting[usize::from(client.late)] -= left as usize;
            state.clients.remove(session);
        }
    }

    /// Waits until requests come.
    pub(crate) async fn came(&self) {
        self.came.notified().await;
    }

    /// When the leader is to begin a batch of clients that are late, or of the others: nothing if none of them waits.
    pub(crate) fn due(&self, late: bool, most: usize, window: Duration) -> Option<Instant> {
        let state = self.lock();
        let sort = usize::from(late);
        let since = state.since[sort]?;
        match state.waiting[sort] {
            0 => None,
            waiting if waiting >= most => Some(since),
            _ => Some(since + window),
        }
    }

    /// Takes up to `most` requests for a batch, in turn of the clients.
    pub(crate) fn form(&self, late: bool, most: usize) -> Batch {
        let mut state = self.lock();
        let state = &mut *state;
        let sort = usize::from(late);
        let (mut taken, mut count) = (Vec::new(), 0);
        while count < most
            && let Some(session) = state.turns[sort].pop_front()
        {
            let Some(client) = state.clients.get_mut(&session) else {
                continue;
            };
            client.in_turn = false;
            if usize::from(client.late) != sort {
                turn(client, session, &mut state.turns);
                continue;
            }
            while count < most
                && let Some(first) = client.waiting.front()
            {
                let (first, end) = (
                    first.first,
                    first.end().min(first.first + (most - count) as u64),
                );
                client.take(first, end, |one| {
                    count += one.count() as usize;
                    taken.push((session, one));
                });
            }
            turn(client, session, &mut state.turns);
        }
        state.waiting[sort] -= count;
        if state.waiting[sort] == 0 {
            state.since[sort] = None;
        }
        let mut runs: Vec<Run> = Vec::new();
        for (session, one) in &taken {
            match runs.last_mut() {
                Some(run) if run.session == *session && run.end() == one.first => {
                    run.count += one.count() as u32;
                }
                _ => runs.push(Run {
                    session: *session,
                    first: one.first,
                    count: one.count() as u32,
                }),
            }
        }
        let mut batch = Batch::new(runs);
        let (mut at, mut lane) = (0, 0);
        for (session, one) in taken {
            while batch.runs()[at].session != session || batch.runs()[at].end() <= one.first {
                at += 1;
            }
            batch.put(at, lane, &one.shares, one.came);
            lane += one.count() as usize;
        }
        batch
    }

    /// Takes requests that a batch names and that are here.
    pub(crate) fn fill(&self, batch: &mut Batch) {
        let mut state = self.lock();
        let state = &mut *state;
        for (at, run, lane) in batch.gaps() {
            let Some(client) = state.clients.get_mut(&run.session) else {
                continue;
            };
            let taken = client.take(run.first, run.end(), |one| {
                let lane = lane + (one.first - run.first) as usize;
                batch.put(at, lane, &one.shares, one.came);
            });
            let sort = usize::from(client.late);
            state.waiting[sort] -= taken;
            if state.waiting[sort] == 0 {
                state.since[sort] = None;
            }
        }
    }

    /// Takes lanes out of a batch; their requests wait again. At the leader their clients are late from now on.
    pub(crate) fn put_back(&self, batch: &mut Batch, lanes: &[Lanes], late: bool) {
        let mut state = self.lock();
        let state = &mut *state;
        for (run, shares, came) in batch.take(lanes) {
            let Some(client) = state.clients.get_mut(&run.session) else {
                continue;
            };
            if late && !client.late {
                let all: u64 = client.waiting.iter().map(Waiting::count).sum();
                state.waiting[0] -= all as usize;
                state.waiting[1] += all as usize;
                client.late = true;
            }
            let at = client.waiting.partition_point(|one| one.first < run.first);
            client.waiting.insert(
                at,
                Waiting {
                    first: run.first,
                    shares: shares.into(),
                    came,
                },
            );
            let sort = usize::from(client.late);
            state.waiting[sort] += run.count as usize;
            // Others come first: it is not yet elsewhere.
            state.since[sort] = Some(Instant::now());
            turn(client, run.session, &mut state.turns);
        }
        if state.waiting[0] == 0 {
            state.since[0] = None;
        }
    }

    /// Notes that all requests of a batch were there in time.
    pub(crate) fn in_time(&self, batch: &Batch) {
        let mut state = self.lock();
        let state = &mut *state;
        for run in batch.runs() {
            if let Some(client) = state.clients.get_mut(&run.session)
                && client.late
            {
                let all: u64 = client.waiting.iter().map(Waiting::count).sum();
                state.waiting[1] -= all as usize;
                state.waiting[0] += all as usize;
                client.late = false;
                if all > 0 {
                    state.since[0].get_or_insert_with(Instant::now);
                }
            }
        }
        if state.waiting[1] == 0 {
            state.since[1] = None;
        }
    }

    /// Hands the answers to a batch's requests to whoever asked. `answers` has those of all lanes. Gives how many were answered.
    pub(crate) fn answer(&self, batch: &Batch, answers: Vec<u8>) -> u64 {
        let answers = Bytes::from(answers);
        let state = self.lock();
        let mut count = 0;
        for (run, lane) in batch.present() {
            let Some(client) = state.clients.get(&run.session) else {
                continue;
            };
            count += u64::from(run.count);
            let all = answers.slice(lane * ANSWER..(lane + run.count as usize) * ANSWER);
            for at in (0..run.count as usize).step_by(TOGETHER) {
                let end = (at + TOGETHER).min(run.count as usize);
                // Whoever has gone does not hear it.
                let _ = client.replies.send(Told::Answers(Answers {
                    first_number: run.first + at as u64,
                    each_bytes: ANSWER as u32,
                    payload: Payload(all.slice(at * ANSWER..end * ANSWER)),
                }));
            }
        }
        count
    }

    /// Refuses the requests of a batch that are there.
    pub(crate) fn refuse(&self, batch: &Batch, code: Code, why: &str) {
        let state = self.lock();
        for (run, _) in batch.present() {
            if let Some(client) = state.clients.get(&run.session) {
                refuse(client, run.first, u64::from(run.count), code, why);
            }
        }
    }

    /// Refuses requests that came before a time.
    pub(crate) fn expire(&self, before: Instant, why: &str) -> usize {
        let mut state = self.lock();
        let state = &mut *state;
        let mut expired = 0;
        for client in state.clients.values_mut() {
            while let Some(one) = client.waiting.front()
                && one.came < before
            {
                let count = one.count();
                refuse(client, one.first, count, Code::Retry, why);
                client.waiting.pop_front();
                state.waiting[usize::from(client.late)] -= count as usize;
                expired += count as usize;
            }
        }
        for sort in 0..2 {
            if state.waiting[sort] == 0 {
                state.since[sort] = None;
            }
        }
        expired
    }

    /// Takes requests from now on.
    pub(crate) fn open(&self) {
        self.lock().closed = None;
    }

    /// Takes nothing from now on, and refuses all that wait.
    pub(crate) fn close(&self, code: Code, why: &str) {
        let mut state = self.lock();
        let state = &mut *state;
        state.closed = Some((code, why.to_owned()));
        for client in state.clients.values_mut() {
            for one in std::mem::take(&mut client.waiting) {
                refuse(client, one.first, one.count(), code, why);
            }
        }
        (state.waiting, state.since) = ([0; 2], [None; 2]);
    }
}

/// Gives a client a turn if it has none and requests of it wait.
fn turn(client: &mut Client, session: SessionName, turns: &mut [VecDeque<SessionName>; 2]) {
    if !client.in_turn && !client.waiting.is_empty() {
        client.in_turn = true;
        turns[usize::from(client.late)].push_back(session);
    }
}

fn refuse(client: &Client, first: u64, count: u64, code: Code, why: &str) {
    let refused = Refused {
        count: count as u32,
        ..Refused::new(first, code, why)
    };
    let _ = client.replies.send(Told::Refused(refused));
}
