//! Facts that parties learn from each other's greeting, and the randomness that follows from it. The
//! derivations are specified in `schema/WIRE.md`.

use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use madrigal_core::{Party, Zeroizing, domains};
use madrigal_kernels::{Block, Prg, marks};
use sha2::{Digest, Sha256};

use super::config::SessionConfig;
use super::shared::{Peer, Shared};
use crate::control::{Hello, MAX_TOLD_THREADS, printable};
use crate::error::{Error, Result};
use crate::versions::{Speaks, Versions, common};

impl Shared {
    /// Takes a peer's greeting, if it has come.
    pub(super) fn meet(&self, peer: &Peer) -> Result<()> {
        // Locked until it is known: a second one is compared with it.
        let mut control = peer.control();
        let Some(hello) = control.hello.take() else {
            return Ok(());
        };
        self.welcome(peer, &hello)?;
        drop(control);
        self.ask_for_answer(peer);
        Ok(())
    }

    /// Makes the session's identity, once everybody's greeting is here.
    pub(super) fn identify(&self) {
        let nonce = |party: Party| {
            let theirs = || self.peer(party).nonce.get().map_or(&[][..], |nonce| nonce);
            if party == self.me() {
                &self.nonce
            } else {
                theirs()
            }
        };
        let mut identity = Sha256::new_with_prefix(domains::SESSION_IDENTITY);
        // Both are 64 at most.
        identity.update([self.parties() as u8, self.config.name.len() as u8]);
        identity.update(self.config.name.as_bytes());
        Party::all(self.parties()).for_each(|party| identity.update(nonce(party)));
        let _ = self.identity.set(identity.finalize().into());
    }

    /// Threads that this party computes with, as the others are told.
    pub(super) fn told_threads(&self) -> u32 {
        let threads = u32::try_from(self.config.threads).unwrap_or(u32::MAX);
        threads.min(MAX_TOLD_THREADS)
    }

    /// Place of a protocol among those that this party speaks.
    fn protocol(&self, name: &str) -> Option<usize> {
        (self.config.speaks.iter()).position(|one| one.name == name)
    }

    /// Versions that a party speaks of a protocol that we speak too; nothing before its greeting.
    pub(super) fn spoken_by(&self, party: Party, name: &str) -> Option<Versions> {
        let place = self.protocol(name)?;
        match party == self.me() {
            true => Some(self.config.speaks[place].versions),
            false => self.peer(party).spoken.get()?.get(place).copied(),
        }
    }

    /// Version of a protocol that all parties have in common; nothing before the greeting.
    pub(super) fn spoken(&self, name: &str) -> Option<u32> {
        let all = Party::all(self.parties()).map(|party| self.spoken_by(party, name));
        let all: Option<Vec<Versions>> = all.collect();
        common(all?.into_iter())
    }

    /// The least number of threads of the session's first `parties` parties.
    pub(super) fn common_threads(&self, parties: usize) -> Result<usize> {
        let mut least = self.told_threads();
        let peers = self.peers.iter();
        for peer in peers.filter(|peer| peer.party.index() < parties) {
            least = match peer.threads.get() {
                None => return Err(Error::Ungreeted),
                Some(0) => {
                    let peer = peer.party;
                    return Err(self.fail(Error::Idle { peer, parties }));
                }
                Some(&threads) => least.min(threads),
            };
        }
        Ok(least as usize)
    }

    /// Checks a peer's greeting and makes the pair's seed.
    fn welcome(&self, peer: &Peer, hello: &Hello) -> Result<()> {
        let told = (hello.protocol_version, hello.newest_version);
        let theirs = Versions {
            oldest: told.0,
            newest: told.1.max(told.0),
        };
        let fits = |what: &str, ours: Versions, theirs: Versions| match ours.meets(theirs) {
            true => Ok(()),
            false => Err(Error::Version {
                peer: peer.party,
                what: what.to_owned(),
                ours,
                theirs,
                software: printable(&hello.software),
            }),
        };
        fits("the session protocol", self.config.protocol, theirs)?;
        if self.config.name != hello.session {
            return Err(Error::Session {
                peer: peer.party,
                what: "the session's name",
                ours: named(&self.config.name),
                theirs: named(&printable(&hello.session)),
            });
        }
        let facts = [
            (
                "the number of parties",
                self.parties().to_string(),
                hello.parties.to_string(),
            ),
            (
                "our number",
                self.me().index().to_string(),
                hello.to.to_string(),
            ),
            (
                "its number",
                peer.party.index().to_string(),
                hello.from.to_string(),
            ),
        ];
        for (what, ours, theirs) in facts {
            if ours != theirs {
                return Err(Error::Session {
                    peer: peer.party,
                    what,
                    ours,
                    theirs,
                });
            }
        }
        if peer.meeting != hello.meeting {
            return Err(Error::Run {
                peer: peer.party,
                // The lower number of the two is the party that is dialed.
                dialed: peer.party.min(self.me()),
                ours: known(&peer.meeting),
                theirs: known(&printable(&hello.meeting)),
            });
        }
        let spoken = self.config.speaks.iter().map(|ours| {
            let theirs = spoken_by(hello, ours);
            fits(ours.name, ours.versions, theirs)?;
            Ok(theirs)
        });
        let _ = peer.spoken.set(spoken.collect::<Result<_>>()?);
        let _ = peer.nonce.set(hello.nonce.clone());
        let _ = peer.threads.set(hello.threads);
        let _ = peer.seed.set(self.pair_seed(peer, hello));
        Ok(())
    }

    /// The seed that follows from a peer's greeting and ours. SHA-256 as a random oracle on two
    /// halves, each fresh from its party, and on what tells this session from others.
    fn pair_seed(&self, peer: &Peer, hello: &Hello) -> Zeroizing<[u8; 32]> {
        let (low, high) = if self.me() < peer.party {
            (&peer.seed_half[..], &hello.seed_half[..])
        } else {
            (&hello.seed_half[..], &peer.seed_half[..])
        };
        let digest = Sha256::new()
            .chain_update(domains::PAIR_SEED)
            .chain_update(low)
            .chain_update(high)
            .chain_update([self.config.name.len() as u8])
            .chain_update(self.config.name.as_bytes())
            .chain_update(peer.meeting.as_bytes())
            .finalize();
        Zeroizing::new(digest.into())
    }

    /// Whether a greeting is the one that we know, or the first.
    pub(super) fn greets_alike(&self, peer: &Peer, known: Option<&Hello>, hello: &Hello) -> bool {
        match (known, peer.seed.get()) {
            (Some(known), _) => known == hello,
            (None, Some(seed)) => *seed == self.pair_seed(peer, hello),
            (None, None) => true,
        }
    }

    /// SHA-256 as a key derivation (random oracle): the pair's seed, the job and the step's path
    /// give the key of an AES-CTR generator and the key's number.
    pub(crate) fn shared_prg(&self, job: u32, path: &str, peer: Party) -> Prg {
        let seed = self
            .peer(peer)
            .seed
            .get()
            .expect("jobs are opened after the greeting");
        let digest: Zeroizing<[u8; 32]> = Zeroizing::new(
            Sha256::new()
                .chain_update(domains::SHARED_GENERATOR)
                .chain_update(&seed[..])
                .chain_update(job.to_le_bytes())
                .chain_update(path.as_bytes())
                .finalize()
                .into(),
        );
        numbered_prg(&digest[..])
    }

    pub(crate) fn private_prg(&self) -> Prg {
        let mut number = self.prgs.fetch_add(1, Relaxed);
        fresh_prg(&self.config, &mut number)
    }

    /// The seed that a test's base OTs come from.
    #[cfg(feature = "test-seeds")]
    pub(crate) fn test_base_ots(&self) -> Option<u64> {
        self.config.test_seed.filter(|_| self.config.test_base_ots)
    }

    #[cfg(not(feature = "test-seeds"))]
    pub(crate) fn test_base_ots(&self) -> Option<u64> {
        None
    }

    pub(crate) fn public_id(&self, job: u32, path: &str) -> [u8; 32] {
        Sha256::new()
            .chain_update(domains::PUBLIC_ID)
            .chain_update(
                self.identity
                    .get()
                    .expect("jobs are opened after the greeting"),
            )
            .chain_update(job.to_le_bytes())
            .chain_update(path.as_bytes())
            .finalize()
            .into()
    }
}

/// Versions of a protocol that a peer speaks by its greeting.
fn spoken_by(hello: &Hello, ours: &Speaks) -> Versions {
    let told = hello.speaks.iter().find(|told| told.name == ours.name);
    told.map_or(Versions::only(ours.untold), |told| Versions {
        oldest: told.oldest,
        newest: told.newest,
    })
}

/// A session's name, for people.
fn named(name: &str) -> String {
    match name {
        "" => "none".into(),
        name => format!("`{name}`"),
    }
}

/// An address, for people.
fn known(address: &str) -> String {
    match address {
        "" => "no address".into(),
        address => address.into(),
    }
}

/// Our clock.
pub(super) fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A generator seeded by the operating system; by the test's seed where a test has set one. The output
/// is secret unless it is said to be public.
pub(super) fn fresh_prg(config: &SessionConfig, number: &mut u64) -> Prg {
    let mut seed = Zeroizing::new([0; 24]);
    if !test_seed(config, number, &mut seed) {
        // Without randomness nothing here is safe, and there is nobody to ask for some.
        getrandom::fill(&mut *seed).expect("the operating system gives randomness");
    }
    marks::secret(&mut *seed);
    numbered_prg(&seed[..])
}

/// A generator from 24 bytes at least: its key, and the key's number. Nobody else knows the number, which is more
/// than is asked of it; that no two generators have the same is what random 64 bits give.
fn numbered_prg(bytes: &[u8]) -> Prg {
    let mut key = Zeroizing::new([0; 16]);
    key.copy_from_slice(&bytes[..16]);
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[16..24]);
    Prg::numbered(Block::from_bytes(*key), u64::from_le_bytes(number))
}

/// Writes the next seed of a test; false where there is none.
#[cfg(feature = "test-seeds")]
fn test_seed(config: &SessionConfig, number: &mut u64, seed: &mut [u8; 24]) -> bool {
    let Some(test) = config.test_seed else {
        return false;
    };
    let place = (config.me.index() as u64) << 32 | *number;
    *number += 1;
    seed[..16].copy_from_slice(&Block::new(test, place).to_bytes());
    seed[16..].copy_from_slice(&place.to_le_bytes());
    true
}

#[cfg(not(feature = "test-seeds"))]
fn test_seed(_: &SessionConfig, _: &mut u64, _: &mut [u8; 24]) -> bool {
    false
}
