//! Tasks of parties: flags checked against the circuit, and made a plan.

use std::path::Path;
use std::sync::Arc;

use madrigal_circuit::{Rows, values};
use madrigal_core::time::Rates;
use madrigal_core::{Party, Zeroizing};
use madrigal_correlations::{Kind, Needs};
use madrigal_engine::{
    Choice, Matrices, Opening, Origin, Phases, Plan, PlanSpec, Shares, StoreSpec,
};
use madrigal_net::Fact;
use madrigal_operations::{Circuit, CircuitJob, CircuitSupply, Scheme};
use serde::{Deserialize, Serialize};

use super::fault::Misuse;
use super::flags::{BranchesArg, BroadcastArg, CorrelationsArg, How, PhasesArg, StoreMatricesArg};
use super::source::Source;
use crate::failure::{Failure, Result};
use crate::holders::HolderArg;
use crate::over::Over;
use crate::read::read_file;
use crate::stores::StoreFiles;
use crate::threads::Threads;

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

    /// Threads that each party here computes with.
    pub fn own_threads(&self) -> usize {
        match self {
            Self::Compute(job) => job.how.own_threads(),
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
            Self::Compute(job) => job.to.iter().filter_map(HolderArg::party).collect(),
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
    /// Threads of each party here.
    pub threads: usize,
}

impl Precomputation {
    /// Says what the store is to be, made on this many threads of each party.
    pub fn spec(&self, threads: usize) -> Result<StoreSpec> {
        let holds: Needs = self.triples.parse().map_err(Failure::bug)?;
        Ok(StoreSpec {
            extension: self.over.choose(threads, holds.steps()).extension,
            threads,
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
    /// Shares of clients' values, in circuit order, each with the fact that all parties must have in common.
    pub dealt: Vec<(Shares, Fact)>,
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
    pub owners: Vec<HolderArg>,
    /// Parties and clients that get the result.
    pub to: Vec<HolderArg>,
    /// Number of lanes.
    pub lanes: u64,
    /// Protocol and correlations.
    pub how: How,
    /// How branches share their cost.
    #[serde(default)]
    pub branches: BranchesArg,
    /// Number of runs.
    pub repeat: u32,
    /// Whether the times of the phases are to be told apart: phases that nobody asked for are then interleaved only
    /// where correlations do not fit the memory.
    pub apart: bool,
}

/// A way to compute branches, and its time by an estimate at fixed rates, so that all parties come to the same.
#[derive(Debug, Clone, Serialize)]
pub struct BranchWay {
    /// Name of the way, as `--branches` has it.
    pub way: &'static str,
    /// Time that the job would take.
    pub seconds: f64,
    /// Whether it was taken.
    pub taken: bool,
}

/// A circuit's job with its plan.
#[derive(Debug, Clone)]
pub struct PlannedCircuit {
    /// The job.
    pub job: CircuitJob,
    /// The owner of each input value.
    pub owners: Vec<HolderArg>,
    /// Parties and clients that get the result, in order.
    pub to: Vec<HolderArg>,
    /// The job's plan.
    pub plan: Plan,
    /// The OT extension of the job's correlations, if OTs make them, and why it was chosen.
    pub choice: Option<Choice>,
    /// Ways that were compared for the circuit's branches; none where there was no choice.
    pub ways: Vec<BranchWay>,
}

impl PlannedCircuit {
    /// Counts the Boolean triples that each party gets a share of.
    pub fn triples(&self) -> usize {
        self.plan.needs().of(Kind::BitTriples)
    }

    /// Time that the job takes by an estimate at fixed rates, so that all parties come to the same.
    fn seconds(&self) -> f64 {
        let line = &self.plan.spec().line;
        self.plan.time(Party::new(0), &Rates::ZEN_5, line).total
    }
}

impl Job {
    /// Plans the job on another number of threads than a party here has.
    pub fn plan_on(&self, circuit: Arc<Circuit>, threads: usize) -> Result<PlannedCircuit> {
        let mut job = self.clone();
        job.how.threads = Threads::Exactly(threads);
        job.plan(circuit)
    }

    /// Plans the job. The OT extension is chosen once it is known how many OTs the job needs.
    pub fn plan(&self, circuit: Arc<Circuit>) -> Result<PlannedCircuit> {
        check_correlations(&self.how)?;
        check_room(self.lanes, bits_of(circuit.inputs(), circuit.outputs()))?;
        let party = |holder: &HolderArg| {
            let party = holder.party();
            let party = party.map(|index| Party::checked(index, self.parties));
            party.transpose().map_err(Failure::bug)
        };
        let list = |holders: &[HolderArg]| holders.iter().map(party).collect::<Result<Vec<_>>>();
        let to = list(&self.receivers())?;
        let job = CircuitJob {
            protocol: self.how.backend(),
            parties: self.parties,
            owners: list(&self.owners)?,
            hands_out: to.contains(&None),
            to: to.into_iter().flatten().collect(),
            lanes: usize::try_from(self.lanes).map_err(Failure::bug)?,
            branches: None,
            circuit,
        };
        let origin = match self.how.origin() {
            CorrelationsArg::Ot => None,
            CorrelationsArg::Dealer => Some(Origin::Dealer),
            CorrelationsArg::Store => Some(Origin::Store),
        };
        if let Some(planned) = self.plan_branches(&job, origin.as_ref())? {
            return Ok(planned);
        }
        let planned = self.plan_from(&job, origin)?;
        // Stores are made without a circuit: what it takes of them must not depend on the line.
        let may_change = planned.plan.spec().origin != Origin::Store;
        let bits = job.protocol.bits();
        let pairs = (may_change && bits.pairs)
            .then(|| job.circuit.in_pairs())
            .filter(|pairs| pairs.round_count() < job.circuit.round_count());
        let vectors = (may_change && bits.vectors).then(|| job.circuit.in_vectors());
        let Some(other) = pairs.or_else(|| vectors.flatten()) else {
            return Ok(planned);
        };
        let circuit = Arc::new(other);
        let origin = Some(planned.plan.spec().origin.clone());
        Ok(
            match self.plan_from(&CircuitJob { circuit, ..job }, origin) {
                Ok(other) if other.seconds() < planned.seconds() => PlannedCircuit {
                    choice: planned.choice,
                    ..other
                },
                _ => planned,
            },
        )
    }

    /// Plans a job of a circuit with branches in the way that is named, or that takes the least time, where the protocol's
    /// branches share their cost. A store has no masks for branches: all of them are computed from it.
    fn plan_branches(
        &self,
        job: &CircuitJob,
        origin: Option<&Origin>,
    ) -> Result<Option<PlannedCircuit>> {
        let in_way = |branches| {
            let job = CircuitJob {
                branches,
                ..job.clone()
            };
            self.plan_from(&job, origin.cloned())
        };
        if let Some(scheme) = self.branches.scheme() {
            return in_way(Some(scheme)).map(Some);
        }
        let shares = job.protocol.bits().branches.is_ok() && origin != Some(&Origin::Store);
        if job.circuit.branching().is_none() || !shares || self.branches == BranchesArg::All {
            return Ok(None);
        }
        let mut best = in_way(None)?;
        let mut ways = vec![(None, best.seconds())];
        for scheme in Scheme::ALL.map(Some) {
            // Masks for branches may take correlations that a source does not have.
            let Ok(planned) = in_way(scheme) else {
                continue;
            };
            ways.push((scheme, planned.seconds()));
            if planned.seconds() < best.seconds() {
                best = planned;
            }
        }
        let taken = best.job.branches;
        let way = |(branches, seconds): (Option<Scheme>, f64)| BranchWay {
            way: branches.map_or("all", Scheme::name),
            seconds,
            taken: branches == taken,
        };
        best.ways = ways.into_iter().map(way).collect();
        Ok(Some(best))
    }

    /// Plans a job of a circuit, with OTs by the extension that suits their number if there is no other origin.
    fn plan_from(&self, job: &CircuitJob, origin: Option<Origin>) -> Result<PlannedCircuit> {
        let how = &self.how;
        let mut spec = PlanSpec {
            opening: match how.broadcast {
                BroadcastArg::Direct | BroadcastArg::Auto => Opening::Direct,
                BroadcastArg::Relay => Opening::Relay,
            },
            phases: match how.phases {
                PhasesArg::Auto => None,
                PhasesArg::Sequential => Some(Phases::Sequential),
                PhasesArg::Interleaved => Some(Phases::Interleaved),
            },
            memory: usize::try_from(how.memory.0).unwrap_or(usize::MAX),
            threads: how.own_threads(),
            line: how.over.line(),
            ..job.spec().map_err(Misuse::Job)?
        };
        let (owners, to) = (self.owners.clone(), self.receivers());
        for (name, holders) in [("owners", &owners), ("receivers", &to)] {
            let fact = spec.also.iter_mut().find(|fact| fact.0 == name);
            fact.into_iter()
                .for_each(|fact| fact.1 = HolderArg::list(holders));
        }
        let repetitions = ("repetitions".to_owned(), self.repeat.to_string());
        spec.also.push(repetitions);
        let mut choice = None;
        spec.origin = match origin {
            Some(origin) => origin,
            None => {
                let first = Plan::new(spec.clone()).map_err(Misuse::Plan)?;
                let chosen = how.over.choose(how.own_threads(), first.needs().steps());
                let extension = chosen.extension;
                choice = Some(chosen);
                Origin::Ot {
                    extension,
                    threads: how.own_threads(),
                    // A circuit needs none.
                    matrices: Matrices::Ot,
                }
            }
        };
        let plan = match self.apart {
            true => Plan::new(spec),
            false => Plan::fastest(spec),
        };
        Ok(PlannedCircuit {
            job: job.clone(),
            owners,
            to,
            plan: plan.map_err(Misuse::Plan)?,
            choice,
            ways: Vec::new(),
        })
    }

    /// Parties and clients that get the result, in order, each once.
    fn receivers(&self) -> Vec<HolderArg> {
        let mut to = self.to.clone();
        to.sort();
        to.dedup();
        to
    }

    /// Whether clients bring values or get the result.
    pub fn has_clients(&self) -> bool {
        let mut holders = self.owners.iter().chain(&self.to);
        holders.any(|holder| holder.client().is_some())
    }

    /// Lists the indices of the values that a party owns and has to give.
    pub fn values_of(&self, party: usize, circuit: &Circuit) -> Vec<usize> {
        let owned = self.owners.iter().zip(circuit.inputs()).enumerate();
        owned
            .filter(|(_, (owner, _))| owner.party() == Some(party))
            .map(|(value, _)| value)
            .collect()
    }
}

/// Refuses flags for correlations that are not made.
pub fn check_correlations(how: &How) -> Result<()> {
    let elsewhere = how.origin() != CorrelationsArg::Ot;
    let extension = how.over.extension.is_named();
    let name = how.protocol.name();
    let (flag, why) = match how.backend().bits().supply {
        CircuitSupply::Ot if elsewhere => (
            "--correlations and --store",
            format!(
                "protocol {name} takes correlated OTs, which the parties make themselves and neither a dealer nor a store has"
            ),
        ),
        CircuitSupply::Nothing if elsewhere || extension => (
            match elsewhere {
                true => "--correlations and --store",
                false => "--extension",
            },
            format!("protocol {name} computes without correlations"),
        ),
        CircuitSupply::Anything if extension && elsewhere => (
            "--extension",
            "no correlations are made here, a dealer or a store has them already".to_owned(),
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
