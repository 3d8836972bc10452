//! Mean and variance of numbers of which each party has some: of as many as there may be, whatever they are.
//!
//! `cargo run --release --example statistics -- --local 2 --length 3 -i numbers0=31,45,28 -i numbers1=52,39,47`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
use madrigal::program::{Everyone, Opened, Secret};

pub(crate) fn command() -> App<(Opened<u64>, Opened<u128>)> {
    App::new(
        "statistics",
        "Mean and variance of all parties' numbers",
        |p, numbers| {
            let parts: Vec<Secret<u32>> = Party::all(p.parties())
                .map(|party| {
                    let name = format!("numbers{}", party.index());
                    p.input_named(&name, party, [numbers.get("length")])
                })
                .collect();
            let numbers = p.concat(&parts, 0);
            // With at most 64 parties of 2^20 numbers each, a sum has 58 bits, one of squares times the count 116.
            let wide = numbers.cast::<u128>();
            let count = numbers.elements() as i64;
            // Count times count times the variance: with the sum it tells no more than both results do.
            let spread = wide.square().sum_all().times(count) - wide.sum_all().square();
            let sum = numbers.cast::<u64>().sum_all();
            (
                p.open_named("sum", sum, Everyone),
                p.open_named("spread", spread, Everyone),
            )
        },
    )
    .number("length", 3, 1 << 20, "Numbers of each party")
    .telling(|&(sum, spread), outputs, numbers| {
        let parties = numbers.parties();
        let count = (parties * numbers.get("length")) as f64;
        let mean = outputs.get(sum)[0] as f64 / count;
        let variance = outputs.get(spread)[0] as f64 / (count * count);
        format!("mean {mean:.4}, variance {variance:.4}")
    })
}

fn main() -> ExitCode {
    command().main()
}
