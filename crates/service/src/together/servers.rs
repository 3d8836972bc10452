//! The other servers, while there is a session, as the thread that meets them sees them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::{Error, Session};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use super::ahead::Ahead;
use super::kinds::{Common, KindDoor, KindTask};
use super::requests::RequestDoor;
use super::sitting::Sitting;
use crate::kind::Kind;
use crate::operation::Health;

/// Pause between two looks whether batches can begin.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Time for which servers that have to meet again wait for jobs that are at work.
const QUIET: Duration = Duration::from_secs(30);

/// The other servers, while there is a session.
pub(super) struct Servers<'a> {
    pub(super) common: &'a Rc<Common>,
    pub(super) ahead: &'a Rc<Ahead>,
    pub(super) doors: Rc<RefCell<BTreeMap<String, KindDoor>>>,
    pub(super) requests: &'a BTreeMap<String, RequestDoor>,
    pub(super) health: &'a Health,
    pub(super) names: Vec<String>,
    pub(super) memory: u64,
    /// The session, while there is one.
    pub(super) sitting: RefCell<Option<Sitting>>,
    /// Number of the last beginning of a kind: none has two with the same number.
    pub(super) generation: Cell<u64>,
    /// A server that has said that it takes leave.
    pub(super) left: Cell<Option<Party>>,
    /// Whether this server was told to take leave. Hearing that is given up halfway where the session ends or comes meanwhile, as it does when all are
    /// told at once.
    pub(super) told: Cell<bool>,
}

impl Servers<'_> {
    /// Begins to serve a kind.
    pub(super) fn add(&self, kind: Arc<Kind>) {
        let name = kind.config.name.clone();
        match KindTask::new(kind, Rc::clone(self.common)) {
            Ok((task, door)) => {
                spawn_local(task.work());
                self.doors.borrow_mut().insert(name, door);
            }
            Err(error) => self.common.keep.trouble(&error),
        }
    }

    /// A number that no other beginning of a kind has.
    pub(super) fn next_generation(&self) -> u64 {
        self.generation.set(self.generation.get() + 1);
        self.generation.get()
    }

    /// Has the servers meet again once no job is at work, or after a while.
    pub(super) fn meet_again(&self, session: Session) {
        let common = Rc::clone(self.common);
        spawn_local(async move {
            let until = Instant::now() + QUIET;
            while common.jobs.get() > 0 && Instant::now() < until {
                sleep(TICK).await;
            }
            let reason = "this server's kinds have changed".to_owned();
            session.fail(Error::Ended { reason });
        });
    }
}
