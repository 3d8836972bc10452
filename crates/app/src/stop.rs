//! Being told to stop: on SIGTERM, SIGINT (Ctrl-C) and SIGHUP a party gives up what it does, tells the others,
//! wipes its secrets and ends with the status that shells expect, 128 and the signal's number. So it also ends
//! as the first process of a container, which the system ends by no signal that it does not handle.
//!
//! A signal that is ignored when the program starts, as `nohup` and shells have it, stays ignored. A program without
//! tasks that must end in good order ends at once. With such tasks it ends when they have ended, on a second
//! signal, or after ten seconds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::progress::say;
use crate::status::Status;

/// Time that tasks have to end in good order once they are told.
const GRACE: Duration = Duration::from_secs(10);

/// A signal that ends a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The terminal has gone.
    Hangup,
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, which service managers send.
    Terminate,
    /// No signal: who runs parties in a process of theirs gave them up ([`Group::stop`]).
    Caller,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Hangup, Self::Interrupt, Self::Terminate];

    /// The exit status of a program that the signal ends.
    pub fn status(self) -> Status {
        match self {
            Self::Hangup => Status::Hangup,
            Self::Interrupt | Self::Caller => Status::Interrupted,
            Self::Terminate => Status::Terminated,
        }
    }

    /// Number of the signal.
    fn number(self) -> u32 {
        self.status() as u32 - 128
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Caller => "whoever started it",
        })
    }
}

/// The signal that the process was told to stop by, and whom to tell of it.
struct State {
    told: Option<Signal>,
    next: u64,
    waiting: BTreeMap<u64, (Option<Group>, Tell)>,
}

type Tell = Box<dyn FnOnce(Signal) + Send>;

/// Runs of a process that goes on when they end: one where somebody else handles signals, and many runs may be under way. What
/// threads begin [within](Self::enter) a group belongs to it.
#[derive(Debug, Clone, Default)]
pub struct Group(Arc<AtomicBool>);

thread_local! {
    static GROUP: RefCell<Option<Group>> = const { RefCell::new(None) };
}

impl Group {
    /// The group that this thread is in, if it is in one.
    pub fn current() -> Option<Self> {
        GROUP.with_borrow(Clone::clone)
    }

    /// Does `work` in a group, or in none.
    pub fn enter<T>(group: Option<Self>, work: impl FnOnce() -> T) -> T {
        let before = GROUP.replace(group);
        let done = work();
        GROUP.set(before);
        done
    }

    /// Ends all runs of the group, those too that are yet to begin: their parties tell the others.
    pub fn stop(&self) {
        let told: Vec<Tell> = {
            let mut state = state();
            self.0.store(true, SeqCst);
            let own = |group: &Self| Arc::ptr_eq(&group.0, &self.0);
            let waiting = std::mem::take(&mut state.waiting).into_iter();
            let (told, others): (Vec<_>, Vec<_>) =
                waiting.partition(|(_, (group, _))| group.as_ref().is_some_and(own));
            state.waiting = others.into_iter().collect();
            told.into_iter().map(|(_, (_, tell))| tell).collect()
        };
        told.into_iter().for_each(|tell| tell(Signal::Caller));
    }
}

static STATE: Mutex<State> = Mutex::new(State {
    told: None,
    next: 0,
    waiting: BTreeMap::new(),
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The signal that this process was told to stop by, if it was.
pub fn told() -> Option<Signal> {
    state().told
}

/// Has `tell` called once when the process is told to stop, as long as the subscription lives; at once if it was
/// told already. `tell` must not wait.
pub fn when_told(tell: impl FnOnce(Signal) + Send + 'static) -> Subscription {
    let group = Group::current();
    let mut state = state();
    let stopped = group.as_ref().is_some_and(|group| group.0.load(SeqCst));
    if let Some(signal) = state.told.or(stopped.then_some(Signal::Caller)) {
        drop(state);
        tell(signal);
        return Subscription(None);
    }
    let number = state.next;
    state.next += 1;
    state.waiting.insert(number, (group, Box::new(tell)));
    Subscription(Some(number))
}

/// A place among those that are told of a signal.
#[derive(Debug)]
#[must_use = "who drops it is not told"]
pub struct Subscription(Option<u64>);

impl Drop for Subscription {
    fn drop(&mut self) {
        let tell = self.0.and_then(|number| state().waiting.remove(&number));
        // The sender is dropped after the lock: what it holds may ask for the state when it goes.
        drop(tell);
    }
}

/// Whether a command hears signals itself.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Leaves signals to a command that hears them itself from now on: one that stays, and ends in an order of its own.
pub fn leave_signals_to_the_command() {
    ELSEWHERE.store(true, SeqCst);
}

/// Watches for signals from now on. A program calls it first of all; a library's user has handlers of its own.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let thread = thread::Builder::new().name("signals".to_owned());
        // Without such a thread, signals do what they do by default.
        let _ = thread.spawn(wait);
    });
}

#[cfg(unix)]
fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let ignored = ignored();
    runtime.block_on(async {
        let heard = Signal::ALL.into_iter().filter_map(|one| {
            let kind = match one {
                Signal::Hangup => SignalKind::hangup(),
                Signal::Interrupt => SignalKind::interrupt(),
                Signal::Terminate => SignalKind::terminate(),
                Signal::Caller => return None,
            };
            let ignored = ignored >> (one.number() - 1) & 1 == 1;
            Some((one, (!ignored).then(|| signal(kind).ok()).flatten()?))
        });
        let mut heard: Vec<_> = heard.collect();
        let mut next = async || {
            poll_fn(|task| {
                let came = heard
                    .iter_mut()
                    .find_map(|(one, stream)| stream.poll_recv(task).is_ready().then_some(*one));
                came.map_or(Poll::Pending, Poll::Ready)
            })
            .await
        };
        let first = loop {
            let came = next().await;
            if !ELSEWHERE.load(SeqCst) {
                break came;
            }
        };
        if tell(first) {
            let _ = tokio::time::timeout(GRACE, next()).await;
        }
        say(format_args!("stopped by {first}"));
        process::exit(first.status() as i32);
    });
}

#[cfg(not(unix))]
fn wait() {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return;
    };
    runtime.block_on(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            if tell(Signal::Interrupt) {
                let _ = tokio::time::timeout(GRACE, tokio::signal::ctrl_c()).await;
            }
            process::exit(Signal::Interrupt.status() as i32);
        }
    });
}

/// Tells all that wait for a signal; gives whether any did.
fn tell(signal: Signal) -> bool {
    let waiting = {
        let mut state = state();
        state.told = Some(signal);
        std::mem::take(&mut state.waiting)
    };
    let anybody = !waiting.is_empty();
    waiting.into_values().for_each(|(_, tell)| tell(signal));
    anybody
}

/// The signals that were ignored when the program began, a bit for each from the first on: where the system
/// says so.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
