//! A connection of a client: bytes in, wishes to the desk, answers, bytes out. A connection on which nothing happens keeps no buffers.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Buf as _;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use madrigal_intake::{Answers, Finished, OutputPiece, Refused, ServerConnection, Signed, State};
use madrigal_net::fingerprint::Fingerprint;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use tracing::debug;

use super::{Desk, Visitor};

/// Bytes that are read at once.
const READ: usize = 16 << 10;
/// Reads in a row before others have their turn.
const TURN: usize = 16;

/// Answers of the desk, which the connection's machine checks again.
#[derive(Debug)]
pub(crate) enum Reply {
    Begun { number: u64, offset: u64 },
    Accepted { number: u64, receipt: Signed },
    /// Bytes of a body are no longer in memory.
    Taken(u64),
    State { number: u64, state: State },
    Finished(Finished),
    Piece(OutputPiece),
    Answers(Answers),
    Refused(Refused),
}

/// Answers that are on their way.
pub(crate) type Pending = FuturesUnordered<BoxFuture<'static, Vec<Reply>>>;

/// What a connection waited for.
enum Happened {
    /// Bytes came or went, or an answer is there.
    Progress,
    /// The other side has closed its side, or the line broke.
    Gone,
    /// Nothing came for too long.
    Idle,
}

/// Serves a client whose key, if any, the connection has proved, until either side ends it. `introduction` is the time it has to greet.
pub(crate) async fn serve<S>(
    desk: &Arc<Desk>,
    mut stream: S,
    key: Option<Fingerprint>,
    introduction: Duration,
    idle: Duration,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = ServerConnection::new(desk.terms());
    let mut pending = Pending::new();
    let mut visitor = Visitor::new(key);
    let mut deadline = Box::pin(sleep_until(Instant::now() + introduction));
    let mut seen = false;
    loop {
        while let Some(asked) = connection.asked() {
            desk.take(asked, &mut visitor, &mut connection, &mut pending);
        }
        if connection.over().is_some() && connection.output().is_empty() {
            break;
        }
        let step = poll_fn(|context| {
            poll(
                context,
                &mut stream,
                &mut connection,
                &mut pending,
                deadline.as_mut(),
            )
        });
        match step.await {
            Happened::Progress => {
                if visitor.is_greeted() {
                    // Whoever waits for an answer is not idle.
                    let end = Instant::now() + idle;
                    if !seen || deadline.deadline() + idle / 8 < end {
                        deadline.as_mut().reset(end);
                    }
                    seen = true;
                }
            }
            Happened::Idle if visitor.is_greeted() && !pending.is_empty() => {
                deadline.as_mut().reset(Instant::now() + idle);
            }
            Happened::Idle => {
                desk.meters.refuse("idle");
                break;
            }
            Happened::Gone => break,
        }
    }
    if let Some(why) = connection.over() {
        debug!(code = %why.code, why = why.text, "a client's connection was refused");
        desk.meters.refuse("connection");
    }
    // The other side hears that this is the end and no cut.
    let _ = tokio::time::timeout(
        Duration::from_secs(1),
        poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)),
    )
    .await;
}

/// Does what can be done now: sends, reads, takes answers.
fn poll<S>(
    context: &mut Context<'_>,
    stream: &mut S,
    connection: &mut ServerConnection,
    pending: &mut Pending,
    deadline: Pin<&mut Sleep>,
) -> Poll<Happened>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut progress = false;
    while let Poll::Ready(Some(replies)) = pending.poll_next_unpin(context) {
        for reply in replies {
            apply(reply, connection);
        }
        progress = true;
    }
    let mut wrote = false;
    while !connection.output().is_empty() {
        match Pin::new(&mut *stream).poll_write(context, connection.output()) {
            Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Happened::Gone),
            Poll::Ready(Ok(count)) => {
                connection.output().advance(count);
                (progress, wrote) = (true, true);
            }
            Poll::Pending => break,
        }
    }
    if wrote && let Poll::Ready(Err(_)) = Pin::new(&mut *stream).poll_flush(context) {
        return Poll::Ready(Happened::Gone);
    }
    let mut bytes = [0; READ];
    for _ in 0..TURN {
        if !connection.wants_bytes() {
            break;
        }
        let mut buffer = ReadBuf::new(&mut bytes);
        match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                return Poll::Ready(Happened::Gone);
            }
            Poll::Ready(Ok(())) => {
                let short = buffer.filled().len() < READ;
                connection.receive(buffer.filled());
                progress = true;
                if short {
                    break;
                }
            }
            Poll::Ready(Err(_)) => return Poll::Ready(Happened::Gone),
            Poll::Pending => break,
        }
    }
    if progress {
        return Poll::Ready(Happened::Progress);
    }
    match deadline.poll(context) {
        Poll::Ready(()) => Poll::Ready(Happened::Idle),
        Poll::Pending => Poll::Pending,
    }
}

/// Hands an answer to the machine. An answer to what the client has taken back goes nowhere.
fn apply(reply: Reply, connection: &mut ServerConnection) {
    let _ = match reply {
        Reply::Begun { number, offset } => connection.begun(number, offset),
        Reply::Accepted { number, receipt } => connection.accepted(number, receipt),
        Reply::Taken(bytes) => {
            connection.taken(bytes);
            true
        }
        Reply::State { number, state } => connection.state(number, state),
        Reply::Finished(finished) => connection.finished(finished),
        Reply::Piece(piece) => connection.output_piece(piece),
        Reply::Answers(answers) => connection.answers(answers),
        Reply::Refused(refused) => connection.refuse(refused),
    };
}
