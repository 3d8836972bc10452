//! Tasks of parties: flags checked against the circuit, and made a plan.

use std::path::Path;
use std::sync::Arc;

use madrigal_circuit::{Rows, values};
use madrigal_core::time::Rates;
use madrigal_core::{Party, Zeroizing};
use madrigal_correlations::Needs;
use madrigal_engine::{Choice, Matrices, Opening, Origin, Phases, StoreSpec};
use madrigal_operations::Circuit;
use madrigal_operations::circuit_job::{CircuitJob, CircuitPlan, Protocol, Scheme};
use serde::{Deserialize, Serialize};

use super::fault::Misuse;
use super::flags::{
    BroadcastArg, CorrelationsArg, GarblingArg, How, PhasesArg, ProtocolArg, StoreMatricesArg,
};
use super::source::Source;
use crate::failure::{Failure, Result};
use crate::over::Over;
use crate::read::read_file;
use crate::stores::StoreFiles;

/// Work of the parties together, as all of them know it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Task {
    /// They compute a circuit.
    Compute(Job),
    /// They make a store.
    Precompute(Precomputation),
}

impl Task {
    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        match self {
            Self::Compute(job) => job.parties,
            Self::Precompute(task) => task.parties,
        }
    }

    /// Threads that each party computes with.
    pub fn threads(&self) -> usize {
        match self {
            Self::Compute(job) => job.how.threads,
            Self::Precompute(task) => task.threads,
        }
    }

    /// Parties of the session that compute nothing, after those that do.
    pub fn helpers(&self) -> usize {
        match self {
            Self::Compute(job) => job.how.helpers(),
            Self::Precompute(_) => 0,
        }
    }

    /// Lists who gets the result. The result of a precomputation is the new store's name.
    pub fn receivers(&self) -> Vec<usize> {
        match self {
            Self::Compute(job) => job.to.clone(),
            Self::Precompute(task) => (0..task.parties).collect(),
        }
    }
}

/// A new store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Precomputation {
    /// Number of parties.
    pub parties: usize,
    /// Contents of the store, as [`Needs`](madrigal_correlations::Needs) are written.
    pub triples: String,
    /// Extension and line of the OTs for correlations.
    pub over: Over,
    /// Way of making triples of matrices.
    pub matrices: StoreMatricesArg,
    /// Threads of each party.
    pub threads: usize,
}

impl Precomputation {
    /// Says what the store is to be.
    pub fn spec(&self) -> Result<StoreSpec> {
        let holds: Needs = self.triples.parse().map_err(Failure::bug)?;
        Ok(StoreSpec {
            extension: self.over.choose(self.threads, holds.steps()).extension,
            threads: self.threads,
            matrices: match self.matrices {
                StoreMatricesArg::Lattice => Matrices::Lattice,
                StoreMatricesArg::Ot => Matrices::Ot,
            },
            ..StoreSpec::new(holds)
        })
    }
}

/// Values and store of one party.
#[derive(Default)]
pub struct Own {
    /// Values of its own.
    pub input: Option<Input>,
    /// A store of its own, to take correlations from or to make.
    pub store: Option<StoreFiles>,
}

/// A job as all its parties know it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Where the circuit comes from.
    pub circuit: Source,
    /// Number of parties that compute.
    pub parties: usize,
    /// The owner of each input value.
    pub owners: Vec<usize>,
    /// Parties that get the result.
    pub to: Vec<usize>,
    /// Number of lanes.
    pub lanes: u64,
    /// Protocol and correlations.
    pub how: How,
    /// Number of runs.
    pub repeat: u32,
    /// Whether the times of the phases are to be told apart: phases that nobody asked for are then interleaved only
    /// where correlations do not fit the memory.
    pub apart: bool,
}

impl Job {
    /// Chooses the OT extension of its correlations, if they are made by OT, and why.
    pub fn extension(&self, circuit: &Circuit) -> Choice {
        let ots = match self.how.protocol {
            ProtocolArg::B | ProtocolArg::R | ProtocolArg::Beta => {
                circuit.layered().and_count() as u64
            }
            // Four triples' worth: a triple, and a product with the offset for each row but one.
            ProtocolArg::Y => 4 * circuit.layered().and_count() as u64,
            ProtocolArg::Y2 => circuit.inputs().iter().map(|&width| u64::from(width)).sum(),
        };
        let triples = ots.saturating_mul(self.lanes);
        self.how.over.choose(self.how.threads, triples)
    }

    /// Plans the job.
    pub fn plan(&self, circuit: Arc<Circuit>) -> Result<CircuitPlan> {
        check_correlations(&self.how)?;
        check_room(self.lanes, bits_of(circuit.inputs(), circuit.outputs()))?;
        let party = |&index: &usize| Party::checked(index, self.parties).map_err(Failure::bug);
        let list = |parties: &[usize]| parties.iter().map(party).collect::<Result<Vec<_>>>();
        let spec = CircuitJob {
            protocol: match self.how.protocol {
                ProtocolArg::B => Protocol::B,
                ProtocolArg::R => Protocol::R,
                ProtocolArg::Y => Protocol::Y,
                ProtocolArg::Beta => Protocol::Beta,
                ProtocolArg::Y2 => Protocol::Y2(match self.how.garbling {
                    GarblingArg::HalfGates => Scheme::HalfGates,
                    GarblingArg::ThreeHalves => Scheme::ThreeHalves,
                }),
            },
            owners: list(&self.owners)?,
            to: list(&self.to)?,
            lanes: usize::try_from(self.lanes).map_err(Failure::bug)?,
            opening: match self.how.broadcast {
                BroadcastArg::Direct | BroadcastArg::Auto => Opening::Direct,
                BroadcastArg::Relay => Opening::Relay,
            },
            phases: match self.how.phases {
                PhasesArg::Auto => None,
                PhasesArg::Sequential => Some(Phases::Sequential),
                PhasesArg::Interleaved => Some(Phases::Interleaved),
            },
            origin: match self.how.origin() {
                CorrelationsArg::Ot => Origin::Ot {
                    extension: self.extension(&circuit).extension,
                    threads: self.how.threads,
                    // A circuit needs none.
                    matrices: Matrices::Ot,
                },
                CorrelationsArg::Dealer => Origin::Dealer,
                CorrelationsArg::Store => Origin::Store,
            },
            memory: usize::try_from(self.how.memory.0).unwrap_or(usize::MAX),
            threads: self.how.threads,
            line: self.how.over.line(),
            also: vec![("repetitions".to_owned(), self.repeat.to_string())],
            ..CircuitJob::new(circuit, self.parties)
        };
        let planned = |spec| match self.apart {
            true => CircuitPlan::new(spec),
            false => CircuitPlan::fastest(spec),
        };
        // Stores are made without a circuit: what it takes of them must not depend on the line.
        let pairs = (spec.protocol == Protocol::Beta && spec.origin != Origin::Store)
            .then(|| spec.circuit.in_pairs())
            .filter(|pairs| pairs.round_count() < spec.circuit.round_count())
            .and_then(|pairs| {
                let circuit = Arc::new(pairs);
                let spec = spec.clone();
                planned(CircuitJob { circuit, ..spec }).ok()
            });
        let plan = planned(spec).map_err(Misuse::CircuitPlan)?;
        // At fixed rates, so that all parties come to the same.
        let time = |plan: &CircuitPlan| {
            plan.time(Party::new(0), &Rates::ZEN_5, &plan.spec().line)
                .total
        };
        Ok(match pairs {
            Some(pairs) if time(&pairs) < time(&plan) => pairs,
            _ => plan,
        })
    }

    /// Lists the indices of the values that a party owns and has to give.
    pub fn values_of(&self, party: usize, circuit: &Circuit) -> Vec<usize> {
        let owned = self.owners.iter().zip(circuit.inputs()).enumerate();
        owned
            .filter(|(_, (owner, _))| **owner == party)
            .map(|(value, _)| value)
            .collect()
    }
}

/// Refuses flags for correlations that are not made.
pub fn check_correlations(how: &How) -> Result<()> {
    let (origin, extension) = (how.origin(), how.over.extension.is_named());
    let (flag, why) = match how.protocol {
        ProtocolArg::Y | ProtocolArg::Y2 if origin != CorrelationsArg::Ot => (
            "--correlations and --store",
            "protocols Y and Y2 take correlated OTs, which the parties make themselves and neither a dealer nor a store has",
        ),
        ProtocolArg::R if origin != CorrelationsArg::Ot => (
            "--correlations and --store",
            "protocol R computes without correlations",
        ),
        ProtocolArg::R if extension => ("--extension", "protocol R computes without correlations"),
        ProtocolArg::B | ProtocolArg::Beta if extension && origin != CorrelationsArg::Ot => (
            "--extension",
            "no correlations are made here, a dealer or a store has them already",
        ),
        _ => return Ok(()),
    };
    Err(Misuse::NoCorrelations { flag, why }.into())
}

/// Refuses `lanes` lanes of `bits` bits each where this machine has no memory for all of them. They are allocated in parts
/// later, and a program that does not get a part ends without a word.
pub fn check_room(lanes: u64, bits: u64) -> Result<()> {
    let bytes = lanes.div_ceil(64).saturating_mul(8).saturating_mul(bits);
    let room = usize::try_from(bytes).is_ok_and(|bytes| {
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(bytes).is_ok()
    });
    match room {
        true => Ok(()),
        false => Err(Misuse::NoRoom { lanes, bytes }.into()),
    }
}

/// Counts the bits of all of a circuit's inputs and outputs.
pub fn bits_of(inputs: &[u32], outputs: &[u32]) -> u64 {
    let all = inputs.iter().chain(outputs);
    all.map(|&width| u64::from(width)).sum()
}

/// One party's own values, as text: read once, so that it may come from a pipe.
pub struct Input {
    /// Where they come from, for messages.
    pub name: String,
    /// The text.
    pub text: Zeroizing<Vec<u8>>,
}

impl Input {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_file("read the input", path)?;
        Ok(Self {
            name: path.display().to_string(),
            text: Zeroizing::new(text),
        })
    }

    /// Counts the lines as [`values::read`] does.
    pub fn lanes(&self) -> u64 {
        let text = self.text.trim_ascii_end();
        let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if text.is_empty() { 0 } else { lines + 1 }
    }

    /// Reads the rows of the party's values.
    pub fn rows(&self, job: &Job, me: usize, circuit: &Circuit) -> Result<Rows> {
        let values = job.values_of(me, circuit);
        let widths: Vec<u32> = values
            .iter()
            .map(|&value| circuit.inputs()[value])
            .collect();
        let limits = values::ValueLimits::default();
        Ok(values::read(&self.name, &self.text, &widths, &limits)?)
    }
}
