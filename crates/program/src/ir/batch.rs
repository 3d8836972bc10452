//! Maps without maps: the body's operations on all rows at once.
//!
//! Every operation can take one more axis in front. Where a value of the body does not depend on the row
//! it keeps its shape, and is repeated only where it meets one that does.

use madrigal_core::Convolution;
use std::sync::Arc;

use super::{Graph, Node, Op, TensorType, Value};
use crate::array::{Array, Words};
use crate::element::Type;
use crate::error::Source;
use crate::shape::{MAX_ELEMENTS, Shape, View};

impl Graph {
    /// Makes each [`Op::Map`], in loops too, into operations on all its rows.
    pub(crate) fn without_maps(&self) -> Graph {
        let mut rows = Rows {
            graph: Graph::default(),
            count: 1,
            of_map: false,
        };
        let results = rows.emit(self, &[]);
        for result in results {
            rows.graph.add_result(result.value);
        }
        rows.graph
    }

    /// The body of a map for all rows: its first `carried` arguments have one more axis in front, and so
    /// have all its results.
    fn on_rows(&self, count: usize, carried: usize) -> Graph {
        let flags: Vec<_> = (0..self.arguments())
            .map(|number| number < carried)
            .collect();
        self.with_rows(count, &flags)
    }

    /// The body for all rows, where `flags` says which arguments have one more axis in front; all its
    /// results have.
    fn with_rows(&self, count: usize, flags: &[bool]) -> Graph {
        let mut rows = Rows {
            graph: Graph::default(),
            count,
            of_map: true,
        };
        let mut arguments = Vec::new();
        for (number, &many) in flags.iter().enumerate() {
            let leaf = Op::Argument(number);
            let mut nodes = self.nodes().iter();
            arguments.push(nodes.find(|node| node.op == leaf).map(|node| {
                let mut typed = node.outputs[0].clone();
                if many {
                    typed.shape = rows.in_front(&typed.shape);
                }
                let value = rows.graph.leaf(leaf, typed, node.at);
                Row { value, many }
            }));
        }
        for (result, &from) in rows.emit(self, &arguments).into_iter().zip(self.results()) {
            let at = self.maker(from).at;
            let value = rows.many(result, at);
            rows.graph.add_result(value);
        }
        rows.graph
    }

    /// Whether each value of the body of a map over `rows` rows, and of maps in it, has a size that there
    /// can be.
    pub(super) fn fits(&self, rows: usize) -> bool {
        self.nodes().iter().all(|node| {
            let mut outputs = node.outputs.iter();
            let outputs = outputs.all(|typed| {
                let elements = typed.shape.elements().max(1).checked_mul(rows);
                elements.is_some_and(|elements| elements <= MAX_ELEMENTS)
            });
            outputs
                && match &node.op {
                    Op::Map { count, body, .. } => {
                        let rows = rows.checked_mul((*count).max(1));
                        rows.is_some_and(|rows| body.fits(rows))
                    }
                    Op::Repeat { body, .. } => body.fits(rows),
                    Op::Choose(branches) => branches.iter().all(|body| body.fits(rows)),
                    _ => true,
                }
        })
    }

    /// One more than the greatest number of an argument that is used.
    fn arguments(&self) -> usize {
        let numbers = self.nodes().iter().map(|node| match node.op {
            Op::Argument(number) => number + 1,
            _ => 0,
        });
        numbers.max().unwrap_or(0)
    }
}

/// The numbers of rows as a public tensor.
fn numbered(count: usize) -> Arc<Array> {
    let words = Words::collect(Type::PLACE, 0..count as u128);
    Arc::new(Array::new(Type::PLACE, Shape::of(vec![count]), words))
}

/// A value of a body: one for all rows, or many, one for each along a first axis.
#[derive(Debug, Clone, Copy)]
struct Row {
    value: Value,
    many: bool,
}

/// Makes the graph on all rows.
struct Rows {
    graph: Graph,
    count: usize,
    /// Whether the nodes are those of a map's body, which is done for each row.
    of_map: bool,
}

impl Rows {
    /// Adds the nodes of a graph; gives its results.
    fn emit(&mut self, graph: &Graph, arguments: &[Option<Row>]) -> Vec<Row> {
        graph.walk(|node, inputs| match (&node.op, arguments) {
            (&Op::Argument(number), [_, ..]) => arguments[number].into_iter().collect(),
            _ => self.node(node, &inputs),
        })
    }

    fn node(&mut self, node: &Node, inputs: &[Row]) -> Vec<Row> {
        match &node.op {
            Op::Map {
                count,
                carried,
                body,
            } => {
                let flat = body.on_rows(*count, *carried);
                let arguments: Vec<_> = inputs.iter().copied().map(Some).collect();
                self.emit(&flat, &arguments)
            }
            Op::Repeat {
                count,
                carried,
                body,
            } => {
                let op = |body: Graph| Op::Repeat {
                    count: *count,
                    carried: *carried,
                    body: Arc::new(body),
                };
                if self.is_alike(node, inputs) {
                    return self.same(op(body.without_maps()), node, inputs);
                }
                let mut operands = Vec::new();
                let mut flags = Vec::new();
                for (number, &input) in inputs.iter().enumerate() {
                    // A state that starts alike need not stay so.
                    let many = input.many || number < *carried;
                    operands.push(match many {
                        true => self.many(input, node.at),
                        false => input.value,
                    });
                    flags.push(many);
                }
                let body = body.with_rows(self.count, &flags);
                self.push(op(body), operands, node)
            }
            Op::Choose(branches) => {
                if self.is_alike(node, inputs) {
                    let branches = branches.iter().map(|body| Arc::new(body.without_maps()));
                    return self.same(Op::Choose(branches.collect()), node, inputs);
                }
                let mut operands: Vec<Value> = inputs.iter().map(|input| input.value).collect();
                let flags: Vec<bool> = inputs.iter().map(|input| input.many).collect();
                operands[0] = self.many(inputs[0], node.at);
                let branches = branches.iter();
                let branches = branches.map(|body| Arc::new(body.with_rows(self.count, &flags)));
                self.push(Op::Choose(branches.collect()), operands, node)
            }
            // From here on nobody asks what is a permutation.
            &Op::Numbered(count) => self.same(Op::Constant(numbered(count)), node, inputs),
            op if self.is_alike(node, inputs) => self.same(op.clone(), node, inputs),
            op => self.on_all(op, node, inputs),
        }
    }

    /// Whether the node gives the same for all rows. Of a shuffle each row has an order of its own, also where all shuffle the same values.
    fn is_alike(&self, node: &Node, inputs: &[Row]) -> bool {
        let apart = self.of_map && node.op.shuffles();
        !apart && inputs.iter().all(|input| !input.many)
    }

    /// The node as it is.
    fn same(&mut self, op: Op, node: &Node, inputs: &[Row]) -> Vec<Row> {
        let inputs = inputs.iter().map(|input| input.value).collect();
        let first = self.graph.push(op, inputs, node.outputs.clone(), node.at);
        rows(first, node, false)
    }

    /// The node with one more axis in front of its results.
    fn push(&mut self, op: Op, operands: Vec<Value>, node: &Node) -> Vec<Row> {
        let typed =
            |typed: &TensorType| TensorType::new(typed.element, self.in_front(&typed.shape));
        let outputs = node.outputs.iter().map(typed).collect();
        let first = self.graph.push(op, operands, outputs, node.at);
        rows(first, node, true)
    }

    /// The operation with one more axis in front of its operands.
    fn on_all(&mut self, op: &Op, node: &Node, inputs: &[Row]) -> Vec<Row> {
        let at = node.at;
        let of_input = |rows: &Self| rows.graph.type_of(inputs[0].value).shape.clone();
        let op = match op {
            Op::View(view) => {
                let row = of_input(self).elements() / self.count.max(1);
                let strides = [&[row as isize], &view.strides[..]].concat();
                Op::View(View {
                    shape: self.in_front(&view.shape),
                    strides,
                    offset: view.offset,
                })
            }
            Op::Reshape(shape) => Op::Reshape(self.in_front(shape)),
            Op::Pick { axis, places } => Op::Pick {
                axis: axis + 1,
                places: Arc::clone(places),
            },
            Op::Join(axis) => Op::Join(axis + 1),
            Op::Reduce(reduction, axis) => Op::Reduce(*reduction, axis + 1),
            Op::Find(extreme, axis) => Op::Find(*extreme, axis + 1),
            Op::PrefixSums(axis) => Op::PrefixSums(axis + 1),
            Op::Row(axis) => {
                // The counter of a loop around the map is the same for all rows.
                let value = self.many(inputs[0], at);
                let operands = vec![value, inputs[1].value];
                return self.push(Op::Row(axis + 1), operands, node);
            }
            Op::MatMul | Op::LookUp => return self.matrices(op, node, inputs),
            Op::Convolve(convolution) => return self.convolutions(convolution, node, inputs),
            op => op.clone(),
        };
        let operands = inputs.iter().map(|&input| self.many(input, at));
        let operands = operands.collect();
        self.push(op, operands, node)
    }

    /// Operations that have an axis for batches in front: the rows join it.
    fn matrices(&mut self, op: &Op, node: &Node, inputs: &[Row]) -> Vec<Row> {
        let at = node.at;
        let result = self.in_front(&node.outputs[0].shape);
        // One matrix or table for all rows of the other operand: these become rows of that one.
        let (one, other) = match op {
            Op::MatMul => (inputs[1], inputs[0]),
            _ => (inputs[0], inputs[1]),
        };
        let alone = !one.many && self.graph.type_of(one.value).shape.axes()[0] == 1;
        let mut operands = Vec::new();
        let mut made = result.axes().to_vec();
        let rows = made.remove(0);
        if alone {
            let mut axes = self.graph.type_of(other.value).shape.axes()[1..].to_vec();
            axes[1] *= rows;
            let other = self.reshape(other.value, axes, at);
            operands.extend(match op {
                Op::MatMul => [other, one.value],
                _ => [one.value, other],
            });
            made[1] *= rows;
        } else {
            for &input in inputs {
                let value = self.many(input, at);
                let mut axes = self.graph.type_of(value).shape.axes()[1..].to_vec();
                axes[0] *= rows;
                operands.push(self.reshape(value, axes, at));
            }
            made[0] *= rows;
        }
        self.product(op.clone(), operands, made, node)
    }

    /// A product whose results are reshaped to those of the node with one more axis in front.
    fn product(&mut self, op: Op, operands: Vec<Value>, axes: Vec<usize>, node: &Node) -> Vec<Row> {
        let made = TensorType::new(node.outputs[0].element, Shape::of(axes));
        let product = self.graph.push(op, operands, vec![made], node.at);
        let shape = self.in_front(&node.outputs[0].shape);
        let value = self.reshape(product, shape.axes().to_vec(), node.at);
        vec![Row { value, many: true }]
    }

    /// Makes a convolution of more images for the same filters; where each row has its own filters, of more groups of channels.
    fn convolutions(&mut self, convolution: &Convolution, node: &Node, inputs: &[Row]) -> Vec<Row> {
        let at = node.at;
        let result = self.in_front(&node.outputs[0].shape);
        let &[rows, images, filters, height, width] = result.axes() else {
            unreachable!("a convolution's results have four axes")
        };
        let mut made = *convolution;
        let [x, y] = convolution.image;
        if !inputs[0].many {
            made.images *= rows;
            let many = self.many(inputs[1], at);
            let many = self.reshape(many, vec![rows * images, made.channels, x, y], at);
            let operands = vec![inputs[0].value, many];
            let axes = vec![rows * images, filters, height, width];
            return self.product(Op::Convolve(made), operands, axes, node);
        }
        made.groups *= rows;
        made.channels *= rows;
        made.filters *= rows;
        let left = self.many(inputs[0], at);
        let window = convolution.filter;
        let channels = convolution.channels;
        let axes = vec![
            made.filters,
            channels / convolution.groups,
            window[0],
            window[1],
        ];
        let left = self.reshape(left, axes, at);
        let right = self.many(inputs[1], at);
        let right = self.reshape(right, vec![rows, images, channels * x * y], at);
        let right = self.exchanged(right, at);
        let right = self.reshape(right, vec![images, made.channels, x, y], at);
        let axes = Shape::of(vec![images, made.filters, height, width]);
        let typed = TensorType::new(node.outputs[0].element, axes);
        let product = self
            .graph
            .push(Op::Convolve(made), vec![left, right], vec![typed], at);
        let area = filters * height * width;
        let product = self.reshape(product, vec![images, rows, area], at);
        let product = self.exchanged(product, at);
        let value = self.reshape(product, result.axes().to_vec(), at);
        vec![Row { value, many: true }]
    }

    /// The value with the first two of its three axes exchanged.
    fn exchanged(&mut self, value: Value, at: Source) -> Value {
        let &[a, b, c] = self.graph.type_of(value).shape.axes() else {
            unreachable!("there are three axes")
        };
        let shape = Shape::of(vec![b, a, c]);
        let view = View {
            shape: shape.clone(),
            strides: [c, b * c, 1].map(|stride| stride as isize).into(),
            offset: 0,
        };
        self.graph.moved(Op::View(view), value, shape, at)
    }

    fn reshape(&mut self, value: Value, axes: Vec<usize>, at: Source) -> Value {
        let shape = Shape::of(axes);
        self.graph
            .moved(Op::Reshape(shape.clone()), value, shape, at)
    }

    /// The value with one for each row, repeated if there was one for all.
    fn many(&mut self, row: Row, at: Source) -> Value {
        if row.many {
            return row.value;
        }
        let alone = &self.graph.type_of(row.value).shape;
        let shape = self.in_front(alone);
        let view = View::broadcast(alone, &shape);
        self.graph.moved(Op::View(view), row.value, shape, at)
    }

    /// The shape with an axis for the rows in front; that it is not too large was checked when the map was
    /// recorded.
    fn in_front(&self, shape: &Shape) -> Shape {
        Shape::of([&[self.count], shape.axes()].concat())
    }
}

fn rows(first: Value, node: &Node, many: bool) -> Vec<Row> {
    let values = first.outputs(node.outputs.len());
    values.map(|value| Row { value, many }).collect()
}
