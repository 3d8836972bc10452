//! Conditionals on secrets: which stay, and which become all their branches and a choice of each element.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Binary, Graph, Node, Op, TensorType, Unary, Value};
use crate::array::Array;
use crate::element::Type;
use crate::shape::Shape;

impl Graph {
    /// Makes those conditionals, in loops too, that `keep` says no of into their
    /// branches and a multiplexer. What branches do to values from around them before they compute anything
    /// (other shapes, fewer elements) is done around the others.
    pub(crate) fn with_choices(&self, keep: &mut dyn FnMut(&Graph, &Node) -> bool) -> Graph {
        let mut choices = Choices {
            graph: Graph::default(),
        };
        let results = choices.emit(self, None, Some(keep));
        for result in results {
            choices.graph.add_result(result);
        }
        choices.graph
    }
}

type Keep<'a> = Option<&'a mut dyn FnMut(&Graph, &Node) -> bool>;

struct Choices {
    graph: Graph,
}

impl Choices {
    /// Adds the nodes of a graph, with these values for its arguments; gives its results. Without `keep` all
    /// conditionals stay.
    fn emit(
        &mut self,
        graph: &Graph,
        arguments: Option<&[Value]>,
        mut keep: Keep<'_>,
    ) -> Vec<Value> {
        graph.walk(|node, inputs| {
            let mut node = Node {
                inputs,
                ..node.clone()
            };
            match (&mut node.op, arguments) {
                (Op::Argument(number), Some(arguments)) => vec![arguments[*number]],
                (Op::Choose(branches), _) => {
                    let branches = branches.to_vec();
                    self.choice(&node, &branches, &mut keep)
                }
                (Op::Repeat { body, .. } | Op::Map { body, .. }, _) => {
                    if let Some(keep) = &mut keep {
                        *body = Arc::new(body.with_choices(*keep));
                    }
                    self.add(node)
                }
                _ => self.add(node),
            }
        })
    }

    fn add(&mut self, node: Node) -> Vec<Value> {
        let count = node.outputs.len();
        let first = self.graph.push(node.op, node.inputs, node.outputs, node.at);
        first.outputs(count).collect()
    }

    fn choice(&mut self, node: &Node, branches: &[Arc<Graph>], keep: &mut Keep<'_>) -> Vec<Value> {
        let mut hoist = Hoist {
            shape: node.outputs[0].shape.clone(),
            inputs: node.inputs[..1].to_vec(),
            places: HashMap::new(),
        };
        let bodies = branches.iter();
        let bodies = bodies.map(|branch| self.hoisted(branch, &node.inputs, &mut hoist));
        let bodies: Vec<_> = bodies.map(Arc::new).collect();
        let whole = Node {
            op: Op::Choose(bodies.into()),
            inputs: hoist.inputs,
            ..node.clone()
        };
        let kept = match keep {
            Some(keep) => keep(&self.graph, &whole),
            None => true,
        };
        if kept {
            return self.add(whole);
        }
        let mut made = Vec::new();
        for branch in branches {
            let keep: Keep<'_> = match keep {
                Some(keep) => Some(&mut **keep),
                None => None,
            };
            made.push(self.emit(branch, Some(&node.inputs), keep));
        }
        self.multiplexed(node, made)
    }

    /// A branch whose values that are only moved, of those from around it, are moved around it; what is
    /// public around it is public in it.
    fn hoisted(&mut self, branch: &Graph, around: &[Value], hoist: &mut Hoist) -> Graph {
        // Conditionals in it come first, so that what moves out of them can move on.
        let mut inner = Choices {
            graph: Graph::default(),
        };
        for result in inner.emit(branch, None, None) {
            inner.graph.add_result(result);
        }
        let (branch, results) = inner.graph.without_results();
        let mut body = Body {
            graph: Graph::default(),
            arguments: HashMap::new(),
        };
        let mut values: Vec<Vec<Moved>> = Vec::with_capacity(branch.nodes().len());
        for node in branch.nodes() {
            let moved = |value: &Value| values[value.node as usize][value.output as usize].clone();
            let inputs: Vec<Moved> = node.inputs.iter().map(moved).collect();
            values.push(match &node.op {
                Op::Argument(number) => {
                    let outer = around[*number];
                    vec![match public(&self.graph, outer) {
                        Some(array) => Moved::Public(array),
                        None => Moved::Outer(outer),
                    }]
                }
                Op::Constant(array) => vec![Moved::Public(Arc::clone(array))],
                Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) | Op::Row(_)
                    if inputs.iter().all(|input| !matches!(input, Moved::Made(_))) =>
                {
                    let arrays: Option<Vec<&Array>> = inputs.iter().map(Moved::array).collect();
                    vec![match arrays {
                        Some(arrays) => {
                            let made = crate::simulate::evaluate(&node.op, &arrays, &node.outputs);
                            Moved::Public(Arc::new(made.into_iter().next().expect("one result")))
                        }
                        None => {
                            let inputs = inputs.iter().map(|input| match input {
                                Moved::Public(array) => {
                                    self.graph.add_constant(array.as_ref().clone(), node.at)
                                }
                                Moved::Outer(value) | Moved::Made(value) => *value,
                            });
                            let inputs = inputs.collect();
                            let (op, outputs) = (node.op.clone(), node.outputs.clone());
                            Moved::Outer(self.graph.push(op, inputs, outputs, node.at))
                        }
                    }]
                }
                op => {
                    let inputs = inputs.into_iter();
                    let inputs =
                        inputs.map(|input| body.value(input, &mut self.graph, hoist, node));
                    let inputs = inputs.collect();
                    let outputs = node.outputs.clone();
                    let first = body.graph.push(op.clone(), inputs, outputs, node.at);
                    first.outputs(node.outputs.len()).map(Moved::Made).collect()
                }
            });
        }
        for result in results {
            let made = values[result.node as usize][result.output as usize].clone();
            let node = branch.maker(result);
            let value = body.value(made, &mut self.graph, hoist, node);
            body.graph.add_result(value);
        }
        body.graph
    }

    /// Chooses, from the results of all branches, those whose number stands in the first input.
    fn multiplexed(&mut self, node: &Node, made: Vec<Vec<Value>>) -> Vec<Value> {
        let index = node.inputs[0];
        let element = self.graph.type_of(index).element;
        let shape = self.graph.type_of(index).shape.clone();
        let at = node.at;
        let push = |graph: &mut Graph, op: Op, inputs: Vec<Value>, element: Type| {
            graph.push(
                op,
                inputs,
                vec![TensorType::new(element, shape.clone())],
                at,
            )
        };
        let filled =
            |graph: &mut Graph, element: Type, code: u128| graph.filled(element, &shape, code, at);
        let named = madrigal_circuit::branches::index_bits(made.len()) as u32;
        let bits: Vec<Value> = (0..named.min(element.bits()))
            .map(|bit| match element.is_bool() {
                true => index,
                false => {
                    let shifted = Op::Unary(Unary::ShiftRight(bit));
                    let shifted = push(&mut self.graph, shifted, vec![index], element);
                    push(
                        &mut self.graph,
                        Op::Cast(Type::BOOL),
                        vec![shifted],
                        Type::BOOL,
                    )
                }
            })
            .collect();
        // The bits above those that name branches must be 0.
        let inside = (named < element.bits() && !element.is_bool()).then(|| {
            let bound = filled(&mut self.graph, element, 1 << named);
            let less = Op::Binary(Binary::Less);
            push(&mut self.graph, less, vec![index, bound], Type::BOOL)
        });
        let outputs = node.outputs.iter().enumerate();
        outputs
            .map(|(output, typed)| {
                let zero = filled(&mut self.graph, typed.element, 0);
                let mut level: Vec<Value> = made.iter().map(|made| made[output]).collect();
                for &bit in &bits {
                    let pairs = level.chunks(2);
                    let select = |pair: &[Value]| {
                        let inputs = vec![bit, pair.get(1).copied().unwrap_or(zero), pair[0]];
                        push(&mut self.graph, Op::Select, inputs, typed.element)
                    };
                    level = pairs.map(select).collect();
                }
                let chosen = level[0];
                match inside {
                    Some(inside) => {
                        let inputs = vec![inside, chosen, zero];
                        push(&mut self.graph, Op::Select, inputs, typed.element)
                    }
                    None => chosen,
                }
            })
            .collect()
    }
}

/// The inputs of a conditional, more and more of them.
struct Hoist {
    /// Shape of the results.
    shape: Shape,
    inputs: Vec<Value>,
    /// The places of those that branches use.
    places: HashMap<Value, usize>,
}

/// A value of a branch.
#[derive(Clone)]
enum Moved {
    /// A tensor that all parties know.
    Public(Arc<Array>),
    /// It is one around the branch.
    Outer(Value),
    /// It is computed in the branch.
    Made(Value),
}

impl Moved {
    fn array(&self) -> Option<&Array> {
        match self {
            Self::Public(array) => Some(array),
            _ => None,
        }
    }
}

/// A branch being made.
struct Body {
    graph: Graph,
    arguments: HashMap<usize, Value>,
}

impl Body {
    /// A value as the branch knows it.
    fn value(&mut self, moved: Moved, outer: &mut Graph, hoist: &mut Hoist, node: &Node) -> Value {
        match moved {
            Moved::Made(value) => value,
            Moved::Public(array) if is_alike(&array, &hoist.shape) => {
                self.graph.add_constant(array.as_ref().clone(), node.at)
            }
            Moved::Public(array) => {
                let value = outer.add_constant(array.as_ref().clone(), node.at);
                self.value(Moved::Outer(value), outer, hoist, node)
            }
            Moved::Outer(value) => {
                let place = *hoist.places.entry(value).or_insert_with(|| {
                    hoist.inputs.push(value);
                    hoist.inputs.len() - 1
                });
                let graph = &mut self.graph;
                *self.arguments.entry(place).or_insert_with(|| {
                    let typed = outer.type_of(value).clone();
                    graph.leaf(Op::Argument(place), typed, node.at)
                })
            }
        }
    }
}

/// Number of a value's elements that belong to each element of a conditional of shape `of`, if they do so: if
/// the value has the conditional's axes in front.
pub(crate) fn elements_each(shape: &Shape, of: &Shape) -> Option<usize> {
    match of.elements() {
        1 => Some(shape.elements()),
        _ => {
            let rest = shape.axes().strip_prefix(of.axes())?;
            Some(rest.iter().product())
        }
    }
}

/// Whether a public value is the same for each element of a conditional.
fn is_alike(array: &Array, of: &Shape) -> bool {
    let Some(each) = elements_each(array.shape(), of) else {
        return true;
    };
    let words = array.words();
    (each..words.len()).all(|at| words.get(at) == words.get(at - each))
}

/// The public tensor that a value is, moved or not.
fn public(graph: &Graph, value: Value) -> Option<Arc<Array>> {
    let node = graph.maker(value);
    match &node.op {
        Op::Constant(array) => Some(Arc::clone(array)),
        Op::View(_) | Op::Reshape(_) | Op::Pick { .. } => {
            let array = public(graph, node.inputs[0])?;
            crate::simulate::evaluate(&node.op, &[&array], &node.outputs)
                .pop()
                .map(Arc::new)
        }
        _ => None,
    }
}
