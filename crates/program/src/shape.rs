//! Shapes of tensors: how long each axis is.

use std::fmt;

/// The most elements of one value: what a length on the wire can say with room to spare.
pub const MAX_ELEMENTS: usize = 1 << 40;

/// The most axes of one value.
pub const MAX_RANK: usize = 8;

/// The lengths of a tensor's axes, the outermost first; without any it is a single element.
///
/// Elements lie row by row: those of the last axis side by side.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The shape of a single element.
    pub const fn scalar() -> Self {
        Self(Vec::new())
    }

    /// A shape whose axes have these lengths, or `None` if it has more than [`MAX_ELEMENTS`] elements or
    /// [`MAX_RANK`] axes.
    pub fn checked(axes: &[usize]) -> Option<Self> {
        let mut elements = 1_usize;
        for &axis in axes {
            // An empty axis does not excuse another that is too long.
            elements = elements.checked_mul(axis.max(1))?;
        }
        (elements <= MAX_ELEMENTS && axes.len() <= MAX_RANK).then(|| Self(axes.to_vec()))
    }

    /// A shape that is known to be one.
    pub(crate) fn of(axes: Vec<usize>) -> Self {
        Self(axes)
    }

    /// The length of each axis.
    pub fn axes(&self) -> &[usize] {
        &self.0
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.0.iter().product()
    }

    /// Distances, in elements, from one step along each axis to the next.
    pub(crate) fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.0[axis];
        }
        strides
    }

    /// The axes before `axis`, itself, and those after it, as three lengths: the tensor as one of three
    /// axes.
    pub(crate) fn around(&self, axis: usize) -> [usize; 3] {
        let (before, from) = self.0.split_at(axis);
        [before.iter().product(), from[0], from[1..].iter().product()]
    }

    /// The shape without one axis.
    pub(crate) fn without(&self, axis: usize) -> Self {
        let mut axes = self.0.clone();
        axes.remove(axis);
        Self(axes)
    }

    /// Changes the length of one axis.
    pub(crate) fn with(&self, axis: usize, length: usize) -> Option<Self> {
        let mut axes = self.0.clone();
        axes[axis] = length;
        Self::checked(&axes)
    }

    /// The shape that two shapes become when they meet in an operator, as in NumPy: axes are compared from the last
    /// one on, one that is missing or has length 1 takes the other's length.
    pub(crate) fn broadcast(&self, other: &Self) -> Option<Self> {
        let rank = self.rank().max(other.rank());
        let length = |shape: &Self, axis: usize| match (axis + shape.rank()).checked_sub(rank) {
            Some(at) => shape.0[at],
            None => 1,
        };
        let mut axes = Vec::with_capacity(rank);
        for axis in 0..rank {
            axes.push(match (length(self, axis), length(other, axis)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return None,
            });
        }
        Self::checked(&axes)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A shape, as it can be given: `()`, a length, an array or a slice of lengths.
pub trait IntoShape {
    /// The lengths of the axes.
    fn axes(&self) -> Vec<usize>;
}

impl IntoShape for () {
    fn axes(&self) -> Vec<usize> {
        Vec::new()
    }
}

impl IntoShape for usize {
    fn axes(&self) -> Vec<usize> {
        vec![*self]
    }
}

impl<const N: usize> IntoShape for [usize; N] {
    fn axes(&self) -> Vec<usize> {
        self.to_vec()
    }
}

impl IntoShape for &[usize] {
    fn axes(&self) -> Vec<usize> {
        self.to_vec()
    }
}

impl IntoShape for Vec<usize> {
    fn axes(&self) -> Vec<usize> {
        self.clone()
    }
}

impl IntoShape for &Shape {
    fn axes(&self) -> Vec<usize> {
        self.0.clone()
    }
}

/// A rule where each element of a tensor comes from in another one's elements: element (i, j, ...) is number
/// `offset + i * strides[0] + j * strides[1] + ...` there.
///
/// Transposed, reversed, sliced and repeated tensors all are such views.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View {
    /// The lengths of the view's axes.
    pub shape: Shape,
    /// Distances, in elements, from one step along each axis to the next.
    pub strides: Vec<isize>,
    /// The first element.
    pub offset: usize,
}

impl View {
    /// The tensor as it is.
    pub(crate) fn whole(shape: &Shape) -> Self {
        Self {
            shape: shape.clone(),
            strides: shape.strides().iter().map(|&by| by as isize).collect(),
            offset: 0,
        }
    }

    /// A tensor repeated along the axes that it lacks or has with length 1.
    pub(crate) fn broadcast(from: &Shape, to: &Shape) -> Self {
        let missing = to.rank() - from.rank();
        let mut strides = vec![0; to.rank()];
        for (axis, &stride) in from.strides().iter().enumerate() {
            if from.axes()[axis] == to.axes()[missing + axis] {
                strides[missing + axis] = stride as isize;
            }
        }
        Self {
            shape: to.clone(),
            strides,
            offset: 0,
        }
    }

    /// Whether it shows the elements `0..` in their order.
    pub(crate) fn is_prefix(&self) -> bool {
        let shape = self.shape.axes().iter().zip(self.shape.strides());
        let mut axes = self.strides.iter().zip(shape);
        self.offset == 0
            && axes.all(|(&stride, (&axis, whole))| axis <= 1 || stride == whole as isize)
    }

    /// The greatest number of an element that is shown, or `None` if none is or one is below 0.
    pub(crate) fn last(&self) -> Option<usize> {
        if self.shape.elements() == 0 {
            return None;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (&axis, &stride) in self.shape.axes().iter().zip(&self.strides) {
            let reach = (axis as isize - 1).checked_mul(stride)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        (low >= 0).then_some(high as usize)
    }

    /// Calls `run` with the place and the step of each run of elements along the last axis, in order, and
    /// how many they are.
    pub(crate) fn runs(&self, mut run: impl FnMut(usize, isize, usize)) {
        let Some((&length, outer)) = self.shape.axes().split_last() else {
            return run(self.offset, 1, 1);
        };
        if self.shape.elements() == 0 {
            return;
        }
        let step = self.strides[outer.len()];
        let mut index = vec![0; outer.len()];
        loop {
            let steps = index.iter().zip(&self.strides);
            let from = steps.fold(self.offset as isize, |at, (&index, &stride)| {
                at + index as isize * stride
            });
            run(from as usize, step, length);
            let mut axis = outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                if index[axis] < outer[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }

    /// The number of each element, in order.
    pub fn indices(&self) -> Vec<usize> {
        let mut indices = Vec::with_capacity(self.shape.elements());
        self.runs(|from, step, length| {
            indices.extend((0..length as isize).map(|at| (from as isize + at * step) as usize));
        });
        indices
    }
}
