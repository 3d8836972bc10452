//! The inner product of two parties' vectors, modulo 2^64, in arithmetic sharing alone.
//!
//! `cargo run --release --example inner_product -- --local 2 --length 3 -i left=1,2,3 -i right=4,-5,6`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
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
}

fn main() -> ExitCode {
    command().main()
}
