//! Tables of numbers: a line for each input of a batch, numbers separated by commas.

use std::fmt::Write as _;
use std::path::Path;

use madrigal_nn::Tensor;

use super::{DataError, sizes, wrong};

/// A table: lines of as many numbers each.
pub struct Rows {
    columns: usize,
    numbers: Vec<f64>,
}

/// What of a wrong text is shown.
const SHOWN: usize = 24;

/// Reads a table. Empty lines may stand at its end alone.
pub fn read(path: &Path, file: &[u8]) -> Result<Rows, DataError> {
    let text = std::str::from_utf8(file).map_err(|_| {
        wrong(
            path,
            "this is no text; a .csv file has numbers separated by commas",
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = Rows {
        columns: 0,
        numbers: Vec::new(),
    };
    for (number, line) in (1..).zip(text.trim_end().lines()) {
        let problem = |problem| DataError::Line {
            path: path.to_owned(),
            line: number,
            problem,
        };
        let before = rows.numbers.len();
        for part in line.split(',') {
            let part = part.trim();
            let found: Option<f64> = part.parse().ok().filter(|number: &f64| number.is_finite());
            let Some(found) = found else {
                let shown: String = part.chars().take(SHOWN).collect();
                let header = match number {
                    1 => "; if this line names the columns, take it out",
                    _ => "",
                };
                return Err(problem(format!(
                    "{shown:?} is no number; expected numbers separated by commas{header}"
                )));
            };
            rows.numbers.push(found);
        }
        let columns = rows.numbers.len() - before;
        if number == 1 {
            rows.columns = columns;
        }
        if columns != rows.columns {
            return Err(problem(format!(
                "it has {columns} numbers; expected {}, as line 1 has",
                rows.columns
            )));
        }
    }
    match rows.numbers.is_empty() {
        true => Err(wrong(
            path,
            "it is empty; expected a line of numbers for each input",
        )),
        false => Ok(rows),
    }
}

impl Rows {
    /// How many lines.
    pub fn count(&self) -> usize {
        self.numbers.len() / self.columns
    }

    /// The numbers, if they are as many as an input of this shape takes.
    pub fn for_input(
        self,
        path: &Path,
        name: &str,
        shape: &[usize],
    ) -> Result<Vec<f64>, DataError> {
        let one = shape.get(1..).unwrap_or(&[]);
        let columns: usize = one.iter().product();
        let rows = shape.first().copied().unwrap_or(1);
        if (self.count(), self.columns) == (rows, columns) {
            return Ok(self.numbers);
        }
        let of = match one.len() {
            0 | 1 => String::new(),
            _ => format!(" ({})", sizes(one)),
        };
        let problem = format!(
            "it has {} lines of {} numbers; expected for the model's input {name:?} {rows} of {columns}{of}",
            self.count(),
            self.columns,
        );
        Err(wrong(path, problem))
    }
}

/// A tensor as a table: a line for each place along its first axis.
pub fn write(tensor: &Tensor) -> String {
    let columns: usize = tensor.shape().get(1..).unwrap_or(&[]).iter().product();
    let texts: Vec<String> = match tensor.as_f32() {
        // As few digits as tell them apart.
        Some(numbers) => numbers.iter().map(f32::to_string).collect(),
        None => tensor.to_f64().iter().map(f64::to_string).collect(),
    };
    let mut text = String::new();
    for row in texts.chunks(columns.max(1)) {
        let written = writeln!(text, "{}", row.join(","));
        written.expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Rows, String> {
        read(Path::new("x.csv"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_rows() {
        let found = rows("\u{feff}1, -2.5,3e2\r\n4,5,6\r\n\n").unwrap();
        assert_eq!((found.count(), found.columns), (2, 3));
        assert_eq!(found.numbers, [1.0, -2.5, 300.0, 4.0, 5.0, 6.0]);
        let numbers = found.for_input(Path::new("x.csv"), "x", &[2, 3, 1]);
        assert_eq!(numbers.unwrap().len(), 6);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, parts) in [
            (
                "a,b\n1,2\n",
                &["x.csv, line 1", "\"a\"", "names the columns"][..],
            ),
            ("1,2\n1,x\n", &["line 2", "\"x\""]),
            ("1,2\n1\n", &["line 2", "has 1 numbers", "expected 2"]),
            ("1,2\n\n1,2\n", &["line 2", "\"\""]),
            ("1,nan\n", &["line 1", "\"nan\""]),
            ("1e999\n", &["line 1"]),
            ("\n\n", &["empty"]),
            ("1,,2\n", &["line 1", "\"\""]),
        ] {
            let error = rows(text).err().unwrap_or_default();
            for part in parts {
                assert!(error.contains(part), "{part} is not in {error} of {text:?}");
            }
        }
        let table = rows("1,2\n3,4\n").unwrap();
        let error = table.for_input(Path::new("x.csv"), "x", &[2, 1, 3]);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("2 lines of 2") && error.contains("2 of 3 (1 x 3)"),
            "{error}"
        );
        assert!(read(Path::new("x.csv"), &[0xff, 0xfe]).is_err());
    }

    #[test]
    fn results_are_lines() {
        let tensor = Tensor::f32(vec![2, 2], vec![0.1, -1.0, 1e-7, 3.0]).unwrap();
        assert_eq!(write(&tensor), "0.1,-1\n0.0000001,3\n");
        let tensor = Tensor::i64(vec![3], vec![1, 2, 3]).unwrap();
        assert_eq!(write(&tensor), "1\n2\n3\n");
    }
}
