//! Work that Python waits for: without its lock, ended by Ctrl-C, and with what happens told meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use madrigal_app::failure::Failure;
use madrigal_app::stop::interrupt;
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

/// Events that Python has not heard yet.
#[derive(Default)]
struct Heard {
    events: Vec<Event>,
    /// How far the work is, if that is news.
    progress: Option<Event>,
}

impl Watch {
    /// Nobody is told.
    pub fn nobody() -> Self {
        Self {
            hear: None,
            terminal: false,
        }
    }

    /// Does work on a thread of its own while this one looks for signals: an interrupt ends all runs of the process. Work
    /// that an interrupt does not reach, as that of a plan, is left to end by itself, and starts no run any more.
    pub fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let stopped = Arc::new(AtomicBool::new(false));
        let watcher = Watcher {
            terminal: self.terminal,
            stopped: Arc::clone(&stopped),
            tell: Box::new({
                let heard = Arc::clone(&heard);
                move |event| {
                    let mut heard = held(&heard);
                    match event {
                        Event::Progress(_) | Event::Pieces { .. } => heard.progress = Some(event),
                        _ if heard.events.len() < MOST => heard.events.push(event),
                        _ => {}
                    }
                }
            }),
        };
        let (send, receive) = channel();
        let thread = std::thread::Builder::new().name("madrigal".to_owned());
        // Nobody waits for it who was interrupted, and a receiver that has gone is no error.
        let started = thread.spawn(move || drop(send.send(watched(watcher, work))));
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
                    .and_then(|()| self.tell(py, &heard, &mut reported, last)),
            };
            if let Err(error) = looked {
                stopped.store(true, Ordering::Relaxed);
                ending = Some((error, Instant::now()));
            }
            match (next, ending.take()) {
                (Err(RecvTimeoutError::Timeout), None) => {}
                (Err(RecvTimeoutError::Timeout), Some((error, since))) => {
                    if since.elapsed() > GRACE {
                        return Err(error);
                    }
                    // Again and again: a run may just have begun.
                    interrupt();
                    ending = Some((error, since));
                }
                (_, Some((error, _))) => return Err(error),
                (Ok(done), None) => return done.map_err(|failure| crate::failed(&failure)),
                (Err(RecvTimeoutError::Disconnected), None) => {
                    return Err(RunError::new_err(("a party's thread panicked", 1_u8)));
                }
            }
        }
    }

    /// Tells Python what it has not heard: messages at once, progress some ten times a second.
    fn tell(
        &self,
        py: Python<'_>,
        heard: &Mutex<Heard>,
        reported: &mut Instant,
        last: bool,
    ) -> PyResult<()> {
        let (events, progress) = {
            let mut heard = held(heard);
            let due = last || reported.elapsed() >= REPORT;
            let progress = if due { heard.progress.take() } else { None };
            (std::mem::take(&mut heard.events), progress)
        };
        let Some(hear) = &self.hear else {
            return Ok(());
        };
        for warning in std::mem::take(&mut *held(&WARNINGS)) {
            hear.call1(py, ("said", warning.to_string(), true))?;
        }
        for event in events {
            match event {
                Event::Met => hear.call1(py, ("met",))?,
                Event::Begins { online } => hear.call1(py, ("begins", phase(online)))?,
                Event::Said { text, warning } => hear.call1(py, ("said", text, warning))?,
                Event::Progress(_) | Event::Pieces { .. } => continue,
            };
        }
        match progress {
            Some(Event::Progress(step)) => {
                let phase = phase(step.online);
                hear.call1(py, ("progress", phase, step.done, step.total))?;
            }
            Some(Event::Pieces { done, total, name }) => {
                hear.call1(py, ("progress", name, done, total))?;
            }
            _ => return Ok(()),
        }
        *reported = Instant::now();
        Ok(())
    }
}

fn phase(online: bool) -> &'static str {
    match online {
        true => "online",
        false => "setup",
    }
}
