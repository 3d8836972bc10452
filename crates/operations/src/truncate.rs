//! Quotients by powers of two that two parties compute of their shares alone.

use std::fmt;
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{
    Bill, Element, Held, Local, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;

use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::protocol::Protocol;
use crate::shared::{in_sharing, only, plain_quotients, ring_of, width};

/// Signed quotients by 2^by in A between two parties, without a message (Mohassel and Zhang, "SecureML", 2017,
/// section 4.1): each cuts the bits off its own share, party 1 off the share's negative.
///
/// A result is the quotient rounded down, or 1 more. With a chance of at most 2^(k + 1 - l) it is wrong
/// altogether, by about 2^(l - by), for a number x of l bits with -2^k <= x < 2^k: when the shares' sum wraps
/// around where x itself does not say so. That holds however x came to be shared, even if it is public: a
/// sharing of 0, of a generator that the two have in common, is added first. Which of the two neighbours comes out depends on the bits that are cut
/// off and on the shares, so that a party that sees a result learns something of these bits.
#[derive(Debug)]
pub struct TruncateLocally {
    by: usize,
}

impl TruncateLocally {
    /// By 2^by.
    pub const fn new(by: usize) -> Self {
        Self { by }
    }

    /// Cuts bits off the sum of x and a sharing of 0.
    fn of<T: Held>(&self, x: &Shares, zero: &Shares, me: Party) -> Shares {
        let mask = u128::MAX >> (128 - T::BITS);
        let share = |(x, zero): (&T, &T)| {
            let x = x.add(*zero).to_u128();
            T::from_u128(match me == FIRST {
                true => x >> self.by,
                false => ((x.wrapping_neg() & mask) >> self.by).wrapping_neg() & mask,
            })
        };
        let pairs = x
            .component::<T>(0)
            .iter()
            .zip(zero.component::<T>(0).iter());
        Shares::ring_of(Sharing::A, pairs.map(share).collect::<Vec<T>>())
    }
}

/// Shares of elements in A that each party cuts by itself: without the highest bit and without the lowest ones, as a
/// smaller number. They are no quotients, since carries between shares are lost, which who adds them has to know. Nothing is sent.
///
/// Results are a sharing of floor(x / 2^by), for x as a signed number, less the carry out of the bits that are
/// cut off, and 2^(l - 1 - by) times the carry into the highest bit, and that bit, more. All belong to this very sharing
/// of x, so that its shares are not to be drawn anew between this operation and what finds the carries.
#[derive(Debug)]
pub struct ShiftShares {
    by: usize,
}

impl ShiftShares {
    /// Cuts off `by` bits.
    pub const fn new(by: usize) -> Self {
        Self { by }
    }

    fn of<T: Held>(&self, x: &Shares, sharing: Sharing) -> Shares {
        let shift = |share: &T| share.shl(1).shr(1).shr(self.by);
        let shifted = x.component::<T>(0).iter().map(shift);
        Shares::ring_of(sharing, shifted.collect::<Vec<T>>())
    }
}

impl Local for ShiftShares {
    fn name(&self) -> String {
        format!("shift shares/1 by {}", self.by)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        in_sharing(Sharing::A, value)?;
        match value.element {
            Element::Ring(width) if self.by < width.bits() => Ok(vec![*value]),
            _ => Err(Mismatch::new(format!(
                "{value} cannot be shifted by {}",
                self.by
            ))),
        }
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        2 * inputs[0].bytes() as u64
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        let shifted =
            crate::with_ring!(width(inputs[0].sort()), T => self.of::<T>(inputs[0], Sharing::A));
        Ok(vec![shifted])
    }

    /// Takes the number itself for one party's share, as [`Addends`](crate::Addends) does.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        Ok(vec![
            crate::with_ring!(width(value.sort()), T => self.of::<T>(value, Sharing::PUBLIC)),
        ])
    }
}

/// Who cuts off the share itself.
const FIRST: Party = Party::new(0);

impl fmt::Display for TruncateLocally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "truncate locally/1 by 2^{}", self.by)
    }
}

impl Operation for TruncateLocally {
    fn name(&self) -> String {
        self.to_string()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        in_sharing(Sharing::A, value)?;
        let width = ring_of(value)?;
        if parties != 2 {
            return Err(Mismatch::new(format!("for 2 parties, not {parties}")));
        }
        if self.by >= width.bits() {
            let problem = format!("a shift by {} of {} bits", self.by, width.bits());
            return Err(Mismatch::new(problem));
        }
        Ok(vec![*value])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        ArithmeticGmwTool::share_bill(FIRST, inputs, bill);
        bill.touch(4 * inputs[0].bytes() as u64);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (me, x) = (turn.me(), &inputs[0]);
            let nothing = Shares::zeros(x.sort().shared(Sharing::PUBLIC));
            let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
            let zero = tool.share(FIRST, &[Arc::new(nothing)], stock, None).await?;
            let z = crate::with_ring!(width(x.sort()), T => self.of::<T>(x, &zero[0], me));
            Ok(vec![z])
        })
    }

    /// Rounds down.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![plain_quotients(only(inputs)?, self.by)?])
    }
}
