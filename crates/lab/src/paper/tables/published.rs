//! Figures of MOTION's tables.

use std::collections::HashMap;

/// A table's rows: seconds of an operation, by network and number of parties.
pub(super) struct Published {
    rows: HashMap<(String, String), f64>,
}

/// Columns `lan/3` and so on, behind the row's name; one line for each row.
const INTEGERS: &str = include_str!("motion8.tsv");
const PRIMITIVES: &str = include_str!("motion7.tsv");
const MATCHING: &str = include_str!("motion3.tsv");

/// A table, of those that are of programs.
pub(super) fn of(table: u8) -> Published {
    match table {
        3 => Published::read(MATCHING, 1.0),
        7 => Published::read(PRIMITIVES, 1e-9),
        _ => Published::read(INTEGERS, 1e-6),
    }
}

impl Published {
    fn read(text: &str, unit: f64) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let header: Vec<_> = lines.next().unwrap_or_default().split('\t').collect();
        let mut rows = HashMap::new();
        for line in lines {
            let mut cells = line.split('\t');
            let name = cells.next().unwrap_or_default();
            for (column, cell) in header[1..].iter().zip(cells) {
                if let Ok(value) = cell.parse::<f64>() {
                    rows.insert((name.to_owned(), (*column).to_owned()), value * unit);
                }
            }
        }
        Self { rows }
    }

    /// Adds up rows of the table, each as often as its part says.
    pub(super) fn sum(&self, parts: &[Part], network: &str, parties: usize) -> Option<f64> {
        let column = format!("{network}/{parties}");
        let of = |(times, name): &Part| {
            let row = self.rows.get(&(name.clone(), column.clone()))?;
            Some(f64::from(*times) * row)
        };
        parts.iter().map(of).sum()
    }
}

/// How often a row, and which.
pub(super) type Part = (u32, String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_paper() {
        let one = |table, name: &str, network, parties| {
            of(table).sum(&[(1, name.to_owned())], network, parties)
        };
        let close = |found: Option<f64>, due: f64| {
            found.is_some_and(|found| (found - due).abs() < 1e-6 * due)
        };
        assert!(close(one(7, "MUL^A/64", "lan", 3), 55_081.1e-9));
        assert!(close(one(7, "Y2A/64", "wan", 5), 18_124_902.0e-9));
        assert!(close(one(8, "DIV^Y/64", "lan", 5), 26_360e-6));
        assert!(close(one(3, "A+B/4096", "wan", 3), 41.3));
        assert_eq!(one(7, "MUL^A/64", "lan", 2), None);
        assert_eq!(one(7, "MUL^A/7", "lan", 3), None);
        let parts = [(2, "Share^B".to_owned()), (1, "Rec^B".to_owned())];
        assert!(close(of(7).sum(&parts, "lan", 4), 18e-9));
    }
}
