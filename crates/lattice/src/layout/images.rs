//! Convolutions of images X by filters Y, without writing out what each output sums over.
//!
//! *Strides.* With stride s, a filter's row y meets row `r s + y d` of the padded image for output row r. All rows that
//! it meets have the *phase* `y d mod s`. So an image becomes one *plane* for each channel and pair of phases that
//! filters have: the plane's pixel (r, c) is the image's (r s + phase, c s + phase), and a filter's element (y, x) is an
//! element of its plane's own, smaller filter, at (y d div s, x d div s). Outputs sum over planes; there is
//! no stride left, nor any dilation, and no pixel that is not needed.
//!
//! *Tiles.* Outputs are cut into tiles of u x v; for those a plane's part of t = (u + K)(v + L) pixels is
//! needed, with K and L the last row and column of a filter. Let O = K (v + L) + L.
//!
//! *Blocks.* A polynomial of X has m images, b planes of each; one of Y has a filters, b planes of each; m a b t <= N.
//! With w = v + L, pixel (r, c) of plane j of image i is the coefficient of X^((i a b + b - 1 - j) t + r w + c); element
//! (y, x) of plane j of filter h that of X^((h b + j) t + O - y w - x). Output (r, c) of image i and filter h is the
//! coefficient of X^(e t + O + r w + c), with e = i a b + h b + b - 1, of their product (*Cheetah* 3.2, with images and
//! tiles beside, and filters counted in units of blocks).
//!
//! *Nothing else lands there.* Another pair of terms has the exponent e' t + f, with e' = i' a b + h' b + b - 1 - j + j'
//! and f = r' w + c' + O - y w - x between 0 and t - 1 + O. The output's own O + r w + c is at least O, and less than t,
//! for a filter at (r, c) lies in the tile. So e' t + f = e t + O + r w + c means e' = e: with f from the block above
//! it would be t + O at least, with one from below negative. Modulo b that is j = j', and then i and h are equal; f
//! says (r' - y - r) w = c - (c' - x), whose right side is less than w either way: both are zero, and the pixel is the
//! one that the filter's element meets. A term that wraps around at X^N = -1 has an exponent of at most
//! (m a b + b - 2) t + t - 1 + O - N < (b - 1) t + O, below every output.

use std::ops::Range;

use madrigal_core::Convolution;

use super::cuts::{Cuts, lengths};
use crate::modulus::N;

/// A way to cut images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Images {
    convolution: Convolution,
    /// Outputs of an image: rows and columns; and of a tile.
    output: [usize; 2],
    tile: [usize; 2],
    /// Phases of rows and of columns.
    phases: [usize; 2],
    /// K and L.
    last: [usize; 2],
    /// m, b, a.
    images: usize,
    planes: usize,
    filters: usize,
}

/// A stripe: which group, images, rows and columns of outputs.
struct Stripe {
    group: usize,
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// Ways to cut outputs into tiles that are tried, beginning with the largest tiles, by rows and by columns.
const TILES: usize = 6;

/// The lengths of pieces that differ in how many of them `size` has, longest first.
fn pieces(size: usize) -> impl Iterator<Item = usize> {
    let mut next = Some(size);
    std::iter::from_fn(move || {
        let each = next?;
        // The longest with more of them.
        let count = size.div_ceil(each);
        next = (each > 1).then(|| {
            let shorter = size.div_ceil(count + 1);
            if shorter < each { shorter } else { each - 1 }
        });
        Some(each)
    })
}

/// Phases of a filter: their number for one of this many rows, and the last row of a plane's.
fn phases(length: usize, dilation: usize, stride: usize) -> [usize; 2] {
    let (mut divisor, mut rest) = (stride, dilation);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let different = stride / divisor;
    [different.min(length), (length - 1) * dilation / stride]
}

impl Images {
    /// Ways to cut a convolution.
    pub(super) fn all(convolution: Convolution) -> impl Iterator<Item = Self> {
        let output = convolution.output();
        let of = |axis: usize| {
            let (dilation, stride) = (convolution.dilation[axis], convolution.stride[axis]);
            phases(convolution.filter[axis], dilation, stride)
        };
        let [rows, columns] = [of(0), of(1)];
        let (phases, last) = ([rows[0], columns[0]], [rows[1], columns[1]]);
        let whole = Self {
            convolution,
            output,
            tile: output,
            phases,
            last,
            images: 1,
            planes: 1,
            filters: 1,
        };
        assert!(
            !output.contains(&0)
                && [convolution.images, convolution.filters, whole.all_planes()]
                    .iter()
                    .all(|&size| size > 0),
            "no convolution is empty"
        );
        let fits = move |size: usize, axis: usize| size.checked_add(last[axis]);
        let widths = pieces(output[1])
            .filter(move |&v| fits(v, 1).is_some_and(|w| w <= N / (1 + last[0]).max(1)));
        let tiles = widths.take(TILES).flat_map(move |v| {
            let tile = move |u| Self {
                tile: [u, v],
                ..whole
            };
            let fit = pieces(output[0])
                .map(tile)
                .filter(|tile| tile.pixels() <= N);
            fit.take(TILES)
        });
        tiles.flat_map(Self::blocks)
    }

    /// Ways to fill polynomials.
    fn blocks(self) -> impl Iterator<Item = Self> {
        let fit = N / self.pixels();
        let most = match self.tile == self.output {
            true => self.convolution.images,
            false => 1,
        };
        let images = pieces(most).filter(move |&images| images <= fit);
        images.flat_map(move |images| {
            let fit = fit / images;
            let planes = pieces(self.all_planes()).filter(move |&planes| planes <= fit);
            planes.map(move |planes| {
                let filters = self.all_filters();
                let most = (fit / planes).min(filters);
                Self {
                    images,
                    planes,
                    // Filters are spread evenly, where that takes no more polynomials.
                    filters: filters.div_ceil(filters.div_ceil(most)),
                    ..self
                }
            })
        })
    }

    /// t.
    fn pixels(&self) -> usize {
        let [u, v] = self.tile;
        let [k, l] = self.last;
        (u + k).saturating_mul(v + l)
    }

    /// Planes of a group.
    fn all_planes(&self) -> usize {
        let Convolution {
            channels, groups, ..
        } = self.convolution;
        channels / groups * self.phases[0] * self.phases[1]
    }

    /// Filters of a group.
    fn all_filters(&self) -> usize {
        self.convolution.filters / self.convolution.groups
    }

    /// Groups, blocks of images, rows and columns of tiles.
    fn counts(&self) -> [usize; 4] {
        let [rows, columns] = [0, 1].map(|axis| self.output[axis].div_ceil(self.tile[axis]));
        let images = self.convolution.images.div_ceil(self.images);
        [self.convolution.groups, images, rows, columns]
    }

    pub(super) fn cuts(&self) -> Cuts {
        let [rows, columns] = self.output;
        let all = [
            self.convolution.images,
            self.convolution.filters,
            rows,
            columns,
        ];
        Cuts {
            stripes: self.counts().iter().product(),
            inner: [self.all_planes(), self.planes],
            columns: [self.all_filters(), self.filters],
            results: all.iter().copied().fold(1, usize::saturating_mul),
        }
    }

    fn stripe(&self, number: usize) -> Stripe {
        let [_, images, rows, columns] = self.counts();
        let part =
            |index: usize, each: usize, all: usize| index * each..all.min((index + 1) * each);
        let (rest, column) = (number / columns, number % columns);
        let (rest, row) = (rest / rows, rest % rows);
        Stripe {
            group: rest / images,
            images: part(rest % images, self.images, self.convolution.images),
            rows: part(row, self.tile[0], self.output[0]),
            columns: part(column, self.tile[1], self.output[1]),
        }
    }

    /// Stripes with different numbers of results, each with the number of its like.
    pub(super) fn kinds(&self) -> Vec<(usize, usize)> {
        let [groups, images, rows, columns] = self.counts();
        // Gives the first piece of each length, and the number of pieces of it.
        let of = |all: usize, each: usize| -> Vec<[usize; 2]> {
            let kinds = lengths(all, each).into_iter();
            let first = |len: usize| if len == each { 0 } else { all / each };
            kinds.map(|(len, times)| [first(len), times]).collect()
        };
        let mut kinds = Vec::new();
        for [image, of_images] in of(self.convolution.images, self.images) {
            for [row, of_rows] in of(self.output[0], self.tile[0]) {
                for [column, of_columns] in of(self.output[1], self.tile[1]) {
                    let stripe = (image * rows + row) * columns + column;
                    debug_assert!(image < images);
                    kinds.push((stripe, groups * of_images * of_rows * of_columns));
                }
            }
        }
        kinds
    }

    /// Results of a stripe for each filter.
    pub(super) fn positions(&self, stripe: usize) -> usize {
        let stripe = self.stripe(stripe);
        stripe.images.len() * stripe.rows.len() * stripe.columns.len()
    }

    /// Elements that a filter has in some planes.
    pub(super) fn terms(&self, planes: Range<usize>) -> usize {
        let of = |plane: usize| {
            let (_, first) = self.plane(plane);
            let along = |axis: usize| {
                (self.convolution.filter[axis] - first[axis]).div_ceil(self.phases[axis])
            };
            along(0) * along(1)
        };
        planes.map(of).sum()
    }

    /// A plane's channel within its group, and the filter's first row and column that have its phases.
    fn plane(&self, plane: usize) -> (usize, [usize; 2]) {
        let [rows, columns] = self.phases;
        let (rest, column) = (plane / columns, plane % columns);
        (rest / rows, [rest % rows, column])
    }

    /// The image's row or column at a place of a plane whose first is `tap` of the filter, if it is not padding.
    fn pixel(&self, axis: usize, tap: usize, place: usize) -> Option<usize> {
        let Convolution {
            stride,
            dilation,
            padding,
            image,
            ..
        } = self.convolution;
        let padded = place * stride[axis] + tap * dilation[axis] % stride[axis];
        let pixel = padded.checked_sub(padding[axis][0])?;
        (pixel < image[axis]).then_some(pixel)
    }

    pub(super) fn left(
        &self,
        stripe: usize,
        inner: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let stripe = self.stripe(stripe);
        let Convolution {
            channels,
            groups,
            image: [height, width],
            ..
        } = self.convolution;
        let ([k, l], w) = (self.last, self.tile[1] + self.last[1]);
        let (a, b, t) = (self.filters, self.planes, self.pixels());
        for (i, image) in stripe.images.enumerate() {
            for (j, plane) in inner.clone().enumerate() {
                let (channel, [y, x]) = self.plane(plane);
                let channel = image * channels + stripe.group * (channels / groups) + channel;
                let first = (i * a * b + b - 1 - j) * t;
                for r in 0..stripe.rows.len() + k {
                    let Some(row) = self.pixel(0, y, stripe.rows.start + r) else {
                        continue;
                    };
                    for c in 0..stripe.columns.len() + l {
                        if let Some(column) = self.pixel(1, x, stripe.columns.start + c) {
                            let place = (channel * height + row) * width + column;
                            tell(place, first + r * w + c);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn right(
        &self,
        stripe: usize,
        inner: Range<usize>,
        columns: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let group = self.stripe(stripe).group;
        let Convolution {
            channels,
            groups,
            filter: [height, width],
            dilation,
            stride,
            ..
        } = self.convolution;
        let ([k, l], w) = (self.last, self.tile[1] + self.last[1]);
        let (b, t) = (self.planes, self.pixels());
        for (h, filter) in columns.enumerate() {
            let filter = (group * self.all_filters() + filter) * (channels / groups);
            for (j, plane) in inner.clone().enumerate() {
                let (channel, [first_row, first_column]) = self.plane(plane);
                let start = (h * b + j) * t + k * w + l;
                for y in (first_row..height).step_by(self.phases[0]) {
                    for x in (first_column..width).step_by(self.phases[1]) {
                        let [row, column] =
                            [y * dilation[0] / stride[0], x * dilation[1] / stride[1]];
                        let place = ((filter + channel) * height + y) * width + x;
                        tell(place, start - row * w - column);
                    }
                }
            }
        }
    }

    pub(super) fn results(
        &self,
        stripe: usize,
        columns: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let stripe = self.stripe(stripe);
        let [height, width] = self.output;
        let ([k, l], w) = (self.last, self.tile[1] + self.last[1]);
        let (a, b, t) = (self.filters, self.planes, self.pixels());
        for (i, image) in stripe.images.enumerate() {
            for (h, filter) in columns.clone().enumerate() {
                let channel = stripe.group * self.all_filters() + filter;
                let channel = image * self.convolution.filters + channel;
                let first = (i * a * b + h * b + b - 1) * t + k * w + l;
                for (r, row) in stripe.rows.clone().enumerate() {
                    for (c, column) in stripe.columns.clone().enumerate() {
                        tell((channel * height + row) * width + column, first + r * w + c);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut;
    use super::*;

    #[test]
    fn pieces_are_those_that_make_a_difference() {
        assert_eq!(pieces(10).collect::<Vec<_>>(), [10, 5, 4, 3, 2, 1]);
        assert_eq!(pieces(1).collect::<Vec<_>>(), [1]);
        for size in 1..200 {
            for each in pieces(size) {
                assert!(cut(0..size, each).count() == size.div_ceil(each));
                assert!(each == 1 || size.div_ceil(each) < size.div_ceil(each - 1));
            }
        }
    }

    #[test]
    fn phases_are_those_that_a_filter_meets() {
        for [length, dilation, stride] in [[3, 1, 2], [7, 1, 2], [3, 2, 2], [4, 2, 3], [1, 1, 5]] {
            let mut met: Vec<usize> = (0..length).map(|y| y * dilation % stride).collect();
            met.sort_unstable();
            met.dedup();
            let [count, _] = phases(length, dilation, stride);
            assert_eq!(count, met.len(), "{length}, {dilation}, {stride}");
        }
    }
}
