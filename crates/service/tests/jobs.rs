//! Submissions become jobs, and their results come back.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::time::Duration;

use futures_util::future::join_all;
use madrigal_core::chain::Chain;
use madrigal_intake::{Code, FromServer, Of};
use tokio::time::{sleep, timeout};

use crate::common::{Client, Line, Service, statistics};

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn values_of_clients_are_summed() {
    for servers in [2, 3] {
        runtime().block_on(async {
            let mut service = Service::new(servers, &statistics(3, 3, "1h"));
            service.start_all().await;
            let mut clients = Client::dial(&service, None).await;
            let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
            let mine = ann.prepare("ann", 31);
            ann.submit(&mine).await;
            // A submission that is sent again counts once.
            ann.submit(&mine).await;
            for (client, age) in [("bob", 44), ("carol", 17)] {
                let prepared = clients.prepare(client, age);
                clients.submit(&prepared).await;
            }
            let (receipt, outputs) = ann.wait(mine.id).await;
            assert_eq!(receipt.submissions, 3);
            assert_eq!(outputs, [0, 1, 2, 3]);
            let mut learnt = Vec::new();
            for output in outputs {
                let value = ann.fetch(mine.id, output).await;
                learnt.push(value.component::<u32>(0).to_vec());
            }
            assert_eq!(learnt, [vec![92], vec![17], vec![44], vec![1, 2, 3, 3]]);
            service.stop_all().await;
        });
    }
}

/// Others than those who receive outputs, or have brought the submission, get nothing of them; the analyst needs no submission.
#[test]
fn outputs_are_for_those_who_receive_them() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        service.start_all().await;
        let mut clients = Client::dial(&service, None).await;
        let first = clients.prepare("bob", 44);
        for prepared in [&first, &clients.prepare("carol", 17)] {
            clients.submit(prepared).await;
        }
        // Bob's own connection, which proves nothing, hears that the job is done, and has no outputs.
        let (receipt, outputs) = clients.wait(first.id).await;
        assert_eq!((receipt.submissions, outputs.len()), (2, 0));
        for of in [Of::Submission(first.id), Of::Batch { kind: 0, batch: 1 }] {
            let line = &mut clients.lines[0];
            line.connection.fetch(of, 0, 0).unwrap();
            match line.told().await {
                FromServer::Refused(refused) => assert_eq!(refused.code, Code::NotAllowed),
                other => panic!("{other:?}"),
            }
        }
        let mut ann = Line::dial(&service.roster, 1, Some(b"secret of ann")).await;
        ann.connection
            .wait(Of::Batch { kind: 0, batch: 0 })
            .unwrap();
        match ann.told().await {
            FromServer::Finished(finished) => assert_eq!(finished.outputs.len(), 4),
            other => panic!("{other:?}"),
        }
        service.stop_all().await;
    });
}

/// Shares that are not the ones that their client committed to are refused before they are accepted, and the batch of the others is done.
#[test]
fn wrong_shares_are_refused_before_they_do_harm() {
    runtime().block_on(async {
        let text = statistics(2, 2, "1h").replace("submit =", "mix = \"R\"\nsubmit =");
        let mut service = Service::new(3, &text);
        service.start_all().await;
        let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
        let mut wrong = ann.prepare("ann", 31);
        let byte = wrong.bodies[1].last_mut().unwrap();
        *byte ^= 1;
        let line = &mut ann.lines[1];
        let (headers, body) = (wrong.headers.clone().freeze(), wrong.bodies[1].clone());
        let digest = Chain::digest(&headers, &body);
        line.connection
            .whole(0, (wrong.id, headers, digest), body.into())
            .unwrap();
        match line.told().await {
            FromServer::Refused(refused) => {
                assert_eq!(refused.code, Code::Header);
                assert!(refused.text.contains("commit"), "{}", refused.text);
            }
            other => panic!("{other:?}"),
        }
        let mine = ann.prepare("ann", 31);
        ann.submit(&mine).await;
        let mut clients = Client::dial(&service, None).await;
        let other = clients.prepare("bob", 44);
        clients.submit(&other).await;
        let (receipt, outputs) = ann.wait(mine.id).await;
        assert_eq!((receipt.submissions, outputs.len()), (2, 4));
        let sum = ann.fetch(mine.id, 0).await;
        assert_eq!(sum.component::<u32>(0), [75]);
        service.stop_all().await;
    });
}

/// Servers that are all told to leave at the same time hear of each other's end while they do, and none waits for others that are gone.
#[test]
fn servers_that_leave_at_once_end() {
    let (within, soon) = (Duration::from_secs(60), Duration::from_secs(30));
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(3, 3, "1h"));
        for trial in 0..5 {
            service.start_all().await;
            let servers = || service.servers.iter().flatten();
            while !servers().all(|server| server.health().is_ready()) {
                sleep(Duration::from_millis(10)).await;
            }
            let all = service.servers.iter_mut().filter_map(Option::take);
            let leave = join_all(all.map(|server| server.leave(within)));
            let left = timeout(soon, leave).await;
            assert!(left.is_ok(), "trial {trial}: a server waits for others");
        }
    });
}
