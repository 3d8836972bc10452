//! Replicated ring elements against zero.

use std::fmt;
use std::sync::Arc;

use madrigal_core::{Ring, bits};
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;
use madrigal_protocols::replicated::{BitShares, Depth};

use super::{ReplicatedTool, tally, to_ring};
use crate::shared::{in_sharing, only, ring_of, width};

/// Question that is asked of a ring element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Predicate {
    /// Whether it is less than zero in two's complement: its highest bit.
    Negative,
    /// Whether it is zero.
    Zero,
}

/// A predicate of ring elements, in R: a bit for each. Of the two numbers that add up to an element nothing is
/// computed on bits but a carry, or whether one is the negative of the other, without leaving the protocol.
#[derive(Debug)]
pub struct Test {
    predicate: Predicate,
    depth: Depth,
}

impl Test {
    /// By adders of this depth; whether an element is zero takes a tree at any rate.
    pub const fn new(predicate: Predicate, depth: Depth) -> Self {
        Self { predicate, depth }
    }

    async fn of<T: Held>(&self, tool: &mut ReplicatedTool, x: &Shares) -> Result<Shares> {
        let x = to_ring::<T>(x);
        let rings = tool.rings()?;
        rings.set_depth(Some(self.depth));
        let bits = match self.predicate {
            Predicate::Negative => rings.negative(x).await,
            Predicate::Zero => rings.is_zero(x).await,
        };
        rings.set_depth(None);
        Ok(from_bits(&bits?))
    }
}

/// Rows as planes.
pub(super) fn from_bits(shares: &BitShares) -> Shares {
    let (rows, count) = (shares.rows(), shares.count());
    let mut planes = Shares::zeros(Sort::new(Sharing::R, Element::Bits(rows), count));
    let stride = bits::bytes_for(count);
    for row in 0..rows {
        for (component, bytes) in shares.row(row).into_iter().enumerate() {
            planes.plane_mut(row, component)[..stride].copy_from_slice(bytes);
        }
    }
    planes
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.predicate, self.depth) {
            (Predicate::Negative, Depth::Ripple) => f.write_str("negative/1, ripple"),
            (Predicate::Negative, Depth::Tree) => f.write_str("negative/1, tree"),
            (Predicate::Zero, _) => f.write_str("zero/1"),
        }
    }
}

impl Operation for Test {
    fn name(&self) -> String {
        self.to_string()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        in_sharing(Sharing::R, value)?;
        ring_of(value)?;
        Ok(vec![Sort::new(Sharing::R, Element::Bits(1), value.len)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        crate::with_ring!(width(&inputs[0]), T => tally(bill, |tally| {
            tally.set_depth(Some(self.depth));
            match self.predicate {
                Predicate::Negative => tally.negative::<T>(len),
                Predicate::Zero => tally.is_zero::<T>(len),
            }
        }));
        bill.touch(16 * inputs[0].bytes() as u64);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (tool, _) = turn.tool::<ReplicatedTool>()?;
            let bits = crate::with_ring!(width(inputs[0].sort()), T => self.of::<T>(tool, &inputs[0]).await);
            Ok(vec![bits?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        let sort = Sort::new(Sharing::PUBLIC, Element::Bits(1), value.len());
        let mut planes = Shares::zeros(sort);
        let plane = planes.plane_mut(0, 0);
        crate::with_ring!(ring_of(value.sort())?, T => {
            for (at, x) in value.component::<T>(0).iter().enumerate() {
                let holds = match self.predicate {
                    Predicate::Negative => Ring::bit(*x, <T as Ring>::BITS - 1) == 1,
                    Predicate::Zero => *x == <T as Ring>::ZERO,
                };
                plane[at / 8] |= u8::from(holds) << (at % 8);
            }
        });
        Ok(vec![planes])
    }
}
