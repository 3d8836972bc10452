//! From addresses to a session: sockets, runtimes, network profiles.

use std::net::TcpListener;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_core::time::Link;
use madrigal_net::transport::{Profile, Security, Shaped, Transport, connect};
use madrigal_net::{Session, SessionConfig};
use tokio::runtime::Builder;

use crate::failure::{Failure, Result, Usage};
use crate::flags::Patience;

/// `--network`: what the links are made to behave like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Network {
    /// `None`: as they are.
    pub profile: Option<Profile>,
    /// What they are like so long after the session began.
    pub later: Option<(Duration, Profile)>,
}

impl Network {
    /// What does not change.
    pub const fn new(profile: Option<Profile>) -> Self {
        Self {
            profile,
            later: None,
        }
    }

    /// `none`, a profile, or one that changes: `PROFILE/TIME/PROFILE`.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self::new(None));
        }
        let profile = |text| Profile::parse(text).map_err(Usage::Network);
        // Units have a slash too.
        let Some((first, rest)) = split_change(text) else {
            return Ok(Self::new(Some(profile(text)?)));
        };
        let (first, (after, later)) = (profile(first)?, (rest.0, profile(rest.1)?));
        Ok(Self {
            profile: Some(first),
            later: Some((after, later)),
        })
    }

    /// What plans are to expect of it: of one that changes, what it begins with.
    pub fn link(self) -> Link {
        self.profile.map_or_else(Link::default, |profile| Link {
            latency: profile.latency.as_secs_f64(),
            bytes_per_second: profile.bits_per_second.map(|bits| bits as f64 / 8.0),
        })
    }

    /// Does `work` in a session over a transport that is there already, shaped by the profile.
    ///
    /// # Errors
    /// Those of the session, and of `work`.
    pub async fn in_session<T>(
        self,
        me: Party,
        parties: usize,
        transport: impl Transport,
        patience: &Patience,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let Some(profile) = self.profile else {
            return in_session(me, parties, transport, patience, work).await;
        };
        let shaped = match self.later {
            None => Shaped::new(transport, profile),
            Some((after, later)) => Shaped::changing(transport, profile, after, later),
        };
        in_session(me, parties, shaped, patience, work).await
    }
}

/// A network that changes: what it is like, after how long it changes, and into what.
fn split_change(text: &str) -> Option<(&str, (Duration, &str))> {
    let mut slashes = text.match_indices('/').map(|(at, _)| at);
    slashes.find_map(|at| {
        let (after, later) = text[at + 1..].split_once('/')?;
        let after = humantime::parse_duration(after.trim()).ok()?;
        Some((&text[..at], (after, later)))
    })
}

/// One party's way to the others over TCP.
pub struct Way<'a> {
    /// This party.
    pub me: Party,
    /// Where party `i` listens.
    pub addresses: &'a [String],
    /// Where this party listens, already.
    pub listener: TcpListener,
    /// What protects the links.
    pub security: &'a Security,
    /// What the links are made to behave like.
    pub network: Network,
    /// How long to wait for what.
    pub patience: &'a Patience,
    /// Threads that the party computes with.
    pub threads: usize,
}

impl Way<'_> {
    /// Meets the other parties and does `work` in a session with them. A party that computes on one
    /// thread has its sockets on it too, which saves changing threads in each round; else they are on
    /// threads of their own, as many as there are links at most.
    ///
    /// # Errors
    /// Parties that do not meet; those of the session, and of `work`.
    pub fn in_session<T>(self, work: impl AsyncFnOnce(&Session) -> Result<T>) -> Result<T> {
        let mut builder = if self.threads == 1 {
            Builder::new_current_thread()
        } else {
            Builder::new_multi_thread()
        };
        let links = self.addresses.len() - 1;
        let runtime = builder
            .worker_threads(self.threads.min(links))
            .enable_all()
            .build()
            .map_err(Failure::system("cannot start the runtime"))?;
        runtime.block_on(async {
            let Self {
                me,
                addresses,
                patience,
                ..
            } = self;
            let listener = to_tokio(self.listener)?;
            let limit = patience.connect_timeout;
            let transport = connect(me, addresses, listener, self.security, limit).await?;
            self.network
                .in_session(me, addresses.len(), transport, patience, work)
                .await
        })
    }
}

fn to_tokio(listener: TcpListener) -> Result<tokio::net::TcpListener> {
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    listener.map_err(Failure::system("cannot listen"))
}

/// Greets the other parties over `transport`, does `work`, and takes leave. On an error the other
/// parties are told before it returns.
///
/// # Errors
/// Those of the session, and of `work`.
pub async fn in_session<T>(
    me: Party,
    parties: usize,
    transport: impl Transport,
    patience: &Patience,
    work: impl AsyncFnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let mut config = SessionConfig::new(me, parties);
    // We may have met everybody while two others still look for each other.
    config.patience = config.patience.max(patience.connect_timeout);
    config.silence = patience.silence_timeout;
    config.stall = patience.stall_timeout;
    if let Some(version) = patience.test_protocol_version {
        config.protocol_version = version;
    }
    let session = Session::new(config, transport);
    let done = match session.greet().await {
        Ok(()) => work(&session).await,
        Err(error) => Err(error.into()),
    };
    session.close().await;
    done
}
