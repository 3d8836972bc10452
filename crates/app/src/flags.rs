//! The flags of parties and of what is between them, and values of flags that have a form of their own.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use madrigal_engine::MAX_THREADS;
use madrigal_net::Fact;
use madrigal_net::identity::KeyMode;
use madrigal_net::transport::Profile;
use serde::{Deserialize, Serialize};

/// Help of `--network`, which says how the flag changes the links of a run.
pub const SHAPED: &str = "\
Make the links between the parties behave like this network: every message arrives half a round trip \
later, and each direction of each link carries no more than the bandwidth";

/// Meaning of `none` in [`networks`].
pub const UNSHAPED: &str = "the links as they are";

/// The help of a flag that takes a network's profile: `what`, then each name
/// with what it stands for; `none` has a meaning of its own.
pub fn networks(what: &str, none: &str) -> String {
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

/// Flags of the number of parties that costs are told for.
#[derive(Args, Debug)]
pub struct Among {
    /// Number of parties
    #[arg(long, short = 'N', value_name = "N", value_parser = parties, default_value = "2")]
    parties: usize,

    /// Number of parties that all run on this machine
    #[arg(long, value_name = "N", value_parser = parties, conflicts_with = "parties")]
    local: Option<usize>,
}

impl Among {
    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.local.unwrap_or(self.parties)
    }

    /// Tells whether all parties run on one machine.
    pub fn here(&self) -> bool {
        self.local.is_some()
    }

    /// Number of parties that are taken to compute on one machine.
    pub fn on_a_machine(&self) -> usize {
        self.local.unwrap_or(1)
    }
}

/// All parties here, or one real party.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Parties")]
pub struct Who {
    /// Start all N parties on this machine
    #[arg(long, value_name = "N", value_parser = parties, conflicts_with_all = ["party", "roster", "identity", "key_file", "listen"])]
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

    /// Where the key is if it is not such a file.
    #[command(flatten)]
    pub key: KeyFlags,

    /// Where to listen [default: the port of our address in parties.toml, on all interfaces]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub listen: Option<String>,
}

/// Keys that are handed to a party.
#[derive(Args, Debug, Clone, Default)]
pub struct KeyFlags {
    /// Our key alone, from this file or pipe, or fd:N, which is open already; its certificate is made for
    /// this run
    #[arg(long, value_name = "FILE", conflicts_with = "identity", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,

    /// Who may read the file with our key
    #[arg(long, value_name = "WHO", default_value = "private")]
    pub key_mode: KeyModeArg,
}

/// Who may read a key file.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyModeArg {
    /// Its owner alone
    #[default]
    Private,
    /// Others too, but none may write it: secrets of Kubernetes and Docker
    Readable,
}

impl From<KeyModeArg> for KeyMode {
    fn from(mode: KeyModeArg) -> Self {
        match mode {
            KeyModeArg::Private => Self::Private,
            KeyModeArg::Readable => Self::Readable,
        }
    }
}

impl Who {
    /// Number of parties that compute on this machine.
    pub fn here(&self) -> usize {
        self.local.unwrap_or(1)
    }
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

    /// Name of this run, the same at all its parties, and another one for each run that they have at the
    /// same time. Without it, parties compare the addresses in their lists, which then must be the same
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub session: Option<String>,

    /// How long each waits for what.
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
    /// Gives the values that the flags have by default.
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

/// Transports between parties.
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

/// A number of threads of a party.
pub fn threads(text: &str) -> Result<usize, String> {
    let threads: Option<usize> = text.parse().ok();
    threads
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// Numbers of runs of one computation, for its statistics.
pub fn repetitions() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=10_000)
}

/// The fact in which parties that repeat a computation a different number of times differ; none of a computation that is done
/// once.
pub fn repeat_fact(repeat: u32) -> Option<Fact> {
    (repeat > 1).then(|| ("--repeat".to_owned(), repeat.to_string()))
}

/// The facts in which parties differ that give the dimensions of a program other lengths, in an order that does not depend on who
/// gives them.
pub fn length_facts(lengths: impl IntoIterator<Item = (String, usize)>) -> Vec<Fact> {
    let lengths = lengths.into_iter();
    let mut facts: Vec<Fact> = lengths
        .map(|(name, length)| (format!("--dim {name}"), length.to_string()))
        .collect();
    facts.sort();
    facts
}

/// A number of parties.
pub fn parties(text: &str) -> Result<usize, String> {
    let most = madrigal_core::MAX_PARTIES;
    let parties = text.parse().ok().filter(|n| (2..=most).contains(n));
    parties.ok_or_else(|| format!("expected a number of parties, 2 to {most}"))
}

/// An interface, by name or address, and a port.
pub fn listen_address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':');
    let sound = parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if sound {
        return Ok(text.to_owned());
    }
    Err("expected an address and a port, for example 0.0.0.0:7000 or [::]:7000".to_owned())
}

/// A run's name.
pub fn session_name(text: &str) -> Result<String, String> {
    if (1..=64).contains(&text.len()) && !text.chars().any(char::is_control) {
        return Ok(text.to_owned());
    }
    Err("expected a name of 1 to 64 bytes without control characters".to_owned())
}

/// A time such as `500ms`, `10s`, `1.5m`, `1h 30m`; a number alone counts seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim().parse().ok();
    let seconds = match seconds {
        Some(seconds) => Some(seconds).filter(|seconds| seconds.is_finite()),
        None => humantime::parse_duration(text)
            .ok()
            .map(|time| time.as_secs_f64()),
    };
    let Some(seconds) = seconds else {
        return Err(
            "expected a time, for example 500ms, 10s, 2m or 1h; a number alone counts seconds"
                .to_owned(),
        );
    };
    if seconds <= 0.0 {
        return Err("expected a time above zero".to_owned());
    }
    // A year is as good as for ever, and no clock overflows.
    if !(1e-3..=31_536_000.0).contains(&seconds) {
        return Err("expected a time from 1ms to 8760h, which is a year".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}
