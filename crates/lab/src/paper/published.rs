//! Values that the papers report, as data: a file for each table and figure in `papers`, with where it is from above it.
//!
//! A line is one quantity of one row, of the paper's own system or another that it compares itself with, in its columns:
//! a network and a number of parties each. `-` stands where the paper has nothing, `?` where it has something that its text
//! does not say, such as the points of a plot; `<`, `>` and `~` stand before bounds and rounded numbers.

use super::formula::{self, Letters};
use super::unit::Unit;

/// Bits of a number in formulas, and of a key.
pub const BITS: u32 = 32;
const KAPPA: u32 = 128;

/// Where something is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub network: String,
    pub parties: usize,
}

/// One table or figure.
pub struct Sheet {
    /// Lines that say where it is from and how the paper measured.
    pub source: Vec<&'static str>,
    columns: Vec<Column>,
    lines: Vec<Line>,
}

/// A column; one without a number of parties is of any.
struct Column {
    network: &'static str,
    parties: Option<usize>,
}

struct Line {
    row: &'static str,
    of: &'static str,
    what: &'static str,
    unit: Unit,
    scale: f64,
    cells: Vec<&'static str>,
}

/// A value of a paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// System that has it.
    pub of: &'static str,
    /// In the base unit; nothing where the paper has one that its text does not say.
    pub value: Option<f64>,
    /// `<`, `>` or `~`.
    pub bound: Option<char>,
    pub unit: Unit,
}

impl Sheet {
    /// Reads a file of this project.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub fn read(text: &'static str) -> Result<Self, String> {
        let mut lines = text.lines();
        let mut source = Vec::new();
        let header = loop {
            let line = lines.next().ok_or("there is no header")?;
            match line.strip_prefix('#') {
                Some(comment) => source.push(comment.trim()),
                None => break line,
            }
        };
        let places = header
            .strip_prefix("row\tof\twhat\tunit\t")
            .ok_or("the header is another one")?;
        let columns: Option<Vec<Column>> = places.split('\t').map(Column::parse).collect();
        let columns = columns.ok_or("a column is no network and number of parties")?;
        let lines: Result<Vec<Line>, String> = lines
            .map(|line| {
                Line::parse(line, columns.len()).ok_or_else(|| format!("wrong line: {line}"))
            })
            .collect();
        Ok(Self {
            source,
            columns,
            lines: lines?,
        })
    }

    /// The networks and numbers of parties that the paper has.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, Option<usize>)> + '_ {
        self.columns
            .iter()
            .map(|column| (column.network, column.parties))
    }

    /// Finds the values of a row's quantity: the paper's and those of the systems that it compares itself with.
    pub fn at(&self, row: &str, what: &str, place: &Place) -> Vec<Published> {
        let lines = self.lines.iter();
        let lines = lines.filter(|line| line.row == row && line.what == what);
        lines.filter_map(|line| self.cell(line, place)).collect()
    }

    fn cell(&self, line: &Line, place: &Place) -> Option<Published> {
        let at = self.columns.iter().position(|column| column.is_at(place))?;
        line.published(line.cells[at], place.parties)
    }

    /// Whether the paper has anything of a row there.
    pub fn has(&self, row: &str, place: &Place) -> bool {
        let mut lines = self.lines.iter().filter(|line| line.row == row);
        lines.any(|line| self.cell(line, place).is_some())
    }

    /// Every quantity of every row there, once: its row, its name and its unit.
    #[cfg(test)]
    pub fn quantities(&self, place: &Place) -> Vec<(&'static str, &'static str, Unit)> {
        let mut all = Vec::new();
        for line in &self.lines {
            let quantity = (line.row, line.what, line.unit);
            if self.cell(line, place).is_some() && !all.contains(&quantity) {
                all.push(quantity);
            }
        }
        all
    }

    /// Those whose values there are.
    pub fn systems(&self) -> Vec<&'static str> {
        let mut all = Vec::new();
        for line in &self.lines {
            if !all.contains(&line.of) {
                all.push(line.of);
            }
        }
        all
    }
}

impl Column {
    fn parse(text: &'static str) -> Option<Self> {
        let (network, parties) = text.rsplit_once('/')?;
        let parties = match parties {
            "N" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Self { network, parties })
    }

    fn is_at(&self, place: &Place) -> bool {
        self.network == place.network && self.parties.is_none_or(|parties| parties == place.parties)
    }
}

impl Line {
    fn parse(text: &'static str, columns: usize) -> Option<Self> {
        let mut cells = text.split('\t');
        let [row, of, what, unit] = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
        let (unit, scale) = Unit::parse(unit)?;
        let line = Self {
            row,
            of,
            what,
            unit,
            scale,
            cells: cells.collect(),
        };
        let any = |cell: &&str| matches!(*cell, "-" | "?") || line.published(cell, 2).is_some();
        (line.cells.len() == columns && line.cells.iter().all(any)).then_some(line)
    }

    fn published(&self, cell: &str, parties: usize) -> Option<Published> {
        let bound = cell.chars().next().filter(|first| "<>~".contains(*first));
        let number = cell.trim_start_matches(['<', '>', '~']);
        let letters = Letters {
            parties,
            bits: BITS,
            key: KAPPA,
        };
        let value = match cell {
            "-" => return None,
            "?" => None,
            _ => {
                let value = number.parse().ok();
                Some(self.scale * value.or_else(|| formula::value(number, letters))?)
            }
        };
        Some(Published {
            of: self.of,
            value,
            bound,
            unit: self.unit,
        })
    }
}
