//! Listing 1 of "MOTION - A Framework for Mixed-Protocol Multi-Party Computation" (Braun, Demmler, Schneider,
//! Tkachenko, TOPS 2022), line by line: the least squared Euclidean distance. Where the paper converts to BMR,
//! the mix converts to bits.
//!
//! `cargo run --release --example listing1 -- --local 2 --length 4 -i a=17 -i v=3,99,20,1`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::{Everyone, Opened, Secret};

fn min_sqr_euclidean_distance(a: &Secret<u32>, v: &Secret<u32>) -> Secret<u32> {
    let (a_sqr, two_a) = (a * a, a.times(2));
    let res = a_sqr + v * (v - two_a); // (a - v[i])^2 = a^2 + v[i]^2 - 2 a v[i]
    res.least(0)
}

/// The square of the distance of two such numbers is below 2^32.
const SHORT: Must = Must::AtMost((1 << 16) - 1);
const WHY: &str = "a squared distance might not fit 32 bits: give numbers in a larger unit";

pub(crate) fn command() -> App<Opened<u32>> {
    App::new(
        "listing1",
        "The least squared distance of one party's number to any of the other one's",
        |p, numbers| {
            let a = p.input_named::<u32>("a", Party::new(0), ());
            let v = p.input_named::<u32>("v", Party::new(1), [numbers.get("length")]);
            p.open_named("least", min_sqr_euclidean_distance(&a, &v), Everyone)
        },
    )
    .number("length", 4, 1 << 20, "Numbers of the second party")
    .requiring("a", |_| SHORT, WHY)
    .requiring("v", |_| SHORT, WHY)
}

fn main() -> ExitCode {
    command().main()
}
