//! Operations that wait for the disk, bounded, and the thread that commits them together.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
    /// Operations that wait for room, in the order in which they came, with their tickets.
    waiting: VecDeque<(u64, Work)>,
    tickets: u64,
    /// No more operations are taken.
    closed: bool,
    /// Why the vault has stopped.
    reason: Option<String>,
}

/// Operations on their way to the disk.
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// Something came, or an end.
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

    /// Takes an operation if there is room, and none waits for some.
    pub(crate) fn push(&self, work: Work) -> Result<(), Work> {
        match self.open() {
            Some(queue) if !queue.waiting.is_empty() => Err(work),
            Some(mut queue) => self.put(&mut queue, work),
            None => Ok(()),
        }
    }

    /// Takes an operation, after those that wait for room. Gives its ticket if it waits, too.
    ///
    /// It is the operation that waits and not its caller: a caller who looks after other things holds up nobody.
    pub(crate) fn enqueue(&self, work: Work) -> Option<u64> {
        let mut queue = self.open()?;
        let work = match queue.waiting.is_empty() {
            true => self.put(&mut queue, work).err()?,
            false => work,
        };
        queue.tickets += 1;
        let ticket = queue.tickets;
        queue.waiting.push_back((ticket, work));
        Some(ticket)
    }

    /// Takes an operation back, if it still waits for room.
    pub(crate) fn withdraw(&self, ticket: u64) {
        let mut queue = self.lock();
        let found = queue
            .waiting
            .binary_search_by_key(&ticket, |(ticket, _)| *ticket);
        let dropped = found.ok().and_then(|at| queue.waiting.remove(at));
        // Those behind it may fit.
        self.admit(&mut queue);
        drop(queue);
        drop(dropped);
    }

    /// Gives room to those that wait for it, in their order.
    fn admit(&self, queue: &mut Queue) {
        while let Some((ticket, work)) = queue.waiting.pop_front() {
            if let Err(work) = self.put(queue, work) {
                queue.waiting.push_front((ticket, work));
                return;
            }
        }
    }

    /// Waits for operations and takes all that have room; nothing after the end.
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
        self.admit(&mut queue);
        Some(works)
    }

    /// Takes no more operations; those that wait are dropped if there is a reason.
    pub(crate) fn close(&self, reason: Option<String>) {
        let mut queue = self.lock();
        queue.closed = true;
        let dropped = if reason.is_some() {
            queue.reason = queue.reason.take().or(reason);
            let waiting = std::mem::take(&mut queue.waiting);
            (std::mem::take(&mut queue.works), waiting)
        } else {
            Default::default()
        };
        drop(queue);
        drop(dropped);
        self.changed.notify_all();
    }

    /// Why operations come to nothing.
    pub(crate) fn stopped(&self) -> VaultError {
        let reason = self.lock().reason.clone();
        VaultError::Stopped {
            reason: reason.unwrap_or_else(|| "it was closed".to_owned()),
        }
    }
}
