//! Listing 2 of "MOTION - A Framework for Mixed-Protocol Multi-Party Computation" (TOPS 2022): an integer that
//! one party knows, times a secret bit from somewhere in the computation. Here the bits say which of a
//! client's numbers reach a threshold, and the server's weights of these are added up; the result is shared as
//! a number and can be used further on.
//!
//! The product is one operator, of one additively correlated OT for each number, as in the paper; as a user's own operation it is in `examples/own_operation`.
//!
//! `cargo run --release --example listing2 -- --local 2 --length 3 -i weights=10,200,3000 -i numbers=5,1,9 -i threshold=4`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::{Everyone, Opened};

const SERVER: Party = Party::new(0);
const CLIENT: Party = Party::new(1);

pub(crate) fn command() -> App<Opened<u64>> {
    App::new(
        "listing2",
        "The sum of one party's weights where the other one's numbers reach a threshold",
        |p, numbers| {
            let length = numbers.get("length");
            let weights = p.input_named::<u64>("weights", SERVER, [length]);
            let threshold = p.input_named::<u32>("threshold", SERVER, ());
            let numbers = p.input_named::<u32>("numbers", CLIENT, [length]);
            let reached = numbers.ge(threshold);
            p.open_named("weight", reached.select(weights, 0).sum(0), Everyone)
        },
    )
    .number("length", 3, 1 << 20, "Numbers of each party")
    .requiring(
        "weights",
        |_| Must::SumToAtMost(u64::MAX.into()),
        "their sum might not fit 64 bits: give weights in a larger unit",
    )
}

fn main() -> ExitCode {
    command().main()
}
