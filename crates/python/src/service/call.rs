//! Something that was begun, as whoever waits for it sees it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tokio::sync::oneshot;

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that was begun, as whoever waits for it sees it.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Call {
    stop: Mutex<Option<oneshot::Sender<()>>>,
    done: Arc<AtomicU64>,
}

impl Call {
    pub fn new(stop: oneshot::Sender<()>, done: Arc<AtomicU64>) -> Self {
        Self {
            stop: Mutex::new(Some(stop)),
            done,
        }
    }
}

#[pymethods]
impl Call {
    /// Gives it up. What servers have accepted by then counts.
    fn stop(&self) {
        if let Some(stop) = lock(&self.stop).take() {
            // One that is over hears nothing any more.
            let _ = stop.send(());
        }
    }

    /// Units that are done, of those that have some.
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
