//! The flags of `submit`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};

use super::EXIT_STATUS;

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Submit {
    /// The servers, and who we are: [[servers]] with name, address and key each, as [[party]] in parties.toml; `identity` or `token-file`
    #[arg(long, value_name = "service-client.toml", value_hint = ValueHint::FilePath)]
    pub service: PathBuf,

    /// Kind of jobs; without any, the kinds of the service are listed
    #[arg(long, value_name = "KIND")]
    pub job: Option<String>,

    /// A value for an input: an array of numpy.save (.npy), a table (.csv), or a text with commas, spaces or line ends between elements
    #[arg(long = "input", value_name = "NAME=FILE", requires = "job")]
    pub inputs: Vec<NamedFile>,

    /// Our name: letters, digits, `-`, `_` and `.` [default: that of service-client.toml, else `anonymous`]
    #[arg(long, value_name = "CLIENT")]
    pub client: Option<String>,

    /// Make a submission of each place along the first axis of the inputs, for clients CLIENT-0, CLIENT-1, ...
    #[arg(long, requires = "inputs", conflicts_with_all = ["wait", "receipt", "outputs"])]
    pub each: bool,

    /// With --each: the most submissions that are under way at once
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "each")]
    pub at_once: u32,

    /// File for the servers' receipts, by which one comes back for the result. While the submission is under way, FILE.pending holds what it takes to
    /// go on with it after a crash
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub receipt: Option<PathBuf>,

    /// Wait for the job, and show its outputs that are for us
    #[arg(long)]
    pub wait: bool,

    /// File for an output, as an array (.npy), or a table of a line for each place along the first axis (any other name); waits for the job
    #[arg(long = "output", value_name = "NAME=FILE")]
    pub outputs: Vec<NamedFile>,

    /// Come back with the receipts of an earlier submission: show its state or, with --wait, its outputs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "receipt", "job"], value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,

    /// Get the outputs that are for us of the jobs of a kind, as one who brings nothing: of the first batch after this one that is done, for which
    /// we wait; 0 for the first that the servers still have
    #[arg(long, value_name = "BATCH", requires = "job", conflicts_with_all = ["inputs", "from", "each", "receipt"])]
    pub after: Option<u64>,

    /// File for the servers' receipts of the job: what was computed of how many submissions, and for whom. Anybody who has the list of servers can
    /// check them with --check-receipt; waits for the job
    #[arg(long, value_name = "FILE", conflicts_with = "each", value_hint = ValueHint::FilePath)]
    pub job_receipt: Option<PathBuf>,

    /// Check the servers' signatures in a file that --receipt or --job-receipt wrote, say what they have signed, and connect to nobody
    #[arg(long, value_name = "FILE", conflicts_with_all = ["job", "from", "token_lines", "job_receipt", "receipt"], value_hint = ValueHint::FilePath)]
    pub check_receipt: Option<PathBuf>,

    /// Print the lines for the servers' files by which each knows our token, and connect to nobody
    #[arg(long, conflicts_with_all = ["job", "from"])]
    pub token_lines: bool,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Print nothing but results
    #[arg(long, short)]
    pub quiet: bool,
}

/// `NAME=FILE`
#[derive(Debug, Clone)]
pub struct NamedFile {
    pub name: String,
    pub file: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok(Self {
                name: name.to_owned(),
                file: file.into(),
            }),
            _ => Err("expected NAME=FILE, for example age=age.txt".to_owned()),
        }
    }
}
