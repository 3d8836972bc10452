//! Circuits with secret branches: netlists, conditionals and sequences of them, nested to any depth.
//!
//! The syntax is that of Masked Triples (section 5.1): a circuit is a netlist, a conditional whose
//! branches are circuits, or a sequence. Two things are more general here. A conditional has any number
//! of branches, one of which is active: the one whose number is given, in binary, by wires that nobody
//! knows. And circuits are put together wire by wire ([`Draft`]), so that what goes past a conditional
//! need not go through it.
//!
//! [`Branching::evaluate`] is the oracle. [`Branching::flatten`] makes an ordinary netlist that computes
//! all branches and multiplexes, for protocols that know nothing better; [`Guarded::compile`] makes
//! programs for those that do.

mod compile;
mod error;
mod flatten;
mod levels;
mod nodes;
mod random;
mod text;

use std::sync::Arc;

use madrigal_core::domains;

use crate::netlist::{Netlist, Words};
use crate::rows::Rows;

pub use compile::{Conditional, Group, Guard, Guarded, GuardedLayer};
pub use error::{BranchError, BranchTextError, MAX_BRANCHES, MAX_NESTING};
pub use levels::Layering;
pub use nodes::Form;
pub use random::{Random, RandomError, nested};

/// The most wires, output bits and parts of a circuit and all its branches together.
const MAX_TOTAL: u64 = 1 << 28;

/// A circuit with secret branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branching {
    name: String,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    steps: Vec<Step>,
    /// The wires of all outputs.
    results: Vec<u32>,
    wires: u32,
    /// Wires and output bits of this circuit and of all its branches, and one for each of its parts: what a form of it that
    /// has every branch is as large as.
    total: u64,
    nesting: usize,
}

/// A part of a [`Branching`]. Its outputs are the next wires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A netlist.
    Circuit {
        /// Netlist that it computes.
        netlist: Arc<Netlist>,
        /// The wires that it reads, for all its input values together.
        inputs: Vec<u32>,
    },
    /// One of several circuits, and nobody knows which.
    Choice {
        /// The number of the active branch, from its lowest bit on: [`index_bits`] wires. Where there is
        /// no branch of that number, all outputs are 0.
        index: Vec<u32>,
        /// The wires that all branches read.
        inputs: Vec<u32>,
        /// Circuits of as many inputs and outputs.
        branches: Vec<Arc<Branching>>,
    },
}

/// Bits of the number of one of `branches` branches.
pub const fn index_bits(branches: usize) -> usize {
    match branches {
        0 | 1 => 0,
        more => (more - 1).ilog2() as usize + 1,
    }
}

/// A [`Branching`] while it is put together.
#[derive(Debug)]
pub struct Draft {
    made: Branching,
}

impl Draft {
    /// Nothing but inputs: the first wires, value by value.
    pub fn new(name: &str, inputs: &[u32]) -> Self {
        let wires = inputs.iter().sum();
        Self {
            made: Branching {
                name: name.to_owned(),
                inputs: inputs.to_vec(),
                outputs: Vec::new(),
                steps: Vec::new(),
                results: Vec::new(),
                wires,
                total: wires.into(),
                nesting: 0,
            },
        }
    }

    fn check(&self, wires: &[u32]) -> Result<(), BranchError> {
        let all = self.made.wires;
        match wires.iter().find(|&&wire| wire >= all) {
            Some(&wire) => Err(BranchError::Wire { wire, wires: all }),
            None => Ok(()),
        }
    }

    fn add(&mut self, step: Step, outputs: u32, inner: u64) -> Result<Vec<u32>, BranchError> {
        let total = self.made.total + 1 + u64::from(outputs) + inner;
        if total > MAX_TOTAL {
            return Err(BranchError::TooLarge);
        }
        self.made.total = total;
        let first = self.made.wires;
        self.made.wires += outputs;
        self.made.steps.push(step);
        Ok((first..first + outputs).collect())
    }

    /// A netlist on these wires; gives the wires of its outputs.
    ///
    /// # Errors
    /// [`BranchError`] if there are more or fewer wires than it has input bits, or one that is not there.
    pub fn circuit(
        &mut self,
        netlist: Arc<Netlist>,
        inputs: &[u32],
    ) -> Result<Vec<u32>, BranchError> {
        self.check(inputs)?;
        if inputs.len() != netlist.input_bits() as usize {
            return Err(BranchError::Inputs {
                what: "netlist",
                name: netlist.name().to_owned(),
                expected: netlist.input_bits() as usize,
                found: inputs.len(),
            });
        }
        let (outputs, inner) = (netlist.output_bits(), u64::from(netlist.wires()));
        let inputs = inputs.to_vec();
        self.add(Step::Circuit { netlist, inputs }, outputs, inner)
    }

    /// The branch whose number stands on the wires of `index`, on `inputs`; gives the wires of its
    /// outputs.
    ///
    /// # Errors
    /// [`BranchError`] if branches, index and inputs do not fit each other.
    pub fn choice(
        &mut self,
        index: &[u32],
        inputs: &[u32],
        branches: Vec<Arc<Branching>>,
    ) -> Result<Vec<u32>, BranchError> {
        let count = branches.len();
        if !(1..=MAX_BRANCHES).contains(&count) {
            return Err(BranchError::Branches { found: count });
        }
        self.check(index)?;
        self.check(inputs)?;
        let expected = index_bits(count);
        if index.len() != expected {
            return Err(BranchError::Index {
                branches: count,
                expected,
                found: index.len(),
            });
        }
        let outputs = branches[0].results.len();
        for branch in &branches {
            if branch.input_bits() != inputs.len() {
                return Err(BranchError::Inputs {
                    what: "branch",
                    name: branch.name.clone(),
                    expected: branch.input_bits(),
                    found: inputs.len(),
                });
            }
            if branch.results.len() != outputs {
                return Err(BranchError::Outputs {
                    name: branch.name.clone(),
                    expected: outputs,
                    found: branch.results.len(),
                });
            }
        }
        let inside = branches.iter().map(|branch| branch.nesting).max();
        let nesting = 1 + inside.unwrap_or(0);
        if nesting > MAX_NESTING {
            return Err(BranchError::Nesting);
        }
        self.made.nesting = nesting.max(self.made.nesting);
        let inner = branches.iter().map(|branch| branch.total).sum();
        let (index, inputs) = (index.to_vec(), inputs.to_vec());
        let step = Step::Choice {
            index,
            inputs,
            branches,
        };
        self.add(step, outputs as u32, inner)
    }

    /// The circuit with these wires as its output values.
    ///
    /// # Errors
    /// [`BranchError`] if one of them is not there, or if they are too many.
    pub fn finish(mut self, outputs: &[&[u32]]) -> Result<Branching, BranchError> {
        for value in outputs {
            self.check(value)?;
            self.made.outputs.push(value.len() as u32);
            self.made.results.extend_from_slice(value);
        }
        self.made.total += self.made.results.len() as u64;
        if self.made.total > MAX_TOTAL {
            return Err(BranchError::TooLarge);
        }
        Ok(self.made)
    }
}

impl Branching {
    /// A netlist, as it is.
    pub fn netlist(netlist: Arc<Netlist>) -> Self {
        let (name, outputs) = (netlist.name().to_owned(), netlist.outputs().to_vec());
        let mut draft = Draft::new(&name, netlist.inputs());
        let inputs: Vec<u32> = (0..netlist.input_bits()).collect();
        let wires = draft.circuit(netlist, &inputs);
        let wires = wires.expect("a netlist fits itself");
        let values = cut(&wires, &outputs);
        draft.finish(&values).expect("its own wires")
    }

    /// The conditional of the paper: the first value is the number of the active branch, the others are
    /// those of the first branch.
    ///
    /// # Errors
    /// [`BranchError`] if branches differ in inputs or outputs.
    pub fn conditional(name: &str, branches: Vec<Arc<Self>>) -> Result<Self, BranchError> {
        let Some(first) = branches.first().cloned() else {
            return Err(BranchError::Branches { found: 0 });
        };
        let bits = index_bits(branches.len()) as u32;
        let mut widths = vec![bits];
        widths.extend(first.inputs());
        let mut draft = Draft::new(name, &widths);
        let index: Vec<u32> = (0..bits).collect();
        let inputs: Vec<u32> = (bits..draft.made.wires).collect();
        let wires = draft.choice(&index, &inputs, branches)?;
        let values = cut(&wires, first.outputs());
        draft.finish(&values)
    }

    /// The sequence of the paper: the output bits of each part are the input bits of the next one.
    ///
    /// # Errors
    /// [`BranchError`] if there are no parts, or if a part has another number of inputs.
    pub fn sequence(name: &str, parts: Vec<Self>) -> Result<Self, BranchError> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return Err(BranchError::Branches { found: 0 });
        };
        let mut draft = Draft::new(name, &first.inputs);
        let outputs = last.outputs.clone();
        let mut wires: Vec<u32> = (0..draft.made.wires).collect();
        for part in parts {
            // One branch and no index: always active.
            wires = draft.choice(&[], &wires, vec![Arc::new(part)])?;
        }
        let values = cut(&wires, &outputs);
        draft.finish(&values)
    }

    /// The netlist that it is, if it is [one as it is](Self::netlist).
    fn as_netlist(&self) -> Option<&Netlist> {
        let [Step::Circuit { netlist, inputs }] = &self.steps[..] else {
            return None;
        };
        let bits = self.input_bits() as u32;
        let same = netlist.inputs() == self.inputs && netlist.outputs() == self.outputs;
        let in_order = |list: &[u32], first: u32| list.iter().copied().eq(first..self.wires);
        let given = inputs.iter().copied().eq(0..bits);
        (same && given && in_order(&self.results, bits)).then_some(netlist)
    }

    /// Conditionals of two branches or more, those in branches included, and the most branches that one has.
    pub fn conditionals(&self) -> (usize, usize) {
        let (mut count, mut most) = (0, 0);
        for step in &self.steps {
            if let Step::Choice { branches, .. } = step {
                if branches.len() > 1 {
                    (count, most) = (count + 1, most.max(branches.len()));
                }
                for branch in branches {
                    let (inside, widest) = branch.conditionals();
                    (count, most) = (count + inside, most.max(widest));
                }
            }
        }
        (count, most)
    }

    /// Name of it in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Widths of the input values, in bits.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// Widths of the output values, in bits.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Bits of all input values together: the first wires.
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().map(|&width| width as usize).sum()
    }

    /// The parts, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The wires of all output values, in order.
    pub fn results(&self) -> &[u32] {
        &self.results
    }

    /// Number of conditionals that stand in each other.
    pub fn nesting(&self) -> usize {
        self.nesting
    }

    /// SHA-256 of its meaning, names aside, by which parties know that they run the same one (collision
    /// resistance is what counts).
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Words::new(domains::BRANCHES);
        let put = |hash: &mut Words, list: &[u32]| {
            hash.put(&[list.len() as u32]);
            hash.put(list);
        };
        let digest = |hash: &mut Words, digest: [u8; 32]| {
            let words = digest.as_chunks::<4>().0;
            words
                .iter()
                .for_each(|word| hash.put(&[u32::from_le_bytes(*word)]));
        };
        for list in [&self.inputs, &self.outputs, &self.results] {
            put(&mut hash, list);
        }
        for step in &self.steps {
            match step {
                Step::Circuit { netlist, inputs } => {
                    hash.put(&[0]);
                    put(&mut hash, inputs);
                    digest(&mut hash, netlist.digest());
                }
                Step::Choice {
                    index,
                    inputs,
                    branches,
                } => {
                    hash.put(&[1, branches.len() as u32]);
                    put(&mut hash, index);
                    put(&mut hash, inputs);
                    for branch in branches {
                        digest(&mut hash, branch.digest());
                    }
                }
            }
        }
        hash.finish()
    }

    /// Evaluates all branches in the clear and takes what is active, lane by lane: a row for each input
    /// bit, one for each output bit.
    ///
    /// # Panics
    /// If there are more or fewer rows than input bits.
    pub fn evaluate(&self, inputs: &Rows) -> Rows {
        assert_eq!(inputs.rows(), self.input_bits(), "input rows");
        let lanes = inputs.lanes();
        let mut wires: Vec<Vec<u8>> = (0..inputs.rows())
            .map(|row| inputs.row(row).to_vec())
            .collect();
        for step in &self.steps {
            match step {
                Step::Circuit { netlist, inputs } => {
                    let given = gather(&wires, inputs, lanes);
                    let made = netlist.evaluate(&given).expect("as many rows as bits");
                    wires.extend((0..made.rows()).map(|row| made.row(row).to_vec()));
                }
                Step::Choice {
                    index,
                    inputs,
                    branches,
                } => {
                    let given = gather(&wires, inputs, lanes);
                    let mut chosen =
                        vec![vec![0; Rows::stride_for(lanes)]; branches[0].results.len()];
                    for (number, branch) in branches.iter().enumerate() {
                        let made = branch.evaluate(&given);
                        for byte in 0..Rows::stride_for(lanes) {
                            let mut active = 0xff;
                            for (bit, &wire) in index.iter().enumerate() {
                                let want = (number >> bit & 1) as u8;
                                active &= wires[wire as usize][byte] ^ want.wrapping_sub(1);
                            }
                            for (row, chosen) in chosen.iter_mut().enumerate() {
                                chosen[byte] |= made.row(row)[byte] & active;
                            }
                        }
                    }
                    wires.extend(chosen);
                }
            }
        }
        let mut outputs = gather(&wires, &self.results, lanes);
        outputs.clear_padding();
        outputs
    }
}

fn gather(wires: &[Vec<u8>], which: &[u32], lanes: usize) -> Rows {
    let mut rows = Rows::new(which.len(), lanes);
    for (row, &wire) in which.iter().enumerate() {
        rows.row_mut(row).copy_from_slice(&wires[wire as usize]);
    }
    rows
}

/// Values of these widths, one after the other.
fn cut<'a>(mut wires: &'a [u32], widths: &[u32]) -> Vec<&'a [u32]> {
    let mut values = Vec::new();
    for &width in widths {
        let (value, rest) = wires.split_at(width as usize);
        values.push(value);
        wires = rest;
    }
    values
}
