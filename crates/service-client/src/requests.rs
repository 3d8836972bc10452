//! Requests: some dozens of bytes to each server, and as many back; many on their way at once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::future::try_join_all;
use madrigal_intake::{Code, Payload, What};
use tokio::sync::{Semaphore, mpsc};

use crate::asks::{Event, LinkError};
use crate::client::ServiceClient;
use crate::error::{At, ClientError};
use crate::link::Link;
use crate::servers::{Failure, place_of, session};

/// Results of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Number of the request.
    pub number: u64,
    /// Answer of each server, in their order, or the first failure.
    pub shares: Result<Vec<Bytes>, Failed>,
}

/// A request that was not answered by all servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{server} has not answered the request ({code}): {text}")]
pub struct Failed {
    /// The server.
    pub server: At,
    /// Reason for programs.
    pub code: Code,
    /// Reason in words.
    pub text: Arc<str>,
}

impl Failed {
    /// Whether the request may be sent again, with a new number: nothing is wrong with it.
    pub fn may_retry(&self) -> bool {
        self.code.may_retry()
    }
}

/// The end that sends requests. Their numbers follow each other.
#[derive(Debug)]
pub struct RequestSender {
    links: Vec<(Link, u32)>,
    names: Vec<At>,
    request_bytes: usize,
    window: usize,
    room: Arc<Semaphore>,
    sent: Arc<AtomicU64>,
}

/// The end that receives answers.
#[derive(Debug)]
pub struct AnswerReceiver {
    events: mpsc::UnboundedReceiver<(usize, Event)>,
    names: Vec<At>,
    answer_bytes: usize,
    room: Arc<Semaphore>,
    sent: Arc<AtomicU64>,
    /// Number of the request of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    ready: VecDeque<Answer>,
    lost: bool,
}

/// A request on its way.
#[derive(Debug, Default)]
struct Slot {
    shares: Vec<Bytes>,
    /// Servers that have answered or refused.
    told: u64,
    failed: Option<Failed>,
    done: bool,
}

impl ServiceClient {
    /// Opens connections of their own to all servers for requests to a kind.
    ///
    /// Where one of them is lost, all requests on their way fail with a code that may be retried, and this pair of ends is over: open
    /// another one.
    ///
    /// # Errors
    /// [`ClientError`]: a kind that takes no requests, a server that cannot be reached or refuses.
    pub async fn requests(
        &self,
        kind: &str,
    ) -> Result<(RequestSender, AnswerReceiver), ClientError> {
        let described = self.servers.kind(kind)?;
        let What::Requests {
            request_bytes,
            answer_bytes,
        } = described.what
        else {
            return Err(ClientError::Sort {
                kind: kind.to_owned(),
                is: "submissions",
                wanted: "requests",
            });
        };
        let session = session()?;
        let (sink, events) = mpsc::unbounded_channel();
        let open = |server| {
            let sink = (server, sink.clone());
            async move {
                let link = self.servers.open(server, session, Some(sink)).await;
                let failed = |failure: Failure| failure.told(self.servers.at(server));
                let link = link.map_err(failed)?;
                let place = place_of(&link, kind);
                let place = place.map_err(|error| failed(Failure::Link(error)))?;
                let same = link.welcome().kinds[place as usize].difference(described);
                match same {
                    None => Ok((link, place)),
                    Some((what, got, expected)) => Err(ClientError::Differs {
                        servers: Box::new([self.servers.at(server), self.servers.at(0)]),
                        what: what.to_owned(),
                        got,
                        expected,
                    }),
                }
            }
        };
        let links = try_join_all((0..self.servers.len()).map(open)).await?;
        let windows = links.iter().map(|(link, _)| link.welcome().request_window);
        let window = windows.min().unwrap_or(0) as usize;
        let names: Vec<At> = (0..self.servers.len())
            .map(|server| self.servers.at(server))
            .collect();
        let room = Arc::new(Semaphore::new(window));
        let sent = Arc::new(AtomicU64::new(0));
        let sender = RequestSender {
            links,
            names: names.clone(),
            request_bytes: request_bytes as usize,
            window,
            room: room.clone(),
            sent: sent.clone(),
        };
        let receiver = AnswerReceiver {
            events,
            names,
            answer_bytes: answer_bytes as usize,
            room,
            sent,
            first: 1,
            slots: VecDeque::new(),
            ready: VecDeque::new(),
            lost: false,
        };
        Ok((sender, receiver))
    }
}

impl RequestSender {
    /// The most requests that can be on their way.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Sends requests: to each server its shares of all of them, side by side. Waits until there is room, and gives their numbers.
    ///
    /// # Errors
    /// [`ClientError`]: shares of another size, more at once than the window has, or connections that are lost.
    ///
    /// # Panics
    /// If there are not as many strings as servers.
    pub async fn send(&mut self, shares: &[Bytes]) -> Result<Range<u64>, ClientError> {
        assert_eq!(shares.len(), self.links.len(), "a string for each server");
        let length = shares[0].len();
        let count = length / self.request_bytes;
        let whole = shares.iter().all(|share| share.len() == length)
            && length.is_multiple_of(self.request_bytes);
        if !whole || count == 0 || count > self.window {
            return Err(ClientError::Requests {
                got: length,
                each: self.request_bytes,
                window: self.window,
            });
        }
        let lost = |server: &At, why: &LinkError| Failure::Link(why.clone()).told(server.clone());
        match self.room.acquire_many(count as u32).await {
            Ok(permits) => permits.forget(),
            Err(_) => {
                return Err(lost(
                    &self.names[0],
                    &LinkError::Lost("a connection is lost".into()),
                ));
            }
        }
        let first = self.sent.fetch_add(count as u64, Ordering::AcqRel) + 1;
        for (((link, kind), share), name) in self.links.iter().zip(shares).zip(&self.names) {
            let sent = link.requests(*kind, first, Payload(share.clone())).await;
            sent.map_err(|why| lost(name, &why))?;
        }
        Ok(first..first + count as u64)
    }
}

impl AnswerReceiver {
    /// The next request that all servers have answered, or that failed, in any order. Nothing once the connections are over and all that
    /// were on their way were told.
    pub async fn next(&mut self) -> Option<Answer> {
        loop {
            if let Some(answer) = self.ready.pop_front() {
                return Some(answer);
            }
            if self.lost {
                return None;
            }
            let event = self.events.recv().await;
            match event {
                Some((server, Event::Answers(answers))) => {
                    if answers.each_bytes as usize != self.answer_bytes {
                        self.fail_all(server, Code::Server, "answers of a wrong size".into());
                        continue;
                    }
                    let number = answers.first_number;
                    for at in 0..answers.count() {
                        let start = at as usize * self.answer_bytes;
                        let share = answers.payload.slice(start..start + self.answer_bytes);
                        self.told(server, number + at, Ok(share));
                    }
                }
                Some((server, Event::Refused(refused))) => {
                    let failed = Failed {
                        server: self.names[server].clone(),
                        code: refused.code,
                        text: refused.text.as_str().into(),
                    };
                    for at in 0..u64::from(refused.count) {
                        self.told(server, refused.number + at, Err(failed.clone()));
                    }
                }
                Some((server, Event::Lost(why))) => {
                    let (code, text) = match why {
                        LinkError::Refused(refused) => (refused.code, refused.text.as_str().into()),
                        LinkError::Fault(what) => (Code::Server, what),
                        LinkError::Lost(why) | LinkError::Body(why) => (Code::Retry, why),
                    };
                    self.fail_all(server, code, text);
                }
                None => self.fail_all(0, Code::Retry, "it was closed here".into()),
            }
        }
    }

    /// Fails everything that is on its way.
    fn fail_all(&mut self, server: usize, code: Code, text: Arc<str>) {
        self.lost = true;
        // From now on nobody sends.
        self.room.close();
        let sent = self.sent.load(Ordering::Acquire);
        let failed = Failed {
            server: self.names[server].clone(),
            code,
            text,
        };
        for number in self.first..=sent {
            let slot = self.slots.get((number - self.first) as usize);
            if !slot.is_some_and(|slot| slot.done) {
                self.ready.push_back(Answer {
                    number,
                    shares: Err(failed.clone()),
                });
            }
        }
        self.first = sent + 1;
        self.slots.clear();
    }

    /// Takes a server's word on a request. The connection has checked that it was on its way there.
    fn told(&mut self, server: usize, number: u64, told: Result<Bytes, Failed>) {
        let Some(at) = number.checked_sub(self.first).map(|at| at as usize) else {
            return;
        };
        if number > self.sent.load(Ordering::Acquire) {
            return;
        }
        while self.slots.len() <= at {
            self.slots.push_back(Slot::default());
        }
        let (slot, servers) = (&mut self.slots[at], self.names.len());
        if slot.done || slot.told >> server & 1 == 1 {
            return;
        }
        slot.told |= 1 << server;
        match told {
            Ok(share) => {
                slot.shares.resize(servers, Bytes::new());
                slot.shares[server] = share;
            }
            // A failure that cannot be retried is told rather than one that can.
            Err(failed) => match &slot.failed {
                Some(before) if !before.may_retry() || failed.may_retry() => {}
                _ => slot.failed = Some(failed),
            },
        }
        if slot.told.count_ones() as usize == servers {
            slot.done = true;
            let shares = match slot.failed.take() {
                Some(failed) => Err(failed),
                None => Ok(std::mem::take(&mut slot.shares)),
            };
            self.ready.push_back(Answer { number, shares });
            self.room.add_permits(1);
        }
        while self.slots.front().is_some_and(|slot| slot.done) {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}
