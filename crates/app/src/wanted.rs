//! Whether somebody still waits for work that takes long.

use std::sync::mpsc::channel;

use crate::failure::{Failure, Result};
use crate::stop;

/// Tells whether somebody still waits for this thread's work; to be asked between steps that take long.
///
/// # Errors
/// [`Failure::Stopped`] if the process, or the thread's group of runs, was told to stop.
pub fn is_wanted() -> Result<()> {
    let (tell, told) = channel();
    // Who was told already is told at once; others are not told any more.
    drop(stop::when_told(move |signal| {
        let _ = tell.send(signal);
    }));
    match told.try_recv() {
        Ok(signal) => Err(Failure::Stopped(signal)),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Group;

    #[test]
    fn work_that_nobody_waits_for_ends() {
        let group = Group::default();
        Group::enter(Some(group.clone()), || {
            assert!(is_wanted().is_ok());
            group.stop();
            assert!(matches!(is_wanted(), Err(Failure::Stopped(_))));
        });
        assert!(is_wanted().is_ok());
    }
}
