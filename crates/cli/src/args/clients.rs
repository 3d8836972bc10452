//! The flags of the commands for clients, which bring and receive values and compute nothing.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use madrigal_app::flags::KeyModeArg;
use madrigal_program::lower::Mix;
use madrigal_program::{Shape, Type};

use super::EXIT_STATUS;

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Share {
    /// The file that lists the servers, each with its sealing key
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub roster: PathBuf,

    /// Name of the job that the value is for, as its servers call it
    #[arg(long, value_name = "NAME")]
    pub job: String,

    /// Name of the job's input that the value is for
    #[arg(long, value_name = "INPUT")]
    pub name: String,

    /// Type of the elements: bool, u8 to u128, i8 to i128, or with a fixed point fixed(BITS,FRACTION), as in fixed(64,16)
    #[arg(long = "type", value_name = "TYPE")]
    pub element: Type,

    /// Lengths of the axes, as in 4,28,28, or `scalar` for a single element [default: what the file has: of .npy its
    /// shape, of .csv lines and columns, else one axis]
    #[arg(long, value_name = "LENGTHS", value_parser = shape)]
    pub shape: Option<Shape>,

    /// Mix of protocols that the servers compute the job in
    #[arg(long, value_name = "MIX", default_value = "A+B")]
    pub protocol: Mix,

    /// Share the bits of numbers, in the mix's protocol of bits, as `madrigal run` takes inputs of circuits, whose names are
    /// their numbers from 0 on. An input of 1, 8, 16, 32, 64 or 128 bits has an element for each lane, another one a row for
    /// each lane: of u8 where its bits fill bytes, else of bool, the lowest ones first
    #[arg(long)]
    pub bits: bool,

    /// Name of this client: letters, digits, `-`, `_` and `.`
    #[arg(long, value_name = "CLIENT")]
    pub client: String,

    /// The value: an array of numpy.save (.npy), a table (.csv), or a text with commas, spaces or line ends between elements
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,

    /// Directory for one file for each server, INPUT.CLIENT.SERVER.share; created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Combine {
    /// The share of each server, each once, in any order
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Our sealing key, if the shares are sealed: BASE.sealing.key of `madrigal keygen`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,

    /// Who may read the file with our key
    #[arg(long, value_name = "WHO", default_value = "private")]
    pub key_mode: KeyModeArg,

    /// Where the value goes: an array (.npy), or a table of a line for each place along the first axis (any other name)
    /// [default: that table on standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

fn shape(text: &str) -> Result<Shape, String> {
    if text == "scalar" {
        return Ok(Shape::scalar());
    }
    let length = |length: &str| {
        let length = length.trim();
        length
            .parse()
            .map_err(|_| format!("{length:?} is no length"))
    };
    let axes: Vec<usize> = text.split(',').map(length).collect::<Result<_, _>>()?;
    Shape::checked(&axes).ok_or_else(|| "there are 8 axes at most, and 2^40 elements".to_owned())
}
