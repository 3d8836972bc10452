//! The agreement, simulated: thousands of schedules of messages, syncs, crashes and lost sessions, each from a seed.
//!
//! `MADRIGAL_SEED=N MADRIGAL_SCHEDULES=1` repeats the schedule with seed N; `cargo test --release -p madrigal-vault --test main -- --ignored
//! million` tries a million.

mod calm;
mod check;
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
        }
        world.calm()?;
        check::check(&world)
    };
    let found = run();
    (world, found)
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

fn schedules(count: u64) {
    let seed = madrigal_testkit::seed();
    let given = std::env::var("MADRIGAL_SCHEDULES").ok();
    let count = given.and_then(|text| text.parse().ok()).unwrap_or(count);
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
