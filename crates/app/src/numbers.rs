//! How numbers are written for people.

use std::io::IsTerminal as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::{BinaryBytes, HumanCount, HumanDuration};

/// The columns that tables may take: as `COLUMNS` says, or the terminal that they go to. What goes to a file or a pipe
/// keeps each row on one line.
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

/// A table that can be pasted into a document, numbers to the right. On a terminal, what does not fit goes to further lines
/// of its row.
pub fn table(header: &[&str]) -> Table {
    table_within(header, columns())
}

/// A table whose rows take at most `columns` characters; without a limit where it is `None`.
pub fn table_within(header: &[&str], columns: Option<u16>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_header(header.iter().copied());
    if let Some(columns) = columns {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(columns);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
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
