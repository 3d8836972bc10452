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
    /// Make a program of a circuit, for clients of a service and for parties
    #[command(after_help = EXIT_STATUS)]
    Circuit(OfCircuit),
}

/// A circuit, and who has its values.
#[derive(Args, Debug)]
pub struct OfCircuit {
    /// The circuit: in Bristol format, Bristol Fashion, ABY's or with branches
    #[arg(value_name = "CIRCUIT", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Number of parties that compute
    #[arg(long, value_name = "N")]
    pub parties: u8,

    /// Name of an input of the circuit and who brings it, a client or the number of a party; one for each input, in order
    #[arg(long = "input", value_name = "NAME=OWNER", required = true)]
    pub inputs: Vec<Holding>,

    /// Name of an output of the circuit and who learns it, clients or numbers of parties; one for each output, in order
    #[arg(long = "output", value_name = "NAME=OWNER,...", required = true)]
    pub outputs: Vec<Holding>,

    /// Widths of the circuit's inputs in bits, where its file has those of several owners as one
    #[arg(long, value_name = "BITS", value_delimiter = ',')]
    pub widths: Option<Vec<u32>>,

    /// Compute the circuit at each place of an axis of this name, whose length is given when the program is computed: in a service, at one
    /// for each submission
    #[arg(long, value_name = "NAME")]
    pub each: Option<String>,

    /// File for the program
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub save: PathBuf,
}

/// `--input NAME=OWNER`, `--output NAME=OWNER,...`
#[derive(Debug, Clone)]
pub struct Holding {
    pub name: String,
    pub holders: Vec<String>,
}

impl FromStr for Holding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('=')
            .filter(|(name, who)| !name.is_empty() && !who.is_empty());
        let (name, who) = parts
            .ok_or("expected NAME=OWNER, as in key=alice for a client or key=0 for a party")?;
        Ok(Self {
            name: name.to_owned(),
            holders: who.split(',').map(str::to_owned).collect(),
        })
    }
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
