//! A party that attends jobs while nothing happens.

use std::sync::mpsc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::transport::{Fault, FaultKind, Faulty, mesh};
use madrigal_net::{Session, block_on};
use madrigal_testkit::{World, seed};

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
    assert!(matches!(ended, Ok(Err(_))), "still waiting: {ended:?}");
}
