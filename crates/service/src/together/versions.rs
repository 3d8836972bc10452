//! Versions of the servers' notes: what each server speaks, what all of a session have settled on, and what needs which.
//!
//! A server speaks the newest version and the one before it, so that servers are upgraded one at a time. All of a session speak one version, the newest
//! that each of them knows. What needs a newer one is not sent, and a kind that needs it is not ready.

use std::fmt;

use madrigal_core::Party;
use madrigal_net::{Session, Speaks, Versions};

use crate::kind::Kind;

/// Name of the protocol, as servers' greetings and errors say it.
const NAME: &str = "the servers' notes";
/// Versions that this program speaks: the newest, and the one before it.
pub(crate) const SPOKEN: Versions = Versions {
    oldest: 3,
    newest: 4,
};
/// Version of servers that do not name it: they were built before versions were a range.
const UNTOLD: u32 = 3;

/// A version of the servers' notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NotesVersion(u32);

impl NotesVersion {
    /// The version that every server speaks with which this one can be in a session.
    pub(crate) const OLDEST: Self = Self(SPOKEN.oldest);
    /// Version from which on servers tell their kinds anew within a session, and the leader says when each kind begins.
    pub(crate) const KINDS_ANEW: Self = Self(4);

    /// Version from which on the leader says which held inputs a run computes with.
    pub(crate) const HELD: Self = Self(4);

    /// Version from which on servers make correlations ahead.
    pub(crate) const AHEAD: Self = Self(4);

    /// The version, for a meter.
    pub(crate) fn number(self) -> i64 {
        self.0.into()
    }

    /// As servers compare it when they open their lines. Those of version 3 know it by this text.
    pub(crate) fn fact(self) -> (String, String) {
        ("version of servers' notes".to_owned(), self.0.to_string())
    }
}

/// The version of the notes that a kind needs at all servers.
pub(crate) fn needed(kind: &Kind) -> NotesVersion {
    let config = &kind.config;
    match config.holds.is_some() || !config.held.is_empty() {
        true => NotesVersion::HELD,
        false => NotesVersion::OLDEST,
    }
}

/// Versions of the servers of a session.
#[derive(Debug, Clone)]
pub(crate) struct Notes {
    /// The version that all of them speak.
    settled: NotesVersion,
    /// Servers with the newest version that each of them speaks.
    newest: Vec<(String, NotesVersion)>,
}

/// How a server says in its greeting which versions it speaks.
pub(crate) fn speaks(versions: Versions) -> Speaks {
    Speaks {
        name: NAME,
        versions,
        untold: UNTOLD,
    }
}

impl Notes {
    /// Versions of a session's servers, which have greeted each other. `names` are theirs, in their order.
    pub(crate) fn of(session: &Session, names: &[String]) -> Self {
        let newest = Party::all(session.parties())
            .zip(names)
            .map(|(party, name)| {
                // A server that names no versions itself is held to the old one.
                let spoken = session.spoken_by(party, NAME);
                let newest = spoken.map_or(UNTOLD, |versions| versions.newest);
                (name.clone(), NotesVersion(newest))
            });
        Self {
            settled: NotesVersion(session.spoken(NAME).unwrap_or(UNTOLD)),
            newest: newest.collect(),
        }
    }

    /// The version that all servers of the session speak.
    pub(crate) fn settled(&self) -> NotesVersion {
        self.settled
    }

    /// Whether what needs a version may be sent.
    pub(crate) fn has(&self, needed: NotesVersion) -> bool {
        self.settled >= needed
    }

    /// Reason for which a kind that needs a version is not ready: the servers that have to be upgraded. Nothing if all speak it.
    pub(crate) fn lacks(&self, kind: &str, needed: NotesVersion) -> Option<String> {
        if self.has(needed) {
            return None;
        }
        let old = self.newest.iter().filter(|(_, newest)| *newest < needed);
        let told =
            old.map(|(name, newest)| format!("`{name}` speaks version {} of {NAME}", newest.0));
        let told: Vec<String> = told.collect();
        Some(format!(
            "{}, and kind `{kind}` needs version {}: upgrade {}",
            told.join(" and "),
            needed.0,
            if told.len() == 1 { "it" } else { "them" },
        ))
    }
}

/// The version, with those who speak no newer one if others do.
impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.settled.0)?;
        let old = |(_, newest): &&(String, NotesVersion)| *newest == self.settled;
        let old: Vec<&str> = (self.newest.iter().filter(old))
            .map(|(name, _)| name.as_str())
            .collect();
        match old.len() < self.newest.len() {
            true => write!(f, ", the newest of {}", old.join(", ")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_to_be_upgraded_is_named() {
        let of = |name: &str, newest| (name.to_owned(), NotesVersion(newest));
        let notes = Notes {
            settled: NotesVersion(3),
            newest: vec![of("north", 4), of("south", 3), of("coast", 4)],
        };
        assert_eq!(notes.lacks("survey", NotesVersion::OLDEST), None);
        let told = notes.lacks("survey", NotesVersion(4));
        let expected = "`south` speaks version 3 of the servers' notes, and kind `survey` needs version 4: upgrade it";
        assert_eq!(told.as_deref(), Some(expected));
        let newest = Notes {
            settled: NotesVersion(4),
            ..notes
        };
        assert_eq!(newest.lacks("survey", NotesVersion(4)), None);
    }

    /// Servers are upgraded one at a time from the version before this one, and who tells nothing is of a version that this one speaks.
    #[test]
    fn the_version_before_is_spoken() {
        assert_eq!(SPOKEN.oldest + 1, SPOKEN.newest);
        assert!((SPOKEN.oldest..=SPOKEN.newest).contains(&UNTOLD));
    }
}
