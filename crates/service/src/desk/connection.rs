//! A connection of a client: bytes in, wishes to the desk, answers, bytes out. A connection on which nothing happens keeps no buffers.

use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::StreamExt as _;
use madrigal_intake::limits::MAX_OUTPUT;
use madrigal_intake::{Code, ServerConnection};
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::tls::{Turn, Wire};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::debug;

use super::office::Desk;
use super::reply::{Pending, Reply};
use super::visitor::{Asking, Visitor};
use crate::requests::Told;

/// Serves a client whose key, if any, the connection has proved, until either side ends it. `introduction` is the time it has to greet.
pub(crate) async fn serve<S>(
    desk: &Arc<Desk>,
    mut wire: Wire<S>,
    key: Option<Fingerprint>,
    introduction: Duration,
    idle: Duration,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut changes = desk.changes();
    let offer = Arc::clone(&changes.borrow_and_update());
    let mut connection = ServerConnection::new(offer.terms());
    let mut pending = Pending::new();
    let mut visitor = Visitor::new(key, offer);
    let mut deadline = Box::pin(sleep_until(Instant::now() + introduction));
    loop {
        while let Some(asked) = connection.asked() {
            desk.take(asked, &mut visitor, &mut connection, &mut pending);
        }
        let is_over = connection.over().is_some();
        if is_over && connection.output().is_empty() {
            break;
        }
        let reads = connection.wants_bytes();
        // A client that reads nothing gets no answers that would pile up.
        let room = connection.output().len() < MAX_OUTPUT;
        let mut output = mem::take(connection.output());
        let turned = {
            let mut take = |bytes: &[u8]| connection.receive(bytes);
            tokio::select! {
                Some(replies) = pending.next(), if room && !pending.is_empty() => Happened::Answered(replies),
                Some(told) = told(&mut visitor.asking), if room => Happened::Told(told),
                turn = wire.turn(&mut output, reads, &mut take) => Happened::Turned(turn),
                // The desk outlives its connections.
                Ok(()) = changes.changed() => Happened::Changed,
                () = deadline.as_mut() => Happened::Late,
            }
        };
        // Nothing was put there meanwhile.
        *connection.output() = output;
        match turned {
            Happened::Answered(replies) => {
                for reply in replies {
                    reply.answers().inspect(|&number| visitor.answered(number));
                    reply.apply(&mut connection);
                }
            }
            Happened::Told(told) => {
                pass_on(told, &mut connection);
                // All that are there go into one write.
                while let Some(told) = visitor.asking.as_mut().and_then(Asking::told_now) {
                    pass_on(told, &mut connection);
                }
            }
            Happened::Changed => {
                let offer = Arc::clone(&changes.borrow_and_update());
                if let Err(why) = visitor.is_still_known(offer.clients()) {
                    // The client has another key or token now than when it asked.
                    pending.clear();
                    visitor.asking = None;
                    connection.reject(Code::Unknown, &why);
                }
            }
            Happened::Turned(Ok(Turn::Came | Turn::Sent)) => {}
            Happened::Turned(Ok(Turn::Ended) | Err(_)) => return,
            Happened::Late if visitor.is_greeted() && connection.unanswered() > 0 => {}
            Happened::Late => {
                desk.meters.refuse("idle");
                break;
            }
        }
        // Set anew now and then, which is cheaper than at each message.
        let end = Instant::now() + idle;
        if visitor.is_greeted() && deadline.deadline() + idle / 8 < end {
            deadline.as_mut().reset(end);
        }
    }
    if let Some(why) = connection.over() {
        debug!(code = %why.code, why = why.text, "a client's connection was refused");
        desk.meters.refuse("connection");
    }
    // The other side hears that this is the end and no cut.
    let _ = timeout(Duration::from_secs(1), wire.close(&mut BytesMut::new())).await;
}

/// Events that a connection waits for.
enum Happened {
    /// Answers are there.
    Answered(Vec<Reply>),
    /// A word on requests is there.
    Told(Told),
    /// Bytes came or went.
    Turned(io::Result<Turn>),
    /// The service's file was read again.
    Changed,
    /// Nothing came for too long.
    Late,
}

/// The next word on requests; never, where there are none.
async fn told(asking: &mut Option<Asking>) -> Option<Told> {
    match asking {
        Some(asking) => asking.told().await,
        None => std::future::pending().await,
    }
}

fn pass_on(told: Told, connection: &mut ServerConnection) {
    let _ = match told {
        Told::Answers(answers) => connection.answers(answers),
        Told::Refused(refused) => connection.refuse(refused),
    };
}
