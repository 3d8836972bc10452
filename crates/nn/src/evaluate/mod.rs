//! Graphs in the clear: what they mean.

mod elementwise;
mod linear;
mod moves;
mod pool;
mod reduce;
mod strided;

use std::sync::Arc;

use crate::error::{EvaluateError, Fault};
use crate::graph::{Graph, Node, Op, Type, ValueId};
use crate::tensor::Tensor;

pub(crate) use moves::place;
pub(crate) use strided::split;

/// Applies one operator to operands of the types from which `outputs` were inferred.
pub(crate) fn apply(op: &Op, inputs: &[&Tensor], outputs: &[Type]) -> Result<Vec<Tensor>, Fault> {
    let (first, output) = (inputs[0], &outputs[0]);
    let one = match op {
        Op::Unary(unary) => elementwise::unary(*unary, first, output),
        Op::Binary(binary) => elementwise::binary(*binary, first, inputs[1], output)?,
        Op::Clip { low, high } => elementwise::clip(*low, *high, first, output),
        Op::Cast { .. } => elementwise::cast(first, output),
        Op::Select => elementwise::select(first, inputs[1], inputs[2], output),
        Op::MatMul => linear::matmul(inputs, output),
        Op::Conv { window, groups } => linear::convolve(window, *groups, false, inputs, output),
        Op::ConvTranspose { window, groups, .. } => {
            linear::convolve(window, *groups, true, inputs, output)
        }
        Op::MaxPool(window) => pool::pool(window, None, first, output),
        Op::AveragePool { window, counted } => pool::pool(window, Some(counted), first, output),
        Op::Reduce { by, axes } => reduce::reduce(*by, axes, first, output),
        Op::Arg {
            greatest,
            axis,
            last,
        } => reduce::arg((*greatest, *last), *axis, first, output),
        Op::TopK {
            count,
            axis,
            greatest,
        } => return Ok(reduce::top((*count, *axis, *greatest), first, outputs)),
        Op::CumSum {
            axis,
            exclusive,
            reverse,
        } => reduce::cumulate(*axis, (*exclusive, *reverse), first, output),
        Op::Softmax { axis } => reduce::softmax(*axis, false, first, output),
        Op::LogSoftmax { axis } => reduce::softmax(*axis, true, first, output),
        Op::Normalize {
            axis,
            epsilon,
            center,
        } => reduce::normalize(*axis, *epsilon, *center, first, output),
        Op::Reshape { shape } => first.clone().with_shape(shape.clone()),
        Op::Transpose { axes } => moves::transpose(axes, first, output),
        Op::Concat { axis } => moves::concat(*axis, inputs, output),
        Op::Slice { starts, steps, .. } => moves::slice(starts, steps, first, output),
        Op::Gather { axis } => moves::gather(*axis, first, inputs[1], output)?,
        Op::Expand { .. } => moves::expand(first, output),
        Op::Pad { before, value, .. } => moves::pad(before, *value, first, output),
    };
    Ok(vec![one])
}

/// Sees what nodes make, as they make it.
pub trait Observer {
    /// `node` of `graph` made `tensor`, which is its output `id`.
    fn made(&mut self, graph: &Graph, node: &Node, id: ValueId, tensor: &Tensor);
}

/// Sees nothing.
impl Observer for () {
    fn made(&mut self, _: &Graph, _: &Node, _: ValueId, _: &Tensor) {}
}

impl<F: FnMut(&Graph, &Node, ValueId, &Tensor)> Observer for F {
    fn made(&mut self, graph: &Graph, node: &Node, id: ValueId, tensor: &Tensor) {
        self(graph, node, id, tensor);
    }
}

impl Graph {
    /// Data as the inputs' elements have it, in the order of [`Graph::inputs`]: files may have others.
    ///
    /// # Errors
    /// [`EvaluateError`] if a number is none that its input has.
    pub fn held(&self, data: &[Tensor]) -> Result<Vec<Tensor>, EvaluateError> {
        let known = self.inputs.iter().map(Some).chain(std::iter::repeat(None));
        let held = data.iter().zip(known).map(|(given, input)| match input {
            Some((name, id)) => {
                let held = given.converted(self.value(*id).ty.element);
                held.map_err(|wrong| EvaluateError::Held {
                    input: name.clone(),
                    wrong,
                })
            }
            None => Ok(given.clone()),
        });
        held.collect()
    }

    /// Computes the outputs for these inputs, in the order of [`Graph::inputs`] and [`Graph::outputs`].
    ///
    /// Floats are computed in the precision of their elements, sums of many in any order; integers modulo two to
    /// their width.
    ///
    /// # Errors
    /// [`EvaluateError`] if the inputs are others than the graph's, or an index among them points nowhere, or
    /// an integer is divided by 0.
    pub fn evaluate(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, EvaluateError> {
        self.evaluate_with(inputs, &mut ())
    }

    /// Computes as [`Graph::evaluate`] does, while `observer` sees every node's result.
    ///
    /// # Errors
    /// [`EvaluateError`] in the same cases as [`Graph::evaluate`].
    pub fn evaluate_with(
        &self,
        inputs: &[Tensor],
        observer: &mut impl Observer,
    ) -> Result<Vec<Tensor>, EvaluateError> {
        if inputs.len() != self.inputs.len() {
            return Err(EvaluateError::Inputs {
                expected: self.inputs.len(),
                found: inputs.len(),
            });
        }
        let mut known: Vec<Option<Arc<Tensor>>> =
            self.values.iter().map(|v| v.constant.clone()).collect();
        for ((name, id), given) in self.inputs.iter().zip(inputs) {
            let (expected, found) = (&self.value(*id).ty, Type::of(given));
            if *expected != found {
                return Err(EvaluateError::Input {
                    input: name.clone(),
                    expected: expected.to_string(),
                    found: found.to_string(),
                });
            }
            known[id.index()] = Some(Arc::new(given.clone()));
        }
        // Last reader of each value; what outputs read stays.
        let mut last = vec![usize::MAX; self.values.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            node.inputs.iter().for_each(|id| last[id.index()] = place);
        }
        for (_, id) in &self.outputs {
            last[id.index()] = usize::MAX;
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let of_node = |fault| EvaluateError::Node {
                node: node.name.clone(),
                operator: node.operator.clone(),
                fault,
            };
            let read: Vec<Arc<Tensor>> = node
                .inputs
                .iter()
                .filter_map(|id| known[id.index()].clone())
                .collect();
            let read: Vec<&Tensor> = read.iter().map(|tensor| &**tensor).collect();
            let types = node.outputs.iter().map(|&id| self.value(id).ty.clone());
            let types: Vec<Type> = types.collect();
            let made = apply(&node.op, &read, &types).map_err(of_node)?;
            for (&id, tensor) in node.outputs.iter().zip(made) {
                observer.made(self, node, id, &tensor);
                known[id.index()] = Some(Arc::new(tensor));
            }
            for id in node.inputs.iter().filter(|id| last[id.index()] == place) {
                known[id.index()] = None;
            }
        }
        let made = self.outputs.iter().filter_map(|(_, id)| {
            let tensor = known[id.index()].as_ref()?;
            Some(Tensor::clone(tensor))
        });
        Ok(made.collect())
    }
}

/// Reorders axes.
pub(crate) fn transpose(axes: Vec<usize>, input: &Tensor, output: &Type) -> Tensor {
    moves::transpose(&axes, input, output)
}
