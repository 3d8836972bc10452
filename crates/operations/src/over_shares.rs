//! Between shares that add up and what protocols make of them: A and alpha, B and beta, B and Y, B and Y2.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Local, Mismatch, Online, Operation, Prepared, PreparedState, Preparing, Shares, Sharing,
    Sort, Turn,
};
use madrigal_net::Result;

use crate::protocol::Protocol;
use crate::shared::{in_sharing, same_ring, sorts_of};

/// A protocol whose values can be made of shares that add up, and become such shares again without a message: one of
/// masks, or of labels.
pub trait OverShares: Protocol {
    /// The sharing of the same values by shares that add up.
    const PLAIN: Sharing;

    /// Draws masks or labels for values in [`PLAIN`](Self::PLAIN).
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn prepare_values(&mut self, sorts: &[Sort], stock: &mut Stock) -> Result<Prepared>;

    /// Makes values of shares in [`PLAIN`](Self::PLAIN), bits or all of one ring, under masks or labels that may have
    /// been drawn.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn to_values(
        &mut self,
        shares: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Adds the cost of [`to_values`](Self::to_values) to a bill.
    fn to_values_bill(sorts: &[Sort], bill: &mut Bill);

    /// Makes `me`'s share in [`PLAIN`](Self::PLAIN) of a value. No message.
    fn to_share(me: Party, value: &Shares) -> Shares;

    /// Counts the bytes that [`to_share`](Self::to_share) reads and writes.
    fn touched(sort: &Sort) -> u64 {
        2 * sort.bytes() as u64
    }
}

/// Shares that add up become values of a protocol over them.
///
/// From A to alpha and from B to beta each party sends as much as the value is long, in one round online; in setup
/// nothing is sent.
pub struct FromShares<P>(PhantomData<fn() -> P>);

/// The way back, without a message.
pub struct ToShares<P>(PhantomData<fn() -> P>);

/// Shares come under masks: from A to alpha, from B to beta.
pub type Mask<P> = FromShares<P>;

/// Masked values become shares, without a message: from alpha to A, from beta to B.
pub type Unmask<P> = ToShares<P>;

macro_rules! made_of_nothing {
    ($($name:ident)*) => {$(
        impl<P: OverShares> $name<P> {
            /// Takes values of any length.
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<P: OverShares> Default for $name<P> {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}
made_of_nothing!(FromShares ToShares);

fn plain(inputs: &[&Shares]) -> Vec<Shares> {
    inputs.iter().map(|&value| value.clone()).collect()
}

/// Values that all are in `from`, in `to`.
fn converted<P: OverShares>(
    inputs: &[Sort],
    parties: usize,
    from: Sharing,
    to: Sharing,
) -> Result<Vec<Sort>, Mismatch> {
    for value in inputs {
        in_sharing(from, value)?;
        P::holds(value.element, parties)?;
    }
    Ok(inputs.iter().map(|value| value.shared(to)).collect())
}

impl<P: OverShares> Operation for FromShares<P> {
    fn name(&self) -> String {
        format!("convert/1 from {} to {}", P::PLAIN, P::name())
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        same_ring(inputs)?;
        converted::<P>(inputs, parties, P::PLAIN, P::SHARING)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        P::to_values_bill(inputs, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let sorts = sorts_of(&inputs);
            let (tool, stock) = turn.tool::<P>()?;
            tool.prepare_values(&sorts, stock)
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let prepared = turn.kept();
            let (tool, stock) = turn.tool::<P>()?;
            tool.to_values(&inputs, stock, prepared).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(plain(inputs))
    }
}

impl<P: OverShares> Local for ToShares<P> {
    fn name(&self) -> String {
        format!("convert/1 from {} to {}", P::SHARING, P::PLAIN)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        converted::<P>(inputs, parties, P::SHARING, P::PLAIN)
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        inputs.iter().map(P::touched).sum()
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        false
    }

    fn shares(&self, inputs: &[&Shares], me: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|value| P::to_share(me, value)).collect())
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(plain(inputs))
    }
}
