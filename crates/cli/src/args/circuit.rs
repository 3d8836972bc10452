//! The flags of `circuit`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum, ValueHint};

use super::EXIT_STATUS;
use super::values::lanes;

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Circuit {
    /// Show what a circuit consists of
    #[command(after_help = EXIT_STATUS)]
    Info {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a circuit in the other format
    #[command(after_help = EXIT_STATUS)]
    Convert {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Format to write
        #[arg(long, value_name = "FORMAT")]
        to: FormatArg,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Evaluate a circuit in the clear, on one machine
    #[command(after_help = EXIT_STATUS)]
    Eval {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Input file: one line per lane with all input values as hexadecimal numbers, in circuit
        /// order; needed if the circuit has inputs
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        input: Option<PathBuf>,
        /// Number of lanes [default: the number of lines of --input, or 1]
        #[arg(long, value_name = "L", value_parser = lanes())]
        lanes: Option<u64>,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatArg {
    /// The old format: two inputs, one output
    Bristol,
    /// Bristol Fashion
    BristolFashion,
}
