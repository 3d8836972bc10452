//! A conversion of one's own: from shared bits of a Gray code, as rotary encoders and other sensors give it, to
//! shared numbers.
//!
//! Bit i of a number is the XOR of all bits of its Gray code from i on. XORs of shared bits need no message, so
//! the conversion takes what [`RingStep::Compose`] takes: one round, a shared random bit for each bit.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal::Ring;
use madrigal::engine::operations::{RingStep, Rings};
use madrigal::engine::{
    Bill, Element, Mismatch, Operation, Shares, Sharing, Sort, Turn, Width, with_ring,
};
use madrigal::net::Result;

/// Gray codes in the sharing of bits that goes with P become numbers in P.
pub struct FromGray<P> {
    width: Width,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> FromGray<P> {
    /// To numbers of this width.
    pub const fn new(width: Width) -> Self {
        Self {
            width,
            protocol: PhantomData,
        }
    }

    /// The planes of the numbers: each is that of the code, plus the one above it.
    fn decoded(codes: &Shares) -> Shares {
        let mut planes = codes.clone();
        let bits = codes.sort().element.bits();
        for plane in (0..bits.saturating_sub(1)).rev() {
            for component in 0..codes.sort().sharing.components() {
                let above = planes.plane(plane + 1, component).to_vec();
                let here = planes.plane_mut(plane, component);
                here.iter_mut()
                    .zip(above)
                    .for_each(|(bit, above)| *bit ^= above);
            }
        }
        planes
    }
}

impl<P: Rings> Operation for FromGray<P> {
    fn name(&self) -> String {
        format!(
            "own/from-gray/1 to u{} in {}",
            self.width.bits(),
            P::SHARING
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        let [codes] = inputs else {
            let got = inputs.len();
            return Err(Mismatch::new(format!("codes wanted, not {got} values")));
        };
        P::holds(Element::Ring(self.width), parties)?;
        match codes.element {
            Element::Bits(bits) if (1..=self.width.bits()).contains(&bits) => {}
            _ => {
                let most = self.width.bits();
                return Err(Mismatch::new(format!(
                    "{codes} is no code of 1 to {most} bits"
                )));
            }
        }
        if codes.sharing != P::BITS {
            return Err(Mismatch::new(format!("{codes} is not in {}", P::BITS)));
        }
        Ok(vec![Sort::new(
            P::SHARING,
            Element::Ring(self.width),
            codes.len,
        )])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        with_ring!(self.width, T => P::step_bill::<T>(RingStep::Compose, inputs, bill));
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let planes = Self::decoded(&inputs[0]);
            let (tool, stock) = turn.tool::<P>()?;
            let step = RingStep::Compose;
            with_ring!(self.width, T => tool.step::<T>(step, &[&planes], stock).await)
        })
    }

    /// By the usual formula, a shift at a time.
    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        let codes = inputs[0];
        let bits = codes.sort().element.bits();
        let number = |at: usize| {
            let bit = |plane: usize| u128::from(codes.plane(plane, 0)[at / 8] >> (at % 8) & 1);
            let mut number = (0..bits).fold(0, |code, plane| code | bit(plane) << plane);
            for shift in [1, 2, 4, 8, 16, 32, 64] {
                number ^= number >> shift;
            }
            number
        };
        let numbers = (0..codes.len()).map(number);
        Ok(vec![with_ring!(self.width, T => {
            let numbers = numbers.map(<T as Ring>::from_u128);
            Shares::ring_of(Sharing::PUBLIC, numbers.collect::<Vec<T>>())
        })])
    }
}
