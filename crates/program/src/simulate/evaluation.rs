//! A graph in the clear, node by node.

use std::sync::Arc;

use super::branches::Active;
use super::checks::{self, Overflow};
use super::elements::evaluate;
use super::ports::InputError;
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ir::{Graph, Node, Op, TensorType};

/// Zeros in the place of what an operation refused to make.
fn zeros(typed: &TensorType) -> Array {
    let zeros = std::iter::repeat_n(0, typed.shape.elements());
    let words = Words::collect(typed.element, zeros);
    Array::new(typed.element, typed.shape.clone(), words)
}

/// One evaluation.
pub(super) struct Evaluation<'a> {
    inputs: &'a [Arc<Array>],
    /// Values of earlier stages.
    before: &'a [Arc<Array>],
    overflows: Option<&'a mut Vec<Overflow>>,
    /// Why an operation of the author's refused its operands first.
    refused: Option<InputError>,
    /// Elements in which the secret branch at hand is active.
    active: Option<Active>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        inputs: &'a [Arc<Array>],
        before: &'a [Arc<Array>],
        overflows: Option<&'a mut Vec<Overflow>>,
    ) -> Self {
        Self {
            inputs,
            before,
            overflows,
            refused: None,
            active: None,
        }
    }

    /// The results of a program's graph.
    pub(super) fn program(mut self, graph: &Graph) -> Result<Vec<Arc<Array>>, InputError> {
        let results = self.graph(graph, &[], 0);
        match self.refused {
            Some(refused) => Err(refused),
            None => Ok(results),
        }
    }

    /// The results of a graph; `turn` is how many times a loop's body was run before.
    fn graph(&mut self, graph: &Graph, arguments: &[Arc<Array>], turn: usize) -> Vec<Arc<Array>> {
        let mut uses = vec![0_usize; graph.nodes().len()];
        for node in graph.nodes() {
            node.inputs
                .iter()
                .for_each(|input| uses[input.node as usize] += 1);
        }
        for result in graph.results() {
            uses[result.node as usize] += 1;
        }
        let mut values: Vec<Vec<Arc<Array>>> = Vec::with_capacity(uses.len());
        for node in graph.nodes() {
            let value = |value: &crate::ir::Value| {
                Arc::clone(&values[value.node as usize][value.output as usize])
            };
            let inputs: Vec<Arc<Array>> = node.inputs.iter().map(value).collect();
            let made = match &node.op {
                &Op::Input(number) => vec![Arc::clone(&self.inputs[number])],
                &Op::Kept(number) => vec![Arc::clone(&self.before[number])],
                &Op::Argument(number) => vec![Arc::clone(&arguments[number])],
                Op::Constant(array) => vec![Arc::clone(array)],
                Op::Counter => {
                    vec![Arc::new(Array::one(Type::PLACE, turn as u128))]
                }
                Op::Repeat {
                    count,
                    carried,
                    body,
                } => {
                    let mut arguments = inputs.clone();
                    for turn in 0..*count {
                        let state = self.graph(body, &arguments, turn);
                        arguments.splice(..*carried, state);
                    }
                    arguments.truncate(*carried);
                    arguments
                }
                Op::Choose(branches) => self.choose(node, branches, &inputs),
                Op::Operation(own) => match own.evaluate(&inputs) {
                    Ok(made) => made.into_iter().map(Arc::new).collect(),
                    Err(problem) => {
                        let at = node.at;
                        let refused = || InputError::Refused { at, problem };
                        self.refused.get_or_insert_with(refused);
                        own.outputs()
                            .iter()
                            .map(|typed| Arc::new(zeros(typed)))
                            .collect()
                    }
                },
                op => {
                    let operands: Vec<&Array> = inputs.iter().map(Arc::as_ref).collect();
                    if let Some(overflows) = &mut self.overflows {
                        overflows.extend(match &self.active {
                            Some(active) => active.overflow(node, &operands),
                            None => checks::overflow(node, &operands),
                        });
                    }
                    let made = evaluate(op, &operands, &node.outputs);
                    made.into_iter().map(Arc::new).collect()
                }
            };
            values.push(made);
            // Values that nothing will read are dropped.
            for input in &node.inputs {
                let left = &mut uses[input.node as usize];
                *left -= 1;
                if *left == 0 {
                    values[input.node as usize].clear();
                }
            }
        }
        let results = graph.results().iter();
        results
            .map(|value| Arc::clone(&values[value.node as usize][value.output as usize]))
            .collect()
    }

    /// The results of the branches that are active, element by element. Branches that are active nowhere
    /// are not computed.
    fn choose(
        &mut self,
        node: &Node,
        branches: &[Arc<Graph>],
        inputs: &[Arc<Array>],
    ) -> Vec<Arc<Array>> {
        let index: Vec<u128> = inputs[0].codes().collect();
        let mut codes: Vec<Vec<u128>> = vec![vec![0; index.len()]; node.outputs.len()];
        let outer = self.active.take();
        for (number, branch) in (0..).zip(branches) {
            let chosen: Vec<bool> = index.iter().map(|&index| index == number).collect();
            if !chosen.contains(&true) {
                continue;
            }
            let active = Active {
                shape: inputs[0].shape().clone(),
                elements: chosen.clone(),
            };
            let active = active.inside(outer.as_ref());
            // Nothing is looked at in a branch in a branch that is not active, but something comes out.
            let silent = !active.elements.contains(&true);
            self.active = Some(active);
            let looked = if silent { self.overflows.take() } else { None };
            let results = self.graph(branch, inputs, 0);
            if silent {
                self.overflows = looked;
            }
            for (codes, result) in codes.iter_mut().zip(results) {
                for (at, code) in result.codes().enumerate().filter(|&(at, _)| chosen[at]) {
                    codes[at] = code;
                }
            }
        }
        self.active = outer;
        let types = node.outputs.iter().zip(codes);
        types
            .map(|(typed, codes)| {
                let words = Words::collect(typed.element, codes.into_iter());
                Arc::new(Array::new(typed.element, typed.shape.clone(), words))
            })
            .collect()
    }
}
