//! The thread that owns all transactions that write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use redb::Database;

use crate::error::{Result, VaultError};
use crate::group::{Group, Run, What, Work};
use crate::limits::Limits;
use crate::seal::Sealer;
use crate::store::{Book, Transaction};

/// State that the thread and the callers share.
pub(crate) struct Shared {
    /// Nobody reads while the file is compacted.
    database: RwLock<Database>,
    pub(crate) sealer: Sealer,
    /// Bounds of what is kept, which may be set anew.
    limits: RwLock<Arc<Limits>>,
    /// As of the last commit.
    book: Mutex<Book>,
}

impl Shared {
    pub(crate) fn new(database: Database, sealer: Sealer, limits: Limits, book: Book) -> Self {
        Self {
            database: RwLock::new(database),
            sealer,
            limits: RwLock::new(Arc::new(limits)),
            book: Mutex::new(book),
        }
    }

    pub(crate) fn database(&self) -> RwLockReadGuard<'_, Database> {
        self.database.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn limits(&self) -> Arc<Limits> {
        let limits = self.limits.read();
        Arc::clone(&limits.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets bounds for the operations that are done from now on.
    pub(crate) fn set_limits(&self, limits: Limits) {
        let mut known = self.limits.write().unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new(limits);
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits operations together as they come, until the group is closed. An error of the disk ends it.
pub(crate) fn write(shared: &Arc<Shared>, group: &Group) {
    // Readers have a copy, as of the last commit.
    let mut book = shared.book().clone();
    // However this ends, nobody waits for ever.
    struct Closing<'a>(&'a Group);
    impl Drop for Closing<'_> {
        fn drop(&mut self) {
            self.0.close(Some("its thread has ended".to_owned()));
        }
    }
    let closing = Closing(group);
    while let Some(mut works) = group.take() {
        while !works.is_empty() {
            if let Err(error) = some(shared, &mut book, &mut works) {
                let reason = match error {
                    VaultError::Stopped { reason } => reason,
                    other => other.to_string(),
                };
                group.close(Some(reason));
                return;
            }
        }
    }
    drop(closing);
}

/// Does the operations up to the next compaction in one transaction, or that compaction.
fn some(shared: &Shared, book: &mut Book, works: &mut VecDeque<Work>) -> Result<()> {
    let mut runs = Vec::with_capacity(works.len());
    while let Some(work) = works.pop_front() {
        match work.what {
            What::Together(run) => runs.push(run),
            What::Compact(told) if runs.is_empty() => {
                let mut database = shared.database.write();
                let database = match &mut database {
                    Ok(database) => database,
                    Err(poisoned) => poisoned.get_mut(),
                };
                told(Ok(database.compact()?));
                return Ok(());
            }
            What::Compact(_) => {
                works.push_front(work);
                break;
            }
        }
    }
    together(shared, book, runs)
}

/// Does operations in one transaction. If it fails, the vault stops, and the book with it.
fn together(shared: &Shared, book: &mut Book, runs: Vec<Run>) -> Result<()> {
    let database = shared.database();
    let transaction = database.begin_write()?;
    let mut told = Vec::with_capacity(runs.len());
    {
        let (sealer, limits) = (&shared.sealer, shared.limits());
        let mut open = Transaction::new(&transaction, sealer, &limits, book)?;
        for run in runs {
            told.push(run(&mut open)?);
        }
        open.finish()?;
    }
    transaction.commit()?;
    book.publish(&mut shared.book());
    told.into_iter().for_each(|tell| tell());
    Ok(())
}
