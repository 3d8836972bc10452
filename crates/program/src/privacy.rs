//! Privacy of a program's outputs: their epsilons and deltas, as they follow from its operations.
//!
//! A person is a *row*: the values at one place along the first axis of all inputs. An output is private if it is made of sums with noise and of what all
//! know, by any operations at all. A sum with noise is private if another row in one's place changes the sum by no more than the noise hides. Whatever cannot
//! be seen to be so is taken not to be.

use madrigal_noise::{Delta, Epsilon, Noise};

use crate::computation::Computation;
use crate::ir::{Binary, EachForm, Graph, Node, Op, Reduction, Value};
use crate::lower::{Range, ranges_of};
use crate::ports::Named;
use crate::shape::View;

/// Bounds of what a program's outputs tell of one row: they are (epsilon, delta)-differentially private, against another row in its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Privacy {
    /// The sum of the epsilons of all noise that the outputs are made of.
    pub epsilon: Epsilon,
    /// The sum of the deltas.
    pub delta: Delta,
}

/// An output that is not private, or cannot be seen to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{output} is not private: {why}")]
pub struct Exposed {
    /// The output.
    pub output: String,
    /// Reason, and what to do.
    pub why: String,
}

impl Computation {
    /// The privacy of all outputs together, whoever gets them.
    ///
    /// # Errors
    /// [`Exposed`]: the first output that is not private, or requirements, which tell of the inputs too.
    pub fn privacy(&self) -> Result<Privacy, Exposed> {
        if !self.requirements().is_empty() {
            return Err(Exposed {
                output: "the program".to_owned(),
                why: "it requires something of its inputs, and so tells whether they meet it"
                    .to_owned(),
            });
        }
        if self.between_stages().is_some() {
            return Err(Exposed {
                output: "the program".to_owned(),
                why: "it is a stage, and leaves values for others, or takes some".to_owned(),
            });
        }
        let graph = self.graph();
        let found = Search::of(graph);
        let outputs = self.outputs().iter().zip(graph.results());
        for (number, (port, value)) in outputs.enumerate() {
            if let Err(why) = found.private[value.node as usize] {
                return Err(Exposed {
                    output: Named("output", number, port.name.as_deref()).to_string(),
                    why: self.in_words(why),
                });
            }
        }
        let mut privacy = Privacy::default();
        for (node, _) in graph.nodes().iter().zip(reached(graph)).filter(|one| one.1) {
            if let Some(noise) = noise(node) {
                privacy.epsilon = privacy.epsilon.plus(noise.epsilon());
                // Each element has noise of its own, and gives the difference away with a chance of delta.
                let elements = node.outputs[0].shape.elements() as u64;
                privacy.delta = privacy.delta.plus(noise.exact_delta().times(elements));
            }
        }
        Ok(privacy)
    }

    fn in_words(&self, why: Why) -> String {
        match why {
            Why::Input(number) => {
                let name = self
                    .inputs()
                    .get(number)
                    .and_then(|port| port.name.as_deref());
                let name = Named("input", number, name);
                format!("it tells of {name}, and not by sums with noise alone")
            }
            Why::Earlier => "it tells of values of earlier stages".to_owned(),
            Why::Bits => "it tells random bits, which noise may be made of".to_owned(),
            Why::Noise => "it tells of noise by itself".to_owned(),
            Why::Reused => "its noise is used more than once: draw some for each sum".to_owned(),
            Why::Hidden { found, each } => format!(
                "one row changes a sum by up to {found}, and its noise hides {each}: bound the summands, or draw noise for more"
            ),
            Why::Rows => "what a sum adds up is not made row by row of the inputs".to_owned(),
            Why::Unbounded => "the summands of a sum have no bounds: bound them".to_owned(),
            Why::Operation(node) => format!(
                "noise is added to the result of `{}`: add it to sums along the first axis",
                self.graph().nodes()[node].op
            ),
        }
    }
}

/// The noise that a node draws, if it does.
fn noise(node: &Node) -> Option<Noise> {
    match &node.op {
        Op::Each(each) => match each.operation().form()? {
            EachForm::Noise { noise, .. } => Some(noise),
            _ => None,
        },
        _ => None,
    }
}

/// The nodes that results are made of.
fn reached(graph: &Graph) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes().len()];
    for value in graph.results() {
        reached[value.node as usize] = true;
    }
    for (number, node) in graph.nodes().iter().enumerate().rev() {
        if reached[number] {
            for input in &node.inputs {
                reached[input.node as usize] = true;
            }
        }
    }
    reached
}

/// Reasons why a value is not private.
#[derive(Debug, Clone, Copy)]
enum Why {
    Input(usize),
    Earlier,
    Bits,
    Noise,
    Reused,
    Hidden { found: u128, each: u64 },
    Rows,
    Unbounded,
    Operation(usize),
}

/// Facts about the values of a graph, node by node in their order: each follows from those before.
struct Search<'a> {
    graph: &'a Graph,
    ranges: Vec<Vec<Range>>,
    /// How often the values of a node are used.
    uses: Vec<usize>,
    /// Whether all know them.
    public: Vec<bool>,
    /// Whether each row, along the first axis, is made of the same row of inputs and of what all know.
    by_rows: Vec<bool>,
    /// The most by which another row in one's place changes all elements together.
    change: Vec<Result<u128, Why>>,
    private: Vec<Result<(), Why>>,
}

impl<'a> Search<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut uses = vec![0; graph.nodes().len()];
        let operands = graph.nodes().iter().flat_map(|node| &node.inputs);
        operands
            .chain(graph.results())
            .for_each(|value| uses[value.node as usize] += 1);
        let mut search = Self {
            graph,
            ranges: ranges_of(graph),
            uses,
            public: Vec::new(),
            by_rows: Vec::new(),
            change: Vec::new(),
            private: Vec::new(),
        };
        for (number, node) in graph.nodes().iter().enumerate() {
            search.public.push(search.is_public(node));
            search.by_rows.push(search.is_by_rows(number, node));
            search.change.push(search.change(number, node));
            search.private.push(search.is_private(node));
        }
        search
    }

    fn is_public(&self, node: &Node) -> bool {
        match &node.op {
            Op::Constant(_) | Op::Numbered(_) => true,
            Op::View(_) | Op::Reshape(_) | Op::Cast(_) | Op::Pick { .. } => {
                self.public[node.inputs[0].node as usize]
            }
            _ => false,
        }
    }

    fn is_by_rows(&self, number: usize, node: &Node) -> bool {
        let [typed] = &node.outputs[..] else {
            return false;
        };
        let Some((&rows, others)) = typed.shape.axes().split_first() else {
            return false;
        };
        let of_rows = |input: &Value| {
            let same = self.graph.type_of(*input).shape.axes().first() == Some(&rows);
            let at = input.node as usize;
            self.public[at] || same && self.by_rows[at]
        };
        let of_all = || node.inputs.iter().all(of_rows);
        match &node.op {
            _ if self.public[number] => false,
            Op::Input(_) => true,
            Op::Unary(_) | Op::Binary(_) | Op::Select | Op::Cast(_) | Op::Truncate { .. } => {
                of_all()
            }
            Op::Reshape(_) => of_all(),
            Op::Each(_) => noise(node).is_none() && of_all(),
            Op::Reduce(_, axis) | Op::Join(axis) => *axis > 0 && of_all(),
            Op::View(view) => {
                let from = self.graph.type_of(node.inputs[0]).shape.elements();
                stays_in_rows(view, from.checked_div(rows).unwrap_or(0), others) && of_all()
            }
            _ => false,
        }
    }

    fn change(&self, number: usize, node: &Node) -> Result<u128, Why> {
        let of = |input: &Value| self.change[input.node as usize];
        match &node.op {
            _ if self.public[number] => Ok(0),
            Op::Reduce(Reduction::Sum, 0) => {
                let summands = node.inputs[0];
                if !self.by_rows[summands.node as usize] {
                    return Err(Why::Rows);
                }
                let range = self.ranges[summands.node as usize][summands.output as usize];
                let (least, most) = range.ok_or(Why::Unbounded)?;
                let elements = node.outputs[0].shape.elements() as u128;
                Ok(most.abs_diff(least).saturating_mul(elements))
            }
            Op::Binary(Binary::Add | Binary::Sub) | Op::Join(_) => {
                let mut inputs = node.inputs.iter().map(of);
                inputs.try_fold(0, |sum: u128, one| Ok(sum.saturating_add(one?)))
            }
            Op::Reshape(_) => of(&node.inputs[0]),
            // Modulo fewer bits or as many no two numbers are further apart.
            Op::Cast(element)
                if element.bits() <= self.graph.type_of(node.inputs[0]).element.bits() =>
            {
                of(&node.inputs[0])
            }
            // Elements in their order, each once.
            Op::View(view) if view.is_prefix() => of(&node.inputs[0]),
            _ => Err(Why::Operation(number)),
        }
    }

    fn is_private(&self, node: &Node) -> Result<(), Why> {
        match &node.op {
            Op::Input(number) => return Err(Why::Input(*number)),
            Op::Kept(_) | Op::Argument(_) => return Err(Why::Earlier),
            Op::Random(..) => return Err(Why::Bits),
            _ if noise(node).is_some() => return Err(Why::Noise),
            Op::Binary(Binary::Add) => {
                let [first, second] = node.inputs[..] else {
                    return Err(Why::Unbounded);
                };
                for (sum, drawn) in [(first, second), (second, first)] {
                    if let Some(noise) = noise(self.graph.maker(drawn)) {
                        return self.is_hidden(sum, drawn, noise);
                    }
                }
            }
            _ => {}
        }
        // Anything made of private values alone is private.
        let mut inputs = node.inputs.iter();
        inputs.try_for_each(|input| self.private[input.node as usize])
    }

    /// Whether noise hides another row in one's place in a sum.
    fn is_hidden(&self, sum: Value, drawn: Value, noise: Noise) -> Result<(), Why> {
        let once = |value: &Value| self.uses[value.node as usize] == 1;
        if !once(&drawn) || !self.graph.maker(drawn).inputs.iter().all(once) {
            return Err(Why::Reused);
        }
        let (found, each) = (self.change[sum.node as usize]?, noise.each());
        match found <= u128::from(each) {
            true => Ok(()),
            false => Err(Why::Hidden { found, each }),
        }
    }
}

/// Whether a view shows in each of its rows, whose other axes these are, elements of the same row alone, of which each has `length`.
fn stays_in_rows(view: &View, length: usize, others: &[usize]) -> bool {
    let Some((&first, within)) = view.strides.split_first() else {
        return false;
    };
    let mut reach = within.iter().zip(others).map(|(&stride, &axis)| {
        let by = usize::try_from(stride).ok()?;
        by.checked_mul(axis.saturating_sub(1))
    });
    let reach = reach.try_fold(view.offset, |sum, one| sum.checked_add(one?));
    first == length as isize && reach.is_some_and(|reach| reach < length)
}
