//! The stream in the messages.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures_util::{Sink as _, Stream as _};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Bytes of a message that is sent, at most.
const SENT: usize = 64 << 10;

/// A stream of bytes: the contents of binary messages, one after the other.
pub struct Tunnel<S> {
    socket: WebSocketStream<S>,
    /// Bytes of the last message that nobody has read yet.
    came: Bytes,
    ended: bool,
}

impl<S> std::fmt::Debug for Tunnel<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tunnel")
    }
}

impl<S> Tunnel<S> {
    pub(crate) fn new(socket: WebSocketStream<S>) -> Self {
        Self {
            socket,
            came: Bytes::new(),
            ended: false,
        }
    }
}

fn of_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => io::ErrorKind::BrokenPipe.into(),
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Tunnel<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.came.is_empty() {
            if self.ended {
                return Poll::Ready(Ok(()));
            }
            match ready!(Pin::new(&mut self.socket).poll_next(task)) {
                Some(Ok(Message::Binary(bytes))) => self.came = bytes,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => self.ended = true,
                Some(Ok(Message::Text(_))) => {
                    let what = "a text message where bytes were expected";
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, what)));
                }
                // The end without a farewell: TLS inside says whether something is missing.
                Some(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => self.ended = true,
                Some(Err(error)) => {
                    self.ended = true;
                    return Poll::Ready(Err(of_io(error)));
                }
            }
        }
        let count = self.came.len().min(into.remaining());
        into.put_slice(&self.came[..count]);
        self.came.advance(count);
        if self.came.is_empty() {
            // A long message is not kept for a connection that idles.
            self.came = Bytes::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Tunnel<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(Pin::new(&mut self.socket).poll_ready(task)).map_err(of_io)?;
        let count = bytes.len().min(SENT);
        let message = Message::Binary(Bytes::copy_from_slice(&bytes[..count]));
        let sent = Pin::new(&mut self.socket).start_send(message);
        sent.map_err(of_io)?;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(task).map_err(of_io)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.socket).poll_close(task)) {
            Ok(()) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(of_io(error))),
        }
    }
}
