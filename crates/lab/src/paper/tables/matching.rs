//! Table 3: the nearest of 1024 or 4096 entries of four features.

use madrigal_program::lower::Mix;

use super::bench::{Case, CaseProgram};
use crate::programs::workloads::matching;

/// Lists the cases. With two parties circuits are garbled by one of them, as ABY does.
pub(super) fn cases(parties: usize) -> Vec<Case> {
    let garbled = match parties {
        2 => Mix::AY2,
        _ => Mix::AY,
    };
    let mut cases = Vec::new();
    for (name, mix) in [("A+B", Mix::AB), ("A+Y", garbled)] {
        for entries in [1024, 4096] {
            let name = format!("{name}/{entries}");
            cases.push(Case {
                paper: vec![(1, name.clone())],
                name,
                mix,
                ops: 1,
                whole: true,
                make: CaseProgram::program(move |random, parties| {
                    matching(random, parties, entries)
                }),
            });
        }
    }
    cases
}
