//! Keys that rows are sorted by, and their order in the clear.

use std::cmp::Ordering;
use std::fmt;

use madrigal_engine::{Element, Mismatch, Shares, Sort, Width};
use madrigal_protocols::sorting::inverse;

use crate::local::{Layout, Rearrange};
use madrigal_engine::Local;

/// How a key's values are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct KeyOrder {
    /// Whether the highest bit is a sign, in two's complement.
    pub signed: bool,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

impl fmt::Display for KeyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.signed { "i" } else { "u" })?;
        f.write_str(if self.descending { "d" } else { "a" })
    }
}

impl KeyOrder {
    /// Says for each bit of a key, from the lowest on, whether it is inverted, so that keys are in the order of unsigned numbers.
    pub(crate) fn inverted(self, bits: usize) -> impl Iterator<Item = bool> {
        (0..bits).map(move |bit| self.descending ^ (self.signed && bit + 1 == bits))
    }
}

/// Checks the values of a sort: keys of bits, then columns with as many rows.
pub(crate) fn sorts(keys: &[KeyOrder], inputs: &[Sort]) -> Result<(), Mismatch> {
    if keys.is_empty() || inputs.len() < keys.len() {
        return Err(Mismatch::new(format!(
            "a sort by {} keys of {} values",
            keys.len(),
            inputs.len()
        )));
    }
    if let Some(number) = inputs[..keys.len()]
        .iter()
        .find(|value| !matches!(value.element, Element::Bits(_)))
    {
        return Err(Mismatch::new(format!(
            "keys are compared bit by bit, and {number} is no bits; convert it first"
        )));
    }
    same_rows(inputs)
}

/// Checks that all values have one length.
pub(crate) fn same_rows(inputs: &[Sort]) -> Result<(), Mismatch> {
    let rows = inputs.first().map_or(0, |value| value.len);
    match inputs.iter().find(|value| value.len != rows) {
        Some(other) => Err(Mismatch::new(format!(
            "columns of {rows} rows and of {}",
            other.len
        ))),
        None if u32::try_from(rows).is_err() => {
            Err(Mismatch::new(format!("{rows} rows are more than 2^32")))
        }
        None => Ok(()),
    }
}

/// Bits of a row's place.
pub(crate) const PLACE_BITS: usize = u32::BITS as usize;

/// Checks that values are places of rows, numbers of 32 bits or 32 bits each, and columns of these.
pub(crate) fn places_first(inputs: &[Sort]) -> Result<(), Mismatch> {
    match inputs {
        [] => Err(Mismatch::new("no places of rows")),
        [_] => Err(Mismatch::new("no columns to place")),
        [places, ..] => match places.element {
            Element::Ring(Width::W32) | Element::Bits(PLACE_BITS) => same_rows(inputs),
            _ => Err(Mismatch::new(format!(
                "{places} where places of rows are wanted, numbers of 32 bits"
            ))),
        },
    }
}

/// Puts the rows of clear columns at the places that the first value says, which is no result.
pub(crate) fn placed(inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
    let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
    places_first(&sorts)?;
    let order = match sorts[0].element {
        Element::Ring(_) => inverse(inputs[0].component::<u32>(0)),
        Element::Bits(bits) => {
            let bit = |row: usize, plane: usize| {
                u32::from(inputs[0].plane(plane, 0)[row / 8] >> (row % 8) & 1) << plane
            };
            let places = (0..sorts[0].len).map(|row| (0..bits).map(|plane| bit(row, plane)).sum());
            inverse(&places.collect::<Vec<u32>>())
        }
    };
    let Some(order) = order else {
        let problem = "two rows with the same place, or one beyond the last";
        return Err(Mismatch::new(problem));
    };
    moved(&order, &inputs[1..])
}

/// Says why a sort by opened comparisons gave nothing.
pub(crate) fn bad_luck() -> Mismatch {
    Mismatch::new(
        "a sort needed more comparisons than are set aside for it, which happens to \
        fewer than one of a million million sorts: run the program again",
    )
}

/// Sorts clear values.
pub(crate) fn plain(keys: &[KeyOrder], inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
    let rows = inputs[0].len();
    let bit =
        |value: &Shares, plane: usize, row: usize| value.plane(plane, 0)[row / 8] >> (row % 8) & 1;
    let compared = |left: usize, right: usize| {
        for (key, value) in keys.iter().zip(inputs) {
            let planes = value.sort().element.bits();
            let inverted: Vec<bool> = key.inverted(planes).collect();
            for plane in (0..planes).rev() {
                let [left, right] =
                    [left, right].map(|row| (bit(value, plane, row) == 1) ^ inverted[plane]);
                if left != right {
                    return left.cmp(&right);
                }
            }
        }
        Ordering::Equal
    };
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.sort_by(|&left, &right| compared(left as usize, right as usize));
    moved(&order, inputs)
}

/// Puts clear values into an order, which gives the old place of each new row.
pub(crate) fn moved(order: &[u32], inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
    let to = Rearrange::new(Layout::Picked(order.into()));
    let mut moved = Vec::with_capacity(inputs.len());
    for value in inputs {
        moved.extend(to.plain(&[value])?);
    }
    Ok(moved)
}
