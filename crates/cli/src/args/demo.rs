//! The flags of `demo`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{EXIT_STATUS, HexBlock, How, Net, Show, Who};

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Demo {
    /// Encrypt a file with AES-128 in counter mode: party 0 has the key, party 1 has the file, and
    /// only party 1 gets the ciphertext. Without --local or --party, three parties run on this
    /// machine
    AesCtr(Box<AesCtr>),
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct AesCtr {
    /// The file to encrypt; only party 1 reads it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,

    /// Where party 1 writes the ciphertext [default: FILE.enc]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// A file with the key as 32 hexadecimal digits; only party 0 reads it [default with --local:
    /// a random key, which is printed; required with --quiet or --json]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,

    /// First counter block as 32 hexadecimal digits, chosen by party 1 and known to all [default:
    /// random, and printed; required with --quiet or --json]
    #[arg(long, value_name = "HEX")]
    pub iv: Option<HexBlock>,

    #[command(flatten)]
    pub who: Who,

    #[command(flatten)]
    pub how: How,

    #[command(flatten)]
    pub net: Net,

    #[command(flatten)]
    pub show: Show,
}
