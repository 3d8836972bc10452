//! `madrigal-lab paper`: the figures and tables of the papers, ours beside theirs.

mod figures;
mod tables;

use crate::args::BenchPaper;
use crate::exit::{Failure, Result};

pub fn run(args: &BenchPaper) -> Result<()> {
    match (args.figure, args.table) {
        (Some(figure), _) => figures::run(args, figure),
        (None, Some(table)) => tables::run(args, table),
        (None, None) => Err(Failure::bug("neither a figure nor a table")),
    }
}
