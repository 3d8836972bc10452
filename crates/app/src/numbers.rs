//! Writes numbers for people.

use std::fmt;
use std::io::IsTerminal as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Width, presets};
use indicatif::{BinaryBytes, HumanCount, HumanDuration};

/// Columns that tables take where neither `COLUMNS` nor a terminal says another number.
const WIDTH: u16 = 80;

/// The columns that `COLUMNS` names, or that the terminal has on which tables are printed.
fn columns() -> Option<u16> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|said| said.trim().parse().ok());
    let terminal = || {
        let terminal = std::io::stdout().is_terminal();
        let size = terminal.then(|| console::Term::stdout().size_checked());
        size.flatten().map(|(_, wide)| wide)
    };
    said.or_else(terminal)
}

/// A table that can be pasted into a document, numbers to the right, within the width of the terminal or 80 columns.
pub fn table(header: &[&str]) -> Table {
    table_within(header, Some(columns().unwrap_or(WIDTH)))
}

/// A table that has each row on one line where no terminal or `COLUMNS` limits it: for reports with many columns.
pub fn wide_table(header: &[&str]) -> Table {
    table_within(header, columns())
}

/// A table whose rows take at most `columns` characters; without a limit where it is `None`.
pub fn table_within(header: &[&str], columns: Option<u16>) -> Table {
    let mut rows = comfy_table::Table::new();
    rows.load_preset(presets::ASCII_MARKDOWN)
        .set_header(header.iter().copied());
    for column in rows.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Table { rows, columns }
}

/// Rows under a header. Cells that do not fit go to further lines of its row; where not even the words fit, each row becomes
/// a list of its cells.
#[derive(Clone, Debug)]
pub struct Table {
    rows: comfy_table::Table,
    columns: Option<u16>,
}

impl Table {
    /// Characters that the longest unbroken word of a column has, the most first: longer ones are names, which may be
    /// broken before a row becomes a list.
    const WORDS: [usize; 4] = [32, 24, 16, 12];

    /// Adds a row.
    pub fn add_row<T: Into<Row>>(&mut self, row: T) -> &mut Self {
        self.rows.add_row(row);
        self
    }

    fn count(&self) -> usize {
        self.rows.column_iter().count()
    }

    /// The texts of a column, the header's first.
    fn texts(&self, column: usize) -> Vec<String> {
        let rows = self.rows.header().into_iter().chain(self.rows.row_iter());
        let cells = rows.filter_map(|row| row.cell_iter().nth(column));
        cells.map(comfy_table::Cell::content).collect()
    }

    /// The longest word of each column, of which no more than `most` characters stay together.
    fn words(&self, most: usize) -> Vec<u16> {
        let longest = |column| {
            let texts = self.texts(column);
            let words = texts.iter().flat_map(|text| text.split_whitespace());
            let longest = words.map(|word| word.chars().count()).max();
            longest.unwrap_or(0).clamp(1, most) as u16
        };
        (0..self.count()).map(longest).collect()
    }

    /// Each row as lines that name what they tell.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<Vec<String>> =
            (0..self.count()).map(|column| self.texts(column)).collect();
        for row in 1..=self.rows.row_count() {
            for (column, texts) in columns.iter().enumerate() {
                let text = texts.get(row).map_or("", |text| text);
                let begin = if column == 0 { "- " } else { "  " };
                match (&texts[0][..], text) {
                    (_, "") => {}
                    ("", text) => writeln!(f, "{begin}{text}")?,
                    (name, text) => writeln!(f, "{begin}{name}: {text}")?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(width) = self.columns else {
            return self.rows.fmt(f);
        };
        // A border and a space on each side of every cell.
        let fits = |words: &Vec<u16>| words.iter().map(|word| word + 3).sum::<u16>() < width;
        let words = Self::WORDS.map(|most| self.words(most));
        let Some(words) = words.into_iter().find(fits) else {
            return self.list(f);
        };
        let mut rows = self.rows.clone();
        rows.set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
        for (column, word) in rows.column_iter_mut().zip(words) {
            // The padding counts.
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(word + 2)));
        }
        rows.fmt(f)
    }
}

/// Bytes, with a binary prefix.
pub fn bytes(count: u64) -> String {
    BinaryBytes(count).to_string()
}

/// A number, with commas.
pub fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A number of things: `1 lane`, `2,000 lanes`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// A time, with the unit that suits it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 0.1 => format!("{:.2} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 600.0 => format!("{s:.2} s"),
        s => HumanDuration(std::time::Duration::from_secs_f64(s)).to_string(),
    }
}

/// A rate: of bytes and of what has no name with a decimal prefix, of other things in words.
pub fn rate(per_second: f64, unit: &str) -> String {
    if !["B/s", "/s"].contains(&unit) {
        let unit = unit.trim_start();
        return match per_second {
            r if r >= 1e9 => format!("{:.2} billion {unit}", r / 1e9),
            r if r >= 1e6 => format!("{:.2} million {unit}", r / 1e6),
            r if r >= 1e3 => format!("{} {unit}", count(r as u64)),
            r => format!("{r:.2} {unit}"),
        };
    }
    let (value, prefix) = match per_second {
        r if r >= 1e9 => (r / 1e9, "G"),
        r if r >= 1e6 => (r / 1e6, "M"),
        r if r >= 1e3 => (r / 1e3, "k"),
        r => (r, ""),
    };
    format!("{value:.2} {prefix}{unit}")
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
