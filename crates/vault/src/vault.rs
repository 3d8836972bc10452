//! The vault.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use madrigal_core::Zeroizing;
use madrigal_core::chain::{Chain, PIECE as PIECE_BYTES};
use redb::{Builder, Database, StorageBackend};

use crate::agreement::{Event, Record, Restored};
use crate::error::{Result, VaultError};
use crate::folder::sync_folder;
use crate::group::{Group, What, Work};
use crate::key::VaultKey;
use crate::limits::{Limits, Usage};
use crate::pending::{Pending, Promise};
use crate::store::{self, Ages, Reading, Swept, Transaction};
use crate::submission::{Begun, Content, Id, Status, Submission, fits_note, length};
use crate::writer::{self, Shared};

/// Bytes that an operation counts beside what it holds.
const WORK: usize = 256;

/// Submissions, batches and results of one server, in one file, sealed.
///
/// Operations that write give a [`Pending`]; those that wait together are committed together. Operations of one caller that are handed over one after the
/// other are done in that order. Functions that read see what is on disk. Times are seconds of a clock of the caller's.
///
/// A vault that meets an error of the disk stops: all operations give [`VaultError::Stopped`] until it is opened anew. It holds as many bytes for operations
/// as [`Limits::waiting_bytes`] twice: those that wait and those that are written.
pub struct Vault {
    shared: Arc<Shared>,
    group: Arc<Group>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(..)")
    }
}

impl Drop for Vault {
    /// Operations that were handed over are done first.
    fn drop(&mut self) {
        self.group.close(None);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told those who wait.
            let _ = thread.join();
        }
    }
}

impl Vault {
    /// Opens a vault, or makes one, which its owner alone can read. This reads and checks the whole file.
    ///
    /// # Errors
    /// The file cannot be opened or is no vault, another process has it open, or the key is another one ([`VaultError::WrongKey`]).
    pub fn open(path: &Path, key: &VaultKey, limits: Limits) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = match options.open(path) {
            Ok(file) => file.sync_all().and_then(|()| sync_folder(path)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        };
        made.map_err(|error| {
            let reason = format!("{} cannot be opened: {error}", path.display());
            VaultError::Stopped { reason }
        })?;
        let database = builder(&limits).create(path);
        Self::start(database.map_err(VaultError::not_opened)?, key, limits)
    }

    /// Opens a vault, or makes one, on a disk of the caller's.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_on(disk: impl StorageBackend, key: &VaultKey, limits: Limits) -> Result<Self> {
        let database = builder(&limits).create_with_backend(disk);
        Self::start(database.map_err(VaultError::not_opened)?, key, limits)
    }

    fn start(database: Database, key: &VaultKey, limits: Limits) -> Result<Self> {
        let sealer = store::unlock(&database, key)?;
        let book = Reading::new(&database, &sealer)?.book()?;
        let group = Arc::new(Group::new(limits.waiting, limits.waiting_bytes));
        let shared = Arc::new(Shared::new(database, sealer, limits, book));
        let (theirs, queue) = (shared.clone(), group.clone());
        let thread = std::thread::Builder::new()
            .name("vault".to_owned())
            .spawn(move || writer::write(&theirs, &queue))
            .map_err(|error| VaultError::Stopped {
                reason: format!("no thread: {error}"),
            })?;
        Ok(Self {
            shared,
            group,
            thread: Some(thread),
        })
    }

    /// Hands an operation over.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        run: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Pending<T> {
        let (promise, receipt) = Promise::new();
        let what = What::Together(Box::new(move |transaction| match run(transaction) {
            Err(error) if error.stops() => Err(error),
            done => Ok(Box::new(move || promise.keep(done))),
        }));
        let bytes = bytes + WORK;
        Pending::new(self.group.clone(), Work { bytes, what }, receipt)
    }

    pub(crate) fn refused<T>(&self, error: VaultError) -> Pending<T> {
        Pending::refused(self.group.clone(), error)
    }

    pub(crate) fn reading<T>(&self, read: impl FnOnce(&Reading<'_>) -> Result<T>) -> Result<T> {
        let database = self.shared.database();
        read(&Reading::new(&database, &self.shared.sealer)?)
    }

    /// Begins a submission, or finds it again: the same announcement is the same submission.
    ///
    /// # Errors
    /// A field is too long, another submission has the id ([`VaultError::Conflict`]), it has expired, or there is no room.
    pub fn begin(&self, submission: Submission, now: u64) -> Pending<Begun> {
        if let Err(error) = submission.check() {
            return self.refused(error);
        }
        let bytes = submission.header.len();
        self.run(bytes, move |t| t.begin(submission, now))
    }

    /// Takes the next piece of a body, which has [`PIECE_BYTES`] unless it is the last; gives the offset after it.
    ///
    /// # Errors
    /// The piece is not the next one; the error tells the right offset.
    pub fn piece(&self, id: Id, offset: u64, piece: Vec<u8>) -> Pending<u64> {
        let piece = Zeroizing::new(piece);
        if let Err(error) = length("piece", piece.len() as u64, 1, PIECE_BYTES as u64) {
            return self.refused(error);
        }
        self.run(piece.len(), move |t| t.piece(&id, offset, &piece))
    }

    /// Checks that a body is whole and has the digest that was announced, after all pieces that were handed over before; gives since when the submission
    /// is accepted, if it is. [`received`](Self::received) has the body then.
    ///
    /// # Errors
    /// Errors of [`accept`](Self::accept).
    pub fn whole(&self, id: Id) -> Pending<Option<u64>> {
        self.run(0, move |t| t.whole(&id))
    }

    /// Accepts a submission whose body is whole; gives since when it is. When the future is ready, it is on disk.
    ///
    /// # Errors
    /// The body is not whole, or has another digest; then it must be sent again from offset 0.
    pub fn accept(&self, id: Id, now: u64) -> Pending<u64> {
        self.run(0, move |t| t.accept(&id, now))
    }

    /// Begins a submission with a body of [`PIECE_BYTES`] at most and accepts it, in one operation.
    ///
    /// # Errors
    /// Errors of [`begin`](Self::begin) and [`accept`](Self::accept); nothing of the body is kept then.
    pub fn submit(&self, submission: Submission, body: Vec<u8>, now: u64) -> Pending<Begun> {
        let body = Zeroizing::new(body);
        let came = body.len() as u64;
        let checked = submission.check().and_then(|()| {
            length("body", came, submission.length, submission.length)?;
            length("body", came, 0, PIECE_BYTES as u64)?;
            // The caller's thread computes the digest: the one that writes is the narrow place.
            if Chain::digest(&submission.header, &body).0 != submission.digest {
                return Err(VaultError::Digest);
            }
            Ok(())
        });
        if let Err(error) = checked {
            return self.refused(error);
        }
        let bytes = submission.header.len() + body.len();
        self.run(bytes, move |t| t.submit(submission, &body, now))
    }

    /// How a submission stands; nothing if it is not known.
    ///
    /// # Errors
    /// The vault is damaged or has stopped, here and in all functions that read.
    pub fn status(&self, id: &Id) -> Result<Option<Status>> {
        self.reading(|reading| reading.status(id))
    }

    /// The header of an accepted submission that has not ended.
    ///
    /// # Errors
    /// [`VaultError::NoSubmission`], [`VaultError::NoBody`].
    pub fn header(&self, id: &Id) -> Result<Vec<u8>> {
        self.reading(|reading| reading.header(id))
    }

    /// The body of an accepted submission that has not ended, whole.
    ///
    /// # Errors
    /// [`VaultError::NoSubmission`], [`VaultError::NoBody`].
    pub fn body(&self, id: &Id) -> Result<Zeroizing<Vec<u8>>> {
        self.reading(|reading| reading.body(id))
    }

    /// Header and body of a submission whose body is whole and that is not accepted yet, so that it can be looked at before; nothing of any other.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn received(&self, id: &Id) -> Result<Option<Content>> {
        self.reading(|reading| reading.received(id))
    }

    /// The piece of the body of an accepted submission at an offset, a multiple of [`PIECE_BYTES`].
    ///
    /// # Errors
    /// [`VaultError::NoSubmission`], [`VaultError::NoBody`], [`VaultError::Offset`].
    pub fn body_piece(&self, id: &Id, offset: u64) -> Result<Zeroizing<Vec<u8>>> {
        self.reading(|reading| reading.body_piece(id, offset))
    }

    /// Writes a record of the agreement of a kind. Gives the ids that a [`Record::Bar`] holds for.
    ///
    /// # Errors
    /// [`VaultError::Contradiction`], which the machine hears as [`NotWritten`](crate::agreement::Event::NotWritten).
    pub fn write(&self, kind: &str, record: Record, now: u64) -> Pending<Vec<Id>> {
        let bytes = record.bytes();
        let kind = kind.to_owned();
        self.run(bytes, move |t| t.record(&kind, record, now))
    }

    /// Writes a record of the agreement of a kind, and a note with it: both are on disk, or neither.
    ///
    /// # Errors
    /// Errors of [`write`](Self::write) and of [`note`](Self::note).
    pub fn write_noting(
        &self,
        kind: &str,
        record: Record,
        (name, value): (String, Vec<u8>),
        now: u64,
    ) -> Pending<Vec<Id>> {
        if let Err(error) = fits_note(&name, value.len()) {
            return self.refused(error);
        }
        let bytes = record.bytes() + value.len();
        let kind = kind.to_owned();
        self.run(bytes, move |t| {
            let done = t.record(&kind, record, now)?;
            t.note(&name, Some(&value))?;
            Ok(done)
        })
    }

    /// Event that a machine hears of a record that it had written with this token.
    ///
    /// # Errors
    /// All but [`VaultError::Contradiction`], which the machine hears of.
    pub fn written(token: u64, done: Result<Vec<Id>>) -> Result<Event> {
        match done {
            Ok(ids) => Ok(Event::Written { token, ids }),
            Err(VaultError::Contradiction { reason, .. }) => {
                Ok(Event::NotWritten { token, reason })
            }
            Err(other) => Err(other),
        }
    }

    /// Where the agreement of a kind goes on.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn restored(&self, kind: &str) -> Result<Restored> {
        self.reading(|reading| reading.restored(kind))
    }

    /// Takes away what is old.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn sweep(&self, ages: &Ages, now: u64) -> Pending<Swept> {
        let ages = ages.clone();
        self.run(0, move |t| t.sweep(&ages, now))
    }

    /// Moves what is at the end of the file to free places before it, and shortens the file. Readers and writers wait meanwhile. Space that is freed is used
    /// again without it; it helps after a time with much more in the vault than now. Tells whether the file became shorter.
    ///
    /// # Errors
    /// The vault has stopped.
    pub fn compact(&self) -> Pending<bool> {
        let (promise, receipt) = Promise::new();
        let what = What::Compact(Box::new(move |done| promise.keep(done)));
        let bytes = WORK;
        Pending::new(self.group.clone(), Work { bytes, what }, receipt)
    }

    /// Sets other bounds for what is taken from now on. What is kept already stays, and how much waits and the cache stay as they were opened.
    pub fn set_limits(&self, limits: Limits) {
        self.shared.set_limits(limits);
    }

    /// Use of a kind. With the empty name, submissions that never came and never may are remembered.
    pub fn usage(&self, kind: &str) -> Usage {
        self.shared.book().of(kind)
    }

    /// Use of an account in a kind, but for results. The empty one is of all that have none.
    pub fn usage_of_account(&self, kind: &str, account: &str) -> Usage {
        self.shared.book().of_account(kind, account)
    }

    /// Use of all kinds together.
    pub fn usage_of_all(&self) -> Usage {
        self.shared.book().all()
    }
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(limits.cache_bytes);
    // A file that was damaged is told of when it is opened, not by a panic in the middle of the day.
    builder.set_check_integrity_on_open(true);
    builder
}
