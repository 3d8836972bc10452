//! One connection to a party: bytes that wait for its socket, what writes them, and what reads it.

use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use madrigal_core::Party;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::queue::Queue;
use super::records::{CAME_BYTES, Records};
use super::spent::Spent;
use super::{Closing, Inbox, Packet};
use crate::frame::{self, Checked, FrameError};

/// Payloads up to this many bytes are copied behind their header; longer ones are queued as they
/// are.
const COPY_BYTES: usize = 4096;
/// Bytes asked of the socket at once.
const READ_BYTES: usize = 256 * 1024;

/// A connection on which both sides have shown who they are.
pub(super) struct Met {
    pub(super) stream: TcpStream,
    pub(super) tls: Option<rustls::Connection>,
    pub(super) early: BytesMut,
}

impl Met {
    /// Whether the other side has closed its side, or the connection is gone, as far as the system knows by now.
    pub(super) fn is_cut(&self) -> bool {
        match self.stream.ready(Interest::READABLE).now_or_never() {
            Some(Ok(ready)) => ready.is_read_closed(),
            Some(Err(_)) => true,
            None => false,
        }
    }
}

/// A connection that frames travel on.
pub(super) struct Connection {
    stream: TcpStream,
    checked: Checked,
    wire: Mutex<Wire>,
    /// Bytes in the queue when the lock was last given back.
    queued: AtomicUsize,
    /// Bytes that have come, under TLS as cipher text.
    came: AtomicU64,
    /// Told when something was queued or the connection is closing.
    work: Notify,
    closing: AtomicBool,
}

struct Wire {
    queue: Queue,
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

/// Gives the bytes of a packet, in pieces.
pub(super) fn pieces(packet: Packet, checked: Checked) -> Vec<Bytes> {
    let mut pieces = Vec::with_capacity(1);
    let mut small = BytesMut::new();
    for frame in packet.frames {
        small.extend_from_slice(&frame.encode_header(checked));
        if frame.payload.len() <= COPY_BYTES {
            small.extend_from_slice(&frame.payload);
        } else {
            pieces.push(small.split().freeze());
            pieces.push(frame.payload);
        }
    }
    if !small.is_empty() {
        pieces.push(small.freeze());
    }
    pieces
}

impl Wire {
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
            let count = self.queue.fill(&mut slices, usize::MAX);
            let written = socket.0.try_write_vectored(&slices[..count])?;
            self.queue.consume(written);
        }
        Ok(())
    }
}

impl Connection {
    pub(super) fn new(met: Met) -> Self {
        Self {
            stream: met.stream,
            checked: match met.tls {
                Some(_) => Checked::Header,
                None => Checked::All,
            },
            wire: Mutex::new(Wire {
                queue: Queue::default(),
                tls: met.tls.map(Records::new),
                early: met.early,
                broken: false,
                dead: false,
                ended: false,
                closer: None,
            }),
            queued: AtomicUsize::new(0),
            came: AtomicU64::new(0),
            work: Notify::new(),
            closing: AtomicBool::new(false),
        }
    }

    /// Part of a frame that its checksum is of here.
    pub(super) fn checked(&self) -> Checked {
        self.checked
    }

    /// Bytes that wait, as they were a moment ago.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Relaxed)
    }

    /// Bytes that have come so far.
    pub(super) fn came(&self) -> u64 {
        self.came.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends if nobody is at it and nothing waits; gives the pieces back else.
    pub(super) fn try_send(&self, pieces: Vec<Bytes>) -> Result<(), Vec<Bytes>> {
        let wire = match self.wire.try_lock() {
            Ok(wire) => wire,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(pieces),
        };
        if wire.pending() {
            return Err(pieces);
        }
        self.send_on(wire, pieces);
        Ok(())
    }

    /// Sends, behind all that waits.
    pub(super) fn send(&self, pieces: Vec<Bytes>) {
        self.send_on(self.lock(), pieces);
    }

    fn send_on(&self, mut wire: MutexGuard<'_, Wire>, pieces: Vec<Bytes>) {
        if wire.dead || wire.broken {
            return;
        }
        let idle = wire.queue.is_empty();
        wire.queue.extend(pieces);
        if idle {
            self.push(&mut wire);
            if wire.pending() {
                self.work.notify_one();
            }
        } else {
            self.queued.store(wire.queue.bytes(), Relaxed);
        }
    }

    /// Writes what can be written now; a failure ends the connection.
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
        self.queued.store(wire.queue.bytes(), Relaxed);
    }

    /// Ends our direction once everything queued has left.
    pub(super) fn close(&self) {
        self.closing.store(true, Relaxed);
        self.work.notify_one();
    }

    /// Adds the work that is left before this connection is closed, and notes who waits for the end of it.
    pub(super) fn closing(&self, closing: &mut Closing, waker: &Waker) {
        let mut wire = self.lock();
        if !wire.dead {
            closing.unsent += 1 + wire.queue.bytes();
        }
        if !wire.ended {
            closing.untold += 1;
        }
        wire.closer = Some(waker.clone());
    }

    /// Writes what is queued, until the connection is closed.
    pub(super) async fn write(&self) {
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
        self.say_goodbye();
    }

    /// Says goodbye to the socket, and lets whoever waits for the end go on.
    fn say_goodbye(&self) {
        let closer = {
            let mut wire = self.lock();
            if let Some(tls) = &mut wire.tls {
                tls.end(&mut Nonblocking(&self.stream));
            }
            wire.dead = true;
            wire.closer.take()
        };
        self.shut(Shutdown::Write);
        closer.into_iter().for_each(Waker::wake);
    }

    /// Ends both directions now: what has come can still be read, and nothing after it.
    pub(super) fn cut(&self) {
        self.shut(Shutdown::Both);
    }

    fn shut(&self, how: Shutdown) {
        let _ = socket2::SockRef::from(&self.stream).shutdown(how);
    }

    /// Hands what comes from `peer` to `inbox`, until nothing comes any more; gives the reason.
    pub(super) async fn read(&self, peer: Party, inbox: &Inbox) -> String {
        let mut buffer = std::mem::take(&mut self.lock().early);
        let mut spent = Spent::default();
        // Room for cipher text: whoever sends is not held up while the socket is read.
        let mut came = match self.checked {
            Checked::Header => vec![0; CAME_BYTES],
            Checked::All => Vec::new(),
        };
        let mut sound = true;
        let outcome = loop {
            if !sound {
                // Nobody wants it; but what is left in the socket when it is closed makes the system
                // take back what we have sent, our reason with it.
                buffer.clear();
                buffer.reserve(READ_BYTES / 8);
            } else if let Err(problem) = self.deliver(peer, inbox, &mut buffer, &mut spent) {
                inbox.damaged(peer, problem);
                sound = false;
                continue;
            }
            if let Err(error) = self.stream.readable().await {
                break Err(error);
            }
            match self.read_some(&mut came, &mut buffer) {
                Ok(0) => break Ok(()),
                Ok(came) => {
                    self.came.fetch_add(came as u64, Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => break Err(error),
            }
        };
        match outcome {
            Ok(()) if buffer.is_empty() => "it closed the connection".to_owned(),
            Ok(()) => format!(
                "it closed the connection in the middle of a frame ({} bytes of it came)",
                buffer.len()
            ),
            Err(error) => error.to_string(),
        }
    }

    /// Nothing comes any more, and so nothing is sent any more.
    pub(super) fn end(&self) {
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
        peer: Party,
        inbox: &Inbox,
        buffer: &mut BytesMut,
        spent: &mut Spent,
    ) -> Result<(), FrameError> {
        // The buffer has room for a part of a frame and READ_BYTES: what waits takes at most eight times
        // what it counts.
        let (frames, missing) = frame::decode_whole(buffer, READ_BYTES / 4, self.checked)?;
        if !frames.is_empty() {
            inbox.deliver_frames(peer, frames);
        }
        let rest = missing.unwrap_or(0);
        if buffer.capacity() - buffer.len() < rest.max(READ_BYTES / 4) {
            spent.make_room(buffer, rest.max(READ_BYTES));
        }
        Ok(())
    }

    /// Appends what the socket has to `buffer`, through `came` if it is cipher text; 0 bytes mean the end.
    fn read_some(&self, came: &mut [u8], buffer: &mut BytesMut) -> io::Result<usize> {
        if self.checked == Checked::All {
            return self.stream.try_read_buf(buffer);
        }
        let length = self.stream.try_read(came)?;
        let mut wire = self.lock();
        let Some(tls) = &mut wire.tls else {
            return Ok(0);
        };
        let came = tls.read(&came[..length], buffer)?;
        if tls.pending() {
            self.push(&mut wire);
        }
        Ok(came)
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
