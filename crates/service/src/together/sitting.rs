//! Things that last as long as a session: the kinds that each server has told, and which of them have begun.
//!
//! From version 4 of the notes on, servers tell their kinds again when they have read their files anew, and the leader says when a kind begins. Each
//! beginning has a number. On a line to a follower, what comes after [`Begin`](Note::Begin) is of that beginning; on a line to the leader, what comes
//! after [`Begun`](Note::Begun). What was on its way before belongs to an earlier beginning, and is dropped.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use madrigal_core::{Digest256, Party};
use madrigal_net::Session;

use super::kinds::KindDoor;
use super::lines::Lines;
use super::notes::Kinds;
use super::versions::{NotesVersion, needed};

/// Things that last as long as a session.
pub(super) struct Sitting {
    pub(super) session: Session,
    pub(super) lines: Lines,
    /// The last word of each other server on its kinds.
    pub(super) theirs: BTreeMap<Party, Kinds>,
    /// Kinds that have begun here.
    pub(super) begun: BTreeMap<String, Beginning>,
    /// Number of the last beginning, at the leader.
    pub(super) last: u32,
    /// Reasons for which kinds are not ready that were logged.
    pub(super) logged: BTreeMap<String, String>,
}

/// A kind that has begun here.
pub(super) struct Beginning {
    pub(super) digest: Digest256,
    pub(super) number: u32,
    /// Followers that have begun too, as the leader knows.
    pub(super) by: BTreeSet<Party>,
    /// Whether the kind's notes may be sent.
    pub(super) open: Rc<Cell<bool>>,
}

impl Sitting {
    pub(super) fn new(session: Session, lines: Lines) -> Self {
        Self {
            session,
            lines,
            theirs: BTreeMap::new(),
            begun: BTreeMap::new(),
            last: 0,
            logged: BTreeMap::new(),
        }
    }

    /// Whether servers tell their kinds anew, and the leader says when each begins.
    pub(super) fn is_anew(&self) -> bool {
        self.lines.notes.has(NotesVersion::KINDS_ANEW)
    }

    /// Reason for which a kind cannot be done in this session, if so.
    pub(super) fn differs(&self, name: &str, door: &KindDoor) -> Option<String> {
        let lacks = self.lines.notes.lacks(name, needed(&door.kind));
        lacks.or_else(|| {
            self.theirs.iter().find_map(|(from, theirs)| {
                let why = match theirs.kinds.get(name) {
                    Some(digest) if digest.0 == door.kind.digest => return None,
                    Some(_) => "has another program, other lengths, sharings or receivers",
                    None => "does not have it",
                };
                Some(format!("{from} {why}: compare the two services' files"))
            })
        })
    }

    /// Reason for which no batch of a kind begins any more, if a server has taken it out of its file.
    pub(super) fn is_closed(&self, name: &str) -> Option<String> {
        let mut theirs = self.theirs.iter();
        let (from, _) = theirs.find(|(_, theirs)| theirs.closed.contains(name))?;
        Some(format!("{from} has taken it out of its service's file"))
    }

    /// Ends a kind's part in the session.
    pub(super) fn end(&mut self, name: &str) {
        if let Some(before) = self.begun.remove(name) {
            before.open.set(false);
        }
    }
}
