//! Blocks that are shared, encrypted under a key that nobody knows: the key's schedule as one plan, and a plan for each number of blocks.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::{Element, Graph, GraphError, Plan, PlanSpec, Shares, Sharing, Sort};
use madrigal_kernels::Block;
use madrigal_operations::Backend;

use super::circuits::{BITS, Circuits, ROUNDS};
use super::plan::{KeyedError, encrypted, schedule, spread};

/// AES-128 of blocks in protocol R, under a key that is the XOR of a part of each of three parties. A block is the XOR of a part of each party, too.
///
/// Keys of rounds stay shared: a plan of blocks takes them as its first 11 inputs, each of one element, and the parties' parts of the blocks as the
/// other three; its only output are the encrypted blocks, shared. Parties share their parts anew, so that any parts are those of some block: whoever
/// brings parts of which parties have copies can make these differ, and find the key by what that does to the first round. Lanes do not meet: what a lane
/// comes to depends on its own block and the key alone. Circuits are for few rounds: 40 of them for a block, whatever their number, and 5,280 ANDs, of each
/// of which every party sends a bit.
#[derive(Debug, Clone)]
pub struct SharedAes {
    circuits: Circuits,
    schedule: Plan,
    threads: usize,
}

/// Parties of protocol R.
const PARTIES: usize = 3;

impl SharedAes {
    /// Plans the key's schedule, for parties that compute on this many threads.
    ///
    /// # Errors
    /// [`KeyedError`]: threads of which there are too many.
    pub fn new(threads: usize) -> Result<Self, KeyedError> {
        let circuits = Circuits::new(PARTIES, Goal::Depth);
        let graph = schedule(protocol(), PARTIES, &circuits)?;
        let schedule = planned(graph, threads)?;
        Ok(Self {
            circuits,
            schedule,
            threads,
        })
    }

    /// The plan that makes the keys of all rounds: inputs are the parties' parts, outputs the 11 keys, shared.
    pub fn schedule(&self) -> &Plan {
        &self.schedule
    }

    /// A party's inputs of the schedule: its own part of the key, and nothing of the others'.
    pub fn key_parts(&self, me: Party, part: &Block) -> Vec<Shares> {
        let own = Shares::bits_of(Sharing::clear(&[me]), BITS, &[u128::from(*part)]);
        Self::parts(me, own)
    }

    /// A party's inputs of a plan of blocks after the keys: its own parts, of the sort [`own`](Self::own), and nothing of the others'.
    pub fn parts(me: Party, own: Shares) -> Vec<Shares> {
        let mut own = Some(own);
        let len = own.as_ref().map_or(0, Shares::len);
        let one = |owner: Party| match owner == me {
            true => own.take(),
            false => Some(Shares::unknown(Self::own(owner, len))),
        };
        Party::all(PARTIES).filter_map(one).collect()
    }

    /// The sort of a party's parts of this many blocks.
    pub fn own(owner: Party, blocks: usize) -> Sort {
        Sort::new(Sharing::clear(&[owner]), Element::Bits(BITS), blocks)
    }

    /// The sort of this many shared blocks.
    pub fn shared(blocks: usize) -> Sort {
        Sort::new(protocol().sharing, Element::Bits(BITS), blocks)
    }

    /// Plans the encryption of this many blocks.
    ///
    /// # Errors
    /// [`KeyedError`]: no plan for as many.
    pub fn blocks(&self, blocks: usize) -> Result<Plan, KeyedError> {
        planned(self.graph(blocks)?, self.threads)
    }

    fn graph(&self, blocks: usize) -> Result<Graph, GraphError> {
        let mut graph = Graph::new(PARTIES);
        let keys: Vec<_> = (0..=ROUNDS).map(|_| graph.input(Self::shared(1))).collect();
        let lanes = spread(&mut graph, &keys, blocks)?;
        let mut parts = Vec::new();
        for owner in Party::all(PARTIES) {
            let part = graph.input(Self::own(owner, blocks));
            parts.extend(graph.add(protocol().edges.share(owner), &[part])?);
        }
        let circuits = protocol().bits().circuits;
        let sum = circuits.circuit(std::sync::Arc::clone(&self.circuits.block), blocks);
        let state = graph.add(sum, &parts)?;
        let state = encrypted(
            &mut graph,
            protocol(),
            &self.circuits,
            &lanes,
            state,
            blocks,
        )?;
        state.into_iter().for_each(|value| {
            graph.output(value);
        });
        Ok(graph)
    }
}

fn protocol() -> &'static Backend {
    Backend::of(Sharing::R)
}

fn planned(graph: Graph, threads: usize) -> Result<Plan, KeyedError> {
    let also = ("protocol".to_owned(), protocol().name.to_owned());
    let spec = PlanSpec {
        also: vec![also],
        ..PlanSpec::new(graph)
    };
    Ok(Plan::new(spec.on_threads(threads))?)
}
