//! Random faults against a chatty program: every party that lives ends in time, with the right
//! result or with an error that blames the right one.

#![allow(clippy::print_stdout)] // what was tried

use std::sync::mpsc;
use std::time::Duration;

use futures_util::FutureExt;
use madrigal_core::{Party, Phase};
use madrigal_net::transport::{Fault, FaultKind, Faulty, mesh};
use madrigal_net::{Context, Error, Result, Session, block_on, exchange};
use madrigal_testkit::{World, impatient, must_end_well, run_with_fault, seed};

/// Several rounds in several steps, one after the other and side by side; each party knows what all
/// others send, and returns whether it came.
async fn chatter(context: Context) -> Result<bool> {
    let talk = |context: Context, rounds: usize, size: usize| async move {
        let said_by = |party: Party| context.step(&party.to_string());
        let mut ours: Vec<_> = context
            .peers()
            .map(|peer| said_by(context.me()).shared_prg(peer))
            .collect::<Result<_>>()?;
        let mut theirs: Vec<_> = context
            .peers()
            .map(|peer| said_by(peer).shared_prg(peer))
            .collect::<Result<_>>()?;
        let mut channels = context.channels()?;
        let mut right = true;
        for _ in 0..rounds {
            for (channel, prg) in channels.iter_mut().zip(&mut ours) {
                let mut message = vec![0; size];
                prg.fill(&mut message);
                channel.send(message).await?;
            }
            for (channel, prg) in channels.iter_mut().zip(&mut theirs) {
                let mut expected = vec![0; size];
                prg.fill(&mut expected);
                right &= channel.recv(size).await? == expected;
            }
        }
        Ok::<bool, Error>(right)
    };
    let setup = context.step("setup");
    let mut right = talk(setup, 4, 300).await?;
    let online = context.enter(Phase::Online, "online");
    let (a, b) = (online.fork("a"), online.fork("b"));
    let (a, b) = futures_util::future::try_join(talk(a, 5, 20_000), talk(b, 3, 300_000)).await?;
    right &= a & b;
    let end = online.step("end");
    let me = end.me().index() as u8;
    let heard = exchange(&mut end.channels()?, vec![me; 3], 3).await?;
    right &= heard
        .iter()
        .zip(end.peers())
        .all(|(message, peer)| message[..] == [peer.index() as u8; 3]);
    Ok(right)
}

fn try_fault(parties: usize, seed: u64) -> (Duration, bool) {
    let fault = Fault::random(seed, parties);
    let right = |_: Party, right: &bool| *right;
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        run_with_fault(&world, fault, limit, chatter, right)
    };
    let trial = must_end_well(&format!("MADRIGAL_FAULT={parties},{seed}"), trial);
    (trial.slowest(), trial.fired)
}

#[test]
fn every_fault_ends_well_or_with_one_clear_error() {
    if let Ok(one) = std::env::var("MADRIGAL_FAULT") {
        let (parties, seed) = one.split_once(',').expect("MADRIGAL_FAULT=parties,seed");
        try_fault(parties.parse().unwrap(), seed.parse().unwrap());
        return;
    }
    let count: u64 = std::env::var("MADRIGAL_FAULTS").map_or(150, |text| text.parse().unwrap());
    let seed = seed();
    for parties in [2, 3] {
        // Most of the time is waiting: several at a time.
        let slowest = std::thread::scope(|scope| {
            let lane = |lane: u64| {
                move || {
                    let seeds = (0..count).filter(move |i| i % 4 == lane);
                    let ends = seeds.map(|i| try_fault(parties, seed.wrapping_add(i)));
                    ends.fold((Duration::ZERO, 0), |(most, fired), (time, did)| {
                        (most.max(time), fired + u32::from(did))
                    })
                }
            };
            let lanes: Vec<_> = (0..4).map(|i| scope.spawn(lane(i))).collect();
            let ends = lanes.into_iter().map(|lane| lane.join().unwrap());
            ends.fold((Duration::ZERO, 0), |a, b| (a.0.max(b.0), a.1 + b.1))
        });
        println!(
            "{parties} parties, {count} trials: {} faults, slowest end after {:?}",
            slowest.1, slowest.0
        );
    }
}

/// Living parties send signs of life all the time: one of whom none comes is gone, whether there is
/// a job or not. Else a dealer waits forever for parties whose machine has lost its network.
#[test]
fn between_jobs_a_silent_party_ends_the_session_too() {
    let world = World::new(2, seed()).with_limits(|limits| {
        limits.silence = Duration::from_millis(400);
        limits.stall = Duration::from_millis(1200);
        limits.patience = Duration::from_millis(3000);
    });
    let fault = Fault {
        kind: FaultKind::Stall,
        party: Party::new(0),
        peer: Party::new(1),
        at: 1,
        seed: 1,
    };
    let (report, reports) = mpsc::channel();
    for (me, transport) in Party::all(2).zip(Faulty::all(mesh(2), fault)) {
        let (world, report) = (world.clone(), report.clone());
        std::thread::spawn(move || {
            block_on(async {
                let session = Session::new(world.config(me), transport);
                session
                    .greet()
                    .await
                    .unwrap_or_else(|error| panic!("{me}: {error}"));
                if me.index() == 0 {
                    std::thread::sleep(Duration::from_secs(60));
                }
                let _ = report.send(session.attend(None).await.map(drop));
            });
        });
    }
    let ended = reports.recv_timeout(Duration::from_secs(6));
    assert!(
        matches!(&ended, Ok(Err(Error::Silent { peer, .. })) if peer.index() == 0),
        "{ended:?}"
    );
}

/// A party whose session fails on one thread while another closes it: its peers hear the reason
/// and do not take it for one that has vanished.
#[test]
fn who_closes_a_failing_session_tells_why_first() {
    let seed = seed();
    // Long, for it takes a while to put into a message.
    let reason = "something else went wrong ".repeat(100_000);
    for trial in 0..50 {
        let world = World::new(2, seed.wrapping_add(trial));
        let sessions: Vec<_> = Party::all(2)
            .zip(mesh(2))
            .map(|(me, transport)| Session::new(world.config(me), transport))
            .collect();
        let greetings = sessions.iter().map(Session::greet);
        block_on(futures_util::future::try_join_all(greetings)).unwrap();
        let [fails, peer] = sessions.try_into().unwrap();
        std::thread::scope(|scope| {
            let (failing, reason) = (fails.clone(), reason.clone());
            scope.spawn(move || failing.fail(Error::Ended { reason }));
            while fails.attend(None).now_or_never().is_none() {}
            block_on(fails.close());
        });
        match block_on(peer.attend(None)) {
            Err(Error::Aborted { reason: said, .. }) if said.contains("something else") => {}
            other => panic!("trial {trial}: {other:?}"),
        }
    }
}
