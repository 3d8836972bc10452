//! Plans: the key's schedule, then stages of as many digests as memory holds.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_core::time::{Link, Rates};
use madrigal_core::{Cost, Party};
use madrigal_correlations::Needs;
use madrigal_engine::{
    Element, Graph, GraphError, Origin, Plan, PlanError, PlanSpec, Sharing, Sort, Value,
};
use madrigal_operations::{Backend, Layout, Rearrange};

use super::circuits::{BITS, Circuits, ROUNDS};

/// Digests of a piece: one party's, which are encrypted side by side. The keys of all rounds take 11 rows for them, of which all pieces of a stage
/// read the same.
const PIECE: usize = 1 << 16;
/// Pieces of a stage. Its values take some hundreds of megabytes at most; more of them would save rounds over slow lines.
const PIECES: usize = 4;
/// Seconds of a message's way from which on circuits are for few rounds, two thirds of those with the fewest ANDs.
const FAR: f64 = 1e-3;

/// Decides where correlations for these needs come from.
pub(super) type Origins = Arc<dyn Fn(&Needs) -> Origin + Send + Sync>;

/// Digests that are to be encrypted, and how.
#[derive(Clone)]
pub struct Keyed {
    /// Protocol: one on bits whose circuits go layer by layer, as R and B.
    pub protocol: &'static Backend,
    /// Number of digests of each party.
    pub lens: Vec<usize>,
    /// Parties that get all tags.
    pub to: Vec<Party>,
    /// Line between any two parties.
    pub line: Link,
    /// Threads of each party.
    pub threads: usize,
    /// Source of the correlations that are needed. All parties choose alike.
    pub origin: Origins,
}

impl Keyed {
    /// Numbers of digests of the parties, whose tags all learn, on one thread in a local network.
    pub fn new(protocol: &'static Backend, lens: Vec<usize>) -> Self {
        Self {
            protocol,
            to: Party::all(lens.len()).collect(),
            lens,
            line: Link::default(),
            threads: 1,
            origin: Arc::new(|_| Origin::default()),
        }
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, lens, .. } = self;
        write!(f, "Keyed({lens:?} in {})", protocol.name)
    }
}

/// Reasons why digests cannot be encrypted as asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyedError {
    /// A protocol that is not for this.
    #[error(
        "protocol {} does not encrypt digests of {parties} parties: take R for three parties, B for any number",
        .protocol.name
    )]
    Protocol {
        /// Protocol that was asked for.
        protocol: &'static Backend,
        /// Parties.
        parties: usize,
    },
    /// Nobody learns the tags, or somebody who is no party.
    #[error("tags are for one party at least, and for none beyond {parties} parties")]
    Receivers {
        /// Parties.
        parties: usize,
    },
    /// A plan that cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A graph that cannot be, which is a bug.
    #[error("a bug in madrigal: {0}")]
    Graph(#[from] GraphError),
}

/// Digests of one party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) owner: Party,
    pub(super) range: Range<usize>,
}

/// A stage's plan, which stages with pieces of the same parties and lengths share.
#[derive(Debug, Clone)]
pub(super) struct StagePlan {
    shape: Vec<(Party, usize)>,
    pub(super) plan: Plan,
    /// Inputs that are keys of rounds.
    pub(super) keys: Vec<Value>,
}

/// Plans of all stages. All parties that have the same [`Keyed`] have the same.
#[derive(Debug, Clone)]
pub struct KeyedPlan {
    pub(super) keyed: Keyed,
    /// Makes the keys of all rounds.
    pub(super) schedule: Plan,
    pub(super) plans: Vec<StagePlan>,
    /// Pieces of each stage, and the number of its plan.
    pub(super) stages: Vec<(Vec<Piece>, usize)>,
}

impl KeyedPlan {
    /// Plans all of it.
    ///
    /// # Errors
    /// [`KeyedError`]: parties or protocols that do not go together, threads of which there are too many.
    pub fn new(keyed: &Keyed) -> Result<Self, KeyedError> {
        let (protocol, parties) = (keyed.protocol, keyed.lens.len());
        let layered = protocol.bits.as_ref().is_some_and(|bits| bits.layered);
        // Keys go from stage to stage as they are.
        if !layered || !protocol.parties.contains(&parties) || protocol.kept.to.is_some() {
            return Err(KeyedError::Protocol { protocol, parties });
        }
        if keyed.to.is_empty() || keyed.to.iter().any(|to| to.index() >= parties) {
            return Err(KeyedError::Receivers { parties });
        }
        let goal = match keyed.line.latency < FAR {
            true => Goal::Size,
            false => Goal::Depth,
        };
        let circuits = Circuits::new(parties, goal);
        let schedule = keyed.plan(schedule(protocol, parties, &circuits)?)?;
        let mut plans: Vec<StagePlan> = Vec::new();
        let mut stages = Vec::new();
        for pieces in pieces(&keyed.lens).chunks(PIECES) {
            let shape: Vec<_> = pieces
                .iter()
                .map(|one| (one.owner, one.range.len()))
                .collect();
            let known = plans.iter().position(|plan| plan.shape == shape);
            let number = match known {
                Some(number) => number,
                None => {
                    let (graph, keys) = stage(keyed, &circuits, &shape)?;
                    let plan = keyed.plan(graph)?;
                    plans.push(StagePlan { shape, plan, keys });
                    plans.len() - 1
                }
            };
            stages.push((pieces.to_vec(), number));
        }
        Ok(Self {
            keyed: keyed.clone(),
            schedule,
            plans,
            stages,
        })
    }

    /// Jobs of a session that it takes: one for the key, and one for each stage.
    pub fn jobs(&self) -> u32 {
        1 + self.stages.len() as u32
    }

    /// Cost of a party, to the byte.
    pub fn cost(&self, me: Party) -> Cost {
        let mut cost = self.schedule.cost(me);
        for plan in self.all() {
            let of_stage = plan.cost(me);
            cost.setup += of_stage.setup;
            cost.online += of_stage.online;
        }
        cost
    }

    /// Seconds of the slowest party by an estimate, on machines with these rates.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        let of = |plan: &Plan| {
            let times = Party::all(self.keyed.lens.len());
            let times = times.map(|me| plan.time(me, rates, &self.keyed.line).total);
            times.fold(0.0, f64::max)
        };
        of(&self.schedule) + self.all().map(of).sum::<f64>()
    }

    /// The plan of each stage.
    fn all(&self) -> impl Iterator<Item = &Plan> {
        let plans = self.stages.iter();
        plans.filter_map(|&(_, plan)| Some(&self.plans.get(plan)?.plan))
    }
}

impl Keyed {
    fn plan(&self, graph: Graph) -> Result<Plan, KeyedError> {
        let protocol = ("protocol".to_owned(), self.protocol.name.to_owned());
        let spec = PlanSpec {
            line: self.line,
            also: vec![protocol],
            ..PlanSpec::new(graph)
        }
        .on_threads(self.threads);
        let first = Plan::new(spec.clone())?;
        if first.needs().is_empty() {
            return Ok(first);
        }
        let origin = (self.origin)(&first.needs());
        Ok(Plan::fastest(PlanSpec { origin, ..spec })?)
    }
}

/// All digests in pieces, each party's in order.
fn pieces(lens: &[usize]) -> Vec<Piece> {
    let of = |(party, &len): (usize, &usize)| {
        (0..len).step_by(PIECE).map(move |start| Piece {
            owner: Party::new(party),
            range: start..len.min(start + PIECE),
        })
    };
    lens.iter().enumerate().flat_map(of).collect()
}

/// Graph of the key: its parts are shared, and the keys of all rounds stay shared.
pub(super) fn schedule(
    protocol: &'static Backend,
    parties: usize,
    circuits: &Circuits,
) -> Result<Graph, GraphError> {
    let mut graph = Graph::new(parties);
    let mut parts = Vec::new();
    for owner in Party::all(parties) {
        let part = graph.input(Sort::new(Sharing::clear(&[owner]), Element::Bits(BITS), 1));
        parts.extend(graph.add(protocol.edges.share(owner), &[part])?);
    }
    let operation = protocol
        .bits()
        .circuits
        .circuit(Arc::clone(&circuits.keys), 1);
    for key in graph.add(operation, &parts)? {
        graph.output(key);
    }
    Ok(graph)
}

/// Keys of all rounds, the same in all lanes.
pub(super) fn spread(
    graph: &mut Graph,
    keys: &[Value],
    lanes: usize,
) -> Result<Vec<Value>, GraphError> {
    let mut spread = Vec::with_capacity(keys.len());
    for &key in keys {
        let again = Layout::Grid {
            start: 0,
            axes: vec![(lanes, 0)],
        };
        spread.extend(graph.add(Arc::new(Rearrange::new(again)), &[key])?);
    }
    Ok(spread)
}

/// The state after all rounds, of the state before them and the keys of all lanes.
pub(super) fn encrypted(
    graph: &mut Graph,
    protocol: &'static Backend,
    circuits: &Circuits,
    keys: &[Value],
    mut state: Vec<Value>,
    lanes: usize,
) -> Result<Vec<Value>, GraphError> {
    for round in 1..=ROUNDS {
        let first = if round == 1 { 0 } else { round };
        let operation = protocol.bits().circuits;
        let operation = operation.circuit(Arc::clone(circuits.round(round)), lanes);
        state.extend(&keys[first..=round]);
        state = graph.add(operation, &state)?;
    }
    Ok(state)
}

/// Graph of a stage, and its inputs that are keys: these are the same in all lanes, digests of each piece are shared, encrypted and opened.
fn stage(
    keyed: &Keyed,
    circuits: &Circuits,
    shape: &[(Party, usize)],
) -> Result<(Graph, Vec<Value>), GraphError> {
    let protocol = keyed.protocol;
    let mut graph = Graph::new(keyed.lens.len());
    let one = Sort::new(protocol.sharing, Element::Bits(BITS), 1);
    let keys: Vec<Value> = (0..=ROUNDS).map(|_| graph.input(one)).collect();
    let mut known: Vec<(usize, Vec<Value>)> = Vec::new();
    for &(owner, len) in shape {
        if !known.iter().any(|of| of.0 == len) {
            let lanes = spread(&mut graph, &keys, len)?;
            known.push((len, lanes));
        }
        let found = known.iter().find(|of| of.0 == len);
        let lanes = found.map_or_else(Vec::new, |of| of.1.clone());
        let digests = Sort::new(Sharing::clear(&[owner]), Element::Bits(BITS), len);
        let digests = graph.input(digests);
        let state = graph.add(protocol.edges.share(owner), &[digests])?;
        let state = encrypted(&mut graph, protocol, circuits, &lanes, state, len)?;
        for tag in graph.add(protocol.edges.open(&keyed.to), &state)? {
            graph.output(tag);
        }
    }
    Ok((graph, keys))
}
