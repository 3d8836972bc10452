//! Between masked sharing and shares that add up: A and alpha, B and beta.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::Party;
use madrigal_engine::{Bill, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_net::Result;

use crate::protocol::{Kept, Protocol};
use crate::shared::{in_sharing, prepared_locally, same_ring};

/// A protocol whose shares are public parts and shares of masks, with the one whose shares add up.
pub trait Masked: Protocol {
    /// Of the same values without masks.
    const PLAIN: Sharing;

    /// Draws masks for values from [`PLAIN`](Self::PLAIN).
    fn prepare_mask(&mut self, sorts: &[Sort]) -> Prepared;

    /// Values from [`PLAIN`](Self::PLAIN), bits or all of one ring, under masks that may have been drawn.
    fn mask(
        &mut self,
        values: &[Arc<Shares>],
        prepared: Option<Kept>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn mask_bill(sorts: &[Sort], bill: &mut Bill);

    /// `me`'s share in [`PLAIN`](Self::PLAIN). No message.
    fn unmask(me: Party, value: &Shares) -> Shares;
}

/// Shares that add up come under masks: from A to alpha, from B to beta. Each party sends as much as the value
/// is long, in one round online; in setup nothing is sent.
pub struct Mask<P>(PhantomData<fn() -> P>);

/// The way back, without a message: from alpha to A, from beta to B.
pub struct Unmask<P>(PhantomData<fn() -> P>);

macro_rules! made_of_nothing {
    ($($name:ident)*) => {$(
        impl<P: Masked> $name<P> {
            /// Of whatever values.
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<P: Masked> Default for $name<P> {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}
made_of_nothing!(Mask Unmask);

fn plain(inputs: &[&Shares]) -> Vec<Shares> {
    inputs.iter().map(|&value| value.clone()).collect()
}

/// Values that all are in `from`, in `to`.
fn converted<P: Masked>(
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

impl<P: Masked> Operation for Mask<P> {
    fn name(&self) -> String {
        format!("convert/1 from {} to {}", P::PLAIN, P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        same_ring(inputs)?;
        converted::<P>(inputs, parties, P::PLAIN, P::SHARING)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        P::mask_bill(inputs, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
            let (tool, _) = turn.tool::<P>()?;
            Ok(tool.prepare_mask(&sorts))
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let prepared = turn.kept();
            let (tool, _) = turn.tool::<P>()?;
            tool.mask(&inputs, prepared).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(plain(inputs))
    }
}

impl<P: Masked> Operation for Unmask<P> {
    fn name(&self) -> String {
        format!("convert/1 from {} to {}", P::SHARING, P::PLAIN)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        converted::<P>(inputs, parties, P::SHARING, P::PLAIN)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(inputs.iter().map(|sort| 2 * sort.bytes() as u64).sum());
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        let me = turn.me();
        let shares = inputs.iter().map(|value| P::unmask(me, value)).collect();
        Box::pin(std::future::ready(Ok(shares)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(plain(inputs))
    }
}

/// What a local operation does ahead: of the masks what it does online of shares.
pub(super) fn locally<'a>(
    results: impl FnOnce() -> Vec<Shares>,
) -> LocalBoxFuture<'a, Result<Prepared>> {
    Box::pin(std::future::ready(Ok(prepared_locally(results()))))
}
