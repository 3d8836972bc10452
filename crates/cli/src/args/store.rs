//! The flags of `precompute` and `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use madrigal_correlations::Needs;
use serde::{Deserialize, Serialize};

use super::values::threads;
use super::{EXIT_STATUS, Net, Over, Who};

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Precompute {
    /// How many of each kind: bits, u8 to u128, squares-u64, shared-u64, vectors-LENGTH,
    /// matrix-u64-ROWSxINNERxCOLUMNS; k, M and G stand for thousands, millions and billions
    #[arg(long, value_name = "KIND=COUNT,...")]
    pub triples: Needs,

    /// New directory of this party's store; with --local, party I's is DIR/partyI
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: PathBuf,

    /// The file with the store's key, made if it does not exist [default: BASE.store-key beside our
    /// identity, or DIR.key without one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "local")]
    pub store_key: Option<PathBuf>,

    #[command(flatten)]
    pub over: Over,

    /// How matrix triples are made; the same at all parties
    #[arg(long, value_name = "HOW", default_value = "lattice")]
    pub matrices: MatricesArg,

    /// Threads that each party computes with; the same number at all parties
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    #[command(flatten)]
    pub who: Who,

    #[command(flatten)]
    pub net: Net,

    /// Show neither progress nor what was made
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum StoreCommand {
    /// Show what a store holds and how much of it is used
    Status(StoreStatus),
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct StoreStatus {
    /// The directory
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: PathBuf,

    /// The file with the store's key [default: DIR.key]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "identity")]
    pub store_key: Option<PathBuf>,

    /// Our identity, beside which the key is: BASE.store-key
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    /// Read everything, to see whether it is whole
    #[arg(long)]
    pub verify: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatricesArg {
    /// Additively homomorphic encryption from lattices: few bytes. Elements of 128 bits are made by
    /// OT all the same
    Lattice,
    /// Oblivious transfer
    Ot,
}
