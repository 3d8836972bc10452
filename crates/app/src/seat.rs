//! A party in a session that stays, and the way in which that ends.

use std::cell::{Cell, RefCell};

use madrigal_engine::{Progress, RunError};
use madrigal_net::Session;

use crate::ahead::JOB;
use crate::clients::Server;
use crate::failure::{Failure, Result, Status};
use crate::flags::TransportArg;

/// A failure as it can be told several times.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The failure in words, with its remedy.
    pub text: String,
    /// The exit status that a command would end with.
    pub status: Status,
    /// Whether it only echoes another party's failure.
    pub echo: bool,
}

/// A party in its session.
pub struct Seat<'a> {
    session: &'a Session,
    observe: &'a dyn Fn(Progress),
    transport: TransportArg,
    server: Option<&'a Server>,
    names: &'a [String],
    /// Number of the next job.
    next: Cell<u32>,
    /// Failure of a job, after which there is no other one.
    failed: RefCell<Option<Ending>>,
}

impl From<&Failure> for Ending {
    fn from(failure: &Failure) -> Self {
        Self {
            text: failure.to_string(),
            status: failure.status(),
            echo: failure.is_echo(),
        }
    }
}

impl Ending {
    /// The failure of what was to come after it.
    pub(crate) fn for_later(&self) -> Self {
        let text = &self.text;
        let text = format!("the session with the other parties has ended: {text}; connect again");
        Self {
            text,
            ..self.clone()
        }
    }

    /// The failure of what comes when the parties here have left.
    pub(crate) fn closed() -> Self {
        Self {
            text: "the session with the other parties was closed; connect again".to_owned(),
            status: Status::Usage,
            echo: true,
        }
    }
}

impl<'a> Seat<'a> {
    pub(crate) fn new(
        session: &'a Session,
        observe: &'a dyn Fn(Progress),
        transport: TransportArg,
        server: Option<&'a Server>,
        names: &'a [String],
    ) -> Self {
        Self {
            session,
            observe,
            transport,
            server,
            names,
            next: Cell::new(JOB),
            failed: RefCell::new(None),
        }
    }

    /// The session.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// Observer of progress.
    pub(crate) fn observe(&self) -> &'a dyn Fn(Progress) {
        self.observe
    }

    /// Transport between the parties.
    pub fn transport(&self) -> TransportArg {
        self.transport
    }

    /// The party as share files are for it, if it is one of several machines.
    pub fn server(&self) -> Option<&'a Server> {
        self.server
    }

    /// Names of all parties in the list of them; none where all run in this process.
    pub fn names(&self) -> &'a [String] {
        self.names
    }

    /// Number of the next job.
    pub(crate) fn next_job(&self) -> u32 {
        self.next.get()
    }

    /// Notes that all jobs below this number were used.
    pub(crate) fn went_on(&self, next: u32) {
        self.next.set(next);
    }

    /// Notes the failure of a job.
    pub(crate) fn fail(&self, failure: Ending) {
        *self.failed.borrow_mut() = Some(failure);
    }

    /// The failure of a job between the parties, if there was one.
    pub(crate) fn failure(&self) -> Option<Ending> {
        self.failed.borrow().clone()
    }

    /// Does something that takes several of the session's jobs, from a number on; it gives the number of the next one, and its result. What is
    /// wrong with it here alone is to be found out before: a failure ends the session.
    ///
    /// # Errors
    /// Failure of `run`.
    pub async fn jobs<T>(
        &self,
        run: impl AsyncFnOnce(u32, &dyn Fn(Progress)) -> Result<(u32, T)>,
    ) -> Result<T> {
        let (next, done) = (run(self.next.get(), self.observe).await)
            .inspect_err(|failure| self.fail(Ending::from(failure)))?;
        self.next.set(next);
        Ok(done)
    }

    /// Does something as the session's next job; gives its number too. What was refused before anything was sent leaves the
    /// number to the next one.
    ///
    /// # Errors
    /// Error of `run`.
    pub async fn job<T>(
        &self,
        run: impl AsyncFnOnce(u32, &dyn Fn(Progress)) -> Result<T, RunError>,
    ) -> Result<(u32, T)> {
        let job = self.next.get();
        let done = run(job, self.observe).await;
        match &done {
            // All parties find the same.
            Ok(_) | Err(RunError::Unmet { .. }) => self.next.set(job.saturating_add(1)),
            Err(RunError::Net(error)) => {
                self.fail(Ending::from(&Failure::from(error.clone())));
            }
            Err(_) => {}
        }
        Ok((job, done?))
    }
}
