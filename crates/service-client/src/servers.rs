//! Connections to all servers: made, compared, and made again when they are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::try_join_all;
use madrigal_core::text::plain;
use madrigal_intake::limits::VERSIONS;
use madrigal_intake::{Hello, Kind, Welcome, token_for};
use madrigal_net::tls::{ClientTls, TlsError};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::asks::{LinkError, Sink};
use crate::config::ServiceConfig;
use crate::dial::{DialError, SharedDial, TcpDial};
use crate::error::{At, ClientError};
use crate::link::Link;

/// First pause before a server is asked again; each further one is twice as long, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);

/// The servers of a service, with connections to each.
pub(crate) struct Servers {
    pub(crate) config: ServiceConfig,
    dial: SharedDial,
    links: Vec<Vec<Mutex<Option<Link>>>>,
    turn: AtomicUsize,
    /// Kinds that all servers have, in the order of server 0.
    pub(crate) kinds: Vec<Kind>,
}

impl Servers {
    /// Connects to all servers side by side, and compares what they say.
    pub(crate) async fn connect(
        config: ServiceConfig,
        dial: Option<SharedDial>,
    ) -> Result<Self, ClientError> {
        let dial = match dial {
            Some(dial) => dial,
            None => {
                let tls = ClientTls::new(config.servers.clone(), config.identity.as_deref());
                let own = |error: TlsError| ClientError::Dial {
                    server: at(&config, 0),
                    fault: Box::new(error.into()),
                };
                Arc::new(TcpDial(tls.map_err(own)?))
            }
        };
        let one = |_| Mutex::new(None);
        let each = |_| (0..config.connections.max(1)).map(one).collect();
        let mut servers = Self {
            links: (0..config.servers.len()).map(each).collect(),
            dial,
            config,
            turn: AtomicUsize::new(0),
            kinds: Vec::new(),
        };
        let links = try_join_all((0..servers.len()).map(|server| servers.greet(server))).await?;
        let welcomes: Vec<_> = links.iter().map(|link| link.welcome().clone()).collect();
        servers.compare(&welcomes)?;
        servers.kinds = welcomes[0].kinds.clone();
        for (slots, link) in servers.links.iter_mut().zip(links) {
            slots[0] = Mutex::new(Some(link));
        }
        Ok(servers)
    }

    pub(crate) fn len(&self) -> usize {
        self.config.servers.len()
    }

    pub(crate) fn at(&self, server: usize) -> At {
        at(&self.config, server)
    }

    /// Checks that the servers are those of the list, and one service.
    fn compare(&self, welcomes: &[Arc<Welcome>]) -> Result<(), ClientError> {
        for (server, welcome) in welcomes.iter().enumerate() {
            let listed = [
                ("place", u64::from(welcome.place), server as u64),
                (
                    "number of servers",
                    u64::from(welcome.servers),
                    self.len() as u64,
                ),
            ];
            for (what, got, expected) in listed {
                if got != expected {
                    return Err(ClientError::Listed {
                        server: self.at(server),
                        what,
                        got: got.to_string(),
                        expected: expected.to_string(),
                    });
                }
            }
        }
        let first = &welcomes[0].kinds;
        for (server, welcome) in welcomes.iter().enumerate().skip(1) {
            let differs = |what: String, got: String, expected: String| ClientError::Differs {
                servers: Box::new([self.at(server), self.at(0)]),
                what,
                got,
                expected,
            };
            if let Some((what, got, expected)) = difference(&welcome.kinds, first) {
                return Err(differs(what, got, expected));
            }
        }
        Ok(())
    }

    fn hello(&self, server: usize, session: [u8; 16]) -> Hello {
        let key = &self.config.servers.parties()[server].key;
        let token = self.config.token.as_ref();
        Hello {
            least: *VERSIONS.start(),
            most: *VERSIONS.end(),
            // Each server sees another one, and cannot pose as the client at the others.
            token: token.map(|secret| token_for(secret, key)),
            client: self.config.client.clone(),
            software: concat!("madrigal ", env!("CARGO_PKG_VERSION")).into(),
            session,
        }
    }

    /// Connects to a server once.
    pub(crate) async fn open(
        &self,
        server: usize,
        session: [u8; 16],
        sink: Option<Sink>,
    ) -> Result<Link, Failure> {
        let silence = self.config.silence;
        let open = async {
            let wire = self.dial.dial(server).await.map_err(Failure::Dial)?;
            let link = Link::open(wire, self.hello(server, session), sink, silence).await;
            link.map_err(Failure::Link)
        };
        let late = || {
            let why = format!("no connection and greeting within {} s", silence.as_secs());
            Failure::Link(LinkError::Lost(why.into()))
        };
        timeout(silence, open).await.unwrap_or_else(|_| Err(late()))
    }

    /// Connects to a server, again and again while it may work later.
    async fn greet(&self, server: usize) -> Result<Link, ClientError> {
        let mut patience = Patience::new(self.config.patience);
        loop {
            let session = session()?;
            match self.open(server, session, None).await {
                Ok(link) => return Ok(link),
                Err(failure) => patience.bear(failure, || self.at(server)).await?,
            }
        }
    }

    /// One of the connections to a server; made anew where it was lost.
    async fn link(&self, server: usize) -> Result<Link, ClientError> {
        let slots = &self.links[server];
        let slot = self.turn.fetch_add(1, Ordering::Relaxed) / self.len().max(1) % slots.len();
        let mut slot = slots[slot].lock().await;
        if let Some(link) = slot.as_ref().filter(|link| !link.is_lost()) {
            return Ok(link.clone());
        }
        let link = self.greet(server).await?;
        // A server that came back may have other kinds: what was agreed on counts.
        let now = &link.welcome().kinds;
        if let Some((what, got, expected)) = difference(now, &self.kinds) {
            return Err(ClientError::Differs {
                servers: Box::new([self.at(server), self.at(0)]),
                what,
                got,
                expected,
            });
        }
        *slot = Some(link.clone());
        Ok(link)
    }

    /// Asks a server, again and again while it may work later. `ask` gets a connection, and must be such that it may be asked twice.
    // No `AsyncFn`: of its futures the compiler cannot say for all lifetimes that they may move between threads.
    pub(crate) async fn ask<T, F>(
        &self,
        server: usize,
        ask: impl Fn(Link) -> F + Send + Sync,
    ) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, LinkError>> + Send,
    {
        let mut patience = Patience::new(self.config.patience);
        loop {
            let link = self.link(server).await?;
            match ask(link).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    patience
                        .bear(Failure::Link(error), || self.at(server))
                        .await?;
                }
            }
        }
    }

    /// The kind of a name, and its place in a server's list.
    pub(crate) fn kind(&self, name: &str) -> Result<&Kind, ClientError> {
        let found = self.kinds.iter().find(|kind| kind.name == name);
        found.ok_or_else(|| ClientError::NoKind {
            kind: name.to_owned(),
            there: self
                .kinds
                .iter()
                .map(|kind| format!("`{}`", kind.name))
                .collect(),
        })
    }
}

/// Place of a kind in a server's list.
pub(crate) fn place_of(link: &Link, kind: &str) -> Result<u32, LinkError> {
    let mut kinds = link.welcome().kinds.iter();
    let place = kinds.position(|other| other.name == kind);
    let missing = || LinkError::Fault(format!("it has no kind `{kind}` any more").into());
    place.map(|place| place as u32).ok_or_else(missing)
}

/// A random name of connections that are used together.
pub(crate) fn session() -> Result<[u8; 16], ClientError> {
    let mut session = [0; 16];
    let drawn = getrandom::fill(&mut session).map_err(std::io::Error::other);
    drawn.map_err(madrigal_clients::ShareFault::Randomness)?;
    Ok(session)
}

fn at(config: &ServiceConfig, place: usize) -> At {
    let entry = config.servers.party(place);
    At {
        place,
        name: entry.map_or_else(String::new, |entry| entry.name.clone()),
    }
}

/// The first difference between two servers' kinds: the fact, ours, theirs.
fn difference(ours: &[Kind], theirs: &[Kind]) -> Option<(String, String, String)> {
    for kind in theirs {
        let Some(same) = ours.iter().find(|other| other.name == kind.name) else {
            let what = format!("kind `{}`", kind.name);
            return Some((what, "missing".into(), "there".into()));
        };
        if let Some((field, one, other)) = same.difference(kind) {
            let what = format!("kind `{}`: {field}", kind.name);
            return Some((what, plain(&one).into_owned(), plain(&other).into_owned()));
        }
    }
    let more = ours
        .iter()
        .find(|kind| !theirs.iter().any(|other| other.name == kind.name))?;
    Some((
        format!("kind `{}`", more.name),
        "there".into(),
        "missing".into(),
    ))
}

/// Reasons why a server did not answer.
pub(crate) enum Failure {
    Dial(DialError),
    Link(LinkError),
}

impl Failure {
    /// Whether it may work later, and the time after which the server wants to be asked again.
    fn may_pass(&self) -> (bool, Duration) {
        match self {
            Self::Dial(error) => (error.may_pass(), Duration::ZERO),
            Self::Link(LinkError::Lost(_)) => (true, Duration::ZERO),
            Self::Link(LinkError::Refused(refused)) => {
                let after = Duration::from_millis(refused.retry_after_ms.into());
                (refused.code.may_retry(), after)
            }
            Self::Link(LinkError::Body(_) | LinkError::Fault(_)) => (false, Duration::ZERO),
        }
    }

    pub(crate) fn told(self, server: At) -> ClientError {
        match self {
            Self::Dial(fault) => ClientError::Dial {
                server,
                fault: Box::new(fault),
            },
            Self::Link(LinkError::Lost(why)) => ClientError::Lost {
                server,
                why: why.to_string(),
            },
            Self::Link(LinkError::Refused(refused)) => ClientError::Refused {
                server,
                code: refused.code,
                text: refused.text,
            },
            Self::Link(LinkError::Body(why)) => ClientError::Body(why.to_string()),
            Self::Link(LinkError::Fault(what)) => ClientError::Fault {
                server,
                what: what.to_string(),
            },
        }
    }
}

/// Pauses between attempts, which grow, until the patience is over: it counts from the first failure, and anew after an attempt that lasted
/// longer than it, as a wait for a job may.
pub(crate) struct Patience {
    patience: Duration,
    end: Instant,
    /// Beginning of the present attempt.
    since: Instant,
    pause: Option<Duration>,
}

impl Patience {
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            patience,
            end: Instant::now(),
            since: Instant::now(),
            pause: None,
        }
    }

    /// Waits if it may work later, or gives up.
    async fn bear(&mut self, failure: Failure, server: impl Fn() -> At) -> Result<(), ClientError> {
        let (may_pass, after) = failure.may_pass();
        match may_pass && self.pause(after).await {
            true => Ok(()),
            false => Err(failure.told(server())),
        }
    }

    /// Waits before another attempt, `after` at least; gives whether there is to be one.
    pub(crate) async fn pause(&mut self, after: Duration) -> bool {
        let now = Instant::now();
        if self.pause.is_none() || now - self.since > self.patience {
            (self.end, self.pause) = (now + self.patience, Some(FIRST));
        }
        let length = self.pause.unwrap_or(FIRST);
        let pause = jittered(length).max(after);
        if now + pause > self.end {
            return false;
        }
        sleep(pause).await;
        self.since = Instant::now();
        self.pause = Some((2 * length).min(LONGEST));
        true
    }
}

/// Three quarters of a pause and up to half of it more: clients that were cut off together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [0];
    // Without randomness the pause is what it is.
    let _ = getrandom::fill(&mut byte);
    pause * 3 / 4 + pause * u32::from(byte[0]) / 512
}
