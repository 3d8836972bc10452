//! State of a connection, and how it ends.

use std::sync::Arc;

use bytes::BytesMut;
use madrigal_core::Party;
use madrigal_net::roster::MAX_NAME;

use crate::code::Code;
use crate::error::WireError;
use crate::frame::Frames;
use crate::from_server::{FromServer, Refused, Welcome};
use crate::kind::Kind;
use crate::limits::{LENGTH_BYTES, MAX_MESSAGE, MAX_OUTPUT, VERSIONS};
use crate::open::Opened;

/// Facts about a server that all of its connections share.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Name of the server.
    pub server: String,
    /// Place among the servers.
    pub place: Party,
    /// Number of servers.
    pub servers: usize,
    /// Program and version.
    pub software: String,
    /// Kinds that it has loaded.
    pub kinds: Vec<Kind>,
    /// Bytes of bodies that a client may send ahead, from [`MIN_BODY_WINDOW`](crate::limits::MIN_BODY_WINDOW) on.
    pub body_window: u64,
    /// Requests that a client may have unanswered.
    pub request_window: u32,
}

impl Terms {
    /// Checks that clients take what a server says about itself: to be asked when it starts.
    ///
    /// # Errors
    /// [`WireError`]: a name, a window or a kind beyond the limits, two kinds of one name, or more of it than a message holds.
    pub fn check(&self) -> Result<(), WireError> {
        let client = Some("a".repeat(MAX_NAME));
        let welcome = FromServer::Welcome(self.welcome(*VERSIONS.end(), client, u64::MAX));
        let mut frame = BytesMut::new();
        welcome.encode(&mut frame);
        let message = frame.split_off(LENGTH_BYTES).freeze();
        let (got, most) = (message.len(), MAX_MESSAGE);
        if got > most {
            return Err(WireError::Long { got, most });
        }
        match FromServer::decode(message)? == welcome {
            true => Ok(()),
            false => Err(WireError::Field("a length of an axis beyond 2^63")),
        }
    }

    pub(super) fn welcome(&self, version: u32, client: Option<String>, time: u64) -> Welcome {
        Welcome {
            version,
            server: self.server.clone(),
            place: self.place.index() as u32,
            servers: self.servers as u32,
            software: self.software.clone(),
            client,
            body_window: self.body_window,
            request_window: self.request_window,
            time,
            kinds: self.kinds.clone(),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing came.
    New,
    /// The greeting waits for an answer, with the version of both.
    Greeted(u32),
    /// All messages may come.
    Open { anonymous: bool },
    /// Nothing is read any more; what is ready is sent, then the connection is closed.
    Over,
}

/// A connection of a client.
#[derive(Debug)]
pub struct ServerConnection {
    pub(super) terms: Arc<Terms>,
    pub(super) frames: Frames,
    pub(super) output: BytesMut,
    pub(super) phase: Phase,
    pub(super) opened: Opened,
    /// Bytes of bodies that may still come.
    pub(super) credit: u64,
    /// Bytes that were taken and not yet given back.
    pub(super) owed: u64,
    /// Requests without an answer.
    pub(super) requests: u64,
    pub(super) why: Option<Refused>,
}

impl ServerConnection {
    /// A connection on which nothing was said.
    pub fn new(terms: Arc<Terms>) -> Self {
        Self {
            credit: terms.body_window,
            terms,
            frames: Frames::default(),
            output: BytesMut::new(),
            phase: Phase::New,
            opened: Opened::default(),
            owed: 0,
            requests: 0,
            why: None,
        }
    }

    /// Takes bytes that came. Call [`ServerConnection::asked`] until it has nothing more before giving others.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.phase != Phase::Over {
            self.frames.put(bytes);
        }
    }

    /// Whether bytes should be read: not when the connection is over, nor while much is ready to be sent.
    pub fn wants_bytes(&self) -> bool {
        self.phase != Phase::Over && self.output.len() < MAX_OUTPUT
    }

    /// Bytes that are ready to be sent; whoever sends them takes them off the front.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Reason why the connection is over: close it once the output is sent.
    pub fn over(&self) -> Option<&Refused> {
        self.why.as_ref()
    }

    /// Bytes that came and are in no message yet.
    pub(crate) fn frames_buffered(&self) -> usize {
        self.frames.buffered()
    }

    /// Number of messages without an answer, requests included.
    pub fn unanswered(&self) -> u64 {
        self.opened.len() as u64 + self.requests
    }

    /// Takes bytes off the window.
    pub(super) fn spend(&mut self, bytes: u64) -> Option<()> {
        match self.credit.checked_sub(bytes) {
            Some(left) => {
                self.credit = left;
                Some(())
            }
            None => {
                self.reject(
                    Code::Limit,
                    "more bytes of bodies than there was credit for",
                );
                None
            }
        }
    }

    /// Tells the client that it may send bytes again: a quarter of the window at once.
    pub(super) fn give_back(&mut self, bytes: u64) {
        self.owed += bytes;
        if self.owed >= self.terms.body_window / 4 {
            let bytes = std::mem::take(&mut self.owed);
            self.credit += bytes;
            self.send(&FromServer::Credit { bytes });
        }
    }

    pub(super) fn send(&mut self, message: &FromServer) {
        if self.phase != Phase::Over {
            message.encode(&mut self.output);
        }
    }

    pub(super) fn send_refusal(&mut self, refused: Refused) {
        self.send(&FromServer::Refused(refused));
    }

    /// Refuses the connection as a whole: nothing that comes is read any more.
    pub fn reject(&mut self, code: Code, text: &str) {
        if self.phase == Phase::Over {
            return;
        }
        let refused = Refused::new(0, code, text);
        self.send_refusal(refused.clone());
        self.phase = Phase::Over;
        self.frames = Frames::default();
        self.why = Some(refused);
    }

    /// Refuses a message, or requests side by side.
    pub fn refuse(&mut self, refused: Refused) -> bool {
        if self.opened.remove(refused.number).is_none() {
            let count = u64::from(refused.count);
            if refused.number == 0 || count > self.requests {
                return false;
            }
            self.requests -= count;
        }
        self.send_refusal(refused);
        true
    }
}
