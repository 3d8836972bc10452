//! The range of payloads.

/// A payload with which sums may not be told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the payload at place {place} is {value}: sums of {items} payloads have 64 bits, so each is from -{most} to {most}; take a \
     coarser unit, or leave out the item"
)]
pub struct PayloadError {
    /// Place in the party's list, counted from 0.
    pub place: usize,
    /// The payload.
    pub value: i64,
    /// Payloads that may be added up: the items of the party that has fewer.
    pub items: u64,
    /// The greatest payload.
    pub most: i64,
}

/// Checks that all sums of `items` payloads, the most that may be in both sets, have 64 bits. Each party does so with its
/// own payloads, before the first message: nobody else can see them.
///
/// # Errors
/// The first payload that is too far from 0.
pub fn check_payloads(payloads: &[i64], items: u64) -> Result<(), PayloadError> {
    let most = i64::try_from(items.max(1)).map_or(0, |items| i64::MAX / items);
    let far = payloads
        .iter()
        .position(|&value| value < -most || value > most);
    far.map_or(Ok(()), |place| {
        Err(PayloadError {
            place,
            value: payloads[place],
            items,
            most,
        })
    })
}
