//! Work that Python waits for: without its lock, ended by Ctrl-C, and with what happens told meanwhile.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use madrigal_app::failure::Failure;
use madrigal_app::stop::Group;
use madrigal_app::watch::{Event, Watcher, watched};
use madrigal_net::Warning;
use pyo3::prelude::*;

use crate::RunError;

/// How often Python looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);
/// Time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);
/// Time that parties have to tell each other of an interrupt.
const GRACE: Duration = Duration::from_millis(800);
/// Messages that are kept until Python takes them.
const MOST: usize = 1000;

/// Warnings of the process that nobody has heard yet.
static WARNINGS: Mutex<Vec<Warning>> = Mutex::new(Vec::new());

/// Has warnings of the process go to those who watch.
pub fn hear_warnings() {
    madrigal_net::on_warning(|warning| held(&WARNINGS).push(warning));
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever is told what happens.
pub struct Watch {
    /// Called with what happened, by the thread that waits.
    pub hear: Option<Py<PyAny>>,
    /// Whether standard error shows progress, if it is a terminal.
    pub terminal: bool,
}

/// Something that Python is told: a word for its kind, a text, two numbers, and whether it is a warning.
pub type Told = (&'static str, String, u64, u64, bool);

/// Events that Python has not heard yet.
#[derive(Default)]
struct Heard {
    events: Vec<Event>,
    /// How far the work is, if that is news.
    progress: Option<Event>,
}

/// What a watcher hears, for whoever asks.
#[derive(Clone, Default)]
pub struct Ear(Arc<Mutex<Heard>>);

impl Ear {
    /// The watcher that hears for it.
    pub fn watcher(&self, terminal: bool) -> Watcher {
        let heard = Arc::clone(&self.0);
        Watcher {
            terminal,
            tell: Box::new(move |event| {
                let mut heard = held(&heard);
                match event {
                    Event::Progress(_) | Event::Pieces { .. } => heard.progress = Some(event),
                    _ if heard.events.len() < MOST => heard.events.push(event),
                    _ => {}
                }
            }),
        }
    }

    /// All messages that are new, and how far the work is, if that is news and to be told.
    pub fn take(&self, progress: bool) -> Vec<Told> {
        let (events, progress) = {
            let mut heard = held(&self.0);
            let progress = if progress {
                heard.progress.take()
            } else {
                None
            };
            (std::mem::take(&mut heard.events), progress)
        };
        let warnings = std::mem::take(&mut *held(&WARNINGS)).into_iter();
        let warnings = warnings.map(|warning| ("said", warning.to_string(), 0, 0, true));
        let told = events.into_iter().chain(progress).map(|event| match event {
            Event::Met => ("met", String::new(), 0, 0, false),
            Event::Begins { online } => ("begins", phase(online).to_owned(), 0, 0, false),
            Event::Said { text, warning } => ("said", text, 0, 0, warning),
            Event::Progress(step) => {
                let phase = phase(step.online).to_owned();
                ("progress", phase, step.done, step.total, false)
            }
            Event::Pieces { done, total, name } => ("progress", name, done, total, false),
        });
        warnings.chain(told).collect()
    }
}

impl Watch {
    /// Nobody is told.
    pub fn nobody() -> Self {
        Self {
            hear: None,
            terminal: false,
        }
    }

    /// Does work on a thread of its own while this one looks for signals: an interrupt ends it. Work that an interrupt does not
    /// reach, as that of a plan, is left to end by itself, and starts no run any more.
    pub fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let (ear, group) = (Ear::default(), Group::default());
        let (watcher, own) = (ear.watcher(self.terminal), group.clone());
        let (send, receive) = channel();
        let thread = std::thread::Builder::new().name("madrigal".to_owned());
        let work = move || Group::enter(Some(own), || watched(watcher, work));
        // Nobody waits for it who was interrupted, and a receiver that has gone is no error.
        let started = thread.spawn(move || drop(send.send(work())));
        started.map_err(|error| RunError::new_err((error.to_string(), 1_u8)))?;
        let receive = Mutex::new(receive);
        let mut ending: Option<(PyErr, Instant)> = None;
        let mut reported = Instant::now();
        loop {
            let next = py.detach(|| held(&receive).recv_timeout(LOOK));
            let last = !matches!(next, Err(RecvTimeoutError::Timeout));
            let looked = match &ending {
                Some(_) => Ok(()),
                None => py
                    .check_signals()
                    .and_then(|()| self.tell(py, &ear, &mut reported, last)),
            };
            if let Err(error) = looked {
                group.stop();
                ending = Some((error, Instant::now()));
            }
            match (next, &ending) {
                (Err(RecvTimeoutError::Timeout), None) => {}
                (Err(RecvTimeoutError::Timeout), Some((_, since))) if since.elapsed() <= GRACE => {}
                (_, Some((error, _))) => return Err(error.clone_ref(py)),
                (Ok(done), None) => return done.map_err(|failure| crate::failed(&failure)),
                (Err(RecvTimeoutError::Disconnected), None) => {
                    return Err(RunError::new_err(("a party's thread panicked", 1_u8)));
                }
            }
        }
    }

    /// Tells Python what it has not heard: messages at once, progress some ten times a second.
    fn tell(&self, py: Python<'_>, ear: &Ear, reported: &mut Instant, last: bool) -> PyResult<()> {
        let Some(hear) = &self.hear else {
            return Ok(());
        };
        let told = ear.take(last || reported.elapsed() >= REPORT);
        if told.iter().any(|(kind, ..)| *kind == "progress") {
            *reported = Instant::now();
        }
        told.into_iter()
            .try_for_each(|one| hear.call1(py, one).map(drop))
    }
}

fn phase(online: bool) -> &'static str {
    match online {
        true => "online",
        false => "setup",
    }
}
