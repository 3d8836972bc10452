//! Between ring elements and bits: in A with B, in alpha with beta, and within R.

use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::{Element, Held, Mismatch, Shares, Sharing, Sort};
use madrigal_protocols::planes;

use crate::protocol::{RingStep, Rings};
use crate::shared::{in_sharing, only, width};
use crate::stepped::{Described, Stepped};

/// Elements become several Boolean numbers that add up to them, or of which the first is the sum of the
/// element and the others; a circuit that adds these, fused with what follows, ends the conversion.
pub type Addends<P> = Stepped<P, Adding>;

/// Bits become the elements whose lowest bits they are; the others are zeros, or copies of the highest one
/// if they are signed numbers.
pub type Compose<P> = Stepped<P, Composing>;

/// Bits times elements.
pub type BitTimes<P> = Stepped<P, Choosing>;

/// Describes [`Addends`].
#[derive(Debug)]
pub struct Adding {
    parties: usize,
    negated: bool,
}

/// Describes [`Compose`].
#[derive(Debug)]
pub struct Composing {
    width: Width,
    signed: bool,
}

/// Describes [`BitTimes`].
#[derive(Debug, Default)]
pub struct Choosing;

impl<P: Rings> Addends<P> {
    /// Makes the addends among `parties` parties; with `negated`, all but the first are negative.
    pub const fn new(parties: usize, negated: bool) -> Self {
        Self::of(Adding { parties, negated })
    }
}

impl<P: Rings> Compose<P> {
    /// Makes elements of this ring.
    pub const fn new(width: Width, signed: bool) -> Self {
        Self::of(Composing { width, signed })
    }
}

impl<P: Rings> BitTimes<P> {
    /// Takes elements of any ring.
    pub const fn new() -> Self {
        Self::of(Choosing)
    }
}

impl<P: Rings> Described<P> for Adding {
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

    fn step(&self) -> RingStep {
        let negated = self.negated;
        RingStep::Addends { negated }
    }

    /// The number itself, and zeros: they add up to it.
    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        let value = inputs[0];
        let sort = Sort::new(Sharing::PUBLIC, Element::Bits(T::BITS), value.len());
        let mut all = vec![Shares::zeros(sort); P::addend_count(self.parties)];
        let stride = all[0].shape().stride * 8;
        planes::split(value.component::<T>(0), all[0].plane_bytes_mut(), stride);
        all
    }
}

impl Composing {
    fn sign(&self, sort: &Sort) -> Option<usize> {
        sign_of(self.width, self.signed, sort)
    }
}

/// The place of the sign where a signed number has fewer bits than the ring.
pub(super) fn sign_of(width: Width, signed: bool, sort: &Sort) -> Option<usize> {
    let planes = sort.element.bits();
    (signed && (1..width.bits()).contains(&planes)).then(|| planes - 1)
}

/// Sort of the numbers of this ring that bits in another sharing become.
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

impl<P: Rings> Described<P> for Composing {
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

    fn step(&self) -> RingStep {
        RingStep::Compose
    }

    fn width(&self, _: &[Sort]) -> Width {
        self.width
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        vec![joined::<T>(inputs[0], self.sign(inputs[0].sort()))]
    }

    /// Flips the highest bit of a signed number, which is then as much larger as that bit counts.
    fn enter(&self, leads: [bool; 2], mut inputs: Vec<Arc<Shares>>) -> Vec<Arc<Shares>> {
        if let Some(sign) = self.sign(inputs[0].sort()) {
            let planes = Arc::make_mut(&mut inputs[0]);
            let components = 0..P::SHARING.components();
            for component in components.filter(|&component| leads[component]) {
                madrigal_kernels::not_into(planes.plane_mut(sign, component));
            }
        }
        inputs
    }

    fn leave<T: Held>(&self, leads: [bool; 2], inputs: &[Sort], results: &mut [Shares]) {
        let Some(sign) = self.sign(&inputs[0]) else {
            return;
        };
        let more = T::ONE.shl(sign);
        let components = 0..P::SHARING.components();
        for component in components.filter(|&component| leads[component]) {
            let elements = results[0].component_mut::<T>(component).iter_mut();
            elements.for_each(|z| *z = z.sub(more));
        }
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

impl<P: Rings> Described<P> for Choosing {
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

    fn step(&self) -> RingStep {
        RingStep::BitTimes
    }

    fn width(&self, inputs: &[Sort]) -> Width {
        width(&inputs[1])
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        vec![chosen_of::<T>(inputs[0], inputs[1])]
    }
}

/// Bits times numbers, in the clear.
pub(super) fn chosen_of<T: Held>(bits: &Shares, x: &Shares) -> Shares {
    let bit = |i: usize| bits.plane(0, 0)[i / 8] >> (i % 8) & 1;
    let of = |(i, x): (usize, &T)| T::from_u128(bit(i).into()).mul(*x);
    let z: Vec<T> = x.component::<T>(0).iter().enumerate().map(of).collect();
    Shares::ring_of(Sharing::PUBLIC, z)
}
