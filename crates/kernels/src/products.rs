//! Products of matrices and convolutions, band by band: the one place where images are unfolded and what is summed
//! up is put in its place.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use madrigal_core::{Convolution, MatrixShape, Product, Ring, Zeroizing};

use crate::{crew, rings};

/// Products of elements in a band, for each thread at work: some ten milliseconds.
const BAND: usize = 1 << 25;
/// Elements of an unfolded operand that are multiplied at once: they stay in the caches.
const UNFOLDED: usize = 1 << 16;

/// A part of a product: some of its [pieces](Product::pieces), or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    pieces: Range<usize>,
    /// Rows of a pair of matrices; columns of a convolution.
    part: Range<usize>,
}

/// Cuts a product into bands, which follow each other. What is between two of them is the caller's: looking at messages, say.
///
/// # Panics
/// If there is no such product, see [`Product::lengths`].
pub fn bands(product: &Product) -> impl Iterator<Item = Band> + use<> {
    bands_of(product, BAND * crew::threads())
}

pub(crate) fn bands_of(product: &Product, most: usize) -> impl Iterator<Item = Band> + use<> {
    let (count, shape) = product.pieces();
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let (len, line, unit) = match product {
        Product::Matrices(..) => (rows, inner * columns, 1),
        Product::Convolution(_) => (columns, inner * rows, width(shape)),
    };
    let whole = (most / (len * line).max(1)).clamp(1, count.max(1));
    let part = match whole {
        1 => (most / line.max(1))
            .max(1)
            .next_multiple_of(unit)
            .min(len.max(1)),
        _ => len.max(1),
    };
    let parts = len.div_ceil(part).max(1);
    let groups = count.div_ceil(whole);
    (0..groups * parts).map(move |number| {
        let (group, of) = (number / parts, number % parts);
        Band {
            pieces: group * whole..((group + 1) * whole).min(count),
            part: of * part..((of + 1) * part).min(len),
        }
    })
}

/// Columns of a convolution that are unfolded at once.
fn width(shape: MatrixShape) -> usize {
    (UNFOLDED / shape.inner.max(1)).clamp(1, shape.columns.max(1))
}

/// Adds one band of the sum of products of `factors`, the left operand of each first, to `z`. The [crew] at work shares it.
///
/// # Panics
/// If operands or `z` have not the product's [lengths](Product::lengths).
pub fn add_band<T: Ring, const K: usize>(
    product: &Product,
    factors: [(&[T], &[T]); K],
    z: &mut [T],
    band: &Band,
) {
    let [left, right, len] = product.lengths();
    let fit = |(x, y): (&[T], &[T])| x.len() == left && y.len() == right;
    assert!(
        z.len() == len && factors.into_iter().all(fit),
        "operands and result of {product:?}"
    );
    match product {
        Product::Matrices(_, shape) => add_matrices(*shape, factors, z, band),
        Product::Convolution(convolution) => add_convolution(convolution, factors, z, band),
    }
}

/// Adds the sum of products of `factors`, the left operand of each first, to `z`.
///
/// # Panics
/// In the same cases as [`add_band`].
pub fn add_products<T: Ring, const K: usize>(
    product: &Product,
    factors: [(&[T], &[T]); K],
    z: &mut [T],
) {
    bands(product).for_each(|band| add_band(product, factors, z, &band));
}

fn add_matrices<T: Ring, const K: usize>(
    shape: MatrixShape,
    factors: [(&[T], &[T]); K],
    z: &mut [T],
    band: &Band,
) {
    let [left, right, len] = shape.lengths();
    let MatrixShape { inner, columns, .. } = shape;
    if len == 0 {
        return;
    }
    let multiply = |piece: usize, rows: &Range<usize>, z: &mut [T]| {
        for (x, y) in factors {
            let x = &x[piece * left..][rows.start * inner..rows.end * inner];
            rings::multiply_add(x, &y[piece * right..][..right], z, inner, columns);
        }
    };
    let all = &mut z[band.pieces.start * len..band.pieces.end * len];
    match band.pieces.len() {
        1 => multiply(
            band.pieces.start,
            &band.part,
            &mut all[band.part.start * columns..band.part.end * columns],
        ),
        _ => crew::each(
            band.pieces.clone().zip(all.chunks_mut(len)),
            |(piece, z)| {
                multiply(piece, &band.part, z);
            },
        ),
    }
}

fn add_convolution<T: Ring, const K: usize>(
    convolution: &Convolution,
    factors: [(&[T], &[T]); K],
    z: &mut [T],
    band: &Band,
) {
    let product = Product::Convolution(*convolution);
    let (_, shape) = product.pieces();
    let MatrixShape { rows, inner, .. } = shape;
    let each = width(shape);
    // Memory of pieces that are done serves those that follow.
    let spare: Mutex<Vec<[Zeroizing<Vec<T>>; 2]>> = Mutex::default();
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let unfold_and_multiply = |(group, columns): (usize, Range<usize>)| {
        let left = spare().pop();
        // Vectors that grow would leave what they had.
        let fresh = || [inner, rows].map(|rows| Zeroizing::new(Vec::with_capacity(rows * each)));
        let [mut unfolded, mut part] = left.unwrap_or_else(fresh);
        unfolded.resize(inner * columns.len(), T::ZERO);
        part.clear();
        part.resize(rows * columns.len(), T::ZERO);
        for (x, y) in factors {
            convolution.unfold(group, y, columns.clone(), &mut unfolded);
            rings::multiply_add(
                &x[product.left(group)],
                &unfolded,
                &mut part,
                inner,
                columns.len(),
            );
        }
        (group, columns, unfolded, part)
    };
    let mut pieces = band.pieces.clone().flat_map(|group| {
        let firsts = band.part.clone().step_by(each);
        firsts.map(move |first| (group, first..(first + each).min(band.part.end)))
    });
    loop {
        // Results lie across each other: as many at a time are added as keep all threads busy.
        let wave: Vec<_> = pieces.by_ref().take(WAVE * crew::threads()).collect();
        if wave.is_empty() {
            return;
        }
        let made = crew::map(wave, unfold_and_multiply);
        let parts: Vec<Part<'_, T>> = made
            .iter()
            .map(|(group, columns, _, part)| (*group, columns.clone(), &part[..]))
            .collect();
        add_parts(convolution, &parts, z);
        let memory = made
            .into_iter()
            .map(|(_, _, unfolded, part)| [unfolded, part]);
        spare().extend(memory);
    }
}

/// Some columns of a group's product.
type Part<'a, T> = (usize, Range<usize>, &'a [T]);

/// Elements that are worth a thread's attention while they are added.
const ADDED: usize = 1 << 14;

/// Adds parts of a convolution's products to its result. The [crew] at work shares the lines of that: all positions of a filter
/// in an image.
fn add_parts<T: Ring>(convolution: &Convolution, parts: &[Part<'_, T>], z: &mut [T]) {
    let product = Product::Convolution(*convolution);
    let elements: usize = parts.iter().map(|(.., part)| part.len()).sum();
    if crew::threads() == 1 || elements < 2 * ADDED {
        for (group, columns, part) in parts {
            product.add(*group, columns.clone(), part, z);
        }
        return;
    }
    let (_, MatrixShape { rows, columns, .. }) = product.pieces();
    let positions = columns / convolution.images;
    let add_line = |line: usize, z: &mut [T]| {
        let (image, filter) = (line / convolution.filters, line % convolution.filters);
        let here = image * positions..(image + 1) * positions;
        for (group, columns, part) in parts {
            let both = columns.start.max(here.start)..columns.end.min(here.end);
            if *group != filter / rows || both.is_empty() {
                continue;
            }
            let row = &part[filter % rows * columns.len()..][..columns.len()];
            let terms = &row[both.start - columns.start..both.end - columns.start];
            let to = &mut z[both.start - here.start..both.end - here.start];
            to.iter_mut()
                .zip(terms)
                .for_each(|(to, &term)| *to = to.add(term));
        }
    };
    crew::each(crew::slices(z, positions, ADDED), |(first, lines)| {
        let lines = (first / positions..).zip(lines.chunks_mut(positions));
        lines.for_each(|(line, z)| add_line(line, z));
    });
}

/// Pieces for each thread between two times that results are added.
const WAVE: usize = 2;
