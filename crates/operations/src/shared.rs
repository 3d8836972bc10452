//! What operations of several protocols have in common: checks of sorts, and what was prepared.

use madrigal_core::Zeroizing;
use madrigal_correlations::Stock;
use madrigal_engine::{Element, Mismatch, Prepared, Shares, Sharing, Sort};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};

use crate::protocol::Kept;

/// Takes what an operation kept of its preparation.
pub(crate) fn unpacked<K: 'static>(kept: Kept) -> Result<Box<K>> {
    kept.downcast()
        .map_err(|_| Error::bug("something else was prepared"))
}

/// Copies the job's offset of labels.
pub(crate) fn offset(stock: &Stock) -> Result<Zeroizing<Block>> {
    let offset = stock.offset();
    let offset = offset.ok_or_else(|| Error::bug("labels without an offset"))?;
    Ok(Zeroizing::new(*offset))
}

/// What a local operation makes of what is known of its inputs before they are there.
pub(crate) fn prepared_locally(results: Vec<Shares>) -> Prepared {
    Prepared {
        results,
        kept: Box::new(()),
    }
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
