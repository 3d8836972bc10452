//! Walking over tensors whose elements lie at regular distances: what rearranges and broadcasts.

/// Distances of neighbours along each axis, in elements.
pub(crate) fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// The distances of a tensor that is read as one of shape `to`: none along what is repeated.
pub(crate) fn broadcast_strides(shape: &[usize], to: &[usize]) -> Vec<isize> {
    let own = strides(shape);
    let added = to.len() - shape.len();
    let repeated = |axis: usize| axis < added || (shape[axis - added] == 1 && to[axis] != 1);
    (0..to.len())
        .map(|axis| if repeated(axis) { 0 } else { own[axis - added] })
        .collect()
}

/// Calls `each` with the offsets of `N` operands at all places of `shape`, in order.
pub(crate) fn walk<const N: usize>(
    shape: &[usize],
    strides: [&[isize]; N],
    start: [usize; N],
    mut each: impl FnMut([usize; N]),
) {
    if shape.contains(&0) {
        return;
    }
    let Some((&row, outer)) = shape.split_last() else {
        each(start);
        return;
    };
    let steps = strides.map(|strides| strides[outer.len()]);
    let mut place = vec![0; outer.len()];
    let mut at = start.map(|start| start as isize);
    loop {
        let mut inner = at;
        for _ in 0..row {
            each(inner.map(|offset| offset as usize));
            for (offset, step) in inner.iter_mut().zip(steps) {
                *offset += step;
            }
        }
        // The next row: the last axis that is not at its end moves, those behind it begin again.
        let mut axis = outer.len();
        loop {
            let Some(before) = axis.checked_sub(1) else {
                return;
            };
            axis = before;
            place[axis] += 1;
            for (offset, strides) in at.iter_mut().zip(strides) {
                *offset += strides[axis];
            }
            if place[axis] < outer[axis] {
                break;
            }
            for (offset, strides) in at.iter_mut().zip(strides) {
                *offset -= strides[axis] * outer[axis] as isize;
            }
            place[axis] = 0;
        }
    }
}

/// The elements that a walk over one operand meets.
pub(crate) fn collect<T: Copy>(
    values: &[T],
    shape: &[usize],
    strides: &[isize],
    start: usize,
) -> Vec<T> {
    let mut found = Vec::with_capacity(shape.iter().product());
    walk(shape, [strides], [start], |[at]| found.push(values[at]));
    found
}

/// An index as one for each dimension.
pub(crate) fn split(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut found = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        found[axis] = index % shape[axis];
        index /= shape[axis];
    }
    found
}
