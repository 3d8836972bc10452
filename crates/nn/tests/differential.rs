//! A few of the programs and networks that `cargo xtask differential` runs.

#[path = "../examples/differential/networks.rs"]
mod networks;
#[path = "../examples/differential/trials.rs"]
mod trials;

use trials::{MIXES, Tally, trial};

/// All parties open what the program means, at the cost that was declared: of random programs and networks, in
/// every mix.
#[test]
fn random_programs_and_networks_mean_what_they_open() {
    let seed = madrigal_testkit::seed();
    let mut tally = Tally::default();
    for number in 0..(6 * MIXES.len() as u64) {
        if let Err(what) = trial(seed, number, None, &mut tally) {
            panic!(
                "{what}\nto repeat: cargo xtask differential --seed {seed} --first {number} --programs 1"
            );
        }
    }
    let most = tally.programs + tally.networks;
    assert!(tally.refused < most, "most networks are refused");
}
