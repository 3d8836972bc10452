//! Futures of operations, for any runtime or none.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::error::{Result, VaultError};
use crate::group::{Group, Work};

/// Locks; a thread that panicked while it held the lock left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Slot<T> {
    Empty(Option<Waker>),
    Full(Result<T>),
    /// The vault stopped before it came to the operation's end, or the value was taken.
    Gone,
}

struct Shared<T> {
    slot: Mutex<Slot<T>>,
    filled: Condvar,
}

/// The other end of a [`Pending`].
pub(crate) struct Promise<T>(Arc<Shared<T>>);

impl<T> Promise<T> {
    pub(crate) fn new() -> (Self, Receipt<T>) {
        let shared = Arc::new(Shared {
            slot: Mutex::new(Slot::Empty(None)),
            filled: Condvar::new(),
        });
        (Self(shared.clone()), Receipt(shared))
    }

    pub(crate) fn keep(self, value: Result<T>) {
        self.fill(Slot::Full(value));
    }

    fn fill(&self, with: Slot<T>) {
        let mut slot = lock(&self.0.slot);
        if let Slot::Empty(waker) = &mut *slot {
            let waker = waker.take();
            *slot = with;
            drop(slot);
            self.0.filled.notify_all();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.fill(Slot::Gone);
    }
}

pub(crate) struct Receipt<T>(Arc<Shared<T>>);

/// A future of an operation of a vault: it is ready when the operation is on disk, or refused.
///
/// An operation is handed over when it is called if there is room, else when the future is polled or [waited](Self::wait) for; from then on it waits
/// for room in its turn, whatever its size, and whether or not the future is polled again. One that has found room is carried out even if its future is
/// dropped; one that has not is taken back.
#[must_use = "an operation that found no room is handed over when its future is polled"]
pub struct Pending<T> {
    group: Arc<Group>,
    work: Option<Work>,
    /// Ticket of an operation that waited for room, from its hand-over on.
    ticket: Option<u64>,
    receipt: Receipt<T>,
}

impl<T> Pending<T> {
    pub(crate) fn new(group: Arc<Group>, work: Work, receipt: Receipt<T>) -> Self {
        let work = group.push(work).err();
        Self {
            group,
            work,
            ticket: None,
            receipt,
        }
    }

    /// An operation that is refused at once.
    pub(crate) fn refused(group: Arc<Group>, error: VaultError) -> Self {
        let (promise, receipt) = Promise::new();
        promise.keep(Err(error));
        Self {
            group,
            work: None,
            ticket: None,
            receipt,
        }
    }

    /// Hands an operation over that found no room when it was called.
    fn hand_over(&mut self) {
        if let Some(work) = self.work.take() {
            self.ticket = self.group.enqueue(work);
        }
    }

    /// Blocks this thread until the operation is on disk, or refused.
    ///
    /// # Errors
    /// Errors of the operation, and [`VaultError::Stopped`].
    pub fn wait(mut self) -> Result<T> {
        self.hand_over();
        let mut slot = lock(&self.receipt.0.slot);
        loop {
            match std::mem::replace(&mut *slot, Slot::Gone) {
                Slot::Full(value) => {
                    drop(slot);
                    self.ticket = None;
                    return value;
                }
                Slot::Gone => return Err(self.group.stopped()),
                empty @ Slot::Empty(_) => *slot = empty,
            }
            let filled = &self.receipt.0.filled;
            slot = filled.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.hand_over();
        let mut slot = lock(&this.receipt.0.slot);
        match std::mem::replace(&mut *slot, Slot::Gone) {
            Slot::Full(value) => {
                this.ticket = None;
                Poll::Ready(value)
            }
            Slot::Gone => Poll::Ready(Err(this.group.stopped())),
            Slot::Empty(_) => {
                *slot = Slot::Empty(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.group.withdraw(ticket);
        }
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending(..)")
    }
}
