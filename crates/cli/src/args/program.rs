//! The flags of `program`: programs from files.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueHint};
use madrigal_app::from_file::ProgramFlags;

use super::EXIT_STATUS;

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Program {
    /// Compute a program, with --local as all of its parties or with --party as one of them
    #[command(after_help = EXIT_STATUS)]
    Run(Box<OfFile>),
    /// Say what a program will cost, operation by operation
    #[command(after_help = EXIT_STATUS)]
    Explain(Box<OfFile>),
    /// Run all parties here, in every mix of protocols, and compare the outputs with what the program means in the clear and
    /// the costs with those declared; inputs that are not given are random
    #[command(after_help = EXIT_STATUS)]
    Check(Box<OfFile>),
    /// Compute in the clear what a program means, from all inputs
    #[command(after_help = EXIT_STATUS)]
    Simulate(Box<OfFile>),
    /// Show what a program takes and gives
    #[command(after_help = EXIT_STATUS)]
    Info {
        /// The program
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,

        /// Lengths of dimensions, one for each; with all of them operations and digest are told
        #[arg(long = "dim", value_name = "NAME=N")]
        lengths: Vec<Length>,

        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A program with all that it takes.
#[derive(Args, Debug)]
pub struct OfFile {
    /// The program: a file that Python's `save`, or Rust's, has written
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Length of a dimension, one for each that the program has; the same at all parties
    #[arg(long = "dim", value_name = "NAME=N")]
    pub lengths: Vec<Length>,

    /// File for an output: an array of numpy.save (.npy), or a table of a line for each place along the first axis (any other
    /// name); outputs without one are printed
    #[arg(long = "output", value_name = "NAME=FILE")]
    pub outputs: Vec<OutputFile>,

    #[command(flatten)]
    pub flags: ProgramFlags,
}

/// `--dim NAME=N`
#[derive(Debug, Clone)]
pub struct Length {
    pub name: String,
    pub length: usize,
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=');
        let length = parts.and_then(|(name, length)| Some((name, length.parse().ok()?)));
        let (name, length) = length.ok_or("expected NAME=N, for example rows=1000")?;
        Ok(Self {
            name: name.to_owned(),
            length,
        })
    }
}

/// `--output NAME=FILE`
#[derive(Debug, Clone)]
pub struct OutputFile {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for OutputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text
            .split_once('=')
            .filter(|(_, path)| !path.is_empty())
            .ok_or("expected NAME=FILE, for example total=total.npy")?;
        Ok(Self {
            name: name.to_owned(),
            path: path.into(),
        })
    }
}
