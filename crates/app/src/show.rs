//! Where results and statistics go that flags ask for.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use crate::failure::Result;
use crate::figures::{json_text, print_json, print_with};
use crate::files::{self, Output};
use crate::jobs::Statistics;

/// Flags of what is told about a run.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Statistics")]
pub struct Show {
    /// Write statistics as JSON; `-` is standard output and needs --output
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    /// Same as --stats -
    #[arg(long, conflicts_with = "stats")]
    pub json: bool,

    /// Show neither progress nor the table of costs
    #[arg(long, short)]
    pub quiet: bool,

    /// Let errors tell what stands in one's own data and is wrong there; else they tell the place alone
    #[arg(long, help_heading = "Values")]
    pub show_values: bool,
}

impl Show {
    /// Lets errors tell values, if the flag says so; called before data is read.
    pub fn begin(&self) {
        if self.show_values {
            madrigal_core::text::show_own_data();
        }
    }

    /// Whether statistics go to standard output.
    pub fn to_stdout(&self) -> bool {
        self.json || self.stats.as_deref() == Some(Path::new("-"))
    }

    /// Shows the costs of a job as a table, and writes its statistics where they are wanted.
    ///
    /// # Errors
    /// [`Failure`](crate::failure::Failure): a file, or standard output, that cannot be written to.
    pub fn tell(&self, statistics: &Statistics) -> Result<()> {
        if !self.quiet && !self.to_stdout() {
            let _ = writeln!(crate::terminal::stderr(), "{}", statistics.table());
        }
        self.write(statistics)
    }

    /// Writes statistics where they are wanted as JSON.
    ///
    /// # Errors
    /// [`Failure`](crate::failure::Failure): a file, or standard output, that cannot be written to.
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

/// Writes statistics to a file.
///
/// # Errors
/// [`Failure`](crate::failure::Failure): a file, or standard output, that cannot be written to.
pub fn write_json(value: &impl Serialize, path: &Path) -> Result<()> {
    files::write_bytes("write the statistics", path, json_text(value)?)
}

/// Writes a result where the flags want it.
///
/// # Errors
/// [`Failure`](crate::failure::Failure): a file, or standard output, that cannot be written to.
pub fn write_result(text: &[u8], output: Option<&Path>) -> Result<()> {
    write_lines(&|to| to.write_all(text), output)
}

/// Writes a result that is made as it is written where the flags want it.
///
/// # Errors
/// [`Failure`](crate::failure::Failure): a file, or standard output, that cannot be written to.
pub fn write_lines(
    write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    output: Option<&Path>,
) -> Result<()> {
    match output {
        Some(path) => files::write_result(path, write),
        None => print_with(write),
    }
}
