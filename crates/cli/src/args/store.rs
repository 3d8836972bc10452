//! The flags of `precompute` and `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use madrigal_correlations::Needs;

use super::{EXIT_STATUS, Net, Over, StoreMatricesArg, Who};
use madrigal_app::threads::Threads;

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Precompute {
    /// How many to make of each kind: bits, u8 to u128, squares-u64, shared-u64, vectors-LENGTH,
    /// matrix-u64-ROWSxINNERxCOLUMNS. The suffixes k, M and G stand for thousands, millions and
    /// billions
    #[arg(long, value_name = "KIND=COUNT,...")]
    pub triples: Needs,

    /// New directory for this party's store; with --local, party I's store is DIR/partyI
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: PathBuf,

    /// The file with the store's key, created if it does not exist [default: BASE.store-key next
    /// to our identity, or DIR.key if there is no identity]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "local")]
    pub store_key: Option<PathBuf>,

    #[command(flatten)]
    pub over: Over,

    /// How triples of matrices and convolutions are made; the same at all parties
    #[arg(long, value_name = "HOW", default_value = "lattice")]
    pub matrices: StoreMatricesArg,

    /// Threads that each party computes with; auto: as many as there are cores for it here, which the parties on this machine
    /// share. Parties may have different numbers: what they do together is planned for the least of them
    #[arg(long, value_name = "auto|N", default_value_t)]
    pub threads: Threads,

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

    /// Our identity; the store's key is next to it, in BASE.store-key
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    /// Read the whole store to check that it is intact
    #[arg(long)]
    pub verify: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
