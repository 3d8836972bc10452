//! Between ring elements and bits: in A with B, in alpha with beta, and within R.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::Ring;
use madrigal_correlations::Width;
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;
use madrigal_protocols::planes;

use crate::protocol::{Rings, Step};
use crate::ring::width;
use crate::shared::{finish_step, in_sharing, only, prepare_step};

/// Elements become several Boolean numbers that add up to them, or of which the first is the sum of the
/// element and the others; a circuit that adds these, fused with what follows, ends the conversion.
pub struct Addends<P> {
    parties: usize,
    negated: bool,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> Addends<P> {
    /// Among so many parties; all but the first number negated, if so.
    pub const fn new(parties: usize, negated: bool) -> Self {
        Self {
            parties,
            negated,
            protocol: PhantomData,
        }
    }

    const fn step(&self) -> Step {
        let negated = self.negated;
        Step::Addends { negated }
    }
}

impl<P: Rings> Operation for Addends<P> {
    fn name(&self) -> String {
        let how = if self.negated { ", negated" } else { "" };
        format!("addends/2 from {} to {}{how}", P::SHARING, P::BITS)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        in_sharing(P::SHARING, value)?;
        P::holds(value.element, parties)?;
        let Element::Ring(width) = value.element else {
            return Err(Mismatch::new(format!("{value} is not of a ring")));
        };
        if parties != self.parties {
            let own = self.parties;
            return Err(Mismatch::new(format!("for {own} parties, not {parties}")));
        }
        let sort = Sort::new(P::BITS, Element::Bits(width.bits()), value.len);
        Ok(vec![sort; P::addend_count(parties)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        crate::with_ring!(width(&inputs[0]), T => P::addends_bill::<T>(len, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[0].sort());
            prepare_step::<P>(turn, width, self.step(), &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if let Some(kept) = turn.kept() {
                let all: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
                return finish_step::<P>(turn, width(inputs[0].sort()), self.step(), &all, kept)
                    .await;
            }
            let (tool, _) = turn.tool::<P>()?;
            let x = &inputs[0];
            crate::with_ring!(width(x.sort()), T => tool.addends::<T>(x, self.negated).await)
        })
    }

    /// The number itself, and zeros: they add up to it.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        let width = width(value.sort());
        let sort = Sort::new(Sharing::PUBLIC, Element::Bits(width.bits()), value.len());
        let mut all = vec![Shares::zeros(sort); P::addend_count(self.parties)];
        let stride = all[0].shape().stride * 8;
        crate::with_ring!(width, T => {
            planes::split(value.component::<T>(0), all[0].plane_bytes_mut(), stride);
        });
        Ok(all)
    }
}

/// Bits become the elements whose lowest bits they are; the others are zeros, or copies of the highest one
/// if they are signed numbers.
pub struct Compose<P> {
    width: Width,
    signed: bool,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> Compose<P> {
    /// Of this ring.
    pub const fn new(width: Width, signed: bool) -> Self {
        Self {
            width,
            signed,
            protocol: PhantomData,
        }
    }

    /// The elements with these bits, taken as unsigned.
    async fn composed(&self, turn: &mut Turn<'_>, planes: &Shares) -> Result<Shares> {
        if let Some(kept) = turn.kept() {
            let inputs = [planes];
            let made = finish_step::<P>(turn, self.width, Step::Compose, &inputs, kept);
            return Ok(made.await?.remove(0));
        }
        let (tool, stock) = turn.tool::<P>()?;
        crate::with_ring!(self.width, T => tool.compose::<T>(stock, planes).await)
    }

    fn sign(&self, sort: &Sort) -> Option<usize> {
        sign_of(self.width, self.signed, sort)
    }
}

/// The place of the sign where a signed number has fewer bits than the ring.
pub(super) fn sign_of(width: Width, signed: bool, sort: &Sort) -> Option<usize> {
    let planes = sort.element.bits();
    (signed && (1..width.bits()).contains(&planes)).then(|| planes - 1)
}

/// What numbers of this ring are that bits in another sharing become.
pub(super) fn composed_sort(
    from: Sharing,
    to: Sharing,
    value: &Sort,
    width: Width,
) -> Result<Sort, Mismatch> {
    in_sharing(from, value)?;
    let element = Element::Ring(width);
    match value.element {
        Element::Bits(bits) if bits <= width.bits() => Ok(Sort::new(to, element, value.len)),
        _ => Err(Mismatch::new(format!("{value} does not fit {element}"))),
    }
}

impl<P: Rings> Operation for Compose<P> {
    fn name(&self) -> String {
        let bits = self.width.bits();
        let how = if self.signed { "signed" } else { "unsigned" };
        format!(
            "compose/1 from {} to u{bits} in {}, {how}",
            P::BITS,
            P::SHARING
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        P::holds(Element::Ring(self.width), parties)?;
        let sort = composed_sort(P::BITS, P::SHARING, only(inputs)?, self.width);
        sort.map(|sort| vec![sort])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        2 * inputs[0].element.bits() * self.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (planes, len) = (inputs[0].element.bits(), inputs[0].len);
        crate::with_ring!(self.width, T => P::compose_bill::<T>(planes, len, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = self.width;
            prepare_step::<P>(turn, width, Step::Compose, &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let leads = P::leads(turn.me());
            let Some(sign) = self.sign(inputs[0].sort()) else {
                return Ok(vec![self.composed(turn, &inputs[0]).await?]);
            };
            // With its highest bit flipped, the number is as much larger as that bit counts.
            let mut planes = Shares::clone(&inputs[0]);
            let components = 0..P::SHARING.components();
            for component in components.clone().filter(|&component| leads[component]) {
                madrigal_kernels::not_into(planes.plane_mut(sign, component));
            }
            let mut z = self.composed(turn, &planes).await?;
            crate::with_ring!(self.width, T => {
                let more = <T as Ring>::ONE.shl(sign);
                for component in components.filter(|&component| leads[component]) {
                    let elements = z.component_mut::<T>(component).iter_mut();
                    elements.for_each(|z| *z = z.sub(more));
                }
            });
            Ok(vec![z])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        Ok(vec![
            crate::with_ring!(self.width, T => joined::<T>(value, self.sign(value.sort()))),
        ])
    }
}

/// The numbers with these bits, in the clear.
pub(super) fn joined<T: Held>(value: &Shares, sign: Option<usize>) -> Shares {
    let mut z = vec![T::ZERO; value.len()];
    planes::join(value.plane_bytes(), value.shape().stride * 8, &mut z);
    if let Some(sign) = sign {
        for z in &mut z {
            *z = z.sub(T::from_u128(z.bit(sign).into()).shl(sign).shl(1));
        }
    }
    Shares::ring_of(Sharing::PUBLIC, z)
}

/// Bits times elements.
pub struct BitTimes<P>(PhantomData<fn() -> P>);

impl<P: Rings> BitTimes<P> {
    /// Of any ring.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: Rings> Default for BitTimes<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Rings> Operation for BitTimes<P> {
    fn name(&self) -> String {
        format!("bit-times/1 in {}", P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [bits, value] = inputs else {
            return Err(Mismatch::new("bits and elements wanted"));
        };
        in_sharing(P::BITS, bits)?;
        in_sharing(P::SHARING, value)?;
        P::holds(value.element, parties)?;
        if bits.element != Element::Bits(1) || matches!(value.element, Element::Bits(_)) {
            return Err(Mismatch::new(format!("{bits} times {value}")));
        }
        Ok(vec![*value])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        8 * inputs[1].element.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[1].len;
        crate::with_ring!(width(&inputs[1]), T => P::bit_times_bill::<T>(len, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[1].sort());
            prepare_step::<P>(turn, width, Step::BitTimes, &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if let Some(kept) = turn.kept() {
                let all: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
                return finish_step::<P>(turn, width(inputs[1].sort()), Step::BitTimes, &all, kept)
                    .await;
            }
            let (tool, stock) = turn.tool::<P>()?;
            let (bits, x) = (&inputs[0], &inputs[1]);
            let z = crate::with_ring!(width(x.sort()), T => {
                tool.bit_times::<T>(stock, bits, x).await
            });
            Ok(vec![z?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (bits, x) = (inputs[0], inputs[1]);
        Ok(vec![crate::with_ring!(width(x.sort()), T => {
            let bit = |i: usize| bits.plane(0, 0)[i / 8] >> (i % 8) & 1;
            let of = |(i, x): (usize, &T)| T::from_u128(bit(i).into()).mul(*x);
            let z: Vec<T> = x.component::<T>(0).iter().enumerate().map(of).collect();
            Shares::ring_of(Sharing::PUBLIC, z)
        })])
    }
}
