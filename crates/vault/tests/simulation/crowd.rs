//! Clients that upload to one server only, more of them than a proposal has ids.

use std::collections::BTreeSet;

use madrigal_vault::Id;
use madrigal_vault::agreement::{Event, Rules};

use super::disk::{Disk, Op};
use super::node::Node;
use super::world::{Found, World};

impl World {
    /// Has servers accept a submission.
    fn accept(&mut self, servers: &[usize]) -> Result<Id, String> {
        let mut id = [0; 32];
        id.fill_with(|| self.random.below(256) as u8);
        for &i in servers {
            let at = self.now[i];
            self.nodes[i].disk.waiting.push_back(Op::Accept { id, at });
            self.sync(i)?;
        }
        Ok(id)
    }

    /// Counts how many of some submissions are in batches that have ended.
    fn counted(&self, ids: &BTreeSet<Id>) -> usize {
        let batches = self.nodes[0].disk.history.iter();
        let all = batches.flat_map(|batch| batch.ids.iter());
        all.filter(|id| ids.contains(*id)).count()
    }
}

fn crowd(seed: u64) -> Found {
    let parties = [2, 3][(seed % 2) as usize];
    let mut world = World::new(seed, parties, None);
    world.rules = Rules {
        most: 1 + world.random.below(8),
        window: 32,
        lacking: [50, 1000][world.random.below(2)],
        ..Rules::default()
    };
    let rules = world.rules;
    let node = |i| Node::new(i, parties, rules, Disk::default());
    world.nodes = (0..parties).map(node).collect();
    world.trouble = None;
    world.least.fill(1);
    world.settle()?;
    let everywhere: Vec<usize> = (0..parties).collect();
    let alone = 200 + world.random.below(400);
    let mut honest = BTreeSet::new();
    for _ in 0..alone {
        if world.random.one_in(20) {
            honest.insert(world.accept(&everywhere)?);
        }
        world.accept(&[0])?;
    }
    let mut looks = 0;
    for round in 0..3 {
        // Those that come later, after all others were asked about, are found as well, and at once.
        honest.insert(world.accept(&everywhere)?);
        let late = world.accept(&[0])?;
        let before = world.proposed;
        world.event(0, Event::Trigger)?;
        world.settle()?;
        if round > 0 && world.counted(&honest) < honest.len() {
            return Err("one that all have is not in the first batch after it".to_owned());
        }
        for &i in &everywhere[1..] {
            world.now[i] += 1;
            let at = world.now[i];
            world.nodes[i]
                .disk
                .waiting
                .push_back(Op::Accept { id: late, at });
        }
        honest.insert(late);
        world.settle()?;
        looks += 1;
        while world.counted(&honest) < honest.len() {
            world.event(0, Event::Trigger)?;
            world.settle()?;
            looks += 1;
            // One that a follower lacked waits for its turn among all those that the followers lack.
            let turns = alone / (rules.window.max(4 * rules.most) / 4) + 5;
            if looks > 2 * honest.len() + 3 * turns {
                let counted = world.counted(&honest);
                return Err(format!("{counted} of {} after {looks} looks", honest.len()));
            }
        }
        let proposed = world.proposed - before;
        let window = rules.window.max(4 * rules.most);
        if round > 0 && rules.lacking >= 1000 && proposed > (looks + 2) * window * (parties - 1) {
            return Err(format!("{proposed} ids were proposed in a round"));
        }
    }
    // Nothing has become overdue meanwhile, so the others still wait.
    match world.nodes[0].disk.waiting().len() {
        waiting if waiting == alone => Ok(()),
        waiting => Err(format!("{waiting} of {alone} wait")),
    }
}

#[test]
fn uploads_to_the_leader_alone_hold_up_nobody() {
    let seed = madrigal_testkit::seed();
    for seed in (0..40).map(|i| seed.wrapping_add(i)) {
        assert_eq!(crowd(seed), Ok(()), "MADRIGAL_SEED={seed}");
    }
}

/// Submissions that a follower alone has expire, although nothing waits at the leader, and no batch is made meanwhile.
#[test]
fn uploads_to_a_follower_alone_expire() {
    let seed = madrigal_testkit::seed();
    let mut world = World::new(seed, 3, None);
    world.trouble = None;
    world.settle().unwrap();
    for _ in 0..50 {
        world.accept(&[1]).unwrap();
    }
    let young = world.accept(&[0, 1, 2]).unwrap();
    world.now[1] += super::node::OVERDUE;
    for _ in 0..3 {
        world.event(0, Event::Overdue).unwrap();
        world.settle().unwrap();
    }
    // Those at the follower alone are gone; the other one waits for a look for a batch.
    let left: Vec<Id> = world.nodes[1].disk.accepted().map(|(id, _)| id).collect();
    assert_eq!(
        (left, world.batches),
        (vec![young], 0),
        "MADRIGAL_SEED={seed}"
    );
}
