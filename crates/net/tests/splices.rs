//! Two runs of the same parties at the same time, and somebody without any key who forwards connections of
//! one to the other: no party of either computes with one of the other run.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{ConnectConfig, Security, connect};
use madrigal_net::{Error, Result, Session, SessionConfig, exchange};
use madrigal_testkit::forward;

/// Two runs, and what is between their parties.
struct Splice<'a> {
    parties: usize,
    /// The name of each run.
    names: [&'a str; 2],
    /// Connections to these parties are forwarded to the other run.
    crossed: &'a [usize],
    secure: bool,
    /// The last party serves jobs that it does not know, as a dealer does.
    dealt: bool,
    /// Number of connections that each party offers.
    connections: usize,
}

const HONEST: Splice<'_> = Splice {
    parties: 2,
    names: [""; 2],
    crossed: &[],
    secure: true,
    dealt: false,
    connections: 1,
};

/// The parties of one run: where each listens, and where others dial it.
struct SplicedRun {
    listeners: Vec<TcpListener>,
    addresses: Vec<String>,
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

impl Splice<'_> {
    /// Gives the result of each party of each run.
    fn results(&self) -> Vec<Vec<Result<()>>> {
        let keys: Vec<_> = (0..self.parties)
            .map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap())
            .collect();
        let (mut runs, mut doors) = (Vec::new(), Vec::new());
        let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
        for _ in self.names {
            let listeners: Vec<_> = (0..self.parties).map(|_| listener()).collect();
            let between: Vec<_> = (0..self.parties).map(|_| listener()).collect();
            let addresses = between.iter().map(address).collect();
            runs.push(SplicedRun {
                listeners,
                addresses,
            });
            doors.push(between);
        }
        for (run, doors) in doors.into_iter().enumerate() {
            for (party, door) in doors.into_iter().enumerate() {
                let to = run ^ usize::from(self.crossed.contains(&party));
                forward(door, address(&runs[to].listeners[party]));
            }
        }
        std::thread::scope(|scope| {
            let take_part = |(run, name): (SplicedRun, &&str)| {
                let entries = run.addresses.iter().zip(&keys);
                let entry = |(address, key): (&String, &Identity)| {
                    (address.parse().unwrap(), key.fingerprint())
                };
                let roster = Arc::new(Roster::local(entries.map(entry)).unwrap());
                let parties = Party::all(self.parties).zip(&keys).zip(run.listeners);
                let start = |((me, key), listener): ((Party, &Identity), TcpListener)| {
                    let security = match self.secure {
                        true => Security::Tls(TlsParty::new(key, Arc::clone(&roster)).unwrap()),
                        false => Security::Clear,
                    };
                    let (addresses, name) = (run.addresses.clone(), name.to_string());
                    scope.spawn(move || self.party(me, &addresses, listener, &security, name))
                };
                parties.map(start).collect::<Vec<_>>()
            };
            let runs: Vec<_> = runs.into_iter().zip(&self.names).map(take_part).collect();
            let join = |run: Vec<std::thread::ScopedJoinHandle<'_, _>>| {
                run.into_iter().map(|party| party.join().unwrap()).collect()
            };
            runs.into_iter().map(join).collect()
        })
    }

    fn party(
        &self,
        me: Party,
        addresses: &[String],
        listener: TcpListener,
        security: &Security,
        name: String,
    ) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let config = ConnectConfig {
                patience: Duration::from_secs(20),
                connections: self.connections,
                ..ConnectConfig::new(me, addresses, security)
            };
            let transport = connect(config, listener).await;
            let config = SessionConfig {
                name,
                ..SessionConfig::new(me, addresses.len())
            };
            let session = Session::new(config, transport.unwrap());
            let done = self.compute(&session).await;
            session.close().await;
            done
        })
    }

    async fn compute(&self, session: &Session) -> Result<()> {
        session.greet().await?;
        let serves = self.dealt && session.me().index() + 1 == self.parties;
        let job = if serves {
            let (job, facts) = session.attend(None).await?.unwrap();
            assert_eq!(facts, [("what".to_owned(), "it".to_owned())]);
            job
        } else {
            session
                .job(1, &[("what".into(), "it".into())], None)
                .await?
        };
        let context = job.context();
        let mut channels = context.channels()?;
        let mine = vec![session.me().index() as u8; 5];
        for (theirs, party) in exchange(&mut channels, mine, 5)
            .await?
            .iter()
            .zip(context.peers())
        {
            assert_eq!(theirs[..], [party.index() as u8; 5]);
        }
        job.finish().await
    }

    /// All parties of both runs end with an error that names the cause, at least `some` of them with one that
    /// `is` of the kind that finds it.
    #[track_caller]
    fn ends(&self, some: usize, is: impl Fn(&Error) -> bool, says: &str) {
        // With more handshakes some parties are later, and hear of it before they compare anything.
        for (connections, some) in [(1, some), (3, 1)] {
            let runs = Self {
                connections,
                ..*self
            };
            runs.end(some, &is, says);
        }
    }

    #[track_caller]
    fn end(&self, some: usize, is: impl Fn(&Error) -> bool, says: &str) {
        let results = self.results();
        let all: Vec<Error> = results
            .into_iter()
            .flatten()
            .map(Result::unwrap_err)
            .collect();
        for error in &all {
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(
                error.culprit().is_some(),
                matches!(error, Error::Session { .. } | Error::Aborted { .. })
            );
        }
        let found = all.iter().filter(|error| is(error)).count();
        assert!(found >= some, "{} connections: {all:?}", self.connections);
    }
}

/// Runs of the other tests are no hindrance: runs that are not crossed come to their end.
#[test]
fn runs_at_the_same_time_do_not_hinder_each_other() {
    for dealt in [false, true] {
        for names in [["", ""], ["a", "b"]] {
            let (parties, crossed) = (3, &[][..]);
            let runs = Splice {
                parties,
                names,
                crossed,
                dealt,
                connections: 2,
                ..HONEST
            };
            for result in runs.results().into_iter().flatten() {
                result.unwrap();
            }
        }
    }
}

/// Two runs compute nothing. Before, nothing that two parties compared belonged to one run: each of both computed with the
/// other run's partner, with exit 0.
#[test]
fn two_runs_of_two_parties_that_are_forwarded_crosswise_compute_nothing() {
    for secure in [true, false] {
        let runs = Splice {
            secure,
            crossed: &[0],
            ..HONEST
        };
        runs.ends(
            4,
            |error| matches!(error, Error::Run { dialed, .. } if dialed.index() == 0),
            "crosswise",
        );
    }
    let runs = Splice {
        names: ["tuesday", "wednesday"],
        crossed: &[0],
        ..HONEST
    };
    runs.ends(
        4,
        |error| matches!(error, Error::Session { .. }),
        "the session's name is `",
    );
    let runs = Splice {
        names: ["tuesday", ""],
        crossed: &[0],
        ..HONEST
    };
    runs.ends(4, |error| matches!(error, Error::Session { .. }), "none");
}

/// Crossed at party 0, what each party meets fits together, but is of two runs. Crossed at party 1 it does not
/// even fit together.
#[test]
fn two_runs_of_three_parties_that_are_forwarded_crosswise_compute_nothing() {
    for crossed in [&[0][..], &[1]] {
        let runs = Splice {
            parties: 3,
            crossed,
            ..HONEST
        };
        runs.ends(2, |error| matches!(error, Error::Run { .. }), "crosswise");
    }
}

/// A name that two runs have in common tells nothing apart; who has met whom still does. Before, the identity
/// of the session was computed and never compared: results were wrong, with exit 0.
#[test]
fn the_sessions_identity_is_compared_before_each_job() {
    for dealt in [false, true] {
        let names = ["same"; 2];
        let runs = Splice {
            parties: 3,
            names,
            crossed: &[1],
            dealt,
            ..HONEST
        };
        runs.ends(2, |error| matches!(error, Error::Mixed { .. }), "crosswise");
    }
}

/// Two lists with different addresses of one party: the error says which, and what to do.
#[test]
fn lists_that_differ_are_told() {
    let error = Error::Run {
        peer: Party::new(1),
        dialed: Party::new(0),
        ours: "10.0.0.1:7000".into(),
        theirs: "alice.example.org:7000".into(),
    };
    let text = error.to_string();
    for part in [
        "party 0 is at 10.0.0.1:7000 here",
        "alice.example.org:7000 there",
        "name",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // The text that a peer is told of it is cut at 300 bytes.
    assert!(text.find("crosswise").unwrap() < 200);
}
