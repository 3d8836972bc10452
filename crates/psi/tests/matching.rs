//! Lists that are matched give what plain sets give.
#![allow(clippy::print_stdout, reason = "tells what was found")]

use std::sync::Arc;

use madrigal_core::{Cost, Party, PhaseCost};
use madrigal_net::Context;
use madrigal_net::transport::mesh;
use madrigal_psi::{PsiCosts, PsiPlan, Role, Security, Sizes, intersect};
use madrigal_testkit::{World, seed};

use crate::common::{How, Plain, Trial, party, trial};

fn check(trial: &Trial, how: How) {
    let world = World::light(2, seed());
    let mut all = world.run(|context| party(context, trial, how));
    let ((second, plan), second_cost) = all.pop().unwrap();
    let ((first, _), first_cost) = all.pop().unwrap();
    assert_eq!(first.as_ref(), Some(&trial.common), "{how:?}, receiver");
    assert_eq!(
        second.as_ref(),
        how.replies.then_some(&trial.common),
        "{how:?}, sender"
    );
    for (role, mut cost) in [(Role::Receiver, first_cost), (Role::Sender, second_cost)] {
        cost.online.bytes_sent -= SIZES.bytes_sent;
        cost.online.bytes_received -= SIZES.bytes_received;
        cost.online.messages -= SIZES.messages;
        must_cost(&plan, role, how.threads, cost);
    }
}

/// The cost of `agree`.
const SIZES: PhaseCost = PhaseCost {
    rounds: 1,
    bytes_sent: 16,
    bytes_received: 16,
    messages: 1,
    aes_blocks: 0,
};

fn must_cost(plan: &PsiPlan, role: Role, threads: usize, cost: Cost) {
    let declared = PsiCosts::new(plan, role, threads);
    let seen = |cost: PhaseCost| (cost.bytes_sent, cost.bytes_received, cost.messages);
    assert_eq!(seen(cost.setup), seen(declared.setup), "{role:?}");
    assert_eq!(seen(cost.online), seen(declared.online), "{role:?}");
    assert_eq!(cost.setup.aes_blocks, declared.setup.aes_blocks, "{role:?}");
}

#[test]
fn lists_of_any_size_are_matched() {
    let seed = seed();
    for (i, (common, receiver, sender)) in [
        (0, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (1, 0, 0),
        (1, 1, 1),
        (2, 3000, 1),
        (5, 2, 4000),
        (1000, 0, 0),
        (700, 800, 900),
    ]
    .into_iter()
    .enumerate()
    {
        let trial = trial(seed + i as u64, common, receiver, sender);
        check(&trial, How::new(1, i % 2 == 0, 1));
        check(&trial, How::new(3, i % 2 == 1, 1 + i % 3));
        check(&trial, How::new(1, i % 2 == 1, 1).malicious());
    }
    let trial = trial(seed, 700, 800, 900);
    check(&trial, How::new(3, true, 2).malicious());
}

/// Partitions are padded, and the bound is far above the keys.
#[test]
fn payloads_and_proofs_go_together() {
    let trial = trial(seed(), 50, 60, 70);
    for (replies, payloads) in [(true, true), (false, true), (true, false)] {
        let sizes = Sizes {
            receiver: 110,
            sender: 1000,
        };
        let plan = PsiPlan::new(sizes, 2, replies).unwrap();
        let plan = plan.with_security(Security::Malicious);
        let plan = if payloads { plan.with_payloads() } else { plan };
        let run = async |context: Context| {
            let me = context.me();
            let list = Arc::new(Plain::new(&trial.lists[me.index()], plan.partitions()));
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list.clone(), 1, |_| ()).await?;
            let payloads = *list.payloads.lock().unwrap();
            Ok((list.all(), payloads))
        };
        let heard = World::light(2, seed()).run(run);
        must_cost(&plan, Role::Receiver, 1, heard[0].1);
        must_cost(&plan, Role::Sender, 1, heard[1].1);
        let told = if payloads { 50 } else { 0 };
        assert_eq!(heard[0].0, (Some(trial.common.clone()), told));
        assert_eq!(heard[1].0, (replies.then(|| trial.common.clone()), 0));
    }
}

/// A store has more columns than keys, and luck adds some.
#[test]
fn a_cheat_has_not_many_more_keys_than_it_says() {
    let most = |keys, tries| {
        let sizes = Sizes {
            receiver: keys,
            sender: 1,
        };
        let plan = PsiPlan::new(sizes, 1, false).unwrap();
        plan.most_of_store(tries)
    };
    for keys in [0, 1, 1000, 1 << 20, 1 << 26] {
        let [few, many] = [0, 80].map(|tries| most(keys, tries).unwrap());
        println!("{keys} keys: {few}, {many}");
        assert!(keys < few && few < many, "{keys}: {few}, {many}");
    }
    let million = most(1 << 20, 80).unwrap();
    assert!((2 << 20..5 << 19).contains(&million), "{million}");
    assert_eq!(most(1, 200), None);
}

#[test]
fn parties_of_different_security_are_told() {
    let trial = trial(seed(), 5, 6, 7);
    let ended = World::light(2, seed()).run_over(mesh(2), |context: Context| {
        let how = How::new(1, true, 1);
        let how = match context.me().index() {
            0 => how,
            _ => how.malicious(),
        };
        party(context, &trial, how)
    });
    for (me, ended) in ended.into_iter().enumerate() {
        let error = ended.map(drop).unwrap_err().to_string();
        println!("party {me}: {error}");
        assert!(error.contains("party "), "{error}");
    }
}

/// Partitions have fewer keys than the sizes allow, and values are of 128 bits.
#[test]
fn bounds_and_wide_values_change_nothing() {
    let trial = trial(seed(), 50, 60, 70);
    for (receiver, sender) in [(110, 120), (5000, 121), (111, 5000)] {
        let plan = PsiPlan::new(Sizes { receiver, sender }, 2, true)
            .unwrap()
            .with_wide_values();
        let run = async |context: Context| {
            let me = context.me();
            let list = Arc::new(Plain::new(&trial.lists[me.index()], plan.partitions()));
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list.clone(), 1, |_| ()).await?;
            Ok(list.all())
        };
        let heard = World::light(2, seed()).run(run);
        must_cost(&plan, Role::Receiver, 1, heard[0].1);
        assert_eq!(heard[0].0.as_ref(), Some(&trial.common));
        assert_eq!(heard[1].0.as_ref(), Some(&trial.common));
    }
}

#[test]
fn payloads_of_common_keys_are_learnt() {
    let trial = trial(seed(), 50, 60, 70);
    for (wide, replies) in [(false, false), (true, true)] {
        let sizes = Sizes {
            receiver: 200,
            sender: 130,
        };
        let plan = PsiPlan::new(sizes, 2, replies).unwrap().with_payloads();
        let plan = if wide { plan.with_wide_values() } else { plan };
        let run = async |context: Context| {
            let me = context.me();
            let list = Arc::new(Plain::new(&trial.lists[me.index()], plan.partitions()));
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list.clone(), 1, |_| ()).await?;
            let payloads = *list.payloads.lock().unwrap();
            Ok((list.all(), payloads))
        };
        let heard = World::light(2, seed()).run(run);
        must_cost(&plan, Role::Sender, 1, heard[1].1);
        assert_eq!(heard[0].0, (Some(trial.common.clone()), 50));
        assert_eq!(heard[1].0, (replies.then(|| trial.common.clone()), 0));
    }
}

/// Partitions that an earlier run has matched are left out, and cost nothing.
#[test]
fn partitions_that_are_done_are_left_out() {
    let trial = trial(seed(), 50, 60, 70);
    for (threads, done) in [(1, 0b0101), (3, 0b1000), (2, 0b1110), (2, 0b1111)] {
        let sizes = Sizes {
            receiver: 110,
            sender: 120,
        };
        let plan = PsiPlan::new(sizes, 4, true).unwrap();
        let plan = plan.without(|partition| done >> partition & 1 == 1);
        let run = async |context: Context| {
            let me = context.me();
            let list = Arc::new(Plain::new(&trial.lists[me.index()], plan.partitions()));
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list.clone(), threads, |_| ()).await?;
            Ok(list.some())
        };
        let heard = World::light(2, seed()).run(run);
        for ((heard, cost), role) in heard.iter().zip([Role::Receiver, Role::Sender]) {
            must_cost(&plan, role, threads, *cost);
            for (partition, heard) in heard.iter().enumerate() {
                let of = |&key: &u128| plan.partition_of(key.into()) == partition;
                let common = trial.common.iter().copied().filter(of).collect();
                let left = plan.left().contains(&partition);
                assert_eq!(
                    *heard,
                    left.then_some(common),
                    "{threads} threads, {done:b}"
                );
            }
        }
    }
}

#[test]
fn sizes_decide_how_wide_values_are() {
    let plan = |receiver, sender| PsiPlan::new(Sizes { receiver, sender }, 10, false).unwrap();
    assert!(!plan(10_000_000, 10_000_000).wide());
    assert!(plan(12_000_000, 1).wide() && plan(1, 12_000_000).wide());
    assert!(
        PsiPlan::new(
            Sizes {
                receiver: 1 << 29,
                sender: 1
            },
            1,
            false
        )
        .is_err()
    );
}
