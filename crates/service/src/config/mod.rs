//! The file of a service: who this server is, where it listens and keeps its data, and the kinds of jobs that it does.
//!
//! Paths are relative to the file's own directory. Every fault is told with the file, and where TOML says it, the line.

mod clients;
mod kinds;
mod renewed;
mod units;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::roster::{Roster, RosterError};
use serde::Deserialize;

pub use clients::ClientConfig;
pub(crate) use clients::ClientText;
use kinds::Checked;
pub use kinds::{AheadConfig, Function, KindConfig, RequestConfig, Submitters};
pub use units::{Bytes, Span};

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The most kinds and clients that a file may name.
const MAX_KINDS: usize = 256;
/// Servers that requests are for: those of replicated sharing.
const REQUEST_SERVERS: usize = 3;

/// Everything that a file of a service says, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file.
    pub file: PathBuf,
    /// Number of this server among the parties.
    pub me: Party,
    /// All servers.
    pub roster: Roster,
    /// Base name of the files of this server's key.
    pub identity: PathBuf,
    /// Address to listen at, where it is not the one of the roster.
    pub listen: Option<String>,
    /// Address to listen at for clients that come through WebSockets.
    pub websocket: Option<String>,
    /// Directory of all that the server keeps.
    pub data: PathBuf,
    /// File of the key that what is kept is sealed with.
    pub vault_key: PathBuf,
    /// Memory that jobs may take together.
    pub memory: u64,
    /// Threads that this server computes with.
    pub threads: usize,
    /// File of the server's policy, if it has one.
    pub policy: Option<PathBuf>,
    /// Limits on what clients may take up.
    pub limits: Limits,
    /// Known clients, by name.
    pub clients: BTreeMap<String, ClientConfig>,
    /// The kinds of jobs, by name.
    pub kinds: BTreeMap<String, KindConfig>,
    /// Kinds of jobs that were taken out of the file since the server was started, as they were. What is kept of them stays as it is.
    pub(crate) gone: BTreeMap<String, KindConfig>,
    /// The kinds of requests, by name.
    pub requests: BTreeMap<String, RequestConfig>,
    /// Address of metrics and health, if they are told.
    pub operation: Option<String>,
    /// Form of the log.
    pub log: LogConfig,
}

/// Limits on what clients may take up.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Connections of clients at once.
    pub connections: usize,
    /// Connections of one address at once.
    pub connections_per_address: usize,
    /// Time within which a newcomer has to show who it is.
    pub introduction: Span,
    /// Time after which a connection on which nothing happens is closed.
    pub idle: Span,
    /// Bytes of submissions that are kept at once.
    pub storage: Bytes,
    /// Bytes of results with which submissions are still taken.
    pub results: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 12_000,
            connections_per_address: 1_000,
            introduction: Span(Duration::from_secs(5)),
            idle: Span(Duration::from_secs(600)),
            storage: Bytes(50 << 30),
            results: Bytes(50 << 30),
        }
    }
}

/// Form of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogConfig {
    /// Whether each line is a JSON object.
    pub json: bool,
    /// Levels by target, as in `info` or `warn,madrigal_service=debug`.
    pub level: Option<String>,
}

/// The file as TOML has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Text {
    parties: PathBuf,
    party: String,
    identity: Option<PathBuf>,
    listen: Option<String>,
    websocket: Option<String>,
    data: PathBuf,
    vault_key: Option<PathBuf>,
    memory: Option<Bytes>,
    threads: Option<usize>,
    operation: Option<String>,
    policy: Option<PathBuf>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    log: LogConfig,
    #[serde(default)]
    clients: Vec<ClientText>,
    #[serde(default)]
    kinds: Vec<kinds::KindText>,
}

/// Reason why a service's file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// The file is too long.
    #[error("{}: it has {got} bytes, and a file of a service has at most {MAX_FILE}", file.display())]
    Long {
        /// The file.
        file: PathBuf,
        /// Length of the file.
        got: u64,
    },
    /// The file is not what TOML, or a service's file, may be.
    #[error("{}: {problem}", file.display())]
    Text {
        /// The file.
        file: PathBuf,
        /// Reason, with the line.
        problem: String,
    },
    /// The list of the servers cannot be used.
    #[error("{}: the servers: {source}", file.display())]
    Roster {
        /// The service's file.
        file: PathBuf,
        /// Reason, which names the list.
        #[source]
        source: RosterError,
    },
    /// A field does not say what it may say.
    #[error("{}: `{field}`: {problem}", file.display())]
    Field {
        /// The file.
        file: PathBuf,
        /// The field.
        field: String,
        /// Fault of the field, and what to write.
        problem: String,
    },
}

/// Reads the text of a file, with a bound.
pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
    let read = |source| ConfigError::Read {
        file: file.to_owned(),
        source,
    };
    let length = fs::metadata(file).map_err(read)?.len();
    if length > MAX_FILE {
        let file = file.to_owned();
        return Err(ConfigError::Long { file, got: length });
    }
    fs::read_to_string(file).map_err(read)
}

/// The one field that is needed to ask a server for its health.
#[derive(Deserialize)]
struct OperationText {
    operation: Option<String>,
}

/// The address of metrics and health that a file has, whatever else it says: a server is asked for its health while its file is being changed.
///
/// # Errors
/// [`ConfigError`]: the file cannot be read, is no TOML, or has no `operation`.
pub fn operation(file: &Path) -> Result<String, ConfigError> {
    let text: OperationText =
        toml::from_str(&read_text(file)?).map_err(|error| ConfigError::Text {
            file: file.to_owned(),
            problem: error.to_string(),
        })?;
    text.operation.ok_or_else(|| ConfigError::Field {
        file: file.to_owned(),
        field: "operation".to_owned(),
        problem: "the server tells nobody how it is without this field: write an address, as in operation = \"127.0.0.1:9100\", and start the server again".to_owned(),
    })
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?, file)
    }

    /// Reads the text of a file that lies, or would lie, at `file`.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError::Text {
            file: file.to_owned(),
            problem: error.to_string(),
        };
        let text: Text = toml::from_str(text).map_err(wrong)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let path = |path: &Path| folder.join(path);
        let field = |field: &str, problem: String| ConfigError::Field {
            file: file.to_owned(),
            field: field.to_owned(),
            problem,
        };
        let roster = Roster::load(&path(&text.parties)).map_err(|source| ConfigError::Roster {
            file: file.to_owned(),
            source,
        })?;
        let names = || roster.parties().iter().map(|entry| entry.name.as_str());
        let me = names().position(|name| name == text.party).ok_or_else(|| {
            let known: Vec<&str> = names().collect();
            field(
                "party",
                format!(
                    "no server has the name `{}` in {}: name one of {}",
                    text.party,
                    path(&text.parties).display(),
                    known.join(", ")
                ),
            )
        })?;
        if text.kinds.len() > MAX_KINDS {
            let got = text.kinds.len();
            return Err(field(
                "kinds",
                format!("{got} are named, and {MAX_KINDS} are the most"),
            ));
        }
        let mut clients = BTreeMap::new();
        for client in text.clients {
            let (name, client) = client
                .checked()
                .map_err(|(at, problem)| field(&at, problem))?;
            if clients.insert(name.clone(), client).is_some() {
                return Err(field("clients", format!("`{name}` is named twice")));
            }
        }
        let (mut kinds, mut requests) = (BTreeMap::new(), BTreeMap::new());
        for kind in text.kinds {
            let name = kind.name.clone();
            let kind = kind.checked(folder, &clients);
            let kind = kind.map_err(|(at, problem)| field(&at, problem))?;
            if kinds.contains_key(&name) || requests.contains_key(&name) {
                return Err(field("kinds", format!("`{name}` is named twice")));
            }
            let servers = roster.len();
            match kind {
                Checked::Requests(_) if servers != REQUEST_SERVERS => {
                    let problem = format!(
                        "requests are for {REQUEST_SERVERS} servers, and the list has {servers}"
                    );
                    return Err(field(&format!("kinds.{name}.requests"), problem));
                }
                Checked::Jobs(kind) => drop(kinds.insert(name, *kind)),
                Checked::Requests(kind) => drop(requests.insert(name, kind)),
            }
        }
        let data = path(&text.data);
        let threads = text.threads.unwrap_or(1);
        if !(1..=1024).contains(&threads) {
            return Err(field("threads", format!("{threads}: 1 to 1024 can be")));
        }
        Ok(Self {
            me: Party::new(me),
            identity: path(&text.identity.unwrap_or(text.party.into())),
            listen: text.listen,
            websocket: text.websocket,
            vault_key: (text.vault_key).map_or_else(|| data.join("vault.key"), |key| path(&key)),
            data,
            memory: text.memory.map_or(2 << 30, |memory| memory.0),
            threads,
            policy: text.policy.map(|policy| path(&policy)),
            limits: text.limits,
            clients,
            kinds,
            gone: BTreeMap::new(),
            requests,
            operation: text.operation,
            log: text.log,
            file: file.to_owned(),
            roster,
        })
    }
}
