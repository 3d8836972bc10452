//! Whether somebody still waits for work that takes long.

use std::sync::atomic::Ordering;

use crate::failure::{Failure, Result};
use crate::stop::Signal;
use crate::watch::watcher;

/// Tells whether somebody still waits for this thread's work; to be asked between steps that take long.
///
/// # Errors
/// [`Failure::Stopped`] if nobody does.
pub fn is_wanted() -> Result<()> {
    match watcher() {
        Some(watcher) if watcher.stopped.load(Ordering::Relaxed) => {
            Err(Failure::Stopped(Signal::Interrupt))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::watch::{Watcher, watched};

    #[test]
    fn work_that_nobody_waits_for_ends() {
        let stopped = Arc::new(AtomicBool::new(false));
        let watcher = Watcher {
            terminal: false,
            stopped: Arc::clone(&stopped),
            tell: Box::new(|_| {}),
        };
        watched(watcher, || {
            assert!(is_wanted().is_ok());
            stopped.store(true, Ordering::Relaxed);
            let ended = is_wanted().unwrap_err();
            assert!(ended.to_string().contains("SIGINT"), "{ended}");
        });
        assert!(is_wanted().is_ok());
    }
}
