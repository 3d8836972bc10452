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
        /// Circuit in Bristol, Bristol Fashion or ABY format, or with branches
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a circuit in another format
    #[command(after_help = EXIT_STATUS)]
    Convert {
        /// Circuit in Bristol, Bristol Fashion or ABY format, or with branches
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Format to write
        #[arg(long, value_name = "FORMAT")]
        to: FormatArg,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Make a random circuit, as papers on circuits with branches measure with: branches of as many gates
    /// each, and the outputs of the one whose number is the first input value
    #[command(after_help = EXIT_STATUS)]
    Random {
        /// Branches; 1 makes a circuit without any
        #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
        branches: u16,
        /// ANDs of each branch
        #[arg(long, value_name = "COUNT", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
        ands: u32,
        /// XORs of each branch
        #[arg(long, value_name = "COUNT", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
        xors: u32,
        /// Layers that the gates of each branch are spread over
        #[arg(long, value_name = "LAYERS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        layers: u32,
        /// Input bits of each branch, the same for all
        #[arg(long, value_name = "BITS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
        inputs: u32,
        /// Output bits
        #[arg(long, value_name = "BITS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        outputs: u32,
        /// What the circuit is drawn from: the same number makes the same circuit
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        seed: u64,
        /// Format to write
        #[arg(long, value_name = "FORMAT", default_value = "bristol-fashion")]
        to: FormatArg,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Evaluate a circuit in the clear, on one machine
    #[command(after_help = EXIT_STATUS)]
    Eval {
        /// Circuit in Bristol, Bristol Fashion or ABY format, or with branches
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Input file: one line per lane with all input values as hexadecimal numbers, in circuit
        /// order; needed if the circuit has inputs
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        input: Option<PathBuf>,
        /// Number of lanes [default: the number of lines of --input, or 1]
        #[arg(long, value_name = "L", value_parser = lanes())]
        lanes: Option<u64>,
        /// Let errors tell what stands in one's own data and is wrong there; else they tell the place alone
        #[arg(long)]
        show_values: bool,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatArg {
    /// The old format: two inputs, one output
    Bristol,
    /// Bristol Fashion; of branches all of them and multiplexers
    BristolFashion,
    /// Circuits with branches, which protocol B computes at the cost of one of them
    Branches,
}
