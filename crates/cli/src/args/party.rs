//! The flags of parties and of what is between them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use madrigal_net::transport::Profile;
use serde::{Deserialize, Serialize};

use super::EXIT_STATUS;
use super::values::{duration, listen_address, parties};

/// Validity of a certificate: any longer one would come near the year 9999, where dates end.
const MAX_DAYS: i64 = 1_000_000;

/// What `--network` does to the links of a run.
pub(super) const SHAPED: &str = "\
Make the links between the parties behave like this network: every message arrives half a round trip \
later, and each direction of each link carries no more than the bandwidth";

/// And what `none` stands for.
pub(super) const UNSHAPED: &str = "the links as they are";

/// The help of a flag that takes a network's profile: `what`, then each name
/// with what it stands for; `none` has a meaning of its own.
pub(super) fn networks(what: &str, none: &str) -> String {
    let mut known: Vec<Profile> = Vec::new();
    let mut text = format!("{what}:\n");
    let mut line = |name: &str, meaning: &str| text.push_str(&format!("\n  {name:<18} {meaning}"));
    line("none", none);
    // Several papers measured in the same network: its first name will do.
    let named = Profile::presets().filter_map(|(name, _)| Some((name, Profile::parse(name).ok()?)));
    for (name, profile) in named {
        if !known.contains(&profile) {
            line(name, &profile.to_string());
            known.push(profile);
        }
    }
    line(
        "20ms,100Mbps",
        "any round trip and bandwidth, each optional",
    );
    line(
        "..,jitter=1ms",
        "packets may be late by up to this, and overtake each other",
    );
    line("wan/2s/lan", "the one for so long, then the other");
    text
}

/// All parties here, or one real party.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Parties")]
pub struct Who {
    /// Start all N parties on this machine
    #[arg(long, value_name = "N", value_parser = parties, conflicts_with_all = ["party", "roster", "identity", "listen"])]
    pub local: Option<usize>,

    /// Run as party I of --parties
    #[arg(long, value_name = "I", requires = "roster")]
    pub party: Option<usize>,

    /// The file that lists all parties, the same at every party
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath, id = "roster")]
    pub roster: Option<PathBuf>,

    /// Our key and certificate: BASE.key and BASE.crt [default: our name in parties.toml]
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    /// Where to listen [default: the port of our address in parties.toml, on all interfaces]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub listen: Option<String>,
}

/// How the parties reach each other, and how patient they are.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Network")]
pub struct Net {
    /// memory: threads of one process; tcp, tls: one process per party [default: tcp on one machine,
    /// tls between machines]
    #[arg(long, value_name = "KIND")]
    pub transport: Option<TransportArg>,

    /// Allow --transport tcp between machines: anybody on the network can then read and change
    /// everything
    #[arg(long)]
    pub insecure: bool,

    /// Make the links between the parties behave like this network
    #[arg(long, value_name = "PROFILE", default_value = "none", long_help = networks(SHAPED, UNSHAPED))]
    pub network: String,

    #[command(flatten)]
    pub patience: Patience,
}

/// Times after which waiting ends.
#[derive(Args, Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Patience {
    /// End any computation that takes longer than this, for example 90s or 2h. Here and below, a
    /// number without a unit means seconds [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub deadline: Option<Duration>,

    /// Give up on a party that sends nothing at all for this long
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub silence_timeout: Duration,

    /// Give up on a party that is alive but for this long does not send what the computation waits
    /// for
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub stall_timeout: Duration,

    /// Wait this long for the other parties to start
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub connect_timeout: Duration,

    /// Announce another version of the session protocol; for tests.
    #[arg(long, value_name = "V", hide = true)]
    pub test_protocol_version: Option<u32>,
}

impl Default for Patience {
    /// As the flags have it.
    fn default() -> Self {
        Self {
            deadline: None,
            silence_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(30),
            test_protocol_version: None,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Dealer {
    /// The file that lists all parties and the `[dealer]`, the same at every party
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub roster: PathBuf,

    /// Our key and certificate: BASE.key and BASE.crt [default: our name in parties.toml]
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

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
    /// Base name of the files: BASE.key (secret, stays here) and BASE.crt
    #[arg(long, short, value_name = "BASE", default_value = "party", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,

    /// Number of days for which the certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = madrigal_net::identity::DEFAULT_VALIDITY_DAYS, value_parser = clap::value_parser!(u32).range(1..=MAX_DAYS))]
    pub days: u32,

    /// Keep the existing key and write a new certificate; the other parties need not change
    /// anything
    #[arg(long)]
    pub renew: bool,

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

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportArg {
    /// Threads of one process
    Memory,
    /// TCP without encryption or authentication
    Tcp,
    /// TLS 1.3; each side is authenticated by its key
    Tls,
}
