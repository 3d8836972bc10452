//! Tasks that wait for what other parties say in control messages.

use std::future::poll_fn;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::shared::{Shared, Waiting, lock};

/// Time that a session which is being closed waits for peers that take nothing.
const MOST_STANDSTILL: Duration = Duration::from_secs(2);
/// Time that it waits for peers that take something now and then.
const MOST_CLOSING: Duration = Duration::from_secs(30);

/// One task's place among those that wait for control messages; given up when the wait is over.
struct ControlWait<'a> {
    shared: &'a Shared,
    number: u64,
    since: Instant,
}

impl ControlWait<'_> {
    fn register(&self, until: Instant, waker: &Waker) {
        let waiting = Waiting {
            since: self.since,
            until,
            waker: waker.clone(),
        };
        lock(&self.shared.control_waits).insert(self.number, waiting);
    }
}

impl Drop for ControlWait<'_> {
    fn drop(&mut self) {
        lock(&self.shared.control_waits).remove(&self.number);
    }
}

/// A task that waits for the others to announce a job.
pub(super) struct Attending<'a>(&'a Shared);

impl<'a> Attending<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        shared.attending.fetch_add(1, Relaxed);
        Self(shared)
    }
}

impl Drop for Attending<'_> {
    fn drop(&mut self) {
        self.0.attending.fetch_sub(1, Relaxed);
    }
}

impl Shared {
    /// Waits until `look`, which is asked again after every control message, has found something, or
    /// until that time has passed; then the answer is `None`.
    pub(crate) async fn control<T>(
        &self,
        until: Instant,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let wait = self.wait();
        poll_fn(|task| {
            wait.register(until, task.waker());
            self.flush();
            match look() {
                None if Instant::now() < until => Poll::Pending,
                found => Poll::Ready(found),
            }
        })
        .await
    }

    /// Waits as [`control`](Self::control) does, for as long as it takes.
    pub(crate) async fn control_idly<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            let until = Instant::now() + Duration::from_secs(3600);
            if let Some(found) = self.control(until, &mut look).await {
                return found;
            }
        }
    }

    /// Waits until the transport that was closed has nothing left to do. A peer that takes nothing
    /// any more does not hold us up.
    pub(super) async fn closing(&self) {
        let limit = self.config.silence.min(MOST_STANDSTILL);
        let begin = Instant::now();
        let (mut until, mut before) = (begin + limit, None);
        let wait = self.wait();
        poll_fn(|task| {
            let left = self.transport.closing(task);
            // Whom we told of a failure must have heard it; after an orderly end there is nothing to
            // hear that the others need.
            let untold = left.untold > 0 && self.gave_up.load(SeqCst);
            if left.unsent == 0 && !untold {
                return Poll::Ready(());
            }
            let now = Instant::now();
            if before.replace(left) != Some(left) {
                until = (now + limit).min(begin + MOST_CLOSING);
            }
            wait.register(until, task.waker());
            if now < until {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    fn wait(&self) -> ControlWait<'_> {
        ControlWait {
            shared: self,
            number: self.waits.fetch_add(1, Relaxed),
            since: Instant::now(),
        }
    }

    pub(super) fn wake_control(&self) {
        let wakers: Vec<Waker> = lock(&self.control_waits)
            .values()
            .map(|waiting| waiting.waker.clone())
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Time since when the oldest of these waits lasts.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        let waits = lock(&self.control_waits);
        waits.values().map(|waiting| waiting.since).min()
    }

    pub(super) fn wake_expired(&self) {
        let now = Instant::now();
        let expired: Vec<Waker> = lock(&self.control_waits)
            .values()
            .filter(|waiting| now >= waiting.until)
            .map(|waiting| waiting.waker.clone())
            .collect();
        expired.into_iter().for_each(Waker::wake);
    }
}
