//! Programs as they are recorded.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_noise::Noise;
use madrigal_program::ir::{Graph, Op, TensorType, Unary};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{
    Client, Holder, KeptTensor, Permutation as InnerPermutation, Program, Rounding, Source,
    Tensor as Inner, View,
};
use pyo3::prelude::*;

use crate::arrays::{array_of, shape_of, type_of};
use crate::computation::Computation;
use crate::{value_error, wrong};

/// Somebody: a party's number or a client's name.
#[derive(FromPyObject)]
pub enum Who {
    /// A party.
    Party(usize),
    /// A client.
    Client(String),
}

impl Who {
    fn holder(self, parties: usize) -> PyResult<Holder> {
        Ok(match self {
            Self::Party(index) => Party::checked(index, parties).map_err(value_error)?.into(),
            Self::Client(name) => Client::new(&name).into(),
        })
    }
}

/// A value of a program.
#[pyclass(module = "madrigal._native")]
#[derive(Clone)]
pub struct Tensor(Inner);

#[pymethods]
impl Tensor {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.0.shape().axes().to_vec()
    }

    #[getter]
    fn dtype(&self) -> String {
        self.0.element().to_string()
    }
}

/// A value that a stage keeps for later ones.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Kept(KeptTensor);

#[pymethods]
impl Kept {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.0.tensor_type().shape.axes().to_vec()
    }

    #[getter]
    fn dtype(&self) -> String {
        self.0.tensor_type().element.to_string()
    }
}

/// An order of rows that nobody knows.
#[pyclass(module = "madrigal._native")]
#[derive(Clone)]
pub struct Permutation(InnerPermutation);

#[pymethods]
impl Permutation {
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }
}

/// The body of a loop or a branch, with the values from around it that it uses.
#[pyclass(module = "madrigal._native")]
pub struct Body {
    graph: Arc<Graph>,
    captured: Vec<Inner>,
}

#[pymethods]
impl Body {
    #[getter]
    fn captured(&self) -> Vec<Tensor> {
        self.captured.iter().cloned().map(Tensor).collect()
    }
}

/// A program that is being recorded.
#[pyclass(module = "madrigal._native")]
pub struct Recorder {
    program: Option<Program>,
    parties: usize,
}

impl Recorder {
    /// Records a program, in a mix if one is named.
    pub fn of(program: Program, mix: Option<&str>) -> PyResult<Self> {
        let parties = program.parties();
        let program = match mix {
            Some(mix) => program.with_default(mix.parse::<Mix>().map_err(value_error)?),
            None => program,
        };
        let program = Some(program);
        let recorder = Self { program, parties };
        recorder.check()?;
        Ok(recorder)
    }

    fn program(&mut self) -> PyResult<&mut Program> {
        let ended =
            || value_error("the program, or this body of it, is finished: nothing can be added");
        self.program.as_mut().ok_or_else(ended)
    }

    /// The error of the program, if something could not be.
    fn check(&self) -> PyResult<()> {
        match self.program.as_ref().and_then(Program::failure) {
            Some(error) => Err(wrong(&error)),
            None => Ok(()),
        }
    }

    fn one(&self, tensor: Inner) -> PyResult<Tensor> {
        self.check()?;
        Ok(Tensor(tensor))
    }

    fn all(&self, tensors: Vec<Inner>) -> PyResult<Vec<Tensor>> {
        self.check()?;
        Ok(tensors.into_iter().map(Tensor).collect())
    }
}

#[pymethods]
impl Recorder {
    #[new]
    fn new(parties: usize, mix: Option<&str>) -> PyResult<Self> {
        Self::of(Program::new(parties), mix)
    }

    /// Says where all stands that follows.
    fn at(&mut self, file: &str, line: u32) -> PyResult<()> {
        self.program()?.stand_at(Some(Source::named(file, line)));
        Ok(())
    }

    fn input(
        &mut self,
        name: Option<&str>,
        owner: Who,
        dtype: &str,
        shape: Vec<usize>,
    ) -> PyResult<Tensor> {
        let owner = owner.holder(self.parties)?;
        let element = type_of(dtype)?;
        let made = self.program()?.tensor_input(name, owner, element, &shape);
        self.one(made)
    }

    /// Noise that nobody knows.
    fn noise(
        &mut self,
        dtype: &str,
        shape: Vec<usize>,
        epsilon: f64,
        delta: f64,
        each: u64,
    ) -> PyResult<Tensor> {
        let noise = Noise::new(epsilon, delta, each);
        let noise = noise.map_err(value_error)?;
        let element = type_of(dtype)?;
        let made = self.program()?.tensor_noise(noise, element, &shape);
        self.one(made)
    }

    fn constant(&mut self, dtype: &str, shape: Vec<usize>, data: &[u8]) -> PyResult<Tensor> {
        let array = array_of(type_of(dtype)?, shape_of(&shape)?, data)?;
        let made = self.program()?.tensor_constant(array);
        self.one(made)
    }

    fn open(&mut self, name: Option<&str>, value: &Tensor, to: Vec<Who>) -> PyResult<()> {
        let parties = self.parties;
        let to = to.into_iter().map(|who| who.holder(parties));
        let to = to.collect::<PyResult<Vec<Holder>>>()?;
        self.program()?.open_tensor(name, &value.0, to);
        self.check()
    }

    /// Keeps a value for later stages.
    fn keep(&mut self, value: &Tensor) -> PyResult<Kept> {
        let kept = self.program()?.keep_tensor(&value.0);
        self.check()?;
        Ok(Kept(kept))
    }

    /// A value that an earlier stage has kept.
    fn kept(&mut self, kept: &Kept) -> PyResult<Tensor> {
        let made = self.program()?.kept_tensor(&kept.0);
        self.one(made)
    }

    fn require(&mut self, name: Option<&str>, condition: &Tensor) -> PyResult<()> {
        let condition = condition.0.typed::<bool>();
        let program = self.program()?;
        match name {
            Some(name) => program.require_named(name, &condition),
            None => program.require(&condition),
        }
        self.check()
    }

    fn finish(&mut self) -> PyResult<Computation> {
        let ended = || value_error("the program is finished already");
        let program = self.program.take().ok_or_else(ended)?;
        match program.finish() {
            Ok(program) => Ok(Computation::new(program)),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// Begins a body with this number of arguments.
    fn begin(&mut self, arguments: usize) -> PyResult<Self> {
        let parties = self.parties;
        let program = Some(self.program()?.body_of(arguments));
        Ok(Self { program, parties })
    }

    fn argument(&mut self, number: usize, dtype: &str, shape: Vec<usize>) -> PyResult<Tensor> {
        let typed = TensorType {
            element: type_of(dtype)?,
            shape: shape_of(&shape)?,
        };
        let made = self.program()?.argument(number, typed);
        self.one(made)
    }

    /// Ends a body.
    fn end(&mut self, results: Vec<PyRef<'_, Tensor>>) -> PyResult<Body> {
        let ended = || value_error("the body is finished already");
        let program = self.program.take().ok_or_else(ended)?;
        let failure = program.failure();
        let results: Vec<&Inner> = results.iter().map(|one| &one.0).collect();
        let body = program.into_body(&results);
        match (body, failure) {
            (Some((graph, captured)), None) => Ok(Body { graph, captured }),
            (_, Some(error)) => Err(wrong(&error)),
            (None, None) => Err(value_error("a result of the body is no value of it")),
        }
    }

    /// Puts bodies into the program: `repeat` and `map` have the numbers of turns or rows and of carried operands, `choose` none.
    fn with_bodies(
        &mut self,
        name: &str,
        operands: Vec<PyRef<'_, Tensor>>,
        numbers: Vec<usize>,
        bodies: Vec<PyRef<'_, Body>>,
    ) -> PyResult<Vec<Tensor>> {
        let graphs = || bodies.iter().map(|body| Arc::clone(&body.graph));
        let op = match (name, &numbers[..]) {
            ("repeat", &[count, carried]) => Op::Repeat {
                count,
                carried,
                body: graphs().next().ok_or_else(|| value_error("no body"))?,
            },
            ("map", &[count, carried]) => Op::Map {
                count,
                carried,
                body: graphs().next().ok_or_else(|| value_error("no body"))?,
            },
            ("choose", []) => Op::Choose(graphs().collect()),
            _ => return Err(value_error(format!("there is no {name}"))),
        };
        let operands: Vec<&Inner> = operands.iter().map(|one| &one.0).collect();
        let made = self.program()?.record(op, &operands);
        self.all(made)
    }

    /// Elements of a value by steps along axes, from a first one on.
    fn view(
        &mut self,
        value: &Tensor,
        offset: usize,
        axes: Vec<usize>,
        strides: Vec<isize>,
    ) -> PyResult<Tensor> {
        let shape = shape_of(&axes)?;
        let view = Op::View(View {
            shape,
            strides,
            offset,
        });
        let made = self.program()?.record(view, &[&value.0]);
        self.check()?;
        made.into_iter()
            .next()
            .map(Tensor)
            .ok_or_else(|| value_error("no view"))
    }

    /// The order into which a sort by these keys would bring rows.
    fn permutation_of(
        &mut self,
        keys: Vec<PyRef<'_, Tensor>>,
        descending: Vec<bool>,
    ) -> PyResult<Permutation> {
        self.program()?;
        if keys.is_empty() || keys.len() != descending.len() {
            return Err(value_error("each key of a permutation has a direction"));
        }
        let keys = keys.iter().map(|one| &one.0).zip(descending);
        let made = InnerPermutation::sorting(&keys.collect::<Vec<_>>());
        self.check()?;
        Ok(Permutation(made))
    }

    /// Draws an order of `rows` rows at random.
    fn random_permutation(&mut self, rows: usize) -> PyResult<Permutation> {
        let made = InnerPermutation::random(self.program()?, rows);
        self.check()?;
        Ok(Permutation(made))
    }

    /// Puts columns into an order.
    fn permuted(
        &mut self,
        by: &Permutation,
        columns: Vec<PyRef<'_, Tensor>>,
    ) -> PyResult<Vec<Tensor>> {
        self.program()?;
        let columns: Vec<&Inner> = columns.iter().map(|one| &one.0).collect();
        self.all(by.0.apply(&columns))
    }

    /// The order that undoes another one.
    fn inverted(&mut self, permutation: &Permutation) -> PyResult<Permutation> {
        self.program()?;
        Ok(Permutation(permutation.0.inverse()))
    }

    /// One order after another.
    fn composed(&mut self, first: &Permutation, next: &Permutation) -> PyResult<Permutation> {
        self.program()?;
        let made = first.0.then(&next.0);
        self.check()?;
        Ok(Permutation(made))
    }

    /// The place to which each row goes.
    fn places(&mut self, permutation: &Permutation) -> PyResult<Tensor> {
        self.one(permutation.0.places())
    }

    /// Records an operation by its name, with its operands, public numbers and texts.
    fn op(
        &mut self,
        name: &str,
        operands: Vec<PyRef<'_, Tensor>>,
        numbers: Vec<usize>,
        text: &str,
    ) -> PyResult<Vec<Tensor>> {
        let operands: Vec<&Inner> = operands.iter().map(|one| &one.0).collect();
        let made = operation(self.program()?, name, &operands, &numbers, text)?;
        self.all(made)
    }
}

/// An operator on two values, broadcast.
type TwoValues = fn(&Inner, &Inner) -> Inner;
/// An operator on one value.
type OneValue = fn(&Inner) -> Inner;
/// An operator along an axis.
type AlongAxis = fn(&Inner, usize) -> Inner;

const TWO: [(&str, TwoValues); 15] = [
    ("plus", Inner::plus),
    ("minus", Inner::minus),
    ("times", times),
    ("over", Inner::over),
    ("rest", Inner::rest),
    ("equals", Inner::equals),
    ("less", Inner::less),
    ("min", Inner::min),
    ("max", Inner::max),
    ("and", Inner::and),
    ("or", Inner::or),
    ("xor", Inner::xor),
    ("matmul", matmul),
    ("find_in", Inner::find_in),
    ("raw_times", Inner::times),
];

const ONE: [(&str, OneValue); 21] = [
    ("negate", Inner::negate),
    ("square", square),
    ("abs", Inner::abs),
    ("not", Inner::not),
    ("sigmoid", Inner::sigmoid),
    ("tanh", Inner::tanh),
    ("erf", Inner::erf),
    ("gelu", Inner::gelu),
    ("silu", Inner::silu),
    ("softplus", Inner::softplus),
    ("exp", Inner::exp),
    ("ln", Inner::ln),
    ("reciprocal", Inner::reciprocal),
    ("sqrt", Inner::sqrt),
    ("inverse_sqrt", Inner::inverse_sqrt),
    ("relu", Inner::relu),
    ("sign", Inner::sign),
    ("transpose", Inner::transpose),
    ("flatten", Inner::flatten),
    ("copy", Inner::clone),
    ("floor", floor),
];

const AXIS: [(&str, AlongAxis); 13] = [
    ("sum", Inner::sum),
    ("least", Inner::least),
    ("greatest", Inner::greatest),
    ("product", Inner::product),
    ("all", Inner::all),
    ("any", Inner::any),
    ("parity", Inner::parity),
    ("prefix_sums", Inner::prefix_sums),
    ("softmax", Inner::softmax),
    ("log_softmax", Inner::log_softmax),
    ("expand", Inner::expand),
    ("reverse", Inner::reverse),
    ("none", |value, _| value.clone()),
];

fn by_name<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, one)| *one)
}

/// Cuts off the bits after the point that a product has too many.
fn cut(product: &Inner, to: u32) -> Inner {
    match product.element().fraction().checked_sub(to) {
        Some(by @ 1..) => product.truncate(by, Rounding::Exact),
        _ => product.clone(),
    }
}

fn times(a: &Inner, b: &Inner) -> Inner {
    cut(
        &a.times(b),
        a.element().fraction().max(b.element().fraction()),
    )
}

fn matmul(a: &Inner, b: &Inner) -> Inner {
    cut(
        &a.matmul(b),
        a.element().fraction().max(b.element().fraction()),
    )
}

fn square(a: &Inner) -> Inner {
    cut(&a.square(), a.element().fraction())
}

/// Rounded down to whole numbers, as numbers of the same type.
fn floor(a: &Inner) -> Inner {
    let by = a.element().fraction();
    match by {
        0 => a.clone(),
        by => a.truncate(by, Rounding::Exact).extend(by),
    }
}

fn operation(
    program: &mut Program,
    name: &str,
    operands: &[&Inner],
    numbers: &[usize],
    text: &str,
) -> PyResult<Vec<Inner>> {
    if let (Some(one), &[a]) = (by_name(&ONE, name), operands) {
        return Ok(vec![one(a)]);
    }
    if let (Some(two), &[a, b]) = (by_name(&TWO, name), operands) {
        return Ok(vec![two(a, b)]);
    }
    if let (Some(along), &[a], &[axis]) = (by_name(&AXIS, name), operands, numbers) {
        return Ok(vec![along(a, axis)]);
    }
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(match (name, operands, numbers) {
        ("select", &[c, a, b], []) => vec![c.select(a, b)],
        ("clip", &[x, low, high], []) => vec![x.clip(low, high)],
        ("cast", &[x], []) => vec![x.cast(type_of(text)?)],
        ("to", &[x], []) => {
            let all = [
                Sharing::A,
                Sharing::B,
                Sharing::R,
                Sharing::Y,
                Sharing::Y2,
                Sharing::ALPHA,
                Sharing::BETA,
            ];
            let found = all.into_iter().find(|one| one.name() == text);
            vec![x.to(found.ok_or_else(|| value_error(format!("there is no sharing {text:?}")))?)]
        }
        ("truncate", &[x], &[by]) => vec![x.truncate(small(by), Rounding::Exact)],
        ("extend", &[x], &[by]) => vec![x.extend(small(by))],
        ("min_with_place", &[x], []) => x.min_with_place().into(),
        ("max_with_place", &[x], []) => x.max_with_place().into(),
        ("reshape", &[x], axes) => vec![x.reshape(axes)],
        ("broadcast_to", &[x], axes) => vec![x.broadcast_to(axes)],
        ("permute", &[x], order) => vec![x.permute(order)],
        ("slice", &[x], &[axis, from, to]) => vec![x.slice(axis, from..to)],
        ("at", &[x], &[axis, place]) => vec![x.at(axis, place)],
        ("pick", &[x], [axis, places @ ..]) => vec![x.pick(*axis, places)],
        ("concat", parts, &[axis]) => Inner::concat(parts, axis).into_iter().collect(),
        ("sorted", [keys, others @ ..], &[descending, keep]) => {
            keys.sorted(others, descending == 1, keep)
        }
        ("sort_by", all, descending) if (1..=all.len()).contains(&descending.len()) => {
            let (keys, others) = all.split_at(descending.len());
            let directions = descending.iter().map(|&direction| direction == 1);
            let keys: Vec<_> = keys.iter().copied().zip(directions).collect();
            Inner::sort_by(&keys, others)
        }
        ("shuffle", all @ [_, ..], []) => Inner::shuffle(all),
        ("root", &[x], []) => program.record(Op::Unary(Unary::Root), &[x]),
        ("count_ones", &[x], []) => program.record(Op::Unary(Unary::CountOnes), &[x]),
        ("shift_left", &[x], &[by]) => program.record(Op::Unary(Unary::ShiftLeft(small(by))), &[x]),
        ("shift_right", &[x], &[by]) => {
            program.record(Op::Unary(Unary::ShiftRight(small(by))), &[x])
        }
        ("counter", [], []) => program.record(Op::Counter, &[]),
        _ => {
            let (operands, numbers) = (operands.len(), numbers.len());
            return Err(value_error(format!(
                "there is no operation {name} of {operands} values and {numbers} numbers"
            )));
        }
    })
}
