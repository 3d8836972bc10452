//! Shapes of matrix products and convolutions, and of what goes over data as a kernel does.

use super::Type;
use super::fit::{broadcast, same, too_many};
use super::op::Window;
use crate::error::Fault;

impl Window {
    /// Counts the places of the kernel along each dimension of data of this shape.
    pub(crate) fn places(&self, shape: &[usize]) -> Result<Vec<usize>, Fault> {
        let rank = self.kernel.len();
        if shape.len() != rank + 2 || rank == 0 {
            return Err(Fault::shape(
                "data",
                shape,
                format!("{} dimensions", rank + 2),
            ));
        }
        let places = (0..rank).map(|axis| {
            let padded = shape[axis + 2]
                .checked_add(self.before[axis])
                .and_then(|sum| sum.checked_add(self.after[axis]))
                .filter(|sum| isize::try_from(*sum).is_ok())
                .ok_or_else(|| too_many(shape))?;
            let fits = self.extent(axis).and_then(|size| padded.checked_sub(size));
            let fits = fits.filter(|_| self.kernel[axis] > 0);
            let room = fits.ok_or_else(|| {
                let expected = format!("room for a kernel of {:?}", self.kernel);
                Fault::shape("data", shape, expected)
            })?;
            Ok(room / self.strides[axis].max(1) + 1)
        });
        places.collect()
    }

    /// Distance from the first to the last element of the kernel along a dimension.
    pub(crate) fn extent(&self, axis: usize) -> Option<usize> {
        let gaps = self.kernel[axis].saturating_sub(1);
        gaps.checked_mul(self.dilations[axis])?.checked_add(1)
    }
}

/// The shape of a convolution.
pub(super) fn conv(window: &Window, groups: usize, inputs: &[&Type]) -> Result<Vec<usize>, Fault> {
    let (data, weights) = (&inputs[0].shape, &inputs[1].shape);
    same(inputs[0], inputs[1])?;
    let places = window.places(data)?;
    let fits = weights.len() == data.len()
        && groups > 0
        && data[1].is_multiple_of(groups)
        && weights[1] == data[1] / groups
        && weights[0].is_multiple_of(groups)
        && weights[2..] == window.kernel[..];
    if !fits {
        let expected = format!("{groups} groups of the channels of {data:?}, and its kernel");
        return Err(Fault::shape("weights", weights, expected));
    }
    bias(inputs, weights[0])?;
    Ok([&[data[0], weights[0]], &places[..]].concat())
}

/// The shape of a transposed convolution.
pub(super) fn transposed(
    window: &Window,
    extra: &[usize],
    groups: usize,
    inputs: &[&Type],
) -> Result<Vec<usize>, Fault> {
    let (data, weights) = (&inputs[0].shape, &inputs[1].shape);
    same(inputs[0], inputs[1])?;
    let rank = window.kernel.len();
    let fits = data.len() == rank + 2
        && weights.len() == data.len()
        && groups > 0
        && data[1].is_multiple_of(groups)
        && weights[0] == data[1]
        && weights[2..] == window.kernel[..];
    if !fits {
        let expected = format!("the channels of {data:?} in {groups} groups, and its kernel");
        return Err(Fault::shape("weights", weights, expected));
    }
    let channels = weights[1].checked_mul(groups);
    let channels = channels.ok_or_else(|| too_many(weights))?;
    bias(inputs, channels)?;
    let mut shape = vec![data[0], channels];
    for axis in 0..rank {
        let reached = data[axis + 2]
            .saturating_sub(1)
            .checked_mul(window.strides[axis]);
        let reached = reached.and_then(|size| size.checked_add(window.extent(axis)?));
        let reached = reached.and_then(|size| size.checked_add(extra[axis]));
        let taken = window.before[axis].checked_add(window.after[axis]);
        let left = reached.and_then(|size| size.checked_sub(taken?));
        shape.push(
            left.ok_or_else(|| Fault::shape("data", data, "a result larger than its padding"))?,
        );
    }
    Ok(shape)
}

fn bias(inputs: &[&Type], channels: usize) -> Result<(), Fault> {
    let Some(bias) = inputs.get(2) else {
        return Ok(());
    };
    same(inputs[0], bias)?;
    match bias.shape[..] == [channels] {
        true => Ok(()),
        false => Err(Fault::shape("bias", &bias.shape, format!("[{channels}]"))),
    }
}

/// Gives the shape of a product as NumPy's matmul does: vectors are rows on the left and columns on the right, and disappear.
pub(super) fn product(left: &[usize], right: &[usize]) -> Result<Vec<usize>, Fault> {
    let expected = |with: &[usize]| format!("what can be multiplied with {with:?}");
    if left.is_empty() || right.is_empty() {
        let (found, with) = if left.is_empty() {
            (left, right)
        } else {
            (right, left)
        };
        return Err(Fault::shape("operand", found, expected(with)));
    }
    let rows = (left.len() > 1).then(|| left[left.len() - 2]);
    let inner = right[right.len().saturating_sub(2)];
    let columns = (right.len() > 1).then(|| right[right.len() - 1]);
    if left[left.len() - 1] != inner {
        return Err(Fault::shape("operand", left, expected(right)));
    }
    let stack = |shape: &[usize]| shape[..shape.len().saturating_sub(2)].to_vec();
    let mut shape = broadcast(&stack(left), &stack(right))?;
    shape.extend(rows);
    shape.extend(columns);
    Ok(shape)
}
