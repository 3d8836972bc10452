//! TCP, in the clear or under TLS 1.3: one connection for each pair of parties.
//!
//! A send writes to the socket in the caller's thread and queues only what the socket does not take;
//! what arrives is read by a task of the surrounding tokio runtime. On a single-threaded runtime a
//! round thus costs one system call each way and one wake-up of the thread.
//!
//! `schema/WIRE.md` says how two parties meet, and the bytes of it.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context as TaskContext, Waker};

use bytes::{Bytes, BytesMut};
use madrigal_core::Party;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::records::{Records, consume};
use super::{Closing, Inbox, Packet, Transport};
use crate::frame::{self, Checked, FrameError};

/// Payloads up to this many bytes are copied behind their header; longer ones are queued as they
/// are.
const COPY_BYTES: usize = 4096;
/// Bytes asked of the socket at once.
const READ_BYTES: usize = 256 * 1024;

/// Connections to all other parties. Made by [`connect`](super::connect), in whose runtime its tasks
/// live: that must go on running until the session is closed.
#[derive(Debug)]
pub struct TcpTransport {
    me: Party,
    links: Vec<Arc<Connection>>,
    runtime: Handle,
}

/// A connection on which both sides have shown who they are.
pub(super) struct Met {
    pub(super) peer: Party,
    pub(super) stream: TcpStream,
    pub(super) tls: Option<rustls::Connection>,
    pub(super) early: BytesMut,
    /// Address at which the one of the two that is dialed is reached, as we know it.
    pub(super) meeting: String,
}

/// The connection to one party.
struct Connection {
    peer: Party,
    meeting: String,
    stream: TcpStream,
    checked: Checked,
    wire: Mutex<Wire>,
    /// Told when something was queued or the link is closing.
    work: Notify,
    closing: AtomicBool,
    inbox: OnceLock<Inbox>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connection(to {})", self.peer)
    }
}

struct Wire {
    queue: VecDeque<Bytes>,
    tls: Option<Records>,
    /// Plain bytes that the handshake has read already.
    early: BytesMut,
    /// Nothing can be written any more; what the peer said before it went may still be read.
    broken: bool,
    dead: bool,
    /// Nothing more can be read: the peer has closed its side, which it does when it has read all
    /// that we sent, or the connection is gone.
    ended: bool,
    /// Waker of the task that waits for us to be dead, or for the peer to have ended.
    closer: Option<Waker>,
}

impl TcpTransport {
    /// Called in the runtime that the streams belong to.
    pub(super) fn new(me: Party, met: Vec<Met>) -> Self {
        let links = met.into_iter().map(|met| {
            Arc::new(Connection {
                peer: met.peer,
                meeting: met.meeting,
                stream: met.stream,
                checked: match met.tls {
                    Some(_) => Checked::Header,
                    None => Checked::All,
                },
                wire: Mutex::new(Wire {
                    queue: VecDeque::new(),
                    tls: met.tls.map(Records::new),
                    early: met.early,
                    broken: false,
                    dead: false,
                    ended: false,
                    closer: None,
                }),
                work: Notify::new(),
                closing: AtomicBool::new(false),
                inbox: OnceLock::new(),
            })
        });
        Self {
            me,
            links: links.collect(),
            runtime: Handle::current(),
        }
    }
}

impl Transport for TcpTransport {
    fn attach(&self, inbox: Inbox) {
        for link in &self.links {
            let _ = link.inbox.set(inbox.clone());
            self.runtime.spawn(Arc::clone(link).read());
            self.runtime.spawn(Arc::clone(link).write());
        }
    }

    fn send(&self, to: Party, packet: Packet) {
        let link = &self.links[to.index() - usize::from(to > self.me)];
        let mut wire = link.lock();
        if wire.dead || wire.broken {
            return;
        }
        let idle = wire.queue.is_empty();
        wire.enqueue(packet, link.checked);
        if idle {
            link.push(&mut wire);
            if wire.pending() {
                link.work.notify_one();
            }
        }
    }

    fn meeting(&self, with: Party) -> Option<String> {
        let link = self.links.iter().find(|link| link.peer == with)?;
        Some(link.meeting.clone())
    }

    fn close(&self) {
        for link in &self.links {
            link.closing.store(true, Relaxed);
            link.work.notify_one();
        }
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        let mut closing = Closing::default();
        for link in &self.links {
            let mut wire = link.lock();
            if !wire.dead {
                closing.unsent += 1 + wire.queue.iter().map(Bytes::len).sum::<usize>();
            }
            if !wire.ended {
                closing.untold += 1;
            }
            wire.closer = Some(task.waker().clone());
        }
        closing
    }
}

impl Wire {
    fn enqueue(&mut self, packet: Packet, checked: Checked) {
        let mut small = BytesMut::new();
        for frame in packet.frames {
            small.extend_from_slice(&frame.encode_header(checked));
            if frame.payload.len() <= COPY_BYTES {
                small.extend_from_slice(&frame.payload);
            } else {
                self.queue.push_back(small.split().freeze());
                self.queue.push_back(frame.payload);
            }
        }
        if !small.is_empty() {
            self.queue.push_back(small.freeze());
        }
    }

    fn pending(&self) -> bool {
        let tls = || self.tls.as_ref().is_some_and(Records::pending);
        !self.broken && (!self.queue.is_empty() || tls())
    }

    /// Writes as much as the socket takes.
    fn write(&mut self, socket: &mut Nonblocking<'_>) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            return tls.write(&mut self.queue, socket);
        }
        while !self.queue.is_empty() {
            let mut slices = [IoSlice::new(&[]); 32];
            let mut count = 0;
            for (slice, bytes) in slices.iter_mut().zip(&self.queue) {
                *slice = IoSlice::new(bytes);
                count += 1;
            }
            let written = socket.0.try_write_vectored(&slices[..count])?;
            consume(&mut self.queue, written);
        }
        Ok(())
    }
}

impl Connection {
    fn lock(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what can be written now; a failure ends the link.
    fn push(&self, wire: &mut MutexGuard<'_, Wire>) {
        if wire.broken {
            return;
        }
        match wire.write(&mut Nonblocking(&self.stream)) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                // Messages that the peer sent before it went may still be on their way to us and tell more
                // than our failed write: the reader reports the end. TLS may still hold bytes, which
                // a broken socket is always ready to refuse.
                wire.broken = true;
                wire.queue.clear();
                self.work.notify_one();
            }
            _ => {}
        }
    }

    async fn write(self: Arc<Self>) {
        loop {
            let pending = {
                let mut wire = self.lock();
                if wire.dead {
                    break;
                }
                self.push(&mut wire);
                wire.pending()
            };
            if pending {
                if self.stream.writable().await.is_err() {
                    break;
                }
            } else if self.closing.load(Relaxed) {
                break;
            } else {
                self.work.notified().await;
            }
        }
        self.end();
    }

    /// Says goodbye to the socket, and lets whoever waits for the end go on.
    fn end(&self) {
        let closer = {
            let mut wire = self.lock();
            if let Some(tls) = &mut wire.tls {
                tls.end(&mut Nonblocking(&self.stream));
            }
            wire.dead = true;
            wire.closer.take()
        };
        let _ = socket2::SockRef::from(&self.stream).shutdown(std::net::Shutdown::Write);
        closer.into_iter().for_each(Waker::wake);
    }

    async fn read(self: Arc<Self>) {
        let Some(inbox) = self.inbox.get() else {
            return;
        };
        let mut buffer = std::mem::take(&mut self.lock().early);
        let mut spent = Spent::default();
        let mut sound = true;
        let outcome = loop {
            if !sound {
                // Nobody wants it; but what is left in the socket when it is closed makes the system
                // take back what we have sent, our reason with it.
                buffer.clear();
                buffer.reserve(READ_BYTES / 8);
            } else if let Err(problem) = self.deliver(inbox, &mut buffer, &mut spent) {
                inbox.damaged(self.peer, problem);
                sound = false;
                continue;
            }
            if let Err(error) = self.stream.readable().await {
                break Err(error);
            }
            match self.read_some(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => break Err(error),
            }
        };
        let reason = match outcome {
            Ok(()) if buffer.is_empty() => "it closed the connection".to_owned(),
            Ok(()) => format!(
                "it closed the connection in the middle of a frame ({} bytes of it came)",
                buffer.len()
            ),
            Err(error) => error.to_string(),
        };
        inbox.lost(self.peer, &reason);
        let closer = {
            let mut wire = self.lock();
            wire.queue.clear();
            wire.tls = None;
            wire.dead = true;
            wire.ended = true;
            wire.closer.take()
        };
        closer.into_iter().for_each(Waker::wake);
        self.work.notify_one();
    }

    /// Hands the frames in `buffer` to the session and makes room for the rest of the next one.
    fn deliver(
        &self,
        inbox: &Inbox,
        buffer: &mut BytesMut,
        spent: &mut Spent,
    ) -> Result<(), FrameError> {
        // The buffer has room for a part of a frame and READ_BYTES: what waits takes at most eight times
        // what it counts.
        let (frames, missing) = frame::decode_whole(buffer, READ_BYTES / 4, self.checked)?;
        if !frames.is_empty() {
            inbox.deliver_frames(self.peer, frames);
        }
        let rest = missing.unwrap_or(0);
        if buffer.capacity() - buffer.len() < rest.max(READ_BYTES / 4) {
            spent.make_room(buffer, rest.max(READ_BYTES));
        }
        Ok(())
    }

    /// Appends what the socket has to `buffer`; 0 bytes mean the end.
    fn read_some(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        let mut wire = self.lock();
        let Some(tls) = &mut wire.tls else {
            drop(wire);
            return self.stream.try_read_buf(buffer);
        };
        let came = tls.read(&mut Nonblocking(&self.stream), buffer)?;
        if tls.pending() {
            self.push(&mut wire);
        }
        Ok(came)
    }
}

/// Memory that was read into before, used again when nobody holds what came: new memory would have to be
/// paged in, which takes a quarter of the time of a copy from the socket.
#[derive(Default)]
struct Spent(VecDeque<BytesMut>);

/// Pieces of memory that are kept for a link.
const SPENT: usize = 2;

impl Spent {
    /// Makes room for `room` bytes more in `buffer`.
    fn make_room(&mut self, buffer: &mut BytesMut, room: usize) {
        if buffer.try_reclaim(room) {
            return;
        }
        let room = buffer.len() + room;
        let free = self.0.iter_mut().position(|old| old.try_reclaim(room));
        let mut next = match free.and_then(|at| self.0.remove(at)) {
            Some(free) => free,
            None => BytesMut::with_capacity(room),
        };
        next.extend_from_slice(buffer);
        buffer.clear();
        if self.0.len() == SPENT {
            self.0.pop_front();
        }
        self.0.push_back(std::mem::replace(buffer, next));
    }
}

/// The socket as rustls wants it: calls that do not wait.
pub(super) struct Nonblocking<'a>(pub(super) &'a TcpStream);

impl Read for Nonblocking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for Nonblocking<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that came are read by whoever holds them, while more come into the same few pieces of memory.
    #[test]
    fn memory_serves_again_when_nobody_holds_it() {
        let mut spent = Spent::default();
        let mut buffer = BytesMut::new();
        let mut held: VecDeque<(Bytes, u8)> = VecDeque::new();
        let mut places = std::collections::HashSet::new();
        for turn in 0..1000_usize {
            let (number, rest) = (turn as u8, turn % 7 * 100);
            spent.make_room(&mut buffer, 4096);
            assert!(buffer.capacity() >= buffer.len() + 4096);
            places.insert(buffer.as_ptr() as usize / 64);
            // A part of a message that is not whole yet stands in front.
            let before = buffer.len();
            buffer.extend_from_slice(&vec![number; 4096]);
            let whole = buffer.split_to(buffer.len() - rest).freeze();
            assert!(whole[before..].iter().all(|&byte| byte == number));
            held.push_back((whole.slice(before..), number));
            while held.len() > turn % 4 {
                let (message, number) = held.pop_front().expect("one at least");
                assert!(message.iter().all(|&byte| byte == number));
            }
            assert!(buffer.iter().all(|&byte| byte == number) && buffer.len() == rest);
            assert!(spent.0.len() <= SPENT);
        }
        assert!(places.len() < 500, "{} times new memory", places.len());
    }
}
