//! Jobs of one circuit: the owner of each input value shares it, the circuit is evaluated in each lane, its outputs
//! are opened. Those who are no party bring values as shares, and are handed outputs as such.
//!
//! A [`CircuitJob`] makes the [specification](PlanSpec) of a plan; [`run_rows`](crate::run_rows) carries the plan out, and
//! [`run_shared_rows`](crate::run_shared_rows) where shares come in or go out.

use std::sync::Arc;

use madrigal_core::{Digest256, MAX_PARTIES, Party};
use madrigal_engine::{Element, Graph, PlanSpec, Sharing, Sort, Value};

use crate::backend::{Backend, Bits, Chain, DynOperation};
use crate::branches::{Branch, Scheme};
use crate::circuit::Circuit;
use crate::hand_out::HandOut;

/// Job of one circuit: what is computed, in which protocol, and by whom.
#[derive(Debug, Clone)]
pub struct CircuitJob {
    /// Protocol that evaluates the circuit.
    pub protocol: &'static Backend,
    /// Number of parties that compute.
    pub parties: usize,
    /// Circuit that is evaluated in each lane.
    pub circuit: Arc<Circuit>,
    /// Owner of each input value; `None` where it is no party, and each party has a share of the value, in the form in
    /// which the protocol keeps bits.
    pub owners: Vec<Option<Party>>,
    /// Parties that get the output.
    pub to: Vec<Party>,
    /// Whether somebody gets the output who is no party: all parties then have shares of it to hand out.
    pub hands_out: bool,
    /// Number of times that the circuit is evaluated, side by side.
    pub lanes: usize,
    /// How the circuit's branches share their cost; where nothing is said, all of them are computed and multiplexed, as they
    /// are in protocols whose record says so.
    pub branches: Option<Scheme>,
}

/// Error of a job that cannot be specified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The protocol is not for this many parties.
    #[error("protocol {} is for {} parties, not {parties}", .protocol.name, .protocol.parties_in_words())]
    Parties {
        /// Protocol that was asked for.
        protocol: &'static Backend,
        /// Number of parties that was asked for.
        parties: usize,
    },
    /// The protocol has no circuits.
    #[error("protocol {} computes on ring elements, not on bits: it evaluates no circuits", .protocol.name)]
    NoCircuits {
        /// Protocol that was asked for.
        protocol: &'static Backend,
    },
    /// Branches of the protocol do not share their cost, or there are none.
    #[error("branches cannot be computed as `{}`: {why}; let all be computed", .scheme.name())]
    Branches {
        /// How they were to share it.
        scheme: Scheme,
        /// Reason, as half a sentence.
        why: &'static str,
    },
    /// The number of owners is not the number of input values.
    #[error(
        "the circuit has {values} input values and {owners} owners are named: name one party for each"
    )]
    Owners {
        /// Input values of the circuit.
        values: usize,
        /// Owners given.
        owners: usize,
    },
    /// A party does not exist.
    #[error("there is no party {party} among {parties}; parties are counted from 0")]
    NoSuchParty {
        /// Number given.
        party: usize,
        /// Number of parties.
        parties: usize,
    },
    /// Nobody gets the output.
    #[error("nobody gets the output: name a party that does")]
    NoReceiver,
    /// Nothing is there to compute on.
    #[error("there are no lanes: the input files are empty")]
    NoLanes,
    /// The lanes are too many for any machine.
    #[error(
        "{lanes} lanes of {bits} bits each are more than this machine can count; give fewer lanes"
    )]
    TooManyLanes {
        /// Lanes asked for.
        lanes: usize,
        /// Bits of triples, inputs and outputs in each lane.
        bits: usize,
    },
}

impl CircuitJob {
    /// Makes a job of one lane in protocol B: value i belongs to party i mod `parties`, all parties get the output.
    pub fn new(circuit: Arc<Circuit>, parties: usize) -> Self {
        let owner = |value| Party::new(value % parties.max(1));
        Self {
            protocol: Backend::of(Sharing::B),
            parties,
            owners: (0..circuit.inputs().len())
                .map(|value| Some(owner(value)))
                .collect(),
            to: Party::all(parties.min(MAX_PARTIES)).collect(),
            hands_out: false,
            circuit,
            lanes: 1,
            branches: None,
        }
    }

    /// Makes the specification of a plan of the job, in all else as [`PlanSpec::new`] has it. Facts that the parties
    /// agree on name the protocol, the circuit, the lanes, the owners and the receivers.
    ///
    /// # Errors
    /// [`JobError`] if the job's parts do not fit together.
    pub fn spec(&self) -> Result<PlanSpec, JobError> {
        let receivers = self.receivers()?;
        self.check_lanes()?;
        // A party by its number, and all others alike.
        let list = |holders: &mut dyn Iterator<Item = Option<Party>>| {
            let name = |holder: Option<Party>| {
                holder.map_or_else(|| "others".to_owned(), |party| party.index().to_string())
            };
            holders.map(name).collect::<Vec<_>>().join(",")
        };
        let handed = self.hands_out.then_some(None);
        let hex = |digest: [u8; 32]| Digest256(digest).to_string();
        let also = [
            ("protocol", self.protocol.name.to_owned()),
            ("circuit", hex(self.circuit.digest())),
            ("lanes", self.lanes.to_string()),
            ("owners", list(&mut self.owners.iter().copied())),
            (
                "receivers",
                list(&mut receivers.iter().copied().map(Some).chain(handed)),
            ),
            ("compiled circuit", hex(self.circuit.compiled_digest())),
        ];
        let mut also: Vec<_> = also.map(|(name, value)| (name.to_owned(), value)).into();
        if self.circuit.branching().is_some() {
            let way = self.branches.map_or("all", Scheme::name);
            also.insert(0, ("branches".to_owned(), way.to_owned()));
        }
        Ok(PlanSpec {
            also,
            ..PlanSpec::new(self.graph(&receivers)?)
        })
    }

    /// Counts the ANDs in all lanes together.
    pub fn ands(&self) -> usize {
        self.circuit.layered().and_count() * self.lanes
    }

    /// Checks parties and owners, and gives the receivers in order, each once.
    fn receivers(&self) -> Result<Vec<Party>, JobError> {
        let (protocol, parties) = (self.protocol, self.parties);
        if !protocol.parties.contains(&parties) {
            return Err(JobError::Parties { protocol, parties });
        }
        let (values, owners) = (self.circuit.inputs().len(), self.owners.len());
        if owners != values {
            return Err(JobError::Owners { values, owners });
        }
        let mut named = self.owners.iter().flatten().chain(&self.to);
        if let Some(party) = named.find(|party| party.index() >= parties) {
            let party = party.index();
            return Err(JobError::NoSuchParty { party, parties });
        }
        let mut receivers = self.to.clone();
        receivers.sort();
        receivers.dedup();
        match receivers.is_empty() && !self.hands_out {
            true => Err(JobError::NoReceiver),
            false => Ok(receivers),
        }
    }

    /// Refuses lanes for which products of their number, here and in plans, would overflow.
    fn check_lanes(&self) -> Result<(), JobError> {
        let lanes = self.lanes;
        if lanes == 0 {
            return Err(JobError::NoLanes);
        }
        let layered = self.circuit.layered();
        let inputs: usize = self
            .circuit
            .inputs()
            .iter()
            .map(|&width| width as usize)
            .sum();
        let gates = 3 * layered.and_count() + layered.local_count();
        let bits = gates + 2 * layered.rows() + inputs + self.circuit.output_bits();
        let counted = lanes
            .checked_next_multiple_of(64)
            .and_then(|lanes| lanes.checked_mul(64 * bits.max(1)));
        match counted {
            Some(_) => Ok(()),
            None => Err(JobError::TooManyLanes { lanes, bits }),
        }
    }

    /// Makes the operation that evaluates the circuit.
    fn operation(&self, bits: &Bits) -> Result<DynOperation, JobError> {
        let Some(scheme) = self.branches else {
            return Ok(bits.circuits.circuit(Arc::clone(&self.circuit), self.lanes));
        };
        let branching = self.circuit.branching().ok_or("the circuit has none");
        let branching = bits.branches.and(branching);
        let branching = branching.map_err(|why| JobError::Branches { scheme, why })?;
        Ok(Arc::new(Branch::new(Arc::clone(branching), scheme)))
    }

    /// Makes the graph: the owner of each input value shares it, the circuit is evaluated, its outputs are opened. Shares that
    /// come in follow the parties' own values, in circuit order; those that are handed out follow what is opened.
    fn graph(&self, receivers: &[Party]) -> Result<Graph, JobError> {
        let protocol = self.protocol;
        let bits = protocol.bits.as_ref();
        let bits = bits.ok_or(JobError::NoCircuits { protocol })?;
        let mut graph = Graph::new(self.parties);
        let fits = "the job has been checked";
        let widths = self.circuit.inputs();
        let mut values = vec![None; widths.len()];
        for owner in Party::all(self.parties) {
            let own = (0..widths.len()).filter(|&value| self.owners[value] == Some(owner));
            let own: Vec<usize> = own.collect();
            if own.is_empty() {
                continue;
            }
            let mut input = |&value: &usize| {
                let element = Element::Bits(widths[value] as usize);
                graph.input(Sort::new(Sharing::clear(&[owner]), element, self.lanes))
            };
            let clear: Vec<Value> = own.iter().map(&mut input).collect();
            let share = protocol.edges.share(owner);
            let shared = graph.add_labelled(share, &clear, format!("inputs of {owner}"));
            for (value, shared) in own.into_iter().zip(shared.expect(fits)) {
                values[value] = Some(shared);
            }
        }
        for (value, own) in values.iter_mut().enumerate() {
            if own.is_none() {
                let element = Element::Bits(widths[value] as usize);
                let sort = Sort::new(protocol.kept.sharing, element, self.lanes);
                let dealt = vec![graph.input(sort)];
                let label = format!("shares of input {value}");
                let shared = chained(&mut graph, protocol.from_kept(), dealt, &label);
                *own = shared.into_iter().next();
            }
        }
        let values: Vec<Value> = values.into_iter().flatten().collect();
        let circuit = self.operation(bits)?;
        let label = self.circuit.name().to_owned();
        let made = graph.add_labelled(circuit, &values, label).expect(fits);
        let mut outputs = Vec::new();
        if !receivers.is_empty() {
            let open = protocol.edges.open(receivers);
            let opened = graph.add_labelled(open, &made, "outputs".to_owned());
            outputs.extend(opened.expect(fits));
        }
        if self.hands_out {
            let label = "shares of outputs";
            for value in made {
                let mut chain = protocol.to_kept();
                chain.push(Arc::new(HandOut));
                outputs.extend(chained(&mut graph, chain, vec![value], label));
            }
        }
        for output in outputs {
            graph.output(output);
        }
        Ok(graph)
    }
}

/// Adds operations that follow each other.
fn chained(graph: &mut Graph, chain: Chain, values: Vec<Value>, label: &str) -> Vec<Value> {
    chain.into_iter().fold(values, |values, operation| {
        let made = graph.add_labelled(operation, &values, label.to_owned());
        made.expect("the job has been checked")
    })
}
