//! The flags of each benchmark.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueHint};
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::flags::{SHAPED, UNSHAPED, networks, parties, threads};
use madrigal_operations::{Ands, Conversion, Gates, Variants};
use parse_size::ByteSuffix;

pub use madrigal_app::flags::{Patience, TransportArg};
pub use madrigal_app::jobs::flags::{
    CorrelationsArg, How, PhasesArg, ProtocolArg, StoreMatricesArg,
};
pub use madrigal_app::memory::MemoryArg;
pub use madrigal_app::over::Over;

/// Benchmarks of Madrigal on this machine
#[derive(Parser, Debug)]
#[command(name = "madrigal-lab", version, after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub bench: Bench,
}

#[derive(Subcommand, Debug)]
pub enum Bench {
    /// AES-128: one block per lane
    Aes(Box<BenchCircuit>),
    /// SHA-256: one compression per lane
    Sha256(Box<BenchCircuit>),
    /// Oblivious transfers and the correlations made of them
    Ot(BenchOt),
    /// Garbled circuits: AND gates garbled and evaluated, on one thread
    Garbling(BenchGarbling),
    /// Three parties with an honest majority (protocol R), over memory, TCP and TLS
    R3(BenchR3),
    /// Programs on typed secrets: products, conversions, comparisons, matching
    Programs(BenchPrograms),
    /// What networks are made of: ReLU, softmax, GELU, roots, in several mixes of protocols
    Tensors(BenchTensors),
    /// Circuits with secret branches: all branches computed, and the ways to share their cost
    Branches(BenchBranches),
    /// Tables and figures of the papers, ours beside theirs
    Paper(BenchPaper),
    /// Jobs over lines with latency: against what the line and computing alone take, and against what
    /// `explain` expects
    Lines(BenchLines),
    /// Tables of secret rows: shuffled, sorted, joined, grouped
    Tables(BenchTables),
    /// Lists of two parties, or of more, matched
    Psi(BenchPsi),
    /// A process of `psi`, which starts it.
    #[command(hide = true, after_help = EXIT_STATUS)]
    PsiParty,
    /// A service of three servers under load: requests to a key server, values that are summed, images for a network that the servers hold
    Serve(BenchServe),
    /// A server of `serve`, which starts it.
    #[command(hide = true, after_help = EXIT_STATUS)]
    ServeParty {
        /// The service's file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// A process that attacks a server of `serve`, which starts it.
    #[command(hide = true, after_help = EXIT_STATUS)]
    ServeFlood {
        /// The clients' file
        #[arg(long, value_name = "FILE")]
        service: PathBuf,

        /// Number of the server
        #[arg(long, value_name = "N")]
        server: usize,

        /// Kind of attack
        #[arg(long, value_name = "KIND")]
        attack: Attack,
    },
    /// How work scales with the threads of a party: time, processor time, memory and bytes
    Scaling(BenchScaling),
    /// A process of `scaling`, which starts it.
    #[command(hide = true, after_help = EXIT_STATUS)]
    ScalingParty,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS, mut_arg("threads", |threads| threads.default_value("1")))]
pub struct BenchCircuit {
    /// Number of parties
    #[arg(long, short = 'N', value_name = "N", value_parser = parties, default_value = "2")]
    pub parties: usize,

    /// Number of lanes
    #[arg(long, value_name = "L", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub lanes: u64,

    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// memory: threads of one process; tcp, tls: one process per party
    #[arg(long, value_name = "KIND", default_value = "tcp")]
    pub transport: TransportArg,

    /// Make the links between the parties behave like this network
    #[arg(long, value_name = "PROFILE", default_value = "none", long_help = networks(SHAPED, UNSHAPED))]
    pub network: String,

    #[command(flatten)]
    pub how: How,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchOt {
    /// OTs per run, for example 500k or 10M; correlations are made from about as many
    #[arg(long, value_name = "COUNT", default_value = "10M")]
    pub count: Count,

    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example rot/ or softspoken2; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchGarbling {
    /// ANDs per run, for example 500k or 20M
    #[arg(long, value_name = "COUNT", default_value = "20M")]
    pub count: Count,

    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example half/ or aes1; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchR3 {
    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example and/ or /tls; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Instead measure AES-128 under growing load, from one lane up; write throughput.svg,
    /// latency.svg and, for several --threads, scaling.svg to this directory, which is created if
    /// it does not exist
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "only")]
    pub plots: Option<std::path::PathBuf>,

    /// Threads that each party computes with; given several numbers, each is measured
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads, default_value = "1")]
    pub threads: Vec<usize>,

    /// Scale the size of every run by this factor, for example 0.1
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

/// What `madrigal-lab programs` has without `--network`.
const BY_DEFAULT: &str = "By default none, for figure1 40ms.";

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchPrograms {
    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example mul/ or n3; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Threads that each party computes with
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    /// What the parties, each a thread of this process, talk over
    #[arg(long, value_name = "KIND", default_value = "tcp")]
    pub transport: TransportArg,

    /// Make the links between the parties behave like this network [default: none; for figure1
    /// 40ms]
    #[arg(long, value_name = "PROFILE", long_help = networks(&format!("{BY_DEFAULT} {SHAPED}"), UNSHAPED))]
    pub network: Option<String>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchTensors {
    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example relu/ or alpha+beta; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Threads that each party computes with
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    /// What the parties, each a thread of this process, talk over
    #[arg(long, value_name = "KIND", default_value = "tcp")]
    pub transport: TransportArg,

    /// Make the links between the parties behave like this network [default: none]
    #[arg(long, value_name = "PROFILE", long_help = networks(SHAPED, UNSHAPED))]
    pub network: Option<String>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchBranches {
    /// Numbers of branches
    #[arg(long, value_name = "B,..", value_delimiter = ',', default_value = "2,4,8,16,32", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub branches: Vec<u16>,

    /// Number of parties
    #[arg(long, short = 'N', value_name = "N", value_parser = parties, default_value = "2")]
    pub parties: usize,

    /// OT extension: iknp, as the papers count, softspoken2 to softspoken8, or silent
    #[arg(long, value_name = "NAME", default_value = "iknp")]
    pub extension: madrigal_correlations_make::Extension,

    /// ANDs of each branch, and as many XORs
    #[arg(long, value_name = "COUNT", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub ands: u32,

    /// Layers of each branch
    #[arg(long, value_name = "LAYERS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub layers: u32,

    /// Measure branches of so many products of 32-bit numbers in A instead, of which rings/all computes all and
    /// multiplexes, rings/one and rings/two-rounds share the cost
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub products: Option<u32>,

    /// Lanes: evaluations side by side, each with an active branch of its own
    #[arg(long, value_name = "L", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub lanes: u32,

    /// What the circuits are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Number of runs; the median is reported
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example masked/ or b16; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// What the parties, each a thread of this process, talk over
    #[arg(long, value_name = "KIND", default_value = "tcp")]
    pub transport: TransportArg,

    /// Make the links between the parties behave like this network: the papers' lan (1 Gbit/s, 2 ms
    /// round trip), shared-lan (50 Mbit/s, 2 ms) or wan (100 Mbit/s, 20 ms), or as for other commands,
    /// for example 40ms,100Mbps
    #[arg(long, value_name = "PROFILE")]
    pub network: Option<String>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

/// What `madrigal-lab paper` says of its rows.
const PAPERS: &str = "Each row stands beside what the papers report of it, and is run at every network and number of \
    parties that the paper has, unless -N or --network name others. Rows that would take longer than --limit, or more than \
    this machine has, are printed with the reason. A flag that a table or figure has no use for is refused.";

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS, after_long_help = format!("{PAPERS}\n\n{EXIT_STATUS}"),
    group = clap::ArgGroup::new("what").required(true))]
pub struct BenchPaper {
    /// Which figure. Of MOTIF: 5 to 7 (branches that compare strings). Of Masked Triples: 8 to 12 (random branches). Of
    /// Araki and others: 4 and 5 (AES-128 on more and more cores)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(4..=12),
        group = "what")]
    pub figure: Option<u8>,

    /// Which table. Of MOTION: 2 (OTs), 3 (biometric matching), 4 (AES-128, SHA-256), 5 (CryptoNets), 6 (costs), 7
    /// (operations and conversions) or 8 (integers). Of MOTION2NX: 1 (CryptoNets), 2 (MiniONN's network for MNIST) or 3
    /// (that for CIFAR-10). Of Araki and others: 2 (AES-128). Rows that begin with gates/ are of circuits of single gates,
    /// as HyCC compiles them
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=8), group = "what")]
    pub table: Option<u8>,

    /// Whose table or figure, where several have one of this number [default: the first of these that has one]
    #[arg(long, value_name = "PAPER")]
    pub of: Option<PaperArg>,

    /// Print the rows and what the papers report of them, and run nothing
    #[arg(long)]
    pub list: bool,

    /// Only rows that have this text in their name, for example MUL or ^Y; may be repeated
    #[arg(long, value_name = "SUBSTRING")]
    pub only: Vec<String>,

    /// The parties, one number or several [default: those of the paper]
    #[arg(long, short = 'N', value_name = "N,...", value_delimiter = ',', value_parser = parties)]
    pub parties: Vec<usize>,

    /// The network, as for other commands; may be repeated [default: those of the paper]
    #[arg(long, value_name = "PROFILE")]
    pub network: Vec<String>,

    /// Number of runs [default: 3; of Araki and others 5, as in the paper]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: Option<u32>,

    /// Do not run a row of which one run is expected to take more seconds than this [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub limit: Option<f64>,

    /// Scale the number of operations side by side by this factor, for example 0.01; times are of one operation
    #[arg(long, value_name = "FACTOR", value_parser = scale)]
    pub scale: Option<f64>,

    /// Random circuits that are drawn for each number of branches [default: 100, as in the paper; where they are timed, 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub circuits: Option<u32>,

    /// How MOTIF's ANDs of several branches are put into layers [default: aligned]
    #[arg(long, value_name = "HOW")]
    pub merging: Option<MergingArg>,

    /// Correlations of ANDs in B: triples, or OTs made before, as the paper has beside them [default: triples]
    #[arg(long, value_name = "WHAT")]
    pub ands: Option<AndsArg>,

    /// Correlated OTs of an AND in Y: two and one for each input, or three, as in the variant that the paper begins with
    /// [default: two-ots]
    #[arg(long, value_name = "HOW")]
    pub gates: Option<GatesArg>,

    /// From B to Y: as chosen, or share by share, which the paper improves upon [default: chosen]
    #[arg(long, value_name = "HOW")]
    pub to_garbled: Option<ConversionArg>,

    /// From B to A: as chosen, or by a masked subtraction in B, which the paper improves upon [default: chosen]
    #[arg(long, value_name = "HOW")]
    pub to_numbers: Option<ConversionArg>,

    /// Model for a network's row, in place of one with random weights
    #[arg(long, value_name = "FILE.onnx", value_hint = clap::ValueHint::FilePath)]
    pub model: Option<std::path::PathBuf>,

    /// Of a figure: write a plot, figureNUMBER.svg, to this directory, which is created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "figure")]
    pub plots: Option<std::path::PathBuf>,

    /// Print JSON: one object per line for each quantity of a row
    #[arg(long)]
    pub json: bool,
}

impl BenchPaper {
    /// Runs without `--repeat`.
    pub const REPEAT: u32 = 3;
    /// Seconds without `--limit`.
    pub const LIMIT: f64 = 60.0;
    /// Parties without `--parties`, where the paper has any number.
    pub const PARTIES: usize = 3;

    /// Gives the ways in which operations are done.
    pub fn variants(&self) -> Variants {
        let conversion = |arg: Option<ConversionArg>| match arg {
            Some(ConversionArg::Naive) => Conversion::Naive,
            Some(ConversionArg::Chosen) | None => Conversion::Chosen,
        };
        Variants {
            ands: match self.ands {
                Some(AndsArg::Ots) => Ands::Ots,
                Some(AndsArg::Triples) | None => Ands::Triples,
            },
            gates: match self.gates {
                Some(GatesArg::ThreeOts) => Gates::ThreeOts,
                Some(GatesArg::TwoOts) | None => Gates::TwoOts,
            },
            to_garbled: conversion(self.to_garbled),
            to_numbers: conversion(self.to_numbers),
        }
    }
}

/// Correlations of ANDs in B.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum AndsArg {
    /// Triples of bits
    Triples,
    /// Correlated OTs made before, in one round
    Ots,
}

/// Correlated OTs of an AND in Y.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatesArg {
    /// Two, and one for each input
    TwoOts,
    /// Three
    ThreeOts,
}

/// How values go from one sharing to another.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversionArg {
    /// The way that is taken without this flag
    Chosen,
    /// The straightforward way
    Naive,
}

/// A paper with tables or figures.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperArg {
    /// N parties, mixed protocols
    Motion,
    /// Two parties, networks
    Motion2nx,
    /// Branches by products of vectors
    Motif,
    /// Branches by triples used again
    MaskedTriples,
    /// Three parties, honest majority
    Araki,
}

/// How ANDs of several branches become one.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergingArg {
    /// ANDs are put into the layers where those of other branches are
    Aligned,
    /// ANDs of equal depth are merged, as in MOTIF
    Depth,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchLines {
    /// Number of runs of each kind; the median is reported
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Measure only what has this text in its name, for example far/n3 or silent; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Leave out what has this text in its name; several are
    /// separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub except: Vec<String>,

    /// Scale the size of every job by this factor, for example 0.1; the limits are meant for 1
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,

    /// Draw the five lines by chance from this number [default: a new one, which is told]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

/// Sentences of `madrigal-lab scaling` about its rows.
const SCALING: &str = "Each run is a set of fresh processes, and runs of different numbers of threads take turns. Where the \
    parties have more threads than the machine has cores, wall time tells little of scaling: `busiest`, the processor time of \
    the thread that works most, tells how the work is shared out even so. With --ceiling, `of ceiling` is the part of the gain \
    that is reached of work whose threads share nothing but the machine: as many copies of the row's work as a party has \
    threads, each with one thread of each party, from the start of all to the end of the slowest.";

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS, after_long_help = format!("{SCALING}\n\n{EXIT_STATUS}"))]
pub struct BenchScaling {
    /// Threads that each party computes with; each number is measured [default: powers of two up to
    /// the cores that a party has]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,

    /// Measure only what has this text in its name, for example cifar/ or /R; several are separated
    /// by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Number of runs for each number of threads; the median, the least and the most are reported
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// memory: all parties in one process; tcp, tls: one process per party
    #[arg(long, value_name = "KIND", default_value = "tls")]
    pub transport: TransportArg,

    /// Scale the size of every run by this factor, for example 0.1
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,

    /// Measure, too, what copies of the work with one thread each gain that run at the same time, one for
    /// each thread of a party: the most that this machine allows
    #[arg(long)]
    pub ceiling: bool,

    /// Write speed-up.svg, work.svg and memory.svg to this directory, which is created if it does not
    /// exist
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub plots: Option<std::path::PathBuf>,

    /// Print JSON: one object per line for each name and number of threads
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchTables {
    /// Number of rows; of each table that is joined
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1 << 26))]
    pub rows: u64,

    /// Measure only what has this text in its name, for example /r3 or sort; several are separated by
    /// commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// memory: all parties in one process; tcp, tls: one process per party
    #[arg(long, value_name = "KIND", default_value = "tls")]
    pub transport: TransportArg,

    /// Threads that each party computes with
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    /// Number of runs; the median, the least and the most are reported
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

/// Attacks on servers of a service.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq)]
pub enum Attack {
    /// Ten thousand connections to each server that say nothing after their greeting
    Idle,
    /// Connections that send a byte at a time
    Slow,
    /// Connections that end after their handshake
    Strangers,
    /// Large submissions without an end
    Endless,
}

impl std::fmt::Display for Attack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Idle => "idle",
            Self::Slow => "slow",
            Self::Strangers => "strangers",
            Self::Endless => "endless",
        })
    }
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchServe {
    /// Measure only what has this text in its name: logins (requests to a key server), sums (values of many clients), inference (images for a network
    /// that the servers hold), soak (jobs of
    /// several kinds), calm (a few clients), and these clients under an attack: under-idle, under-slow, under-strangers,
    /// under-endless; several are separated by commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Seconds of load
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,

    /// Connections of clients to each server
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub connections: u32,

    /// Requests of each connection in flight at once
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub in_flight: u32,

    /// Submissions after which a row ends, also before its time is over [default: no end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub submissions: Option<u64>,

    /// Requests a second of all connections together [default: as many as there is room for]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,

    /// Jobs of a soak
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..))]
    pub jobs: u64,

    /// Threads that each server computes with; given several numbers, each is measured
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads, default_value = "1")]
    pub threads: Vec<usize>,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct BenchPsi {
    /// Number of keys of each list, a half of them in both
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=640_000_000))]
    pub items: u64,

    /// Number of parties. From three on, keys that all have are measured (prf-r of three, prf-b), in place of what two can ask
    #[arg(long, short = 'N', value_name = "N", value_parser = parties, default_value = "2")]
    pub parties: usize,

    /// Measure only what has this text in its name, for example rr; several are separated by
    /// commas
    #[arg(long, value_name = "SUBSTRING,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// tcp, tls: the protection of the link between any two processes
    #[arg(long, value_name = "KIND", default_value = "tls")]
    pub transport: TransportArg,

    /// Make the link between the parties behave like this network
    #[arg(long, value_name = "PROFILE", default_value = "none", long_help = networks(SHAPED, UNSHAPED))]
    pub network: String,

    /// Threads that each party computes with
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    /// Memory for the digests of each party's list in megabytes; beyond it they go to a file
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    pub memory: u64,

    /// Directory for the lists, with room for some 110 bytes a key [default: that of temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,

    /// Number of runs; the median, the least and the most are reported
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Print JSON: one object per line for each name
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    seconds
        .filter(|seconds| (0.0..=1e6).contains(seconds))
        .ok_or_else(|| "expected seconds, for example 60".to_owned())
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: Option<f64> = text.parse().ok();
    let fits = |scale: &f64| (1e-6..=100.0).contains(scale);
    scale
        .filter(fits)
        .ok_or_else(|| "expected a factor from 0.000001 to 100".to_owned())
}

/// A number of things, also with a decimal suffix: `10M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub usize);

impl Count {
    const MOST: u64 = 1 << 30;
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Counts are no bytes: k is a thousand, and there is no B.
        let count = parse_size::Config::new()
            .with_byte_suffix(ByteSuffix::Deny)
            .parse_size(text);
        count
            .ok()
            .filter(|count| (1..=Self::MOST).contains(count))
            .and_then(|count| usize::try_from(count).ok())
            .map(Self)
            .ok_or_else(|| "expected a number from 1 to 2^30, for example 500k or 10M".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use madrigal_net::transport::Profile;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_tells_the_exit_statuses_and_networks_are_named() {
        for mut one in Cli::command().get_subcommands().cloned() {
            let help = one.render_long_help().to_string();
            assert!(help.contains("Exit status"), "{}", one.get_name());
            if one.get_name() != "aes" {
                continue;
            }
            for (name, _) in Profile::presets() {
                let profile = Profile::parse(name).unwrap().to_string();
                assert!(help.contains(&profile), "{name}");
            }
        }
    }

    #[test]
    fn counts_have_suffixes() {
        let of = |text: &str| text.parse::<Count>().map(|count| count.0);
        assert_eq!(of("17"), Ok(17));
        assert_eq!(of("20k"), Ok(20_000));
        assert_eq!(of("10M"), Ok(10_000_000));
        assert_eq!(of("1G"), Ok(1_000_000_000));
        assert_eq!(of("1.5M"), Ok(1_500_000));
        for wrong in ["", "0", "-1", "2G", "10MiB", "10MB", "99999999999999999999"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
