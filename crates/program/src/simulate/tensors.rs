//! Operations along axes, and on matrices and tables.

use madrigal_circuit::blocks::sorting_network;
use madrigal_core::{Convolution, Product, Ring};

use crate::array::{Array, Words, each, pair};
use crate::element::Type;
use crate::ir::{Extreme, Reduction};

/// A code as a word of another's width.
pub(super) trait NarrowTo<T> {
    fn narrow_to(self, like: T) -> T;
}

macro_rules! narrow {
    ($($word:ident)*) => {$(
        impl NarrowTo<$word> for u128 {
            #[inline(always)]
            fn narrow_to(self, _: $word) -> $word {
                self as $word
            }
        }
    )*};
}
narrow!(u8 u16 u32 u64 u128);

pub(super) fn pick(x: &Array, axis: usize, places: &[usize]) -> Words {
    let [before, length, after] = x.shape().around(axis);
    let numbers = (0..before).flat_map(|outer| {
        places.iter().flat_map(move |place| {
            let first = (outer * length + place) * after;
            first..first + after
        })
    });
    x.words().pick(numbers)
}

pub(super) fn join(parts: &[&Array], axis: usize) -> Words {
    let mut joined = Words::collect(parts[0].element(), std::iter::empty());
    let [before, _, _] = parts[0].shape().around(axis);
    for outer in 0..before {
        for part in parts {
            let [_, length, after] = part.shape().around(axis);
            let row = length * after;
            joined.extend(part.words(), outer * row..(outer + 1) * row);
        }
    }
    joined
}

pub(super) fn reduce(reduction: Reduction, x: &Array, axis: usize) -> Words {
    let sizes = x.shape().around(axis);
    let (least, mask) = (x.element().least(), x.element().mask());
    each!(x.words(), words => {
        let code = |code: u128, like: &[_]| code.narrow_to(like.first().copied().unwrap_or_default());
        let key = |word| word ^ code(least, words);
        match reduction {
            Reduction::Sum => fold(words, sizes, code(0, words), |a, b| a.wrapping_add(b)),
            Reduction::Product => fold(words, sizes, code(1, words), |a, b| a.wrapping_mul(b)),
            Reduction::And => fold(words, sizes, code(mask, words), |a, b| a & b),
            Reduction::Or => fold(words, sizes, code(0, words), |a, b| a | b),
            Reduction::Xor => fold(words, sizes, code(0, words), |a, b| a ^ b),
            Reduction::Least => {
                let start = code(mask ^ least, words);
                fold(words, sizes, start, |a, b| if key(b) < key(a) { b } else { a })
            }
            Reduction::Greatest => {
                let start = code(least, words);
                fold(words, sizes, start, |a, b| if key(b) > key(a) { b } else { a })
            }
        }
    })
}

/// Combines all words along the middle one of three axes to one.
fn fold<T: Copy>(
    words: &[T],
    [before, length, after]: [usize; 3],
    start: T,
    f: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut folded = vec![start; before * after];
    if after == 0 {
        return folded;
    }
    for outer in 0..before {
        let to = &mut folded[outer * after..][..after];
        let rows = &words[outer * length * after..][..length * after];
        for row in rows.chunks_exact(after) {
            to.iter_mut()
                .zip(row)
                .for_each(|(to, &word)| *to = f(*to, word));
        }
    }
    folded
}

/// The extremes and the places where they stand first.
pub(super) fn find(extreme: Extreme, x: &Array, axis: usize) -> [Words; 2] {
    let [before, length, after] = x.shape().around(axis);
    let key = |at: usize| x.words().get(at) ^ x.element().least();
    let mut numbers = Vec::with_capacity(before * after);
    let mut places = Vec::with_capacity(before * after);
    for outer in 0..before {
        for inner in 0..after {
            let number = |place: usize| (outer * length + place) * after + inner;
            let better = |a: usize, b: usize| match extreme {
                Extreme::Least => key(number(b)) < key(number(a)),
                Extreme::Greatest => key(number(b)) > key(number(a)),
            };
            let place = (1..length).fold(0, |best, at| if better(best, at) { at } else { best });
            numbers.push(number(place));
            places.push(place as u128);
        }
    }
    [
        x.words().pick(numbers.into_iter()),
        Words::collect(Type::PLACE, places.into_iter()),
    ]
}

pub(super) fn prefix_sums(x: &Array, axis: usize) -> Words {
    let [before, length, after] = x.shape().around(axis);
    each!(x.words(), words => {
        let mut sums = words.clone();
        for outer in 0..before {
            let rows = &mut sums[outer * length * after..][..length * after];
            for at in after..rows.len() {
                rows[at] = rows[at].wrapping_add(rows[at - after]);
            }
        }
        sums
    })
}

/// Sorts along the last axis as the sorting network does.
pub(super) fn sort(keys: &Array, along: &[&Array], descending: bool, keep: usize) -> Vec<Words> {
    let rank = keys.shape().rank();
    let length = keys.shape().axes()[rank - 1];
    let rows = keys.shape().elements().checked_div(length).unwrap_or(0);
    let network = sorting_network(length);
    let flip = keys.element().least();
    let mut order = Vec::with_capacity(rows * keep);
    for row in 0..rows {
        let first = row * length;
        let key = |place: usize| keys.words().get(place) ^ flip;
        let mut places: Vec<usize> = (first..first + length).collect();
        for &(low, high) in network.iter().flatten() {
            let swap = match descending {
                false => key(places[high]) < key(places[low]),
                true => key(places[high]) > key(places[low]),
            };
            if swap {
                places.swap(low, high);
            }
        }
        order.extend_from_slice(&places[..keep]);
    }
    let all = [&[keys], along].concat();
    all.iter()
        .map(|array| array.words().pick(order.iter().copied()))
        .collect()
}

/// Sorts along the last axis by the first arrays; what is equal stays in its order.
pub(super) fn sort_by(descending: &[bool], inputs: &[&Array]) -> Vec<Words> {
    let shape = inputs[0].shape();
    let length = shape.axes()[shape.rank() - 1];
    let keys: Vec<(u128, &Array, bool)> = inputs
        .iter()
        .zip(descending)
        .map(|(key, &descending)| (key.element().least(), *key, descending))
        .collect();
    let compared = |left: usize, right: usize| {
        let orders = keys.iter().map(|&(flip, key, descending)| {
            let [left, right] = [left, right].map(|place| key.words().get(place) ^ flip);
            match descending {
                false => left.cmp(&right),
                true => right.cmp(&left),
            }
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    let mut order: Vec<usize> = (0..shape.elements()).collect();
    for row in order.chunks_mut(length.max(1)) {
        row.sort_by(|&left, &right| compared(left, right));
    }
    inputs
        .iter()
        .map(|array| array.words().pick(order.iter().copied()))
        .collect()
}

/// Puts each element along the last axis at its place: a permutation.
pub(super) fn move_rows(places: &Array, columns: &[&Array]) -> Vec<Words> {
    let shape = places.shape();
    let length = shape.axes()[shape.rank() - 1].max(1);
    let mut order: Vec<usize> = (0..shape.elements()).collect();
    for row in 0..shape.elements() {
        let place = places.words().get(row) as usize;
        if place < length {
            order[row / length * length + place] = row;
        }
    }
    columns
        .iter()
        .map(|array| array.words().pick(order.iter().copied()))
        .collect()
}

pub(super) fn matrix_product(a: &Array, b: &Array) -> Words {
    let (&[batch, m, k], &[_, _, n]) = (a.shape().axes(), b.shape().axes()) else {
        unreachable!("matrices come in batches")
    };
    pair!(a.words(), b.words(), a, b => {
        let mut product = vec![0; batch * m * n];
        for at in 0..batch {
            let (a, b) = (&a[at * m * k..][..m * k], &b[at * k * n..][..k * n]);
            multiply(a, b, n, &mut product[at * m * n..][..m * n]);
        }
        product
    })
}

/// Adds the product of two matrices, the right one with `columns` columns, to a third one.
fn multiply<T: Ring>(a: &[T], b: &[T], columns: usize, to: &mut [T]) {
    if columns == 0 || b.is_empty() {
        return;
    }
    let rows = a.chunks_exact(b.len() / columns);
    for (row, to) in rows.zip(to.chunks_exact_mut(columns)) {
        for (&factor, from) in row.iter().zip(b.chunks_exact(columns)) {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, &from)| *to = factor.mul(from).add(*to));
        }
    }
}

pub(super) fn convolve(shape: &Convolution, filters: &Array, images: &Array) -> Words {
    let [.., len] = Product::Convolution(*shape).lengths();
    let [positions, window] = [shape.output().iter().product(), shape.window()];
    let of_group = shape.filters / shape.groups;
    pair!(filters.words(), images.words(), filters, images => {
        let mut product = vec![0; len];
        let mut unfolded = vec![0; window * positions];
        // As they lie: image by image, and of each group by group.
        let parts = product.chunks_exact_mut((of_group * positions).max(1));
        for (part, to) in parts.enumerate() {
            let (image, group) = (part / shape.groups, part % shape.groups);
            let columns = image * positions..(image + 1) * positions;
            shape.unfold(group, images, columns, &mut unfolded);
            let filters = &filters[group * of_group * window..][..of_group * window];
            multiply(filters, &unfolded, positions, to);
        }
        product
    })
}

pub(super) fn look_up(table: &Array, places: &Array) -> Words {
    let (&[batch, entries, width], &[_, count]) = (table.shape().axes(), places.shape().axes())
    else {
        unreachable!("tables come in batches")
    };
    let codes = (0..batch * count).flat_map(|at| {
        let place = places.words().get(at);
        let entry = usize::try_from(place).ok().filter(|&place| place < entries);
        let first = entry.map(|entry| (at / count * entries + entry) * width);
        (0..width).map(move |column| first.map_or(0, |first| table.words().get(first + column)))
    });
    Words::collect(table.element(), codes)
}
