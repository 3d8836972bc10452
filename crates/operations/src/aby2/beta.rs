//! Protocol beta in programs: bits under masks that come before inputs do.
//!
//! A value consists, before inputs are there, of our shares of its masks (the second component); the public
//! part (the first one) is zeros until then.

mod circuits;
mod memory;
mod record;

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Element, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::aby2::{self, Aby2};

use crate::boolean_gmw::{opened_bits, pack, string_bits, unpack};
use crate::over_shares::OverShares;
use crate::protocol::Protocol;
use crate::shared::{bits_alone, other_of_two, sorts_of, unopened, unpacked, unpacked_or};
use memory::CircuitMemory;

pub(super) use memory::Bits;

/// The component that both know.
pub(super) const PUBLIC: usize = 0;
/// The component with our share of the mask.
pub(super) const MASK: usize = 1;

/// [`Aby2`] on bits.
pub struct BetaTool {
    aby2: Aby2,
    memory: CircuitMemory,
}

impl Tool for BetaTool {
    const STEP: &'static str = "beta";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self {
            aby2: Aby2::new(context)?,
            memory: CircuitMemory::default(),
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.aby2.count_in(context);
    }
}

/// Checks that there are two parties.
pub(super) fn two(parties: usize, sharing: Sharing) -> Result<(), Mismatch> {
    if parties == aby2::PARTIES {
        return Ok(());
    }
    let other = if sharing == Sharing::BETA { "B" } else { "A" };
    Err(Mismatch::new(format!(
        "{sharing} is for two parties, not {parties}; {other} is for any number"
    )))
}

/// Both send the other one `bytes` bytes, if any.
pub(super) fn exchange(bytes: usize, bill: &mut Bill) {
    if bytes > 0 {
        let [first, second] = [0, 1].map(Party::new);
        let bytes = bytes as u64;
        bill.exchange(&[(first, second, bytes), (second, first, bytes)]);
    }
}

/// Each of `to` gets `bytes` bytes from the other one, if any.
pub(super) fn reveal(bytes: usize, to: &[Party], bill: &mut Bill) {
    let messages = to.iter().map(|&receiver| {
        let sender = other_of_two(receiver);
        (sender, receiver, bytes as u64)
    });
    if bytes > 0 {
        bill.exchange(&messages.collect::<Vec<_>>());
    }
}

/// One of the two tells the other one `bytes` bytes, if any.
pub(super) fn tell(owner: Party, bytes: usize, bill: &mut Bill) {
    reveal(bytes, &[other_of_two(owner)], bill);
}

/// Each keeps `bytes` bytes of masks that it has drawn ahead.
pub(super) fn drawn(who: impl IntoIterator<Item = Party>, bytes: usize, bill: &mut Bill) {
    bill.ahead(|bill| {
        who.into_iter()
            .for_each(|party| bill.aes(party, aby2::draw_aes(bytes)));
    });
    Party::all(aby2::PARTIES).for_each(|party| bill.keep(party, bytes as u64));
}

pub(super) fn both() -> impl Iterator<Item = Party> {
    Party::all(aby2::PARTIES)
}

/// Values with these public parts and masks, packed.
pub(super) fn assembled(sorts: &[Sort], public: &[u8], masks: &[u8]) -> Vec<Shares> {
    let sorts = sorts.iter().map(|sort| sort.shared(Sharing::BETA));
    unpack(sorts, &[public, masks])
}

/// Values with these masks before the public parts are there.
pub(super) fn masked(sorts: &[Sort], masks: &[u8]) -> Vec<Shares> {
    assembled(sorts, &vec![0; masks.len()], masks)
}

impl BetaTool {
    /// Our shares of masks for values: all of them fresh, or those of an input.
    fn draw(&mut self, owner: Option<Party>, sorts: &[Sort]) -> Bits {
        let mut masks = Zeroizing::new(vec![0; bits::bytes_for(string_bits(sorts))]);
        match owner {
            Some(owner) => self.aby2.draw_input(owner, &mut masks),
            None => self.aby2.draw(&mut masks),
        }
        masks
    }

    /// Prepares values under masks that are drawn.
    fn drawn(&mut self, owner: Option<Party>, sorts: &[Sort]) -> Prepared {
        let masks = self.draw(owner, sorts);
        Prepared {
            results: masked(sorts, &masks),
            kept: Box::new(masks),
        }
    }
}

impl Protocol for BetaTool {
    const SHARING: Sharing = Sharing::BETA;
    const PREPARES: bool = true;

    fn holds(element: Element, parties: usize) -> Result<(), Mismatch> {
        two(parties, Sharing::BETA)?;
        bits_alone(Sharing::BETA, element)
    }

    async fn prepare_share(
        &mut self,
        owner: Party,
        sorts: &[Sort],
        _: &mut Stock,
    ) -> Result<Prepared> {
        Ok(self.drawn(Some(owner), sorts))
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = unpacked_or(prepared, || self.draw(Some(owner), &sorts))?;
        let bits = (owner == self.aby2.me()).then(|| pack(values, 0));
        let (count, bits) = (string_bits(&sorts), bits.as_ref().map(|bits| &bits[..]));
        let public = self.aby2.share_bits(owner, bits, &masks, count).await?;
        Ok(assembled(&sorts, &public, &masks))
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        drawn([owner], bytes, bill);
        tell(owner, bytes, bill);
    }

    async fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
    ) -> Result<Prepared> {
        let sorts = sorts_of(values);
        let (masks, count) = (pack(values, MASK), string_bits(&sorts));
        let opened = self.aby2.open_bit_masks(&masks, count, to).await?;
        Ok(Prepared {
            results: unopened(&sorts),
            kept: Box::new(opened),
        })
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let kept = match prepared {
            Some(kept) => kept,
            None => self.prepare_open(values, to, stock).await?.kept,
        };
        let masks = *unpacked::<Option<Bits>>(kept)?;
        let opened = masks.map(|mut bits| {
            kernels::xor_into(&mut bits, &pack(values, PUBLIC));
            marks::public(bits.as_mut_slice());
            bits
        });
        Ok(opened_bits(&sorts_of(values), opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        bill.ahead(|bill| reveal(bytes, to, bill));
        to.iter().for_each(|&party| bill.keep(party, bytes as u64));
    }

    fn leads(_: Party) -> [bool; 2] {
        [true, false]
    }
}

impl OverShares for BetaTool {
    const PLAIN: Sharing = Sharing::B;

    fn prepare_values(&mut self, sorts: &[Sort], _: &mut Stock) -> Result<Prepared> {
        Ok(self.drawn(None, sorts))
    }

    async fn to_values(
        &mut self,
        values: &[Arc<Shares>],
        _: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = unpacked_or(prepared, || self.draw(None, &sorts))?;
        let (share, count) = (pack(values, 0), string_bits(&sorts));
        let public = self.aby2.mask_bits(&share, &masks, count).await?;
        Ok(assembled(&sorts, &public, &masks))
    }

    fn to_values_bill(sorts: &[Sort], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        drawn(both(), bytes, bill);
        exchange(bytes, bill);
    }

    fn to_share(me: Party, value: &Shares) -> Shares {
        let mut share = Shares::zeros(value.sort().shared(Sharing::B));
        for plane in 0..value.sort().element.bits() {
            let to = share.plane_mut(plane, 0);
            to.copy_from_slice(value.plane(plane, MASK));
            aby2::unmasked_bits(me, value.plane(plane, PUBLIC), to);
        }
        share
    }
}
