//! What a program becomes: steps on vectors of known sharing, element and length.

use madrigal_core::{MatrixShape, Product};
use std::fmt;
use std::sync::Arc;

use madrigal_circuit::Netlist;
use madrigal_circuit::branches::Branching;
use madrigal_core::Party;
use madrigal_operations::{Depth, Formulas, Gated, Predicate};

use crate::array::Array;
use crate::computation::OutputPort;
use crate::error::Source;
use crate::ir::Rounding;
use crate::lower::{Conditional, Mix, Sharing, Way};
use crate::shape::View;

/// Who has what of a vector.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holding {
    /// All know it.
    Public,
    /// These parties know it, in order.
    Clear(Vec<Party>),
    /// It is shared.
    Shared(Sharing),
}

/// What a vector consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// So many bits, each in a plane of its own, the lowest first.
    Bits(u32),
    /// Numbers of Z_2^l, for l of 8, 16, 32, 64 or 128 bits.
    Ring(u32),
}

impl Element {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits(bits) | Self::Ring(bits) => bits,
        }
    }
}

/// A vector's holding, element, and length in elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Held {
    /// Who has what of it.
    pub holding: Holding,
    /// What it consists of.
    pub element: Element,
    /// How many elements it has.
    pub len: usize,
}

impl Held {
    pub(crate) fn shared(sharing: Sharing, element: Element, len: usize) -> Self {
        Self {
            holding: Holding::Shared(sharing),
            element,
            len,
        }
    }

    pub(crate) fn public(element: Element, len: usize) -> Self {
        Self {
            holding: Holding::Public,
            element,
            len,
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.holding {
            Holding::Public => f.write_str("public")?,
            Holding::Clear(to) => {
                let to: Vec<_> = to.iter().map(ToString::to_string).collect();
                write!(f, "clear to {}", to.join(", "))?;
            }
            Holding::Shared(sharing) => sharing.fmt(f)?,
        }
        match self.element {
            Element::Bits(bits) => write!(f, " bits {bits}")?,
            Element::Ring(bits) => write!(f, " ring {bits}")?,
        }
        write!(f, " x {}", self.len)
    }
}

/// A result of a step: which step, and which of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// The step's number.
    pub step: u32,
    /// Which of its results.
    pub output: u32,
}

/// Which elements of a vector make another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Places {
    /// Those that a view of it as a tensor shows.
    View(View),
    /// For each of so many rows of `from` elements those at these places of the row.
    Rows {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        from: usize,
        /// The places in a row.
        places: Arc<[usize]>,
    },
}

impl Places {
    /// How many elements there are.
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

/// What a step does. Vectors of one step have one sharing and one length unless it says otherwise, and what
/// is said of elements holds for each.
///
/// A tensor stands in a vector row by row. Where axes matter it is seen as one of three, `[before, length,
/// after]`, with element `(i, j, k)` at `(i * length + j) * after + k`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// No operands: the program's input of this number, clear to its owner, as ring elements or as bits.
    /// One that both are wanted of is there twice.
    Input(usize),
    /// No operands: the value of this number that an earlier stage has kept, as ring elements or bits. Masks or labels
    /// are made of shares.
    Taken(usize),
    /// Kept for later stages: a shared vector in `A`, `B` or `R`. Costs nothing but for masks and labels.
    Keep,
    /// No operands: a public vector.
    Public(Arc<Array>),
    /// No operands: in a loop's body, its operand of this number.
    Argument(usize),
    /// No operands: in a loop's body, how many times it was run before; one public ring element.
    Counter,
    /// A clear vector of one party's, or a public one, becomes shared; the latter without a message.
    Share,
    /// Shared bits or ring elements at these places. Costs nothing.
    Gather(Places),
    /// Bits or ring elements: of each of `rows` rows first that of the first operand, then that of the
    /// second, and so on. Operands have lengths of their own. Costs nothing.
    Join {
        /// How many rows all operands have.
        rows: usize,
    },
    /// Of `[before, length, after]`, bits or ring elements, those at the place of the middle axis that the
    /// second operand names, one public ring element below `length`. Costs nothing.
    Row([usize; 3]),
    /// Ring elements: the sum of all operands, each times its factor, and a public number. Costs nothing.
    Linear {
        /// What each operand is multiplied with, modulo 2^l.
        factors: Vec<u128>,
        /// What is added to each element.
        constant: u128,
    },
    /// Ring elements: their product. If the second is public it costs nothing.
    Mul,
    /// Ring elements: their square.
    Square,
    /// Ring elements `[n, length]` of two operands: the sum of products of each row, n of them.
    Dot {
        /// Elements of a row.
        length: usize,
    },
    /// Ring elements of two operands: products of matrices `[batch, m, k]` and `[batch, k, n]`, or
    /// convolutions of filters and images. If either is public it costs nothing.
    Product(Product),
    /// `[before, length, after]`: the sums along the middle axis, `[before, after]`; of bits the XOR, bit
    /// by bit. Costs nothing.
    Sum([usize; 3]),
    /// Ring elements `[before, length, after]`: the sums of the first 1, 2, 3, ... along the middle axis.
    /// Costs nothing.
    PrefixSums([usize; 3]),
    /// Ring elements: the lowest bits of each, in a smaller ring. Costs nothing.
    Narrow,
    /// Ring elements as signed numbers: divided by 2^by and rounded.
    Truncate {
        /// Bits that go.
        by: u32,
        /// Which way.
        rounding: Rounding,
    },
    /// Ring elements as signed numbers: divided by 2^by and rounded down, by two or three bits more of each: the carries
    /// of the sum of two parties' shares out of its lowest `by` bits and into its highest bit, and that bit,
    /// unless it is known to be 0.
    Quotient {
        /// Bits that go.
        by: u32,
    },
    /// Ring elements of l bits: numbers of l bits that add up to each modulo 2^l, shared by bits without a
    /// message because for each there is a party, or there are two in `R`, that know it. In `A` the share
    /// of each party in order; in `R` v_0 + v_1 and v_2.
    Split {
        /// Whether all but the first are the numbers' negatives, so that the first less the others is the
        /// element.
        negated: bool,
    },
    /// Ring elements in `R`: whether each is less than zero as a signed number, or is zero; one bit.
    Test(Predicate, Depth),
    /// Bits: what the circuit makes of each element. Its inputs are the operands, in order, its outputs the
    /// results.
    Netlist(Arc<Netlist>),
    /// Bits: what a circuit with secret branches makes of each element. Its inputs are the operands, in order,
    /// its outputs the results.
    Branches(Arc<Branching>, Way),
    /// Ring elements: what that branch makes of the other operands whose number the first operand, bits, has;
    /// zeros where there is none of that number.
    Formulas(Arc<Formulas>, Gated),
    /// Bits b_0, b_1, ... of each element to the ring element that is the sum of 2^i b_i; the highest one
    /// counts negative where they are a signed number.
    Compose {
        /// Whether the highest bit is a sign.
        signed: bool,
    },
    /// One bit and a ring element: their product.
    BitTimes,
    /// A shared vector to these parties, in the clear.
    Open(Vec<Party>),
    /// The body so many times, one after the other: its first operands are the state, which its results
    /// replace; the others are the same each time. Gives the state at the end.
    Repeat {
        /// How many times.
        count: usize,
        /// What is done each time.
        body: Arc<Body>,
    },
}

/// An action with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// With what.
    pub inputs: Vec<Slot>,
    /// What comes out.
    pub outputs: Vec<Held>,
    /// The operations of the program that it does, in words.
    pub label: String,
    /// Where the last of them was asked for.
    pub at: Source,
}

/// Steps in an order in which they can be done, and what comes of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// The steps.
    pub steps: Vec<Step>,
    /// Of a loop's body the next state; of a program its outputs, clear to their receivers.
    pub results: Vec<Slot>,
}

impl Body {
    /// What a slot holds.
    pub fn held(&self, slot: Slot) -> &Held {
        &self.steps[slot.step as usize].outputs[slot.output as usize]
    }
}

/// A program as steps.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// How many parties compute.
    pub parties: usize,
    /// Which sharing does what.
    pub mix: Mix,
    /// The steps; the results are the outputs in order.
    pub body: Body,
    pub(crate) outputs: Vec<OutputPort>,
    /// Whether circuits on masked bits do two layers of ANDs in a round.
    pub(crate) pairs: bool,
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

    /// How many conditionals are circuits with branches, and how many are branches of ring elements.
    pub(crate) fn shared(&self) -> [usize; 2] {
        let mut all = Vec::new();
        self.body.conditionals(&mut all);
        let rings = all
            .iter()
            .filter(|one| matches!(one.way, Way::Rings(_)))
            .count();
        [all.len() - rings, rings]
    }

    /// The same where circuits on masked bits, in [`Sharing::Beta`], do two layers of ANDs in a round wherever they can:
    /// for lines with long round trips, at the price of more correlations and a round more in setup.
    #[must_use]
    pub fn in_pairs(&self) -> Self {
        Self {
            pairs: true,
            ..self.clone()
        }
    }

    /// The same with branches of ring elements evaluated in one way.
    #[must_use]
    pub fn with_gated(&self, gated: Gated) -> Self {
        Self {
            body: self.body.with_gated(gated),
            ..self.clone()
        }
    }

    /// The same with the conditionals that are circuits with branches, in order, computed in other ways.
    #[must_use]
    pub fn with_ways(&self, ways: &[Way]) -> Self {
        let mut ways = ways.iter().copied();
        Self {
            body: self.body.with_ways(&mut ways),
            ..self.clone()
        }
    }
}

impl Body {
    fn conditionals(&self, all: &mut Vec<Conditional>) {
        for step in &self.steps {
            match &step.action {
                Action::Branches(branching, way) => all.push(Conditional {
                    at: step.at,
                    branches: outer_branches(branching),
                    elements: step.outputs[0].len,
                    way: *way,
                    why: None,
                }),
                Action::Formulas(formulas, gated) => all.push(Conditional {
                    at: step.at,
                    branches: formulas.branches().len(),
                    elements: step.outputs[0].len,
                    way: Way::Rings(*gated),
                    why: None,
                }),
                Action::Repeat { body, .. } => body.conditionals(all),
                _ => {}
            }
        }
    }

    fn with_gated(&self, to: Gated) -> Self {
        let mut body = self.clone();
        for step in &mut body.steps {
            match &mut step.action {
                Action::Formulas(_, gated) => *gated = to,
                Action::Repeat { body, .. } => *body = Arc::new(body.with_gated(to)),
                _ => {}
            }
        }
        body
    }

    fn with_ways(&self, ways: &mut dyn Iterator<Item = Way>) -> Self {
        let mut body = self.clone();
        for step in &mut body.steps {
            match &mut step.action {
                Action::Branches(_, way) => {
                    if let Some(other) = ways.next() {
                        *way = other;
                    }
                }
                Action::Repeat { body, .. } => *body = Arc::new(body.with_ways(ways)),
                _ => {}
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
            Self::Keep => f.write_str("keep"),
            Self::Public(_) => f.write_str("public"),
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Counter => f.write_str("counter"),
            Self::Share => f.write_str("share"),
            Self::Gather(_) => f.write_str("gather"),
            Self::Join { rows } => write!(f, "join {rows} rows"),
            Self::Row(sizes) => write!(f, "row of {sizes:?}"),
            Self::Linear { .. } => f.write_str("linear"),
            Self::Mul => f.write_str("product"),
            Self::Square => f.write_str("square"),
            Self::Dot { length } => write!(f, "dot products of {length}"),
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
            Self::Sum(sizes) => write!(f, "sum of {sizes:?}"),
            Self::PrefixSums(sizes) => write!(f, "prefix sums of {sizes:?}"),
            Self::Narrow => f.write_str("narrow"),
            Self::Truncate { by, .. } => write!(f, "truncate by {by}"),
            Self::Quotient { by } => write!(f, "quotient by 2^{by} of shares and carries"),
            Self::Split { .. } => f.write_str("split"),
            Self::Test(Predicate::Negative, _) => f.write_str("sign"),
            Self::Test(Predicate::Zero, _) => f.write_str("test for zero"),
            Self::Netlist(netlist) => {
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
            Self::Compose { .. } => f.write_str("compose"),
            Self::BitTimes => f.write_str("bit times number"),
            Self::Open(_) => f.write_str("open"),
            Self::Repeat { count, .. } => write!(f, "repeat {count} times"),
        }
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
