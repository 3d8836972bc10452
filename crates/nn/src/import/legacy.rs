//! Imports operators of version 6 that later ones differ from: operands are shaped for version 7.

use super::builder::Builder;
use super::view::{View, axis_of};
use crate::error::Fault;
use crate::graph::ValueId;

/// The inputs of a node of version 6 as version 7 wants them.
pub(super) fn inputs(b: &mut Builder, v: &View<'_>) -> Result<Vec<Option<ValueId>>, Fault> {
    let mut inputs = v.inputs.to_vec();
    match &v.proto.op_type[..] {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "And" | "Or" | "Xor" | "Equal" | "Greater"
        | "Less" => inputs[1..].copy_from_slice(&[Some(second(b, v)?)]),
        "PRelu" => {
            // One slope for each channel, which is the second dimension.
            let (x, slope) = (v.input(0)?, v.input(1)?);
            let rank = b.shape(x).len();
            if let (&[channels], 3..) = (b.shape(slope), rank)
                && channels > 1
            {
                let shape = [&[channels][..], &vec![1; rank - 2]].concat();
                inputs[1] = Some(b.reshape(slope, shape)?);
            }
        }
        "BatchNormalization" if !v.flag("is_test", false)? => {
            return Err(Fault::attribute(
                "is_test",
                "0",
                "1: export the model for inference",
            ));
        }
        _ => {}
    }
    Ok(inputs)
}

/// The second operand, which is of the first one's shape, or, where `broadcast` says so, of some of its dimensions: the
/// last ones, or those from `axis` on.
fn second(b: &mut Builder, v: &View<'_>) -> Result<ValueId, Fault> {
    let (x, y) = (v.input(0)?, v.input(1)?);
    let (first, second) = (b.shape(x).to_vec(), b.shape(y).to_vec());
    let apart = Fault::Broadcast {
        first: first.clone(),
        second: second.clone(),
    };
    if !v.flag("broadcast", false)? {
        return if first == second { Ok(y) } else { Err(apart) };
    }
    let Some(axis) = v.maybe_int("axis")? else {
        return Ok(y);
    };
    let axis = axis_of(axis, first.len())?;
    let behind = (first.len() - axis)
        .checked_sub(second.len())
        .ok_or(apart)?;
    b.reshape(y, [second, vec![1; behind]].concat())
}
