//! Random bits that nobody knows, which the parties draw together.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_engine::{Bill, Element, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn};
use madrigal_net::Result;

use crate::protocol::Protocol;

/// A protocol whose parties draw random bits together.
pub trait Joint: Protocol {
    /// Draws the bits of a value: no party, and no number of parties that the protocol withstands, knows any of them.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network.
    fn joint_bits(&mut self, sort: Sort) -> Result<Shares>;

    /// Adds the cost of that to a bill.
    fn joint_bits_bill(sort: Sort, bill: &mut Bill);
}

/// Draws random bits, without a message.
pub struct JointBits<P> {
    bits: usize,
    len: usize,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Joint> JointBits<P> {
    /// Draws `len` elements of `bits` bits.
    pub const fn new(bits: usize, len: usize) -> Self {
        Self {
            bits,
            len,
            protocol: PhantomData,
        }
    }

    fn sort(&self, sharing: Sharing) -> Sort {
        Sort::new(sharing, Element::Bits(self.bits), self.len)
    }
}

impl<P: Joint> Operation for JointBits<P> {
    fn name(&self) -> String {
        let (bits, len) = (self.bits, self.len);
        format!("joint random bits/1 in {}: {len} times {bits}", P::name())
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        if !inputs.is_empty() {
            return Err(Mismatch::new("random bits are made of nothing"));
        }
        let sort = self.sort(P::SHARING);
        P::holds(sort.element, parties)?;
        Ok(vec![sort])
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, _: &[Sort], bill: &mut Bill) {
        let sort = self.sort(P::SHARING);
        P::joint_bits_bill(sort, bill);
        bill.touch(sort.bytes() as u64);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, _: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (protocol, _) = turn.tool::<P>()?;
            Ok(vec![protocol.joint_bits(self.sort(P::SHARING))?])
        })
    }

    /// Gives zeros: no test could tell one draw from another.
    fn plain(&self, _: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![Shares::zeros(self.sort(Sharing::PUBLIC))])
    }
}
