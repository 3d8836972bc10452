//! `service-client.toml`: the servers of a service, and who the client is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Zeroizing;
use madrigal_core::budget::{FileError, open_regular};
use madrigal_net::fingerprint::FingerprintError;
use madrigal_net::identity::{Identity, IdentityError, IdentityFiles};
use madrigal_net::roster::{AddressError, Roster, RosterEntry, RosterError};
use madrigal_websocket::{Address, TunnelError};
use serde::Deserialize;
use toml::Spanned;

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Servers of a service, and what the client shows them.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The servers, in the order that all clients and servers have.
    pub servers: Arc<Roster>,
    /// Ways through proxies: for each server the address of its WebSocket, where it is not reached by TCP. Servers beyond the end have none.
    pub websockets: Vec<Option<Address>>,
    /// Key by which the servers know the client.
    pub identity: Option<Arc<Identity>>,
    /// Secret by which the servers know the client. Each server gets it, so it is to be one that only this service knows.
    pub token: Option<Zeroizing<Vec<u8>>>,
    /// Name that the client gives itself in its greeting.
    pub client: Option<String>,
    /// Connections to each server, side by side.
    pub connections: usize,
    /// Time for which a server that cannot be reached, or is busy, is asked again.
    pub patience: Duration,
    /// Time within which a server has to greet, and to say something where it owes an answer other than the end of a job.
    pub silence: Duration,
}

impl ServiceConfig {
    /// An anonymous client of these servers, with one connection to each, a minute of patience, and half a minute of it with silence.
    pub fn new(servers: Roster) -> Self {
        Self {
            servers: Arc::new(servers),
            websockets: Vec::new(),
            identity: None,
            token: None,
            client: None,
            connections: 1,
            patience: Duration::from_secs(60),
            silence: Duration::from_secs(30),
        }
    }

    /// Reads a `service-client.toml`. Names of other files are relative to its folder.
    ///
    /// # Errors
    /// [`ConfigError`]: the file, or one that it names, cannot be read or says something else than it should.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = read(path).map_err(|source| ConfigError::File {
            path: path.to_owned(),
            source,
        })?;
        let text = String::from_utf8(text).map_err(|_| ConfigError::Syntax {
            line: 0,
            message: "it is no text".into(),
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder)
    }

    /// Reads the text of a `service-client.toml`; names of other files are relative to `folder`.
    ///
    /// # Errors
    /// [`ConfigError`] as [`ServiceConfig::load`].
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let line = |at: usize| {
            let before = text.as_bytes().get(..at).unwrap_or_default();
            1 + before.iter().filter(|&&byte| byte == b'\n').count()
        };
        let raw: Raw = toml::from_str(text).map_err(|error| ConfigError::Syntax {
            line: error.span().map_or(0, |span| line(span.start)),
            message: error.message().to_owned(),
        })?;
        let websocket = |raw: &RawServer| {
            let text = raw.websocket.as_ref();
            let of = |text: &Spanned<String>| {
                text.get_ref()
                    .parse()
                    .map_err(|source| ConfigError::WebSocket {
                        line: line(text.span().start),
                        source,
                    })
            };
            text.map(of).transpose()
        };
        let websockets = raw.servers.iter().map(websocket);
        let websockets = websockets.collect::<Result<Vec<_>, ConfigError>>()?;
        let entry = |raw: RawServer| {
            let address = raw.address.get_ref().parse();
            let address = address.map_err(|source| ConfigError::Address {
                line: line(raw.address.span().start),
                source,
            })?;
            let key = raw.key.get_ref().parse();
            let key = key.map_err(|source| ConfigError::Key {
                line: line(raw.key.span().start),
                source,
            })?;
            Ok(RosterEntry {
                name: raw.name,
                address,
                key,
                sealing: None,
            })
        };
        let servers = raw.servers.into_iter().map(entry);
        let servers = servers.collect::<Result<Vec<_>, ConfigError>>()?;
        let mut config = Self::new(Roster::new(servers)?);
        config.websockets = websockets;
        if let Some(base) = raw.identity {
            let base = folder.join(base);
            let name = base.file_name().unwrap_or_default().to_string_lossy();
            let files = IdentityFiles::in_directory(base.parent().unwrap_or(folder), &name);
            config.identity = Some(Arc::new(Identity::load(&files)?));
        }
        if let Some(path) = raw.token_file {
            config.token = Some(token(&folder.join(path))?);
        }
        if raw
            .client
            .as_deref()
            .is_some_and(|name| !madrigal_net::roster::is_name(name))
        {
            return Err(ConfigError::Client);
        }
        config.client = raw.client;
        Ok(config)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    servers: Vec<RawServer>,
    identity: Option<PathBuf>,
    #[serde(rename = "token-file")]
    token_file: Option<PathBuf>,
    client: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawServer {
    name: String,
    address: Spanned<String>,
    key: Spanned<String>,
    websocket: Option<Spanned<String>>,
}

fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let (mut file, length) = open_regular(path, MAX_FILE)?;
    let mut bytes = Vec::with_capacity(length as usize + 1);
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Reads a token: the file's bytes without the end of the last line. Others than its owner may not read the file.
fn token(path: &Path) -> Result<Zeroizing<Vec<u8>>, ConfigError> {
    let error = |source| ConfigError::File {
        path: path.to_owned(),
        source,
    };
    #[cfg(unix)]
    {
        let metadata = std::fs::metadata(path).map_err(|source| error(source.into()))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            let path = path.to_owned();
            return Err(ConfigError::TokenReadable { path, mode });
        }
    }
    let mut bytes = Zeroizing::new(read(path).map_err(error)?);
    while bytes.last().is_some_and(|byte| b"\r\n".contains(byte)) {
        bytes.pop();
    }
    match bytes.len() {
        1..=madrigal_intake::limits::MAX_TOKEN => Ok(bytes),
        _ => Err(ConfigError::Token {
            path: path.to_owned(),
        }),
    }
}

/// Reasons why a configuration is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}; check the path", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: FileError,
    },
    /// A text that is not TOML, or has other fields.
    #[error(
        "service-client.toml, line {line}: {message}; each server is a `[[servers]]` section with `name`, `address`, `key` and, for a way through a proxy, `websocket`; beside them there are `identity`, `token-file` and `client`"
    )]
    Syntax {
        /// Line, counted from 1; 0 where it is not known.
        line: usize,
        /// Message of the reader.
        message: String,
    },
    /// An address that cannot be dialed.
    #[error("service-client.toml, line {line}: {source}")]
    Address {
        /// Line, counted from 1.
        line: usize,
        /// Problem of the address.
        source: AddressError,
    },
    /// An address of a WebSocket that is none.
    #[error("service-client.toml, line {line}: {source}")]
    WebSocket {
        /// Line, counted from 1.
        line: usize,
        /// Problem of the address.
        source: TunnelError,
    },
    /// A malformed fingerprint.
    #[error("service-client.toml, line {line}: {source}")]
    Key {
        /// Line, counted from 1.
        line: usize,
        /// Problem of the fingerprint.
        source: FingerprintError,
    },
    /// Servers that are no list of servers.
    #[error("service-client.toml: {0}")]
    Servers(#[from] RosterError),
    /// A key that cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A token that others can read.
    #[error("the token {} is open to other users (mode {mode:04o}, expected 0600); run `chmod 600 {}`, and ask for another token if others may have read it", path.display(), path.display())]
    TokenReadable {
        /// The file.
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// A token that is none.
    #[error("{} holds no token: it has to have 1 to 1024 bytes, which the servers' operators gave out", path.display())]
    Token {
        /// The file.
        path: PathBuf,
    },
    /// A name that no client has.
    #[error(
        "service-client.toml: `client` has to be 1 to 64 letters, digits, `-`, `_` or `.`: choose another"
    )]
    Client,
}
