//! The flags of `model`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::flags::{Among, networks};
use madrigal_app::over::Over;
use madrigal_app::receivers::{Receivers, client};
use madrigal_app::threads::Threads;
use madrigal_app::ways::MatricesArg;
use madrigal_program::lower::Mix;

use super::infer::NumberArg;
use super::{Pixels, Sizes};

/// What is asked of a network.
#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Model {
    /// Show what a trained network consists of, or all that keeps it from being computed on secrets
    #[command(after_help = EXIT_STATUS)]
    Check(Check),
    /// Write a model without its weights, for parties that are to know its architecture alone, and tell what of its numbers
    /// stays readable: integers, Booleans, attributes, and floats without dimensions. A model in which that cannot be
    /// told from weights is refused
    #[command(after_help = EXIT_STATUS)]
    Strip(Strip),
    /// Compute a network on sample data with a fixed point and in the clear: how far apart results are, and in which
    /// layer that begins. Nothing is sent
    #[command(after_help = EXIT_STATUS)]
    Compare(Compare),
    /// Say what a network will cost on secrets before it runs: in one mix of protocols layer by layer, or in all that are
    /// usual, the fastest first. Nothing is sent
    #[command(after_help = EXIT_STATUS)]
    Explain(Box<ModelExplain>),
    /// Say which numbers with a fixed point suffice for sample data, and what they cost in precision; write them into the
    /// model, so that `infer` takes them. Nothing is sent
    #[command(after_help = EXIT_STATUS)]
    Calibrate(Calibrate),
    /// Write a program for a service whose servers hold the weights (docs/INFERENCE.md): the weights are inputs of one client, the data is of
    /// another one, who learns the results, for any number of inputs at once
    #[command(after_help = EXIT_STATUS)]
    Program(ServedModel),
}

/// A model that becomes a program of two clients.
#[derive(Args, Debug)]
pub struct ServedModel {
    /// Model in ONNX format
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) sizes: Sizes,
    /// Number of servers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=8))]
    pub(crate) parties: u8,
    /// Name of the client that owns the weights
    #[arg(long, value_name = "CLIENT", default_value = "owner", value_parser = client)]
    pub(crate) owner: String,
    /// Name of the client that brings the data and learns the results
    #[arg(long, value_name = "CLIENT", default_value = "member", value_parser = client)]
    pub(crate) data: String,
    /// How numbers are kept: bits, and how many of them are after the point [default: what the model says, or else
    /// 64.16]
    #[arg(long, value_name = "BITS.FRACTION")]
    pub(crate) numbers: Option<NumberArg>,
    /// Where to write the program
    #[arg(long, short, value_name = "FILE.mad", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Folder for the weights, which is there: an array (.npy) for each input of their owner
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) weights: Option<PathBuf>,
}

/// A model, and how it is looked at.
#[derive(Args, Debug)]
pub struct Check {
    /// Model in ONNX format
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Size of the first dimension of each input, where the model gives it a name or 1 [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
    #[command(flatten)]
    pub(crate) sizes: Sizes,
    /// How numbers are kept: bits, and how many of them are after the point [default: what the model says, or else
    /// 64.16]
    #[arg(long, value_name = "BITS.FRACTION")]
    pub(crate) numbers: Option<NumberArg>,
    /// All parties know the weights
    #[arg(long)]
    pub(crate) public_model: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A model that is written without its weights.
#[derive(Args, Debug)]
pub struct Strip {
    /// Model in ONNX format
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Size of the first dimension of each input, where the model gives it a name or 1: what is written serves for
    /// others, too [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
    #[command(flatten)]
    pub(crate) sizes: Sizes,
    /// Where to write it
    #[arg(long, short, value_name = "FILE.onnx", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
}

/// How a network with a fixed point is compared with the network in the clear.
#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    pub(crate) sample: Sample,
    /// How numbers are kept: bits, and how many of them are after the point [default: what the model says, or else
    /// 64.16]
    #[arg(long, value_name = "BITS.FRACTION")]
    pub(crate) numbers: Option<NumberArg>,
    /// Draw the largest error of each layer
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) plot: Option<PathBuf>,
}

/// A model, and who is to compute it how.
#[derive(Args, Debug)]
pub struct ModelExplain {
    /// Model in ONNX format
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) among: Among,

    /// The mix of protocols whose cost is told layer by layer [default: each that is usual, compared]
    #[arg(long, value_name = "MIX")]
    pub(crate) protocol: Option<Mix>,

    /// Compare only mixes in which all parties but one may be corrupted: not R, in which one of the three may be
    #[arg(long, conflicts_with = "protocol")]
    pub(crate) dishonest_majority: bool,

    /// Inputs computed at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    #[command(flatten)]
    pub(crate) sizes: Sizes,

    /// All parties know the weights
    #[arg(long)]
    pub(crate) public_model: bool,

    /// How numbers are kept: bits, and how many of them are after the point [default: what the model says, or else
    /// 64.16]
    #[arg(long, value_name = "BITS.FRACTION")]
    pub(crate) numbers: Option<NumberArg>,

    /// With the check of ranges that `madrigal infer --check-range` does
    #[arg(long)]
    pub(crate) check_range: bool,

    /// Client that brings the data, instead of party 1
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    pub(crate) data: Option<String>,

    /// Who gets the results: `all` parties, or parties and clients separated by commas
    #[arg(long, value_name = "all|P|CLIENT,...", default_value = "1")]
    pub(crate) to: Receivers,

    /// Threads that each party computes with; auto: as many as there are cores on a machine like this one, which parties on one
    /// machine share (--local)
    #[arg(long, value_name = "auto|N", default_value_t)]
    pub(crate) threads: Threads,

    /// What makes the triples for products of matrices and convolutions
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) matrices: MatricesArg,

    #[command(flatten)]
    pub(crate) over: Over,

    /// Estimate for parties in this network
    #[arg(long, value_name = "PROFILE", default_value = "none", long_help = networks(BETWEEN, "a fast local network"))]
    pub(crate) network: String,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Help of `--network` in `model explain`.
const BETWEEN: &str = "Estimate for parties in this network";

/// How numbers are found for a model.
#[derive(Args, Debug)]
pub struct Calibrate {
    #[command(flatten)]
    pub(crate) sample: Sample,
    /// Bits by which numbers may be greater than in the sample before they leave the range
    #[arg(long, value_name = "BITS", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=32))]
    pub(crate) spare: u32,
    /// How far a result may be from that in the clear, as a part of its output's greatest magnitude. Numbers of 32 bits, which cost less than half as much as those of
    /// 64, are chosen where no result of the sample is further off, and none has its greatest number elsewhere
    #[arg(long, value_name = "DIFFERENCE", default_value_t = 0.01, value_parser = difference)]
    pub(crate) error: f64,
    /// Write the model here, with the numbers that are chosen, and how far from zero data may be: `infer`, `compare` and
    /// `explain` take the numbers, `infer` refuses data that is further, and `strip` keeps both
    #[arg(long, short, value_name = "FILE.onnx", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// A model and data for it.
#[derive(Args, Debug)]
pub(crate) struct Sample {
    /// Model in ONNX format
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Data for each input of the model, in its order: an array of NumPy's (.npy), whose first dimension is the batch, a
    /// table (.csv) or images (.png), as for `madrigal infer`
    #[arg(long = "input", value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sizes: Sizes,
    #[command(flatten)]
    pub(crate) pixels: Pixels,
    /// Let errors tell what stands in one's own data and is wrong there; else they tell the place alone
    #[arg(long)]
    pub(crate) show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Sample {
    /// To be called before data is read.
    pub(crate) fn begin(&self) {
        if self.show_values {
            madrigal_core::text::show_own_data();
        }
    }
}

fn difference(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|&number: &f64| number.is_finite() && number >= 0.0)
        .ok_or_else(|| "expected a number, 0 or more, for example 0.01".to_owned())
}
