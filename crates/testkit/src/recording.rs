//! What one party receives, kept: for tests that it does not depend on the others' inputs.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll};

use madrigal_core::Party;
use madrigal_net::frame::{Frame, Kind};
use madrigal_net::transport::{Inbox, Packet, Transport};

/// Payloads of all data frames that go to one party, in the order of their channels and places.
#[derive(Clone, Debug)]
pub struct Transcript {
    to: Party,
    frames: Arc<Mutex<Vec<(Party, Frame)>>>,
}

/// A transport that keeps what is sent over it to one party.
#[derive(Debug)]
pub struct Recording<T: Transport> {
    inner: T,
    me: Party,
    transcript: Transcript,
}

impl Transcript {
    /// Wraps the transports of all parties so that what they send to `to` is kept.
    pub fn of<T: Transport>(to: Party, transports: Vec<T>) -> (Self, Vec<Recording<T>>) {
        let transcript = Self {
            to,
            frames: Arc::default(),
        };
        let wrapped = transports
            .into_iter()
            .enumerate()
            .map(|(me, inner)| Recording {
                inner,
                me: Party::new(me),
                transcript: transcript.clone(),
            })
            .collect();
        (transcript, wrapped)
    }

    /// The payload bytes, sorted by sender, job, step and place, so that runs can be compared byte
    /// by byte.
    pub fn bytes(&self) -> Vec<u8> {
        let mut frames = self
            .frames
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        frames.sort_by_key(|(from, Frame { header, .. })| {
            (*from, header.job, header.step, header.sequence)
        });
        frames
            .iter()
            .flat_map(|(_, frame)| frame.payload.iter().copied())
            .collect()
    }
}

impl<T: Transport> Transport for Recording<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn send(&self, to: Party, packet: Packet) {
        if to == self.transcript.to {
            let data = packet
                .frames
                .iter()
                .filter(|frame| frame.header.kind == Kind::Data)
                .map(|frame| (self.me, frame.clone()));
            self.transcript
                .frames
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(data);
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn poll_closed(&self, task: &mut TaskContext<'_>) -> Poll<()> {
        self.inner.poll_closed(task)
    }
}
