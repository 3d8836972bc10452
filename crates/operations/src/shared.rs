//! Helpers of the operations of several protocols: checks of sorts, rows of bits, and what was prepared.

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_correlations::{Stock, Width};
use madrigal_engine::{Element, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};

/// Takes what an operation kept of its preparation.
pub(crate) fn unpacked<K: 'static>(kept: PreparedState) -> Result<Box<K>> {
    kept.downcast()
        .map_err(|_| Error::bug("something else was prepared"))
}

/// Takes what was prepared, if anything was, else makes it.
pub(crate) fn unpacked_or<K: 'static>(
    kept: Option<PreparedState>,
    make: impl FnOnce() -> K,
) -> Result<K> {
    kept.map_or_else(|| Ok(make()), |kept| unpacked::<K>(kept).map(|kept| *kept))
}

/// Copies the job's offset of labels.
pub(crate) fn offset(stock: &Stock) -> Result<Zeroizing<Block>> {
    let offset = stock.offset();
    let offset = offset.ok_or_else(|| Error::bug("labels without an offset"))?;
    Ok(Zeroizing::new(*offset))
}

/// Prepared part of a local operation, which keeps nothing.
pub(crate) fn prepared_locally(results: Vec<Shares>) -> Prepared {
    Prepared {
        results,
        kept: Box::new(()),
    }
}

/// Checks that values are all bits, or all of one ring: they can share a message.
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

/// Checks that a value is in this sharing.
pub(crate) fn in_sharing(sharing: Sharing, sort: &Sort) -> std::result::Result<(), Mismatch> {
    if sort.sharing == sharing {
        return Ok(());
    }
    let problem = format!("a value in {sharing} wanted, {sort} given; convert it first");
    Err(Mismatch::new(problem))
}

/// Checks that a protocol of bits has values of this element.
pub(crate) fn bits_alone(sharing: Sharing, element: Element) -> std::result::Result<(), Mismatch> {
    match element {
        Element::Bits(_) => Ok(()),
        Element::Ring(_) => Err(Mismatch::new(format!(
            "{sharing} has bits, and no {element}"
        ))),
    }
}

/// Checks that a protocol of ring elements has values of this element.
pub(crate) fn rings_alone(sharing: Sharing, element: Element) -> std::result::Result<(), Mismatch> {
    match element {
        Element::Ring(_) => Ok(()),
        Element::Bits(_) => Err(Mismatch::new(format!(
            "{sharing} has elements of rings, and no {element}"
        ))),
    }
}

/// The ring of a value that must have one.
pub(crate) fn ring_of(value: &Sort) -> std::result::Result<Width, Mismatch> {
    match value.element {
        Element::Ring(width) => Ok(width),
        Element::Bits(_) => Err(Mismatch::new(format!("{value} is not of a ring"))),
    }
}

/// The ring of a value that was checked to have one.
pub(crate) fn width(value: &Sort) -> Width {
    ring_of(value).expect("checked by sorts")
}

/// The sorts of values.
pub(crate) fn sorts_of(values: &[Arc<Shares>]) -> Vec<Sort> {
    values.iter().map(|value| *value.sort()).collect()
}

/// Opened values, at a party that does not know them, or not yet.
pub(crate) fn unopened(sorts: &[Sort]) -> Vec<Shares> {
    let sorts = sorts.iter().map(|sort| sort.shared(Sharing::PUBLIC));
    sorts.map(Shares::unknown).collect()
}

/// The other one of two parties.
pub(crate) const fn other_of_two(party: Party) -> Party {
    Party::new(1 - party.index())
}

/// Signed quotients of clear numbers by 2^`by`, rounded down.
pub(crate) fn plain_quotients(value: &Shares, by: usize) -> std::result::Result<Shares, Mismatch> {
    let width = ring_of(value.sort())?;
    let shift = 128 - width.bits();
    Ok(crate::with_ring!(width, T => {
        let of = |x: &T| {
            let x = (x.to_u128() << shift) as i128 >> shift;
            T::from_u128((x >> by) as u128)
        };
        let z: Vec<T> = value.component::<T>(0).iter().map(of).collect();
        Shares::ring_of(Sharing::PUBLIC, z)
    }))
}

/// The planes of values of one component, a row each.
pub(crate) fn to_rows<'v>(values: impl Iterator<Item = &'v Shares> + Clone, lanes: usize) -> Rows {
    let planes = |value: &'v Shares| (0..value.sort().element.bits()).map(move |p| (value, p));
    let planes = values.flat_map(planes);
    let mut rows = Rows::new(planes.clone().count(), lanes);
    for (row, (value, plane)) in planes.enumerate() {
        rows.row_mut(row).copy_from_slice(value.plane(plane, 0));
    }
    rows
}

/// Values of these sorts, of one component, from rows of their planes.
pub(crate) fn from_rows(sorts: impl IntoIterator<Item = Sort>, rows: &Rows) -> Vec<Shares> {
    let mut next = 0;
    let of = |sort: Sort| {
        let mut value = Shares::zeros(sort);
        for plane in 0..sort.element.bits() {
            value.plane_mut(plane, 0).copy_from_slice(rows.row(next));
            next += 1;
        }
        value
    };
    sorts.into_iter().map(of).collect()
}

/// Sorts of bits, a value for each width.
pub(crate) fn bits_of(widths: &[u32], sharing: Sharing, lanes: usize) -> Vec<Sort> {
    let of = |&width: &u32| Sort::new(sharing, Element::Bits(width as usize), lanes);
    widths.iter().map(of).collect()
}
