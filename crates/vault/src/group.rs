//! Operations that wait for the disk, bounded, and the thread that commits them together.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::error::VaultError;
use crate::store::Transaction;

/// An operation on a transaction; it gives what tells its caller, after the commit. An error stops the vault.
pub(crate) type Run =
    Box<dyn FnOnce(&mut Transaction<'_>) -> Result<Box<dyn FnOnce() + Send>, VaultError> + Send>;

/// An operation, with the bytes that it holds.
pub(crate) struct Work {
    pub(crate) bytes: usize,
    pub(crate) what: What,
}

pub(crate) enum What {
    /// One of many in a transaction.
    Together(Run),
    /// The file is compacted, between two transactions.
    Compact(Box<dyn FnOnce(Result<bool, VaultError>) + Send>),
}

#[derive(Default)]
struct Queue {
    works: VecDeque<Work>,
    bytes: usize,
    /// Callers that wait for room.
    wakers: Vec<Waker>,
    /// No more operations are taken.
    closed: bool,
    /// Why the vault has stopped.
    reason: Option<String>,
}

/// Operations on their way to the disk.
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// Something came, or there is room, or an end.
    changed: Condvar,
    most: usize,
    most_bytes: usize,
}

impl Group {
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            changed: Condvar::new(),
            most: most.max(1),
            most_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an operation if there is room; one that is larger than all room is taken alone.
    fn put(&self, queue: &mut Queue, work: Work) -> Result<(), Work> {
        let full = queue.works.len() >= self.most || queue.bytes + work.bytes > self.most_bytes;
        if full && !queue.works.is_empty() {
            return Err(work);
        }
        queue.bytes += work.bytes;
        queue.works.push_back(work);
        self.changed.notify_all();
        Ok(())
    }

    /// The queue while it takes operations. After its end an operation is dropped, without the lock: who waits for it notices, and may do anything then.
    fn open(&self) -> Option<MutexGuard<'_, Queue>> {
        Some(self.lock()).filter(|queue| !queue.closed)
    }

    pub(crate) fn push(&self, work: Work) -> Result<(), Work> {
        match self.open() {
            Some(mut queue) => self.put(&mut queue, work),
            None => Ok(()),
        }
    }

    pub(crate) fn push_or_wake(&self, work: Work, waker: &Waker) -> Result<(), Work> {
        match self.open() {
            Some(mut queue) => self
                .put(&mut queue, work)
                .inspect_err(|_| queue.wakers.push(waker.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn push_blocking(&self, mut work: Work) {
        while let Some(mut queue) = self.open() {
            match self.put(&mut queue, work) {
                Ok(()) => return,
                Err(back) => work = back,
            }
            let waited = self.changed.wait(queue);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Waits for operations and takes all that are there; nothing after the end.
    pub(crate) fn take(&self) -> Option<VecDeque<Work>> {
        let mut queue = self.lock();
        while queue.works.is_empty() {
            if queue.closed {
                return None;
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        queue.bytes = 0;
        let works = std::mem::take(&mut queue.works);
        let wakers = std::mem::take(&mut queue.wakers);
        drop(queue);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        Some(works)
    }

    /// Takes no more operations; those that wait are dropped if there is a reason.
    pub(crate) fn close(&self, reason: Option<String>) {
        let mut queue = self.lock();
        queue.closed = true;
        let dropped = if reason.is_some() {
            queue.reason = queue.reason.take().or(reason);
            std::mem::take(&mut queue.works)
        } else {
            VecDeque::new()
        };
        let wakers = std::mem::take(&mut queue.wakers);
        drop(queue);
        drop(dropped);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Why operations come to nothing.
    pub(crate) fn stopped(&self) -> VaultError {
        let reason = self.lock().reason.clone();
        VaultError::Stopped {
            reason: reason.unwrap_or_else(|| "it was closed".to_owned()),
        }
    }
}
