//! A client's side of a connection, without I/O.
//!
//! Messages that are sent are checked against the connection's state and the server's windows before ([`NotNow`]); those that come, against what was asked
//! ([`ServerFault`]): a server that answers something else is not believed in anything any more.

mod asks;

use bytes::BytesMut;

use crate::error::WireError;
use crate::flight::Flight;
use crate::frame::Frames;
use crate::from_client::{FromClient, Hello};
use crate::from_server::{Answers, FromServer, Refused, Welcome};
use crate::limits::PIECE;
use crate::open::{Open, Opened, Stage, goes_on_at};

/// Reasons why a message cannot be sent now. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotNow {
    /// No welcome yet, or the connection is over.
    #[error("the connection is not open: wait for its welcome, or make another one")]
    Closed,
    /// Too many messages without an answer.
    #[error("too many messages wait for an answer on this connection: wait for some")]
    Full,
    /// Too many bytes of bodies, or too many requests, for the server's window.
    #[error("the server has no room for more: wait for credit or answers")]
    Window,
    /// A message that no connection takes at this time, or ever.
    #[error("{0}: the program that uses the connection is at fault")]
    Wrong(&'static str),
}

/// A server that answered something that nobody asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// Bytes that are no message.
    #[error("the server sent {0}")]
    Wire(#[from] WireError),
    /// A message that may not come.
    #[error("the server sent {0}, which it was not asked: it does not keep to schema/SERVICE.md")]
    Unasked(&'static str),
}

#[derive(Debug)]
enum Phase {
    Greeting { least: u32, most: u32 },
    Open(Box<Welcome>),
    Over,
}

/// A connection to a server.
#[derive(Debug)]
pub struct ClientConnection {
    frames: Frames,
    output: BytesMut,
    phase: Phase,
    opened: Opened,
    flight: Flight,
    credit: u64,
}

impl ClientConnection {
    /// A connection that begins with a greeting.
    pub fn new(hello: Hello) -> Self {
        let mut output = BytesMut::new();
        let (least, most) = (hello.least, hello.most);
        FromClient::Hello(hello).encode(&mut output);
        let mut frames = Frames::default();
        // A welcome may be long: the server is known by its key.
        frames.greeted();
        Self {
            frames,
            output,
            phase: Phase::Greeting { least, most },
            opened: Opened::default(),
            flight: Flight::default(),
            credit: 0,
        }
    }

    /// Takes bytes that came. Call [`ClientConnection::told`] until it has nothing more before giving others.
    pub fn receive(&mut self, bytes: &[u8]) {
        if !matches!(self.phase, Phase::Over) {
            self.frames.put(bytes);
        }
    }

    /// Bytes that are ready to be sent; whoever sends them takes them off the front. The greeting, which may hold a token, is among them.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// The server's greeting, once it came and until the connection is over.
    pub fn welcome(&self) -> Option<&Welcome> {
        match &self.phase {
            Phase::Open(welcome) => Some(welcome),
            _ => None,
        }
    }

    /// Whether nothing can be sent and nothing comes any more.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// The number that the next message may have.
    pub fn next_number(&self) -> u64 {
        self.opened.last() + 1
    }

    /// Bytes of bodies that may be sent now.
    pub fn body_credit(&self) -> u64 {
        self.credit
    }

    /// Requests that may be sent now.
    pub fn request_credit(&self) -> u64 {
        let window = self.welcome().map_or(0, |welcome| welcome.request_window);
        u64::from(window).saturating_sub(self.flight.count())
    }

    /// Number of messages without an answer, requests included.
    pub fn unanswered(&self) -> u64 {
        self.opened.len() as u64 + self.flight.count()
    }

    /// The next message of the server, which answers something that was asked. Nothing: more bytes are needed.
    ///
    /// # Errors
    /// [`ServerFault`]; the connection is over then.
    pub fn told(&mut self) -> Result<Option<FromServer>, ServerFault> {
        if self.is_over() {
            return Ok(None);
        }
        let told = self.next_told();
        if told.is_err() {
            self.end_all();
        }
        told
    }

    fn next_told(&mut self) -> Result<Option<FromServer>, ServerFault> {
        let Some(message) = self.frames.message()? else {
            return Ok(None);
        };
        let message = FromServer::decode(message)?;
        self.check(&message)?;
        Ok(Some(message))
    }

    fn end_all(&mut self) {
        self.phase = Phase::Over;
        self.frames = Frames::default();
    }

    fn check(&mut self, message: &FromServer) -> Result<(), ServerFault> {
        if let (Phase::Greeting { least, most }, FromServer::Welcome(welcome)) =
            (&self.phase, message)
        {
            if !(*least..=*most).contains(&welcome.version) {
                return Err(ServerFault::Unasked("a version that was not offered"));
            }
            self.credit = welcome.body_window;
            self.phase = Phase::Open(Box::new(welcome.clone()));
            return Ok(());
        }
        if let FromServer::Refused(refused) = message {
            return self.refused(refused);
        }
        if !matches!(self.phase, Phase::Open(_)) {
            return Err(ServerFault::Unasked("a message before its welcome"));
        }
        let fits = match message {
            FromServer::Welcome(_) => return Err(ServerFault::Unasked("a second welcome")),
            FromServer::Begun { number, offset } => {
                let open = self.opened.get(*number);
                let stage = Stage::Begun;
                matches!(open, Some(Open::Upload { length, stage: at }) if at == stage && goes_on_at(*offset, length))
                    && self.opened.set_stage(*number, Stage::At(*offset))
            }
            FromServer::Accepted { number, .. } => self.closes(*number, |open| {
                let upload = |stage| matches!(stage, Stage::Begun | Stage::Ended);
                matches!(open, Open::Whole)
                    || matches!(open, Open::Upload { stage, .. } if upload(*stage))
            }),
            FromServer::State { number, .. } => {
                self.closes(*number, |open| matches!(open, Open::Status | Open::Wait))
            }
            FromServer::Finished(finished) => {
                self.closes(finished.number, |open| matches!(open, Open::Wait))
            }
            FromServer::OutputPiece(piece) => self.closes(piece.number, |open| {
                let whole = piece.last || piece.bytes.len() == PIECE;
                whole && matches!(open, Open::Fetch { offset } if *offset == piece.offset)
            }),
            FromServer::Answers(Answers {
                first_number,
                each_bytes,
                payload,
            }) => {
                let count = payload.len() as u64 / u64::from(*each_bytes);
                self.flight.remove(*first_number, count, Some(*each_bytes))
            }
            FromServer::Credit { bytes } => {
                self.credit += bytes;
                self.welcome()
                    .is_some_and(|welcome| self.credit <= welcome.body_window)
            }
            FromServer::Refused(_) => true,
        };
        let name = match message {
            FromServer::Begun { .. } => "an offset of an upload",
            FromServer::Accepted { .. } => "a receipt",
            FromServer::State { .. } => "a state",
            FromServer::Finished(_) => "the end of a job",
            FromServer::OutputPiece(_) => "a piece of an output",
            FromServer::Answers(_) => "answers",
            _ => "credit beyond its window",
        };
        fits.then_some(()).ok_or(ServerFault::Unasked(name))
    }

    /// Closes an open message if it takes such an answer.
    fn closes(&mut self, number: u64, takes: impl Fn(&Open) -> bool) -> bool {
        let fits = self.opened.get(number).is_some_and(|open| takes(&open));
        fits && self.opened.remove(number).is_some()
    }

    fn refused(&mut self, refused: &Refused) -> Result<(), ServerFault> {
        let fits = match (refused.number, refused.count) {
            (0, _) => {
                self.end_all();
                true
            }
            (number, 1) if self.opened.remove(number).is_some() => true,
            (number, count) => self.flight.remove(number, u64::from(count), None),
        };
        fits.then_some(()).ok_or(ServerFault::Unasked("a refusal"))
    }
}
