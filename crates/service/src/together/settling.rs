//! Kinds begin and end within a session, as servers tell which ones they have: see [`Sitting`].

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use madrigal_core::{Digest256, Party};
use tracing::{debug, info, warn};

use super::kinds::{InSession, KindDoor, KindEvent};
use super::lines::Lines;
use super::notes::{Kinds, Note};
use super::servers::Servers;
use super::sitting::{Beginning, Sitting};
use super::versions::NotesVersion;
use crate::kind::Kind;
use crate::operation::Trouble;

/// The leader, which says when kinds begin.
const LEADER: Party = Party::new(0);

impl Servers<'_> {
    /// Takes a server's word on its kinds, the first or a later one.
    pub(super) fn told_kinds(&self, from: Party, kinds: Kinds) {
        if let Some(sitting) = &mut *self.sitting.borrow_mut() {
            sitting.theirs.insert(from, kinds);
        }
    }

    /// Finds out which kinds are ready, once all servers have told theirs. The leader begins those that are and have not begun, and ends those that
    /// are not any more; in version 3 each server does, once in a session.
    pub(super) fn settle(&self) {
        let mut sitting = self.sitting.borrow_mut();
        let Some(sitting) = &mut *sitting else {
            return;
        };
        if sitting.theirs.len() + 1 < self.common.servers {
            return;
        }
        let begins = self.common.me == LEADER || !sitting.is_anew();
        for (name, door) in &*self.doors.borrow() {
            let differs = sitting.differs(name, door);
            let closed = self.common.keep.is_closed(name);
            let trouble = Trouble::Kind(name.clone());
            // Whoever has taken a kind out does not miss it.
            let gone = sitting.is_closed(name);
            match (gone.is_some(), sitting.begun.contains_key(name)) {
                (true, _) => self.ahead.over(name),
                (false, true) => self.ahead.began(name),
                (false, false) => {}
            }
            let why = differs.clone().or(gone);
            match why.filter(|_| !closed) {
                None => {
                    sitting.logged.remove(name);
                    self.health.over(&trouble);
                }
                Some(why) => {
                    if sitting.logged.get(name) != Some(&why) {
                        warn!(kind = name, why, "a kind is not ready");
                        sitting.logged.insert(name.clone(), why.clone());
                    }
                    self.health.trouble(trouble, why);
                }
            }
            let digest = Digest256(door.kind.digest);
            let begun = sitting.begun.get(name);
            let same = begun.is_some_and(|begun| begun.digest == digest);
            // Followers go by the leader's word alone: another follower's may come to them later than to the leader, and be about what is over.
            if !begins {
                continue;
            }
            if differs.is_some() && begun.is_some() {
                sitting.end(name);
                self.ahead.over(name);
                door.tell(KindEvent::Down);
            } else if differs.is_none() && !same {
                sitting.last += 1;
                let number = sitting.last;
                if sitting.is_anew() {
                    sitting.lines.send_all(&Note::Begin {
                        kind: name.clone(),
                        digest,
                        number,
                    });
                }
                self.begin(sitting, (name, door), number);
            }
        }
    }

    /// Begins a kind here.
    fn begin(&self, sitting: &mut Sitting, (name, door): (&str, &KindDoor), number: u32) {
        sitting.end(name);
        let open = Rc::new(Cell::new(true));
        door.tell(KindEvent::Up(InSession {
            generation: self.next_generation(),
            session: sitting.session.clone(),
            lines: sitting.lines.clone(),
            open: Rc::clone(&open),
        }));
        let beginning = Beginning {
            digest: Digest256(door.kind.digest),
            number,
            by: BTreeSet::new(),
            open,
        };
        sitting.begun.insert(name.to_owned(), beginning);
        self.ahead.began(name);
    }

    /// A kind begins, by the leader's word.
    pub(super) fn told_begin(&self, name: &str, digest: Digest256, number: u32) {
        let (doors, mut sitting) = (self.doors.borrow(), self.sitting.borrow_mut());
        let door = doors.get(name).filter(|door| door.kind.digest == digest.0);
        let (Some(door), Some(sitting)) = (door, &mut *sitting) else {
            // The leader hears of our kinds anew, and then begins another time if they fit.
            debug!(
                kind = name,
                "a kind begins that is not here as the leader knows it"
            );
            return;
        };
        let kind = name.to_owned();
        sitting.lines.send(LEADER, Note::Begun { kind, number });
        self.begin(sitting, (name, door), number);
    }

    /// A follower has begun a kind.
    pub(super) fn told_begun(&self, from: Party, name: &str, number: u32) {
        if let Some(sitting) = &mut *self.sitting.borrow_mut()
            && let Some(begun) = sitting.begun.get_mut(name)
            && begun.number == number
        {
            begun.by.insert(from);
        }
    }

    /// Whether a note of a server about a kind is of the beginning that holds; nothing where all are, as in version 3.
    pub(super) fn is_of_beginning(&self, from: Party, name: &str) -> Option<bool> {
        let sitting = self.sitting.borrow();
        let sitting = sitting.as_ref().filter(|sitting| sitting.is_anew())?;
        let begun = sitting.begun.get(name);
        let leads = self.common.me == LEADER;
        Some(begun.is_some_and(|begun| !leads || begun.by.contains(&from)))
    }

    /// This server's kinds, as it tells the others.
    pub(super) fn ours(&self, lines: &Lines) -> Kinds {
        let doors = self.doors.borrow();
        let kinds = doors.iter();
        let kinds = kinds.map(|(name, door)| (name.clone(), Digest256(door.kind.digest)));
        let closed = doors.keys().filter(|name| {
            lines.notes.has(NotesVersion::KINDS_ANEW) && self.common.keep.is_closed(name)
        });
        let requests = self.requests.iter();
        let requests = requests.map(|(name, door)| (name.clone(), door.told()));
        let told = |name: &String| (name.clone(), self.common.ahead.told(name));
        let makes_ahead = lines.notes.has(NotesVersion::AHEAD);
        let ahead = doors.keys().filter(|_| makes_ahead).map(told);
        Kinds {
            ahead: ahead.collect(),
            kinds: kinds.collect(),
            closed: closed.cloned().collect(),
            requests: requests.collect(),
            memory: self.memory,
        }
    }

    /// Whether servers of this session tell their kinds anew.
    pub(super) fn tells_anew(&self) -> bool {
        let sitting = self.sitting.borrow();
        sitting.as_ref().is_some_and(Sitting::is_anew)
    }

    /// Takes the kinds of a file that was read again, and tells the others.
    pub(super) fn reload(&self, kinds: Vec<Arc<Kind>>) {
        let mut changed = false;
        for kind in kinds {
            let mut doors = self.doors.borrow_mut();
            match doors.get_mut(&kind.config.name) {
                Some(door) if door.kind.digest == kind.digest => door.renew(kind),
                before => {
                    changed = true;
                    if let Some(before) = before {
                        before.tell(KindEvent::Gone);
                        self.ahead.replaced(&kind.config.name);
                        if let Some(sitting) = &mut *self.sitting.borrow_mut() {
                            sitting.end(&kind.config.name);
                        }
                    }
                    drop(doors);
                    self.add(kind);
                }
            }
        }
        let sitting = self.sitting.borrow();
        let Some(Sitting { session, lines, .. }) = &*sitting else {
            return;
        };
        if lines.notes.has(NotesVersion::KINDS_ANEW) {
            lines.send_all(&Note::Kinds(self.ours(lines)));
            drop(sitting);
            self.settle();
        } else if changed {
            info!(
                "the servers meet again, as not all of them speak a version in which kinds are told anew"
            );
            self.meet_again(session.clone());
        }
    }
}
