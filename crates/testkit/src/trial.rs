//! Runs a session to which a fault happens, and tells how it ends.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_net::transport::{Fault, FaultKind, Faulty, Transport, mesh};
use madrigal_net::{Blame, Context, Error, Result, Session, block_on};

use crate::World;

/// Ends of one party.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The right result.
    Right,
    /// Another result: the worst that can happen.
    Wrong,
    /// An error.
    Error(Error),
    /// No end within the time limit.
    TimedOut,
    /// A panic, which said this.
    Panicked(String),
}

/// End of one party of a [`Trial`], and its time.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Outcome of the party.
    pub outcome: Outcome,
    /// Time from the start of all parties; for one that did not end, the time limit.
    pub after: Duration,
}

/// A session to which a fault happened.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Fault that was to happen.
    pub fault: Fault,
    /// Whether the fault happened: the session may have ended before.
    pub fired: bool,
    /// End of each party.
    pub endings: Vec<Ending>,
}

/// Parties that lose patience soon, so that trials of faults are short: `patience` 1 is for a machine
/// that has time for them, more for others. `limit` for [`run_with_fault`] comes with them: silence
/// once for what is missed, once more for what is missed because of it, and then some.
pub fn impatient(parties: usize, seed: u64, patience: u32) -> (World, Duration) {
    let world = World::light(parties, seed).with_limits(|limits| {
        limits.silence = patience * Duration::from_millis(400);
        limits.stall = patience * Duration::from_millis(1200);
        limits.patience = patience * Duration::from_millis(1200);
        limits.window = 1 << 20;
        limits.store = 4 << 20;
    });
    (world, patience * Duration::from_secs(10))
}

/// Runs `trial`, which takes the patience for [`impatient`]. A party that was given no time to run is
/// silent and is blamed for it: a complaint that rests on the clock must come again from parties with
/// ten times the patience. One of another kind, a hang or a wrong result too, counts at once.
///
/// # Panics
/// With the complaint; `again` says how to have this trial again.
pub fn must_end_well(again: &str, trial: impl Fn(u32) -> Trial) -> Trial {
    let mut tried = trial(1);
    if tried.complaint().is_some() && tried.rests_on_the_clock() {
        println!("a party was late; again with more patience ({again})");
        tried = trial(10);
    }
    if let Some(complaint) = tried.complaint() {
        panic!("{complaint}\nagain: {again}");
    }
    tried
}

/// Runs `program` as all parties of `world` in memory while `fault` happens. `right` judges a
/// party's result. Parties that have not ended `limit` after the start are left behind and reported.
pub fn run_with_fault<T, F>(
    world: &World,
    fault: Fault,
    limit: Duration,
    program: impl Fn(Context) -> F + Send + Sync + 'static,
    right: impl Fn(Party, &T) -> bool + Send + Sync + 'static,
) -> Trial
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let transports = mesh(world.parties());
    run_with_fault_over(world, transports, fault, limit, program, right)
}

/// Runs [`run_with_fault`] over any transports.
pub fn run_with_fault_over<T, F>(
    world: &World,
    transports: Vec<impl Transport>,
    fault: Fault,
    limit: Duration,
    program: impl Fn(Context) -> F + Send + Sync + 'static,
    right: impl Fn(Party, &T) -> bool + Send + Sync + 'static,
) -> Trial
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let run = move |world: &World, me, transport| {
        let ended = world.run_one(me, transport, &program);
        ended.map(|(output, _)| output)
    };
    run_parties(world, transports, fault, limit, run, right)
}

/// Runs a session with a fault in which the parties run as many jobs as they like.
pub fn run_session_with_fault<T, F>(
    world: &World,
    fault: Fault,
    limit: Duration,
    work: impl Fn(Session) -> F + Send + Sync + 'static,
    right: impl Fn(Party, &T) -> bool + Send + Sync + 'static,
) -> Trial
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let run = move |world: &World, me, transport| {
        block_on(async {
            let session = Session::new(world.config(me), transport);
            session.greet().await?;
            let output = work(session.clone()).await?;
            session.close().await;
            Ok(output)
        })
    };
    run_parties(world, mesh(world.parties()), fault, limit, run, right)
}

fn run_parties<T: Send + 'static, R: Transport>(
    world: &World,
    transports: Vec<R>,
    fault: Fault,
    limit: Duration,
    run: impl Fn(&World, Party, Faulty<R>) -> Result<T> + Send + Sync + 'static,
    right: impl Fn(Party, &T) -> bool + Send + Sync + 'static,
) -> Trial {
    let parties = world.parties();
    let transports = Faulty::all(transports, fault);
    let fired = transports[0].fired();
    let shared = Arc::new((world.clone(), run, right));
    let (report, reports) = mpsc::channel();
    let start = Instant::now();
    for (me, transport) in Party::all(parties).zip(transports) {
        let shared = Arc::clone(&shared);
        let report = report.clone();
        std::thread::spawn(move || {
            let (world, run, right) = &*shared;
            let run = || run(world, me, transport);
            let outcome = match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Ok(output)) if right(me, &output) => Outcome::Right,
                Ok(Ok(_)) => Outcome::Wrong,
                Ok(Err(error)) => Outcome::Error(error),
                Err(panic) => Outcome::Panicked(words(&*panic)),
            };
            // Nobody listens any more if we are late.
            let _ = report.send((me, outcome, start.elapsed()));
        });
    }
    let late = Ending {
        outcome: Outcome::TimedOut,
        after: limit,
    };
    let mut endings = vec![late; parties];
    for _ in 0..parties {
        let left = limit.saturating_sub(start.elapsed());
        let Ok((party, outcome, after)) = reports.recv_timeout(left) else {
            break;
        };
        endings[party.index()] = Ending { outcome, after };
    }
    Trial {
        fault,
        fired: fired(),
        endings,
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("something that is not text")
        .into()
}

impl Trial {
    /// Says what is wrong with how the session ended, if anything is: a party that hung, panicked or had
    /// a wrong result; an error where there was no reason for one; the blame on a party that did
    /// nothing. That a party ends well is always right: it may have been done before the fault.
    pub fn complaint(&self) -> Option<String> {
        let fault = self.fault;
        for (party, ending) in Party::all(self.endings.len()).zip(&self.endings) {
            let killed = fault.kind == FaultKind::Kill && party == fault.party;
            let problem = match &ending.outcome {
                Outcome::Right => continue,
                Outcome::Wrong => "has a wrong result".into(),
                Outcome::TimedOut => "did not end".into(),
                Outcome::Panicked(what) => format!("panicked: {what}"),
                Outcome::Error(error) if !self.fired || fault.kind.harmless() => {
                    format!("failed without a reason: {error}")
                }
                Outcome::Error(_) if killed => continue,
                Outcome::Error(error) if !self.may_say(party, error) => {
                    format!("puts the blame where it does not belong: {error}")
                }
                Outcome::Error(_) => continue,
            };
            return Some(format!("{party} {problem}\n{self}"));
        }
        None
    }

    /// Whether `error` at `party` tells the truth about the fault, as far as `party` can know it.
    fn may_say(&self, party: Party, error: &Error) -> bool {
        let Fault {
            kind,
            party: by,
            peer,
            ..
        } = self.fault;
        let culprit = error.culprit();
        if kind.traceless() && self.endings.len() > 2 {
            return culprit.is_some();
        }
        match kind {
            // A party that hears nothing any more cannot know that it is because of itself.
            FaultKind::Stall if party == by => culprit.is_some(),
            // Whoever hears of it from another party too.
            FaultKind::Kill => culprit == Some(by) && error.blame() == Blame::Network,
            FaultKind::Cut { .. } | FaultKind::Truncate => {
                culprit == Some(by) || culprit == Some(peer)
            }
            _ => culprit == Some(by),
        }
    }

    /// Whether a party gave up because of what did not happen in time.
    fn rests_on_the_clock(&self) -> bool {
        self.endings.iter().any(|ending| {
            matches!(
                &ending.outcome,
                Outcome::Error(
                    Error::Silent { .. }
                        | Error::Stalled { .. }
                        | Error::Backlog { .. }
                        | Error::Late { .. }
                )
            )
        })
    }

    /// The time after which the last party ended.
    pub fn slowest(&self) -> Duration {
        self.endings
            .iter()
            .map(|ending| ending.after)
            .max()
            .unwrap_or_default()
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.fault)?;
        if !self.fired {
            write!(f, ", which never came")?;
        }
        for (party, Ending { outcome, after }) in Party::all(self.endings.len()).zip(&self.endings)
        {
            write!(f, "\n  {party} after {:.2} s: ", after.as_secs_f64())?;
            match outcome {
                Outcome::Right => write!(f, "the right result"),
                Outcome::Wrong => write!(f, "A WRONG RESULT"),
                Outcome::Error(error) => write!(f, "{error}"),
                Outcome::TimedOut => write!(f, "STILL RUNNING"),
                Outcome::Panicked(what) => write!(f, "PANIC: {what}"),
            }?;
        }
        Ok(())
    }
}
