//! Flags of the command `serve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use madrigal_app::failure::EXIT_STATUS;

/// `madrigal serve`
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Serve {
    /// The service's file: who this server is, where it listens, and the kinds of jobs that it does (docs/SERVICE.md)
    #[arg(long, value_name = "service.toml", value_hint = ValueHint::FilePath, required_unless_present = "local")]
    pub config: Option<PathBuf>,

    /// Read the service's file, the key and the program of each kind, say what there is, and start nothing
    #[arg(long, requires = "config")]
    pub check: bool,

    /// Ask the server of this file, which runs on this machine, for its health, by the address that the file has as `operation`; end with status 0 if it is so and
    /// with 1 if not, or if nobody answers within four seconds
    #[arg(long, value_name = "WHAT", requires = "config", conflicts_with = "check", num_args = 0..=1, require_equals = true, default_missing_value = "ready")]
    pub health: Option<HealthArg>,

    /// With --check or --health: print as JSON
    #[arg(long, requires = "config")]
    pub json: bool,

    /// Run a service of this many servers on this machine, each a process, with keys and files made for it
    #[arg(long, value_name = "N", conflicts_with = "config", value_parser = clap::value_parser!(u8).range(2..=8), requires = "of-local")]
    pub local: Option<u8>,

    /// Service that --local runs, of those that this program brings along
    #[arg(long, value_name = "NAME", requires = "local", group = "of-local")]
    pub demo: Option<DemoArg>,

    /// Program of the service that --local runs: a file that Python's `save`, or Rust's, has written. The client whose inputs have its dimension brings
    /// submissions, others load what the servers hold, and each who gets outputs or loads has a file and a token of its own
    #[arg(long, value_name = "FILE", requires = "local", group = "of-local", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,

    /// Directory of the service that --local runs; one that was made before goes on [default: a directory that is removed in the end]
    #[arg(long, value_name = "DIR", requires = "local", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// Questions about a server's health.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthArg {
    /// The server can do all that it is there for; else each reason why not is printed. Often the reason is another server
    Ready,
    /// The server listens: one that does not may be started again
    Alive,
}

/// Services that `--local` can run.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoArg {
    /// Ages of members: their sum, the least, the greatest, and how many are below 20, 40, 60 and 80; an analyst learns them
    Statistics,
    /// A key server of three: blocks of clients are encrypted under a key that no server has (docs/KEYSERVER.md)
    Keys,
    /// Sealed bids: an auctioneer alone learns the paddle of the highest one and the price, which is the second highest
    Auction,
    /// A network for digits whose weights an owner loads once, and images of a member, who learns the scores of each
    Inference,
}
