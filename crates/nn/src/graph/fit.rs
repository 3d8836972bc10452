//! Whether shapes and elements fit each other.

use super::Type;
use crate::error::Fault;

/// The shape to which two are broadcast: aligned at the end, and sizes 1 repeated.
pub(crate) fn broadcast(first: &[usize], second: &[usize]) -> Result<Vec<usize>, Fault> {
    let rank = first.len().max(second.len());
    let size = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(own) => shape[own],
        None => 1,
    };
    let sizes = (0..rank).map(|axis| match (size(first, axis), size(second, axis)) {
        (a, b) if a == b || b == 1 => Ok(a),
        (1, b) => Ok(b),
        _ => Err(Fault::Broadcast {
            first: first.to_vec(),
            second: second.to_vec(),
        }),
    });
    sizes.collect()
}

pub(super) fn same(first: &Type, second: &Type) -> Result<(), Fault> {
    let (first, second) = (first.element, second.element);
    match first == second {
        true => Ok(()),
        false => Err(Fault::Elements { first, second }),
    }
}

pub(super) fn too_many(shape: &[usize]) -> Fault {
    Fault::TooLarge {
        shape: shape.to_vec(),
        limit: usize::MAX,
    }
}
