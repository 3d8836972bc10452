//! Those who watch work of this process from inside of it: what a terminal would show, for whoever has none.
//!
//! A program shows progress and messages on standard error. A library's user sees them elsewhere: in a notebook, in a log.
//! [`watched`] has all that work on this thread would show told to a [`Watcher`] instead, and nobody else's.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use madrigal_core::Phase;
use serde::{Deserialize, Serialize};

/// Progress of one party in one phase, in the phase's own unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whether the phase is online; else it is setup.
    pub online: bool,
    /// Done so far.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

impl From<madrigal_engine::Progress> for Step {
    fn from(progress: madrigal_engine::Progress) -> Self {
        Self {
            online: progress.phase == Phase::Online,
            done: progress.done,
            total: progress.total,
        }
    }
}

/// Something that happens while parties compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// This party, or all parties here, have a session with the others.
    Met,
    /// A phase begins. All parties have agreed on what they compute before the first one does.
    Begins {
        /// Whether the phase is online; else it is setup.
        online: bool,
    },
    /// How far the party is that is furthest behind.
    Progress(Step),
    /// Pieces of work that follow each other.
    Pieces {
        /// Done so far.
        done: u64,
        /// Pieces in all.
        total: u64,
        /// Name of the one that is being done.
        name: String,
    },
    /// A message for people.
    Said {
        /// Text.
        text: String,
        /// Whether something should be changed.
        warning: bool,
    },
}

/// Whoever is told what happens.
pub struct Watcher {
    /// Whether standard error shows progress all the same, if it is a terminal.
    pub terminal: bool,
    /// Told of each event, by any thread; must not wait.
    pub tell: Box<dyn Fn(Event) + Send + Sync>,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terminal, .. } = self;
        write!(f, "Watcher {{ terminal: {terminal} }}")
    }
}

thread_local! {
    static WATCHER: RefCell<Option<Arc<Watcher>>> = const { RefCell::new(None) };
}

/// Does work that is watched. Threads that it starts are watched as far as they tell this one how far they are.
pub fn watched<T>(watcher: Watcher, work: impl FnOnce() -> T) -> T {
    /// Puts the one who watched before back, whatever the work's end.
    struct Before(Option<Arc<Watcher>>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            WATCHER.with(|own| *own.borrow_mut() = before);
        }
    }
    let before = WATCHER.with(|own| own.replace(Some(Arc::new(watcher))));
    let _before = Before(before);
    work()
}

/// Whoever watches this thread.
pub(crate) fn watcher() -> Option<Arc<Watcher>> {
    WATCHER.with(|own| own.borrow().clone())
}
