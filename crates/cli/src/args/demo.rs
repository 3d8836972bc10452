//! The flags of `demo`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{EXIT_STATUS, HexBlock, How, Net, Show, Who};

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Demo {
    /// Encrypt a file with AES-128 in counter mode: party 0 has the key, party 1 has the file and
    /// alone gets the ciphertext. Without --local or --party, three parties run on this machine
    AesCtr(Box<AesCtr>),
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct AesCtr {
    /// The file to encrypt; read by party 1 alone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,

    /// Where party 1 writes the ciphertext [default: FILE.enc]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// A file with the key as 32 hexadecimal digits; read by party 0 alone [default with --local:
    /// a random key, which is printed; with --quiet or --json there must be one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,

    /// First counter block as 32 hexadecimal digits, chosen by party 1, known to all [default:
    /// random, and printed; with --quiet or --json there must be one]
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
