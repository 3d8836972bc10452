//! Rosters say who takes part: the file `parties.toml`, in the same order at every party.
//!
//! ```
//! use madrigal_net::roster::Roster;
//!
//! let roster = Roster::parse(r#"
//! ## The first [[party]] is party 0. Order and keys are the same in everybody's file, and so are
//! ## addresses: where a party must be reached by another way, runs need a name (`--session`).
//!
//! [[party]]
//! name = "alice"
//! address = "alice.example.org:7700"
//! key = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//!
//! [[party]]
//! name = "bob"
//! address = "[2001:db8::7]:7700"
//! key = "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
//! "#)?;
//! assert_eq!(roster.len(), 2);
//! assert_eq!(roster.party(1).unwrap().name, "bob");
//! # Ok::<(), madrigal_net::roster::RosterError>(())
//! ```

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
pub use madrigal_core::MAX_PARTIES;
use madrigal_core::domains;
use serde::Deserialize;
use toml::Spanned;

use crate::fingerprint::{Fingerprint, FingerprintError};
use crate::sealing::{PublicSealingKey, SealingKeyError};

mod address;
pub use address::{Address, AddressError};

/// The fewest parties that can compute together.
pub const MIN_PARTIES: usize = 2;
/// The longest name of a party, in characters.
pub const MAX_NAME: usize = 64;

/// The longest `parties.toml` that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// One party, as the others know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    /// Name for people: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Address at which the other parties dial it.
    pub address: Address,
    /// The key that its certificate must have.
    pub key: Fingerprint,
    /// The key that clients seal shares for this party with, where it has made one.
    pub sealing: Option<PublicSealingKey>,
}

impl RosterEntry {
    /// The party as a `[[party]]` section of `parties.toml`.
    pub fn to_toml(&self) -> String {
        // Names and addresses have no character that TOML would want escaped.
        let sealing = (self.sealing.iter()).map(|key| format!("sealing = \"{key}\"\n"));
        format!(
            "[[party]]\nname = \"{}\"\naddress = \"{}\"\nkey = \"{}\"\n{}",
            self.name,
            self.address,
            self.key,
            sealing.collect::<String>()
        )
    }
}

/// All parties, in order; party `i` is entry `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    parties: Vec<RosterEntry>,
    dealer: Option<RosterEntry>,
}

impl Roster {
    /// A roster of these parties.
    ///
    /// # Errors
    /// [`RosterError`]: too few or too many parties, a name that is malformed, or a name, address or key given twice.
    pub fn new(parties: Vec<RosterEntry>) -> Result<Self, RosterError> {
        check(&parties).map_err(|(_, problem)| RosterError::from(problem))?;
        Ok(Self {
            parties,
            dealer: None,
        })
    }

    /// Parties `party0`, `party1`, ... with these addresses and keys, for runs on one machine.
    ///
    /// # Errors
    /// [`RosterError`] in the same cases as [`Roster::new`].
    pub fn local(
        parties: impl IntoIterator<Item = (Address, Fingerprint)>,
    ) -> Result<Self, RosterError> {
        let entry = |(i, (address, key))| RosterEntry {
            name: format!("party{i}"),
            address,
            key,
            sealing: None,
        };
        Self::new(parties.into_iter().enumerate().map(entry).collect())
    }

    /// Reads the text of a `parties.toml`. Never panics, whatever the text.
    ///
    /// # Errors
    /// [`RosterError`]: the text is no TOML, has unknown or missing fields, malformed values, or parties that
    /// [`Roster::new`] refuses; the error tells the line.
    pub fn parse(text: &str) -> Result<Self, RosterError> {
        let line_of = |offset: usize| {
            let before = text.as_bytes().get(..offset).unwrap_or_default();
            1 + before.iter().filter(|&&byte| byte == b'\n').count()
        };
        let at = |offset: usize, problem: RosterProblem| RosterError {
            file: None,
            line: Some(line_of(offset)),
            problem,
        };
        let file: RawRoster = toml::from_str(text).map_err(|error| RosterError {
            file: None,
            line: error.span().map(|span| line_of(span.start)),
            problem: RosterProblem::Syntax {
                message: error.message().to_owned(),
            },
        })?;

        let counted = file.party.len();
        let mut starts = Vec::with_capacity(counted);
        let mut parties = Vec::with_capacity(counted);
        // The dealer is checked as a party after the last.
        for (party, raw) in file.party.into_iter().chain(file.dealer).enumerate() {
            starts.push(raw.span().start);
            let raw = raw.into_inner();
            let name = raw.name;
            let address = raw.address.get_ref().parse().map_err(|source| {
                let name = name.clone();
                let problem = RosterProblem::Address {
                    party,
                    name,
                    source,
                };
                at(raw.address.span().start, problem)
            })?;
            let key = raw.key.get_ref().parse().map_err(|source| {
                let name = name.clone();
                let problem = RosterProblem::Key {
                    party,
                    name,
                    source,
                };
                at(raw.key.span().start, problem)
            })?;
            let sealing = raw.sealing.map(|sealing| {
                sealing.get_ref().parse().map_err(|source| {
                    let name = name.clone();
                    let problem = RosterProblem::Sealing {
                        party,
                        name,
                        source,
                    };
                    at(sealing.span().start, problem)
                })
            });
            parties.push(RosterEntry {
                sealing: sealing.transpose()?,
                name,
                address,
                key,
            });
        }
        if counted < MIN_PARTIES {
            return Err(RosterProblem::Count { got: counted }.into());
        }
        match check(&parties) {
            Ok(()) => {
                let dealer = parties.split_off(counted).pop();
                Ok(Self { parties, dealer })
            }
            Err((Some(party), problem)) => {
                Err(at(starts.get(party).copied().unwrap_or_default(), problem))
            }
            Err((None, problem)) => Err(problem.into()),
        }
    }

    /// Reads a `parties.toml`.
    ///
    /// # Errors
    /// [`RosterError`]: the file cannot be read, or [`Roster::parse`] refuses its text.
    pub fn load(path: &Path) -> Result<Self, RosterError> {
        let in_file = |error: RosterError| RosterError {
            file: Some(path.to_owned()),
            ..error
        };
        let text = read(path).map_err(|source| in_file(RosterProblem::File { source }.into()))?;
        Self::parse(&text).map_err(in_file)
    }

    /// The text of a `parties.toml` with these parties; [`Roster::parse`] reads it back.
    pub fn to_toml(&self) -> String {
        let mut sections: Vec<_> = self.parties.iter().map(RosterEntry::to_toml).collect();
        let dealer = |dealer: &RosterEntry| dealer.to_toml().replace("[[party]]", "[dealer]");
        sections.extend(self.dealer.as_ref().map(dealer));
        sections.join("\n")
    }

    /// Entry of the dealer of correlations, if the file has a `[dealer]`.
    pub fn dealer(&self) -> Option<&RosterEntry> {
        self.dealer.as_ref()
    }

    /// Gives the same parties and, as the last of them, the dealer: those who meet for jobs that have one.
    /// `None` if there is no dealer.
    #[must_use]
    pub fn with_dealer(&self) -> Option<Self> {
        let mut parties = self.parties.clone();
        parties.push(self.dealer.clone()?);
        Some(Self {
            parties,
            dealer: None,
        })
    }

    /// Number of parties.
    #[allow(clippy::len_without_is_empty, reason = "a roster is never empty")]
    pub fn len(&self) -> usize {
        self.parties.len()
    }

    /// All parties, in order.
    pub fn parties(&self) -> &[RosterEntry] {
        &self.parties
    }

    /// A party by its index.
    pub fn party(&self, party: usize) -> Option<&RosterEntry> {
        self.parties.get(party)
    }

    /// The party with this key.
    pub fn by_key(&self, key: &Fingerprint) -> Option<usize> {
        self.parties.iter().position(|party| party.key == *key)
    }

    /// The party with this name.
    pub fn by_name(&self, name: &str) -> Option<usize> {
        self.parties.iter().position(|party| party.name == name)
    }

    /// Keys that something is sealed with for each party, in order.
    ///
    /// # Errors
    /// [`RosterProblem::NoSealing`]: a party that has none.
    pub fn sealing_keys(&self) -> Result<Vec<PublicSealingKey>, RosterError> {
        let all = self.parties.iter().enumerate();
        let key = |(party, entry): (usize, &RosterEntry)| {
            entry.sealing.ok_or_else(|| {
                let name = entry.name.clone();
                RosterError::from(RosterProblem::NoSealing { party, name })
            })
        };
        all.map(key).collect()
    }

    /// SHA-256 over the keys in order: equal digests mean that two rosters count the same parties in
    /// the same order (collision resistance). Nothing compares it by itself: each two parties that
    /// meet compare each other's keys and numbers.
    pub fn digest(&self) -> [u8; 32] {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(domains::ROSTER);
        for party in &self.parties {
            context.update(party.key.as_bytes());
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        bytes
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoster {
    #[serde(default)]
    party: Vec<Spanned<RawEntry>>,
    dealer: Option<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: String,
    address: Spanned<String>,
    key: Spanned<String>,
    sealing: Option<Spanned<String>>,
}

/// Whether a party may have this name: it disturbs no log, no path and no TOML.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(plain)
}

/// Checks the demands of [`Roster::new`]; an error comes with the party at fault, if it is one.
fn check(parties: &[RosterEntry]) -> Result<(), (Option<usize>, RosterProblem)> {
    if !(MIN_PARTIES..=MAX_PARTIES).contains(&parties.len()) {
        let got = parties.len();
        return Err((None, RosterProblem::Count { got }));
    }
    for (party, entry) in parties.iter().enumerate() {
        let fault = |problem| Err((Some(party), problem));
        let name = entry.name.clone();
        if !is_name(&name) {
            return fault(RosterProblem::Name { party });
        }
        for (first, other) in parties.iter().enumerate().take(party) {
            let field = if other.name == entry.name {
                Field::Name
            } else if other.address == entry.address {
                Field::Address
            } else if other.key == entry.key {
                Field::Key
            } else if entry.sealing.is_some() && other.sealing == entry.sealing {
                Field::Sealing
            } else {
                continue;
            };
            return fault(RosterProblem::Duplicate {
                party,
                name,
                field,
                first,
            });
        }
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "larger than 1 MiB",
        ));
    }
    Ok(text)
}

/// Reason why a roster was refused, and where.
#[derive(Debug)]
pub struct RosterError {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// The line, counted from 1, when it is known.
    pub line: Option<usize>,
    /// Problem of the roster.
    pub problem: RosterProblem,
}

impl From<RosterProblem> for RosterError {
    fn from(problem: RosterProblem) -> Self {
        Self {
            file: None,
            line: None,
            problem,
        }
    }
}

impl fmt::Display for RosterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => f.write_str("the list of parties")?,
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for RosterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}

/// Problems of a roster. Parties are counted from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RosterProblem {
    /// The file cannot be read.
    #[error("cannot read the file: {source}; check the path")]
    File {
        /// The operating system's answer.
        source: io::Error,
    },
    /// A text that is not TOML, or has other fields than a roster.
    #[error(
        "{message}; each party is a `[[party]]` section with `name`, `address`, `key` and, where files are sealed for it, `sealing`"
    )]
    Syntax {
        /// Message of the reader: what it expected and found.
        message: String,
    },
    /// Too few or too many parties.
    #[error(
        "{got} parties, expected {MIN_PARTIES} to {MAX_PARTIES}; each party, yourself included, is one `[[party]]` section"
    )]
    Count {
        /// Sections found.
        got: usize,
    },
    /// A name that could disturb a log or a path.
    #[error(
        "the name of party {party} is not 1 to {MAX_NAME} letters, digits, `-`, `_` or `.`; choose another `name`"
    )]
    Name {
        /// The party.
        party: usize,
    },
    /// An address that cannot be dialed.
    #[error("address of party {party} `{}`: {source}", name.escape_debug())]
    Address {
        /// The party.
        party: usize,
        /// Name of the party.
        name: String,
        /// Problem of the address.
        source: AddressError,
    },
    /// A malformed key fingerprint.
    #[error("key of party {party} `{}`: {source}", name.escape_debug())]
    Key {
        /// The party.
        party: usize,
        /// Name of the party.
        name: String,
        /// Problem of the fingerprint.
        source: FingerprintError,
    },
    /// A malformed sealing key.
    #[error("sealing key of party {party} `{}`: {source}", name.escape_debug())]
    Sealing {
        /// The party.
        party: usize,
        /// Name of the party.
        name: String,
        /// Problem of the key.
        source: SealingKeyError,
    },
    /// A party that has no sealing key, where something is to be sealed for it.
    #[error(
        "party {party} `{}` has no `sealing` key, so that nothing can be sealed for it: it makes one, and gives everybody its line for parties.toml",
        name.escape_debug()
    )]
    NoSealing {
        /// The party.
        party: usize,
        /// Name of the party.
        name: String,
    },
    /// Two parties share a value that must be each party's own.
    #[error(
        "party {party} `{name}` has the same {field} as party {first}; each party needs its own"
    )]
    Duplicate {
        /// The later party.
        party: usize,
        /// Name of the party.
        name: String,
        /// Field that they share.
        field: Field,
        /// The earlier party.
        first: usize,
    },
}

/// A field of a party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `name`
    Name,
    /// `address`
    Address,
    /// `key`
    Key,
    /// `sealing`
    Sealing,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Address => "address",
            Self::Key => "key",
            Self::Sealing => "sealing key",
        })
    }
}
