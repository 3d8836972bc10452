//! Values as wires that all parties garble: what is known of them before inputs are there, and after.

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{Zeroizing, bits};
use madrigal_engine::{Shares, Sharing, Sort};
use madrigal_garbling::colours;
use madrigal_kernels::Block;
use madrigal_protocols::bmr::{ActiveKeys, WireSetup};

use crate::shared::{sorts_of, to_rows};

/// Values of one length that go through an operation together, with all their planes.
pub(super) fn groups(sorts: &[Sort]) -> Vec<std::ops::Range<usize>> {
    if sorts.windows(2).all(|pair| pair[0].len == pair[1].len) {
        return (!sorts.is_empty())
            .then_some(0..sorts.len())
            .into_iter()
            .collect();
    }
    (0..sorts.len()).map(|value| value..value + 1).collect()
}

/// Planes of all, and elements of each.
pub(super) fn shape_of(sorts: &[Sort]) -> (usize, usize) {
    let rows = sorts.iter().map(|sort| sort.element.bits()).sum();
    (rows, sorts.first().map_or(0, |sort| sort.len))
}

/// A key of 0 with a share of the mask.
pub(super) fn masked(key: Block, mask: bool) -> Block {
    key ^ Block::new(u64::from(mask), 0)
}

pub(super) fn bit(row: &[u8], lane: usize) -> bool {
    row[lane / 8] >> (lane % 8) & 1 == 1
}

/// Values from what is known of their wires: the setup part of each, and the active keys of `parties` parties, of none
/// before there are inputs.
pub(super) fn to_shares<'k>(
    sorts: &[Sort],
    setup: &WireSetup,
    parties: usize,
    active: impl Fn(usize) -> &'k [Block],
) -> Vec<Shares> {
    let mut wire = 0;
    let of = |sort: &Sort| {
        let (planes, len) = (sort.element.bits(), sort.len);
        let mut labels = Zeroizing::new(Vec::with_capacity(planes * (1 + parties) * len));
        for wire in wire..wire + planes {
            let mask = setup.masks().row(wire);
            let keys = setup.zero(wire).iter().enumerate();
            labels.extend(keys.map(|(lane, &key)| masked(key, bit(mask, lane))));
            labels.extend_from_slice(active(wire));
        }
        wire += planes;
        Shares::labels(sort.shared(Sharing::Y), 1 + parties, labels)
    };
    sorts.iter().map(of).collect()
}

/// Values from wires with all their keys.
pub(super) fn active_to_shares(
    sorts: &[Sort],
    setup: &WireSetup,
    active: &ActiveKeys,
) -> Vec<Shares> {
    to_shares(sorts, setup, active.parties(), |wire| active.row(wire))
}

/// Values from wires that have no active keys yet.
pub(super) fn setup_to_shares(sorts: &[Sort], setup: &WireSetup) -> Vec<Shares> {
    to_shares(sorts, setup, 0, |_| &[])
}

/// The planes of values.
pub(super) fn planes(values: &[Arc<Shares>]) -> impl Iterator<Item = (&Shares, usize)> {
    values.iter().flat_map(|value| {
        let planes = value.sort().element.bits();
        (0..planes).map(move |plane| (&**value, plane))
    })
}

/// Setup of the wires of values, as known before inputs were there.
pub(super) fn setup_of(values: &[Arc<Shares>]) -> WireSetup {
    let (rows, lanes) = shape_of(&sorts_of(values));
    let mut setup = WireSetup::new(rows, lanes);
    for (wire, (value, plane)) in planes(values).enumerate() {
        let labels = value.label_row(plane, 0);
        let bytes = bits::bytes_for(lanes);
        colours(labels, &mut setup.masks_mut().row_mut(wire)[..bytes]);
        for (key, &label) in setup.zero_mut(wire).iter_mut().zip(labels) {
            *key = masked(label, label.bit(0));
        }
    }
    setup
}

/// The colours of the wires of values, by the first party's keys.
pub(super) fn colours_of(values: &[Arc<Shares>]) -> Rows {
    let (rows, lanes) = shape_of(&sorts_of(values));
    let bytes = bits::bytes_for(lanes);
    let mut all = Rows::new(rows, lanes);
    for (wire, (value, plane)) in planes(values).enumerate() {
        colours(value.label_row(plane, 1), &mut all.row_mut(wire)[..bytes]);
    }
    all
}

/// The bits of values, a row for each plane; nothing where they are not known.
pub(super) fn rows_of(values: &[Arc<Shares>]) -> Option<Rows> {
    if !values.iter().all(|value| value.is_known()) {
        return None;
    }
    let (_, lanes) = shape_of(&sorts_of(values));
    let mut rows = to_rows(values.iter().map(Arc::as_ref), lanes);
    rows.clear_padding();
    Some(rows)
}
