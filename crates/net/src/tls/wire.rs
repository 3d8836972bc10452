//! A connection that is read and written in turn by one task, with or without TLS.
//!
//! An idle connection holds no buffer of its own: what a read brings goes into one of the thread's.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, BufRead as _, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, BytesMut};
use rustls::{CommonState, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are read at once.
const CAME_BYTES: usize = 48 << 10;

thread_local! {
    static CAME: RefCell<Box<[u8]>> = RefCell::new(vec![0; CAME_BYTES].into());
}

/// Results of a [`Wire::turn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Bytes came, and were handed on.
    Came,
    /// All of the output was sent.
    Sent,
    /// The other side sends nothing more.
    Ended,
}

/// A socket, with TLS above it or in the clear.
pub struct Wire<S> {
    socket: S,
    tls: Option<Box<Connection>>,
    /// Whether something was written that the socket may still keep.
    unflushed: bool,
}

impl<S> std::fmt::Debug for Wire<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wire(tls: {})", self.tls.is_some())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// A socket that is protected otherwise, or is in memory.
    pub fn clear(socket: S) -> Self {
        Self {
            socket,
            tls: None,
            unflushed: false,
        }
    }

    /// A socket with a connection of either side of TLS, before its handshake.
    pub fn tls(socket: S, connection: Connection) -> Self {
        Self {
            socket,
            tls: Some(Box::new(connection)),
            unflushed: false,
        }
    }

    /// State of TLS, if there is TLS.
    pub fn connection(&self) -> Option<&CommonState> {
        self.tls.as_deref().map(|tls| &**tls)
    }

    /// Carries out the handshake. Where this side refuses, its alert is sent before the error comes back.
    ///
    /// # Errors
    /// [`io::Error`] of the socket, or with a [`rustls::Error`] in it.
    pub async fn handshake(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_handshake(cx)).await
    }

    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            // This side speaks first, whether or not the socket takes it now.
            let _ = self.poll_flush(cx, &mut BytesMut::new())?;
            let Some(tls) = self.tls.as_mut().filter(|tls| tls.is_handshaking()) else {
                break;
            };
            if !tls.wants_read() {
                return Poll::Pending;
            }
            let mut socket = Socket(&mut self.socket, cx);
            match tls.read_tls(&mut socket) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {
                    if let Err(error) = tls.process_new_packets() {
                        let _ = self.poll_flush(cx, &mut BytesMut::new());
                        return Poll::Ready(Err(io::Error::other(error)));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.poll_flush(cx, &mut BytesMut::new())
    }

    /// Sends `output`, taking off its front what was taken, and meanwhile, if `reads`, hands what comes to `take`. Comes back once bytes
    /// came, all of an output was sent, or the other side has ended. Nothing is lost where it is dropped before.
    ///
    /// # Errors
    /// [`io::Error`] of the socket, or with a [`rustls::Error`] in it.
    pub async fn turn(
        &mut self,
        output: &mut BytesMut,
        reads: bool,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> io::Result<Turn> {
        let sends = !output.is_empty();
        poll_fn(|cx| {
            let sent = self.poll_flush(cx, output)?;
            if reads && let Poll::Ready(turn) = self.poll_read(cx, take)? {
                return Poll::Ready(Ok(turn));
            }
            match sent {
                Poll::Ready(()) if sends => Poll::Ready(Ok(Turn::Sent)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    /// Tells the other side that nothing more comes, and sends all that is left.
    ///
    /// # Errors
    /// [`io::Error`] of the socket.
    pub async fn close(&mut self, output: &mut BytesMut) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx, output)).await?;
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        poll_fn(|cx| self.poll_flush(cx, &mut BytesMut::new())).await?;
        poll_fn(|cx| Pin::new(&mut self.socket).poll_shutdown(cx)).await
    }

    /// Writes what there is; ready once the socket has all of it.
    fn poll_flush(&mut self, cx: &mut Context<'_>, output: &mut BytesMut) -> Poll<io::Result<()>> {
        let mut socket = Socket(&mut self.socket, cx);
        let written = match &mut self.tls {
            Some(tls) => write_tls(tls, output, &mut socket),
            None => write_clear(output, &mut socket),
        };
        match written {
            Ok(false) => {}
            Ok(true) => self.unflushed = true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(error)),
        }
        if self.unflushed {
            std::task::ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Poll<io::Result<Turn>> {
        // The last read of the handshake may have brought more than the handshake.
        if self.tls.as_mut().is_some_and(|tls| hand_on(tls, take)) {
            return Poll::Ready(Ok(Turn::Came));
        }
        CAME.with_borrow_mut(|came| {
            loop {
                let mut buffer = ReadBuf::new(came);
                std::task::ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
                let Some(tls) = &mut self.tls else {
                    return Poll::Ready(Ok(match buffer.filled() {
                        [] => Turn::Ended,
                        bytes => {
                            take(bytes);
                            Turn::Came
                        }
                    }));
                };
                if buffer.filled().is_empty() {
                    // A connection that ends without its close is cut off.
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
                let (mut rest, mut turn) = (buffer.filled(), None);
                while !rest.is_empty() && turn != Some(Turn::Ended) {
                    tls.read_tls(&mut rest)?;
                    let read = tls.process_new_packets().map_err(io::Error::other);
                    let ended = read?.peer_has_closed();
                    turn = hand_on(tls, take).then_some(Turn::Came).or(turn);
                    if ended {
                        turn = turn.or(Some(Turn::Ended));
                        break;
                    }
                }
                if let Some(turn) = turn {
                    return Poll::Ready(Ok(turn));
                }
            }
        })
    }
}

/// Hands on what was decrypted.
fn hand_on(tls: &mut Connection, take: &mut (dyn FnMut(&[u8]) + Send)) -> bool {
    let mut any = false;
    let mut reader = tls.reader();
    while let Ok(bytes) = reader.fill_buf() {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        take(bytes);
        reader.consume(length);
        any = true;
    }
    any
}

/// Encrypts and writes; tells whether anything was written.
fn write_tls(
    tls: &mut Connection,
    output: &mut BytesMut,
    socket: &mut impl Write,
) -> io::Result<bool> {
    let mut any = false;
    loop {
        while tls.wants_write() {
            tls.write_tls(socket)?;
            any = true;
        }
        if output.is_empty() || tls.is_handshaking() {
            return Ok(any);
        }
        let taken = tls.writer().write(output)?;
        output.advance(taken);
    }
}

fn write_clear(output: &mut BytesMut, socket: &mut impl Write) -> io::Result<bool> {
    let any = !output.is_empty();
    while !output.is_empty() {
        match socket.write(output)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            taken => output.advance(taken),
        }
    }
    Ok(any)
}

/// A socket as rustls wants it: what would wait is an error of its kind, and the task is woken.
struct Socket<'a, 'b, S>(&'a mut S, &'a mut Context<'b>);

impl<S: AsyncRead + Unpin> Read for Socket<'_, '_, S> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(to);
        match Pin::new(&mut *self.0).poll_read(self.1, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<S: AsyncWrite + Unpin> Write for Socket<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Pin::new(&mut *self.0).poll_write(self.1, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
