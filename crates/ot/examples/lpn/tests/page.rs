//! Figures in the documents are those that the tool computes.

use crate::problem::Problem;
use crate::report::{Greedy, Report, report};
use crate::{checks, minors, stages};

/// Documents with the number of stages in their tables.
const DOCUMENTS: [(&str, &str, usize); 3] = [
    (
        "silent/params.rs",
        include_str!("../../../src/silent/params.rs"),
        3,
    ),
    (
        "vole/params.rs",
        include_str!("../../../src/vole/params.rs"),
        4,
    ),
    ("LPN.md", include_str!("../../../../../docs/LPN.md"), 14),
];

/// Cells of a line of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.trim_start_matches("//!").trim();
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

#[test]
fn documents_say_what_is_computed() {
    let reports: Vec<(usize, Report)> = stages()
        .map(|stage| (stage.base_rows(), report(&Problem::of(stage), Greedy::Left)))
        .collect();
    for (name, text, stages) in DOCUMENTS {
        let (mut header, mut rows) = (None, 0);
        for line in text.lines() {
            let Some(cells) = cells(line) else {
                header = None;
                continue;
            };
            let Some(header) = &header else {
                header = Some(cells);
                continue;
            };
            let cell = |column: &str| {
                let place = header.iter().position(|&name| name == column)?;
                Some(cells[place].replace(' ', ""))
            };
            let (Some(n), Some(k)) = (cell("n"), cell("k")) else {
                continue;
            };
            if n.starts_with("--") {
                continue;
            }
            let bits = cell("B").unwrap_or_else(|| "1".into());
            let (base, report) = (reports.iter())
                .find(|(_, report)| {
                    let Problem {
                        n: rows,
                        k: dimension,
                        bits: b,
                        ..
                    } = report.problem;
                    [rows, dimension, b].map(|x| x.to_string())
                        == [&n, &k, &bits].map(String::clone)
                })
                .unwrap_or_else(|| panic!("{name}: no stage is that of {line}"));
            rows += 1;
            for (column, cell) in header.iter().zip(&cells) {
                if let Some(figure) = figure(column, *base, report) {
                    assert_eq!(cell.replace(' ', ""), figure, "{name}: {column} in {line}");
                }
            }
        }
        assert_eq!(rows, stages, "{name}: stages in tables");
    }
}

/// Figure of a column, rounded down where it is a cost; `None` for columns that take seconds to compute, or name the stage.
fn figure(column: &str, base: usize, report: &Report) -> Option<String> {
    let problem = &report.problem;
    let power = |bits: f64| Some(format!("2^{bits:.0}", bits = bits.floor()));
    let bits = |name: &str| {
        let attack = report.attacks.iter().find(|attack| attack.name == name);
        attack.expect("an attack of the report").bits
    };
    let attack = |name: &str| power(bits(name));
    match column {
        "stage" | "B" | "n" | "k" | "greedy minor" => None,
        "bin" => power(problem.bin().log2()),
        "t" => Some(problem.t.to_string()),
        "base" | "base rows" => Some(base.to_string()),
        "lists" => power(bits("lists").min(bits("representations"))),
        "algebraic" | "algebraic, one map" => attack("sparse Macaulay"),
        "algebraic, any map" => attack("sparse Macaulay, any map"),
        "random minor" => attack("random minor, lists"),
        "any minor" => attack("any minor, lists"),
        "statistical, any minor" => attack("any minor, statistical"),
        "interleaved, any minor" => attack("any minor, interleaved"),
        "interleaved, all columns" => attack("interleaved"),
        "lightest check" => Some(checks::distance(problem).to_string()),
        "without structure" => Some(format!("{:.0}", checks::unstructured(problem))),
        "weight" => Some(checks::free(problem).0.to_string()),
        "needed" => power(checks::free(problem).1),
        "to find one" => {
            let bits =
                checks::finding(minors::exists(problem) * problem.k, checks::free(problem).0);
            Some(format!("2^{bits:.0}"))
        }
        _ => panic!("the column {column} is computed nowhere"),
    }
}
