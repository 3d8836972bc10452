//! The inner product of two parties' vectors, in arithmetic sharing alone. It has 64 bits, and the parties make sure that
//! they are enough: each refuses numbers of its own that could make it longer.
//!
//! `cargo run --release --example inner_product -- --local 2 --length 3 -i left=1,2,3 -i right=4,-5,6`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::{Everyone, Opened};

pub(crate) fn command() -> App<Opened<i64>> {
    App::new(
        "inner_product",
        "The inner product of two parties' vectors of 64-bit integers",
        |p, numbers| {
            let length = numbers.get("length");
            let left = p.input_named::<i64>("left", Party::new(0), [length]);
            let right = p.input_named::<i64>("right", Party::new(1), [length]);
            p.open_named("product", left.dot(right), Everyone)
        },
    )
    .number("length", 3, 1 << 20, "Numbers in each vector")
    .requiring("left", |numbers| short(numbers.get("length")), SHORT)
    .requiring("right", |numbers| short(numbers.get("length")), SHORT)
}

const SHORT: &str =
    "the product of two vectors might not fit 64 bits: give numbers in a larger unit";

/// So many products of two such numbers are below 2^63 together.
fn short(length: usize) -> Must {
    Must::AtMost((i64::MAX as u128 / length as u128).isqrt())
}

fn main() -> ExitCode {
    command().main()
}
