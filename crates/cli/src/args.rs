//! Every flag of every command: this one definition gives parsing, `--help`, completions and man
//! pages.

mod bench;
mod over;
mod store;
mod values;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use serde::{Deserialize, Serialize};

pub use bench::{Bench, BenchCircuit, BenchOt, BenchR3};
pub use over::Over;
pub use store::{Precompute, StoreCommand, StoreStatus};
pub use values::{HexBlock, InputFile, Receivers, Size};
use values::{duration, lanes, listen_address, parties, party, threads};

/// Shown below `--help` and in the man page: scripts rely on it.
const EXIT_STATUS: &str = "\
Exit status:
  0  the result is right
  1  a fault of this program or machine
  2  wrong usage: a flag or an argument
  3  a given file is missing, malformed, or cannot be written
  4  the network: a party lost, silent, slow, or out of reach
  5  another party: its program, its version, its key, or its behaviour";

/// Validity of a certificate: any longer one would come near the year 9999, where dates end.
const MAX_DAYS: i64 = 1_000_000;

/// Secure multi-party computation: several parties compute on data that none of them shows.
#[derive(Parser, Debug)]
#[command(name = "madrigal", version, after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compute a circuit: all parties on this machine, or as one real party
    Run(Box<Run>),
    /// Show, convert or evaluate a circuit in the clear
    #[command(subcommand)]
    Circuit(Circuit),
    /// Say what a run will cost, before it runs
    Explain(Explain),
    /// Make a party's key and certificate, and print its section of parties.toml
    Keygen(Keygen),
    /// Examine this machine, and with --peers the way to the other parties
    Doctor(Doctor),
    /// Ready-made jobs
    #[command(subcommand)]
    Demo(Demo),
    /// Be the dealer of parties.toml: make correlations for the parties' jobs
    Dealer(Dealer),
    /// Measure known work on this machine
    #[command(subcommand)]
    Bench(Bench),
    /// Make correlations ahead, all parties together, for later runs with --store
    Precompute(Box<Precompute>),
    /// Look after stores that `precompute` has made
    #[command(subcommand)]
    Store(StoreCommand),
    /// Print a completion script for a shell
    #[command(after_help = EXIT_STATUS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages
    #[command(after_help = EXIT_STATUS)]
    Man {
        /// Directory to write them to; it is made if it does not exist
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
    /// One party of a local run; started by `run --local` alone
    #[command(hide = true)]
    Child,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Run {
    #[command(flatten)]
    pub work: Work,

    #[command(flatten)]
    pub who: Who,

    /// Inputs of party P: one line per lane with that party's values as hexadecimal numbers, in
    /// circuit order. With --party, `FILE` alone will do
    #[arg(long = "input", value_name = "P=FILE", help_heading = "Values")]
    pub inputs: Vec<InputFile>,

    /// Write the result here [default: -, standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Values")]
    pub output: Option<PathBuf>,

    /// Take correlations from the store that `madrigal precompute` made, --correlations store; with
    /// --local, party I's is DIR/partyI. Every party needs its own of the same `precompute`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Correlations")]
    pub store: Option<PathBuf>,

    /// The file with the store's key [default: BASE.store-key beside our identity, or DIR.key without
    /// one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store", conflicts_with = "local", help_heading = "Correlations")]
    pub store_key: Option<PathBuf>,

    #[command(flatten)]
    pub net: Net,

    #[command(flatten)]
    pub show: Show,

    /// Compute K times, and report mean, median and standard deviation
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Statistics")]
    pub repeat: u32,
}

/// What is computed, and how: all that the cost depends on.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Work")]
pub struct Work {
    /// Circuit in Bristol or Bristol Fashion format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub circuit: PathBuf,

    #[command(flatten)]
    pub how: How,

    /// Who owns each input value, in circuit order [default: value i belongs to party i mod N]
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = party)]
    pub owners: Option<Vec<usize>>,

    /// Who gets the result: `all`, or parties separated by commas
    #[arg(long, value_name = "all|P,...", default_value = "all")]
    pub to: Receivers,

    /// Number of lanes; needed by a party without inputs
    #[arg(long, value_name = "L", value_parser = lanes())]
    pub lanes: Option<u64>,
}

/// How a circuit is computed.
#[derive(Args, Debug, Clone, Serialize, Deserialize)]
pub struct How {
    /// B: Boolean GMW, all but one of the parties may be corrupted. R: replicated sharing, exactly
    /// three parties, one may be corrupted. Both semi-honest
    #[arg(long, value_name = "LETTER", default_value = "B")]
    pub protocol: ProtocolArg,

    /// Setup before online, or both at once
    #[arg(long, default_value = "auto")]
    pub phases: PhasesArg,

    /// How shares are opened: each to each, or through one party, which saves bytes and
    /// costs a round
    #[arg(long, default_value = "auto")]
    pub broadcast: BroadcastArg,

    /// Where correlations come from: ot needs to trust nobody; dealer is the `[dealer]` of
    /// parties.toml (`madrigal dealer`), who must not work together with any party; store is what
    /// `madrigal precompute` made. Protocol R needs none [default: ot]
    #[arg(long, value_name = "ORIGIN")]
    pub correlations: Option<CorrelationsArg>,

    #[command(flatten)]
    pub over: Over,

    /// Memory that each party's triples may take; it decides where --phases auto interleaves
    #[arg(long, value_name = "SIZE", default_value = "192MiB")]
    pub memory: Size,

    /// Threads that each party computes with; the same number at all parties
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,
}

impl How {
    /// Parties of the session that compute nothing, after those that do: the dealer, if there is one.
    pub fn helpers(&self) -> usize {
        usize::from(self.origin() == CorrelationsArg::Dealer)
    }

    pub fn origin(&self) -> CorrelationsArg {
        self.correlations.unwrap_or(CorrelationsArg::Ot)
    }
}

/// All parties here, or one real party.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Parties")]
pub struct Who {
    /// Start all N parties on this machine
    #[arg(long, value_name = "N", value_parser = parties, conflicts_with_all = ["party", "roster", "identity", "listen"])]
    pub local: Option<usize>,

    /// Be party I of --parties
    #[arg(long, value_name = "I", requires = "roster")]
    pub party: Option<usize>,

    /// The file that lists all parties, the same at each
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

    /// Allow --transport tcp between machines: anybody on the way can read and change everything
    #[arg(long)]
    pub insecure: bool,

    /// Behave like this network: none, lan, wan, motion-aws, motif-lan, motif-shared-lan, motif-wan,
    /// three-party-lan, or a round trip, a bandwidth and what packets overtake each other by, as in
    /// 20ms,100Mbps,jitter=1ms
    #[arg(long, value_name = "PROFILE", default_value = "none")]
    pub network: String,

    #[command(flatten)]
    pub patience: Patience,
}

/// Times after which waiting ends.
#[derive(Args, Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Patience {
    /// End each computation that takes longer than this, for example 90s or 2h; here and below a
    /// number alone counts seconds [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub deadline: Option<Duration>,

    /// Give up a party of whom nothing at all is heard for this long
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub silence_timeout: Duration,

    /// Give up a party that lives but does not send what is awaited for this long
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

/// What is told about a run.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Statistics")]
pub struct Show {
    /// Write statistics as JSON; `-` is standard output and needs --output
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    /// The same as --stats -
    #[arg(long, conflicts_with = "stats")]
    pub json: bool,

    /// Show neither progress nor the table of costs
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Dealer {
    /// The file that lists all parties and the `[dealer]`, the same at each
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub roster: PathBuf,

    /// Our key and certificate: BASE.key and BASE.crt [default: our name in parties.toml]
    #[arg(long, value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub identity: Option<PathBuf>,

    /// Where to listen [default: the port of our address in parties.toml, on all interfaces]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub listen: Option<String>,

    /// End when the parties have left; else wait for the next ones
    #[arg(long)]
    pub once: bool,

    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub net: Net,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Explain {
    #[command(flatten)]
    pub work: Work,

    /// Number of parties
    #[arg(long, short = 'N', visible_alias = "local", value_name = "N", value_parser = parties, default_value = "2")]
    pub parties: usize,

    /// Say what time this network takes at least: none, lan, wan, motion-aws, motif-lan,
    /// motif-shared-lan, motif-wan, three-party-lan, or a round trip and a bandwidth, as in
    /// 20ms,100Mbps
    #[arg(long, value_name = "PROFILE", default_value = "none")]
    pub network: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Keygen {
    /// Base name of the files: BASE.key (secret, stays here) and BASE.crt
    #[arg(long, short, value_name = "BASE", default_value = "party", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,

    /// Days that the certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = madrigal_net::identity::DEFAULT_VALIDITY_DAYS, value_parser = clap::value_parser!(u32).range(1..=MAX_DAYS))]
    pub days: u32,

    /// Keep the key that is there and write a new certificate; other parties change nothing
    #[arg(long)]
    pub renew: bool,

    /// Where the other parties reach this one
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "renew")]
    pub address: Option<madrigal_net::roster::Address>,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Doctor {
    /// Also examine the way to these parties, who run `madrigal doctor --peers` at the same time
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

#[derive(Subcommand, Debug)]
#[command(after_help = EXIT_STATUS)]
pub enum Circuit {
    /// Show what a circuit is made of
    #[command(after_help = EXIT_STATUS)]
    Info {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a circuit in the other format
    #[command(after_help = EXIT_STATUS)]
    Convert {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Format to write
        #[arg(long, value_name = "FORMAT")]
        to: FormatArg,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Evaluate a circuit in the clear, on one machine
    #[command(after_help = EXIT_STATUS)]
    Eval {
        /// Circuit in Bristol or Bristol Fashion format
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// One line per lane with all input values as hexadecimal numbers, in circuit order; for a
        /// circuit that has inputs
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        input: Option<PathBuf>,
        /// Number of lanes [default: the lines of --input, or 1]
        #[arg(long, value_name = "L", value_parser = lanes())]
        lanes: Option<u64>,
        /// Write here [default: -, standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

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

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtocolArg {
    /// Boolean GMW: N parties, all but one may be corrupted (semi-honest)
    #[value(name = "B")]
    B,
    /// Replicated sharing: three parties, one of which may be corrupted (semi-honest)
    #[value(name = "R")]
    R,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CorrelationsArg {
    /// Oblivious transfer between all pairs of parties
    Ot,
    /// A trusted dealer
    Dealer,
    /// Stores made ahead, see --store
    Store,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatricesArg {
    /// Encryption that adds, by lattices: few bytes; elements of 128 bits by OT all the same
    Lattice,
    /// Oblivious transfer
    Ot,
}

impl fmt::Display for MatricesArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lattice => "lattice",
            Self::Ot => "ot",
        })
    }
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhasesArg {
    /// The engine chooses
    Auto,
    /// Setup is complete before inputs are used
    Sequential,
    /// Setup and online overlap
    Interleaved,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BroadcastArg {
    /// As it suits; today always direct
    Auto,
    /// Each party sends to each
    Direct,
    /// Through one party, which sends the sum back
    Relay,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportArg {
    /// Threads of one process
    Memory,
    /// TCP without protection
    Tcp,
    /// TLS 1.3, both sides known by their keys
    Tls,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatArg {
    /// The old format: two inputs, one output
    Bristol,
    /// Bristol Fashion
    BristolFashion,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    fn help_of(path: &[&str]) -> String {
        let mut command = Cli::command();
        for name in path {
            command = command.find_subcommand(name).unwrap().clone();
        }
        command.render_long_help().to_string()
    }

    #[test]
    fn every_help_tells_the_exit_statuses() {
        fn check(command: &clap::Command, path: &str) {
            for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
                let path = format!("{path} {}", one.get_name());
                let help = one.clone().render_help().to_string();
                assert!(help.contains("Exit status"), "{path}");
                check(one, &path);
            }
        }
        check(&Cli::command(), "madrigal");
    }

    /// Of several names of one network, the first will do.
    #[test]
    fn networks_are_named_where_they_are_asked_for() {
        use madrigal_net::transport::Profile;
        for path in [&["run"][..], &["explain"], &["bench", "aes"]] {
            let help = help_of(path);
            for (name, _) in Profile::presets() {
                let same = |known: &str| Profile::parse(known) == Profile::parse(name);
                let mut known = Profile::presets().map(|(name, _)| name);
                let told = known.any(|known| same(known) && help.contains(known));
                assert!(told, "{name} is not in the help of {path:?}");
            }
        }
    }
}
