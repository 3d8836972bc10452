//! Whether a server is alive, and whether it is ready, with all reasons why it is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A reason why a server is not ready: what it is about, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// The server has not met the others, or has lost them.
    Servers,
    /// A kind of jobs cannot be done in this session.
    Kind(String),
    /// A kind of jobs waits for inputs that another kind holds, and nothing is loaded.
    Waits(String),
    /// A kind of jobs has stopped until an operator has looked.
    Stopped(String),
    /// No batch of a kind begins, as a server says that it lacks what waits here.
    Stalled(String),
    /// The server takes leave, and takes nothing on.
    Leaving,
    /// The disk, or what is kept on it.
    Vault,
}

/// The state of a server, for those who ask.
#[derive(Debug, Default)]
pub struct Health {
    troubles: Mutex<BTreeMap<Trouble, String>>,
}

impl Health {
    /// Notes a trouble, in words.
    pub fn trouble(&self, trouble: Trouble, why: impl Into<String>) {
        self.lock().insert(trouble, why.into());
    }

    /// Notes that a trouble is over.
    pub fn over(&self, trouble: &Trouble) {
        self.lock().remove(trouble);
    }

    /// Whether the server can do all that it is there for.
    pub fn is_ready(&self) -> bool {
        self.lock().is_empty()
    }

    /// All troubles, a line each; `ready` without any.
    pub fn in_words(&self) -> String {
        let troubles = self.lock();
        if troubles.is_empty() {
            return "ready\n".to_owned();
        }
        let line = |(trouble, why): (&Trouble, &String)| match trouble {
            Trouble::Servers => format!("servers: {why}\n"),
            Trouble::Kind(kind)
            | Trouble::Waits(kind)
            | Trouble::Stopped(kind)
            | Trouble::Stalled(kind) => {
                format!("kind {kind}: {why}\n")
            }
            Trouble::Leaving => format!("leaving: {why}\n"),
            Trouble::Vault => format!("vault: {why}\n"),
        };
        troubles.iter().map(line).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Trouble, String>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
