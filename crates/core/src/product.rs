//! Shapes of products that sum up: of matrices, and convolutions as products of matrices.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use zeroize::Zeroize;

use crate::Ring;

/// The sizes of a matrix product: m x k times k x n.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MatrixShape {
    /// m: rows of A and C.
    pub rows: usize,
    /// k: columns of A, rows of B.
    pub inner: usize,
    /// n: columns of B and C.
    pub columns: usize,
}

impl MatrixShape {
    /// Elements of both factors and of the product.
    pub const fn lengths(self) -> [usize; 3] {
        [
            self.rows * self.inner,
            self.inner * self.columns,
            self.rows * self.columns,
        ]
    }
}

/// Sizes of two-dimensional convolutions of a batch of images with the same filters: `out[b, o, r, c]` sums up
/// `images[b, i, r stride + y dilation - padding, c stride + x dilation - padding] filters[o, i, y, x]`, with
/// zeros beyond an image's edge.
///
/// With `groups` > 1, channels and filters are in as many groups of the same size; a filter sees the
/// channels of its own group alone. (What ONNX's operator Conv does; machine learning calls it a convolution
/// though the filter is not mirrored.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Convolution {
    /// Images in the batch.
    pub images: usize,
    /// Groups of channels and filters.
    pub groups: usize,
    /// Channels of an image, of all groups.
    pub channels: usize,
    /// Rows and columns of an image.
    pub image: [usize; 2],
    /// Number of filters in all groups, hence of channels of the output.
    pub filters: usize,
    /// Rows and columns of a filter.
    pub filter: [usize; 2],
    /// Rows and columns by which the filter moves.
    pub stride: [usize; 2],
    /// Distances of the rows and columns of the image that a filter meets.
    pub dilation: [usize; 2],
    /// Rows of zeros above and below, columns of zeros left and right.
    pub padding: [[usize; 2]; 2],
}

impl Convolution {
    /// One image and one group, without padding or dilation, that moves by one.
    pub const fn new(
        channels: usize,
        image: [usize; 2],
        filters: usize,
        filter: [usize; 2],
    ) -> Self {
        Self {
            images: 1,
            groups: 1,
            channels,
            image,
            filters,
            filter,
            stride: [1, 1],
            dilation: [1, 1],
            padding: [[0; 2]; 2],
        }
    }

    /// All its sizes, in the order of its fields.
    pub const fn numbers(&self) -> [usize; 16] {
        let ([image_rows, image_columns], [rows, columns]) = (self.image, self.filter);
        let ([down, right], [apart_down, apart_right]) = (self.stride, self.dilation);
        let [[above, below], [before, after]] = self.padding;
        [
            self.images,
            self.groups,
            self.channels,
            image_rows,
            image_columns,
            self.filters,
            rows,
            columns,
            down,
            right,
            apart_down,
            apart_right,
            above,
            below,
            before,
            after,
        ]
    }

    /// Makes the convolution that has these [`numbers`](Self::numbers).
    pub const fn from_numbers(numbers: [usize; 16]) -> Self {
        let [
            images,
            groups,
            channels,
            image_rows,
            image_columns,
            filters,
            rest @ ..,
        ] = numbers;
        let [
            rows,
            columns,
            down,
            right,
            apart_down,
            apart_right,
            padding @ ..,
        ] = rest;
        let [above, below, before, after] = padding;
        Self {
            images,
            groups,
            channels,
            image: [image_rows, image_columns],
            filters,
            filter: [rows, columns],
            stride: [down, right],
            dilation: [apart_down, apart_right],
            padding: [[above, below], [before, after]],
        }
    }

    /// Rows and columns of an output channel, if there is such a convolution: strides, dilations and groups are not
    /// zero, groups divide channels and filters, and the filter is no larger than the padded image.
    pub fn checked_output(&self) -> Option<[usize; 2]> {
        let divides = |by: usize, all: usize| by > 0 && all.is_multiple_of(by);
        if !divides(self.groups, self.channels) || !divides(self.groups, self.filters) {
            return None;
        }
        let mut output = [0; 2];
        for (axis, length) in output.iter_mut().enumerate() {
            let [before, after] = self.padding[axis];
            let padded = self.image[axis].checked_add(before)?.checked_add(after)?;
            let reach = self.filter[axis].checked_sub(1)?;
            let reach = reach.checked_mul(self.dilation[axis])?;
            if self.dilation[axis] == 0 {
                return None;
            }
            let room = padded.checked_sub(reach.checked_add(1)?)?;
            *length = room.checked_div(self.stride[axis])? + 1;
        }
        Some(output)
    }

    /// Rows and columns of an output channel.
    ///
    /// # Panics
    /// If there is no such convolution; see [`checked_output`](Self::checked_output).
    pub fn output(&self) -> [usize; 2] {
        self.checked_output()
            .unwrap_or_else(|| panic!("{self:?} is no convolution"))
    }

    /// Gives products of matrices, one for each group: the group's filters, row by row, times the elements that each output
    /// sums over, a column for each position of each image.
    ///
    /// # Panics
    /// If there is no such convolution, see [`output`](Self::output).
    pub fn matrices(&self) -> MatrixShape {
        MatrixShape {
            rows: self.filters / self.groups,
            inner: self.window(),
            columns: self.images * self.positions(),
        }
    }

    fn positions(&self) -> usize {
        let [rows, columns] = self.output();
        rows * columns
    }

    /// Elements of a filter, and products per output.
    pub fn window(&self) -> usize {
        self.channels / self.groups * self.filter[0] * self.filter[1]
    }

    /// Elements of filters, images and outputs, if there is such a convolution and they can be counted.
    fn checked_lengths(&self) -> Option<[usize; 3]> {
        let area = |[rows, columns]: [usize; 2]| rows.checked_mul(columns);
        let output = area(self.checked_output()?)?;
        let inputs = self.channels / self.groups;
        Some([
            (self.filters.checked_mul(inputs)?).checked_mul(area(self.filter)?)?,
            (self.images.checked_mul(self.channels)?).checked_mul(area(self.image)?)?,
            (self.images.checked_mul(self.filters)?).checked_mul(output)?,
        ])
    }

    /// Gives the terms of output number `output`: places of filters and images, and only zeros where there is none of an
    /// image.
    ///
    /// # Panics
    /// If there is no such convolution, see [`output`](Self::output).
    pub fn terms(&self, output: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
        let [_, columns] = self.output();
        let (positions, window) = (self.positions(), self.window());
        let (channels, [height, width]) = (self.channels / self.groups, self.filter);
        let (image, filter) = (
            output / positions / self.filters,
            output / positions % self.filters,
        );
        let first = filter / (self.filters / self.groups) * channels;
        let position = output % positions;
        let corner = [position / columns, position % columns];
        (0..window).map(move |at| {
            let offset = [at / width % height, at % width];
            let inside = |axis: usize| {
                let step = corner[axis] * self.stride[axis] + offset[axis] * self.dilation[axis];
                let place = step.checked_sub(self.padding[axis][0])?;
                (place < self.image[axis]).then_some(place)
            };
            let channel = image * self.channels + first + at / (width * height);
            let place = inside(0)
                .zip(inside(1))
                .map(|(row, column)| (channel * self.image[0] + row) * self.image[1] + column);
            (filter * window + at, place)
        })
    }

    /// Writes what the outputs at `columns` sum over, a column for each, of the channels of one group: the right
    /// matrix of [`matrices`](Self::matrices), or a part of it.
    ///
    /// # Panics
    /// In the same cases as [`output`](Self::output), and if a length does not fit.
    pub fn unfold<T: Ring>(
        &self,
        group: usize,
        images: &[T],
        columns: Range<usize>,
        out: &mut [T],
    ) {
        let positions = self.positions();
        assert_eq!(
            out.len(),
            self.window() * columns.len(),
            "a column for each"
        );
        let width = columns.len();
        let mut at = columns.start;
        while at < columns.end {
            let (image, first) = (at / positions, at % positions);
            let count = (positions - first).min(columns.end - at);
            let area = self.image[0] * self.image[1];
            let image = &images[image * self.channels * area..][..self.channels * area];
            let part = at - columns.start..at - columns.start + count;
            self.unfold_image(group, image, first, out, width, part);
            at += count;
        }
    }

    /// Unfolds one image, from position `first` on, into the columns `part` of `out`, whose rows have `width`.
    fn unfold_image<T: Ring>(
        &self,
        group: usize,
        image: &[T],
        first: usize,
        out: &mut [T],
        width: usize,
        part: Range<usize>,
    ) {
        let [image_rows, image_columns] = self.image;
        let [_, output_columns] = self.output();
        let channels = self.channels / self.groups;
        let mut rows = out.chunks_exact_mut(width.max(1));
        for channel in group * channels..(group + 1) * channels {
            let plane =
                &image[channel * image_rows * image_columns..][..image_rows * image_columns];
            for y in 0..self.filter[0] {
                for x in 0..self.filter[1] {
                    let Some(row) = rows.next() else { return };
                    // Above and left of the image places wrap, so that one test is enough.
                    let top = (y * self.dilation[0]).wrapping_sub(self.padding[0][0]);
                    let left = (x * self.dilation[1]).wrapping_sub(self.padding[1][0]);
                    let (mut r, mut c) = (first / output_columns, first % output_columns);
                    let mut rest = &mut row[part.clone()];
                    while !rest.is_empty() {
                        let to;
                        (to, rest) = rest.split_at_mut(rest.len().min(output_columns - c));
                        let from = (r * self.stride[0]).wrapping_add(top);
                        let line = match from < image_rows {
                            true => &plane[from * image_columns..][..image_columns],
                            false => &[],
                        };
                        let mut at = (c * self.stride[1]).wrapping_add(left);
                        for to in to {
                            *to = line.get(at).copied().unwrap_or(T::ZERO);
                            at = at.wrapping_add(self.stride[1]);
                        }
                        (r, c) = (r + 1, 0);
                    }
                }
            }
        }
    }
}

/// Products that sum up, of two operands that lie row by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Product {
    /// Pairs of matrices of one shape, and their number: all left ones, all right ones, all products one after the other.
    Matrices(usize, MatrixShape),
    /// Filters on the left, images on the right.
    Convolution(Convolution),
}

impl Product {
    /// Elements of the left operand, the right operand and the result, if the shape is possible and 2^10 times all its
    /// products of elements can be counted: what is computed from it then does not overflow.
    pub fn checked_lengths(&self) -> Option<[usize; 3]> {
        let lengths = match self {
            Self::Matrices(count, shape) => {
                let of = |m: usize, n: usize| m.checked_mul(n)?.checked_mul(*count);
                [
                    of(shape.rows, shape.inner)?,
                    of(shape.inner, shape.columns)?,
                    of(shape.rows, shape.columns)?,
                ]
            }
            Self::Convolution(convolution) => convolution.checked_lengths()?,
        };
        let (count, shape) = self.pieces();
        let largest = (shape.rows.max(1)).checked_mul(shape.inner.max(1))?;
        let all = largest.checked_mul(shape.columns.max(1))?;
        all.checked_mul(count.max(1))?.checked_mul(1 << 10)?;
        Some(lengths)
    }

    /// Elements of the left operand, the right operand and the result.
    ///
    /// # Panics
    /// Where [`checked_lengths`](Self::checked_lengths) has none.
    pub fn lengths(&self) -> [usize; 3] {
        self.checked_lengths()
            .unwrap_or_else(|| panic!("{self:?} cannot be computed"))
    }

    /// Gives the independent products of matrices of one shape that the product consists of, and their number.
    ///
    /// # Panics
    /// If there is no such convolution, see [`Convolution::output`].
    pub fn pieces(&self) -> (usize, MatrixShape) {
        match self {
            Self::Matrices(count, shape) => (*count, *shape),
            Self::Convolution(convolution) => (convolution.groups, convolution.matrices()),
        }
    }

    /// Gives the number of products that are made together, and one of them: all pairs of matrices, or one convolution.
    pub fn alike(&self) -> (usize, Self) {
        match self {
            Self::Matrices(count, shape) => (*count, Self::Matrices(1, *shape)),
            Self::Convolution(_) => (1, *self),
        }
    }

    /// Products of elements.
    ///
    /// # Panics
    /// In the same cases as [`Convolution::output`].
    pub fn multiplications(&self) -> usize {
        let (count, shape) = self.pieces();
        count * shape.rows * shape.inner * shape.columns
    }

    /// Gives the place of the left matrix of a piece in the left operand.
    pub fn left(&self, piece: usize) -> Range<usize> {
        let [left, ..] = self.pieces().1.lengths();
        piece * left..(piece + 1) * left
    }

    /// The right matrix of a piece: a part of the right operand, or a copy where that is in another order.
    pub fn right<'a, T: Ring + Zeroize>(&self, piece: usize, right: &'a [T]) -> Piece<'a, T> {
        let (_, shape) = self.pieces();
        let [_, len, _] = shape.lengths();
        match self {
            Self::Matrices(..) => right[piece * len..(piece + 1) * len].into(),
            Self::Convolution(convolution) => {
                let mut columns = vec![T::ZERO; len];
                convolution.unfold(piece, right, 0..shape.columns, &mut columns);
                columns.into()
            }
        }
    }

    /// Gives the place in the result where columns `from..` of row `row` of a piece's product begin, and how many of them are
    /// there one after the other.
    pub fn run(&self, piece: usize, row: usize, from: usize) -> (usize, usize) {
        let (_, shape) = self.pieces();
        match self {
            Self::Matrices(..) => (
                (piece * shape.rows + row) * shape.columns + from,
                shape.columns - from,
            ),
            Self::Convolution(convolution) => {
                let positions = convolution.positions();
                let (image, position) = (from / positions, from % positions);
                let filter = piece * shape.rows + row;
                let at = (image * convolution.filters + filter) * positions + position;
                (at, positions - position)
            }
        }
    }

    /// Adds the columns `columns` of a piece's product to the result.
    pub fn add<T: Ring>(&self, piece: usize, columns: Range<usize>, part: &[T], result: &mut [T]) {
        for (row, part) in part.chunks_exact(columns.len().max(1)).enumerate() {
            let mut done = 0;
            while done < part.len() {
                let (at, count) = self.run(piece, row, columns.start + done);
                let count = count.min(part.len() - done);
                let to = &mut result[at..at + count];
                for (to, &term) in to.iter_mut().zip(&part[done..done + count]) {
                    *to = to.add(term);
                }
                done += count;
            }
        }
    }

    /// Takes the columns `columns` of a piece's product from the result, row by row.
    pub fn take<T: Ring>(&self, piece: usize, columns: Range<usize>, result: &[T], part: &mut [T]) {
        for (row, part) in part.chunks_exact_mut(columns.len().max(1)).enumerate() {
            let mut done = 0;
            while done < part.len() {
                let (at, count) = self.run(piece, row, columns.start + done);
                let count = count.min(part.len() - done);
                part[done..done + count].copy_from_slice(&result[at..at + count]);
                done += count;
            }
        }
    }
}

/// A matrix, row by row: where it lies, or a copy in another order, which is wiped.
pub struct Piece<'a, T: Ring + Zeroize>(Cow<'a, [T]>);

impl<'a, T: Ring + Zeroize> From<&'a [T]> for Piece<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Self(Cow::Borrowed(elements))
    }
}

impl<T: Ring + Zeroize> From<Vec<T>> for Piece<'_, T> {
    fn from(copy: Vec<T>) -> Self {
        Self(Cow::Owned(copy))
    }
}

impl<T: Ring + Zeroize> std::ops::Deref for Piece<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ring + Zeroize> Drop for Piece<'_, T> {
    fn drop(&mut self) {
        if let Cow::Owned(copy) = &mut self.0 {
            copy.zeroize();
        }
    }
}

impl fmt::Display for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |[a, b]: [usize; 2]| format!("{a}x{b}");
        let (image, filter) = (by(self.image), by(self.filter));
        let Self {
            images,
            channels,
            filters,
            ..
        } = self;
        write!(f, "{images}x{channels}x{image} with {filters} of {filter}")?;
        let plain = Self::new(*channels, self.image, *filters, self.filter);
        for (what, ours, usual) in [
            ("stride", self.stride, plain.stride),
            ("dilation", self.dilation, plain.dilation),
        ] {
            if ours != usual {
                write!(f, ", {what} {}", by(ours))?;
            }
        }
        if self.padding != plain.padding {
            write!(f, ", padding {:?}", self.padding)?;
        }
        match self.groups {
            1 => Ok(()),
            groups => write!(f, ", {groups} groups"),
        }
    }
}
