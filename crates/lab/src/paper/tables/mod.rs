//! `madrigal-lab paper --table`: the tables of MOTION and MOTION2NX, ours beside theirs.
//!
//! Ours is a whole job, from the sharing of the operands to the opening of the result, all parties on this machine.
//! Where a row of the paper is an operation by itself, what it has for sharing and opening is added to it. Base OTs
//! are left out, as they are there, but for Tables 3 and 4, which have whole computations.

mod bench;
mod circuits;
mod costs;
mod gates;
mod integers;
mod matching;
mod networks;
mod ots;
mod primitives;
mod published;

use crate::args::{BenchPaper, PaperArg};
use crate::exit::{Result, Usage};
use crate::figures::print;
use crate::machine::Machine;
use crate::numbers::{rate, wide_table};
use crate::progress::Steps;
use crate::rates;
use bench::Bench;

/// The tables that measure something.
const MOTION: [u8; 6] = [2, 3, 4, 6, 7, 8];
const MOTION2NX: [u8; 3] = [1, 2, 3];

/// Refuses a table that there is not.
fn check(args: &BenchPaper, number: u8) -> Result<()> {
    let (there, networks) = match args.of {
        PaperArg::Motion => (&MOTION[..], false),
        PaperArg::Motion2nx => (&MOTION2NX[..], true),
    };
    if !there.contains(&number) {
        let there = there.iter().map(u8::to_string).collect::<Vec<_>>();
        let there = there.join(", ");
        return Err(Usage::NoSuchTable { number, there }.into());
    }
    if networks != args.model.is_some() {
        return Err(Usage::ModelOfTable { networks }.into());
    }
    if networks && args.parties.iter().any(|&parties| parties != 2) {
        return Err(Usage::TwoOfTable.into());
    }
    Ok(())
}

pub(super) fn run(args: &BenchPaper, number: u8) -> Result<()> {
    check(args, number)?;
    if (args.of, number) == (PaperArg::Motion, 6) {
        return costs::run(args);
    }
    let machine = Machine::measure()?;
    let rates = rates::measure(None)?;
    let steps = Steps::new(0, args.json);
    let bench = Bench {
        args,
        number,
        steps: &steps,
        rates: &rates,
    };
    let rows = match (&args.model, number) {
        (Some(model), _) => networks::rows(&bench, model)?,
        (None, 2) => ots::rows(&bench)?,
        (None, 3) => bench.programs(matching::cases)?,
        (None, 4) => circuits::rows(&bench)?,
        (None, 7) => bench.programs(|_| primitives::cases())?,
        (None, _) => bench.programs(|_| integers::cases())?,
    };
    steps.clear();
    if args.json {
        return Ok(());
    }
    let mut table = wide_table(&[
        "row",
        "parties",
        "network",
        "ours",
        "online",
        "the paper's",
        "online",
        "times as fast",
    ]);
    let some = |seconds: Option<f64>| seconds.map(time).unwrap_or_default();
    for row in &rows {
        table.add_row([
            row.name.clone(),
            row.parties.to_string(),
            row.network.clone(),
            time(row.seconds),
            some(row.online_seconds),
            some(row.paper_seconds),
            some(row.paper_online_seconds),
            row.faster.map(|by| format!("{by:.1}")).unwrap_or_default(),
        ]);
    }
    let of = match args.of {
        PaperArg::Motion => "MOTION",
        PaperArg::Motion2nx => "MOTION2NX",
    };
    let text = format!(
        "Table {number} of {of}, times of one operation. All parties on {} cores, {} by each, loopback TCP carries {}; \
         the paper's on servers of 16 cores each.\n\n{table}\n",
        machine.cores,
        rate(machine.aes_blocks, " AES blocks/s"),
        rate(machine.loopback_bytes_per_second, "B/s"),
    );
    print(text.as_bytes())
}

/// `3.42 µs`: three digits, whatever the unit.
fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let fits = |(unit, _): &(f64, &str)| seconds >= *unit;
    let (unit, name) = units.into_iter().find(fits).unwrap_or(units[3]);
    let digits = match seconds / unit {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{:.digits$} {name}", seconds / unit)
}
