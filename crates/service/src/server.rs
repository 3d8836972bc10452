//! A server: started, told to stop, over.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_engine::PROTOCOLS;
use madrigal_net::identity::{Identity, IdentityError, IdentityFiles};
use madrigal_net::roster::Roster;
use madrigal_net::tls::{ServerTls, TlsError, TlsParty};
use madrigal_net::transport::{Security, handing_on};
use madrigal_psi_programs::KeyedError;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use crate::ahead::Shelves;
use crate::config::{ClientConfig, Config, ConfigError};
use crate::desk::{Connections, Desk, DeskSetup, Port, check_welcome};
use crate::held;
use crate::keep::{Disk, Keep};
use crate::kept::KeepError;
use crate::kind::{Kind, KindError};
use crate::operation::{Health, Meters, Trouble, serve_operation};
use crate::policy::{Policy, Refusal, Verdict};
use crate::requests::{Key, Pool, RequestKind};
use crate::together::{Between, Meet, SPOKEN, Setup, Together, speaks};

/// Time that jobs have to end once a server is told to stop.
pub const LEAVE: Duration = Duration::from_secs(30);
/// Pause between two looks whether a server is over.
const LOOK: Duration = Duration::from_millis(20);

/// Reason why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The service's file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server's key.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Kinds that cannot be done, each on a line of its own.
    #[error("{}", lines(.0))]
    Kinds(Vec<KindError>),
    /// Kinds that the server's policy refuses, each with the rule that would allow it.
    #[error("the policy refuses what the service's file says; a rule that would allow it stands below, to be added to the policy by whoever answers for the values\n{}", lines(.0))]
    Refused(Vec<Refusal>),
    /// A kind of requests that cannot be done.
    #[error("kind `{kind}`: {source}")]
    Requests {
        /// The kind.
        kind: String,
        /// Reason.
        source: KeyedError,
    },
    /// Clients cannot be told of all kinds.
    #[error("{0}")]
    Welcome(String),
    /// The vault, or what it has.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(&'static str),
    /// The disk has failed while the server was at work.
    #[error("{0}")]
    Failed(String),
    /// The system.
    #[error("{what}: {source}")]
    System {
        /// Request to the system.
        what: String,
        /// Reason.
        source: io::Error,
    },
}

fn lines(errors: &[impl ToString]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServeError {
    let what = what.into();
    |source| ServeError::System { what, source }
}

/// Everything of a server that can be checked without starting it.
#[derive(Debug)]
pub struct Checked {
    /// The service's file.
    pub config: Config,
    /// The kinds of jobs, in the order of their names.
    pub kinds: Vec<Arc<Kind>>,
    /// The kinds of requests, in the order of their names.
    pub requests: Vec<Arc<RequestKind>>,
    /// The server's policy, if it has one.
    pub policy: Option<Policy>,
    identity: Identity,
}

impl Checked {
    /// Reads the service's file, the key, and the program of each kind.
    ///
    /// # Errors
    /// [`ServeError`]; of kinds, all that are wrong.
    pub fn load(file: &Path) -> Result<Self, ServeError> {
        Self::of(Config::load(file)?)
    }

    /// Reads the key, and the program of each kind.
    pub(crate) fn of(config: Config) -> Result<Self, ServeError> {
        let identity = Identity::load(&IdentityFiles {
            key: with_ending(&config.identity, ".key"),
            certificate: with_ending(&config.identity, ".crt"),
        })?;
        let (servers, threads) = (config.roster.len(), config.threads);
        let (mut kinds, mut wrong) = (Vec::new(), Vec::new());
        for kind in config.kinds.values() {
            match Kind::load(kind.clone(), servers, threads, config.memory) {
                Ok(kind) => kinds.push(kind),
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() {
            wrong = held::bind(&mut kinds);
        }
        if !wrong.is_empty() {
            return Err(ServeError::Kinds(wrong));
        }
        let kinds: Vec<_> = kinds.into_iter().map(Arc::new).collect();
        let mut requests = Vec::new();
        for kind in config.requests.values() {
            let loaded = RequestKind::load(kind.clone(), threads);
            let name = kind.name.clone();
            let loaded = loaded.map_err(|source| ServeError::Requests { kind: name, source });
            requests.push(Arc::new(loaded?));
        }
        check_welcome(&name_of(&config.roster, config.me), &kinds, &requests)
            .map_err(ServeError::Welcome)?;
        TlsParty::new(&identity, Arc::new(config.roster.clone()))?;
        let policy = config.policy.as_deref().map(Policy::load).transpose()?;
        Ok(Self {
            policy,
            requests,
            config,
            kinds,
            identity,
        })
    }
}

impl Checked {
    /// The policy's verdict on each kind of jobs and then on each of requests, in their order.
    pub fn verdicts(&self) -> (Vec<Verdict>, Vec<Verdict>) {
        let (kinds, requests) = (&self.kinds, &self.requests);
        verdicts(self.policy.as_ref(), kinds, requests, &self.config.clients)
    }

    /// Refuses to go on where the policy refuses a kind.
    ///
    /// # Errors
    /// [`ServeError::Refused`] with all that are refused.
    pub fn allowed(&self) -> Result<(), ServeError> {
        allowed(&self.verdicts())
    }
}

/// The verdicts of a policy on kinds, where the service knows these clients.
fn verdicts(
    policy: Option<&Policy>,
    kinds: &[Arc<Kind>],
    requests: &[Arc<RequestKind>],
    clients: &BTreeMap<String, ClientConfig>,
) -> (Vec<Verdict>, Vec<Verdict>) {
    let jobs = kinds.iter().map(|kind| match policy {
        None => Verdict::NoPolicy,
        Some(policy) => policy.on_jobs(kind, clients),
    });
    let requests = requests.iter().map(|kind| match policy {
        None => Verdict::NoPolicy,
        Some(policy) => policy.on_requests(kind, clients),
    });
    (jobs.collect(), requests.collect())
}

/// Refuses to go on where a policy refuses a kind.
///
/// # Errors
/// [`ServeError::Refused`] with all that are refused.
fn allowed((jobs, requests): &(Vec<Verdict>, Vec<Verdict>)) -> Result<(), ServeError> {
    let refused = jobs
        .iter()
        .chain(requests)
        .filter_map(|verdict| match verdict {
            Verdict::Refused(refusal) => Some(Refusal::clone(refusal)),
            Verdict::NoPolicy | Verdict::Allowed(_) => None,
        });
    let refused: Vec<Refusal> = refused.collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(ServeError::Refused(refused)),
    }
}

/// Things of a test's in a server.
#[doc(hidden)]
#[derive(Default)]
pub struct Trial {
    /// The server's disk.
    pub disk: Option<Disk>,
    /// Whoever stands between the server and its lines to the others.
    pub between: Option<Between>,
    /// Whether the server speaks as servers did before they told each other ranges of versions: the old version of notes alone.
    pub old: bool,
}

/// A server at work. It ends when it is told to [leave](Self::leave).
pub struct Server {
    together: Together,
    port: JoinHandle<()>,
    connections: Connections,
    operation: Option<JoinHandle<()>>,
    sweeper: JoinHandle<()>,
    desk: Arc<Desk>,
    /// The service's file as it holds now.
    config: Mutex<Config>,
    keep: Arc<Keep>,
    health: Arc<Health>,
    meters: Arc<Meters>,
    address: std::net::SocketAddr,
    websocket: Option<std::net::SocketAddr>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server(at {})", self.address)
    }
}

impl Server {
    /// Starts a server, in the surrounding runtime: it listens, and looks for the others.
    ///
    /// # Errors
    /// [`ServeError`]: a port that is taken, a disk that cannot be used, what is kept on it.
    pub async fn start(checked: Checked) -> Result<Self, ServeError> {
        Self::start_between(checked, None, None).await
    }

    /// Starts a server as [`start`](Self::start) does, on a disk of the caller's: for tests of losses of power.
    ///
    /// # Errors
    /// [`ServeError`] in the same cases.
    pub async fn start_on(checked: Checked, disk: Option<Disk>) -> Result<Self, ServeError> {
        Self::start_between(checked, disk, None).await
    }

    /// Starts a server as [`start_on`](Self::start_on) does, with something of the caller's on its lines to the others: for tests of what servers see.
    ///
    /// # Errors
    /// [`ServeError`] in the same cases.
    pub async fn start_between(
        checked: Checked,
        disk: Option<Disk>,
        between: Option<Between>,
    ) -> Result<Self, ServeError> {
        let trial = Trial {
            disk,
            between,
            ..Trial::default()
        };
        Self::start_trial(checked, trial).await
    }

    /// Starts a server with things of a test's in it.
    ///
    /// # Errors
    /// [`ServeError`] in the same cases as [`start`](Self::start).
    #[doc(hidden)]
    pub async fn start_trial(checked: Checked, trial: Trial) -> Result<Self, ServeError> {
        let Trial { disk, between, old } = trial;
        let verdicts = checked.verdicts();
        allowed(&verdicts)?;
        let Checked {
            config,
            kinds,
            requests,
            policy,
            identity,
        } = checked;
        match &policy {
            None => warn!(
                "there is no policy: this server takes part in all that its file says (`policy`)"
            ),
            Some(policy) => info!(
                file = %policy.file.display(),
                rules = policy.rules.len(),
                "what no rule of the policy allows is refused"
            ),
        }
        make_directory(&config.data)?;
        let (health, meters) = (Arc::<Health>::default(), Arc::<Meters>::default());
        health.trouble(Trouble::Servers, "it has just started");
        let judged: Vec<_> = kinds.iter().cloned().zip(verdicts.0).collect();
        let keep = Arc::new(Keep::open(&config, &judged, &health, &meters, disk)?);
        let (mut keyed, mut asks) = (Vec::new(), Vec::new());
        for kind in requests {
            let key = Key::open(keep.vault(), &kind.config.name).await;
            let key = key.map_err(KeepError::from)?;
            let pool = Arc::new(Pool::new());
            asks.push((Arc::clone(&kind), Arc::clone(&pool)));
            keyed.push((kind, key, pool));
        }
        let servers = (config.me, config.roster.len());
        let ahead = Shelves::open(&config.data, &kinds, servers, keep.key_of_stores(), &meters);
        let ahead = ahead.map_err(system("cannot use the correlations made ahead in `data`"))?;
        let listener = listen(&config).await?;
        let address = listener.local_addr().map_err(system("the port"))?;
        let roster = Arc::new(config.roster.clone());
        let tls = TlsParty::new(&identity, Arc::clone(&roster))?;
        let clients_tls = ServerTls::new(&identity)?;
        let (parties, handed) = handing_on();
        let entries = roster.parties();
        let meet = Meet {
            me: config.me,
            addresses: entries.iter().map(|one| one.address.to_string()).collect(),
            names: entries.iter().map(|one| one.name.clone()).collect(),
            security: Security::Tls(tls),
            threads: config.threads,
            speaks: match old {
                true => Vec::new(),
                false => vec![speaks(SPOKEN), PROTOCOLS],
            },
            health: Arc::clone(&health),
            between,
        };
        let setup = Setup {
            meet,
            kinds: kinds.clone(),
            requests: keyed,
            keep: Arc::clone(&keep),
            meters: Arc::clone(&meters),
            health: Arc::clone(&health),
            memory: config.memory,
            ahead,
        };
        let together = Together::start(setup, handed);
        let together = together.map_err(system("cannot start the servers' thread"))?;
        let desk = Arc::new(Desk::new(DeskSetup {
            identity,
            keep: Arc::clone(&keep),
            meters: Arc::clone(&meters),
            teller: together.teller(),
            kinds: kinds.clone(),
            requests: asks,
            clients: config.clients.clone(),
            name: name_of(&roster, config.me),
            me: config.me,
            servers: roster.len(),
        }));
        let operation = match &config.operation {
            None => None,
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                let what = format!("cannot listen at {address} (`operation`)");
                let listener = listener.map_err(system(what))?;
                let (health, meters) = (Arc::clone(&health), Arc::clone(&meters));
                Some(tokio::spawn(serve_operation(listener, health, meters)))
            }
        };
        let websocket = match &config.websocket {
            None => None,
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                let what = format!("cannot listen at {address} (`websocket`)");
                Some(listener.map_err(system(what))?)
            }
        };
        let tunnels = websocket.as_ref().map(TcpListener::local_addr);
        let tunnels = tunnels.transpose().map_err(system("the port"))?;
        let connections = Connections::default();
        let port = Port {
            connections: connections.clone(),
            listener,
            websocket,
            parties,
            desk: Arc::clone(&desk),
            tls: clients_tls,
            limits: config.limits.clone(),
            servers: (entries.iter().enumerate())
                .filter(|(at, _)| *at != config.me.index())
                .map(|(_, one)| one.address.to_string())
                .collect(),
        };
        let port = tokio::spawn(port.work());
        let swept = Arc::clone(&keep);
        let sweeper = tokio::spawn(async move { swept.sweep_forever().await });
        info!(%address, party = name_of(&roster, config.me), "listening");
        Ok(Self {
            together,
            port,
            connections,
            operation,
            sweeper,
            desk,
            config: Mutex::new(config),
            keep,
            health,
            meters,
            address,
            websocket: tunnels,
        })
    }

    /// Waits until the server cannot go on: its disk has failed, or its thread has ended. What was acknowledged is there at the next start.
    pub async fn failed(&self) -> ServeError {
        let over = async {
            while !self.together.is_over() {
                sleep(Duration::from_millis(500)).await;
            }
        };
        tokio::select! {
            reason = self.keep.failed() => ServeError::Failed(reason),
            () = over => ServeError::Failed("a fault of madrigal: the servers' thread has ended; please report it with the log".to_owned()),
        }
    }

    /// The address where it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// The address where it listens for clients that come through WebSockets, if it does.
    pub fn websocket(&self) -> Option<std::net::SocketAddr> {
        self.websocket
    }

    /// The server's state, for those who ask.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The server's meters.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Reads the service's file again, with the policy and the programs, and takes what is new in it: clients and kinds of jobs hold from now on. Gives the
    /// names of fields that were changed and hold after a restart alone. Batches that are under way go on.
    ///
    /// # Errors
    /// [`ServeError`]: a file or a program that cannot be used, a kind that was changed while clients' submissions wait, or what the policy does not allow;
    /// then all stays as it is.
    pub async fn reload(&self, file: &Path) -> Result<Vec<String>, ServeError> {
        let before = lock(&self.config).clone();
        let file = file.to_owned();
        // Programs are planned beside the threads that serve.
        let read = tokio::task::spawn_blocking(move || {
            let mut config = Config::load(&file)?;
            let changed = config.renewed(&before);
            let checked = Checked::of(config)?;
            checked.allowed()?;
            Ok::<_, ServeError>((checked, changed))
        });
        let read = read
            .await
            .map_err(|error| ServeError::Failed(error.to_string()))?;
        let (checked, changed) = read?;
        let (verdicts, _) = checked.verdicts();
        let judged: Vec<_> = checked.kinds.iter().cloned().zip(verdicts).collect();
        // From here on nothing waits for anything, so nothing is done by halves.
        self.keep.reload(&checked.config, &judged)?;
        self.together.reload(checked.kinds.clone());
        let clients = checked.config.clients.clone();
        self.desk.reload(checked.kinds, &checked.requests, clients);
        *lock(&self.config) = checked.config;
        Ok(changed)
    }

    /// Takes leave: takes nothing on, ends jobs that are at work, and tells the other servers.
    pub async fn leave(self, within: Duration) {
        self.port.abort();
        self.together.leave(within);
        let until = Instant::now() + within + Duration::from_secs(5);
        while !self.together.is_over() && Instant::now() < until {
            sleep(LOOK).await;
        }
        self.connections.end().await;
        self.sweeper.abort();
        if let Some(operation) = self.operation {
            operation.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name_of(roster: &Roster, me: Party) -> String {
    let entry = roster.party(me.index());
    entry.map_or_else(String::new, |entry| entry.name.clone())
}

/// The path with more at its end, whatever bytes its name has.
fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Makes the directory of what a server keeps, which its owner alone can read.
fn make_directory(path: &Path) -> Result<(), ServeError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let what = format!("cannot make the directory {} (`data`)", path.display());
    builder.create(path).map_err(system(what))
}

async fn listen(config: &Config) -> Result<TcpListener, ServeError> {
    let entry = config.roster.party(config.me.index());
    let own = entry.map_or_else(String::new, |entry| entry.address.to_string());
    let address = config.listen.clone().unwrap_or(own);
    let what =
        format!("cannot listen at {address} (`listen`, or the address in the list of servers)");
    let listener = TcpListener::bind(&address).await;
    listener.map_err(system(what))
}
