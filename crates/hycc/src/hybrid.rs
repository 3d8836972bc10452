//! A program for a number of parties and runs, ready to be planned.

use std::thread;

use madrigal_circuit::hycc::{Flat, Input, Variable};
use madrigal_core::budget::Spent;
use madrigal_core::{Digest256, MAX_PARTIES, Party, Ring, Zeroizing, domains};
use madrigal_engine::{
    Element, Given, Graph, GraphError, Outcome, Plan, PlanSpec, RunError, Shares, run_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};
use sha2::{Digest, Sha256};

use crate::graph::{HybridGraph, MakeError, Piece};
use crate::make::make;
use crate::stages::{Options, OptionsError};
use crate::values::{Values, ValuesError};

/// The most runs at once.
const MOST_RUNS: usize = 1 << 30;

/// A HyCC program as operations of the engine, for a number of parties and runs.
#[derive(Debug, Clone)]
pub struct Hybrid {
    made: HybridGraph,
    inputs: Vec<Input>,
    input_nodes: Vec<Vec<u32>>,
    widths: Vec<u8>,
    outputs: Vec<Variable>,
    runs: usize,
    to: Vec<Party>,
}

/// A program that cannot be for these parties.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// Too few or too many.
    #[error("a program is for 2 to {MAX_PARTIES} parties, not {parties}")]
    Parties {
        /// Number of parties.
        parties: usize,
    },
    /// No run, or too many.
    #[error("a program is for 1 to {MOST_RUNS} runs, not {runs}")]
    Runs {
        /// Number of runs.
        runs: usize,
    },
    /// A party that is not there.
    #[error(
        "input {name} is of party {owner}, and there are {parties} parties, from 0 on; have more of them"
    )]
    Owner {
        /// The input.
        name: String,
        /// Party whose input it is.
        owner: u8,
        /// Number of parties.
        parties: usize,
    },
    /// Nobody gets the outputs, or a party that is not there.
    #[error(
        "the outputs are for {to:?}, and there are {parties} parties, from 0 on; name one of these at least"
    )]
    Receivers {
        /// Parties that would get them.
        to: Vec<usize>,
        /// Number of parties.
        parties: usize,
    },
    /// Protocols that do not compute the program together.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Operation that the engine lacks.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Circuits of the stages that take too much memory together.
    #[error("the program's stages take more and more bits from each other: {0}")]
    Memory(Spent),
}

impl From<MakeError> for HybridError {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Graph(error) => Self::Graph(error),
            MakeError::Memory(spent) => Self::Memory(spent),
        }
    }
}

/// Error where all parties are in one process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// Values that are not those wanted.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// Something between the parties.
    #[error("{party}: {error}")]
    Run {
        /// The first party that says so.
        party: Party,
        /// Error of the party.
        error: RunError,
    },
}

impl Hybrid {
    /// Makes the program for `parties` parties, in `runs` runs side by side, with outputs for `to`. An input's
    /// owner is the party of its number: Alice is party 0 and Bob party 1.
    ///
    /// # Errors
    /// [`HybridError`]: parties that do not fit.
    pub fn new(
        flat: &Flat,
        options: &Options,
        parties: usize,
        runs: usize,
        to: &[Party],
    ) -> Result<Self, HybridError> {
        if !(2..=MAX_PARTIES).contains(&parties) {
            return Err(HybridError::Parties { parties });
        }
        if !(1..=MOST_RUNS).contains(&runs) {
            return Err(HybridError::Runs { runs });
        }
        if to.is_empty() || to.iter().any(|party| party.index() >= parties) {
            let to = to.iter().map(|party| party.index()).collect();
            return Err(HybridError::Receivers { to, parties });
        }
        if let Some(input) = flat
            .inputs
            .iter()
            .find(|input| usize::from(input.owner) >= parties)
        {
            return Err(HybridError::Owner {
                name: input.name.clone(),
                owner: input.owner,
                parties,
            });
        }
        options.check(parties)?;
        let mut to = to.to_vec();
        to.sort();
        to.dedup();
        Ok(Self {
            made: make(flat, options, parties, runs, &to)?,
            inputs: flat.inputs.clone(),
            input_nodes: flat.input_nodes.clone(),
            widths: flat.nodes.iter().map(|node| node.width).collect(),
            outputs: flat.outputs.clone(),
            runs,
            to,
        })
    }

    /// Graph that the engine computes.
    pub fn graph(&self) -> &Graph {
        &self.made.graph
    }

    /// The plan's beginning, with all else as usual; change what is to be otherwise. The parties agree on
    /// what is computed, and on the names and types of what goes in and comes out.
    pub fn spec(&self) -> PlanSpec {
        let mut hash = Sha256::new_with_prefix(domains::VARIABLES);
        let mut put = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        // Variants of one module differ in the order of their inputs.
        let mut inputs: Vec<_> = self.inputs.iter().collect();
        inputs.sort_by(|a, b| a.name.cmp(&b.name));
        for input in inputs {
            put(&format!("{} of {}: {}", input.name, input.owner, input.ty));
        }
        for (output, pieces) in self.outputs.iter().zip(&self.made.outputs) {
            put(&format!("{}: {}, {pieces:?}", output.name, output.ty));
        }
        let digest = Digest256::from(hash.finalize()).to_string();
        let mut spec = PlanSpec::new(self.made.graph.clone());
        spec.also = vec![("variables".to_owned(), digest)];
        spec
    }

    /// Inputs of all parties.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Inputs that a party brings.
    pub fn inputs_of(&self, me: Party) -> impl Iterator<Item = &Input> {
        let own = move |input: &&Input| usize::from(input.owner) == me.index();
        self.inputs.iter().filter(own)
    }

    /// Outputs of the program.
    pub fn outputs(&self) -> &[Variable] {
        &self.outputs
    }

    /// Number of runs side by side.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Gives the values that a party brings to [`run_program`]: its inputs, of `values`, which may have those of others too.
    ///
    /// # Errors
    /// [`ValuesError`]: inputs of `me` that are missing or of another size.
    pub fn given<'a>(&self, me: Party, values: &Values) -> Result<Given<'a>, ValuesError> {
        let own: Vec<_> = self.inputs_of(me).collect();
        if !own.is_empty() && values.runs() != self.runs {
            return Err(ValuesError::Runs {
                expected: self.runs,
                found: values.runs(),
            });
        }
        for input in own {
            for run in 0..self.runs {
                let (name, ty) = (input.name.clone(), input.ty.to_string());
                let Some(bits) = values.bits(run, &name) else {
                    return Err(ValuesError::Missing {
                        name,
                        ty,
                        run: run + 1,
                        runs: self.runs,
                    });
                };
                let (expected, found) = (input.ty.bits(), bits.len() as u64);
                if expected != found {
                    return Err(ValuesError::Bits {
                        name,
                        ty,
                        expected,
                        found,
                    });
                }
            }
        }
        // Variable of each node, and the node's first bit in it.
        let mut places = vec![(0, 0); self.widths.len()];
        for (input, nodes) in self.input_nodes.iter().enumerate() {
            let mut first = 0;
            for &node in nodes {
                places[node as usize] = (input, first);
                first += usize::from(self.widths[node as usize]);
            }
        }
        let graph = &self.made.graph;
        let inputs = graph.inputs().iter().zip(&self.made.inputs);
        let inputs = inputs.map(|(&value, nodes)| {
            let sort = *graph.sort(value);
            if !sort.sharing.is_known_to(me) {
                return Shares::unknown(sort);
            }
            let mut shares = Shares::zeros(sort);
            for (at, &node) in nodes.iter().enumerate() {
                let (input, first) = places[node as usize];
                let width = usize::from(self.widths[node as usize]);
                for run in 0..self.runs {
                    let bits = values.bits(run, &self.inputs[input].name);
                    let bits = &bits.unwrap_or_default()[first..first + width];
                    match sort.element {
                        Element::Bits(_) => {
                            shares.plane_mut(at, 0)[run / 8] |= (bits[0] & 1) << (run % 8);
                        }
                        Element::Ring(ring) => madrigal_engine::with_ring!(ring, T => {
                            let word = (0..).zip(bits);
                            let word = word.fold(0, |word, (at, &bit)| word | u128::from(bit & 1) << at);
                            shares.component_mut::<T>(0)[at * self.runs + run] = <T as Ring>::from_u128(word);
                        }),
                    }
                }
            }
            shares
        });
        Ok(Given {
            inputs: inputs.collect(),
            ..Given::default()
        })
    }

    /// The outputs by their names, of what [`run_program`] gave `me`; nothing for parties that get none.
    pub fn values(&self, me: Party, outputs: &[Shares]) -> Option<Values> {
        if !self.to.contains(&me) {
            return None;
        }
        let mut values = Values::new(self.runs);
        for (variable, pieces) in self.outputs.iter().zip(&self.made.outputs) {
            for run in 0..self.runs {
                let mut bits = Zeroizing::new(Vec::with_capacity(variable.ty.bits() as usize));
                for piece in pieces {
                    let (value, width) = match *piece {
                        Piece::Known { value, width } => (u128::from(value), width),
                        Piece::At {
                            output,
                            place,
                            width,
                        } => {
                            let opened = &outputs[output];
                            let value = match opened.sort().element {
                                Element::Bits(_) => {
                                    u128::from(opened.plane(place, 0)[run / 8] >> (run % 8) & 1)
                                }
                                Element::Ring(ring) => madrigal_engine::with_ring!(ring, T => {
                                    let word = opened.component::<T>(0)[place * self.runs + run];
                                    Ring::to_u128(word)
                                }),
                            };
                            (value, width)
                        }
                    };
                    bits.extend((0..width).map(|bit| (value >> bit & 1) as u8));
                }
                values.put(run, &variable.name, bits);
            }
        }
        Some(values)
    }

    /// Runs a plan of this program as all of its parties: each on a thread of its own, messages through
    /// memory. For trials and tests: one process then knows all inputs.
    ///
    /// # Errors
    /// [`LocalError`]: values that are missing, before anything runs; what goes wrong between the parties.
    pub fn run_locally(
        &self,
        plan: &Plan,
        values: &Values,
    ) -> Result<Vec<(Option<Values>, Outcome)>, LocalError> {
        let parties = self.made.graph.parties();
        let mut given = Vec::new();
        for me in Party::all(parties) {
            given.push(self.given(me, values)?);
        }
        let party = |me: Party, transport, given| {
            block_on(async {
                let session = Session::new(SessionConfig::new(me, parties), transport);
                let run = async {
                    session.greet().await?;
                    run_program(&session, 1, plan, given, None, &|_| {}).await
                };
                let done = run.await;
                session.close().await;
                done
            })
        };
        let party = &party;
        let ended: Vec<_> = thread::scope(|scope| {
            let all = Party::all(parties).zip(mesh(parties)).zip(given);
            let threads: Vec<_> = all
                .map(|((me, transport), given)| scope.spawn(move || party(me, transport, given)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.join().unwrap_or_else(panicked)
            };
            threads.into_iter().map(join).collect()
        });
        let all = Party::all(parties).zip(ended);
        all.map(|(party, ended)| {
            let outcome = ended.map_err(|error| LocalError::Run { party, error })?;
            Ok((self.values(party, &outcome.outputs), outcome))
        })
        .collect()
    }
}
