//! `madrigal-lab paper`: the tables and figures of the papers, ours beside theirs.
//!
//! `published.rs` reads what the papers report; `sheets.rs` lists the tables and figures, `bench.rs` runs and prints their
//! rows. A table or figure itself only makes jobs, at each place one for each row or for rows that are measured together.

mod bench;
mod branches;
mod estimate;
mod formula;
mod plot;
mod published;
mod sheets;
mod tables;
mod three_parties;
mod unit;

use crate::args::BenchPaper;
use crate::exit::Result;
use bench::Bench;
use bench::Known;

pub fn run(args: &BenchPaper) -> Result<()> {
    Bench::new(args, Known::find(args)?)?.run()
}

#[cfg(test)]
mod tests;
