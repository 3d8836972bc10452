//! Numbers of threads and versions of protocols that parties tell each other as they greet.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::{Arc, Mutex};

use futures_util::future::{join_all, try_join_all};
use madrigal_core::Party;
use madrigal_net::transport::{Inbox, MemoryTransport, Packet, Transport, mesh};
use madrigal_net::{Error, Session, SessionConfig, Speaks, Versions, block_on};
use madrigal_testkit::{World, seed};

use crate::hostile::{control, hello};

/// Sessions of parties with these numbers of threads, who have not greeted each other yet.
fn sessions(threads: &[usize]) -> Vec<Session> {
    let world = World::new(threads.len(), seed());
    let all = Party::all(threads.len()).zip(mesh(threads.len()));
    let sessions = all.zip(threads).map(|((me, transport), &threads)| {
        let mut config = world.config(me);
        config.threads = threads;
        Session::new(config, transport)
    });
    sessions.collect()
}

#[test]
fn the_least_number_of_those_who_compute_is_common() {
    for (threads, computing, common) in [
        (&[2, 8][..], 2, 2),
        (&[16, 3, 5], 3, 3),
        // The last one is a dealer.
        (&[4, 6, 0], 2, 4),
        // As many as are told at most.
        (&[usize::MAX, 1 << 20], 2, 1 << 16),
    ] {
        let sessions = sessions(threads);
        for session in &sessions {
            let early = session.common_threads(computing).unwrap_err();
            assert_eq!(early, Error::Ungreeted);
        }
        block_on(try_join_all(sessions.iter().map(Session::greet))).unwrap();
        for (session, &own) in sessions.iter().zip(threads).take(computing) {
            assert_eq!(session.common_threads(computing), Ok(common), "{threads:?}");
            assert_eq!(session.threads(), own);
        }
    }
}

#[test]
fn who_computes_nothing_in_a_place_of_those_who_compute_is_named() {
    let sessions = sessions(&[2, 0, 2]);
    block_on(try_join_all(sessions.iter().map(Session::greet))).unwrap();
    let error = sessions[0].common_threads(3).unwrap_err();
    let (peer, parties) = (Party::new(1), 3);
    assert_eq!(error, Error::Idle { peer, parties });
    // Whoever finds it first tells the others.
    let error = sessions[2].common_threads(3).unwrap_err();
    assert!(error.to_string().contains("party 1 says"), "{error}");
    let told = join_all(sessions.iter().map(|session| session.job(1, &[], None)));
    for error in block_on(told) {
        assert_eq!(error.unwrap_err().culprit(), Some(Party::new(1)));
    }
}

/// A transport whose inbox a test may fill.
struct Tapped(MemoryTransport, Arc<Mutex<Option<Inbox>>>);

impl Transport for Tapped {
    fn attach(&self, inbox: Inbox) {
        *self.1.lock().unwrap() = Some(inbox.clone());
        self.0.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        self.0.send(to, packet);
    }
    fn close(&self) {
        self.0.close();
    }
}

/// Error that party 0 makes of a greeting that tells this number of threads.
fn greeted_with(threads: u64) -> Result<usize, Error> {
    let mut greeting = hello();
    greeting.push(0x58);
    let mut rest = threads;
    while rest > 0x7f {
        greeting.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    greeting.push(rest as u8);
    greeting[1] = (greeting.len() - 2) as u8;
    let (inbox, mut ends) = (Arc::default(), mesh(2));
    let world = World::new(2, seed());
    let mut config = world.config(Party::new(0));
    config.threads = 4;
    let session = Session::new(config, Tapped(ends.remove(0), Arc::clone(&inbox)));
    let mut bytes = Vec::new();
    control(0, &greeting).encode_to(&mut bytes);
    let inbox = inbox.lock().unwrap().clone().unwrap();
    inbox.deliver(Party::new(1), bytes.into());
    block_on(session.greet())?;
    session.common_threads(2)
}

#[test]
fn any_number_is_borne_or_refused() {
    assert_eq!(greeted_with(3), Ok(3));
    assert_eq!(greeted_with(1 << 16), Ok(4));
    for silly in [(1 << 16) + 1, 1_000_000_000, u64::from(u32::MAX)] {
        let error = greeted_with(silly).unwrap_err();
        let refused = matches!(&error, Error::Control { peer, .. } if peer.index() == 1);
        assert!(refused, "{silly}: {error}");
        assert!(error.to_string().contains("65536 threads"), "{error}");
    }
}

const fn range(oldest: u32, newest: u32) -> Versions {
    Versions { oldest, newest }
}

fn notes(versions: Versions) -> Vec<Speaks> {
    vec![Speaks {
        name: "notes",
        versions,
        untold: 3,
    }]
}

/// Sessions of three parties that have greeted each other, or the errors of all.
fn greeted(set: impl Fn(usize, &mut SessionConfig)) -> Result<Vec<Session>, Vec<Error>> {
    let world = World::new(3, seed());
    let sessions: Vec<Session> = Party::all(3)
        .zip(mesh(3))
        .map(|(me, transport)| {
            let mut config = world.config(me);
            set(me.index(), &mut config);
            Session::new(config, transport)
        })
        .collect();
    let greetings = block_on(join_all(sessions.iter().map(Session::greet)));
    let errors: Vec<Error> = greetings.into_iter().filter_map(Result::err).collect();
    match errors.is_empty() {
        true => Ok(sessions),
        false => Err(errors),
    }
}

/// All settle on the newest version that each of them speaks, and know who holds them back.
#[test]
fn the_newest_common_version_is_spoken() {
    let said = [range(3, 5), range(2, 4), range(4, 9)];
    let sessions = greeted(|me, config| config.speaks = notes(said[me])).unwrap();
    for session in &sessions {
        assert_eq!(session.spoken("notes"), Some(4));
        assert_eq!(session.spoken("something else"), None);
        let all = Party::all(3).map(|party| session.spoken_by(party, "notes").unwrap());
        assert_eq!(all.collect::<Vec<_>>(), said);
    }
}

/// Who names no protocol was built before there were ranges, and speaks the version of then.
#[test]
fn who_does_not_tell_speaks_the_version_of_before() {
    let sessions = greeted(|me, config| {
        if me != 1 {
            config.speaks = notes(range(3, 4));
        }
    });
    let sessions = sessions.unwrap();
    assert_eq!(sessions[0].spoken("notes"), Some(3));
    assert_eq!(sessions[2].spoken("notes"), Some(3));
    let of = sessions[0].spoken_by(Party::new(1), "notes");
    assert_eq!(of, Some(Versions::only(3)));
    let errors = greeted(|me, config| {
        if me != 1 {
            config.speaks = notes(range(4, 5));
        }
    });
    let errors = errors.unwrap_err();
    let told = errors[0].to_string();
    let expected = "party 1 speaks version 3 of notes (madrigal";
    assert!(told.starts_with(expected), "{told}");
    let expected = "we speak versions 4 to 5: install a newer version of madrigal at party 1";
    assert!(told.ends_with(expected), "{told}");
}

/// The session protocol is a range too: one that begins with our version is spoken, and one that is newer alone is not.
#[test]
fn session_protocols_meet_or_say_who_is_old() {
    let now = SessionConfig::new(Party::new(0), 3).protocol;
    let newer = range(now.newest, now.newest + 1);
    let met = greeted(|me, config| {
        if me == 1 {
            config.protocol = newer;
        }
    });
    assert!(met.is_ok());
    let only_newer = range(now.newest + 1, now.newest + 2);
    let errors = greeted(|me, config| {
        if me == 1 {
            config.protocol = only_newer;
        }
    });
    let told: Vec<String> = errors.unwrap_err().iter().map(Error::to_string).collect();
    let said = format!(
        "we speak version {}: install a newer version of madrigal at this party",
        now.newest
    );
    assert!(told.iter().any(|told| told.contains(&said)), "{told:?}");
    let said = format!("we speak {only_newer}: install a newer version of madrigal at party 0");
    assert!(told.iter().any(|told| told.contains(&said)), "{told:?}");
}

/// A greeting with a range that is none is refused.
#[test]
fn a_range_that_is_none_is_refused() {
    for (oldest, newest, fits) in [(4, 4, true), (4, 9, true), (4, 3, false)] {
        let mut greeting = hello();
        // Field 13: the name, the oldest, the newest.
        greeting.extend_from_slice(&[0x6a, 11, 0x0a, 5]);
        greeting.extend_from_slice(b"notes");
        greeting.extend_from_slice(&[0x10, oldest, 0x18, newest]);
        greeting[1] = (greeting.len() - 2) as u8;
        let (inbox, mut ends) = (Arc::default(), mesh(2));
        let world = World::new(2, seed());
        let mut config = world.config(Party::new(0));
        config.speaks = notes(range(3, 4));
        let session = Session::new(config, Tapped(ends.remove(0), Arc::clone(&inbox)));
        let mut bytes = Vec::new();
        control(0, &greeting).encode_to(&mut bytes);
        let inbox = inbox.lock().unwrap().clone().unwrap();
        inbox.deliver(Party::new(1), bytes.into());
        let greeted = block_on(session.greet());
        match fits {
            true => assert_eq!(session.spoken("notes"), Some(4), "{greeted:?}"),
            false => {
                let error = greeted.unwrap_err();
                assert!(
                    error.to_string().contains("older than the oldest"),
                    "{error}"
                );
            }
        }
    }
}
