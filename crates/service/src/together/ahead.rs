//! Correlations ahead: the leader starts fillings in idle time, and all servers take part in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_net::Session;
use tokio::task::spawn_local;
use tracing::{debug, info, warn};

use super::kinds::Common;
use super::lines::Lines;
use super::notes::{AheadNote, Kinds, Note};
use crate::ahead::{Filled, Filling, Told, refuse};
use crate::operation::{FillingEnd, FillingLabel};

/// Time without a job after which fillings begin.
const IDLE: Duration = Duration::from_millis(100);
/// Pause between two looks whether it is idle.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Pauses of a kind after fillings that were given up, and after those that failed. Each further one is twice as long, up to the longest.
const GIVEN_UP: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
const FAILED: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Keeper of correlations ahead at a server.
pub(crate) struct Ahead {
    common: Rc<Common>,
    here: RefCell<Option<Here>>,
    /// Kinds that are not filled now: until when, and the pause that led to that.
    pauses: RefCell<BTreeMap<String, (Instant, Duration)>>,
}

/// A session.
struct Here {
    /// Number of the session among those of this process.
    generation: u64,
    session: Session,
    lines: Lines,
    /// First notes of all servers of the session, this one among them.
    told: Vec<Kinds>,
    /// Kinds that have begun and not ended.
    kinds: BTreeSet<String>,
    /// Kinds whose units were compared.
    settled: BTreeSet<String>,
}

impl Ahead {
    pub(crate) fn new(common: Rc<Common>) -> Rc<Self> {
        Rc::new(Self {
            common,
            here: RefCell::default(),
            pauses: RefCell::default(),
        })
    }

    /// Takes note of a session, which has a number of its own, with the first notes of all servers.
    pub(crate) fn up(&self, (generation, session, lines): (u64, Session, Lines), told: Vec<Kinds>) {
        *self.here.borrow_mut() = Some(Here {
            generation,
            session,
            lines,
            told,
            kinds: BTreeSet::new(),
            settled: BTreeSet::new(),
        });
    }

    /// Takes note that a kind has begun.
    pub(crate) fn began(&self, kind: &str) {
        let mut here = self.here.borrow_mut();
        let Some(here) = &mut *here else { return };
        here.kinds.insert(kind.to_owned());
        // Units that were made since the servers met are those of all.
        if here.settled.insert(kind.to_owned()) {
            let of = |kinds: &Kinds| kinds.ahead.get(kind).cloned().unwrap_or_default();
            let told: Vec<Told> = here.told.iter().map(of).collect();
            self.common.ahead.settle(kind, &told);
        }
    }

    /// Takes note that a kind has ended, which may begin again: a filling is given up, as not all servers may be at it.
    pub(crate) fn over(&self, kind: &str) {
        if let Some(here) = &mut *self.here.borrow_mut()
            && here.kinds.remove(kind)
        {
            self.common.ahead.give_way();
        }
    }

    /// Takes note that a kind is another one from now on: what was kept ready for the old one is of no use.
    pub(crate) fn replaced(&self, kind: &str) {
        self.over(kind);
        self.common.ahead.forget(kind);
    }

    /// Takes note that the session is over.
    pub(crate) fn down(&self) {
        self.here.take();
        self.common.ahead.down();
    }

    /// Looks again and again whether there is time to make something, as the leader.
    pub(crate) async fn look_forever(self: Rc<Self>) {
        if self.common.me != Party::new(0) {
            return;
        }
        loop {
            tokio::time::sleep(LOOK).await;
            self.look();
        }
    }

    fn look(self: &Rc<Self>) {
        let common = &self.common;
        let at_work = common.jobs.get() > 0 || common.admission.used() > 0;
        if at_work || common.leaving.get() {
            return common.ahead.give_way();
        }
        let now = Instant::now();
        if common.ahead.is_filling() || now.duration_since(common.ahead.busy()) < IDLE {
            return;
        }
        let found = self.here.borrow();
        let Some(here) = &*found else {
            return;
        };
        let paused =
            |kind: &str| (self.pauses.borrow().get(kind)).is_some_and(|(until, _)| now < *until);
        let may =
            |kind: &str| here.kinds.contains(kind) && !paused(kind) && !common.keep.is_closed(kind);
        let Some(kind) = common.ahead.neediest(may) else {
            return;
        };
        if let Some(unit) = common.ahead.make_room(&kind) {
            let note = AheadNote::Drop { unit };
            here.lines.send_all(&Note::Ahead {
                kind: kind.clone(),
                note,
            });
        }
        let Some(number) = common.job_number(&here.session) else {
            return;
        };
        let note = AheadNote::Filling {
            number,
            units: common.ahead.told(&kind).units,
        };
        here.lines.send_all(&Note::Ahead {
            kind: kind.clone(),
            note,
        });
        let here = (here.generation, here.session.clone());
        drop(found);
        self.fill(here, &kind, number);
    }

    /// Hears the leader. Gives what is wrong with the note.
    pub(crate) fn hear(self: &Rc<Self>, kind: &str, note: &AheadNote) -> Result<(), &'static str> {
        let here = match &*self.here.borrow() {
            Some(here) if here.kinds.contains(kind) => (here.generation, here.session.clone()),
            // It ended here while the note was on its way. The leader hears of it, and gives up what it has begun.
            Some(_) => return Ok(()),
            None => return Err("correlations in a session without any"),
        };
        match *note {
            AheadNote::Drop { unit } => {
                self.common.ahead.with(kind, |shelf| shelf.drop_unit(unit));
            }
            AheadNote::Filling { number, ref units } => {
                // Units that the leader lacks are of no use: one of the two was cut off in the middle.
                let units = units.iter().copied().collect();
                self.common
                    .ahead
                    .with(kind, |shelf| shelf.keep_only(&units));
                self.fill(here, kind, number);
            }
        }
        Ok(())
    }

    /// Makes a unit together with the others, beside all else.
    fn fill(self: &Rc<Self>, (generation, session): (u64, Session), kind: &str, number: u32) {
        let (ahead, kind) = (Rc::clone(self), kind.to_owned());
        let begun = self.begin(&session, &kind, number);
        spawn_local(async move {
            let filled = match begun {
                Ok(end) => end.await.unwrap_or_else(|_| {
                    Filled::Failed("a fault of madrigal: a filling panicked".to_owned())
                }),
                Err(Refused { spec, problem }) => {
                    let told = problem.clone();
                    let error = refuse(&session, number, spec.as_deref(), told).await;
                    Filled::Failed(format!("{problem}; {error}"))
                }
            };
            let here = ahead.here.borrow().as_ref().map(|here| here.generation);
            let current = here == Some(generation);
            ahead.ended(&kind, number, filled, current);
        });
    }

    fn begin(
        &self,
        session: &Session,
        kind: &str,
        number: u32,
    ) -> Result<tokio::sync::oneshot::Receiver<Filled>, Refused> {
        let refused = |problem: String| Refused {
            spec: None,
            problem,
        };
        let threads = session.common_threads(self.common.servers);
        let threads = threads.map_err(|error| refused(error.to_string()))?;
        let begun = self.common.ahead.with(kind, |shelf| {
            let spec = shelf.spec(threads).map_err(refused)?;
            // The leader makes room first, and this server may have one more at work.
            if !shelf.has_room(1) {
                let problem = format!("there are too many units of kind {kind} at this server");
                let spec = Some(Box::new(spec));
                return Err(Refused { spec, problem });
            }
            Ok((spec, shelf.place()))
        });
        let (spec, place) = begun.unwrap_or_else(|| {
            Err(refused(format!(
                "kind {kind} keeps no correlations ready at this server"
            )))
        })?;
        debug!(kind, number, "correlations are made ahead");
        match Filling::start((session, number), spec, place) {
            Ok((filling, end)) => {
                self.common.ahead.begun(filling);
                Ok(end)
            }
            Err(error) => Err(refused(format!("cannot start a thread: {error}"))),
        }
    }

    fn ended(self: &Rc<Self>, kind: &str, number: u32, filled: Filled, current: bool) {
        let common = &self.common;
        common.ahead.ended(number);
        let end = match filled {
            Filled::Done(directory) => {
                common.ahead.with(kind, |shelf| match current {
                    true => shelf.put(directory),
                    false => shelf.discard(&directory),
                });
                let there = common
                    .ahead
                    .with(kind, |shelf| (shelf.whole(), shelf.level));
                if let Some((whole, level)) = there.filter(|(whole, level)| whole == level) {
                    info!(kind, units = whole, level, "correlations are ready");
                }
                self.pauses.borrow_mut().remove(kind);
                FillingEnd::Done
            }
            Filled::GivenUp => {
                self.pause(kind, GIVEN_UP);
                FillingEnd::GivenUp
            }
            Filled::Failed(reason) if !current => {
                debug!(
                    kind,
                    reason, "correlations were not made, as the session has ended"
                );
                FillingEnd::GivenUp
            }
            Filled::Failed(reason) => {
                // At followers that is how they hear that the leader has given it up, too.
                match common.me == Party::new(0) {
                    true => warn!(kind, reason, "correlations were not made ahead"),
                    false => debug!(kind, reason, "correlations were not made ahead"),
                }
                self.pause(kind, FAILED);
                FillingEnd::Failed
            }
        };
        let label = FillingLabel {
            kind: kind.to_owned(),
            end,
        };
        common.meters.fillings.get_or_create(&label).inc();
        if common.me == Party::new(0) && end == FillingEnd::Done {
            self.look();
        }
    }

    fn pause(&self, kind: &str, [shortest, longest]: [Duration; 2]) {
        let mut pauses = self.pauses.borrow_mut();
        let before = pauses.get(kind).map(|(_, pause)| 2 * *pause);
        let pause = before.unwrap_or(shortest).clamp(shortest, longest);
        pauses.insert(kind.to_owned(), (Instant::now() + pause, pause));
    }
}

/// Reason why a server takes no part in a filling.
struct Refused {
    /// The unit that was to be made, if this server knows it.
    spec: Option<Box<madrigal_engine::StoreSpec>>,
    problem: String,
}
