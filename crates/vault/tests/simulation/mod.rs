//! The agreement, simulated: thousands of schedules of messages, syncs, crashes and lost sessions, each from a seed.
//!
//! `MADRIGAL_SEED=N MADRIGAL_SCHEDULES=1` repeats the schedule with seed N; `cargo test --release -p madrigal-vault --test main -- --ignored
//! million` tries a million.

mod calm;
mod check;
mod crowd;
mod disk;
mod node;
mod shadow;
mod world;

use node::Sabotage;
use world::{Found, World};

/// One schedule. The number of servers is the seed's.
fn schedule(seed: u64, sabotage: Option<Sabotage>) -> (World, Found) {
    let parties = [2, 3, 5][(seed % 3) as usize];
    run(World::new(seed, parties, sabotage))
}

fn run(mut world: World) -> (World, Found) {
    let steps = 200 + world.random.below(800);
    let mut run = || {
        for _ in 0..steps {
            world.step()?;
            if world.stopped {
                return Ok(());
            }
        }
        world.calm()?;
        check::check(&world)
    };
    let found = run();
    (world, found)
}

/// Somebody puts back an older copy of a server's disk: what was accepted since is lost, or the kind stops. But nothing counts twice, and no
/// two servers have different results.
#[test]
fn an_older_copy_stops_a_kind_or_does_no_harm() {
    let seed = madrigal_testkit::seed();
    let (mut stopped, mut went_on) = (0, 0);
    let count = asked(3000);
    for seed in (0..count).map(|i| seed.wrapping_add(i)) {
        let mut world = World::new(seed, [2, 3][(seed % 2) as usize], None);
        world.puts_back = true;
        let (world, found) = run(world);
        if world.stopped {
            stopped += 1;
        } else {
            assert_eq!(found, Ok(()), "MADRIGAL_SEED={seed}");
            went_on += 1;
        }
        let counted = world.nodes.iter().try_for_each(check::counts_once);
        assert_eq!(counted, Ok(()), "MADRIGAL_SEED={seed}");
        assert_eq!(check::same_results(&world), Ok(()), "MADRIGAL_SEED={seed}");
    }
    println!("{stopped} stopped, {went_on} went on");
    assert!(count < 1000 || stopped > count / 100 && went_on > count / 10);
}

/// Real vaults take what the simulated disks take, and say what they say.
#[test]
fn vaults_do_what_simulated_disks_do() {
    let seed = madrigal_testkit::seed();
    let mut batches = 0;
    for seed in (0..60).map(|i| seed.wrapping_add(i)) {
        let mut world = World::new(seed, [2, 3][(seed % 2) as usize], None);
        for node in &mut world.nodes {
            node.disk.shadow = Some(shadow::Shadow::new());
        }
        let (world, found) = run(world);
        assert_eq!(found, Ok(()), "MADRIGAL_SEED={seed}");
        for node in &world.nodes {
            node.disk.shadow.as_ref().unwrap().compare(&node.disk);
        }
        batches += world.batches;
    }
    assert!(batches > 60);
}

/// Number of schedules: `MADRIGAL_SCHEDULES`, or this.
fn asked(count: u64) -> u64 {
    let given = std::env::var("MADRIGAL_SCHEDULES").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(count)
}

fn schedules(count: u64) {
    let seed = madrigal_testkit::seed();
    let count = asked(count);
    let (mut batches, mut runs, mut crashes) = (0, 0, 0);
    for seed in (0..count).map(|i| seed.wrapping_add(i)) {
        let (world, found) = schedule(seed, None);
        if let Err(wrong) = found {
            panic!("{wrong} (MADRIGAL_SEED={seed} MADRIGAL_SCHEDULES=1)");
        }
        batches += world.batches;
        runs += world.runs;
        crashes += world.crashes;
    }
    println!("{count} schedules: {batches} batches, {runs} runs, {crashes} crashes");
    assert!(count < 1000 || batches as u64 > count && crashes as u64 > count);
    assert!(count < 1000 || runs > batches / 2);
}

#[test]
fn every_schedule_counts_each_submission_once() {
    schedules(6000);
}

#[test]
#[ignore = "minutes"]
fn a_million_schedules() {
    schedules(1_000_000);
}

/// How many schedules it takes to find what was left out.
fn finds(sabotage: Sabotage) -> u64 {
    let seed = madrigal_testkit::seed();
    let found = (0..200_000).find(|i| schedule(seed.wrapping_add(*i), Some(sabotage)).1.is_err());
    let count = found.unwrap_or_else(|| panic!("{sabotage:?} is not found"));
    let (_, wrong) = schedule(seed.wrapping_add(count), Some(sabotage));
    println!(
        "{sabotage:?}: after {} schedules: {}",
        count + 1,
        wrong.unwrap_err()
    );
    count
}

#[test]
fn what_is_left_out_is_found() {
    for sabotage in [
        Sabotage::LeaderPrepareUnsynced,
        Sabotage::IntersectionUnpersisted,
        Sabotage::RunUnsynced,
        Sabotage::LeaderEndUnsynced,
        Sabotage::FollowerPrepareUnsynced,
        Sabotage::DoneUnsynced,
        Sabotage::FollowerEndUnsynced,
        Sabotage::FollowerEndsAlone,
        Sabotage::ExpireAlone,
        Sabotage::ExpireUnproposed,
        Sabotage::BarUnsynced,
        Sabotage::ReceiptUnsynced,
        Sabotage::HaveUnsynced,
        Sabotage::RefusalForgotten,
    ] {
        finds(sabotage);
    }
}
