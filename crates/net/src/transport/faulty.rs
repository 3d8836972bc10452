//! A transport to which one [`Fault`] happens: for tests, and for whoever wants to see what his
//! program makes of it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context as TaskContext;

use bytes::Bytes;
use madrigal_core::{MAX_PARTIES, Party};

use super::dice::Dice;
use super::{Closing, Fault, FaultKind, Flood, Inbox, Packet, Transport};
use crate::control::{Control, Message, OpenJob};
use crate::frame::{Frame, FrameKind, Header, MAX_PAYLOAD};

/// One party's end of a session to which a [`Fault`] happens.
///
/// Damage to bytes (Corrupt, Truncate and the floods that are no frames) is handed to the other
/// party's inbox directly: it needs both parties in one process. All else works with any transport.
#[derive(Debug)]
pub struct Faulty<T: Transport> {
    inner: T,
    me: Party,
    scene: Arc<Scene>,
    /// Packets sent to each party so far.
    counts: Vec<AtomicU32>,
    /// Parties, as bits, to and from whom nothing passes any more.
    shut: Arc<AtomicU64>,
    held: Mutex<Held>,
}

/// State that the ends of one session in this process share.
#[derive(Debug)]
struct Scene {
    fault: Fault,
    fired: AtomicBool,
    ends: Mutex<Vec<End>>,
}

#[derive(Debug, Default)]
struct End {
    inbox: Option<Inbox>,
    /// Came before the inbox.
    early: Vec<(Party, Bytes)>,
}

/// A packet held back until some more have left.
#[derive(Debug, Default)]
struct Held {
    packet: Option<(Party, Packet)>,
    until: u32,
}

impl<T: Transport> Faulty<T> {
    /// The transports of all parties of one session, in order; `fault` will happen to it.
    pub fn all(transports: Vec<T>, fault: Fault) -> Vec<Self> {
        let scene = Arc::new(Scene::new(fault));
        let wrap = |(me, inner)| Self::with_scene(inner, me, Arc::clone(&scene));
        Party::all(transports.len())
            .zip(transports)
            .map(wrap)
            .collect()
    }

    /// The transport of party `me` alone, whose peers are in other processes.
    pub fn one(inner: T, me: Party, fault: Fault) -> Self {
        Self::with_scene(inner, me, Arc::new(Scene::new(fault)))
    }

    fn with_scene(inner: T, me: Party, scene: Arc<Scene>) -> Self {
        Self {
            inner,
            me,
            scene,
            counts: (0..MAX_PARTIES).map(|_| AtomicU32::new(0)).collect(),
            shut: Arc::default(),
            held: Mutex::default(),
        }
    }

    /// Tells whether the fault has happened, also after the transport has gone into a session.
    pub fn fired(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let scene = Arc::clone(&self.scene);
        move || scene.fired.load(Relaxed)
    }

    fn happen(&self, to: Party, mut packet: Packet) {
        let Fault { kind, seed, .. } = self.scene.fault;
        self.scene.fired.store(true, Relaxed);
        let mut dice = Dice::new(seed, 2);
        match kind {
            FaultKind::Kill => {
                self.shut.store(u64::MAX, Relaxed);
                self.inner.close();
                // Our own program ends too; nobody hears of it but through the connections.
                self.scene
                    .lost(self.me, to, "this party was killed on purpose");
            }
            FaultKind::Stall => self.shut.store(u64::MAX, Relaxed),
            FaultKind::Cut { noticed } => {
                if noticed {
                    let reason = "the link was cut on purpose";
                    self.scene.lost(self.me, to, reason);
                    self.scene.lost(to, self.me, reason);
                }
                self.shut.fetch_or(1 << to.index(), Relaxed);
            }
            FaultKind::Corrupt => {
                let mut bytes = packet.to_bytes();
                for _ in 0..=dice.below(8) {
                    let at = dice.below(bytes.len());
                    bytes[at] ^= 1 << dice.below(8);
                }
                self.scene.deliver(self.me, to, bytes);
            }
            FaultKind::Truncate => {
                let mut bytes = packet.to_bytes();
                bytes.truncate(dice.below(bytes.len()));
                self.scene.deliver(self.me, to, bytes);
            }
            FaultKind::Duplicate => {
                self.inner.send(to, packet.clone());
                self.inner.send(to, packet);
            }
            FaultKind::Reorder => {
                packet.frames.reverse();
                let mut held = self.held();
                held.until = self.scene.fault.at + 1 + dice.below(2) as u32;
                held.packet = Some((to, packet));
            }
            FaultKind::Flood(flood) => {
                self.flood(flood, to, &packet, &mut dice);
                self.inner.send(to, packet);
            }
        }
    }

    fn flood(&self, flood: Flood, to: Party, packet: &Packet, dice: &mut Dice) {
        // A step that the other party knows, if this packet has one.
        let known = packet
            .frames
            .iter()
            .find(|f| f.header.kind == FrameKind::Data);
        let known = known.map_or_else(|| header(FrameKind::Data, dice), |frame| frame.header);
        let frames: Vec<Frame> = match flood {
            Flood::Bytes => {
                for _ in 0..1000 {
                    let mut bytes = vec![0; dice.below(2000)];
                    dice.fill(&mut bytes);
                    self.scene.deliver(self.me, to, bytes);
                }
                return;
            }
            Flood::Lengths => {
                for _ in 0..1000 {
                    let frame = frame(known, vec![0; 8]);
                    let mut bytes = Vec::new();
                    frame.encode_to(&mut bytes);
                    bytes[4..8].copy_from_slice(&(dice.next() as u32 | 1 << 31).to_le_bytes());
                    self.scene.deliver(self.me, to, bytes);
                }
                return;
            }
            Flood::Steps => (0..20_000)
                .map(|_| frame(header(FrameKind::Data, dice), vec![7; dice.below(20)]))
                .collect(),
            Flood::Window => {
                let payload = Bytes::from(vec![7; MAX_PAYLOAD]);
                let next = |i| Header {
                    sequence: known.sequence.wrapping_add(1 + i),
                    last: false,
                    ..known
                };
                (0..40u32)
                    .map(|i| Frame {
                        header: next(i),
                        payload: payload.clone(),
                    })
                    .collect()
            }
            Flood::Ahead => (0..1000)
                .map(|_| {
                    let sequence = known
                        .sequence
                        .wrapping_add(1 << 20 | dice.next() as u32 >> 1);
                    frame(Header { sequence, ..known }, vec![7; 10])
                })
                .collect(),
            Flood::Parts => (1..200_000)
                .map(|i| {
                    let sequence = known.sequence.wrapping_add(i);
                    let last = false;
                    let header = Header {
                        sequence,
                        last,
                        ..known
                    };
                    frame(header, vec![])
                })
                .collect(),
            Flood::Credits => (0..1000)
                .map(|_| {
                    let kind = FrameKind::Credit;
                    let credit = dice.next() | 1 << 40;
                    frame(Header { kind, ..known }, credit.to_le_bytes().to_vec())
                })
                .collect(),
            Flood::Jobs => (0..10_000)
                .map(|_| {
                    let message = Message::OpenJob(OpenJob {
                        facts: vec![],
                        identity: vec![0; 32],
                    });
                    let header = header(FrameKind::Control, dice);
                    frame(header, Control::new(message).to_bytes().to_vec())
                })
                .collect(),
            Flood::Control => (0..1000)
                .map(|_| {
                    let mut bytes = vec![0; 1 + dice.below(200)];
                    dice.fill(&mut bytes);
                    frame(header(FrameKind::Control, dice), bytes)
                })
                .collect(),
        };
        for part in frames.chunks(1000) {
            let frames = part.to_vec();
            self.inner.send(to, Packet { frames });
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self) {
        let held = self.held().packet.take();
        if let Some((to, packet)) = held {
            self.inner.send(to, packet);
        }
    }
}

/// An address that nobody knows.
fn header(kind: FrameKind, dice: &mut Dice) -> Header {
    Header {
        kind,
        last: true,
        job: 2 + dice.below(1 << 20) as u32,
        step: dice.next(),
        sequence: 0,
        round: 1,
    }
}

fn frame(header: Header, payload: Vec<u8>) -> Frame {
    Frame {
        header,
        payload: payload.into(),
    }
}

impl Scene {
    fn new(fault: Fault) -> Self {
        Self {
            fault,
            fired: AtomicBool::new(false),
            ends: Mutex::new((0..MAX_PARTIES).map(|_| End::default()).collect()),
        }
    }

    fn ends(&self) -> MutexGuard<'_, Vec<End>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbox(&self, of: Party) -> Option<Inbox> {
        self.ends()[of.index()].inbox.clone()
    }

    /// Tells `party`, if it is here, that `peer` is lost.
    fn lost(&self, party: Party, peer: Party, reason: &str) {
        if let Some(inbox) = self.inbox(party) {
            inbox.lost(peer, reason);
        }
    }

    fn deliver(&self, from: Party, to: Party, bytes: Vec<u8>) {
        let inbox = {
            let end = &mut self.ends()[to.index()];
            if end.inbox.is_none() {
                end.early.push((from, bytes.into()));
                return;
            }
            end.inbox.clone()
        };
        if let Some(inbox) = inbox {
            inbox.deliver(from, bytes.into());
        }
    }
}

impl<T: Transport> Transport for Faulty<T> {
    fn attach(&self, inbox: Inbox) {
        let shut = Arc::clone(&self.shut);
        let gated = inbox.with_gate(move |from| shut.load(Relaxed) >> from.index() & 1 == 0);
        let early = {
            let end = &mut self.scene.ends()[self.me.index()];
            // Messages that we tell our own party ourselves pass the gate.
            end.inbox = Some(inbox.clone());
            std::mem::take(&mut end.early)
        };
        self.inner.attach(gated);
        for (from, bytes) in early {
            inbox.deliver(from, bytes);
        }
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.inner.meeting(with)
    }

    fn send(&self, to: Party, packet: Packet) {
        if self.shut.load(Relaxed) >> to.index() & 1 == 1 {
            return;
        }
        let number = self.counts[to.index()].fetch_add(1, Relaxed);
        let fault = &self.scene.fault;
        let ours = self.me == fault.party && to == fault.peer;
        if ours && number == fault.at {
            return self.happen(to, packet);
        }
        self.inner.send(to, packet);
        if ours && fault.kind == FaultKind::Reorder && number >= self.held().until {
            self.release();
        }
    }

    fn close(&self) {
        if self.shut.load(Relaxed) != u64::MAX {
            self.release();
        }
        self.inner.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        self.inner.closing(task)
    }
}
