//! One call on several threads.
//!
//! Each thread has an instance of the extension of its own, and a part of the call's OTs in order; the
//! messages of the parts, one after the other, are the message of the call. The instances of a side
//! share Delta or not, as one likes, but each has base OTs (or keys derived from them) of its own, and
//! its own [`stream`](crate::Instance), so that no tweak comes twice. Both sides have as many, of one
//! kind and with the same parameters, in the same order.
//!
//! One run of `n * KAPPA` base OTs gives `n` instances their keys: the base receiver's choices are the
//! bits of one Delta after the other, and instance i takes keys `i * KAPPA..(i + 1) * KAPPA`.

use std::ops::Range;
use std::thread;

use madrigal_kernels::{Block, meter};

use crate::error::{Message, check_argument, check_message};
use crate::extension::PIECE;
use crate::{ExtensionReceiver, ExtensionSender, OtError};

/// Cuts `m` OTs into parts for the threads, all of whole pieces but the last: the same at both sides.
fn parts(m: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let each = m
        .div_ceil(threads.max(1))
        .next_multiple_of(PIECE)
        .max(PIECE);
    (0..m)
        .step_by(each)
        .map(move |start| start..m.min(start + each))
}

/// Checks that there are instances: without any nothing would be done, and what is there would pass for keys.
fn check_instances<E>(instances: &[E]) -> Result<(), OtError> {
    check_argument("instances", instances.len().max(1), instances.len())
}

/// Runs `work` on each instance with its part, all at the same time; the first error in their order. All
/// AES blocks count as computed on the caller's thread.
fn run<E: Send, P: Send>(
    instances: &mut [E],
    parts: Vec<P>,
    work: impl Fn(&mut E, P) -> Result<(), OtError> + Sync,
) -> Result<(), OtError> {
    let work = &work;
    thread::scope(|scope| {
        let mut pairs = instances.iter_mut().zip(parts);
        // The caller's thread has the first part.
        let own = pairs.next();
        let others: Vec<_> = pairs
            .map(|(instance, part)| scope.spawn(move || meter::metered(|| work(instance, part))))
            .collect();
        let first = own.map_or(Ok(()), |(instance, part)| work(instance, part));
        let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok((result, blocks)) => {
                meter::add(blocks);
                result
            }
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // All are waited for, whatever the first one says.
        let results: Vec<Result<(), OtError>> = others.into_iter().map(join).collect();
        results.into_iter().fold(first, Result::and)
    })
}

/// The sender's instances.
#[derive(Debug)]
pub struct ThreadedSender<S>(Vec<S>);

impl<S: ExtensionSender + Send> ThreadedSender<S> {
    /// One thread for each instance.
    pub fn new(instances: Vec<S>) -> Self {
        Self(instances)
    }

    /// Length in bytes of the receiver's message for `m` OTs.
    pub fn message_len(&self, m: usize) -> usize {
        let part = |part: Range<usize>| self.0.first().map_or(0, |s| s.message_len(part.len()));
        parts(m, self.0.len()).map(part).sum()
    }

    /// Extends on all threads as [`ExtensionSender::extend_blocks`] does on one.
    ///
    /// # Errors
    /// [`OtError`] in the cases named there, and [`OtError::ArgumentLength`] without instances. When a part fails, the
    /// instances are out of step: give all of them up.
    pub fn extend_blocks(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [Block],
        k1: &mut [Block],
    ) -> Result<(), OtError> {
        check_instances(&self.0)?;
        check_argument("k0", m, k0.len())?;
        check_argument("k1", m, k1.len())?;
        check_message(Message::Extension, message, self.message_len(m))?;
        let (mut message, mut k0, mut k1) = (message, k0, k1);
        let mut work = Vec::new();
        for (part, sender) in parts(m, self.0.len()).zip(&self.0) {
            let (here, rest) = message.split_at(sender.message_len(part.len()));
            message = rest;
            work.push((
                here,
                take_front(&mut k0, part.len()),
                take_front(&mut k1, part.len()),
            ));
        }
        run(&mut self.0, work, |sender, (message, k0, k1)| {
            sender.extend_blocks(message, k0.len(), k0, k1)
        })
    }
}

/// The receiver's instances.
#[derive(Debug)]
pub struct ThreadedReceiver<R>(Vec<R>);

impl<R: ExtensionReceiver + Send> ThreadedReceiver<R> {
    /// One thread for each instance.
    pub fn new(instances: Vec<R>) -> Self {
        Self(instances)
    }

    /// Length in bytes of the message for `m` OTs.
    pub fn message_len(&self, m: usize) -> usize {
        let part = |part: Range<usize>| self.0.first().map_or(0, |r| r.message_len(part.len()));
        parts(m, self.0.len()).map(part).sum()
    }

    /// Extends on all threads as [`ExtensionReceiver::extend_blocks`] does on one.
    ///
    /// # Errors
    /// [`OtError`] in the cases named there, and [`OtError::ArgumentLength`] without instances. When a part fails, the
    /// instances are out of step: give all of them up.
    pub fn extend_blocks(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        out: &mut [Block],
    ) -> Result<(), OtError> {
        check_instances(&self.0)?;
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m, out.len())?;
        check_argument("message", self.message_len(m), message.len())?;
        let (mut message, mut out) = (message, out);
        let mut work = Vec::new();
        for (part, receiver) in parts(m, self.0.len()).zip(&self.0) {
            let choices = &choices[part.start / 8..part.end.div_ceil(8)];
            let here = take_front(&mut message, receiver.message_len(part.len()));
            work.push((choices, here, take_front(&mut out, part.len())));
        }
        run(&mut self.0, work, |receiver, (choices, message, out)| {
            receiver.extend_blocks(choices, out.len(), message, out)
        })
    }
}

/// Takes the first `len` elements off.
fn take_front<'a, T>(slice: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(slice).split_at_mut(len);
    *slice = rest;
    front
}
