//! Where results and statistics go that flags ask for.

use std::io::{self, Write};
use std::path::Path;

use madrigal_app::figures::{json_text, print_json, print_with};
use madrigal_app::files::{self, Output};
use madrigal_app::jobs::Statistics;
use serde::Serialize;

use crate::args::Show;
use crate::exit::Result;

impl Show {
    pub fn to_stdout(&self) -> bool {
        self.json || self.stats.as_deref() == Some(Path::new("-"))
    }

    /// Shows the costs of a job as a table, and writes its statistics where they are wanted.
    pub fn tell(&self, statistics: &Statistics) -> Result<()> {
        if !self.quiet && !self.to_stdout() {
            let _ = writeln!(crate::terminal::stderr(), "{}", statistics.table());
        }
        self.write(statistics)
    }

    /// Writes statistics where they are wanted as JSON.
    pub fn write(&self, statistics: &impl Serialize) -> Result<()> {
        match &self.stats {
            _ if self.to_stdout() => print_json(statistics),
            Some(path) => write_json(statistics, path),
            None => Ok(()),
        }
    }

    /// The file for statistics.
    pub fn output(&self) -> Output<'_> {
        Output {
            flag: "--stats",
            action: "write the statistics",
            path: self.stats.as_deref(),
        }
    }
}

pub fn write_json(value: &impl Serialize, path: &Path) -> Result<()> {
    files::write_bytes("write the statistics", path, json_text(value)?)
}

/// Writes a result where the flags want it.
pub fn write_result(text: &[u8], output: Option<&Path>) -> Result<()> {
    write_lines(&|to| to.write_all(text), output)
}

/// Writes a result that is made as it is written where the flags want it.
pub fn write_lines(
    write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    output: Option<&Path>,
) -> Result<()> {
    match output {
        Some(path) => files::write_result(path, write),
        None => print_with(write),
    }
}
