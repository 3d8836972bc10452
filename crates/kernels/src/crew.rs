//! Crews: threads that share the work of one call.
//!
//! A party that computes on several threads has a [`Crew`]. While it is at [work](Crew::at_work) on a thread, whatever is
//! called there and long enough to be worth it is cut into pieces, of which each thread of the crew takes the next: rows of
//! a matrix product, columns of a convolution, ciphertexts. Results, and what is sent, are the same for every number of
//! threads, so parties need not agree on it.
//!
//! Without a crew at work everything is done by the caller, and nothing here costs more than a look at a
//! thread-local variable.

use core::cell::RefCell;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::meter;

/// Pieces that each thread takes about: enough that none waits long for the last one.
const PIECES: usize = 4;

/// Threads that share the work of one call, the caller's among them.
#[derive(Clone, Default)]
pub struct Crew {
    /// All threads but the caller's.
    others: Option<Arc<ThreadPool>>,
}

/// Error of threads that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot start {threads} threads: {reason}; use fewer threads")]
pub struct CrewError {
    /// Number of threads that were asked for.
    pub threads: usize,
    /// Reason that the system gives.
    pub reason: String,
}

thread_local! {
    static AT_WORK: RefCell<Crew> = const { RefCell::new(Crew { others: None }) };
}

impl Crew {
    /// The caller alone.
    #[must_use]
    pub const fn alone() -> Self {
        Self { others: None }
    }

    /// Starts `threads` threads less one: the caller's is one of the crew. They end with the last copy of the crew.
    ///
    /// # Errors
    /// [`CrewError`] where the system starts no more threads.
    pub fn new(threads: usize) -> Result<Self, CrewError> {
        if threads <= 1 {
            return Ok(Self::alone());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads - 1)
            .thread_name(|number| format!("crew {number}"))
            .build();
        let others = pool.map_err(|error| CrewError {
            threads,
            reason: error.to_string(),
        })?;
        Ok(Self {
            others: Some(Arc::new(others)),
        })
    }

    /// Number of threads, the caller's among them.
    #[must_use]
    pub fn threads(&self) -> usize {
        1 + self.helpers()
    }

    fn helpers(&self) -> usize {
        self.others
            .as_ref()
            .map_or(0, |pool| pool.current_num_threads())
    }

    /// Does `work` on this thread, and has the crew share what can be shared of it.
    pub fn at_work<R>(&self, work: impl FnOnce() -> R) -> R {
        let _before = Before(AT_WORK.replace(self.clone()));
        work()
    }

    /// The crew that is at work on this thread.
    #[must_use]
    pub fn current() -> Self {
        AT_WORK.with_borrow(Self::clone)
    }

    /// Has the threads take one number after the other below `count`.
    fn share(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let Some(pool) = self.others.as_ref().filter(|_| count > 1) else {
            (0..count).for_each(work);
            return;
        };
        let (next, blocks) = (AtomicUsize::new(0), AtomicU64::new(0));
        // Pieces of pieces gain nothing: all threads have something to do.
        let all = || {
            Self::alone().at_work(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        return;
                    }
                    work(number);
                }
            });
        };
        pool.in_place_scope(|scope| {
            for _ in 0..self.helpers().min(count - 1) {
                scope.spawn(|_| {
                    let ((), computed) = meter::metered(all);
                    blocks.fetch_add(computed, Relaxed);
                });
            }
            all();
        });
        meter::add(blocks.into_inner());
    }
}

impl core::fmt::Debug for Crew {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Crew({})", self.threads())
    }
}

/// The crew that was at work before, and is again also after a panic.
struct Before(Crew);

impl Drop for Before {
    fn drop(&mut self) {
        AT_WORK.set(std::mem::take(&mut self.0));
    }
}

/// Number of threads that share what is called here now.
#[must_use]
pub fn threads() -> usize {
    AT_WORK.with_borrow(Crew::threads)
}

/// Cuts `len` elements into ranges for the threads that are at work: of `least` elements at least, but for the last one, and
/// of whole `unit`s. One range where nobody helps.
///
/// # Panics
/// If `unit` is zero.
pub fn ranges(
    len: usize,
    unit: usize,
    least: usize,
) -> impl ExactSizeIterator<Item = Range<usize>> {
    let each = match threads() {
        1 => len.max(1),
        threads => len
            .div_ceil(PIECES * threads)
            .max(least)
            .next_multiple_of(unit)
            .max(1),
    };
    let count = len.div_ceil(each);
    (0..count).map(move |piece| piece * each..((piece + 1) * each).min(len))
}

/// Does `work` on each piece; the pieces are shared out among the crew that is at work on this thread.
///
/// # Panics
/// With the panic of a piece.
pub fn each<T: Send>(pieces: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let crew = Crew::current();
    if crew.helpers() == 0 {
        pieces.into_iter().for_each(work);
        return;
    }
    let pieces: Vec<_> = pieces
        .into_iter()
        .map(|piece| Mutex::new(Some(piece)))
        .collect();
    crew.share(pieces.len(), &|number| {
        let piece = pieces[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        piece.into_iter().for_each(&work);
    });
}

/// Makes something of each piece, as [`each`] does, and gives it in the order of the pieces.
///
/// # Panics
/// With the panic of a piece.
pub fn map<T: Send, R: Send>(
    pieces: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let crew = Crew::current();
    if crew.helpers() == 0 {
        return pieces.into_iter().map(work).collect();
    }
    let pieces: Vec<T> = pieces.into_iter().collect();
    let mut results: Vec<Option<R>> = pieces.iter().map(|_| None).collect();
    each(pieces.into_iter().zip(&mut results), |(piece, result)| {
        *result = Some(work(piece))
    });
    results.into_iter().flatten().collect()
}

/// Cuts a vector into slices for the threads that are at work, each with the place of its first element: as [`ranges`]
/// does, of which each has as many elements.
pub fn slices<T>(
    vector: &mut [T],
    unit: usize,
    least: usize,
) -> impl Iterator<Item = (usize, &mut [T])> {
    let each = ranges(vector.len(), unit, least)
        .next()
        .map_or(1, |first| first.len().max(1));
    vector
        .chunks_mut(each)
        .enumerate()
        .map(move |(piece, slice)| (piece * each, slice))
}
