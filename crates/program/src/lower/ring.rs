//! Operations on ring elements.

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_core::{MatrixShape, Product};
use madrigal_operations::{Backend, ShiftShares};

use super::circuits::BitOp;
use super::domain::{Domain, width};
use super::draft::{Operand, slots};
use super::ranges::{Range, Ranges};
use super::state::{Lowering, Native, Result};
use super::steps::{Action, Slot};
use crate::element::Type;
use crate::ir::{Binary, Node, Op, Reduction, Rounding, Unary, Value};

impl Lowering<'_> {
    /// Whether a product of two secrets is of use to one sum alone, which then takes both together.
    pub(super) fn joins_sum(&self, number: usize, node: &Node) -> bool {
        let (uses, user) = self.uses[number][0];
        let user = &self.graph.nodes()[user];
        let summed = matches!(user.op, Op::Reduce(Reduction::Sum, _)) && uses == 1;
        let factor = |value: Value| self.graph.uniform(value).is_none() && !self.is_public(value);
        match node.op {
            Op::Binary(Binary::Mul) => summed && node.inputs.iter().all(|&value| factor(value)),
            // Where a square costs less than a product, it waits for no sum.
            Op::Unary(Unary::Square) => {
                summed && self.backend(Domain::Ring).numbers().squares_are_products
            }
            _ => false,
        }
    }

    pub(super) fn on_ring(&mut self, node: &Node) -> Result<Slot> {
        let typed = &node.outputs[0];
        let (bits, len) = (typed.element.bits(), typed.shape.elements());
        let made = self.shared(Domain::Ring, bits, len);
        let mask = typed.element.mask();
        let minus = |code: u128| code.wrapping_neg() & mask;
        match &node.op {
            Op::Unary(Unary::Negate) => {
                let x = self.ring_slot(node.inputs[0])?;
                Ok(self.linear(&[(x, mask)], 0))
            }
            Op::Unary(Unary::ShiftLeft(by)) => {
                let x = self.ring_slot(node.inputs[0])?;
                let factor = 1_u128.checked_shl(*by).unwrap_or(0) & mask;
                Ok(self.linear(&[(x, factor)], 0))
            }
            Op::Unary(Unary::Abs) => {
                let x = self.ring_slot(node.inputs[0])?;
                let negative = self.negative(x)?;
                let change = self.linear(&[(x, minus(2))], 0);
                let change = self.bit_times(negative, change)?;
                Ok(self.linear(&[(x, 1), (change, 1)], 0))
            }
            Op::Binary(binary @ (Binary::Add | Binary::Sub)) => {
                let factor = if *binary == Binary::Sub { mask } else { 1 };
                let [a, b] = [node.inputs[0], node.inputs[1]];
                match [a, b].map(|value| self.graph.uniform(value)) {
                    [None, Some(code)] => {
                        let constant = if factor == 1 { code } else { minus(code) };
                        let x = self.ring_slot(a)?;
                        Ok(self.linear(&[(x, 1)], constant))
                    }
                    [Some(code), None] => {
                        let x = self.ring_slot(b)?;
                        Ok(self.linear(&[(x, factor)], code))
                    }
                    _ => {
                        let (x, y) = (self.ring_slot(a)?, self.ring_slot(b)?);
                        Ok(self.linear(&[(x, 1), (y, factor)], 0))
                    }
                }
            }
            Op::Unary(Unary::Square) | Op::Binary(_) => self.ring_product(&node.inputs),
            Op::Reduce(Reduction::Sum, axis) => self.ring_sum(node, *axis),
            Op::Reduce(_, axis) => {
                let sizes = self.shape(node.inputs[0]).around(*axis);
                if sizes[1] == 0 {
                    return self.filled_with(1, typed.element, len, Domain::Ring);
                }
                let x = self.ring_slot(node.inputs[0])?;
                self.tree(x, sizes, 2, |lowering, parts, _| {
                    lowering.operation(lowering.rings().mul(), parts)
                })
            }
            Op::PrefixSums(axis) => {
                let sizes = self.shape(node.inputs[0]).around(*axis);
                let x = self.ring_slot(node.inputs[0])?;
                if sizes.contains(&0) {
                    return Ok(x);
                }
                self.sums(x, sizes, true)
            }
            Op::MatMul | Op::Convolve(_) => {
                let product = match (&node.op, typed.shape.axes()) {
                    (Op::Convolve(convolution), _) => Product::Convolution(*convolution),
                    (_, &[batch, rows, columns]) => {
                        let inner = self.shape(node.inputs[0]).axes()[2];
                        let shape = MatrixShape {
                            rows,
                            inner,
                            columns,
                        };
                        Product::Matrices(batch, shape)
                    }
                    _ => unreachable!("matrices come in batches"),
                };
                let [a, b] = [node.inputs[0], node.inputs[1]];
                // A public matrix stays public, unless both are.
                let public = [a, b].map(|value| self.is_public(value));
                let a = match public {
                    [true, false] => self.public_slot(a)?,
                    _ => self.ring_slot(a)?,
                };
                let b = self.public_or_ring(b)?;
                Ok(self.action(Action::Product(product), &[a, b], made))
            }
            Op::Truncate { by, rounding } => {
                let x = self.ring_slot(node.inputs[0])?;
                let (by, rounding) = (*by, *rounding);
                if rounding == Rounding::Exact && self.takes_carries(by, x) {
                    let ranges = self.ranges.get_or_init(|| Ranges::new(self.graph));
                    let range = ranges.of(node.inputs[0]);
                    return self.quotient(x, by, range);
                }
                self.truncated(x, by, rounding == Rounding::Exact)
            }
            Op::Select => self.ring_select(node),
            Op::LookUp => self.ring_look_up(node),
            op => unreachable!("{op} is done on bits"),
        }
    }

    /// Whether a quotient comes of two parties' shares and of carries.
    pub(super) fn takes_carries(&self, by: u32, x: Slot) -> bool {
        self.sums_of_two() && (1..self.width(x)).contains(&by)
    }

    /// Whether ring elements are sums of two parties' shares.
    pub(super) fn sums_of_two(&self) -> bool {
        let ring = Backend::of(self.mix.arithmetic());
        let bits = self.backend(Domain::Bits).bits();
        let sums = ring.numbers.as_ref().is_some_and(|numbers| {
            numbers.sums_of_shares && !bits.shares_anew.contains(&ring.sharing)
        });
        self.parties == 2 && sums && !self.mix.is_manual()
    }

    /// A signed quotient by 2^by, rounded down, of x = s_0 + s_1 with l bits, whose sign is known or not. Of the shares
    /// without their highest bits, t_0 and t_1, and the highest bit m of x, with c the carry into it and d that out of
    /// the lowest `by` bits,
    ///
    /// x = t_0 + t_1 - 2^(l - 1) (c + m), and
    /// floor(x / 2^by) = floor(t_0 / 2^by) + floor(t_1 / 2^by) + d - 2^(l - 1 - by) (c + m).
    ///
    /// So of the sum of the shares nothing is computed on bits but two carries and a bit, and nothing else becomes ring
    /// elements.
    ///
    /// With the shares' highest bits h_0 and h_1, m is `h_0 ^ h_1 ^ c`. Where x is not negative m = 0, and so c is
    /// `h_0 ^ h_1`, for which there is nothing to compute: what is left is d, a carry through `by` bits instead of
    /// l - 1, and two bits that become ring elements instead of three. The same serves where x lies between -2^(l - 2)
    /// and 2^(l - 2), for by <= l - 2: then `x + 2^(l - 2)` is not negative, less than 2^(l - 1), and has a quotient
    /// greater by 2^(l - 2 - by).
    fn quotient(&mut self, x: Slot, by: u32, range: Range) -> Result<Slot> {
        let (l, len) = (self.width(x), self.draft.sort(x).len);
        let mask = u128::MAX >> (128 - l);
        let quarter = 1_i128 << (l - 2);
        let more = match range {
            Some((0.., high)) if high >> (l - 1) == 0 => Some(0),
            Some((low, high)) if by + 2 <= l && -quarter <= low && high < quarter => Some(quarter),
            _ => None,
        };
        let x = match more {
            None | Some(0) => x,
            Some(more) => self.linear(&[(x, 1)], more as u128 & mask),
        };
        let shares = slots(&self.addends(x)?);
        let op = match more {
            Some(_) => BitOp::LowCarry(by),
            None => BitOp::Carries(by),
        };
        let bits = self.bit_op(op, shares, len);
        let ring = self.backend(Domain::Ring);
        let mut chain = ring.to_kept();
        chain.push(Arc::new(ShiftShares::new(by as usize)));
        chain.extend(ring.from_kept());
        let mut terms = vec![(self.chain(chain, &[x])?[0], 1)];
        for (at, &carry) in bits.iter().enumerate() {
            let chain = ring.compose(self.backend(Domain::Bits), width(l), false);
            let high = (1_u128 << (l - 1 - by)).wrapping_neg() & mask;
            let factor = if at == 0 { 1 } else { high };
            terms.push((self.chain(chain, &[carry])?[0], factor));
        }
        let quotient = self.linear(&terms, 0);
        Ok(match more {
            None | Some(0) => quotient,
            Some(more) => {
                let less = (more as u128 >> by).wrapping_neg() & mask;
                self.linear(&[(quotient, 1)], less)
            }
        })
    }

    /// A signed quotient by 2^by without carries of the shares.
    fn truncated(&mut self, x: Slot, by: u32, exact: bool) -> Result<Slot> {
        let ring = self.backend(Domain::Ring);
        let own = (ring.numbers().truncate)(by as usize, exact, self.parties);
        match own {
            Some(chain) => Ok(self.chain(chain, &[x])?[0]),
            None => self.shifted(x, by),
        }
    }

    /// An exact quotient by 2^by on bits, in the sharing that conversions go to directly, and back.
    fn shifted(&mut self, x: Slot, by: u32) -> Result<Slot> {
        let bits = self.width(x) as usize;
        let rings = self.rings();
        let parts = self.chain(vec![rings.addends(self.parties, false)], &[x])?;
        let mut builder = Builder::new("quotient");
        let numbers: Vec<_> = parts.iter().map(|_| builder.input(bits as u32)).collect();
        let sum = numbers
            .into_iter()
            .reduce(|sum, number| builder.add(&sum, &number));
        let sum = sum.expect("there are parties");
        let shifted = builder.sign_extend(&sum[by as usize..], bits);
        builder.output(&shifted);
        let sort = self.draft.sort(parts[0]);
        let quotient = self.action(Action::Circuit(Arc::new(builder.finish())), &parts, sort);
        self.operation(rings.compose(width(bits as u32), false), &[quotient])
    }

    fn ring_sum(&mut self, node: &Node, axis: usize) -> Result<Slot> {
        let summed = node.inputs[0];
        let shape = self.shape(summed);
        let sizes = shape.around(axis);
        if sizes[1] == 0 {
            let typed = &node.outputs[0];
            return self.filled_with(0, typed.element, typed.shape.elements(), Domain::Ring);
        }
        let maker = self.graph.maker(summed);
        let form = self.form(summed);
        let waits = form.lazy && form.ring.is_none();
        let product = matches!(maker.op, Op::Binary(Binary::Mul) | Op::Unary(Unary::Square));
        if !waits || !product {
            let x = self.ring_slot(summed)?;
            return self.sums(x, sizes, false);
        }
        let [before, length, after] = sizes;
        let mut operands = Vec::new();
        for &input in [
            &maker.inputs[0],
            maker.inputs.last().unwrap_or(&maker.inputs[0]),
        ] {
            let x = self.ring_slot(input)?;
            // The axis of the sum comes last.
            let strides = [length * after, 1, after];
            operands.push(self.strided(x, [before, after, length], strides, 0));
        }
        self.operation(self.rings().dot(length), &operands)
    }

    fn ring_select(&mut self, node: &Node) -> Result<Slot> {
        let [condition, yes, no] = [node.inputs[0], node.inputs[1], node.inputs[2]];
        let element = node.outputs[0].element;
        let mask = element.mask();
        let bit = self.bits_slot(condition)?;
        match [yes, no].map(|value| self.graph.uniform(value)) {
            [Some(yes), Some(no)] => {
                let bit = self.number_of(bit, element)?;
                Ok(self.linear(&[(bit, yes.wrapping_sub(no) & mask)], no))
            }
            [None, Some(code)] | [Some(code), None] => {
                let (bit, x) = match self.graph.uniform(no) {
                    Some(_) => (bit, self.ring_slot(yes)?),
                    None => (self.inverted(bit), self.ring_slot(no)?),
                };
                let minus = code.wrapping_neg() & mask;
                let change = match code {
                    0 => x,
                    _ => self.linear(&[(x, 1)], minus),
                };
                let change = self.bit_times(bit, change)?;
                Ok(match code {
                    0 => change,
                    _ => self.linear(&[(change, 1)], code),
                })
            }
            [None, None] => {
                let (yes, no) = (self.ring_slot(yes)?, self.ring_slot(no)?);
                let change = self.linear(&[(yes, 1), (no, mask)], 0);
                let change = self.bit_times(bit, change)?;
                Ok(self.linear(&[(no, 1), (change, 1)], 0))
            }
        }
    }

    fn inverted(&mut self, bit: Slot) -> Slot {
        let len = self.draft.sort(bit).len;
        let not = BitOp::Unary(Unary::Not, Type::BOOL);
        self.bit_op(not, vec![Operand::Slot(bit)], len)[0]
    }

    /// A bit times a ring element: an operation of its own, not a conversion.
    pub(super) fn bit_times(&mut self, bit: Slot, x: Slot) -> Result<Slot> {
        let ring = self.backend(Domain::Ring);
        let chain = ring.bits_for_products(Backend::of(self.draft.sort(bit).sharing));
        let bit = self.chain(chain, &[bit])?[0];
        let made = self.draft.sort(x);
        Ok(self.action(Action::BitTimes, &[bit, x], made))
    }

    /// A bit as 0 or 1 in a type's ring; by an operation that is there to choose, not to convert.
    pub(super) fn number_of(&mut self, bit: Slot, element: Type) -> Result<Slot> {
        let converts = std::mem::replace(&mut self.converts, true);
        let number = self.compose(bit, element, false);
        self.converts = converts;
        number
    }

    /// Entries of a secret table, as the product of one-hot codes with it.
    fn ring_look_up(&mut self, node: &Node) -> Result<Slot> {
        let (table, places) = (node.inputs[0], node.inputs[1]);
        let [batch, entries, width] = *self.shape(table).axes() else {
            unreachable!("tables come in batches")
        };
        let element = node.outputs[0].element;
        let len = node.outputs[0].shape.elements();
        if entries == 0 {
            return self.filled_with(0, element, len, Domain::Ring);
        }
        let hot = self.one_hot(places, entries)?;
        let hot = self.number_of(hot, element)?;
        let table = match self.native(table) {
            Native::Free if self.is_public(table) => self.public_slot(table)?,
            _ => self.ring_slot(table)?,
        };
        let shape = MatrixShape {
            rows: self.len(places) / batch.max(1),
            inner: entries,
            columns: width,
        };
        let product = Product::Matrices(batch, shape);
        let made = self.shared(Domain::Ring, element.bits(), len);
        Ok(self.action(Action::Product(product), &[hot, table], made))
    }
}
