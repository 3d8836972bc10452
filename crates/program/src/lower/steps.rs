//! Steps that a program becomes, on vectors of known sharing, element and length.

use madrigal_core::{MatrixShape, Product};
use std::fmt;
use std::sync::Arc;

use madrigal_circuit::Netlist;
use madrigal_circuit::branches::Branching;
use madrigal_engine::{Operation, Sort};
use madrigal_operations::{Formulas, Gated, KeyOrder, SortRounds, Variants};

use super::{Conditional, Mix, Unit, Way};
use crate::error::Source;
use crate::ports::OutputPort;
use crate::requirement::Requirement;
use crate::shape::View;

/// A result of a step: which step, and which of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// The step's number.
    pub step: u32,
    /// The result's number among those of the step.
    pub output: u32,
}

/// Places of the elements of a vector that make another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Places {
    /// Those that a view of it as a tensor shows.
    View(View),
    /// Elements at these places of each row of `from` elements.
    Rows {
        /// Number of rows.
        rows: usize,
        /// Elements of a row.
        from: usize,
        /// The places in a row.
        places: Arc<[usize]>,
    },
}

impl Places {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::View(view) => view.shape.elements(),
            Self::Rows { rows, places, .. } => rows * places.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of each element in the vector they come from, in order.
    pub fn indices(&self) -> Vec<usize> {
        match self {
            Self::View(view) => view.indices(),
            Self::Rows { rows, from, places } => {
                let row = |row: usize| places.iter().map(move |place| row * from + place);
                (0..*rows).flat_map(row).collect()
            }
        }
    }
}

/// The work of a step.
///
/// A tensor stands in a vector row by row. Where axes matter it is seen as one of three, `[before, length,
/// after]`, with element `(i, j, k)` at `(i * length + j) * after + k`.
#[derive(Clone)]
#[non_exhaustive]
pub enum Action {
    /// Takes the program's input of this number. A party's is clear to it, as ring elements or as bits, and there twice where it
    /// is wanted in both forms. A client's is shared.
    Input(usize),
    /// Takes the value of this number that an earlier stage has kept.
    Taken(usize),
    /// Takes, in a loop's body, its operand of this number.
    Argument(usize),
    /// Counts, in a loop's body, how many times it was run before: one public ring element.
    Counter,
    /// Shares a clear vector of one party's, or a public one.
    Share,
    /// Moves elements, of shared or clear vectors alike, without a message.
    Move(Arc<dyn Operation>),
    /// Adds ring elements, each times its factor, and a public number.
    Linear {
        /// Factor of each operand, modulo 2^l.
        factors: Vec<u128>,
        /// Number that is added to each element.
        constant: u128,
    },
    /// Multiplies matrices `[batch, m, k]` and `[batch, k, n]`, or convolves filters and images.
    Product(Product),
    /// Multiplies bits, the first operand, with ring elements.
    BitTimes,
    /// Carries out an operation of a protocol.
    Operation(Arc<dyn Operation>),
    /// Sorts rows by keys in these orders, the first operands: shared bits. The other operands move along.
    Sort(Vec<KeyOrder>),
    /// Evaluates a circuit on each element. Its inputs are the operands, in order, its outputs the results.
    Circuit(Arc<Netlist>),
    /// Evaluates a circuit with secret branches on each element. Its inputs are the operands, in order, its outputs the
    /// results.
    Branches(Arc<Branching>, Way),
    /// Evaluates on ring elements the branch that the first operand, bits, names; gives zeros where it names none.
    Formulas(Arc<Formulas>, Gated),
    /// Runs the body `count` times, one after the other. Its first operands are the state, which its results replace; the
    /// others are the same each time. Gives the state at the end.
    Repeat {
        /// Number of turns.
        count: usize,
        /// The steps of each turn.
        body: Arc<Body>,
    },
}

/// An action with its operands.
#[derive(Debug, Clone)]
pub struct Step {
    /// The action.
    pub action: Action,
    /// The operands.
    pub inputs: Vec<Slot>,
    /// The sorts of the results.
    pub outputs: Vec<Sort>,
    /// The operations of the program that the step does, in words.
    pub label: String,
    /// Line where the last of these was asked for.
    pub at: Source,
}

/// Steps in an order in which they can be done, and what comes of them.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// The steps.
    pub steps: Vec<Step>,
    /// Results: of a loop's body the next state; of a program its outputs, clear to their receivers, the bits of its
    /// requirements, clear to all, and what it keeps.
    pub results: Vec<Slot>,
}

impl Body {
    /// The sort of a slot.
    pub fn sort(&self, slot: Slot) -> &Sort {
        &self.steps[slot.step as usize].outputs[slot.output as usize]
    }
}

/// A program as steps.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// Number of parties that compute.
    pub parties: usize,
    /// The mix of sharings.
    pub mix: Mix,
    /// The steps; the results are the outputs in order, and what comes after them.
    pub body: Body,
    pub(crate) outputs: Vec<OutputPort>,
    pub(crate) requirements: Vec<Requirement>,
    /// Whether circuits on masked bits do two layers of ANDs in a round.
    pub(crate) pairs: bool,
    /// Whether circuits on bits that are shared one by one do ANDs with an operand in common by vector triples.
    pub(crate) vectors: bool,
    /// Rounds of sorts of rows.
    pub(crate) sort_rounds: SortRounds,
    /// Ways in which circuits and conversions are done.
    pub(crate) variants: Variants,
    /// ANDs that a round was taken to be worth, for tournaments.
    pub(crate) round: u64,
    /// Operations on bits, and the sharings they are done in.
    pub(crate) units: Vec<Unit>,
    /// Operations of the graph that was lowered.
    pub(crate) nodes: usize,
    /// Conditionals that are not steps of their own, because all their branches are steps.
    pub(crate) multiplexed: Vec<Conditional>,
}

impl Lowered {
    /// Each step with its operands and results, on a line; bodies of loops below their step, indented.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.body.describe_into(&mut lines, "");
        lines.extend(self.multiplexed.iter().map(ToString::to_string));
        lines
    }

    /// All conditionals on secrets, those that are steps first.
    pub fn conditionals(&self) -> Vec<Conditional> {
        let mut all = Vec::new();
        self.body.conditionals(&mut all);
        all.extend(self.multiplexed.iter().cloned());
        all
    }

    /// Whether rows are sorted by an operation of a protocol, in loops too.
    pub(crate) fn sorts_rows(&self) -> bool {
        self.body.sorts_rows()
    }

    /// Number of conditionals that are circuits with branches, and of those that are branches of ring elements.
    pub(crate) fn shared(&self) -> [usize; 2] {
        let mut all = Vec::new();
        self.body.conditionals(&mut all);
        let rings = all
            .iter()
            .filter(|one| matches!(one.way, Way::Rings(_)))
            .count();
        [all.len() - rings, rings]
    }

    /// Has circuits on masked bits, in [`Sharing::BETA`](madrigal_engine::Sharing::BETA), do two layers of ANDs in a round wherever they can:
    /// for lines with long round trips, at the price of more correlations and a round more in setup.
    #[must_use]
    pub fn in_pairs(&self) -> Self {
        Self {
            pairs: true,
            ..self.clone()
        }
    }

    /// Has circuits in [`Sharing::B`](madrigal_engine::Sharing::B) do ANDs of a layer with an operand in common by vector triples, as
    /// those of a multiplexer of many bits are, wherever there are some: fewer OTs, of a kind that is made in calls of its own.
    #[must_use]
    pub fn in_vectors(&self) -> Self {
        Self {
            vectors: true,
            ..self.clone()
        }
    }

    /// Has rows sorted in this number of rounds: few for lines with long round trips, at the price of bytes and work.
    #[must_use]
    pub fn with_sort_rounds(&self, rounds: SortRounds) -> Self {
        Self {
            sort_rounds: rounds,
            ..self.clone()
        }
    }

    /// Has circuits and conversions done in ways that papers describe beside the chosen ones, for comparisons.
    #[must_use]
    pub fn with_variants(&self, variants: Variants) -> Self {
        Self {
            variants,
            ..self.clone()
        }
    }

    /// Has branches of ring elements evaluated in one way.
    #[must_use]
    pub fn with_gated(&self, gated: Gated) -> Self {
        Self {
            body: self.body.with(&mut |action| {
                if let Action::Formulas(_, own) = action {
                    *own = gated;
                }
            }),
            ..self.clone()
        }
    }

    /// Has the conditionals that are circuits with branches, in order, computed in other ways.
    #[must_use]
    pub fn with_ways(&self, ways: &[Way]) -> Self {
        let mut ways = ways.iter().copied();
        Self {
            body: self.body.with(&mut |action| {
                if let Action::Branches(_, way) = action {
                    *way = ways.next().unwrap_or(*way);
                }
            }),
            ..self.clone()
        }
    }
}

impl Body {
    fn conditionals(&self, all: &mut Vec<Conditional>) {
        for step in &self.steps {
            let (branches, way) = match &step.action {
                Action::Branches(branching, way) => (outer_branches(branching), *way),
                Action::Formulas(formulas, gated) => {
                    (formulas.branches().len(), Way::Rings(*gated))
                }
                Action::Repeat { body, .. } => {
                    body.conditionals(all);
                    continue;
                }
                _ => continue,
            };
            all.push(Conditional {
                at: step.at,
                branches,
                elements: step.outputs[0].len,
                way,
                why: None,
            });
        }
    }

    fn sorts_rows(&self) -> bool {
        self.steps.iter().any(|step| match &step.action {
            Action::Sort(_) => true,
            Action::Repeat { body, .. } => body.sorts_rows(),
            _ => false,
        })
    }

    /// Changes actions, also those of loops' bodies.
    fn with(&self, change: &mut dyn FnMut(&mut Action)) -> Self {
        let mut body = self.clone();
        for step in &mut body.steps {
            match &mut step.action {
                Action::Repeat { body, .. } => *body = Arc::new(body.with(change)),
                action => change(action),
            }
        }
        body
    }

    fn describe_into(&self, lines: &mut Vec<String>, indent: &str) {
        for (number, step) in self.steps.iter().enumerate() {
            let slot = |slot: &Slot| match slot.output {
                0 => slot.step.to_string(),
                output => format!("{}.{output}", slot.step),
            };
            let inputs: Vec<_> = step.inputs.iter().map(slot).collect();
            let outputs: Vec<_> = step.outputs.iter().map(ToString::to_string).collect();
            let (inputs, outputs) = (inputs.join(" "), outputs.join(", "));
            let (action, label) = (&step.action, &step.label);
            lines.push(format!(
                "{indent}{number}: {action} ({inputs}) -> {outputs}  [{label}]"
            ));
            if let Action::Repeat { body, .. } = &step.action {
                body.describe_into(lines, &format!("{indent}  "));
            }
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(number) => write!(f, "input {number}"),
            Self::Taken(number) => write!(f, "kept value {number}"),
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Counter => f.write_str("counter"),
            Self::Share => f.write_str("share"),
            Self::Move(operation) | Self::Operation(operation) => f.write_str(&operation.name()),
            Self::Linear { .. } => f.write_str("linear"),
            Self::Product(Product::Matrices(batch, shape)) => {
                let MatrixShape {
                    rows,
                    inner,
                    columns,
                } = shape;
                write!(f, "matrix products {:?}", [*batch, *rows, *inner, *columns])
            }
            Self::Product(Product::Convolution(convolution)) => {
                write!(f, "convolution of {convolution}")
            }
            Self::BitTimes => f.write_str("bit times"),
            Self::Sort(keys) => {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                write!(f, "sort by {}", keys.join(" "))
            }
            Self::Circuit(netlist) => {
                let stats = netlist.stats();
                write!(
                    f,
                    "circuit of {} ANDs, depth {}",
                    stats.and + stats.or,
                    stats.and_depth
                )
            }
            Self::Branches(_, way) => write!(f, "branches, {way}"),
            Self::Formulas(..) => f.write_str("branches, on ring elements"),
            Self::Repeat { count, .. } => write!(f, "repeat {count} times"),
        }
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Branches of the conditional that a circuit with branches is.
fn outer_branches(branching: &Branching) -> usize {
    let mut steps = branching.steps().iter();
    let count = steps.find_map(|step| match step {
        madrigal_circuit::branches::Step::Choice { branches, .. } => Some(branches.len()),
        madrigal_circuit::branches::Step::Circuit { .. } => None,
    });
    count.unwrap_or(1)
}
