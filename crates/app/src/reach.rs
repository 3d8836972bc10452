//! From addresses to a session: sockets, runtimes, network profiles.

use std::net::TcpListener;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_core::Party;
use madrigal_core::time::Link;
use madrigal_net::transport::{
    ConnectConfig, Meeting, Profile, Security, Shaped, Transport, connect,
};
use madrigal_net::{Error, Session, SessionConfig, Versions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::failure::{Failure, Result, Usage};
use crate::flags::Patience;
use crate::stop;

/// `--network`: what the links are made to behave like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Network {
    /// Profile of the links; `None` leaves them as they are.
    pub profile: Option<Profile>,
    /// Time after which the links change, counted from the session's beginning, and their profile then.
    pub later: Option<(Duration, Profile)>,
}

impl Network {
    /// Makes a network that does not change.
    pub const fn new(profile: Option<Profile>) -> Self {
        Self {
            profile,
            later: None,
        }
    }

    /// Reads `none`, a profile, or one that changes: `PROFILE/TIME/PROFILE`.
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

    /// Gives the link that plans are to expect: of a network that changes, what it begins with.
    pub fn link(self) -> Link {
        self.profile.map_or_else(Link::default, |profile| Link {
            latency: profile.latency.as_secs_f64(),
            bytes_per_second: profile.bits_per_second.map(|bits| bits as f64 / 8.0),
        })
    }

    /// Does `work` in a session over a transport that is there already, shaped by the profile, as a party that computes with
    /// this many threads.
    ///
    /// # Errors
    /// [`Failure`] of the session, and of `work`.
    pub async fn in_session<T>(
        self,
        me: Party,
        parties: usize,
        transport: impl Transport,
        patience: &Patience,
        threads: usize,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let session = self.session(me, parties, transport, patience, (threads, ""));
        let session = session.await?;
        work_in(session, work).await
    }

    fn session(
        self,
        me: Party,
        parties: usize,
        transport: impl Transport,
        patience: &Patience,
        own: (usize, &str),
    ) -> LocalBoxFuture<'static, Result<Open>> {
        match (self.profile, self.later) {
            (None, _) => open(me, parties, transport, patience, own),
            (Some(profile), None) => {
                let shaped = Shaped::new(transport, profile);
                open(me, parties, shaped, patience, own)
            }
            (Some(profile), Some((after, later))) => {
                let shaped = Shaped::changing(transport, profile, after, later);
                open(me, parties, shaped, patience, own)
            }
        }
    }
}

/// Splits the text of a network that changes: its first profile, and the time and the profile after that.
fn split_change(text: &str) -> Option<(&str, (Duration, &str))> {
    let mut slashes = text.match_indices('/').map(|(at, _)| at);
    slashes.find_map(|at| {
        let (after, later) = text[at + 1..].split_once('/')?;
        let after = humantime::parse_duration(after.trim()).ok()?;
        Some((&text[..at], (after, later)))
    })
}

/// The most connections that a party offers each other one.
const MOST_CONNECTIONS: usize = 8;
/// The most connections that it offers all others together, unless there are more of them: each has a descriptor and buffers.
const MOST_SOCKETS: usize = 64;

/// One party's way to the others over TCP.
pub struct Way<'a> {
    /// Number of this party.
    pub me: Party,
    /// Addresses where the parties listen, by their numbers.
    pub addresses: &'a [String],
    /// Listener of this party, which listens already.
    pub listener: TcpListener,
    /// Protection of the links.
    pub security: &'a Security,
    /// Network that the links are made to behave like.
    pub network: Network,
    /// Times to wait.
    pub patience: &'a Patience,
    /// Threads that the party computes with, which the others are told; 0 of one that computes nothing.
    pub threads: usize,
    /// Name of the session; empty if it has none.
    pub name: &'a str,
    /// Told what happens while the parties look for each other.
    pub observe: &'a (dyn Fn(Meeting<'_>) + Sync),
}

/// Number of connections that a party with `threads` threads offers each of its `peers`: one keeps about one
/// thread of each side busy with its bytes, and threads also compute.
fn connections(threads: usize, peers: usize) -> usize {
    let most = MOST_CONNECTIONS.min(MOST_SOCKETS / peers.max(1));
    threads.div_ceil(2).min(most).max(1)
}

impl Way<'_> {
    /// Meets the other parties and does `work` in a session with them. A party that computes on one
    /// thread has its sockets on it too, which saves changing threads in each round; else they are on
    /// threads of their own, as many as there are connections at most.
    ///
    /// # Errors
    /// [`Failure`]: parties that do not meet; those of the session, and of `work`.
    pub fn in_session<T>(self, work: impl AsyncFnOnce(&Session) -> Result<T>) -> Result<T> {
        let runtime = self.runtime()?;
        runtime.block_on(async { work_in(self.meet().await?, work).await })
    }

    fn connections(&self) -> usize {
        connections(self.threads, self.addresses.len() - 1)
    }

    fn runtime(&self) -> Result<Runtime> {
        let mut builder = if self.threads <= 1 {
            Builder::new_current_thread()
        } else {
            Builder::new_multi_thread()
        };
        let sockets = (self.addresses.len() - 1) * self.connections();
        builder
            .worker_threads(self.threads.min(sockets).max(1))
            .enable_all()
            .build()
            .map_err(Failure::system("cannot start the runtime"))
    }

    /// Meets the other parties, and gives the session. The future is boxed, so that it is compiled here once, and not
    /// with each `work`.
    fn meet<'a>(self) -> LocalBoxFuture<'a, Result<Open>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let connections = self.connections();
            let Self {
                me,
                addresses,
                patience,
                network,
                ..
            } = self;
            let listener = to_tokio(self.listener)?;
            let config = ConnectConfig {
                patience: patience.connect_timeout,
                connections,
                observe: self.observe,
                ..ConnectConfig::new(me, addresses, self.security)
            };
            let met = connect(config, listener);
            let (tell, told) = oneshot::channel();
            // Whoever has met us already sees that we are gone.
            let kept = stop::when_told(|signal| {
                // If nobody listens any more, they have met.
                let _ = tell.send(signal);
            });
            let transport = tokio::select! {
                met = met => met?,
                Ok(signal) = told => return Err(Failure::Stopped(signal)),
            };
            drop(kept);
            let parties = addresses.len();
            let own = (self.threads, self.name);
            let session = network.session(me, parties, transport, patience, own);
            session.await
        })
    }
}

fn to_tokio(listener: TcpListener) -> Result<tokio::net::TcpListener> {
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    listener.map_err(Failure::system("cannot listen"))
}

/// Greets the other parties over `transport` as one that computes with this many threads, does `work`, and takes leave. On an error the other
/// parties are told before it returns.
///
/// # Errors
/// [`Failure`] of the session, and of `work`.
pub async fn in_session<T>(
    me: Party,
    parties: usize,
    transport: impl Transport,
    patience: &Patience,
    threads: usize,
    work: impl AsyncFnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let open = open(me, parties, transport, patience, (threads, ""));
    work_in(open.await?, work).await
}

/// A session in which all have been greeted, and which ends for all when this process is told to stop.
struct Open {
    session: Session,
    told: stop::Subscription,
}

fn open(
    me: Party,
    parties: usize,
    transport: impl Transport,
    patience: &Patience,
    (threads, name): (usize, &str),
) -> LocalBoxFuture<'static, Result<Open>> {
    let mut config = SessionConfig::new(me, parties);
    config.name = name.to_owned();
    config.threads = threads;
    // We may have met everybody while two others still look for each other.
    config.patience = config.patience.max(patience.connect_timeout);
    config.silence = patience.silence_timeout;
    config.stall = patience.stall_timeout;
    if let Some(version) = patience.test_protocol_version {
        config.protocol = Versions::only(version);
    }
    greet(Session::new(config, transport))
}

fn greet(session: Session) -> LocalBoxFuture<'static, Result<Open>> {
    Box::pin(async move {
        let handle = session.clone();
        let told = stop::when_told(move |signal| {
            let by = signal.to_string();
            handle.fail(Error::Stopped { by });
        });
        match session.greet().await {
            Ok(()) => Ok(Open { session, told }),
            Err(error) => {
                session.close().await;
                Err(error.into())
            }
        }
    })
}

async fn work_in<T>(open: Open, work: impl AsyncFnOnce(&Session) -> Result<T>) -> Result<T> {
    let done = work(&open.session).await;
    open.session.close().await;
    drop(open.told);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_follow_threads_within_bounds() {
        let of_threads = [1, 2, 3, 8, 15, 16, 64].map(|threads| connections(threads, 1));
        assert_eq!(of_threads, [1, 1, 2, 4, 8, 8, 8]);
        let of_peers = [2, 8, 9, 32, 33, 63].map(|peers| connections(64, peers));
        assert_eq!(of_peers, [8, 8, 7, 2, 1, 1]);
    }
}
