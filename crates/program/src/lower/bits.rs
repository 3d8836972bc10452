//! Operations on bits.

use madrigal_circuit::blocks::sorting_network;
use madrigal_core::Convolution;
use madrigal_operations::{CircuitSupply, KeyOrder, Predicate};

use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::{Operand, slots};
use super::state::{Lowering, Result};
use super::steps::{Places, Slot};
use crate::element::Type;
use crate::error::Fault;
use crate::ir::{Binary, Extreme, Node, Op, Reduction, Value};
use crate::shape::Shape;

/// Numbers that are added up, and bits that are joined, by one circuit at most.
const ADDED: usize = 8;
const JOINED: usize = 64;

/// Products of one node that are kept at once where numbers are bits: of 32 bits, they take 0.5 GiB a party for each
/// operand and for themselves.
const MOST_PRODUCTS: usize = 1 << 27;

impl Lowering<'_> {
    /// The results of an operation, as bits.
    pub(super) fn on_bits(&mut self, node: &Node) -> Result<Vec<Slot>> {
        let typed = &node.outputs[0];
        let len = typed.shape.elements();
        match &node.op {
            Op::Unary(unary) => {
                let element = self.element(node.inputs[0]);
                let x = self.bits(node.inputs[0])?;
                Ok(self.bit_op(BitOp::Unary(*unary, element), vec![x], len))
            }
            Op::Binary(binary) => self.bits_binary(*binary, node.inputs[0], node.inputs[1]),
            Op::Select => {
                let operands: Result<_> = node.inputs.iter().map(|&x| self.bits(x)).collect();
                Ok(self.bit_op(BitOp::Select, operands?, len))
            }
            Op::Truncate { by, .. } => {
                let x = self.bits(node.inputs[0])?;
                Ok(self.bit_op(BitOp::Truncate(*by), vec![x], len))
            }
            Op::Each(each) => {
                let operands: Result<_> = node.inputs.iter().map(|&x| self.bits(x)).collect();
                Ok(self.bit_op(BitOp::of(each, node), operands?, len))
            }
            Op::Reduce(reduction, axis) => self.bits_reduce(node, *reduction, *axis),
            Op::Find(extreme, axis) if self.in_groups(node.inputs[0], *axis) => {
                self.best(node.inputs[0], *extreme, *axis, true)
            }
            Op::Find(extreme, axis) => self.find(node.inputs[0], *extreme, *axis),
            Op::PrefixSums(axis) => self.bits_prefix_sums(node.inputs[0], *axis),
            Op::Sort { descending, keep } => self.sorted(&node.inputs, *descending, *keep),
            Op::MatMul => self.bits_matrix_product(node),
            Op::Convolve(convolution) => self.bits_convolution(node, convolution),
            Op::LookUp => self.bits_look_up(node),
            op => unreachable!("{op} is no operation on bits"),
        }
    }

    fn bits_binary(&mut self, binary: Binary, a: Value, b: Value) -> Result<Vec<Slot>> {
        let (element, len) = (self.element(a), self.len(a));
        let by_shares = self.by_shares(a, b);
        match binary {
            Binary::Equal if by_shares => {
                if let Some(test) = self.tests(a, b) {
                    let difference = self.difference(a, b)?;
                    return Ok(vec![self.test(test, Predicate::Zero, difference)?]);
                }
                // If a - b is 0, one share is the negative of what the others add up to.
                let difference = self.difference(a, b)?;
                let shares = self.split(difference, true)?;
                Ok(self.bit_op(BitOp::IsSum, slots(&shares), len))
            }
            Binary::Less if by_shares => match self.tests(a, b) {
                Some(test) => self.less_of_signs(test, a, b),
                None => self.less_of_shares(a, b),
            },
            Binary::Min | Binary::Max if by_shares => {
                let (less, greater) = (self.less_of_shares(a, b)?[0], [a, b]);
                let chosen = match binary {
                    Binary::Min => greater,
                    _ => [b, a],
                };
                let operands = vec![
                    Operand::Slot(less),
                    self.bits(chosen[0])?,
                    self.bits(chosen[1])?,
                ];
                Ok(self.bit_op(BitOp::Select, operands, len))
            }
            _ => {
                let operands = vec![self.bits(a)?, self.bits(b)?];
                Ok(self.bit_op(BitOp::Binary(binary, element), operands, len))
            }
        }
    }

    fn bits_reduce(&mut self, node: &Node, reduction: Reduction, axis: usize) -> Result<Vec<Slot>> {
        let sizes = self.shape(node.inputs[0]).around(axis);
        let element = node.outputs[0].element;
        let len = node.outputs[0].shape.elements();
        if sizes[1] == 0 {
            let code = match reduction {
                Reduction::Product => 1,
                Reduction::And => element.mask(),
                _ => 0,
            };
            return Ok(vec![self.filled_with(code, element, len, Domain::Bits)?]);
        }
        if let Some(extreme) = reduction.extreme()
            && self.in_groups(node.inputs[0], axis)
        {
            return self.best(node.inputs[0], extreme, axis, false);
        }
        let x = self.bits_slot(node.inputs[0])?;
        let (op, arity) = match reduction {
            Reduction::Xor => {
                return Ok(vec![self.sums(x, sizes, false)?]);
            }
            Reduction::Sum => return Ok(vec![self.bits_sum(x, sizes)?]),
            Reduction::Product => (BitOp::Binary(Binary::Mul, element), 2),
            Reduction::Least => (BitOp::Binary(Binary::Min, element), 2),
            Reduction::Greatest => (BitOp::Binary(Binary::Max, element), 2),
            Reduction::And => (BitOp::Fold(Binary::And), JOINED),
            Reduction::Or => (BitOp::Fold(Binary::Or), JOINED),
        };
        let reduced = self.tree(x, sizes, arity, |lowering, parts, len| {
            Ok(lowering.bit_op(op.clone(), slots(parts), len)[0])
        });
        Ok(vec![reduced?])
    }

    fn bits_sum(&mut self, x: Slot, sizes: [usize; 3]) -> Result<Slot> {
        self.tree(x, sizes, ADDED, |lowering, parts, len| {
            Ok(lowering.bit_op(BitOp::AddUp, slots(parts), len)[0])
        })
    }

    /// The extreme along an axis and its place: neighbours against each other, the winners again.
    fn find(&mut self, value: Value, extreme: Extreme, axis: usize) -> Result<Vec<Slot>> {
        let element = self.element(value);
        let [before, mut length, after] = self.shape(value).around(axis);
        let mut numbers = self.bits_slot(value)?;
        // The places of what won so far, in as many bits as there were rounds.
        let mut places: Option<Slot> = None;
        while length > 1 {
            let (pairs, odd) = (length / 2, length % 2);
            let sizes = [before, length, after];
            let mut operands = Vec::new();
            for first in [0, 1] {
                let number = self.stretch(numbers, sizes, first, 2, pairs);
                operands.push(Operand::Slot(number));
                operands.push(match places {
                    Some(places) => Operand::Slot(self.stretch(places, sizes, first, 2, pairs)),
                    None => Operand::Uniform(0, 0),
                });
            }
            let op = BitOp::Winner(extreme, element);
            let made = self.bit_op(op, operands, before * pairs * after);
            let (mut won, mut place) = (made[0], made[1]);
            if odd == 1 {
                let last = self.stretch(numbers, sizes, length - 1, 1, 1);
                won = self.join(&[won, last], before);
                let bits = self.width(place);
                let last = match places {
                    Some(places) => {
                        let last = self.stretch(places, sizes, length - 1, 1, 1);
                        let operands = vec![Operand::Slot(last)];
                        self.bit_op(BitOp::Resize(bits), operands, before * after)[0]
                    }
                    None => {
                        let operands = vec![Operand::Uniform(0, bits)];
                        self.bit_op(BitOp::Resize(bits), operands, before * after)[0]
                    }
                };
                place = self.join(&[place, last], before);
            }
            (numbers, places) = (won, Some(place));
            length = pairs + odd;
        }
        let place = match places {
            Some(places) => Operand::Slot(places),
            None => Operand::Uniform(0, 0),
        };
        let resize = BitOp::Resize(Type::PLACE.bits());
        let place = self.bit_op(resize, vec![place], before * after)[0];
        Ok(vec![numbers, place])
    }

    /// The sums of the first elements along an axis, by Sklansky's network over places: in round i each
    /// place with bit i set takes the sum that ends where its half begins.
    fn bits_prefix_sums(&mut self, value: Value, axis: usize) -> Result<Vec<Slot>> {
        let [before, length, after] = self.shape(value).around(axis);
        let element = self.element(value);
        let mut sums = self.bits_slot(value)?;
        let mut half = 1;
        while half < length {
            let set: Vec<usize> = (0..length).filter(|place| place & half != 0).collect();
            let below: Vec<usize> = set.iter().map(|place| place / half * half - 1).collect();
            let high = self.rows(sums, [before, length, after], &set);
            let low = self.rows(sums, [before, length, after], &below);
            let op = BitOp::Binary(Binary::Add, element);
            let made = self.bit_op(op, slots(&[high, low]), before * set.len() * after)[0];
            let joined = self.join(&[sums, made], before);
            let mut places: Vec<usize> = (0..length).collect();
            for (at, place) in set.iter().enumerate() {
                places[*place] = length + at;
            }
            sums = self.rows(joined, [before, length + set.len(), after], &places);
            half *= 2;
        }
        Ok(vec![sums])
    }

    /// Sorts along the last axis: each layer of the network is one circuit on all its pairs.
    fn sorted(&mut self, inputs: &[Value], descending: bool, keep: usize) -> Result<Vec<Slot>> {
        let element = self.element(inputs[0]);
        let shape = self.shape(inputs[0]);
        let [rows, length, _] = shape.around(shape.rank() - 1);
        let mut lists = Vec::new();
        for &input in inputs {
            lists.push(self.bits_slot(input)?);
        }
        // Where nothing moves along, nobody sees which of equal numbers comes first.
        let supply = self
            .backend(Domain::Bits)
            .bits
            .as_ref()
            .map(|bits| bits.supply);
        let sort = self
            .row_sort()
            .filter(|_| rows == 1 && supply == Some(CircuitSupply::Nothing));
        if let (&[list], Some(sort)) = (&lists[..], sort) {
            let order = KeyOrder {
                signed: element.is_signed(),
                descending,
            };
            self.note_bits();
            let made = self.sort_rows(sort, vec![order], &[list])?;
            let first: Vec<usize> = (0..keep).collect();
            return Ok(vec![self.rows(made[0], [rows, length, 1], &first)]);
        }
        for layer in needed_layers(length, keep) {
            let low: Vec<usize> = layer.iter().map(|&(low, _)| low).collect();
            let high: Vec<usize> = layer.iter().map(|&(_, high)| high).collect();
            let mut operands = Vec::new();
            for &list in &lists {
                for side in [&low, &high] {
                    operands.push(Operand::Slot(self.rows(list, [rows, length, 1], side)));
                }
            }
            let op = BitOp::Exchange {
                descending,
                element,
            };
            let made = self.bit_op(op, operands, rows * layer.len());
            self.place_pairs(&mut lists, &made, &layer, [rows, length]);
        }
        let first: Vec<usize> = (0..keep).collect();
        let kept = lists.into_iter().map(|list| match keep == length {
            true => list,
            false => self.rows(list, [rows, length, 1], &first),
        });
        Ok(kept.collect())
    }

    /// Makes all products, then sums of them.
    fn bits_matrix_product(&mut self, node: &Node) -> Result<Vec<Slot>> {
        let typed = &node.outputs[0];
        let &[batch, m, n] = typed.shape.axes() else {
            unreachable!("matrices come in batches")
        };
        let k = self.shape(node.inputs[0]).axes()[2];
        if k == 0 {
            let len = typed.shape.elements();
            return Ok(vec![self.filled_with(
                0,
                typed.element,
                len,
                Domain::Bits,
            )?]);
        }
        let count = self.products(node, &[batch, m, n, k])?;
        let strides = [[m * k, k, 0, 1], [k * n, 0, 1, n]];
        let mut operands = Vec::new();
        for (&input, strides) in node.inputs.iter().zip(strides) {
            operands.push(match self.bits(input)? {
                Operand::Slot(slot) => {
                    Operand::Slot(self.strided(slot, [batch, m, n, k], strides, 0))
                }
                uniform => uniform,
            });
        }
        let op = BitOp::Binary(Binary::Mul, typed.element);
        let products = self.bit_op(op, operands, count)[0];
        Ok(vec![self.bits_sum(products, [batch * m * n, k, 1])?])
    }

    /// Makes all products side by side, `[images, filters, rows, columns, window]`, and their sums.
    fn bits_convolution(&mut self, node: &Node, convolution: &Convolution) -> Result<Vec<Slot>> {
        let typed = &node.outputs[0];
        let (element, len) = (typed.element, typed.shape.elements());
        let count = self.products(node, &[len, convolution.window()])?;
        if count == 0 {
            return Ok(vec![self.filled_with(0, element, len, Domain::Bits)?]);
        }
        let Convolution {
            images,
            groups,
            channels,
            filters,
            filter: [height, width],
            stride: [down, right],
            dilation: [apart_down, apart_right],
            padding: [[above, below], [before, after]],
            ..
        } = *convolution;
        let [image_rows, image_columns] = convolution.image;
        let [rows, columns] = [above + image_rows + below, before + image_columns + after];
        let (deep, each) = (channels / groups, filters / groups);
        let image = match rows * columns == image_rows * image_columns {
            true => self.bits_slot(node.inputs[1])?,
            false => self.padded(node.inputs[1], convolution)?,
        };
        let filter = self.bits_slot(node.inputs[0])?;
        let [out_rows, out_columns] = convolution.output();
        // [images, groups, filters, rows, columns, channels, filter's rows, filter's columns] of both.
        let shape = [
            images,
            groups,
            each,
            out_rows,
            out_columns,
            deep,
            height,
            width,
        ];
        let window = convolution.window();
        let plane = rows * columns;
        let views = [
            (
                filter,
                [0, each * window, window, 0, 0, height * width, width, 1],
            ),
            (
                image,
                [
                    channels * plane,
                    deep * plane,
                    0,
                    down * columns,
                    right,
                    plane,
                    apart_down * columns,
                    apart_right,
                ],
            ),
        ];
        let operands =
            views.map(|(slot, strides)| Operand::Slot(self.strided(slot, shape, strides, 0)));
        let op = BitOp::Binary(Binary::Mul, element);
        let products = self.bit_op(op, operands.into(), count)[0];
        Ok(vec![self.bits_sum(products, [len, window, 1])?])
    }

    /// The images of a convolution with the zeros around them.
    fn padded(&mut self, images: Value, convolution: &Convolution) -> Result<Slot> {
        let slot = self.bits_slot(images)?;
        let zero = self.filled_with(0, self.element(images), 1, Domain::Bits)?;
        let joined = self.join(&[slot, zero], 1);
        let [[above, below], [before, after]] = convolution.padding;
        let [rows, columns] = convolution.image;
        let nothing = self.len(images);
        let mut places = Vec::new();
        for plane in 0..convolution.images * convolution.channels {
            for row in 0..above + rows + below {
                for column in 0..before + columns + after {
                    let row = row.checked_sub(above).filter(|&row| row < rows);
                    let column = column.checked_sub(before).filter(|&at| at < columns);
                    let inside = row.zip(column);
                    places.push(inside.map_or(nothing, |(row, column)| {
                        (plane * rows + row) * columns + column
                    }));
                }
            }
        }
        let places = Places::Rows {
            rows: 1,
            from: nothing + 1,
            places: places.into(),
        };
        Ok(self.gather(joined, places))
    }

    /// Number of products that a node makes in bits, where it keeps all of them before it adds.
    ///
    /// # Errors
    /// [`Fault::Lengths`] if they are more than [`MOST_PRODUCTS`].
    fn products(&self, node: &Node, lengths: &[usize]) -> Result<usize> {
        let count = (lengths.iter()).try_fold(1_usize, |all, &length| all.checked_mul(length));
        count
            .filter(|&count| count <= MOST_PRODUCTS)
            .ok_or_else(|| {
                let what = format!(
                    "all of its products are kept at once where numbers are bits, and there are more than \
                     {MOST_PRODUCTS}; use a mix that has A, alpha or R, or smaller matrices"
                );
                let operator = node.op.to_string();
                self.fault(Fault::Lengths { operator, what })
            })
    }

    fn bits_look_up(&mut self, node: &Node) -> Result<Vec<Slot>> {
        let (table, places) = (node.inputs[0], node.inputs[1]);
        let &[batch, entries, width] = self.shape(table).axes() else {
            unreachable!("tables come in batches")
        };
        let typed = &node.outputs[0];
        let (element, len) = (typed.element, typed.shape.elements());
        if len == 0 || entries == 0 {
            return Ok(vec![self.filled_with(0, element, len, Domain::Bits)?]);
        }
        let count = self.len(places);
        if let (Some(array), 1) = (self.graph.constant(table), batch) {
            let flat = array.reshaped(Shape::of(vec![entries, width]));
            let place = self.bits(places)?;
            let found = self.bit_op(BitOp::Entry(flat.into()), vec![place], count);
            return Ok(vec![self.join(&found, count)]);
        }
        let hot = self.one_hot(places, entries)?;
        let table = self.bits_slot(table)?;
        let each = count / batch;
        // [batch, each, width, entries] of both.
        let shape = [batch, each, width, entries];
        let views = [
            (hot, [each * entries, entries, 0, 1]),
            (table, [entries * width, 0, 1, width]),
        ];
        let operands =
            views.map(|(slot, strides)| Operand::Slot(self.strided(slot, shape, strides, 0)));
        let masked = self.bit_op(BitOp::Mask, operands.into(), shape.iter().product())[0];
        let sizes = [len, entries, 1];
        Ok(vec![self.sums(masked, sizes, false)?])
    }
}

/// The layers of a sorting network, less the comparisons that the first `keep` places do not depend on.
fn needed_layers(length: usize, keep: usize) -> Vec<Vec<(usize, usize)>> {
    let mut needed: Vec<bool> = (0..length).map(|place| place < keep).collect();
    let mut layers = Vec::new();
    for mut layer in sorting_network(length).into_iter().rev() {
        layer.retain(|&(low, high)| needed[low] || needed[high]);
        for &(low, high) in &layer {
            (needed[low], needed[high]) = (true, true);
        }
        if !layer.is_empty() {
            layers.push(layer);
        }
    }
    layers.reverse();
    layers
}
