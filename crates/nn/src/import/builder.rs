//! Graphs under construction: types are inferred, and what depends on constants alone is computed, as nodes come.

use std::sync::Arc;

use madrigal_core::Budget;

use super::origin::{Origins, Source};
use crate::error::Fault;
use crate::evaluate::apply;
use crate::graph::{Binary, Node, Op, Reduction, Type, Unary, Value, ValueId, infer, work};
use crate::read::Limits;
use crate::tensor::{Data, Element, Tensor, elements};

/// Graph that a node's import adds to.
pub(super) struct Builder {
    pub(super) values: Vec<Value>,
    pub(super) nodes: Vec<Node>,
    /// Name and operator of the model's node that is imported now.
    pub(super) label: (String, String),
    /// Origins of constants.
    pub(super) origins: Origins,
    limits: Limits,
    /// Bytes that may still be taken.
    pub(super) budget: Budget,
    /// Elements of constants that may still be computed.
    elements: usize,
    /// Steps of computing constants that may still be done.
    work: u64,
}

impl Builder {
    pub(super) fn new(limits: &Limits, budget: Budget) -> Builder {
        Builder {
            values: Vec::new(),
            nodes: Vec::new(),
            label: Default::default(),
            origins: Origins::default(),
            limits: *limits,
            budget,
            elements: limits.elements,
            work: limits.work,
        }
    }

    fn add_value(&mut self, ty: Type, constant: Option<Arc<Tensor>>) -> ValueId {
        self.add_made(ty, constant, None, &[])
    }

    fn add_made(
        &mut self,
        ty: Type,
        constant: Option<Arc<Tensor>>,
        source: Option<Source>,
        parents: &[ValueId],
    ) -> ValueId {
        // Values are fewer than the file's bytes, of which there are less than 2^32.
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value {
            ty,
            constant,
            owned: false,
        });
        self.origins.add(source, parents);
        id
    }

    /// An input of the graph.
    pub(super) fn input(&mut self, ty: Type) -> ValueId {
        self.add_value(ty, None)
    }

    /// A constant that the importer makes, of nothing that the file has.
    pub(super) fn constant(&mut self, tensor: Tensor) -> ValueId {
        let tensor = Arc::new(tensor);
        self.add_value(Type::of(&tensor), Some(tensor))
    }

    /// A tensor of the file.
    pub(super) fn stored(&mut self, tensor: Tensor, source: Source) -> ValueId {
        let tensor = Arc::new(tensor);
        self.add_made(Type::of(&tensor), Some(tensor), Some(source), &[])
    }

    /// A number of the elements of `like`.
    pub(super) fn scalar(&mut self, like: ValueId, value: f64) -> ValueId {
        let element = self.element(like);
        self.constant(Tensor::filled(element, Vec::new(), value))
    }

    pub(super) fn ty(&self, id: ValueId) -> &Type {
        &self.values[id.index()].ty
    }

    pub(super) fn shape(&self, id: ValueId) -> &[usize] {
        &self.ty(id).shape
    }

    pub(super) fn element(&self, id: ValueId) -> Element {
        self.ty(id).element
    }

    /// Whether a value depends on no input.
    pub(super) fn is_known(&self, id: ValueId) -> bool {
        self.values[id.index()].constant.is_some()
    }

    /// The numbers of a constant, which decide on the network from now on: no weights can be among them.
    pub(super) fn read(&self, id: ValueId) -> Option<&Arc<Tensor>> {
        let known = self.values[id.index()].constant.as_ref();
        if known.is_some() {
            self.origins.read(id);
        }
        known
    }

    /// Takes elements of a constant that is to be made off what is allowed, and the memory that those of the widest
    /// type take.
    pub(super) fn allow(&mut self, shape: &[usize]) -> Result<(), Fault> {
        self.allow_of(Element::F64, shape)
    }

    /// Allows memory for elements of a type.
    fn allow_of(&mut self, element: Element, shape: &[usize]) -> Result<(), Fault> {
        let count = elements(shape);
        let left = count.and_then(|count| self.elements.checked_sub(count));
        self.elements = left.ok_or_else(|| Fault::TooLarge {
            shape: shape.to_vec(),
            limit: self.limits.elements,
        })?;
        self.take(shape, element.kept(count.unwrap_or(0)))
    }

    /// Takes bytes for what has this shape.
    fn take(&self, shape: &[usize], bytes: u64) -> Result<(), Fault> {
        self.budget.take(bytes).map_err(|spent| Fault::Memory {
            shape: shape.to_vec(),
            spent,
        })
    }

    /// An operator and all that it makes.
    pub(super) fn push_all(&mut self, op: Op, inputs: &[ValueId]) -> Result<Vec<ValueId>, Fault> {
        let types: Vec<&Type> = inputs.iter().map(|&id| self.ty(id)).collect();
        let made = infer(&op, &types)?;
        for ty in &made {
            if elements(&ty.shape).is_none_or(|count| count > self.limits.elements) {
                return Err(Fault::TooLarge {
                    shape: ty.shape.clone(),
                    limit: self.limits.elements,
                });
            }
        }
        if nothing(&op, &types, &made[0]) {
            return Ok(vec![inputs[0]]);
        }
        let known = inputs
            .iter()
            .map(|&id| self.values[id.index()].constant.clone());
        let known: Option<Vec<Arc<Tensor>>> = known.collect();
        if let Some(known) = known {
            let left = self.work.checked_sub(work(&op, &types, &made[0]));
            self.work = left.ok_or(Fault::TooMuchWork {
                limit: self.limits.work,
            })?;
            for ty in &made {
                self.allow_of(ty.element, &ty.shape)?;
            }
            let known: Vec<&Tensor> = known.iter().map(|tensor| &**tensor).collect();
            let tensors = apply(&op, &known, &made)?;
            let tensors = tensors.into_iter().map(Arc::new);
            return Ok(tensors
                .map(|t| self.add_made(Type::of(&t), Some(t), None, inputs))
                .collect());
        }
        // Names, shapes, places: here, among the layers, and in the program that is made of it.
        let names = self.label.0.len() + self.label.1.len();
        let ranks = inputs.len() + made.iter().map(|ty| ty.shape.len()).sum::<usize>();
        let bytes = size_of::<Node>() + 2 * names + 64 * ranks;
        self.take(&made[0].shape, bytes as u64)?;
        let outputs: Vec<ValueId> = made
            .into_iter()
            .map(|ty| self.add_value(ty, None))
            .collect();
        let (name, operator) = self.label.clone();
        self.nodes.push(Node {
            name,
            operator,
            op,
            inputs: inputs.to_vec(),
            outputs: outputs.clone(),
        });
        Ok(outputs)
    }

    /// An operator that makes one value.
    pub(super) fn push(&mut self, op: Op, inputs: &[ValueId]) -> Result<ValueId, Fault> {
        Ok(self.push_all(op, inputs)?[0])
    }

    pub(super) fn unary(&mut self, unary: Unary, x: ValueId) -> Result<ValueId, Fault> {
        self.push(Op::Unary(unary), &[x])
    }

    pub(super) fn binary(&mut self, op: Binary, x: ValueId, y: ValueId) -> Result<ValueId, Fault> {
        self.push(Op::Binary(op), &[x, y])
    }

    pub(super) fn add(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, Fault> {
        self.binary(Binary::Add, x, y)
    }

    pub(super) fn sub(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, Fault> {
        self.binary(Binary::Sub, x, y)
    }

    pub(super) fn mul(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, Fault> {
        self.binary(Binary::Mul, x, y)
    }

    /// `factor * x + summand` with numbers of x's elements.
    pub(super) fn affine(
        &mut self,
        x: ValueId,
        factor: f64,
        summand: f64,
    ) -> Result<ValueId, Fault> {
        let mut value = x;
        if factor != 1.0 {
            let factor = self.scalar(x, factor);
            value = self.mul(value, factor)?;
        }
        if summand != 0.0 {
            let summand = self.scalar(x, summand);
            value = self.add(value, summand)?;
        }
        Ok(value)
    }

    pub(super) fn clip(&mut self, x: ValueId, low: f64, high: f64) -> Result<ValueId, Fault> {
        self.push(Op::Clip { low, high }, &[x])
    }

    pub(super) fn cast(&mut self, x: ValueId, to: Element) -> Result<ValueId, Fault> {
        self.push(Op::Cast { to }, &[x])
    }

    pub(super) fn reshape(&mut self, x: ValueId, shape: Vec<usize>) -> Result<ValueId, Fault> {
        self.push(Op::Reshape { shape }, &[x])
    }

    pub(super) fn transpose(&mut self, x: ValueId, axes: Vec<usize>) -> Result<ValueId, Fault> {
        self.push(Op::Transpose { axes }, &[x])
    }

    pub(super) fn expand(&mut self, x: ValueId, shape: Vec<usize>) -> Result<ValueId, Fault> {
        self.push(Op::Expand { shape }, &[x])
    }

    /// Reduces axes; they stay with size 1.
    pub(super) fn reduce(
        &mut self,
        by: Reduction,
        x: ValueId,
        axes: Vec<usize>,
    ) -> Result<ValueId, Fault> {
        match axes.is_empty() {
            true => Ok(x),
            false => self.push(Op::Reduce { by, axes }, &[x]),
        }
    }

    /// Places along an axis, known beforehand.
    pub(super) fn gather(
        &mut self,
        x: ValueId,
        axis: usize,
        places: Vec<usize>,
    ) -> Result<ValueId, Fault> {
        let places = places.into_iter().map(|place| place as i64).collect();
        let places = self.constant(Tensor::vector(places));
        self.push(Op::Gather { axis }, &[x, places])
    }

    /// Elements from `start` on along one axis.
    pub(super) fn part(
        &mut self,
        x: ValueId,
        axis: usize,
        start: usize,
        length: usize,
    ) -> Result<ValueId, Fault> {
        let mut lengths = self.shape(x).to_vec();
        let mut starts = vec![0; lengths.len()];
        (starts[axis], lengths[axis]) = (start, length);
        let steps = vec![1; lengths.len()];
        let op = Op::Slice {
            starts,
            steps,
            lengths,
        };
        self.push(op, &[x])
    }

    /// Makes a value of the data of `bools`, which chooses between two values.
    pub(super) fn mask(&mut self, shape: Vec<usize>, bools: Vec<bool>) -> ValueId {
        self.constant(Tensor::made(Element::Bool, shape, Data::Bool(bools)))
    }
}

/// Whether an operator changes nothing.
fn nothing(op: &Op, inputs: &[&Type], output: &Type) -> bool {
    let same = inputs[0] == output;
    same && match op {
        Op::Cast { .. } | Op::Reshape { .. } | Op::Expand { .. } => true,
        Op::Concat { .. } => inputs.len() == 1,
        Op::Transpose { axes } => axes.iter().copied().eq(0..axes.len()),
        Op::Slice { steps, lengths, .. } => lengths
            .iter()
            .zip(steps)
            .all(|(&l, &step)| l <= 1 || step == 1),
        Op::Pad { before, after, .. } => before.iter().chain(after).all(|&count| count == 0),
        _ => false,
    }
}
