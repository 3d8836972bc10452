//! Conditionals on secrets.

use std::sync::Arc;

use madrigal_circuit::branches::MAX_BRANCHES;

use super::loops::{Part, State, values};
use super::{Beside, Operand, Tensor};
use crate::element::Unsigned;
use crate::error::{Fault, Source};
use crate::ir::{Graph, Op, TensorType, Value};
use crate::program::{Place, Program};
use crate::shape::{Shape, View};

/// Branches while they are recorded.
struct Recorded<S> {
    operator: String,
    at: Source,
    /// The values around the branches that any of them uses.
    captured: Vec<Value>,
    branches: Vec<(Option<Arc<Graph>>, S)>,
}

impl Program {
    /// Gives the values of `then` where the secret condition is true, else those of `otherwise`. Nobody learns
    /// which, neither by what is sent nor by how long it takes.
    ///
    /// Branches give values of the same types: single ones, tuples, vectors. They may use any values from
    /// around them. All that is done in a closure belongs to its branch, also what is done to values from
    /// around it alone; so what both branches need is best computed before. Branches may hold conditionals
    /// and loops, but no inputs and no openings.
    ///
    /// The choice is made element by element: condition and values of both branches broadcast, as with
    /// [`Secret::select`](crate::Secret::select). Where all that a branch does is done to each element by itself, or to the
    /// elements that belong to one element of the condition, and the program runs in a mix whose bits are in
    /// `B`, the conditional costs hardly more than its larger branch; so it does in mixes with arithmetic in
    /// `A` where branches are sums and products of one width. Otherwise all branches are computed
    /// and multiplexed, which is what `select` does. The plan takes what is faster, and
    /// [`Planned::conditionals`](crate::Planned::conditionals) tells what it took.
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let [income, rate] = [0, 1].map(|party| p.input::<u32>(Party::new(party), 3));
    /// let tax = p.if_secret(
    ///     income.gt(1000),
    ///     |_| (&income - 1000) * &rate / 100 + 50,
    ///     |_| &income / 20,
    /// );
    /// let opened = p.open(tax, Everyone);
    /// let inputs = Inputs::new().with([100u32, 1000, 3000]).with([20u32, 20, 10]);
    /// assert_eq!(p.finish()?.simulate(&inputs)?.get(opened), [5, 50, 250]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn if_secret<S: State>(
        &mut self,
        condition: impl Operand<bool>,
        then: impl FnOnce(&mut Program) -> S,
        otherwise: impl FnOnce(&mut Program) -> S,
    ) -> S {
        let at = Source::here();
        let recorder = self.recorder();
        let condition = condition.operand(Beside { recorder, at });
        let mut recorded = Recorded::new("a conditional".into(), at);
        self.branch(&mut recorded, then);
        self.branch(&mut recorded, otherwise);
        // Where the condition is 0 the first branch of the node is active.
        self.choice(recorded, condition.tensor(), |branches| branches.reverse())
    }

    /// Gives the values of the closure whose number, counted from 0, is the secret index; zeros where there is no
    /// branch of that number. Otherwise as [`Program::if_secret`].
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let rule = p.input::<u8>(Party::new(0), 4);
    /// let x = p.input::<u32>(Party::new(1), ());
    /// let made = p.match_secret(&rule, [&|_| &x + 1, &|_| &x * &x, &|_| x.sqrt()]);
    /// let opened = p.open(made, Everyone);
    /// let inputs = Inputs::new().with([0u8, 1, 2, 3]).with(49u32);
    /// assert_eq!(p.finish()?.simulate(&inputs)?.get(opened), [50, 2401, 7, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn match_secret<T: Unsigned, S: State, const N: usize>(
        &mut self,
        index: impl Operand<T>,
        branches: [&dyn Fn(&mut Program) -> S; N],
    ) -> S {
        const { assert!(N > 0, "a match has a branch at least") };
        self.match_numbered(index, N, |p, branch| branches[branch](p))
    }

    /// Gives the values of one of `count` branches that one closure makes, called with the number of each; else as [`Program::match_secret`].
    #[track_caller]
    pub fn match_numbered<T: Unsigned, S: State>(
        &mut self,
        index: impl Operand<T>,
        count: usize,
        mut branch: impl FnMut(&mut Program, usize) -> S,
    ) -> S {
        let at = Source::here();
        let recorder = self.recorder();
        let index = index.operand(Beside { recorder, at });
        let mut recorded = Recorded::new(format!("a match of {count} branches"), at);
        if !(1..=MAX_BRANCHES).contains(&count) {
            let (found, most) = (count, MAX_BRANCHES);
            let operator = "a match".into();
            let fault = Fault::BranchCount {
                operator,
                found,
                most,
            };
            self.recorder().fail(at, fault);
        }
        // A first branch says what type would come out of a match of none.
        for number in 0..count.clamp(1, MAX_BRANCHES) {
            self.branch(&mut recorded, |p| branch(p, number));
        }
        self.choice(recorded, index.tensor(), |_| {})
    }

    fn branch<S: State>(
        &mut self,
        recorded: &mut Recorded<S>,
        branch: impl FnOnce(&mut Program) -> S,
    ) {
        let common = recorded.captured.clone();
        let (body, made) = self.body(Place::Branch, 1, common, branch, values, recorded.at);
        let graph = body.map(|(graph, captured)| {
            recorded.captured = captured;
            graph
        });
        recorded.branches.push((graph, made));
    }

    /// The node, or one for each shape that comes out; `order` puts its branches in order.
    fn choice<S: State>(
        &mut self,
        recorded: Recorded<S>,
        index: &Tensor,
        order: impl FnOnce(&mut Vec<&Graph>),
    ) -> S {
        let Recorded {
            operator,
            at,
            captured,
            branches,
        } = recorded;
        let like = &branches[0].1;
        let graphs: Option<Vec<&Graph>> =
            branches.iter().map(|(graph, _)| graph.as_deref()).collect();
        let parts = graphs.and_then(|mut graphs| {
            let shapes = self.shapes(&operator, at, &graphs, &index.shape)?;
            order(&mut graphs);
            self.choices(&graphs, &captured, &shapes, index, at)
        });
        like.made_of(&mut parts.into_iter().flatten())
    }

    /// The shape of each value that comes out.
    fn shapes(
        &self,
        operator: &str,
        at: Source,
        graphs: &[&Graph],
        index: &Shape,
    ) -> Option<Vec<Shape>> {
        let fail = |fault| {
            self.recorder().fail(at, fault);
            None
        };
        let mut shapes = vec![index.clone(); graphs[0].results().len()];
        for (branch, graph) in graphs.iter().enumerate() {
            let (expected, found) = (shapes.len(), graph.results().len());
            if expected != found {
                return fail(Fault::Branches {
                    operator: operator.into(),
                    branch,
                    expected,
                    found,
                });
            }
            for (shape, &result) in shapes.iter_mut().zip(graph.results()) {
                let other = &graph.type_of(result).shape;
                *shape = match shape.broadcast(other) {
                    Some(both) => both,
                    None => {
                        return fail(Fault::Broadcast {
                            operator: format!("branch {branch} of {operator}"),
                            left: shape.clone(),
                            right: other.clone(),
                        });
                    }
                };
            }
        }
        Some(shapes)
    }

    fn choices(
        &mut self,
        graphs: &[&Graph],
        captured: &[Value],
        shapes: &[Shape],
        index: &Tensor,
        at: Source,
    ) -> Option<Vec<Part>> {
        let mut parts: Vec<Option<Part>> = vec![None; shapes.len()];
        for first in 0..shapes.len() {
            if parts[first].is_some() {
                continue;
            }
            let shape = &shapes[first];
            let alike: Vec<usize> = (first..shapes.len())
                .filter(|&number| shapes[number] == *shape)
                .collect();
            let body = |graph: &&Graph| Arc::new(graph.with_results(&alike, shape, at));
            let op = Op::Choose(graphs.iter().map(body).collect());
            let index = index.broadcast(shape, at);
            let index = index.import(self.recorder(), "a conditional", at)?;
            let inputs = [&[index], captured].concat();
            let node = self.recorder().add(op, inputs, at)?;
            for (output, &number) in (0..).zip(&alike) {
                parts[number] = Some(Part {
                    recorder: std::sync::Arc::clone(self.recorder()),
                    value: Some(Value { output, ..node }),
                });
            }
        }
        parts.into_iter().collect()
    }
}

impl<S> Recorded<S> {
    fn new(operator: String, at: Source) -> Self {
        Self {
            operator,
            at,
            captured: Vec::new(),
            branches: Vec::new(),
        }
    }
}

impl Graph {
    /// Keeps some of the results alone, repeated to a shape.
    fn with_results(&self, which: &[usize], shape: &Shape, at: Source) -> Graph {
        let (mut graph, results) = self.clone().without_results();
        for &number in which {
            let result = results[number];
            let typed = graph.type_of(result).clone();
            let result = match typed.shape == *shape {
                true => result,
                false => {
                    let view = Op::View(View::broadcast(&typed.shape, shape));
                    let typed = TensorType::new(typed.element, shape.clone());
                    graph.push(view, vec![result], vec![typed], at)
                }
            };
            graph.add_result(result);
        }
        graph
    }
}
