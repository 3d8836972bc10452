//! From B to A by a random number that a circuit subtracts: the straightforward way (MOTION 7.1, "additive masking"), beside the
//! chosen one, which opens each bit under a random one.
//!
//! Setup has shared bits over Z_2^l, as many as the ring has. A share's lowest bit is a share of the bit in B, and the bits, each
//! times its weight, add up to a number r that is shared in A and in B alike. Online a circuit in B makes `t = x - r`, which
//! is opened; then `x = t + r`, of which all know t. So to the round of the chosen way come those of a subtraction, with its ANDs.
//!
//! Security: r is uniform in the ring and used once, so t tells nothing; the circuit is as any other in B. Shares of the
//! result are those of r, but for the leader's.

use std::sync::Arc;

use madrigal_circuit::{Builder, Goal};
use madrigal_core::{Party, Zeroizing};
use madrigal_correlations::{Kind, Width};
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;

use super::ArithmeticGmwTool;
use crate::boolean_gmw::BooleanGmwTool;
use crate::circuit::Circuit;
use crate::convert::{composed_sort, joined, sign_of};
use crate::protocol::{Boolean, Protocol};
use crate::shared::only;

/// Bits in B become the elements whose lowest bits they are, as [`Compose`](crate::Compose) does it, by a masked
/// subtraction in B, for comparisons: a circuit's rounds and triples more.
#[derive(Debug)]
pub struct ComposeMasked {
    width: Width,
    signed: bool,
    subtraction: Arc<Circuit>,
}

impl ComposeMasked {
    /// Makes elements of this ring; the highest bit counts negative if they are signed. The subtraction takes as few rounds or as
    /// few ANDs as `goal` says.
    pub fn new(width: Width, signed: bool, goal: Goal) -> Self {
        let mut builder = Builder::new("masked").with_goal(goal);
        let [x, r] = [(); 2].map(|()| builder.input(width.bits() as u32));
        let t = builder.sub(&x, &r);
        builder.output(&t);
        Self {
            width,
            signed,
            subtraction: Arc::new(Circuit::new(&builder.finish())),
        }
    }

    fn masked(&self, len: usize) -> Sort {
        Sort::new(Sharing::B, Element::Bits(self.width.bits()), len)
    }

    /// The number's bits, as many as the ring has.
    fn extended(&self, bits: &Shares) -> Shares {
        let mut all = Shares::zeros(self.masked(bits.len()));
        let planes = bits.sort().element.bits();
        let sign = sign_of(self.width, self.signed, bits.sort());
        for plane in 0..self.width.bits() {
            let from = if plane < planes { Some(plane) } else { sign };
            if let Some(from) = from {
                all.plane_mut(plane, 0).copy_from_slice(bits.plane(from, 0));
            }
        }
        all
    }

    /// Takes a random number for each element: our share of it, and of its bits.
    fn random<T: Held>(
        &self,
        turn: &mut Turn<'_>,
        len: usize,
    ) -> Result<(Zeroizing<Vec<T>>, Shares)> {
        let (_, stock) = turn.tool::<ArithmeticGmwTool>()?;
        let all = T::BITS * len;
        let mut shared = stock.shared_bits::<T>(all)?;
        let mut r = Zeroizing::new(vec![T::ZERO; len]);
        let mut bits = Shares::zeros(self.masked(len));
        for (plane, row) in shared.take(all).b.chunks_exact(len.max(1)).enumerate() {
            let to = bits.plane_mut(plane, 0);
            for (lane, (r, bit)) in r.iter_mut().zip(row).enumerate() {
                *r = r.add(bit.shl(plane));
                to[lane / 8] |= bit.bit(0) << (lane % 8);
            }
        }
        Ok((r, bits))
    }

    async fn compose<T: Held>(&self, turn: &mut Turn<'_>, bits: &Shares) -> Result<Vec<Shares>> {
        let (me, parties) = (turn.me(), turn.parties());
        let (mut z, r) = self.random::<T>(turn, bits.len())?;
        let operands = [self.extended(bits), r].map(Arc::new);
        let mut arena = turn.scratch();
        let (tool, stock) = turn.tool::<BooleanGmwTool>()?;
        let made = tool.evaluate(
            &self.subtraction,
            bits.len(),
            &operands,
            &mut arena,
            stock,
            None,
        );
        let made: Vec<_> = made.await?.into_iter().map(Arc::new).collect();
        let everyone: Vec<Party> = Party::all(parties).collect();
        let opened = tool.open(&made, &everyone, stock, None).await?;
        turn.keep_scratch(arena);
        if ArithmeticGmwTool::leads(me)[0] {
            let t = joined::<T>(&opened[0], None);
            let t = t.component::<T>(0).iter();
            z.iter_mut().zip(t).for_each(|(z, t)| *z = z.add(*t));
        }
        Ok(vec![Shares::ring_of(Sharing::A, z)])
    }
}

impl Operation for ComposeMasked {
    fn name(&self) -> String {
        let bits = self.width.bits();
        let how = if self.signed { "signed" } else { "unsigned" };
        let (ands, depth) = (
            self.subtraction.layered().and_count(),
            self.subtraction.layered().depth(),
        );
        format!(
            "compose/1 from B to u{bits} in A, {how}, by a masked subtraction of {ands} ANDs, depth {depth}"
        )
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let sort = composed_sort(Sharing::B, Sharing::A, only(inputs)?, self.width);
        sort.map(|sort| vec![sort])
    }

    fn bits_at_work(&self, _: &[Sort]) -> usize {
        BooleanGmwTool::bits_at_work(&self.subtraction) + self.width.bits() * self.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (len, bits) = (inputs[0].len, self.width.bits());
        bill.needs().add(Kind::SharedBits(self.width), bits * len);
        bill.touch((3 * bits * len * bits / 8) as u64);
        BooleanGmwTool::evaluate_bill(&self.subtraction, len, bill);
        let everyone: Vec<Party> = Party::all(bill.parties()).collect();
        BooleanGmwTool::open_bill(&[self.masked(len)], &everyone, bill);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            crate::with_ring!(self.width, T => self.compose::<T>(turn, &inputs[0]).await)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        let sign = sign_of(self.width, self.signed, value.sort());
        Ok(vec![
            crate::with_ring!(self.width, T => joined::<T>(value, sign)),
        ])
    }
}
