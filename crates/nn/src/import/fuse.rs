//! Makes a graph smaller without changing it: factors and summands of channels join the linear operator before
//! them (a batch normalisation among them), padding that no maximum takes joins the pool behind it, and what serves no
//! output goes.

use std::sync::Arc;

use super::origin::Origins;
use crate::graph::{Binary, Graph, Node, Op, Type, Value, ValueId};
use crate::tensor::{Data, Element, Tensor};

/// Lets linear operators do what follows them, and takes out nodes that serve no output.
pub(super) fn fuse(graph: Graph, origins: &mut Origins) -> Graph {
    let mut graph = Fusion::new(graph, origins).run();
    let mut needed = vec![false; graph.values.len()];
    for (_, id) in &graph.outputs {
        needed[id.index()] = true;
    }
    let mut nodes: Vec<Node> = Vec::new();
    for node in graph.nodes.into_iter().rev() {
        if node.outputs.iter().any(|id| needed[id.index()]) {
            node.inputs.iter().for_each(|id| needed[id.index()] = true);
            nodes.push(node);
        }
    }
    nodes.reverse();
    graph.nodes = nodes;
    graph
}

/// Steps that follow a linear operator: a factor or summand for each channel.
enum Step {
    Scale(Vec<f64>),
    Shift(Vec<f64>),
}

/// Numbers of weights that are computed at most: those of a network whose largest layers are followed by a few
/// factors each. Operators beyond that stay as they are.
const MOST: usize = 1 << 30;

struct Fusion<'a> {
    graph: Graph,
    origins: &'a mut Origins,
    /// Values from this one on were made here.
    own: usize,
    /// Numbers that may still be computed.
    work: usize,
    /// Number of times that each value is read.
    readers: Vec<usize>,
    /// The node that makes a value.
    maker: Vec<Option<usize>>,
}

impl<'a> Fusion<'a> {
    fn new(graph: Graph, origins: &'a mut Origins) -> Self {
        let mut readers = vec![0; graph.values.len()];
        let mut maker = vec![None; graph.values.len()];
        for (place, node) in graph.nodes.iter().enumerate() {
            node.inputs.iter().for_each(|id| readers[id.index()] += 1);
            node.outputs
                .iter()
                .for_each(|id| maker[id.index()] = Some(place));
        }
        for (_, id) in &graph.outputs {
            readers[id.index()] += 1;
        }
        Fusion {
            own: graph.values.len(),
            work: MOST,
            graph,
            origins,
            readers,
            maker,
        }
    }

    fn run(mut self) -> Graph {
        let mut gone = vec![false; self.graph.nodes.len()];
        for (place, gone) in gone.iter_mut().enumerate() {
            *gone = self.join(place).is_some();
            self.pool(place);
        }
        let mut gone = gone.into_iter();
        self.graph.nodes.retain(|_| !gone.next().unwrap_or(false));
        self.graph
    }

    fn known(&self, id: ValueId) -> Option<&Tensor> {
        self.graph.value(id).constant.as_deref()
    }

    fn constant(
        &mut self,
        like: Element,
        shape: Vec<usize>,
        values: Vec<f64>,
        parents: &[ValueId],
    ) -> ValueId {
        let data = match like {
            Element::F64 => Data::F64(values),
            _ => Data::F32(values.into_iter().map(|v| v as f32).collect()),
        };
        let tensor = Tensor::made(like, shape, data);
        let id = ValueId(self.graph.values.len() as u32);
        self.graph.values.push(Value {
            ty: Type::of(&tensor),
            constant: Some(Arc::new(tensor)),
            owned: false,
        });
        self.origins.add(None, parents);
        self.readers.push(0);
        self.maker.push(None);
        id
    }

    /// Lets a pool of maxima read what was padded before it, and pad itself: what a pool adds does not count. That is the
    /// same if the padding is no greater than any float of the data, and each window has an element of the data. The
    /// padding, which then serves nothing, goes with the rest.
    fn pool(&mut self, place: usize) -> Option<()> {
        let node = &self.graph.nodes[place];
        let Op::MaxPool(window) = &node.op else {
            return None;
        };
        let (mut window, x) = (window.clone(), node.inputs[0]);
        let padding = &self.graph.nodes[self.maker[x.index()]?];
        let Op::Pad {
            before,
            after,
            value,
        } = &padding.op
        else {
            return None;
        };
        let source = padding.inputs[0];
        let least = match self.graph.value(source).ty.element {
            Element::F64 => f64::MIN,
            Element::F32 => f64::from(f32::MIN),
            _ => return None,
        };
        let outside = [&before[..2], &after[..2]].concat();
        if *value > least || outside.iter().any(|&count| count > 0) {
            return None;
        }
        for axis in 0..window.kernel.len() {
            let all = [
                before[axis + 2],
                window.before[axis],
                after[axis + 2],
                window.after[axis],
            ];
            let [first, own_first, last, own_last] = all;
            let ends = [first.checked_add(own_first)?, last.checked_add(own_last)?];
            let dense = window.dilations[axis] == 1;
            if ends
                .iter()
                .any(|&end| end > 0 && (!dense || end >= window.kernel[axis]))
            {
                return None;
            }
            [window.before[axis], window.after[axis]] = ends;
        }
        let node = &mut self.graph.nodes[place];
        node.op = Op::MaxPool(window);
        node.inputs[0] = source;
        Some(())
    }

    /// Lets the linear operator before a node do what the node does, if it can.
    fn join(&mut self, place: usize) -> Option<()> {
        let node = &self.graph.nodes[place];
        let Op::Binary(binary) = node.op else {
            return None;
        };
        let (mut x, mut other) = (node.inputs[0], node.inputs[1]);
        if self.known(x).is_some() && matches!(binary, Binary::Add | Binary::Mul) {
            std::mem::swap(&mut x, &mut other);
        }
        let result = node.outputs[0];
        let (before, after) = (&self.graph.value(x).ty, &self.graph.value(result).ty);
        let element = before.element;
        let narrow = !matches!(element, Element::F32 | Element::F64);
        if before != after || narrow || self.readers[x.index()] != 1 {
            return None;
        }
        let maker = self.maker[x.index()]?;
        let linear = &self.graph.nodes[maker];
        // The weights' axis that is the result's `channel`.
        let (channel, axis) = match &linear.op {
            Op::Conv { .. } => (1, 0),
            Op::ConvTranspose { groups: 1, .. } => (1, 1),
            Op::MatMul => {
                let weights = &self.graph.value(linear.inputs[1]).ty.shape;
                (weights.len() == 2).then_some((before.shape.len() - 1, 1))?
            }
            _ => return None,
        };
        let channels = before.shape[channel];
        let values = each_channel(self.known(other)?, &before.shape, channel)?;
        let step = match binary {
            Binary::Add => Step::Shift(values),
            Binary::Sub => Step::Shift(values.into_iter().map(|v| -v).collect()),
            Binary::Mul => Step::Scale(values),
            Binary::Div => Step::Scale(values.into_iter().map(f64::recip).collect()),
            _ => return None,
        };
        let weights = self.known(linear.inputs[1])?;
        let bias = match linear.inputs.get(2) {
            None => None,
            Some(&bias) if matches!(linear.op, Op::MatMul) => {
                Some(each_channel(self.known(bias)?, &before.shape, channel)?)
            }
            Some(&bias) => Some(self.known(bias)?.to_f64()),
        };
        let left = self.work.checked_sub(weights.len() + 2 * channels)?;
        let (shape, old) = (weights.shape().to_vec(), weights);
        let of_weights = [linear.inputs[1], other];
        let of_bias: Vec<ValueId> = linear
            .inputs
            .get(2)
            .copied()
            .into_iter()
            .chain([other])
            .collect();
        let (weights, bias) = match step {
            Step::Shift(summands) => {
                let bias = bias.unwrap_or_else(|| vec![0.0; channels]);
                let sums = bias.iter().zip(&summands).map(|(a, b)| a + b);
                (None, Some(sums.collect()))
            }
            Step::Scale(factors) => {
                let inner: usize = shape[axis + 1..].iter().product();
                let mut scaled = old.to_f64();
                for (at, value) in scaled.iter_mut().enumerate() {
                    *value *= factors[at / inner.max(1) % channels.max(1)];
                }
                let bias = bias
                    .map(|bias: Vec<f64>| bias.iter().zip(&factors).map(|(a, b)| a * b).collect());
                (Some(scaled), bias)
            }
        };
        self.work = left;
        let before = self.graph.nodes[maker].inputs.clone();
        if let Some(weights) = weights {
            let weights = self.constant(element, shape, weights, &of_weights);
            self.graph.nodes[maker].inputs[1] = weights;
        }
        if let Some(bias) = bias {
            let bias = self.constant(element, vec![channels], bias, &of_bias);
            let inputs = &mut self.graph.nodes[maker].inputs;
            inputs.truncate(2);
            inputs.push(bias);
        }
        // Values that were made here, and are replaced, nobody else reads.
        for id in before {
            if id.index() >= self.own && !self.graph.nodes[maker].inputs.contains(&id) {
                self.graph.values[id.index()].constant = None;
            }
        }
        self.graph.nodes[maker].outputs = vec![result];
        self.maker[result.index()] = Some(maker);
        Some(())
    }
}

/// The number for each channel, if a constant is the same for all else.
fn each_channel(constant: &Tensor, shape: &[usize], channel: usize) -> Option<Vec<f64>> {
    let own = constant.shape();
    let skipped = shape.len().checked_sub(own.len())?;
    let others = own.iter().enumerate();
    let mut others = others.filter(|(axis, _)| axis + skipped != channel);
    if others.any(|(_, &size)| size != 1) {
        return None;
    }
    let values = constant.to_f64();
    match values[..] {
        [one] => Some(vec![one; shape[channel]]),
        _ => (values.len() == shape[channel]).then_some(values),
    }
}

/// Takes out values that no node reads or makes, and numbers those that are left.
pub(super) fn clean(graph: Graph) -> Graph {
    let mut needed = vec![false; graph.values.len()];
    for (_, id) in graph.outputs.iter().chain(&graph.inputs) {
        needed[id.index()] = true;
    }
    let mut nodes = graph.nodes;
    for node in &nodes {
        let seen = node.inputs.iter().chain(&node.outputs);
        seen.for_each(|id| needed[id.index()] = true);
    }
    let mut values = Vec::new();
    let mut new = vec![ValueId(0); needed.len()];
    for (index, value) in graph.values.into_iter().enumerate() {
        if needed[index] {
            new[index] = ValueId(values.len() as u32);
            values.push(value);
        }
    }
    for node in &mut nodes {
        let seen = node.inputs.iter_mut().chain(&mut node.outputs);
        seen.for_each(|id| *id = new[id.index()]);
    }
    let named = |list: Vec<(String, ValueId)>| {
        let list = list.into_iter();
        list.map(|(name, id)| (name, new[id.index()])).collect()
    };
    Graph {
        inputs: named(graph.inputs),
        outputs: named(graph.outputs),
        values,
        nodes,
        trained: graph.trained,
        memory: graph.memory,
    }
}
