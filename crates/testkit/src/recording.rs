//! Records what one party receives: for tests that it does not depend on the others' inputs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context as TaskContext;

use madrigal_core::Party;
use madrigal_net::frame::{Frame, FrameKind, Header};
use madrigal_net::transport::{Closing, Inbox, Packet, Transport};

/// Payloads of all data frames that go to one party, in the order of their channels and places.
#[derive(Clone, Debug)]
pub struct Transcript {
    to: Party,
    frames: Arc<Mutex<Vec<(Party, Frame)>>>,
    /// Frames that the party itself sends to one of its peers.
    own: Arc<Mutex<Vec<(Party, Frame)>>>,
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
            own: Arc::default(),
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
        sorted(&self.frames)
            .iter()
            .flat_map(|(_, frame)| frame.payload.iter().copied())
            .collect()
    }

    /// The payloads by sender, step and place in the step: for runs that a fault may end anywhere.
    pub fn places(&self) -> BTreeMap<(Party, u64, u32), Vec<u8>> {
        let place = |(from, Frame { header, payload }): &(Party, Frame)| {
            ((*from, header.step, header.sequence), payload.to_vec())
        };
        sorted(&self.frames).iter().map(place).collect()
    }

    /// The payload that came last, if any came.
    pub fn last(&self) -> Option<Vec<u8>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.last().map(|(_, frame)| frame.payload.to_vec())
    }

    /// Gives the values that the party can compute from what it receives and sends, where each party sends its share
    /// to each: the sums that are opened, and the differences of those that follow each other in a
    /// step. A mask that is used twice shows in these, and not in any single message.
    pub fn sums(&self) -> Vec<u8> {
        let received = sorted(&self.frames);
        let xor = |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
        let place = |frame: &Frame| {
            let Header {
                job,
                step,
                sequence,
                ..
            } = frame.header;
            (job, step, sequence)
        };
        let mut at: BTreeMap<_, Vec<&Frame>> = BTreeMap::new();
        for (_, frame) in &received {
            at.entry(place(frame)).or_default().push(frame);
        }
        let mut sums = Vec::new();
        let mut last: Option<(u64, Vec<u8>)> = None;
        for (_, own) in sorted(&self.own) {
            let theirs = at.get(&place(&own)).into_iter().flatten();
            let sum = theirs.fold(own.payload.to_vec(), |sum, frame| xor(&sum, &frame.payload));
            if let Some((step, before)) = &last
                && *step == own.header.step
            {
                sums.extend(xor(before, &sum));
            }
            sums.extend(&sum);
            last = Some((own.header.step, sum));
        }
        sums
    }
}

fn sorted(frames: &Mutex<Vec<(Party, Frame)>>) -> Vec<(Party, Frame)> {
    let mut frames = frames
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    frames.sort_by_key(|(from, Frame { header, .. })| {
        (*from, header.job, header.step, header.sequence)
    });
    frames
}

impl<T: Transport> Transport for Recording<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.inner.meeting(with)
    }

    fn send(&self, to: Party, packet: Packet) {
        let Transcript {
            to: whose,
            frames,
            own,
        } = &self.transcript;
        let first = Party::new(usize::from(whose.index() == 0));
        let kept = match (self.me == *whose, to == *whose) {
            (_, true) => Some(frames),
            (true, _) if to == first => Some(own),
            _ => None,
        };
        if let Some(kept) = kept {
            let data = packet
                .frames
                .iter()
                .filter(|frame| frame.header.kind == FrameKind::Data)
                .map(|frame| (self.me, frame.clone()));
            kept.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(data);
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        self.inner.closing(task)
    }
}
