//! Networks for carries: right, in the fewest layers, and as small as the documents say.

use madrigal_circuit::{Builder, CarryBit, CarryNetwork, Goal, Passing, carry_network};

/// The carries of a + b by the network, bit by bit.
fn carries(network: &CarryNetwork, a: u128, b: u128) -> Vec<bool> {
    let bit = |of: u128, at: usize| of >> at & 1 == 1;
    let mut made: Vec<bool> = Vec::new();
    for step in &network.steps {
        let passing = |passes| match passes {
            Passing::Bit(at) => bit(a ^ b, at),
            Passing::Step(step) => made[step],
        };
        let bit = match step.makes {
            CarryBit::Own(at) => bit(a & b, at),
            CarryBit::Majority(at, below) => {
                let below = below.is_some_and(|step| made[step]);
                bit(a & b, at) | (bit(a | b, at) & below)
            }
            CarryBit::Carry { own, passes, below } => made[own] ^ (passing(passes) & made[below]),
            CarryBit::Passing(upper, lower) => passing(upper) & passing(lower),
        };
        made.push(bit);
    }
    network.carries.iter().map(|&step| made[step]).collect()
}

#[test]
fn all_pairs_of_ends_are_right_in_the_fewest_layers() {
    let mut word = 1_u128;
    for all in 1..=66_usize {
        let fewest = usize::BITS - all.leading_zeros();
        let one = carry_network(&[all]);
        for low in 1..=all {
            let two = carry_network(&[low, all]);
            for network in [&*one, &*two] {
                let layers = network.steps.iter().map(|step| step.layer + 1).max();
                assert_eq!(layers, Some(fewest), "{low} of {all}");
            }
            assert!(one.steps.len() <= two.steps.len());
            for _ in 0..8 {
                word = word.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                let mask = |bits: usize| (1 << bits) - 1;
                // Long ways of a carry, and any.
                for (a, b) in [(word >> 40, !(word >> 40) + (word & 3)), (word >> 20, word)] {
                    let [a, b] = [a, b].map(|number| number & mask(all));
                    let end = |bits: usize| (a & mask(bits)) + (b & mask(bits)) > mask(bits);
                    assert_eq!(carries(&one, a, b), [end(all)], "{all}: {a} {b}");
                    assert_eq!(carries(&two, a, b), [end(low), end(all)], "{low} {all}");
                }
            }
        }
    }
}

#[test]
fn networks_are_small() {
    let ands = |bits| carry_network(&[bits]).steps.len();
    let widths = [1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128];
    let counts = [1, 14, 14, 33, 31, 72, 66, 151, 137, 310, 280];
    assert_eq!(widths.map(ands), counts);
}

#[test]
fn a_sign_takes_no_more_than_its_carry() {
    let size = |whole: bool| {
        let mut b = Builder::new("sum").with_goal(Goal::Depth);
        let (x, y) = (b.input(64), b.input(64));
        let sum = b.add(&x, &y);
        b.output(if whole { &sum } else { &sum[63..] });
        let netlist = b.finish();
        (netlist.stats().and, netlist.stats().and_depth)
    };
    assert_eq!(size(false), (151, 6));
    assert_eq!(size(true), (383, 6));
}

#[test]
fn wide_networks_are_found_soon_and_shallow() {
    for bits in [129_usize, 255, 256, 1000, 2047] {
        let network = carry_network(&[bits]);
        let layers = network.steps.iter().map(|step| step.layer + 1).max();
        assert_eq!(layers, Some(usize::BITS - bits.leading_zeros()));
        assert!(network.steps.len() < 3 * bits, "{bits}");
    }
}
