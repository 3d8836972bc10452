//! The flags of what computes a circuit: `run`, and `explain`, which says before what it takes.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};
use madrigal_app::clients::ClientFlags;
use madrigal_app::flags::{networks, repetitions};
use madrigal_app::holders::HolderArg;
use madrigal_hycc::Sharing;
use madrigal_operations::{BACKENDS, Backend};

use super::values::lanes;
use super::{
    Among, BranchesArg, EXIT_STATUS, How, InputFile, MemoryArg, Net, ProtocolArg, Receivers, Show,
    Who,
};

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct RunFlags {
    #[command(flatten)]
    pub work: ComputationFlags,

    #[command(flatten)]
    pub who: Who,

    /// Inputs of party P: one line per lane with that party's values as hexadecimal numbers, in
    /// circuit order. With --party, `FILE` alone is enough. With --hycc also NAME=VALUE, or NAME=@FILE;
    /// others on this machine can see what stands on the command line
    #[arg(long = "input", value_name = "P=FILE", help_heading = "Values")]
    pub inputs: Vec<InputFile>,

    /// Write the result here [default: -, standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Values")]
    pub output: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Clients")]
    pub clients: ClientFlags,

    /// Take correlations from the store that `madrigal precompute` made; implies --correlations
    /// store. With --local, party I's store is DIR/partyI. Every party needs its own store, from
    /// the same `precompute`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "hycc", help_heading = "Correlations")]
    pub store: Option<PathBuf>,

    /// The file with the store's key [default: BASE.store-key next to our identity, or DIR.key if
    /// there is no identity]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store", conflicts_with = "local", help_heading = "Correlations")]
    pub store_key: Option<PathBuf>,

    #[command(flatten)]
    pub net: Net,

    #[command(flatten)]
    pub show: Show,

    /// Compute K times and report mean, median, standard deviation and extremes; the same at all parties
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = repetitions(), help_heading = "Statistics")]
    pub repeat: u32,
}

/// Flags of what is computed and how: all that the cost depends on.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Work")]
pub struct ComputationFlags {
    /// Circuit in Bristol, Bristol Fashion or ABY format, or with branches
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "hycc")]
    pub circuit: Option<PathBuf>,

    #[command(flatten)]
    pub hycc: Hycc,

    #[command(flatten)]
    pub how: How,

    /// Take the circuit's input bits as values of these widths, in order, instead of the file's: files of ABY have the
    /// inputs of both parties as one value; the same at all parties
    #[arg(
        long,
        value_name = "BITS,...",
        value_delimiter = ',',
        conflicts_with = "hycc"
    )]
    pub widths: Option<Vec<u32>>,

    /// How branches of a circuit that has some share their cost, in protocol B; in the others all of them are computed and
    /// multiplexed. The same at all parties
    #[arg(
        long,
        value_name = "WAY",
        default_value = "auto",
        conflicts_with = "hycc"
    )]
    pub branches: BranchesArg,

    /// Who owns each input value, in circuit order: a party's number, or the name of a client, which computes nothing and
    /// shares its value with `madrigal share --bits` [default: value i belongs to party i mod N]
    #[arg(long, value_name = "P|CLIENT,...", value_delimiter = ',')]
    pub owners: Option<Vec<HolderArg>>,

    /// Who gets the result: `all` parties, or parties and clients separated by commas
    #[arg(long, value_name = "all|P|CLIENT,...", default_value = "all")]
    pub to: Receivers,

    /// Number of lanes, with --hycc of runs; needed by a party without inputs
    #[arg(long, value_name = "L", value_parser = lanes())]
    pub lanes: Option<u64>,
}

impl ComputationFlags {
    /// The circuit's file, where no HyCC program is named.
    pub fn circuit(&self) -> &Path {
        self.circuit.as_deref().unwrap_or(Path::new(""))
    }
}

/// A program of the HyCC compiler instead of a circuit.
#[derive(Args, Debug, Clone)]
pub struct Hycc {
    /// Instead of --circuit, a program of the HyCC compiler: the folder with its modules and bundles, or
    /// one bundle (*.cmb) or module (*.circ). Words are computed in A; bits in B or in garbled circuits,
    /// as the bundle says of each module; --words, --layered and --garbled name others. Inputs are given by name, --input NAME=VALUE, or as a
    /// party's file of lines NAME := VALUE; with runs separated by lines ---. INPUT_A... is of party 0,
    /// INPUT_B... of party 1
    #[arg(long, help_heading = "HyCC", value_name = "DIR", value_hint = ValueHint::AnyPath, conflicts_with_all = ["circuit", "protocol", "garbling", "correlations", "owners"])]
    pub hycc: Option<PathBuf>,

    /// Which bundle of the folder [default: ps_optimized, yaohybrid, gmwhybrid, yaoonly or gmwonly,
    /// the first that is there, else the only one]
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "NAME",
        requires = "hycc",
        conflicts_with = "circuit"
    )]
    pub bundle: Option<String>,

    /// Memory that the program's modules may take with all of their calls, before it is computed: a short file may
    /// call much
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "SIZE",
        default_value = "1GiB",
        requires = "hycc",
        conflicts_with = "circuit"
    )]
    pub file_memory: MemoryArg,

    /// Protocol of words, their sums and products
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "LETTER",
        default_value = "A",
        requires = "hycc",
        conflicts_with = "circuit"
    )]
    pub words: WordsArg,

    /// Protocol of modules for few layers of ANDs, those that the bundle has in gmw
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "LETTER",
        default_value = "B",
        requires = "hycc",
        conflicts_with = "circuit"
    )]
    pub layered: ProtocolArg,

    /// Protocol of modules for few ANDs, those that the bundle has in yao [default: Y2 for two parties, else Y]
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "LETTER",
        requires = "hycc",
        conflicts_with = "circuit"
    )]
    pub garbled: Option<ProtocolArg>,

    /// Protocol of the bits of all modules, whatever the bundle says
    #[arg(
        long,
        help_heading = "HyCC",
        value_name = "LETTER",
        requires = "hycc",
        conflicts_with_all = ["circuit", "layered", "garbled"]
    )]
    pub bits: Option<ProtocolArg>,
}

/// Protocol that a HyCC program's words are computed in: any that computes on ring elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordsArg(&'static Backend);

static OF_WORDS: LazyLock<Vec<WordsArg>> = LazyLock::new(|| {
    let with_numbers = BACKENDS.iter().filter(|backend| backend.numbers.is_some());
    with_numbers.map(WordsArg).collect()
});

impl ValueEnum for WordsArg {
    fn value_variants<'a>() -> &'a [Self] {
        &OF_WORDS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.in_words()))
    }
}

impl WordsArg {
    pub fn sharing(self) -> Sharing {
        self.0.sharing
    }
}

/// Help of `--network` in `explain`.
const ESTIMATED: &str = "\
Estimate how long a run takes over this network, computing included, if every party has a machine \
like this one";

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Explain {
    #[command(flatten)]
    pub work: ComputationFlags,

    #[command(flatten)]
    pub among: Among,

    /// Estimate how long a run will take over this network
    #[arg(long, value_name = "PROFILE", default_value = "none", long_help = networks(ESTIMATED, "no estimate"))]
    pub network: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
