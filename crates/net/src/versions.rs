//! Versions of protocols: what each party speaks, and what a session has in common.

use std::fmt;

/// The versions of a protocol that a party speaks: all from `oldest` to `newest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Versions {
    /// The oldest version.
    pub oldest: u32,
    /// The newest version, no less than the oldest.
    pub newest: u32,
}

impl Versions {
    /// One version alone.
    pub const fn only(version: u32) -> Self {
        Self {
            oldest: version,
            newest: version,
        }
    }

    /// Whether there is a version that both speak.
    pub fn meets(self, other: Self) -> bool {
        self.oldest.max(other.oldest) <= self.newest.min(other.newest)
    }
}

/// As people say it: `version 3`, or `versions 3 to 4`.
impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { oldest, newest } = self;
        match oldest == newest {
            true => write!(f, "version {oldest}"),
            false => write!(f, "versions {oldest} to {newest}"),
        }
    }
}

/// A protocol above the session's, which parties speak within their jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaks {
    /// Name of the protocol, up to 64 bytes, as errors say it.
    pub name: &'static str,
    /// Versions of it that this party speaks.
    pub versions: Versions,
    /// Version of who does not name the protocol: who was built before versions were told.
    pub untold: u32,
}

/// Version of a protocol that a session has: the newest that all of its parties speak.
pub(crate) fn common(all: impl Iterator<Item = Versions>) -> Option<u32> {
    all.map(|versions| versions.newest).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_meet_or_not() {
        let range = |oldest, newest| Versions { oldest, newest };
        assert!(range(3, 4).meets(Versions::only(3)));
        assert!(range(3, 4).meets(range(4, 9)));
        assert!(!range(3, 4).meets(range(5, 9)));
        assert!(!range(5, 9).meets(range(3, 4)));
        let all = [range(3, 5), range(2, 4), range(4, 9)];
        assert_eq!(common(all.into_iter()), Some(4));
        assert_eq!(range(3, 4).to_string(), "versions 3 to 4");
        assert_eq!(Versions::only(3).to_string(), "version 3");
    }
}
