//! Protocol alpha in programs: ring elements under masks that come before inputs do.
//!
//! A value consists, before inputs are there, of our shares of its masks (the second component); the public
//! part (the first one) is zeros until then.

mod mul_bits;
mod record;
mod steps;

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing};
use madrigal_correlations::{Stock, Width};
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_kernels::{marks, rings};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::aby2::{self, Aby2};

use crate::aby2::beta::{MASK, PUBLIC, both, drawn, exchange, reveal, tell, two};
use crate::over_shares::OverShares;
use crate::protocol::Protocol;
use crate::shared::{rings_alone, sorts_of, unopened, unpacked, unpacked_or};

pub use mul_bits::MulBits;

/// Elements that are wiped.
type Elements<T> = Zeroizing<Vec<T>>;

/// [`Aby2`] on elements.
pub struct AlphaTool {
    aby2: Aby2,
}

impl Tool for AlphaTool {
    const STEP: &'static str = "alpha";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self {
            aby2: Aby2::new(context)?,
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.aby2.count_in(context);
    }
}

/// The ring of values that have one.
fn width_of(sorts: &[Sort]) -> Option<Width> {
    match sorts.first()?.element {
        Element::Ring(width) => Some(width),
        Element::Bits(_) => unreachable!("alpha has no bits"),
    }
}

fn total(sorts: &[Sort]) -> usize {
    sorts.iter().map(|sort| sort.len).sum()
}

/// Bytes of one component of values.
fn bytes(sorts: &[Sort]) -> usize {
    sorts
        .iter()
        .map(|sort| sort.len * sort.element.bits() / 8)
        .sum()
}

/// One component of all values, one after the other.
fn joined<T: Held>(values: &[Arc<Shares>], component: usize) -> Elements<T> {
    let mut all = Zeroizing::new(Vec::with_capacity(total(&sorts_of(values))));
    let parts = values.iter().map(|value| value.component::<T>(component));
    parts.for_each(|part| all.extend_from_slice(part));
    all
}

/// Values with these public parts and masks.
fn divided<T: Held>(sorts: &[Sort], public: &[T], masks: &[T]) -> Vec<Shares> {
    let mut at = 0;
    let of = |sort: &Sort| {
        let range = at..at + sort.len;
        at = range.end;
        let components = [&public[range.clone()], &masks[range]];
        Shares::ring(
            Sharing::ALPHA,
            components.map(|part| Zeroizing::new(part.to_vec())).into(),
        )
    };
    sorts.iter().map(of).collect()
}

impl AlphaTool {
    /// Our shares of masks: all of them fresh, or those of an input.
    fn draw<T: Held>(&mut self, owner: Option<Party>, count: usize) -> Elements<T> {
        let mut masks = Zeroizing::new(vec![T::ZERO; count]);
        let bytes = rings::as_bytes_mut(&mut masks);
        match owner {
            Some(owner) => self.aby2.draw_input(owner, bytes),
            None => self.aby2.draw(bytes),
        }
        masks
    }

    fn drawn<T: Held>(&mut self, owner: Option<Party>, sorts: &[Sort]) -> Prepared {
        let masks = self.draw::<T>(owner, total(sorts));
        let zeros = vec![T::ZERO; masks.len()];
        Prepared {
            results: divided(sorts, &zeros, &masks),
            kept: Box::new(masks),
        }
    }

    async fn share_ring<T: Held>(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = unpacked_or(prepared, || self.draw::<T>(Some(owner), total(&sorts)))?;
        let own = (owner == self.aby2.me()).then(|| joined::<T>(values, 0));
        let own = own.as_ref().map(|own| &own[..]);
        let public = self.aby2.share_elements(owner, own, &masks).await?;
        Ok(divided(&sorts, &public, &masks))
    }

    async fn mask_ring<T: Held>(
        &mut self,
        values: &[Arc<Shares>],
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = unpacked_or(prepared, || self.draw::<T>(None, total(&sorts)))?;
        let public = self.aby2.mask(&joined::<T>(values, 0), &masks).await?;
        Ok(divided(&sorts, &public, &masks))
    }

    async fn open_ring<T: Held>(
        &mut self,
        values: &[Arc<Shares>],
        kept: PreparedState,
    ) -> Result<Vec<Shares>> {
        let masks = *unpacked::<Option<Elements<T>>>(kept)?;
        let Some(mut all) = masks else {
            return Ok(unopened(&sorts_of(values)));
        };
        rings::add_into(&mut all, &joined::<T>(values, PUBLIC));
        marks::public(all.as_mut_slice());
        let mut rest = &all[..];
        let of = |value: &Arc<Shares>| {
            let own;
            (own, rest) = rest.split_at(value.len());
            Shares::ring_of(Sharing::PUBLIC, own.to_vec())
        };
        Ok(values.iter().map(of).collect())
    }
}

impl Protocol for AlphaTool {
    const SHARING: Sharing = Sharing::ALPHA;
    const PREPARES: bool = true;

    fn holds(element: Element, parties: usize) -> Result<(), Mismatch> {
        two(parties, Sharing::ALPHA)?;
        rings_alone(Sharing::ALPHA, element)
    }

    async fn prepare_share(
        &mut self,
        owner: Party,
        sorts: &[Sort],
        _: &mut Stock,
    ) -> Result<Prepared> {
        let Some(width) = width_of(sorts) else {
            return Ok(crate::shared::prepared_locally(Vec::new()));
        };
        Ok(crate::with_ring!(width, T => self.drawn::<T>(Some(owner), sorts)))
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let Some(width) = width_of(&sorts_of(values)) else {
            return Ok(Vec::new());
        };
        crate::with_ring!(width, T => self.share_ring::<T>(owner, values, prepared).await)
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        drawn([owner], bytes(sorts), bill);
        tell(owner, bytes(sorts), bill);
    }

    async fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
    ) -> Result<Prepared> {
        let sorts = sorts_of(values);
        let Some(width) = width_of(&sorts) else {
            return Ok(crate::shared::prepared_locally(Vec::new()));
        };
        let kept: PreparedState = crate::with_ring!(width, T => {
            Box::new(self.aby2.open_masks(&joined::<T>(values, MASK), to).await?)
        });
        Ok(Prepared {
            results: unopened(&sorts),
            kept,
        })
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let Some(width) = width_of(&sorts_of(values)) else {
            return Ok(Vec::new());
        };
        let kept = match prepared {
            Some(kept) => kept,
            None => self.prepare_open(values, to, stock).await?.kept,
        };
        crate::with_ring!(width, T => self.open_ring::<T>(values, kept).await)
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        let bytes = bytes(sorts);
        bill.ahead(|bill| reveal(bytes, to, bill));
        to.iter().for_each(|&party| bill.keep(party, bytes as u64));
    }

    fn leads(_: Party) -> [bool; 2] {
        [true, false]
    }
}

impl OverShares for AlphaTool {
    const PLAIN: Sharing = Sharing::A;

    fn prepare_values(&mut self, sorts: &[Sort], _: &mut Stock) -> Result<Prepared> {
        Ok(match width_of(sorts) {
            Some(width) => crate::with_ring!(width, T => self.drawn::<T>(None, sorts)),
            None => crate::shared::prepared_locally(Vec::new()),
        })
    }

    async fn to_values(
        &mut self,
        values: &[Arc<Shares>],
        _: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let Some(width) = width_of(&sorts_of(values)) else {
            return Ok(Vec::new());
        };
        crate::with_ring!(width, T => self.mask_ring::<T>(values, prepared).await)
    }

    fn to_values_bill(sorts: &[Sort], bill: &mut Bill) {
        drawn(both(), bytes(sorts), bill);
        exchange(bytes(sorts), bill);
    }

    fn to_share(me: Party, value: &Shares) -> Shares {
        let width = width_of(&[*value.sort()]).expect("there is a value");
        crate::with_ring!(width, T => {
            let mut share = Zeroizing::new(value.component::<T>(MASK).to_vec());
            aby2::unmasked(me, value.component(PUBLIC), &mut share);
            Shares::ring_of(Sharing::A, share)
        })
    }
}
