//! Yao's millionaires: which of two is richer, and nothing else.
//!
//! `cargo run --release --example millionaires -- --local 2 -i first=1500000 -i second=2300000`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
use madrigal::program::lower::Mix;
use madrigal::program::{Everyone, Opened};

pub(crate) fn command() -> App<Opened<bool>> {
    App::new(
        "millionaires",
        "Which of two parties is richer, and nothing else",
        |p, _| {
            let first = p.input_named::<u64>("first", Party::new(0), ());
            let second = p.input_named::<u64>("second", Party::new(1), ());
            p.open_named("first-is-richer", first.gt(second), Everyone)
        },
    )
    .mix(Mix::B)
    .telling(|&richer, outputs, _| match outputs.get(richer)[0] {
        true => "the first is richer".to_owned(),
        false => "the first is not richer".to_owned(),
    })
}

fn main() -> ExitCode {
    command().main()
}
