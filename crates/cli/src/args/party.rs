//! The flags of the commands that are about one party.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use madrigal_app::flags::{KeyFlags, Net, duration, listen_address};

use super::EXIT_STATUS;

/// Validity of a certificate: any longer one would come near the year 9999, where dates end.
const MAX_DAYS: i64 = 1_000_000;

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Dealer {
    /// The file that lists all parties and the `[dealer]`, the same at every party
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub roster: PathBuf,

    /// Our key and certificate: BASE.key and BASE.crt [default: our name in parties.toml]
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    #[command(flatten)]
    pub key: KeyFlags,

    /// Where to listen [default: the port of our address in parties.toml, on all interfaces]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub listen: Option<String>,

    /// Exit when the parties have left, instead of waiting for the next ones
    #[arg(long)]
    pub once: bool,

    /// Print nothing
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub net: Net,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Keygen {
    /// Base name of the files: BASE.key and BASE.sealing.key (secret, they stay here) and BASE.crt
    #[arg(long, short, value_name = "BASE", default_value = "party", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,

    /// Number of days for which the certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = madrigal_net::identity::DEFAULT_VALIDITY_DAYS, value_parser = clap::value_parser!(u32).range(1..=MAX_DAYS))]
    pub days: u32,

    /// Keep the existing key and write a new certificate; the other parties need not change
    /// anything
    #[arg(long)]
    pub renew: bool,

    /// Make a sealing key alone, BASE.sealing.key: for a client, which receives outputs, or for a party that has the other
    /// files already
    #[arg(long, conflicts_with_all = ["renew", "address"])]
    pub sealing: bool,

    /// Where the other parties reach this one
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "renew")]
    pub address: Option<madrigal_net::roster::Address>,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Doctor {
    /// Also examine the connections to these parties, which must run `madrigal doctor --peers` at
    /// the same time
    #[arg(long, value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub peers: Option<PathBuf>,

    /// Our key and certificate: BASE.key and BASE.crt
    #[arg(long, value_name = "BASE", requires = "peers", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    #[command(flatten)]
    pub key: KeyFlags,

    /// Where to listen [default: the port of our address in parties.toml, on all interfaces]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address, requires = "peers")]
    pub listen: Option<String>,

    /// Wait this long for the other parties
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub connect_timeout: Duration,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
