//! The median and any other percentile of numbers of which each party has some, and nothing else of them.
//!
//! `cargo run --release --example percentiles -- --local 3 --length 2 -i numbers0=31,45 -i numbers1=28,52 -i numbers2=39,47`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
use madrigal::program::lower::Mix;
use madrigal::program::{Everyone, Opened, Secret};

pub(crate) fn command() -> App<(Opened<u32>, Opened<u32>)> {
    App::new(
        "percentiles",
        "The median of all parties' numbers, and the percentile that is asked for",
        |p, numbers| {
            let parts: Vec<Secret<u32>> = Party::all(p.parties())
                .map(|party| {
                    let name = format!("numbers{}", party.index());
                    p.input_named(&name, party, [numbers.get("length")])
                })
                .collect();
            let sorted = p.concat(&parts, 0).sort();
            // The least number that is no less than `--percent` hundredths of all (the nearest rank).
            let rank = |percent: usize| (sorted.elements() * percent).div_ceil(100).max(1) - 1;
            let asked = rank(numbers.get("percent"));
            (
                p.open_named("median", sorted.at(0, rank(50)), Everyone),
                p.open_named("percentile", sorted.at(0, asked), Everyone),
            )
        },
    )
    .parties(3)
    .number("length", 2, 1 << 16, "Numbers of each party")
    .number("percent", 90, 100, "Which percentile")
    .mix(Mix::B)
    .telling(|&(median, percentile), outputs, numbers| {
        let [median, percentile] = [median, percentile].map(|one| outputs.get(one)[0]);
        format!(
            "median {median}, percentile {}: {percentile}",
            numbers.get("percent")
        )
    })
}

fn main() -> ExitCode {
    command().main()
}
