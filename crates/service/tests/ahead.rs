//! Correlations that are made in idle time: results with and without them, what they save, that none is used twice.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use madrigal_program::{Client as Owner, Program};
use madrigal_program_file::ProgramFile;
use madrigal_service::operation::{FillingEnd, FillingLabel, KindLabel, Meters};
use madrigal_service::{Checked, Server};
use tokio::time::{sleep, timeout};

use crate::common::{Client, Service, statistics};
use crate::jobs::runtime;
use crate::uses;

/// Time within which units are ready.
const SOON: Duration = Duration::from_secs(60);

/// A service's file with statistics in A and B, whose kind has another line.
fn kind(least: usize, most: usize, line: &str) -> String {
    let line = format!("mix = \"A+B\"\n{line}\nsubmit =");
    statistics(least, most, "1h").replace("submit =", &line)
}

fn ages() -> KindLabel {
    KindLabel::from("ages")
}

/// Jobs for which a server has correlations ready.
fn jobs(meters: &Meters) -> f64 {
    meters.ahead.get_or_create(&ages()).get()
}

fn fillings(meters: &Meters, kind: &str, end: FillingEnd) -> u64 {
    let kind = kind.to_owned();
    meters
        .fillings
        .get_or_create(&FillingLabel { kind, end })
        .get()
}

fn servers(service: &Service) -> impl Iterator<Item = &Server> {
    service.servers.iter().flatten()
}

/// Waits until all servers have correlations for this many jobs.
async fn ready(service: &Service, level: f64) {
    let there = async {
        while !servers(service).all(|server| jobs(server.meters()) >= level) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let told = || servers(service).map(|server| server.meters().in_words().unwrap());
    let there = timeout(SOON, there).await;
    assert!(there.is_ok(), "{}", told().collect::<String>());
}

/// Brings ages as one batch, and compares the results. Gives how long it took from the last submission on.
async fn batch(service: &Service, ages: &[u32]) -> Duration {
    let mut ann = Client::dial(service, Some(b"secret of ann")).await;
    let mine = ann.prepare("ann", ages[0]);
    let others: Vec<_> = (ages[1..].iter())
        .map(|&age| ann.prepare("ann", age))
        .collect();
    for other in &others {
        ann.submit(other).await;
    }
    ann.submit(&mine).await;
    let begun = Instant::now();
    let (receipt, outputs) = ann.wait(mine.id).await;
    let took = begun.elapsed();
    assert_eq!(receipt.submissions as usize, ages.len());
    let mut learnt = Vec::new();
    for output in outputs {
        let value = ann.fetch(mine.id, output).await;
        learnt.push(value.component::<u32>(0).to_vec());
    }
    let below = |edge| ages.iter().filter(|&&age| age < edge).count() as u32;
    let expected = [
        vec![ages.iter().sum()],
        vec![*ages.iter().min().unwrap()],
        vec![*ages.iter().max().unwrap()],
        [20, 40, 60, 80].map(below).to_vec(),
    ];
    assert_eq!(learnt, expected);
    took
}

/// Folders of a server's units.
fn units(service: &Service, at: usize) -> BTreeSet<PathBuf> {
    let folder = service.folder.path().join(format!("data{at}/ahead"));
    let entries = |path: PathBuf| {
        let entries = fs::read_dir(path).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    entries(folder).into_iter().flat_map(entries).collect()
}

/// Results are right on ready correlations and on those that a job makes; a job that takes ready ones sends less; the level is reached again, and not
/// exceeded.
#[test]
fn jobs_take_what_is_ready_and_make_what_is_not() {
    let _alone = uses::record();
    for parties in [2, 3] {
        runtime().block_on(async {
            let mut service = Service::new(parties, &kind(3, 3, "ahead = 2"));
            service.start_all().await;
            ready(&service, 2.0).await;
            let sent = |server: &Server| server.meters().sent.get_or_create(&ages()).get();
            let mut all = 0;
            for turn in 1..=3 {
                batch(&service, &[31, 44, 17]).await;
                for server in servers(&service) {
                    let runs = server.meters().runs_ahead.get_or_create(&ages()).get();
                    assert_eq!(runs, turn, "the unit that was ready is used");
                }
                ready(&service, 2.0).await;
                all = servers(&service).map(sent).sum::<u64>();
            }
            let made =
                servers(&service).map(|server| fillings(server.meters(), "ages", FillingEnd::Done));
            let made: Vec<u64> = made.collect();
            assert_eq!(
                made,
                vec![5; parties],
                "two, and one for each that was used"
            );
            sleep(Duration::from_millis(500)).await;
            for (at, server) in servers(&service).enumerate() {
                let more = fillings(server.meters(), "ages", FillingEnd::Done);
                assert_eq!((more, jobs(server.meters())), (5, 2.0), "fills stop");
                assert_eq!(units(&service, at).len(), 2);
            }
            service.stop_all().await;
            // Units are there after a restart, and used.
            service.start_all().await;
            ready(&service, 2.0).await;
            for server in servers(&service) {
                assert_eq!(fillings(server.meters(), "ages", FillingEnd::Done), 0);
            }
            batch(&service, &[1, 99, 50]).await;
            for server in servers(&service) {
                assert_eq!(server.meters().runs_ahead.get_or_create(&ages()).get(), 1);
            }
            service.stop_all().await;
            // Jobs without units ready give the same results.
            let mut service = Service::new(parties, &kind(3, 3, ""));
            service.start_all().await;
            for _ in 0..3 {
                batch(&service, &[31, 44, 17]).await;
            }
            let without = servers(&service).map(sent).sum::<u64>();
            println!("{parties} servers: {all} bytes in three jobs, {without} without");
            assert!(2 * all < without, "{all} bytes, {without} without");
            service.stop_all().await;
        });
    }
    assert_eq!(uses::twice(uses::all()), None);
}

/// A unit for a large batch serves several small ones, and none that needs more than is left.
#[test]
fn small_batches_take_parts_of_a_unit() {
    let _alone = uses::record();
    runtime().block_on(async {
        let mut service = Service::new(2, &kind(2, 40, "ahead = 1").replace("1h", "1s"));
        service.start_all().await;
        ready(&service, 1.0).await;
        let names = units(&service, 0);
        batch(&service, &[31, 44]).await;
        ready(&service, 1.5).await;
        let ages: Vec<u32> = (0..40).collect();
        // The part that is left comes before the whole unit that was made meanwhile, and then it is too little for anything alike.
        batch(&service, &ages[..20]).await;
        assert!(
            units(&service, 0).is_disjoint(&names),
            "the first unit is used on"
        );
        batch(&service, &ages[..30]).await;
        for server in servers(&service) {
            let runs = server
                .meters()
                .runs_ahead
                .get_or_create(&KindLabel::from("ages"));
            assert_eq!(runs.get(), 3);
            assert_eq!(fillings(server.meters(), "ages", FillingEnd::Failed), 0);
        }
        service.stop_all().await;
    });
    assert_eq!(uses::twice(uses::all()), None);
}

/// A unit that one server has lost is used by none: what it is named for is run again, with correlations of its own.
#[test]
fn servers_that_disagree_on_what_is_ready_compute_all_the_same() {
    let _alone = uses::record();
    runtime().block_on(async {
        let mut service = Service::new(3, &kind(3, 3, "ahead = 2"));
        service.start_all().await;
        ready(&service, 2.0).await;
        // Lost while the servers are at work.
        for unit in units(&service, 1) {
            fs::remove_dir_all(unit).unwrap();
        }
        batch(&service, &[31, 44, 17]).await;
        let broken = |server: &Server| server.meters().broken_runs.get_or_create(&ages()).get();
        let all: Vec<u64> = servers(&service).map(broken).collect();
        let once = all.iter().all(|&broken| broken <= 1) && all.contains(&1);
        assert!(once, "{all:?} broken runs: the next one makes its own");
        let used = |server: &Server| server.meters().runs_ahead.get_or_create(&ages()).get();
        assert!(servers(&service).all(|server| used(server) == 0));
        ready(&service, 2.0).await;
        service.stop_all().await;
        // Lost while they are down: the others drop theirs when they meet.
        let lost = units(&service, 2);
        for unit in &lost {
            fs::remove_dir_all(unit).unwrap();
        }
        let before = units(&service, 0);
        service.start_all().await;
        ready(&service, 2.0).await;
        for server in servers(&service) {
            let made = fillings(server.meters(), "ages", FillingEnd::Done);
            assert!(made >= lost.len() as u64, "{made}");
        }
        assert!(!before.is_empty());
        batch(&service, &[1, 2, 3]).await;
        assert!(servers(&service).all(|server| used(server) == 1 && broken(server) == 0));
        service.stop_all().await;
    });
    assert_eq!(uses::twice(uses::all()), None);
}

/// The recorder of uses would see units whose marks were set back at all servers at once, which nothing else tells.
#[test]
fn marks_that_are_set_back_would_be_seen() {
    let _alone = uses::record();
    runtime().block_on(async {
        let mut service = Service::new(2, &kind(2, 40, "ahead = 1").replace("1h", "1s"));
        service.start_all().await;
        ready(&service, 1.0).await;
        let journals = |service: &Service| -> Vec<(PathBuf, Vec<u8>)> {
            let all = (0..2).flat_map(|at| units(service, at));
            let read = |unit: PathBuf| {
                let journal = unit.join("journal");
                fs::read(&journal).ok().map(|bytes| (journal, bytes))
            };
            all.filter_map(read).collect()
        };
        let before = journals(&service);
        batch(&service, &[31, 44]).await;
        service.stop_all().await;
        let set_back = before.iter().filter(|(path, bytes)| {
            path.exists() && {
                fs::write(path, bytes).unwrap();
                true
            }
        });
        assert_eq!(set_back.count(), 2, "the unit is there still");
        service.start_all().await;
        ready(&service, 1.0).await;
        batch(&service, &[31, 44]).await;
        service.stop_all().await;
        // The unit that was set back looks whole, and is used from its beginning again.
        let again = uses::twice(uses::all());
        assert!(again.is_some_and(|[one, other]| one.unit == other.unit));
    });
}

/// A batch that begins while a unit is made does not wait for it, and the unit is given up.
#[test]
fn a_filling_gives_way_to_a_job() {
    let _alone = uses::record();
    runtime().block_on(async {
        let text = kind(2, 2, "")
            + "[[kinds]]\nname = \"large\"\nprogram = \"large.madrigal\"\nmix = \"A+B\"\nsubmit = [\"ann\"]\nahead = 1\nmemory = \"2 GiB\"\n";
        let mut service = Service::new(2, &text);
        let member = Owner::new("member");
        let mut program = Program::new(2);
        let x = program.input_named::<u64>("x", &member, [200_000]);
        program.open_named("squares", &(&x * &x.sum(0)), &member);
        let file = ProgramFile::of(&program.finish().unwrap()).unwrap();
        file.save(service.folder.path().join("large.madrigal")).unwrap();
        // Alone first: what the machine takes.
        let files = [service.file(0), service.file(1)];
        let replace = |from: &str, to: &str| {
            for file in &files {
                let text = fs::read_to_string(file).unwrap();
                assert!(text.contains(from));
                fs::write(file, text.replace(from, to)).unwrap();
            }
        };
        replace("\nahead = 1", "\n# ahead = 1");
        service.start_all().await;
        batch(&service, &[30, 40]).await;
        let mut alone = Vec::new();
        for _ in 0..5 {
            alone.push(batch(&service, &[31, 44]).await);
        }
        service.stop_all().await;
        replace("\n# ahead = 1", "\nahead = 1");
        service.start_all().await;
        let mut beside = Vec::new();
        for turn in 0..5 {
            // A unit takes seconds, of which a part is over.
            let begun = Instant::now();
            while units(&service, 0).is_empty() {
                assert!(begun.elapsed() < SOON, "no filling begins");
                sleep(Duration::from_millis(1)).await;
            }
            sleep(Duration::from_millis(20 * turn)).await;
            beside.push(batch(&service, &[31, 44]).await);
        }
        let given_up: Vec<u64> = servers(&service)
            .map(|server| {
                let ends = [FillingEnd::GivenUp, FillingEnd::Failed];
                ends.iter().map(|&end| fillings(server.meters(), "large", end)).sum()
            })
            .collect();
        service.stop_all().await;
        let most = |times: &[Duration]| times.iter().max().copied().unwrap();
        println!("alone {alone:?}, beside a filling {beside:?}; given up {given_up:?}");
        assert!(given_up.iter().all(|&number| number >= 3), "{given_up:?}");
        let bound = most(&alone) + Duration::from_millis(250);
        assert!(most(&beside) < bound, "{beside:?} beside, {alone:?} alone");
    });
}

#[test]
fn what_cannot_be_kept_ready_is_refused_at_the_start() {
    let refused = |text: &str| {
        let service = Service::new(3, text);
        Checked::load(&service.file(0)).unwrap_err().to_string()
    };
    let with = |mix: &str, line: &str| {
        let line = format!("mix = \"{mix}\"\n{line}\nsubmit =");
        statistics(2, 5, "1h").replace("submit =", &line)
    };
    for (text, said) in [
        (
            with("R", "ahead = 2"),
            "a job in R uses no correlations up: leave `ahead` out",
        ),
        (
            with("Y", "ahead = 2"),
            "correlations cannot be kept ready (`ahead`) in Y",
        ),
        (with("A+B", "ahead = 0"), "0 jobs: 1 to 100 can be"),
        (with("A+B", "ahead = 101"), "101 jobs: 1 to 100 can be"),
        (
            with("A+B", "ahead = { jobs = 1, submissions = 6 }"),
            "jobs of 6 submissions, where a batch has 2 to 5",
        ),
        (
            with("A+B", "ahead = { jobs = 1, submissions = 1 }"),
            "jobs of 1 submissions, where a batch has 2 to 5",
        ),
        (
            "[[kinds]]\nname = \"keys\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\nahead = 1\n"
                .to_owned(),
            "kinds.keys.ahead",
        ),
    ] {
        let told = refused(&text);
        assert!(told.contains(said), "{told}");
    }
    let service = Service::new(3, &with("A+B", "ahead = { jobs = 4, submissions = 3 }"));
    let checked = Checked::load(&service.file(0)).unwrap();
    let unit = checked.kinds[0].ahead.as_ref().unwrap();
    assert_eq!((unit.config.jobs, unit.config.submissions), (4, 3));
    let [three, five] = [3, 5].map(|size| {
        let program = checked.kinds[0].bound(size).unwrap();
        checked.kinds[0]
            .planned_from(&program, 1, true)
            .unwrap()
            .plan
            .needs()
    });
    assert_eq!(unit.needs, three);
    assert!(unit.bytes > 0 && unit.seconds > 0.0 && three.share_bytes() < five.share_bytes());
}
