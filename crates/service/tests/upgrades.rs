//! Servers of two versions in one service, and servers that are upgraded one at a time.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use madrigal_program::{Array, Shape, Type};
use madrigal_service::{Checked, Server, Trial};
use madrigal_service_client::{ServiceClient, ServiceConfig, Value};
use tokio::time::{Instant, sleep, timeout};

use crate::common::{Client, Service, statistics};
use crate::jobs::runtime;

/// Version of the notes that servers speak which tell no versions.
const OLD: i64 = 3;
/// Version of those that do.
const NEW: i64 = 4;
const SOON: Duration = Duration::from_secs(60);

/// Starts a server, as an old one or a new one.
pub(crate) async fn start(service: &mut Service, at: usize, old: bool) {
    for _ in 0..200 {
        let checked = Checked::load(&service.file(at)).unwrap();
        let trial = Trial {
            old,
            ..Trial::default()
        };
        if let Ok(server) = Server::start_trial(checked, trial).await {
            service.servers[at] = Some(server);
            return;
        }
        // The port of a server that has just gone may not be free yet.
        sleep(Duration::from_millis(50)).await;
    }
    panic!("server {at} does not start");
}

/// Waits until all servers are in a session and ready.
pub(crate) async fn all_ready(service: &Service) {
    let ready = async {
        let servers = || service.servers.iter().flatten();
        while !servers().all(|server| server.health().is_ready()) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    if timeout(SOON, ready).await.is_err() {
        let servers = service.servers.iter().flatten();
        let told: String = servers.map(|server| server.health().in_words()).collect();
        panic!("not ready: {told}");
    }
}

/// Versions of the notes that the servers have settled on.
fn versions(service: &Service) -> Vec<i64> {
    let servers = service.servers.iter().flatten();
    servers
        .map(|server| server.meters().notes_version.get())
        .collect()
}

/// Brings three ages and gives their sum.
async fn sum(service: &Service, ages: [u32; 3]) -> u32 {
    let mut clients = Client::dial(service, None).await;
    let mut ann = Client::dial(service, Some(b"secret of ann")).await;
    let mine = ann.prepare("ann", ages[0]);
    ann.submit(&mine).await;
    for age in &ages[1..] {
        let prepared = clients.prepare("bob", *age);
        clients.submit(&prepared).await;
    }
    ann.wait(mine.id).await;
    ann.fetch(mine.id, 0).await.component::<u32>(0)[0]
}

/// One old server among new ones, as the leader and as a follower: all settle on the old version, and compute.
#[test]
fn one_old_server_works_with_two_new_ones() {
    for old in 0..3 {
        runtime().block_on(async {
            let mut service = Service::new(3, &statistics(3, 3, "1h"));
            for at in 0..3 {
                start(&mut service, at, at == old).await;
            }
            all_ready(&service).await;
            assert_eq!(versions(&service), [OLD; 3], "server {old} is old");
            assert_eq!(sum(&service, [31, 44, 17]).await, 92);
            service.stop_all().await;
        });
    }
}

/// New servers among themselves speak the new version.
#[test]
fn new_servers_speak_the_new_version() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(3, 3, "1h"));
        for at in 0..3 {
            start(&mut service, at, false).await;
        }
        all_ready(&service).await;
        assert_eq!(versions(&service), [NEW; 3]);
        assert_eq!(sum(&service, [31, 44, 17]).await, 92);
        service.stop_all().await;
    });
}

pub(crate) fn scalar(age: u32) -> Value {
    let shape = Shape::checked(&[1]).unwrap();
    let typed: Type = "u32".parse().unwrap();
    Value::from(Array::from_codes(typed, &shape, [u128::from(age)].into_iter()).unwrap())
}

/// Clients submit all the while; each server is stopped and started as a new one, one after the other. Each submission counts once.
#[test]
fn a_rolling_upgrade_loses_nothing() {
    let runtime = runtime();
    let text = statistics(1, 500, "100ms").replace("submit =", "runs = 100\nsubmit =");
    let mut service = Service::new(3, &text);
    runtime.block_on(async {
        for at in 0..3 {
            start(&mut service, at, true).await;
        }
        all_ready(&service).await;
    });
    let mut config = ServiceConfig::new((*service.roster).clone());
    config.patience = Duration::from_secs(600);
    let done = Arc::new(AtomicBool::new(false));
    let submitting = {
        let (config, done) = (config.clone(), Arc::clone(&done));
        // The future cannot go to another thread, so it is made there.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let client = ServiceClient::connect(config).await.unwrap();
                let all = (0..).take_while(|_| !done.load(Relaxed)).map(|at: u32| {
                    std::thread::sleep(Duration::from_millis(5));
                    (
                        format!("member-{at}"),
                        vec![("age".to_owned(), scalar(at % 97))],
                    )
                });
                let many = client.many("ages", all, 1000, |at, result, _| {
                    assert!(result.is_ok(), "submission {at}: {}", result.unwrap_err());
                    true
                });
                many.await.unwrap().accepted
            })
        })
    };
    runtime.block_on(async {
        for at in [1, 0, 2] {
            sleep(Duration::from_millis(700)).await;
            let server = service.servers[at].take().unwrap();
            server.leave(Duration::from_secs(10)).await;
            start(&mut service, at, false).await;
            all_ready(&service).await;
            let settled = if at == 2 { NEW } else { OLD };
            assert_eq!(versions(&service), [settled; 3], "after server {at}");
        }
        sleep(Duration::from_millis(700)).await;
    });
    done.store(true, Relaxed);
    let accepted = submitting.join().unwrap();
    assert!(
        accepted > 100,
        "{accepted} submissions are too few to show anything"
    );
    config.token = Some(b"secret of ann".to_vec().into());
    runtime.block_on(async {
        let client = ServiceClient::connect(config).await.unwrap();
        let (mut count, mut sum, mut batch) = (0, 0, 0);
        let until = Instant::now() + SOON;
        while count < accepted {
            let next = timeout(SOON, client.wait_after("ages", batch)).await;
            let outputs = next.expect("a batch in time").unwrap();
            batch = outputs.job.batch;
            count += outputs.job.submissions;
            sum += u64::from(outputs.values[0].1.component::<u32>(0)[0]);
            assert!(Instant::now() < until, "{count} of {accepted} counted");
        }
        let expected: u64 = (0..accepted).map(|at| at % 97).sum();
        assert_eq!((count, sum), (accepted, expected));
        service.stop_all().await;
    });
}
