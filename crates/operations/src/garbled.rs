//! Numbers in A of garbled bits.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::{
    Bill, Held, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;

use crate::convert::{composed_sort, joined, sign_of};
use crate::protocol::Protocol;
use crate::shared::{only, unpacked};

/// The numbers that bits become.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// The ring of the numbers.
    pub width: Width,
    /// Whether the highest bit counts negative.
    pub signed: bool,
}

impl Numbers {
    /// The place of the sign where a signed number has fewer bits than the ring.
    pub(crate) fn sign(self, sort: &Sort) -> Option<usize> {
        sign_of(self.width, self.signed, sort)
    }
}

/// A protocol of garbled bits that become numbers in A.
pub trait Garbled: Protocol {
    /// Results of the work before inputs are there, which are kept.
    type Opened<T: Held>: Send + 'static;

    /// Does of it what can be done before inputs are there.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn prepare_numbers<T: Held>(
        turn: &mut Turn<'_>,
        bits: &Shares,
        numbers: Numbers,
    ) -> impl Future<Output = Result<Self::Opened<T>>>;

    /// Makes our share of the numbers. No message.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn to_numbers<T: Held>(
        turn: &mut Turn<'_>,
        bits: &Shares,
        numbers: Numbers,
        opened: Self::Opened<T>,
    ) -> Result<Shares>;

    /// Adds the cost of it, for numbers of T, to a bill.
    fn numbers_bill<T: Held>(bits: &Sort, numbers: Numbers, bill: &mut Bill);
}

/// Garbled bits become the numbers in A whose lowest bits they are, as [`Compose`](crate::Compose) does it.
pub struct ComposeGarbled<P> {
    numbers: Numbers,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Garbled> ComposeGarbled<P> {
    /// Makes numbers of this ring; the highest bit counts negative if they are signed.
    pub const fn new(width: Width, signed: bool) -> Self {
        Self {
            numbers: Numbers { width, signed },
            protocol: PhantomData,
        }
    }

    fn result(&self, bits: &Sort) -> Result<Sort, Mismatch> {
        composed_sort(P::SHARING, Sharing::A, bits, self.numbers.width)
    }
}

impl<P: Garbled> Operation for ComposeGarbled<P> {
    fn name(&self) -> String {
        let bits = self.numbers.width.bits();
        let how = match self.numbers.signed {
            true => "signed",
            false => "unsigned",
        };
        format!("compose/1 from {} to u{bits} in A, {how}", P::name())
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        self.result(only(inputs)?).map(|sort| vec![sort])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        2 * inputs[0].element.bits() * self.numbers.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let numbers = self.numbers;
        crate::with_ring!(numbers.width, T => P::numbers_bill::<T>(&inputs[0], numbers, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let (bits, numbers) = (&inputs[0], self.numbers);
            let sort = self.result(bits.sort());
            let sort = sort.map_err(|problem| turn.refuse(&problem))?;
            crate::with_ring!(numbers.width, T => Ok(Prepared {
                kept: Box::new(P::prepare_numbers::<T>(turn, bits, numbers).await?),
                results: vec![Shares::zeros(sort)],
            }))
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (bits, numbers) = (&inputs[0], self.numbers);
            crate::with_ring!(numbers.width, T => {
                let opened = match turn.kept() {
                    Some(kept) => *unpacked::<P::Opened<T>>(kept)?,
                    None => P::prepare_numbers::<T>(turn, bits, numbers).await?,
                };
                Ok(vec![P::to_numbers::<T>(turn, bits, numbers, opened)?])
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (bits, numbers) = (only(inputs)?, self.numbers);
        let sign = numbers.sign(bits.sort());
        Ok(vec![
            crate::with_ring!(numbers.width, T => joined::<T>(bits, sign)),
        ])
    }
}
