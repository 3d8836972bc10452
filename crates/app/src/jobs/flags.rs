//! The flags of what computes a circuit: its protocol, its phases, and where its correlations come from.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::flags::threads;
use crate::memory::MemoryArg;
use crate::over::Over;

/// Flags of how a circuit is computed.
#[derive(Args, Debug, Clone, Serialize, Deserialize)]
pub struct How {
    /// B: Boolean GMW; all but one of the parties may be corrupted. R: replicated sharing; exactly
    /// three parties, of which one may be corrupted. Y: BMR, circuits garbled by all parties, of which all
    /// but one may be corrupted; Y2: garbled circuits of two parties, of which one may be corrupted; both
    /// take a few rounds whatever the circuit's depth. beta: ABY2.0, two parties, of which one may be
    /// corrupted; setup knows the circuit, and online is half of B's. All are semi-honest
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

    /// Threads that each party computes with; the same number at all parties
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,
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
            threads: 1,
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

/// Protocol that a circuit is computed in.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtocolArg {
    /// Boolean GMW: N parties, all but one may be corrupted (semi-honest)
    #[value(name = "B")]
    B,
    /// Replicated sharing: three parties, one of which may be corrupted (semi-honest)
    #[value(name = "R")]
    R,
    /// BMR, garbled circuits: N parties, all but one may be corrupted (semi-honest)
    #[value(name = "Y")]
    Y,
    /// Garbled circuits: two parties, party 0 garbles (semi-honest)
    #[value(name = "Y2")]
    Y2,
    /// ABY2.0, masked bits: two parties; an AND opens one bit online (semi-honest)
    #[value(name = "beta")]
    Beta,
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
