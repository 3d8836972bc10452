//! Operations by their names in files, with what they take.

use std::sync::Arc;

use madrigal_circuit::{Format, Limits, Netlist};
use madrigal_core::Convolution;
use madrigal_noise::Noise;
use madrigal_program::ir::{
    Binary, Each, EachForm, Extreme, Graph, Op, Reduction, Rounding, Unary,
};
use madrigal_program::lower::Sharing;
use madrigal_program::{Array, Shape, Type, View};

use crate::error::BindError;
use crate::lengths::{Lengths, known};
use crate::proto::Node;

/// The parts of a node that say what its operation is.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) name: &'static str,
    pub(crate) lengths: Vec<i64>,
    pub(crate) texts: Vec<String>,
    pub(crate) data: Vec<u8>,
    pub(crate) bodies: Vec<Arc<Graph>>,
}

fn named(name: &'static str) -> Parts {
    Parts {
        name,
        ..Parts::default()
    }
}

impl Parts {
    fn of(self, lengths: impl IntoIterator<Item = usize>) -> Self {
        let lengths = lengths.into_iter();
        let lengths = lengths.map(|length| known(length as i64)).collect();
        Self { lengths, ..self }
    }

    fn with_text(mut self, text: impl ToString) -> Self {
        self.texts.push(text.to_string());
        self
    }

    fn with_bodies(self, bodies: impl IntoIterator<Item = Arc<Graph>>) -> Self {
        let bodies = bodies.into_iter().collect();
        Self { bodies, ..self }
    }
}

/// Operators on elements without a parameter.
const UNARY: [(&str, Unary); 7] = [
    ("negate", Unary::Negate),
    ("not", Unary::Not),
    ("abs", Unary::Abs),
    ("square", Unary::Square),
    ("root", Unary::Root),
    ("count_ones", Unary::CountOnes),
    ("leading_zeros", Unary::LeadingZeros),
];

/// Operator on an element for a public number.
type ByNumber = fn(u32) -> Unary;

/// Operators on elements by a public number.
const BY: [(&str, ByNumber); 3] = [
    ("shift_left", Unary::ShiftLeft),
    ("shift_right", Unary::ShiftRight),
    ("rotate_left", Unary::RotateLeft),
];

const BINARY: [(&str, Binary); 15] = [
    ("add", Binary::Add),
    ("subtract", Binary::Sub),
    ("multiply", Binary::Mul),
    ("divide", Binary::Div),
    ("remainder", Binary::Rem),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
    ("equal", Binary::Equal),
    ("less", Binary::Less),
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("shift_left_by", Binary::ShiftLeft),
    ("shift_right_by", Binary::ShiftRight),
    ("rotate_left_by", Binary::RotateLeft),
];

const REDUCTIONS: [(&str, Reduction); 7] = [
    ("sum", Reduction::Sum),
    ("product", Reduction::Product),
    ("least", Reduction::Least),
    ("greatest", Reduction::Greatest),
    ("all", Reduction::And),
    ("any", Reduction::Or),
    ("parity", Reduction::Xor),
];

const EXTREMES: [(&str, Extreme); 2] = [
    ("find_least", Extreme::Least),
    ("find_greatest", Extreme::Greatest),
];

const TRUNCATIONS: [(&str, Rounding); 2] = [
    ("truncate", Rounding::Exact),
    ("truncate_probabilistic", Rounding::Probabilistic),
];

const SORTS: [(&str, bool); 2] = [("sort", false), ("sort_descending", true)];

const SHARINGS: [Sharing; 7] = [
    Sharing::A,
    Sharing::B,
    Sharing::R,
    Sharing::Y,
    Sharing::Y2,
    Sharing::ALPHA,
    Sharing::BETA,
];

fn name_of<T: PartialEq>(table: &[(&'static str, T)], wanted: &T) -> Option<&'static str> {
    let found = table.iter().find(|(_, one)| one == wanted);
    found.map(|(name, _)| *name)
}

fn by_name<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, one)| *one)
}

/// Operations that have names of their own, and no table.
const OTHERS: [&str; 25] = [
    "input",
    "argument",
    "constant",
    "ratio",
    "counter",
    "view",
    "reshape",
    "pick",
    "join",
    "row",
    "select",
    "cast",
    "prefix_sums",
    "sort_by",
    "shuffle",
    "numbers_of_rows",
    "move_rows",
    "matrix_product",
    "convolve",
    "look_up",
    "function",
    "random",
    "noise",
    "circuit",
    "to",
];

/// Operations that have bodies.
const WITH_BODIES: [&str; 3] = ["repeat", "map", "choose"];

/// Names of all operations that files hold.
pub fn operations() -> Vec<&'static str> {
    let mut all = [&OTHERS[..], &WITH_BODIES].concat();
    all.extend(UNARY.map(|(name, _)| name));
    all.extend(BY.map(|(name, _)| name));
    all.extend(BINARY.map(|(name, _)| name));
    all.extend(REDUCTIONS.map(|(name, _)| name));
    all.extend(EXTREMES.map(|(name, _)| name));
    all.extend(TRUNCATIONS.map(|(name, _)| name));
    all.extend(SORTS.map(|(name, _)| name));
    all
}

/// The operation as a file has it; `None` for one that files do not hold.
pub(crate) fn parts(op: &Op) -> Option<Parts> {
    Some(match op {
        Op::Input(number) => named("input").of([*number]),
        Op::Argument(number) => named("argument").of([*number]),
        Op::Constant(array) => Parts {
            data: elements(array),
            ..named("constant")
                .of(array.shape().axes().iter().copied())
                .with_text(array.element())
        },
        Op::Counter => named("counter"),
        Op::View(view) => {
            let strides = view.strides.iter().map(|&stride| known(stride as i64));
            let axes = view.shape.axes().iter().map(|&axis| known(axis as i64));
            let first = std::iter::once(known(view.offset as i64));
            Parts {
                lengths: first.chain(axes).chain(strides).collect(),
                ..named("view")
            }
        }
        Op::Reshape(shape) => named("reshape").of(shape.axes().iter().copied()),
        Op::Pick { axis, places } => {
            named("pick").of(std::iter::once(*axis).chain(places.iter().copied()))
        }
        Op::Join(axis) => named("join").of([*axis]),
        Op::Row(axis) => named("row").of([*axis]),
        Op::Unary(Unary::ShiftLeft(by)) => named("shift_left").of([*by as usize]),
        Op::Unary(Unary::ShiftRight(by)) => named("shift_right").of([*by as usize]),
        Op::Unary(Unary::RotateLeft(by)) => named("rotate_left").of([*by as usize]),
        Op::Unary(unary) => named(name_of(&UNARY, unary)?),
        Op::Binary(binary) => named(name_of(&BINARY, binary)?),
        Op::Select => named("select"),
        Op::Cast(element) => named("cast").with_text(element),
        Op::Truncate { by, rounding } => named(name_of(&TRUNCATIONS, rounding)?).of([*by as usize]),
        Op::Reduce(reduction, axis) => named(name_of(&REDUCTIONS, reduction)?).of([*axis]),
        Op::Find(extreme, axis) => named(name_of(&EXTREMES, extreme)?).of([*axis]),
        Op::PrefixSums(axis) => named("prefix_sums").of([*axis]),
        Op::Sort { descending, keep } => named(name_of(&SORTS, descending)?).of([*keep]),
        Op::SortBy(descending) => {
            named("sort_by").of(descending.iter().map(|&descending| usize::from(descending)))
        }
        Op::Shuffle => named("shuffle"),
        Op::Random(element, shape) => named("random")
            .of(shape.axes().iter().copied())
            .with_text(element),
        Op::Numbered(count) => named("numbers_of_rows").of([*count]),
        Op::MoveRows => named("move_rows"),
        Op::MatMul => named("matrix_product"),
        Op::Convolve(convolution) => named("convolve").of(geometry(convolution)),
        Op::LookUp => named("look_up"),
        Op::Each(each) => match each.operation().form()? {
            EachForm::Function { name, from, to } => named("function")
                .with_text(name)
                .with_text(from)
                .with_text(to),
            EachForm::Noise { noise, element } => {
                let (epsilon, delta, each) = noise.units();
                named("noise")
                    .with_text(epsilon)
                    .with_text(delta)
                    .with_text(each)
                    .with_text(element)
            }
            EachForm::Circuit { netlist, outputs } => {
                let mut parts = named("circuit").with_text(netlist.name());
                parts.texts.extend(outputs.iter().map(Type::to_string));
                Parts {
                    data: netlist.write_as(Format::BristolFashion).ok()?,
                    ..parts
                }
            }
            _ => return None,
        },
        Op::To(sharing) => named("to").with_text(sharing.name()),
        Op::Repeat {
            count,
            carried,
            body,
        } => named("repeat")
            .of([*count, *carried])
            .with_bodies([Arc::clone(body)]),
        Op::Map {
            count,
            carried,
            body,
        } => named("map")
            .of([*count, *carried])
            .with_bodies([Arc::clone(body)]),
        Op::Choose(branches) => named("choose").with_bodies(branches.iter().cloned()),
        _ => return None,
    })
}

/// The operation that a node of this name has, but for inputs.
pub(crate) fn operation(
    name: &str,
    node: &Node,
    bodies: Vec<Arc<Graph>>,
    lengths: &Lengths,
) -> Result<Op, Fault> {
    let numbers = || lengths.sizes(&node.lengths);
    let one = || match numbers()?[..] {
        [one] => Ok(one),
        _ => Err(lengths_of(node, 1)),
    };
    let small = || {
        let one = one()?;
        u32::try_from(one).map_err(|_| Fault::Parts(format!("the number {one} is too large")))
    };
    let none = |op| match node.lengths.is_empty() {
        true => Ok(op),
        false => Err(lengths_of(node, 0)),
    };
    if let Some(unary) = by_name(&UNARY, name) {
        return none(Op::Unary(unary));
    }
    if let Some(unary) = by_name(&BY, name) {
        return Ok(Op::Unary(unary(small()?)));
    }
    if let Some(binary) = by_name(&BINARY, name) {
        return none(Op::Binary(binary));
    }
    if let Some(reduction) = by_name(&REDUCTIONS, name) {
        return Ok(Op::Reduce(reduction, one()?));
    }
    if let Some(extreme) = by_name(&EXTREMES, name) {
        return Ok(Op::Find(extreme, one()?));
    }
    if let Some(rounding) = by_name(&TRUNCATIONS, name) {
        let by = small()?;
        return Ok(Op::Truncate { by, rounding });
    }
    if let Some(descending) = by_name(&SORTS, name) {
        let keep = one()?;
        return Ok(Op::Sort { descending, keep });
    }
    let body = |bodies: Vec<Arc<Graph>>| match <[_; 1]>::try_from(bodies) {
        Ok([body]) => Ok(body),
        Err(bodies) => Err(Fault::Parts(format!(
            "{} bodies, and it has one",
            bodies.len()
        ))),
    };
    Ok(match name {
        "constant" => Op::Constant(Arc::new(constant(node, lengths)?)),
        "ratio" => Op::Constant(Arc::new(ratio(node, lengths)?)),
        "counter" => none(Op::Counter)?,
        "view" => Op::View(view(node, lengths)?),
        "reshape" => Op::Reshape(shape(&numbers()?)?),
        "pick" => match &numbers()?[..] {
            [axis, places @ ..] => Op::Pick {
                axis: *axis,
                places: places.into(),
            },
            [] => return Err(lengths_of(node, 1)),
        },
        "join" => Op::Join(one()?),
        "row" => Op::Row(one()?),
        "select" => none(Op::Select)?,
        "cast" => Op::Cast(element(node, 0)?),
        "prefix_sums" => Op::PrefixSums(one()?),
        "sort_by" => {
            let direction = |number: usize| match number {
                0 => Ok(false),
                1 => Ok(true),
                other => Err(Fault::Parts(format!(
                    "the direction {other} of a key, which is 0, upwards, or 1, downwards"
                ))),
            };
            let directions = numbers()?.into_iter().map(direction);
            Op::SortBy(directions.collect::<Result<_, _>>()?)
        }
        "shuffle" => none(Op::Shuffle)?,
        "numbers_of_rows" => Op::Numbered(one()?),
        "move_rows" => none(Op::MoveRows)?,
        "matrix_product" => none(Op::MatMul)?,
        "convolve" => Op::Convolve(convolution(&numbers()?).ok_or_else(|| lengths_of(node, 16))?),
        "look_up" => none(Op::LookUp)?,
        "function" => {
            let name = text(node, 0)?.to_owned();
            let form = EachForm::Function {
                name: name.clone(),
                from: element(node, 1)?,
                to: element(node, 2)?,
            };
            let each: Option<Each> = form.each();
            let fault = || Fault::Parts(format!("there is no function {name:?} of such numbers"));
            Op::Each(each.ok_or_else(fault)?)
        }
        "random" => Op::Random(element(node, 0)?, shape(&numbers()?)?),
        "noise" => {
            let number = |at: usize| {
                let text = text(node, at)?;
                let number = text.parse::<u64>();
                number.map_err(|_| Fault::Parts(format!("{text:?}, which is no number")))
            };
            let noise = Noise::of_units(number(0)?, number(1)?, number(2)?);
            let noise = noise.map_err(|error| Fault::Parts(error.to_string()))?;
            let element = element(node, 3)?;
            let each = EachForm::Noise { noise, element }.each();
            let fault = || Fault::Parts(format!("{element} does not hold noise of {noise}"));
            Op::Each(each.ok_or_else(fault)?)
        }
        "circuit" => {
            let name = text(node, 0)?;
            let outputs = (1..node.texts.len()).map(|at| element(node, at));
            let outputs = outputs.collect::<Result<Vec<Type>, Fault>>()?;
            let netlist = Netlist::read(name, &node.data, &Limits::default());
            let netlist = netlist.map_err(|error| Fault::Parts(error.to_string()))?;
            let form = EachForm::Circuit {
                netlist: Arc::new(netlist),
                outputs,
            };
            Op::Each(form.each().expect("any circuit is an operation"))
        }
        "to" => {
            let name = text(node, 0)?;
            let known = SHARINGS.into_iter().find(|known| known.name() == name);
            Op::To(known.ok_or_else(|| Fault::Parts(format!("there is no sharing {name:?}")))?)
        }
        "repeat" | "map" => {
            let [count, carried] = numbers()?[..] else {
                return Err(lengths_of(node, 2));
            };
            let body = body(bodies)?;
            match name {
                "map" => Op::Map {
                    count,
                    carried,
                    body,
                },
                _ => Op::Repeat {
                    count,
                    carried,
                    body,
                },
            }
        }
        "choose" => Op::Choose(bodies.into()),
        _ => return Err(Fault::Unknown),
    })
}

/// Why a node is no operation.
pub(crate) enum Fault {
    /// A name that is not known.
    Unknown,
    /// Parts that the operation does not take.
    Parts(String),
    /// A text that names no type.
    Type(madrigal_program::TypeError),
    Bind(BindError),
}

impl From<BindError> for Fault {
    fn from(error: BindError) -> Self {
        Self::Bind(error)
    }
}

fn lengths_of(node: &Node, wanted: usize) -> Fault {
    let found = node.lengths.len();
    Fault::Parts(format!("{found} numbers, and it has {wanted}"))
}

fn text(node: &Node, at: usize) -> Result<&str, Fault> {
    let text = node.texts.get(at).map(String::as_str);
    text.ok_or_else(|| Fault::Parts(format!("{} texts, and it has more", node.texts.len())))
}

fn element(node: &Node, at: usize) -> Result<Type, Fault> {
    text(node, at)?.parse().map_err(Fault::Type)
}

pub(crate) fn shape(axes: &[usize]) -> Result<Shape, Fault> {
    let large = || Fault::Parts(format!("shape {axes:?} is too large"));
    Shape::checked(axes).ok_or_else(large)
}

fn view(node: &Node, lengths: &Lengths) -> Result<View, Fault> {
    let Some((&offset, rest)) = node.lengths.split_first() else {
        return Err(lengths_of(node, 1));
    };
    if rest.len() % 2 == 1 {
        return Err(lengths_of(node, rest.len()));
    }
    let (axes, strides) = rest.split_at(rest.len() / 2);
    let stride = |&number: &i64| -> Result<isize, Fault> {
        let stride = lengths.get(number)?;
        isize::try_from(stride).map_err(|_| Fault::Parts(format!("a stride of {stride}")))
    };
    Ok(View {
        shape: shape(&lengths.sizes(axes)?)?,
        strides: strides.iter().map(stride).collect::<Result<_, _>>()?,
        offset: lengths.size(offset)?,
    })
}

/// The elements as they stand in a file: each in as many bytes as it has, the lowest first; bits eight in a byte.
fn elements(array: &Array) -> Vec<u8> {
    let bits = array.element().bits() as usize;
    if bits == 1 {
        let mut bytes = vec![0; array.codes().len().div_ceil(8)];
        for (at, code) in array.codes().enumerate() {
            bytes[at / 8] |= (code as u8 & 1) << (at % 8);
        }
        return bytes;
    }
    let codes = array.codes();
    codes
        .flat_map(|code| code.to_le_bytes().into_iter().take(bits / 8))
        .collect()
}

fn constant(node: &Node, lengths: &Lengths) -> Result<Array, Fault> {
    let element = element(node, 0)?;
    let shape = shape(&lengths.sizes(&node.lengths)?)?;
    let bits = element.bits() as usize;
    let count = shape.elements();
    let bytes = match bits {
        1 => count.div_ceil(8),
        _ => count.saturating_mul(bits / 8),
    };
    let data = &node.data;
    if data.len() != bytes {
        let found = data.len();
        return Err(Fault::Parts(format!(
            "{found} bytes of elements, and {count} of {element} have {bytes}"
        )));
    }
    let code = |at: usize| match bits {
        1 => u128::from(data[at / 8] >> (at % 8) & 1),
        _ => {
            let mut word = [0; 16];
            word[..bits / 8].copy_from_slice(&data[at * (bits / 8)..][..bits / 8]);
            u128::from_le_bytes(word)
        }
    };
    let array = Array::from_codes(element, &shape, (0..count).map(code));
    Ok(array.expect("as many as the shape says"))
}

/// A public number: the quotient of two lengths, as near as the type has it.
fn ratio(node: &Node, lengths: &Lengths) -> Result<Array, Fault> {
    let element = element(node, 0)?;
    let [above, below] = node.lengths[..] else {
        return Err(lengths_of(node, 2));
    };
    let (above, below) = (lengths.get(above)?, lengths.get(below)?);
    let number = above as f64 / below as f64;
    let array = Array::from_f64(element, &Shape::scalar(), &[number]);
    array.ok_or_else(|| Fault::Parts(format!("{above} / {below} is no number of type {element}")))
}

fn geometry(convolution: &Convolution) -> [usize; 16] {
    let Convolution {
        images,
        groups,
        channels,
        image,
        filters,
        filter,
        stride,
        dilation,
        padding: [vertical, horizontal],
    } = *convolution;
    [
        images,
        groups,
        channels,
        image[0],
        image[1],
        filters,
        filter[0],
        filter[1],
        stride[0],
        stride[1],
        dilation[0],
        dilation[1],
        vertical[0],
        vertical[1],
        horizontal[0],
        horizontal[1],
    ]
}

/// The convolution of numbers as [`geometry`] gives them.
fn convolution(numbers: &[usize]) -> Option<Convolution> {
    let &[
        images,
        groups,
        channels,
        rows,
        columns,
        filters,
        high,
        wide,
        down,
        right,
        apart,
        aside,
        above,
        below,
        before,
        after,
    ] = numbers
    else {
        return None;
    };
    Some(Convolution {
        images,
        groups,
        channels,
        image: [rows, columns],
        filters,
        filter: [high, wide],
        stride: [down, right],
        dilation: [apart, aside],
        padding: [[above, below], [before, after]],
    })
}
