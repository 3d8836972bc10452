//! Bins whose keys both parties have get equal tags, and no others.

use std::collections::BTreeSet;

use madrigal_core::Party;
use madrigal_kernels::Block;
use madrigal_net::Context;
use madrigal_psi::{BinsPlan, Role, Sizes, receive_bins, send_bins};
use madrigal_testkit::{World, seed};

use crate::common::{payload, trial};

/// One party's inputs of the program: tags and payloads or masks, and at the receiver the bin of each item.
type Inputs = (Vec<u64>, Vec<u64>, Vec<u32>);

fn check(common: usize, own: [usize; 2], bounds: [u64; 2], payloads: bool) {
    let trial = trial(seed(), common, own[0], own[1]);
    let sizes = Sizes {
        receiver: bounds[0],
        sender: bounds[1],
    };
    let plan = BinsPlan::new(sizes, payloads).unwrap();
    let run = async |context: Context| -> madrigal_net::Result<Inputs> {
        let digests = &trial.lists[context.me().index()];
        if context.me() == Party::new(0) {
            let bins = receive_bins(&context, &plan, Party::new(1), digests).await?;
            let found = bins.found;
            return Ok((
                found.tags.to_vec(),
                found.masked.to_vec(),
                bins.placed.bins.to_vec(),
            ));
        }
        let of = digests.iter().filter(|_| payloads);
        let of: Vec<u64> = of.map(|&key| payload(key)).collect();
        let targets = send_bins(&context, &plan, Party::new(0), digests, &of).await?;
        Ok((targets.tags.to_vec(), targets.masks.to_vec(), Vec::new()))
    };
    let mut all = World::light(2, seed()).run(run);
    let ((targets, masks, _), sender_cost) = all.pop().unwrap();
    let ((tags, masked, bins), receiver_cost) = all.pop().unwrap();
    assert_eq!(tags.len(), plan.bins());
    let equal: BTreeSet<usize> = (0..tags.len())
        .filter(|&bin| tags[bin] == targets[bin])
        .collect();
    let items = trial.lists[0].iter().zip(&bins);
    let expected = items.filter(|(key, _)| trial.common.contains(&u128::from(**key)));
    let expected: Vec<(Block, usize)> = expected.map(|(&key, &bin)| (key, bin as usize)).collect();
    assert_eq!(equal, expected.iter().map(|(_, bin)| *bin).collect());
    if payloads {
        for (key, bin) in expected {
            assert_eq!(masked[bin].wrapping_sub(masks[bin]), payload(key));
        }
    }
    for (role, cost) in [(Role::Receiver, receiver_cost), (Role::Sender, sender_cost)] {
        let seen =
            |cost: madrigal_core::PhaseCost| (cost.bytes_sent, cost.bytes_received, cost.messages);
        let [setup, online] = plan.cost(role);
        assert_eq!(seen(cost.setup), seen(setup), "{role:?}");
        assert_eq!(seen(cost.online), seen(online), "{role:?}");
    }
}

#[test]
fn tags_are_equal_where_both_have_the_key() {
    check(0, [0, 0], [0, 0], false);
    check(0, [1, 0], [1, 0], true);
    check(1, [0, 0], [1, 1], true);
    check(30, [20, 50], [50, 80], true);
    check(300, [200, 50], [700, 400], false);
    check(3, [2, 4000], [5, 4003], true);
    check(3, [4000, 2], [4003, 5], false);
}
