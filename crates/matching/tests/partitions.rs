//! Partitions of lists, where a receiver may cheat.

use madrigal_matching::{MOST_KEYS, Security, partitions};
use madrigal_psi::{PsiPlan, Sizes};

/// Keys of a partition with a state, and without one.
const MOST: [u64; 2] = [250_000, 2_500_000];

fn of(receiver: u64, sender: u64, threads: usize, most: u64) -> usize {
    let sizes = Sizes { receiver, sender };
    partitions(sizes, threads, most, Security::Malicious)
}

/// Neither threads nor a state nor the other list's size give a cheat more than documentation says.
#[test]
fn a_receiver_that_cheats_gains_by_partitions_what_is_told() {
    for receiver in [
        0, 1, 110, 1000, 8191, 16_384, 139_264, 1_056_768, 50_000_000,
    ] {
        for sender in [0, 1, 1000, 1_000_000, MOST_KEYS] {
            for (threads, most) in [(1, MOST[1]), (64, MOST[1]), (8, MOST[0]), (256, MOST[0])] {
                let parts = of(receiver, sender, threads, most);
                let sizes = Sizes { receiver, sender };
                let plan = PsiPlan::new(sizes, parts, false).unwrap();
                let plan = plan.with_security(Security::Malicious);
                let keys = plan.most_of_store(80).unwrap() * parts as u64;
                let told = 3 * receiver + 1000 * parts as u64;
                let about = format!("{sizes:?} in {parts}, {threads} threads: {keys} of {told}");
                assert!(keys <= told, "{about}");
                // Memory alone is a reason for fewer of the receiver's keys in each.
                let needed = receiver.max(sender).div_ceil(10_000_000);
                let few = parts as u64 <= needed.next_power_of_two();
                assert!(few || receiver / parts as u64 >= 4096, "{about}");
            }
        }
    }
}

#[test]
fn threads_and_states_cut_no_short_list() {
    for (threads, most) in [(1, MOST[1]), (64, MOST[1]), (64, MOST[0])] {
        assert_eq!(of(1, 10_000_000, threads, most), 1);
        assert_eq!(of(1, MOST_KEYS, threads, most), 64);
    }
    assert_eq!(of(1 << 20, 1 << 20, 8, MOST[1]), 8);
    let sizes = Sizes {
        receiver: 1,
        sender: 10_000_000,
    };
    assert_eq!(partitions(sizes, 64, MOST[0], Security::SemiHonest), 64);
}
