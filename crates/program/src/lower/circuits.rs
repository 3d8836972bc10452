//! Circuits of operators.

use std::sync::Arc;

use madrigal_circuit::branches::index_bits;
use madrigal_circuit::{Builder, Wire};

use crate::array::Array;
use crate::element::Type;
use crate::ir::{Binary, Each, Extreme, Node, Unary};

/// An operator on bits, element by element: a part of a circuit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum BitOp {
    /// Operator on numbers of a type.
    Unary(Unary, Type),
    /// Operator on two numbers of a type; of shifts the second is any number of bits.
    Binary(Binary, Type),
    /// A bit and two numbers.
    Select,
    /// A number of a type in another one.
    Cast(Type, Type),
    /// A number of a signed type without its lowest bits.
    Truncate(u32),
    /// Carries of the sum of two numbers: out of this many lowest bits, and into the highest bit; then that bit.
    Carries(u32),
    /// Carry of the sum of two numbers out of this many lowest bits, and the XOR of their highest bits.
    LowCarry(u32),
    /// An operation that builds its circuit itself, with results of these widths.
    Each(Each, Vec<u32>),
    /// The bits of a number of any width with zeros above, or cut off.
    Resize(u32),
    /// The sum of numbers.
    AddUp,
    /// Whether a < b, from the sums of three lists of addends of equal lengths: those of a, of b, and of
    /// a - b.
    LessOfSums {
        /// Whether they are signed.
        signed: bool,
    },
    /// Whether a < b, from the highest bits of a, of b, and of a - b.
    LessOfSigns {
        /// Whether they are signed.
        signed: bool,
    },
    /// Whether the first number is the sum of the others.
    IsSum,
    /// All numbers together by an operation that takes two.
    Fold(Binary),
    /// Two numbers of a type and their places, of some bits each: the better one and its place, with a bit
    /// more. The first one where they are equal.
    Winner(Extreme, Type),
    /// The lower one and the higher one of two numbers of a type, then what goes along with each of them,
    /// in pairs.
    Exchange {
        /// Whether the greater one comes first.
        descending: bool,
        /// The type of the numbers.
        element: Type,
    },
    /// Two rows, which change places where the second one's keys come before the first one's. The first values are the keys,
    /// each of a type and in an order, then the rows' places, then what moves along.
    ExchangeBy(Arc<[(Type, bool)]>),
    /// One-hot code of a place: for each of this many entries whether it is there.
    OneHot(usize),
    /// Elements of the entry at a place in a public table `[entries, width]`.
    Entry(Arc<Array>),
    /// A number where a bit is 1, else 0.
    Mask,
    /// Number of a branch, among this many, as a circuit with branches takes it, from a secret number.
    Index(usize),
}

impl BitOp {
    /// A node's operation that builds its circuit itself.
    pub(super) fn of(each: &Each, node: &Node) -> Self {
        let outputs = node.outputs.iter();
        Self::Each(
            each.clone(),
            outputs.map(|sort| sort.element.bits()).collect(),
        )
    }

    /// Adds the operator to a circuit: its results' wires for those of its operands.
    pub(super) fn build(&self, b: &mut Builder, inputs: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let one = |bit: Wire| vec![vec![bit]];
        match (self, inputs) {
            (Self::Unary(unary, element), [x]) => vec![unary_bits(*unary, *element, b, x)],
            (Self::Binary(binary, element), [x, y]) => {
                vec![binary_bits(*binary, *element, b, x, y)]
            }
            (Self::Select, [condition, yes, no]) => vec![b.select(condition[0], yes, no)],
            (Self::Cast(from, to), [x]) => {
                let bits = to.bits() as usize;
                vec![match from.is_signed() {
                    true => b.sign_extend(x, bits),
                    false => b.zero_extend(x, bits),
                }]
            }
            (Self::Truncate(by), [x]) => {
                let kept = x.get(*by as usize..).unwrap_or(&x[x.len() - 1..]);
                vec![b.sign_extend(kept, x.len())]
            }
            (Self::Carries(at), [x, y]) => {
                let below = x.len() - 1;
                let [low, high] = b.carries(&x[..below], &y[..below], *at as usize);
                let sum = b.xor(x[below], y[below]);
                let sum = b.xor(sum, high);
                vec![vec![low], vec![high], vec![sum]]
            }
            (Self::LowCarry(at), [x, y]) => {
                let (below, at) = (x.len() - 1, *at as usize);
                // Two numbers overflow where one is greater than all ones less the other.
                let rest: Vec<_> = x[..at].iter().map(|&bit| b.not(bit)).collect();
                let low = b.less(&rest, &y[..at]);
                vec![vec![low], vec![b.xor(x[below], y[below])]]
            }
            (Self::Each(each, _), inputs) => each.operation().build(b, inputs),
            (Self::Resize(bits), [x]) => vec![b.zero_extend(x, *bits as usize)],
            (Self::AddUp, addends) => vec![b.add_all(addends)],
            (Self::LessOfSums { signed }, addends) => {
                let count = addends.len() / 3;
                let mut sign = |list: usize| {
                    let sum = b.add_all(&addends[list * count..][..count]);
                    sum[sum.len() - 1]
                };
                let signs = [0, 1, 2].map(&mut sign);
                one(less_of_signs(b, *signed, signs))
            }
            (Self::LessOfSigns { signed }, [x, y, difference]) => {
                one(less_of_signs(b, *signed, [x[0], y[0], difference[0]]))
            }
            (Self::IsSum, [first, others @ ..]) => {
                let sum = b.add_all(others);
                one(b.equal(first, &sum))
            }
            (Self::Fold(binary), [first, rest @ ..]) => {
                let element = Type::unsigned(1);
                let fold = |list: &[Vec<Wire>], b: &mut Builder| {
                    let wire = |bit: usize| list.iter().map(|x| x[bit]).collect::<Vec<_>>();
                    let bits: Vec<_> = (0..first.len()).map(wire).collect();
                    bits.iter()
                        .map(|bits| match binary {
                            Binary::And => b.all(bits),
                            _ => b.any(bits),
                        })
                        .collect::<Vec<_>>()
                };
                match binary {
                    Binary::And | Binary::Or => vec![fold(inputs, b)],
                    _ => {
                        let fold =
                            |x: Vec<Wire>, y: &Vec<Wire>| binary_bits(*binary, element, b, &x, y);
                        vec![rest.iter().fold(first.clone(), fold)]
                    }
                }
            }
            (Self::Winner(extreme, element), [x, x_place, y, y_place]) => {
                let second = match extreme {
                    Extreme::Least => less(b, *element, y, x),
                    Extreme::Greatest => less(b, *element, x, y),
                };
                let mut place = b.select(second, y_place, x_place);
                place.push(second);
                vec![b.select(second, y, x), place]
            }
            (
                Self::Exchange {
                    descending,
                    element,
                },
                _,
            ) => {
                let (x, y) = (&inputs[0], &inputs[1]);
                let swap = match descending {
                    false => less(b, *element, y, x),
                    true => less(b, *element, x, y),
                };
                swapped(b, swap, inputs)
            }
            (Self::ExchangeBy(keys), _) => {
                let place = 2 * keys.len();
                let mut swap = less(b, Type::PLACE, &inputs[place + 1], &inputs[place]);
                for (at, &(element, descending)) in keys.iter().enumerate().rev() {
                    let (low, high) = (&inputs[2 * at], &inputs[2 * at + 1]);
                    let before = match descending {
                        false => less(b, element, high, low),
                        true => less(b, element, low, high),
                    };
                    let equal = b.equal(low, high);
                    let later = b.and(equal, swap);
                    swap = b.xor(before, later);
                }
                swapped(b, swap, inputs)
            }
            (Self::OneHot(entries), [place]) => {
                let hot = one_hot(b, place, *entries);
                hot.into_iter().map(|bit| vec![bit]).collect()
            }
            (Self::Entry(table), [place]) => entry(b, table, place),
            (Self::Index(branches), [number]) => index(b, *branches, number),
            (Self::Mask, [bit, x]) => vec![b.mask(x, bit[0])],
            _ => unreachable!("{self:?} of {} operands", inputs.len()),
        }
    }

    /// The widths of the results for operands of these widths.
    pub(super) fn widths(&self, inputs: &[u32]) -> Vec<u32> {
        match self {
            Self::Unary(Unary::CountOnes | Unary::LeadingZeros, _) => vec![Type::PLACE.bits()],
            Self::Unary(_, element) => vec![element.bits()],
            Self::Binary(Binary::Equal | Binary::Less, _) => vec![1],
            Self::Binary(_, element) => vec![element.bits()],
            Self::Select | Self::Mask => vec![inputs[1]],
            Self::Cast(_, to) => vec![to.bits()],
            Self::Resize(bits) => vec![*bits],
            Self::Each(_, widths) => widths.clone(),
            Self::Truncate(_) | Self::AddUp | Self::Fold(_) => vec![inputs[0]],
            Self::LessOfSums { .. } | Self::LessOfSigns { .. } | Self::IsSum => vec![1],
            Self::Carries(_) => vec![1; 3],
            Self::LowCarry(_) => vec![1; 2],
            Self::Winner(..) => vec![inputs[0], inputs[1] + 1],
            Self::Exchange { .. } | Self::ExchangeBy(_) => inputs.to_vec(),
            Self::OneHot(entries) => vec![1; *entries],
            Self::Index(branches) => index_widths(*branches, inputs[0]),
            Self::Entry(table) => {
                let width = table.shape().axes()[1];
                vec![table.element().bits(); width]
            }
        }
    }

    /// Name of the operator in a step's label.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Unary(unary, _) => unary.to_string(),
            Self::Binary(binary, _) | Self::Fold(binary) => binary.to_string(),
            Self::Select => "select".into(),
            Self::Cast(_, to) => format!("cast to {to}"),
            Self::Truncate(by) => format!("truncate by {by}"),
            Self::Carries(_) => "carries of shares".into(),
            Self::LowCarry(_) => "carry of shares".into(),
            Self::Resize(_) => "widen".into(),
            Self::Each(each, _) => each.operation().label(),
            Self::AddUp => "add shares".into(),
            Self::LessOfSums { .. } => "compare shares".into(),
            Self::LessOfSigns { .. } => "compare".into(),
            Self::IsSum => "equality of shares".into(),
            Self::Winner(..) => "winner".into(),
            Self::Exchange { .. } | Self::ExchangeBy(_) => "compare and exchange".into(),
            Self::OneHot(_) => "one-hot code".into(),
            Self::Entry(_) => "look-up".into(),
            Self::Mask => "mask".into(),
            Self::Index(_) => "number of a branch".into(),
        }
    }
}

/// Compares by signs: of numbers with different highest bits the unsigned one with a 1 is greater, the signed one with a 1 less;
/// of others the difference does not overflow.
fn less_of_signs(b: &mut Builder, signed: bool, [x, y, difference]: [Wire; 3]) -> Wire {
    let differ = b.xor(x, y);
    let less = if signed { x } else { y };
    b.select(differ, &[less], &[difference])[0]
}

/// Pairs of values that change places.
fn swapped(b: &mut Builder, swap: Wire, pairs: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let swap_one = |pair: &[Vec<Wire>]| {
        let (low, high) = b.swap_if(swap, &pair[0], &pair[1]);
        [low, high]
    };
    pairs.chunks(2).flat_map(swap_one).collect()
}

pub(super) fn less(b: &mut Builder, element: Type, x: &[Wire], y: &[Wire]) -> Wire {
    match element.is_signed() {
        true => b.less_signed(x, y),
        false => b.less(x, y),
    }
}

fn unary_bits(op: Unary, element: Type, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let width = x.len();
    match op {
        Unary::Negate => b.negate(x),
        Unary::Not => b.not_all(x),
        Unary::Abs => b.abs(x),
        Unary::Square => b.square(x),
        Unary::Root => {
            let (root, _) = b.square_root(x);
            b.zero_extend(&root, width)
        }
        Unary::CountOnes => {
            let count = b.count_ones(x);
            b.zero_extend(&count, Type::PLACE.bits() as usize)
        }
        Unary::LeadingZeros => {
            let count = b.leading_zeros(x);
            b.zero_extend(&count, Type::PLACE.bits() as usize)
        }
        Unary::ShiftLeft(by) => {
            let by = (by as usize).min(width);
            let mut shifted = b.number(0, by);
            shifted.extend(&x[..width - by]);
            shifted
        }
        Unary::ShiftRight(by) => {
            // The sign is what is left at least.
            let by = (by as usize).min(width - usize::from(element.is_signed()));
            match element.is_signed() {
                true => b.sign_extend(&x[by..], width),
                false => b.zero_extend(&x[by..], width),
            }
        }
        Unary::RotateLeft(by) => {
            let mut rotated = x.to_vec();
            rotated.rotate_right(by as usize % width);
            rotated
        }
    }
}

fn binary_bits(op: Binary, element: Type, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let signed = element.is_signed();
    match op {
        Binary::Add => b.add(x, y),
        Binary::Sub => b.sub(x, y),
        Binary::Mul => b.mul(x, y),
        Binary::Div if element.fraction() > 0 => b.divide_fixed(x, y, element.fraction() as usize),
        Binary::Div if signed => b.divide_signed(x, y).0,
        Binary::Div => b.quotient(x, y),
        Binary::Rem if signed => b.divide_signed(x, y).1,
        Binary::Rem => b.divide(x, y).1,
        Binary::And => b.and_all(x, y),
        Binary::Or => {
            let pairs = x.iter().zip(y);
            pairs.map(|(&x, &y)| b.or(x, y)).collect()
        }
        Binary::Xor => b.xor_all(x, y),
        Binary::Equal => vec![b.equal(x, y)],
        Binary::Less => vec![less(b, element, x, y)],
        Binary::Min => {
            let second = less(b, element, y, x);
            b.select(second, y, x)
        }
        Binary::Max => {
            let second = less(b, element, x, y);
            b.select(second, y, x)
        }
        Binary::ShiftLeft => b.shift_left(x, y),
        Binary::ShiftRight if signed => b.shift_right_signed(x, y),
        Binary::ShiftRight => b.shift_right(x, y),
        Binary::RotateLeft => b.rotate_left(x, y),
    }
}

/// One-hot code of a place: for each of `entries` whether it is the one at `place`; none where there is no such entry. About an AND
/// for each entry, and one for each bit of the place that no entry has.
pub(crate) fn one_hot(b: &mut Builder, place: &[Wire], entries: usize) -> Vec<Wire> {
    let named = (usize::BITS - entries.saturating_sub(1).leading_zeros()) as usize;
    let (low, high) = place.split_at(named.min(place.len()));
    let beyond = b.any(high);
    // Splitting a 1 rather than the constant makes all places 0 where it is 0.
    let mut hot = vec![b.not(beyond)];
    for (at, &bit) in low.iter().enumerate().rev() {
        let step = 1_usize << at;
        let mut next = Vec::with_capacity(2 * hot.len());
        for (index, &whole) in hot.iter().enumerate() {
            let first = 2 * index * step;
            // A half without entries is left out.
            let odd = b.and(whole, bit);
            next.push(b.xor(whole, odd));
            if first + step < entries {
                next.push(odd);
            }
        }
        hot = next;
    }
    let zero = b.constant(false);
    hot.resize(entries, zero);
    hot
}

/// The XOR of a public table's entries, each where its place is the one.
fn entry(b: &mut Builder, table: &Array, place: &[Wire]) -> Vec<Vec<Wire>> {
    let (entries, width) = (table.shape().axes()[0], table.shape().axes()[1]);
    let hot = one_hot(b, place, entries);
    let bits = table.element().bits() as usize;
    let zero = b.constant(false);
    let mut found = vec![vec![zero; bits]; width];
    for (at, code) in table.codes().enumerate() {
        let (entry, column) = (at / width, at % width);
        for bit in (0..bits).filter(|bit| code >> bit & 1 == 1) {
            found[column][bit] = b.xor(found[column][bit], hot[entry]);
        }
    }
    found
}

/// The bits of the number of a branch, and, where a number has more bits than that and they can all be of
/// a branch, whether those above are 0.
fn index(b: &mut Builder, branches: usize, number: &[Wire]) -> Vec<Vec<Wire>> {
    let named = index_bits(branches);
    let zero = b.constant(false);
    let mut low = number.to_vec();
    let high = low.split_off(named.min(low.len()));
    low.resize(named, zero);
    if high.is_empty() {
        return vec![low];
    }
    let beyond = b.any(&high);
    if branches.is_power_of_two() {
        return vec![low, vec![b.not(beyond)]];
    }
    // The greatest number of this many bits names no branch.
    let low = low.into_iter().map(|bit| b.or(bit, beyond)).collect();
    vec![low]
}

/// The widths of what [`index`] gives.
fn index_widths(branches: usize, bits: u32) -> Vec<u32> {
    let named = index_bits(branches) as u32;
    match bits > named && branches.is_power_of_two() {
        true => vec![named, 1],
        false => vec![named],
    }
}
