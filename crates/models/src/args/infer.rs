//! The flags of `infer`: a trained network on data that nobody shows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};
use madrigal_app::ahead::Ahead;
use madrigal_app::clients::ClientFlags;
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::flags::{Net, Who, repetitions};
use madrigal_app::over::Over;
use madrigal_app::receivers::{Receivers, client};
use madrigal_app::show::Show;
use madrigal_app::threads::Threads;
use madrigal_app::ways::MatricesArg;
use madrigal_nn::Model;
use madrigal_program::Type;
use madrigal_program::lower::Mix;

use super::{Pixels, Sizes};

/// A network, the data, and how it is computed.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Infer {
    /// The ONNX model. Party 0 owns it: the others need its architecture, which is all that `madrigal model strip` leaves.
    /// Weights in their files are not used
    #[arg(long, value_name = "FILE.onnx", value_hint = ValueHint::FilePath, help_heading = "Work")]
    pub(crate) model: PathBuf,

    /// All parties know the weights: their files must be the same. Products with weights then cost nothing
    #[arg(long, help_heading = "Work")]
    pub(crate) public_model: bool,

    /// Which sharing computes sums and products, and which the rest: A+B, A+Y2, alpha+beta, alpha+Y2, R, ...; with
    /// several for the rest (A+B+Y2, alpha+beta+Y2) the plan chooses for each operation, with auto among all mixes; the
    /// same at all parties [default: what takes the least time by an estimate for the number of parties and the network
    /// of --link or --network; `madrigal model explain` shows it]
    #[arg(long, value_name = "MIX", help_heading = "Work")]
    pub(crate) protocol: Option<Mix>,

    /// Choose only among mixes in which all parties but one may be corrupted: not R, in which one of the three may be;
    /// the same at all parties
    #[arg(long, conflicts_with = "protocol", help_heading = "Work")]
    pub(crate) dishonest_majority: bool,

    /// How numbers are kept: bits, and how many of them are after the point; the same at all parties. What leaves the
    /// range wraps around. Data that does is refused, as far as its owner can see that: where it has the weights too, and
    /// where the model was calibrated, unless other numbers are given here: `madrigal model calibrate` finds numbers that suffice for sample data, and writes them into
    /// the model [default: what the model says, or else 64.16]
    #[arg(long, value_name = "BITS.FRACTION", help_heading = "Work")]
    pub(crate) numbers: Option<NumberArg>,

    /// Check whether a number may have left its range on the way: all parties learn that one bit, and where it is set
    /// there are no results. Each operand of a sum or product is compared with a limit, which costs about as much as two
    /// ReLUs of all of them (`madrigal model explain --check-range`); the same at all parties
    #[arg(long, help_heading = "Work")]
    pub(crate) check_range: bool,

    /// Client that brings the data as share files (--shared-input), instead of party 1; the same at all parties. No party
    /// then sees the data
    #[arg(long, value_name = "CLIENT", value_parser = client, help_heading = "Work")]
    pub(crate) data: Option<String>,

    /// Who gets the results: `all` parties, or parties and clients separated by commas. Clients put theirs together of what
    /// the parties leave (--keep-shares)
    #[arg(
        long,
        value_name = "all|P|CLIENT,...",
        default_value = "1",
        help_heading = "Work"
    )]
    pub(crate) to: Receivers,

    /// Inputs computed at once, the first dimension of the data; needed by a party without data
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub(crate) batch: Option<usize>,

    #[command(flatten, next_help_heading = "Work")]
    pub(crate) sizes: Sizes,

    /// Threads that each party computes with; auto: as many as there are cores for it here, which the parties on this machine
    /// share. Parties may have different numbers: what they do together is planned for the least of them
    #[arg(long, value_name = "auto|N", default_value_t, help_heading = "Work")]
    pub(crate) threads: Threads,

    /// What makes the triples for products of matrices and convolutions; the same at all parties
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        help_heading = "Correlations"
    )]
    pub(crate) matrices: MatricesArg,

    #[command(flatten, next_help_heading = "Correlations")]
    pub(crate) over: Over,

    #[command(flatten)]
    pub(crate) ahead: Ahead,

    #[command(flatten)]
    pub(crate) who: Who,

    /// The data, which party 1 owns: one file for each input of the model, in its order. An array of NumPy's (.npy); a
    /// table with a line of numbers, separated by commas, for each input of the batch (.csv); or an image, grey or of
    /// colours (.png), which a network takes channel by channel or with the channels last. Several images are one batch of a model
    /// with one input
    #[arg(long = "input", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Values")]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Values")]
    pub(crate) pixels: Pixels,

    /// Write the results here, as an array of NumPy's, or a table (.csv); of a model with several outputs, one file for
    /// each, whose name ends with the output's [default: print a line for each row]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Values")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Clients")]
    pub(crate) clients: ClientFlags,

    #[command(flatten)]
    pub(crate) net: Net,

    #[command(flatten, next_help_heading = "Statistics")]
    pub(crate) show: Show,

    /// Write a page that tells of this run: the network with what each layer cost, what ran when, and who saw what.
    /// Neither weights nor data nor results are in it
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath, help_heading = "Statistics")]
    pub(crate) report: Option<PathBuf>,

    /// Compute K times with the same data and report mean, median, standard deviation and extremes; the same at all parties
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = repetitions(), help_heading = "Statistics")]
    pub(crate) repeat: u32,
}

/// How far from zero the numbers of each of a model's inputs may be, as it was calibrated; what are no floats, as far as
/// they like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranges(pub Vec<f64>);

impl Ranges {
    /// Name of the note that has them in a model's file.
    pub(crate) const NOTE: &str = "madrigal.ranges";

    /// Reads the ranges of the model's file, if it has any.
    pub(crate) fn of(model: &Model) -> Result<Option<Self>, String> {
        let Some(note) = model.note(Self::NOTE) else {
            return Ok(None);
        };
        let read = |word: &str| {
            let number = word.parse::<f64>().ok();
            number.filter(|number| *number >= 0.0)
        };
        let ranges: Option<Vec<f64>> = note.split(',').map(read).collect();
        match ranges.filter(|ranges| ranges.len() == model.inputs()) {
            Some(ranges) => Ok(Some(Self(ranges))),
            None => Err(format!(
                "the model's {} are no numbers, one for each of its inputs: calibrate it again",
                Self::NOTE
            )),
        }
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join(","))
    }
}

/// A type of numbers with a fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberArg(pub Type);

impl NumberArg {
    /// Name of the note in a model's file that says which numbers suffice for it.
    pub(crate) const NOTE: &str = "madrigal.numbers";

    /// Gives the numbers of the flag, or else those that the model's file names, or else 64.16.
    pub(crate) fn or_of(given: Option<Self>, model: &Model) -> Result<Type, String> {
        match (given, model.note(Self::NOTE)) {
            (Some(given), _) => Ok(given.0),
            (None, Some(note)) => note.parse().map(|Self(number)| number).map_err(|error| {
                let note = format!("the model's {} are {note:?}: {error}", Self::NOTE);
                format!("{note}; calibrate it again, or give --numbers")
            }),
            (None, None) => Ok(Self::default().0),
        }
    }
}

impl Default for NumberArg {
    fn default() -> Self {
        Self(Type::fixed(64, 16).expect("a type of 64 bits"))
    }
}

impl fmt::Display for NumberArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.bits(), self.0.fraction())
    }
}

impl FromStr for NumberArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('.');
        let parts =
            parts.and_then(|(bits, fraction)| Some((bits.parse().ok()?, fraction.parse().ok()?)));
        let number = parts.and_then(|(bits, fraction): (u32, u32)| {
            // Products have twice as many bits after the point.
            Type::fixed(bits, fraction.checked_mul(2)?)?;
            Type::fixed(bits, fraction)
        });
        number.map(Self).ok_or_else(|| {
            "expected bits (16, 32, 64 or 128) and less than half as many after the point, for example 64.16".to_owned()
        })
    }
}
