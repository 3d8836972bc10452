//! What operations of several protocols have in common: checks of sorts, and what was prepared.

use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::{Element, Mismatch, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_net::{Error, Result};

use crate::protocol::{Kept, Rings, Step};

/// What was kept, which an operation finds again.
pub(crate) fn unpacked<K: 'static>(kept: Kept) -> Result<Box<K>> {
    kept.downcast().map_err(|_| Error::Ended {
        reason: "a bug in madrigal: something else was prepared".to_owned(),
    })
}

/// What a local operation makes of what is known of its inputs before they are there.
pub(crate) fn prepared_locally(results: Vec<Shares>) -> Prepared {
    Prepared {
        results,
        kept: Box::new(()),
    }
}

/// Whether local operations are done ahead too: where masks or labels go through them.
pub(crate) fn masks_flow(inputs: &[Sort]) -> bool {
    inputs.iter().any(|sort| sort.sharing.begins_ahead())
}

/// Prepares a step of elements of this ring.
pub(crate) async fn prepare_step<P: Rings>(
    turn: &mut Turn<'_>,
    width: Width,
    step: Step,
    inputs: &[Arc<Shares>],
) -> Result<Prepared> {
    let early = turn.early();
    let (tool, stock) = turn.tool::<P>()?;
    let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
    crate::with_ring!(width, T => tool.prepare_step::<T>(step, &inputs, stock, &early).await)
}

/// The rest of it.
pub(crate) async fn finish_step<P: Rings>(
    turn: &mut Turn<'_>,
    width: Width,
    step: Step,
    inputs: &[&Shares],
    kept: Kept,
) -> Result<Vec<Shares>> {
    let (tool, _) = turn.tool::<P>()?;
    crate::with_ring!(width, T => tool.finish_step::<T>(step, inputs, kept).await)
}

/// That values are all bits, or all of one ring: they can share a message.
pub(crate) fn same_ring(sorts: &[Sort]) -> std::result::Result<(), Mismatch> {
    let ring = |sort: &Sort| match sort.element {
        Element::Bits(_) => None,
        Element::Ring(width) => Some(width),
    };
    if sorts
        .windows(2)
        .any(|pair| ring(&pair[0]) != ring(&pair[1]))
    {
        let problem = "values of several rings, or of rings and bits, in one operation";
        return Err(Mismatch::new(problem));
    }
    Ok(())
}

/// The only input.
pub(crate) fn only<T>(inputs: &[T]) -> std::result::Result<&T, Mismatch> {
    match inputs {
        [one] => Ok(one),
        _ => {
            let got = inputs.len();
            Err(Mismatch::new(format!("one value wanted, {got} given")))
        }
    }
}

/// That a value is in this sharing.
pub(crate) fn in_sharing(sharing: Sharing, sort: &Sort) -> std::result::Result<(), Mismatch> {
    if sort.sharing == sharing {
        return Ok(());
    }
    let problem = format!("a value in {sharing} wanted, {sort} given; convert it first");
    Err(Mismatch::new(problem))
}
