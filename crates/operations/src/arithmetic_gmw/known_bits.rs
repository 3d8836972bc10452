//! Bits in B times numbers in A that one party knows.

use std::sync::Arc;

use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{Kind, Width};
use madrigal_engine::{Bill, Element, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn};

use super::ArithmeticGmwTool;
use crate::convert::chosen_of;
use crate::shared::{in_sharing, ring_of, width};

/// Bits that are shared in B times numbers that come clear and are there at their owner alone, element by element; the
/// products are shared in A.
///
/// One round: the owner sends an element for each product to each other party, and every other party a bit to each. Listing
/// 2 of MOTION, for any number of parties.
#[derive(Debug)]
pub struct KnownBitTimes {
    owner: Party,
}

impl KnownBitTimes {
    /// Takes numbers that `owner` knows.
    pub const fn new(owner: Party) -> Self {
        Self { owner }
    }
}

impl Operation for KnownBitTimes {
    fn name(&self) -> String {
        format!("bit-times-known/1 in A, numbers of {}", self.owner)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [bits, value] = inputs else {
            return Err(Mismatch::new("bits and numbers wanted"));
        };
        in_sharing(Sharing::B, bits)?;
        ring_of(value)?;
        let owner = self.owner;
        if owner.index() >= parties || !value.sharing.is_known_to(owner) {
            return Err(Mismatch::new(format!("{owner} does not know {value}")));
        }
        if bits.element != Element::Bits(1) || bits.len != value.len {
            return Err(Mismatch::new(format!("{bits} times {value}")));
        }
        Ok(vec![value.shared(Sharing::A)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (owner, len) = (self.owner, inputs[1].len);
        let parties = bill.parties();
        crate::with_ring!(width(&inputs[1]), T => {
            bill.needs().add(Kind::ChosenNumbers(Width::of::<T>(), owner), len);
            let bytes = |from: Party| match from == owner {
                true => (len * T::BYTES) as u64,
                false => bits::bytes_for(len) as u64,
            };
            let pairs = Party::all(parties)
                .flat_map(|from| from.others(parties).map(move |to| (from, to, bytes(from))));
            bill.exchange(&pairs.collect::<Vec<_>>());
            bill.touch((10 * len * T::BYTES) as u64);
        });
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let ours = turn.me() == self.owner;
            let (bits, value) = (&inputs[0], &inputs[1]);
            let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
            crate::with_ring!(width(value.sort()), T => {
                let mut z = Zeroizing::new(vec![T::ZERO; value.len()]);
                let mut chosen = stock.chosen_numbers::<T>(self.owner, value.len())?;
                let known = ours.then(|| value.component::<T>(0));
                let b = bits.plane(0, 0);
                let made = tool.gmw.bit_times_known(&mut chosen, self.owner, b, known, &mut z);
                made.await?;
                Ok(vec![Shares::ring_of(Sharing::A, z)])
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (bits, value) = (inputs[0], inputs[1]);
        Ok(vec![
            crate::with_ring!(width(value.sort()), T => chosen_of::<T>(bits, value)),
        ])
    }
}
