//! Table 2: OTs, ten million of them, both sides on this machine and no network between them.

use super::bench::{Bench, Row};
use crate::exit::Result;
use crate::ot::per_ot;

const OTS: usize = 10_000_000;

/// The paper's name, ours, and what MOTION and libOTe take for one in a LAN, in nanoseconds.
const ROWS: [(&str, &str, f64, Option<f64>); 4] = [
    ("R-OT/128", "rot/softspoken2", 77.0, None),
    ("R-OT/128, IKNP", "rot/iknp", 77.0, None),
    ("G-OT/128", "got/128/softspoken2", 196.0, Some(120.0)),
    ("C+-OT/64", "acot/64/softspoken2", 134.0, None),
];

pub(super) fn rows(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, ours, motion, libote) in bench.wanted(ROWS.to_vec(), |row| row.0)? {
        bench.steps.name(name);
        let seconds = per_ot(ours, OTS, bench.args.repeat, bench.steps)?;
        let paper = motion * 1e-9;
        let name = match libote {
            Some(libote) => format!("{name} (libOTe there: {libote} ns)"),
            None => name.to_owned(),
        };
        let row = Row {
            ops: OTS,
            paper_seconds: Some(paper),
            faster: Some(paper / seconds),
            ..bench.row(name, 2, "none", seconds)
        };
        bench.tell(&mut rows, row)?;
    }
    Ok(rows)
}
