//! A server loses power again and again while clients submit: each submission that was accepted counts exactly once.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use madrigal_net::roster::RosterEntry;
use madrigal_service::config::LogConfig;
use madrigal_service::operation::start_log;
use madrigal_service::{Checked, Server};
use madrigal_service_client::{ServiceClient, ServiceConfig};
use madrigal_testkit::seed;
use madrigal_vault::Vault;
use tokio::runtime::{Builder, Runtime};

use crate::bringers::Way;
use crate::common::{ANN, Service};
use crate::power::Disk;
use crate::random::Random;
use crate::uses;

/// Time within which something is used again after a kill, mostly.
const USED: Duration = Duration::from_secs(5);

/// A server in a runtime of its own, which goes with it.
pub(crate) struct Host {
    runtime: Runtime,
    pub(crate) server: Server,
    disk: Disk,
}

impl Host {
    pub(crate) fn start(service: &Service, at: usize, disk: Disk) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let file = service.file(at);
        let server = (0..200).find_map(|_| {
            let (disk, file) = (disk.clone(), file.clone());
            let open: madrigal_service::Disk =
                Box::new(move |key, limits| Vault::open_on(disk, key, limits));
            let start = Server::start_on(Checked::load(&file).unwrap(), Some(open));
            let started = runtime.block_on(start);
            if started.is_err() {
                // The port may still be another's for a moment.
                std::thread::sleep(Duration::from_millis(20));
            }
            started.ok()
        });
        Self {
            runtime,
            server: server.expect("a server that starts"),
            disk,
        }
    }

    /// Takes the power away: nothing that is not synced is written any more. Gives the disk as it is when the power is back.
    pub(crate) fn kill(self, random: &mut Random) -> Disk {
        self.disk.lose_after(0);
        self.runtime.shutdown_background();
        self.disk.after(random)
    }
}

fn number(name: &str, usual: u64) -> u64 {
    let told = std::env::var(name).ok();
    told.map_or(usual, |text| text.parse().unwrap())
}

fn kind(least: u64, line: &str) -> String {
    format!(
        "[[clients]]\nname = \"ann\"\ntoken-sha256 = \"{}\"\n\
         [[kinds]]\nname = \"ages\"\nprogram = \"ages.madrigal\"\nsubmit = \"anyone\"\nreceive = {{ analyst = [\"ann\"] }}\nruns = 100\n{line}\n\
         batch = {{ dimension = \"members\", least = {least}, most = 5000, after = \"300ms\" }}\n",
        ANN,
    )
}

#[test]
fn each_accepted_submission_counts_once() {
    kill_again_and_again("", 300, 1000, None);
}

/// Servers are killed while units of correlations are made and used: no part of a unit is used twice.
#[test]
fn no_correlation_is_used_twice() {
    let _alone = uses::record();
    let used = || uses::all().len();
    kill_again_and_again(
        "mix = \"A+B\"\nahead = { jobs = 3, submissions = 100 }",
        1000,
        25,
        Some(used),
    );
    let uses = uses::all();
    println!("{} uses of parts of units", uses.len());
    assert!(uses.len() >= 6, "units are used");
    assert_eq!(uses::twice(uses), None);
}

/// Kills servers at most `gap` milliseconds after each other, while `at_once` submissions are under way. Where `used` tells how often something was
/// used, that has happened between kills, if it does within seconds.
fn kill_again_and_again(line: &str, gap: usize, at_once: usize, used: Option<fn() -> usize>) {
    let (kills, clients) = (number("MADRIGAL_KILLS", 8), number("MADRIGAL_CLIENTS", 400));
    let seed = seed();
    // `RUST_LOG=info` shows what the servers do.
    let log = std::env::var("RUST_LOG").is_ok();
    let _ = log.then(|| start_log(&LogConfig::default()));
    let mut random = Random::new(seed);
    let service = Service::new(3, &kind(1, line));
    let mut hosts: Vec<Option<Host>> = (0..3)
        .map(|at| Some(Host::start(&service, at, Disk::default())))
        .collect();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut config = ServiceConfig::new((*service.roster).clone());
    config.patience = Duration::from_secs(600);
    let ages: Vec<u32> = (0..clients).map(|_| random.below(100) as u32).collect();
    // Slow enough that servers die in the middle of it.
    let pause = Duration::from_millis(number("MADRIGAL_PAUSE", 5));
    let file = service.folder.path().join("clients.toml");
    let list = service.roster.parties().iter();
    let list: String = list.map(RosterEntry::to_toml).collect();
    fs::write(&file, list.replace("[[party]]", "[[servers]]")).unwrap();
    let ways = Way::all();
    let submitting: Vec<_> = ages
        .chunks(ages.len().div_ceil(ways.len()))
        .zip(ways)
        .map(|(ages, way)| {
            let (ages, config, file) = (ages.to_vec(), config.clone(), file.clone());
            std::thread::spawn(move || way.bring(&config, &file, &ages, (at_once, pause)))
        })
        .collect();
    let mut killed = 0;
    let done = || submitting.iter().all(JoinHandle::is_finished);
    while killed < kills || !done() {
        if let Some(used) = used {
            let (before, begun) = (used(), Instant::now());
            while used() == before && begun.elapsed() < USED && !done() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(Duration::from_millis(random.below(gap) as u64));
        if killed < kills {
            let at = random.below(3);
            let host = hosts[at].take().unwrap();
            let disk = host.kill(&mut random);
            if random.one_in(3) {
                std::thread::sleep(Duration::from_millis(random.below(1000) as u64));
            }
            hosts[at] = Some(Host::start(&service, at, disk));
            killed += 1;
        }
    }
    let accepted = submitting.into_iter().map(|one| one.join().unwrap());
    assert_eq!(accepted.sum::<u64>(), clients);
    // All batches, one after the other, add up to what was brought.
    config.token = Some(b"secret of ann".to_vec().into());
    let (count, sum, below) = runtime.block_on(async {
        let client = ServiceClient::connect(config).await.unwrap();
        let (mut count, mut sum, mut below, mut batch) = (0, 0, [0; 4], 0);
        while count < clients {
            let next = client.wait_after("ages", batch);
            let next = tokio::time::timeout(Duration::from_secs(120), next).await;
            let Ok(outputs) = next else {
                let hosts = hosts.iter().flatten();
                let told = hosts.map(|host| {
                    let (health, meters) = (host.server.health(), host.server.meters());
                    health.in_words() + &meters.in_words().unwrap()
                });
                panic!(
                    "no batch after {batch}, {count} of {clients} counted, MADRIGAL_SEED={seed}
{}",
                    told.collect::<String>()
                );
            };
            let outputs = outputs.unwrap();
            batch = outputs.job.batch;
            count += outputs.job.submissions;
            let value = |at: usize| outputs.values[at].1.component::<u32>(0);
            sum += u64::from(value(0)[0]);
            below
                .iter_mut()
                .zip(value(3))
                .for_each(|(all, one)| *all += one);
        }
        (count, sum, below)
    });
    let edges = [20, 40, 60, 80];
    let expected = edges.map(|edge| ages.iter().filter(|&&age| age < edge).count() as u32);
    let all: u64 = ages.iter().map(|&age| u64::from(age)).sum();
    assert_eq!(
        (count, sum, below),
        (clients, all, expected),
        "MADRIGAL_SEED={seed}"
    );
    // Nothing is counted after that.
    std::thread::sleep(Duration::from_millis(500));
    drop(hosts);
}
