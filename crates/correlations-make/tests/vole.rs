//! VOLE between two parties of a session: values and tags fit the keys, and cost is declared.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations_make::{Security, VoleBase, VoleCosts, VoleKeys, VoleValues};
use madrigal_kernels::{Block, Element, Kernels};
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// One side's outcome: Delta and keys, or values and tags.
type Side<V> = (Option<Block>, Vec<V>, Vec<Block>);

async fn side<V: Element>(context: Context, calls: &[usize], total: u64) -> Result<Side<V>> {
    let context = context.enter(Phase::Setup, "vole");
    let base = VoleBase::new(&context).await?;
    let m = calls.iter().sum();
    let (mut values, mut tags) = (vec![V::default(); m], vec![Block::ZERO; m]);
    let mut at = 0;
    if context.me() == Party::new(0) {
        let mut keys = VoleKeys::<V>::new(
            &context,
            &base,
            (Party::new(1), 3),
            total,
            Security::SemiHonest,
        )
        .await?;
        for &call in calls {
            keys.extend(&mut tags[at..at + call]).await?;
            at += call;
        }
        return Ok((Some(*keys.delta()), values, tags));
    }
    let mut made = VoleValues::<V>::new(
        &context,
        &base,
        (Party::new(0), 3),
        total,
        Security::SemiHonest,
    )
    .await?;
    for &call in calls {
        let range = at..at + call;
        made.extend(&mut values[range.clone()], &mut tags[range])
            .await?;
        at += call;
    }
    Ok((None, values, tags))
}

fn check<V: Element>(calls: &[usize], total: u64) {
    let world = World::light(2, seed());
    let sides = world.run(|context| side::<V>(context, calls, total));
    let [(first, first_cost), (second, second_cost)] = <[_; 2]>::try_from(sides).ok().unwrap();
    let (delta, _, mut keys) = first;
    let (_, values, tags) = second;
    Kernels::detect().field_multiply_add(delta.unwrap(), &values, &mut keys);
    assert!(keys == tags, "tags of {} values", values.len());

    let mut costs = VoleCosts::<V>::new(total, Security::SemiHonest);
    let (mut at_keys, mut at_values) = (VoleBase::cost(), VoleBase::cost());
    let start = costs.start();
    at_keys += start.keys;
    at_values += start.values;
    for &call in calls {
        let one = costs.extend(call);
        at_keys += one.keys;
        at_values += one.values;
    }
    // Elements travel with the message of the beginning: a party that sends alone waits for nobody.
    let strip = |cost: PhaseCost| PhaseCost { rounds: 0, ..cost };
    assert_eq!(strip(first_cost.setup), strip(at_keys));
    assert_eq!(strip(second_cost.setup), strip(at_values));
    assert_eq!(
        first_cost.setup.rounds.max(second_cost.setup.rounds),
        at_keys.rounds
    );
}

#[test]
fn values_and_tags_fit_the_keys() {
    check::<u64>(&[1, 1000, 0, 37], 2000);
    check::<Block>(&[1000], 1000);
    // More elements than in one piece, and than announced.
    check::<u64>(&[(1 << 20) + 5], 1 << 20);
}
