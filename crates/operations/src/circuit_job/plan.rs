//! What will be done, in which parts, and what it costs: known before the first byte is sent, the
//! same at all parties.

use std::sync::Arc;

use madrigal_core::time::{Link, Rates};
use madrigal_core::{Cost, Digest256, MAX_PARTIES, Party, domains};
use madrigal_correlations::{Kind, Needs};
use madrigal_correlations_make::{MAX_THREADS, Origin};
use madrigal_engine::{
    CORRELATIONS, Element, Graph, Phases, Plan, PlanError, PlanSpec, PlanTime, Sharing, Soonest,
    Sort, TRIPLE_MEMORY, Value,
};
use madrigal_garbling::Scheme;
use madrigal_net::Fact;
use madrigal_protocols::Opening;
use sha2::{Digest, Sha256};

use super::protocol::Protocol;
use crate::aby2::BetaTool;
use crate::bmr::BmrTool;
use crate::boolean_gmw::BooleanGmwTool;
use crate::circuit::Circuit;
use crate::edges::{Open, Share};
use crate::netlist::Netlist;
use crate::protocol::Boolean;
use crate::replicated::ReplicatedTool;
use crate::yao::{HalfGates, ThreeHalves, YaoTool};

/// What is to be computed, by whom and how.
#[derive(Debug, Clone)]
pub struct CircuitJob {
    /// Which protocol computes.
    pub protocol: Protocol,
    /// How many parties there are.
    pub parties: usize,
    /// What is computed, in each lane.
    pub circuit: Arc<Circuit>,
    /// The owner of each input value.
    pub owners: Vec<Party>,
    /// Who gets the output.
    pub to: Vec<Party>,
    /// How many times the circuit is evaluated, side by side.
    pub lanes: usize,
    /// Where correlations come from.
    pub origin: Origin,
    /// How masked values become known, in protocol B.
    pub opening: Opening,
    /// The order of the phases; `None` is sequential where the triples fit `memory`.
    /// Sequential ones, asked for, have tables of Y2 in setup where what is kept fits six times as much; else they
    /// travel online, but for few.
    pub phases: Option<Phases>,
    /// Bytes that the triples kept by one party may take.
    pub memory: usize,
    /// Threads that each party computes with when online, 1 to [`MAX_THREADS`]. All parties have as
    /// many, whatever their cores: the number decides what goes side by side. Those of the origin are
    /// others; interleaved phases have both at work.
    pub threads: usize,
    /// What the parties expect of the line between any two of them: as much is under way as it takes.
    pub line: Link,
    /// Facts of the caller's own that all parties must agree on, beside those of the plan.
    pub also: Vec<Fact>,
}

impl CircuitJob {
    /// One lane of `circuit` in protocol B: value i belongs to party i mod `parties`, all get the
    /// output, the rest as usual. Change what is to be otherwise.
    pub fn new(circuit: Arc<Circuit>, parties: usize) -> Self {
        let owner = |value| Party::new(value % parties.max(1));
        Self {
            protocol: Protocol::default(),
            parties,
            owners: (0..circuit.inputs().len()).map(owner).collect(),
            to: Party::all(parties.min(MAX_PARTIES)).collect(),
            circuit,
            lanes: 1,
            origin: Origin::default(),
            opening: Opening::Direct,
            phases: None,
            memory: TRIPLE_MEMORY,
            threads: 1,
            line: Link::default(),
            also: Vec::new(),
        }
    }
}

impl CircuitJob {
    /// The same, on this many threads, before the online phase and in it.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        let origin = match self.origin {
            Origin::Ot {
                extension,
                matrices,
                ..
            } => Origin::Ot {
                extension,
                threads,
                matrices,
            },
            other => other,
        };
        Self {
            origin,
            threads,
            ..self
        }
    }

    /// The most threads of a phase, and the least.
    fn threads(&self) -> [usize; 2] {
        match self.origin {
            Origin::Ot { threads, .. } => [threads.max(self.threads), threads.min(self.threads)],
            _ => [self.threads; 2],
        }
    }
}

/// Why something cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Too few or too many parties.
    #[error("protocol {protocol} is for {} parties, not {parties}", among(*.protocol))]
    Parties {
        /// Which protocol was asked for.
        protocol: Protocol,
        /// How many were asked for.
        parties: usize,
    },
    /// No room for the dealer in the session.
    #[error(
        "with a dealer at most {} parties compute, not {parties}; take fewer, or other correlations", MAX_PARTIES - 1
    )]
    NoRoomForDealer {
        /// How many were asked for.
        parties: usize,
    },
    /// No threads, or too many.
    #[error("a party computes with 1 to {MAX_THREADS} threads, not {threads}; take another number")]
    Threads {
        /// How many were asked for.
        threads: usize,
    },
    /// The number of owners is not that of input values.
    #[error(
        "the circuit has {values} input values and {owners} owners are named: name one party for each"
    )]
    Owners {
        /// Input values of the circuit.
        values: usize,
        /// Owners given.
        owners: usize,
    },
    /// A party that does not exist.
    #[error("there is no party {party} among {parties}; parties are counted from 0")]
    NoSuchParty {
        /// The number given.
        party: usize,
        /// How many there are.
        parties: usize,
    },
    /// Nobody gets the output.
    #[error("nobody gets the output: name a party that does")]
    NoReceiver,
    /// Nothing to compute on.
    #[error("there are no lanes: the input files are empty")]
    NoLanes,
    /// Too many lanes for any machine.
    #[error(
        "{lanes} lanes of {bits} bits each are more than this machine can count; give fewer lanes"
    )]
    TooManyLanes {
        /// Lanes asked for.
        lanes: usize,
        /// Bits of triples, inputs and outputs in each lane.
        bits: usize,
    },
    /// Too many blocks for a plan.
    #[error(
        "the job would be cut into {blocks} blocks; allow more memory for triples, or give fewer lanes at a time"
    )]
    TooManyBlocks {
        /// How many.
        blocks: usize,
    },
    /// The origin has none of a kind.
    #[error(
        "the protocol needs {kind} (correlated OTs), which the {origin} has not; make the correlations by oblivious transfer"
    )]
    Correlations {
        /// Which.
        kind: Box<Kind>,
        /// Where correlations come from.
        origin: Origin,
    },
    /// The triples do not fit.
    #[error(
        "sequential phases keep all {needed} bytes of triples, more than the {memory} bytes that are allowed; interleave the phases, or allow more"
    )]
    Memory {
        /// Bytes needed.
        needed: u128,
        /// Bytes allowed.
        memory: usize,
    },
}

/// A circuit's job: a program of inputs, the circuit, and openings.
#[derive(Debug, Clone)]
pub struct CircuitPlan {
    spec: CircuitJob,
    program: Plan,
}

impl CircuitPlan {
    /// Checks a specification and cuts it up.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn new(spec: CircuitJob) -> Result<Self, JobError> {
        Self::planned(spec, Plan::new)
    }

    /// The same, with phases as [`Plan::fastest`] has them where the specification leaves them open.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn fastest(spec: CircuitJob) -> Result<Self, JobError> {
        Self::planned(spec, Plan::fastest)
    }

    fn planned(
        mut spec: CircuitJob,
        plan: fn(PlanSpec) -> Result<Plan, PlanError>,
    ) -> Result<Self, JobError> {
        let parties = spec.parties;
        let protocol = spec.protocol;
        if !protocol.parties().contains(&parties) {
            return Err(JobError::Parties { protocol, parties });
        }
        if parties + spec.origin.helpers() > MAX_PARTIES {
            return Err(JobError::NoRoomForDealer { parties });
        }
        let wrong = |threads: &usize| !(1..=MAX_THREADS).contains(threads);
        if let Some(threads) = spec.threads().into_iter().find(wrong) {
            return Err(JobError::Threads { threads });
        }
        let values = spec.circuit.inputs().len();
        if spec.owners.len() != values {
            return Err(JobError::Owners {
                values,
                owners: spec.owners.len(),
            });
        }
        if let Some(party) = spec
            .owners
            .iter()
            .chain(&spec.to)
            .find(|party| party.index() >= parties)
        {
            return Err(JobError::NoSuchParty {
                party: party.index(),
                parties,
            });
        }
        spec.to.sort();
        spec.to.dedup();
        if spec.to.is_empty() {
            return Err(JobError::NoReceiver);
        }
        if spec.lanes == 0 {
            return Err(JobError::NoLanes);
        }
        let layered = spec.circuit.layered();
        // Below, and in what the plan is asked later, no product of these overflows.
        let inputs: usize = spec
            .circuit
            .inputs()
            .iter()
            .map(|&width| width as usize)
            .sum();
        let gates = 3 * layered.and_count() + layered.local_count();
        let bits = gates + 2 * layered.rows() + inputs + spec.circuit.output_bits();
        if spec
            .lanes
            .checked_next_multiple_of(64)
            .and_then(|lanes| lanes.checked_mul(64 * bits.max(1)))
            .is_none()
        {
            let lanes = spec.lanes;
            return Err(JobError::TooManyLanes { lanes, bits });
        }
        let program = PlanSpec {
            graph: Arc::new(graph(&spec)),
            origin: spec.origin.clone(),
            opening: spec.opening,
            phases: spec.phases,
            memory: spec.memory,
            threads: spec.threads,
            line: spec.line,
            policy: Arc::new(Soonest),
            also: Vec::new(),
        };
        let program = plan(program)?;
        Ok(Self { spec, program })
    }

    /// What was asked for.
    pub fn spec(&self) -> &CircuitJob {
        &self.spec
    }

    /// The program that computes it.
    pub fn program(&self) -> &Plan {
        &self.program
    }

    /// The order of the phases.
    pub fn phases(&self) -> Phases {
        self.program.phases()
    }

    /// ANDs in all lanes together.
    pub fn ands(&self) -> usize {
        self.spec.circuit.layered().and_count() * self.spec.lanes
    }

    /// Boolean triples that each party gets a share of.
    pub fn triples(&self) -> usize {
        self.spec.protocol.triples_per_and() * self.ands()
    }

    /// Where correlations come from, in words: `none` where there is nothing to make and nobody who
    /// would.
    pub fn correlations(&self) -> String {
        match &self.spec.origin {
            origin if self.triples() == 0 && origin.helpers() == 0 => "none".to_owned(),
            origin => origin.to_string(),
        }
    }

    /// All correlations of the job.
    pub fn needs(&self) -> Needs {
        self.program.needs()
    }

    /// What a party will spend, to the byte.
    pub fn cost(&self, me: Party) -> Cost {
        self.program.cost(me)
    }

    /// How long `me` is expected to take; see [`Plan::time`].
    pub fn time(&self, me: Party, rates: &Rates, link: &Link) -> PlanTime {
        self.program.time(me, rates, link)
    }

    /// Input bits that a party owns, in each lane.
    pub fn input_bits_of(&self, party: Party) -> usize {
        let owned = self.spec.owners.iter().zip(self.spec.circuit.inputs());
        owned
            .filter(|(owner, _)| **owner == party)
            .map(|(_, &width)| width as usize)
            .sum()
    }

    /// What all parties must agree on.
    pub fn facts(&self) -> Vec<Fact> {
        let spec = &self.spec;
        let list = |parties: &[Party]| {
            parties
                .iter()
                .map(|party| party.index().to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        let hex = |digest: [u8; 32]| Digest256(digest).to_string();
        let (circuit, compiled) = (spec.circuit.digest(), spec.circuit.compiled_digest());
        let mut facts: Vec<Fact> = [
            ("protocol", spec.protocol.to_string()),
            ("circuit", hex(circuit)),
            ("parties", spec.parties.to_string()),
            ("lanes", spec.lanes.to_string()),
            ("owners", list(&spec.owners)),
            ("receivers", list(&spec.to)),
            ("broadcast", spec.opening.to_string()),
            ("threads", spec.threads.to_string()),
            (CORRELATIONS, self.correlations()),
            ("phases", self.phases().to_string()),
            ("blocks", self.program.blocks().to_string()),
            ("compiled circuit", hex(compiled)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        facts.extend(spec.also.iter().cloned());
        // Long lists are cut when they are announced; this digest is of all of them.
        let mut digest = Sha256::new_with_prefix(domains::JOB_PLAN);
        digest.update(self.program.digest());
        digest.update(circuit);
        digest.update(compiled);
        for (name, value) in &facts {
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name);
            digest.update((value.len() as u64).to_le_bytes());
            digest.update(value);
        }
        facts.push(("plan".to_owned(), hex(digest.finalize().into())));
        facts
    }
}

/// The program of a job: the owner of each input value shares it, the circuit is evaluated, its outputs
/// are opened.
fn graph(spec: &CircuitJob) -> Graph {
    match spec.protocol {
        Protocol::B => graph_in::<BooleanGmwTool>(spec),
        Protocol::R => graph_in::<ReplicatedTool>(spec),
        Protocol::Y => graph_in::<BmrTool>(spec),
        Protocol::Beta => graph_in::<BetaTool>(spec),
        Protocol::Y2(Scheme::HalfGates) => graph_in::<YaoTool<HalfGates>>(spec),
        Protocol::Y2(Scheme::ThreeHalves) => graph_in::<YaoTool<ThreeHalves>>(spec),
    }
}

fn graph_in<P: Boolean>(spec: &CircuitJob) -> Graph {
    let mut graph = Graph::new(spec.parties);
    let fits = "the specification has been checked";
    let widths = spec.circuit.inputs();
    let mut values = vec![None; widths.len()];
    for owner in Party::all(spec.parties) {
        let own: Vec<usize> = (0..widths.len())
            .filter(|&value| spec.owners[value] == owner)
            .collect();
        let clear: Vec<Value> = own
            .iter()
            .map(|&value| {
                let element = Element::Bits(widths[value] as usize);
                graph.input(Sort::new(Sharing::clear(&[owner]), element, spec.lanes))
            })
            .collect();
        if clear.is_empty() {
            continue;
        }
        let share = Arc::new(Share::<P>::new(owner));
        let shared = graph.add_labelled(share, &clear, format!("inputs of {owner}"));
        for (value, shared) in own.into_iter().zip(shared.expect(fits)) {
            values[value] = Some(shared);
        }
    }
    let values: Vec<Value> = values.into_iter().flatten().collect();
    let circuit = Arc::new(Netlist::<P>::new(Arc::clone(&spec.circuit), spec.lanes));
    let label = spec.circuit.name().to_owned();
    let made = graph.add_labelled(circuit, &values, label).expect(fits);
    let open = Arc::new(Open::<P>::new(spec.to.clone()));
    let outputs = graph.add_labelled(open, &made, "outputs".to_owned());
    outputs
        .expect(fits)
        .into_iter()
        .for_each(|value| graph.output(value));
    graph
}

impl From<PlanError> for JobError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Parties { parties, .. } => Self::NoRoomForDealer { parties },
            PlanError::Threads { threads } => Self::Threads { threads },
            PlanError::TooManyBlocks { blocks } => Self::TooManyBlocks { blocks },
            PlanError::Memory { needed, memory } => Self::Memory { needed, memory },
            PlanError::Correlations { kind, origin } => Self::Correlations { kind, origin },
        }
    }
}

/// The number of parties of a protocol, for messages.
fn among(protocol: Protocol) -> String {
    let (least, most) = protocol.parties().into_inner();
    if least == most {
        return least.to_string();
    }
    format!("{least} to {most}")
}

#[cfg(feature = "store")]
impl CircuitPlan {
    /// As [`Plan::check_store`].
    ///
    /// # Errors
    /// [`StoreError::Few`](madrigal_correlations_store::StoreError::Few).
    pub fn check_store(
        &self,
        store: &madrigal_correlations_store::Store,
        times: u32,
    ) -> Result<(), madrigal_correlations_store::StoreError> {
        self.program().check_store(store, times)
    }
}
