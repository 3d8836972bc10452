//! Messages that go both ways at once, and the rule that keeps them from waiting for each other.
//!
//! A sender may be one window ahead of what the receiver has consumed ([`Channel`]). Parties that all
//! send before they receive anything would therefore wait for ever, each for the others to take what
//! they were sent, as soon as the messages are longer than what the windows still hold. The rule: a
//! party sends first, one message after the other, where each message fits *half* of its window, the
//! half that a receiver never holds back; otherwise it sends and receives side by side, so that it takes
//! what it is sent whatever its own messages wait for. Either way it depends on no other party's choice:
//! a party whose messages are short never waits to send, and one with a long message always receives.

use bytes::Bytes;
use futures_util::future::{BoxFuture, join, try_join_all};

use crate::channel::{Channel, Receiver, Sender};
use crate::error::Result;

/// Sends `message` to everyone, and receives from everyone a message of `expected` bytes, in the
/// order of the channels. One round.
///
/// # Errors
/// [`Error`](crate::Error) in the same cases as [`Channel::send`] and [`Channel::recv`].
pub async fn exchange(
    channels: &mut [Channel],
    message: impl Into<Bytes>,
    expected: usize,
) -> Result<Vec<Bytes>> {
    let message: Bytes = message.into();
    let each = channels.iter_mut().map(|Channel { tx, rx }| {
        let message = message.clone();
        ((tx, message), (rx, expected))
    });
    let (sends, receives): (Vec<_>, Vec<_>) = each.unzip();
    exchange_each(sends, receives).await
}

/// Sends `message` to one party and receives a message of `expected` bytes from one, the same or
/// another. One round.
///
/// # Errors
/// [`Error`](crate::Error) in the same cases as [`Channel::send`] and [`Channel::recv`].
pub async fn exchange_one(
    to: &mut Sender,
    message: impl Into<Bytes>,
    from: &mut Receiver,
    expected: usize,
) -> Result<Bytes> {
    let mut received = exchange_each([(to, message.into())], [(from, expected)]).await?;
    Ok(received.pop().expect("a message for each receiver"))
}

/// Sends each message and receives one of the given length from each receiver, in their order: to and
/// from any parties, of any lengths. One round. Every exchange goes through here, so that the rule
/// against waiting for each other stands in one place.
///
/// # Errors
/// [`Error`](crate::Error) in the same cases as [`Channel::send`] and [`Channel::recv`].
pub async fn exchange_each<'s, 'r>(
    sends: impl IntoIterator<Item = (&'s mut Sender, Bytes)>,
    receives: impl IntoIterator<Item = (&'r mut Receiver, usize)>,
) -> Result<Vec<Bytes>> {
    exchange_all(sends.into_iter().collect(), receives.into_iter().collect()).await
}

/// Boxed, so that it is compiled here and not in every crate that awaits it.
fn exchange_all<'a>(
    sends: Vec<(&'a mut Sender, Bytes)>,
    receives: Vec<(&'a mut Receiver, usize)>,
) -> BoxFuture<'a, Result<Vec<Bytes>>> {
    Box::pin(exchange_both(sends, receives))
}

async fn exchange_both(
    sends: Vec<(&mut Sender, Bytes)>,
    receives: Vec<(&mut Receiver, usize)>,
) -> Result<Vec<Bytes>> {
    let short = |(to, message): &(&mut Sender, Bytes)| to.fits_half_window(message.len());
    if sends.iter().all(short) {
        for (to, message) in sends {
            to.send(message).await?;
        }
        let mut received = Vec::with_capacity(receives.len());
        for (from, expected) in receives {
            received.push(from.recv(expected).await?);
        }
        return Ok(received);
    }
    // Messages that come before all is sent are received after it all the same, as far as rounds are concerned.
    let receive = receives.into_iter().map(async |(from, expected)| {
        let context = from.context().clone();
        let beside = context.beside();
        from.count_in(&beside);
        let message = from.recv(expected).await?;
        from.count_in(&context);
        Ok((message, context, beside))
    });
    let send = sends.into_iter().map(|(to, message)| to.send(message));
    let (sent, received) = join(try_join_all(send), try_join_all(receive)).await;
    sent?;
    let join_in = |(message, context, beside): (Bytes, crate::Context, crate::Context)| {
        context.join(&beside);
        message
    };
    Ok(received?.into_iter().map(join_in).collect())
}
