//! The flags of what computes a circuit: its protocol, its phases, and where its correlations come from.

use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use madrigal_engine::Sharing;
use madrigal_operations::{BACKENDS, Backend, Scheme, THREE_HALVES};
use serde::{Deserialize, Serialize};

use crate::memory::MemoryArg;
use crate::over::Over;
use crate::threads::Threads;

/// Flags of how a circuit is computed.
#[derive(Args, Debug, Clone, Serialize, Deserialize)]
pub struct How {
    /// Protocol that computes the circuit. All protocols are semi-honest: corrupted parties follow them, and
    /// pool what they see
    #[arg(long, value_name = "LETTER", default_value = "B")]
    pub protocol: ProtocolArg,

    /// How protocol Y2 garbles an AND: 32 bytes, or 24.6 for twice the computing
    #[arg(long, value_name = "SCHEME", default_value = "half-gates")]
    #[serde(default)]
    pub garbling: GarblingArg,

    /// Whether setup comes before online, or both overlap
    #[arg(long, default_value = "auto")]
    pub phases: PhasesArg,

    /// How shares are opened, and garbled tables of Y put together: each party sends to every other,
    /// or all to one, which saves bytes but costs a round
    #[arg(long, default_value = "auto")]
    pub broadcast: BroadcastArg,

    /// Where correlations come from. ot: the parties make them, trusting nobody; dealer: the
    /// `[dealer]` of parties.toml (`madrigal dealer`), which must not collude with any party;
    /// store: what `madrigal precompute` made. Protocol R needs none [default: ot]
    #[arg(long, value_name = "ORIGIN")]
    pub correlations: Option<CorrelationsArg>,

    /// Extension and line of the OTs for correlations.
    #[command(flatten)]
    pub over: Over,

    /// Memory that each party's triples may take; jobs that need more are interleaved by --phases
    /// auto
    #[arg(long, value_name = "SIZE", default_value = "160MiB")]
    pub memory: MemoryArg,

    /// Threads that each party computes with; auto: as many as there are cores for it here, which the parties on this machine
    /// share. Parties may have different numbers: what they do together is planned for the least of them
    #[arg(long, value_name = "auto|N", default_value_t)]
    pub threads: Threads,
}

impl How {
    /// Gives the flags of a circuit that is computed in a protocol, and else as the flags' defaults have it.
    pub fn of(protocol: ProtocolArg) -> Self {
        Self {
            protocol,
            garbling: GarblingArg::default(),
            phases: PhasesArg::Auto,
            broadcast: BroadcastArg::Auto,
            correlations: None,
            over: Over::default(),
            memory: MemoryArg(160 << 20),
            threads: Threads::Exactly(1),
        }
    }

    /// Settles flags that follow from others: the line, and the number of threads of each of the parties that compute on this
    /// machine, `local` if all do.
    pub fn settle(&mut self, network: &str, local: Option<usize>) {
        self.over.or_network(network, local.is_some());
        self.threads = Threads::Exactly(self.threads.resolve(local.unwrap_or(1)));
    }

    /// Number of threads of each party here.
    pub fn own_threads(&self) -> usize {
        self.threads.resolve(1)
    }

    /// Gives the record of the protocol, with its garbling scheme.
    pub fn backend(&self) -> &'static Backend {
        match self.garbling {
            GarblingArg::ThreeHalves if self.protocol == ProtocolArg::of(Sharing::Y2) => {
                &THREE_HALVES
            }
            _ => self.protocol.0,
        }
    }

    /// Counts the parties of the session that compute nothing, after those that do: the dealer, if there is one.
    pub fn helpers(&self) -> usize {
        usize::from(self.origin() == CorrelationsArg::Dealer)
    }

    /// Tells where correlations come from.
    pub fn origin(&self) -> CorrelationsArg {
        self.correlations.unwrap_or(CorrelationsArg::Ot)
    }
}

/// Protocol that a circuit is computed in: any that computes on bits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ProtocolArg(&'static Backend);

static PROTOCOLS: LazyLock<Vec<ProtocolArg>> = LazyLock::new(|| {
    let with_bits = BACKENDS.iter().filter(|backend| backend.bits.is_some());
    with_bits.map(ProtocolArg).collect()
});

impl ValueEnum for ProtocolArg {
    fn value_variants<'a>() -> &'a [Self] {
        &PROTOCOLS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.0.in_words()))
    }
}

impl ProtocolArg {
    /// Names the protocol that shares so.
    ///
    /// # Panics
    /// If no protocol on bits does.
    pub fn of(sharing: Sharing) -> Self {
        let backend = Backend::of(sharing);
        assert!(backend.bits.is_some(), "{sharing} computes no circuits");
        Self(backend)
    }

    /// Gives the sharing of the protocol's bits.
    pub fn sharing(self) -> Sharing {
        self.0.sharing
    }

    /// Gives the protocol's letter.
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

impl From<ProtocolArg> for String {
    fn from(protocol: ProtocolArg) -> Self {
        protocol.name().to_owned()
    }
}

impl TryFrom<String> for ProtocolArg {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_str(&name, false)
    }
}

/// Ways in which branches of a circuit share their cost.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchesArg {
    /// Take what is expected to take the least time
    #[default]
    Auto,
    /// Compute all branches and multiplex
    All,
    /// ANDs of several branches are a product of a bit and a vector (MOTIF)
    Motif,
    /// Branches use the same triples under masks (Masked Triples)
    Masked,
    /// Save both triples and messages
    Merged,
}

impl BranchesArg {
    /// Gives the scheme that is named, if one is.
    pub fn scheme(self) -> Option<Scheme> {
        match self {
            Self::Auto | Self::All => None,
            Self::Motif => Some(Scheme::Vectors),
            Self::Masked => Some(Scheme::Masked),
            Self::Merged => Some(Scheme::Merged),
        }
    }
}

/// Scheme by which protocol Y2 garbles an AND.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GarblingArg {
    /// Half-gates (Zahur, Rosulek and Evans 2015): 32 bytes for an AND
    #[default]
    HalfGates,
    /// Three halves (Rosulek and Roy 2021): 24.6 bytes for an AND
    ThreeHalves,
}

/// Where correlations come from.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CorrelationsArg {
    /// Oblivious transfer between all pairs of parties
    Ot,
    /// A trusted dealer
    Dealer,
    /// Stores made ahead of time, see --store
    Store,
}

/// Order of setup and online.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhasesArg {
    /// Sequential; interleaved where correlations do not fit --memory, or where that saves time
    /// on a line with a long round trip (benchmarks keep phases apart)
    Auto,
    /// Setup finishes before inputs are used
    Sequential,
    /// Setup and online overlap
    Interleaved,
}

/// Way of opening shares.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BroadcastArg {
    /// The engine chooses; today as direct
    Auto,
    /// Each party sends to every other, but garbled tables where that would take 4 MiB more
    Direct,
    /// Through one party, which sends the sum back
    Relay,
}

/// Way of making triples of matrices and convolutions for stores.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreMatricesArg {
    /// Lattice-based additively homomorphic encryption, which sends few bytes. Matrices of 128-bit
    /// elements are made by OT even so
    Lattice,
    /// Oblivious transfer
    Ot,
}
