//! From Y to A, without a message online.
//!
//! A bit is `alpha ^ lambda`, its public colour and its mask. All know the colour, and the mask is shared in B
//! before there are inputs: that is when it is opened under a shared bit r, `e = lambda ^ r`. Online all know
//! `t = alpha ^ e`, which is the bit under r, and have its share in A from that of r: `t + r - 2 t r`, as from B.
//! So it costs what B2A does, a shared bit and an opened bit for each bit, but all of it in setup. (MOTION 7.6 masks
//! the number by a random one in a garbled subtraction, and opens that.)
//!
//! Security: what is opened is e, under a bit that nobody knows; with the colour, which is public anyway, it is
//! the t that B2A opens.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::Width;
use madrigal_engine::{Bill, Held, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_garbling::colours;
use madrigal_net::Result;

use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::convert::{composed_sort, joined, sign_of};
use crate::protocol::{Kept, Protocol, Rings};
use crate::shared::{only, unpacked};

/// Bits that all have garbled become the numbers in A whose lowest bits they are, as
/// [`Compose`](crate::Compose) does it: from Y, with no message online.
#[derive(Debug)]
pub struct ComposeKeys {
    width: Width,
    signed: bool,
}

/// The masks under shared bits, opened, plane by plane; and our shares of the latter.
type Opened<T> = (Vec<u8>, Zeroizing<Vec<T>>);

/// Rows of labels of a plane: a key of 0 with our share of the mask, then the active keys, whose colours are alike.
const MASK: usize = 0;
const COLOUR: usize = 1;

/// The lowest bits of a row of labels of each plane, in whole bytes.
fn planes_of(value: &Shares, row: usize) -> Zeroizing<Vec<u8>> {
    let (planes, each) = (value.sort().element.bits(), bits::bytes_for(value.len()));
    let mut all = Zeroizing::new(vec![0; planes * each]);
    for (plane, bits) in all.chunks_exact_mut(each.max(1)).enumerate() {
        colours(value.label_row(plane, row), bits);
    }
    all
}

impl ComposeKeys {
    /// Of this ring; the highest bit counts negative if they are signed.
    pub const fn new(width: Width, signed: bool) -> Self {
        Self { width, signed }
    }

    async fn open<T: Held>(&self, turn: &mut Turn<'_>, value: &Shares) -> Result<Kept> {
        let masks = planes_of(value, MASK);
        let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
        let mut shared = stock.shared_bits::<T>(value.sort().element.bits() * value.len())?;
        let (stride, count) = (bits::bytes_for(value.len()), value.len());
        let r = shared.take(value.sort().element.bits() * count).b;
        let opened = tool.gmw.open_flipped(r, &masks, stride, count).await?;
        let kept: Opened<T> = (opened, Zeroizing::new(r.to_vec()));
        Ok(Box::new(kept))
    }

    fn numbers<T: Held>(&self, turn: &mut Turn<'_>, value: &Shares, kept: Kept) -> Result<Shares> {
        let (mut flips, r) = *unpacked::<Opened<T>>(kept)?;
        madrigal_kernels::xor_into(&mut flips, &planes_of(value, COLOUR));
        let leads = ArithmeticGmwTool::leads(turn.me())[0];
        let sign = sign_of(self.width, self.signed, value.sort());
        if let Some(sign) = sign {
            // With its highest bit flipped, the number is as much larger as that bit counts.
            let each = bits::bytes_for(value.len());
            madrigal_kernels::not_into(&mut flips[sign * each..][..each]);
        }
        let mut z = Zeroizing::new(vec![T::ZERO; value.len()]);
        let (tool, _) = turn.tool::<ArithmeticGmwTool>()?;
        tool.gmw.unflipped(&r, &flips, &mut z);
        if let (Some(sign), true) = (sign, leads) {
            z.iter_mut().for_each(|z| *z = z.sub(T::ONE.shl(sign)));
        }
        Ok(Shares::ring_of(Sharing::A, z))
    }
}

impl Operation for ComposeKeys {
    fn name(&self) -> String {
        let bits = self.width.bits();
        let how = if self.signed { "signed" } else { "unsigned" };
        format!("compose/1 from Y to u{bits} in A, {how}")
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        composed_sort(Sharing::Y, Sharing::A, value, self.width).map(|sort| vec![sort])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        2 * inputs[0].element.bits() * self.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (planes, len) = (inputs[0].element.bits(), inputs[0].len);
        bill.ahead(|bill| {
            crate::with_ring!(self.width, T => ArithmeticGmwTool::compose_bill::<T>(planes, len, bill));
        });
        let kept = planes * (len * self.width.bits() / 8 + bits::bytes_for(len));
        for party in madrigal_core::Party::all(bill.parties()) {
            bill.keep(party, kept as u64);
        }
        bill.touch(2 * inputs[0].bytes() as u64);
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
            let value = &inputs[0];
            let kept = crate::with_ring!(self.width, T => self.open::<T>(turn, value).await?);
            let sort = composed_sort(Sharing::Y, Sharing::A, value.sort(), self.width);
            let sort = sort.map_err(|problem| turn.refuse(&problem))?;
            Ok(Prepared {
                results: vec![Shares::zeros(sort)],
                kept,
            })
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let value = &inputs[0];
            let made = crate::with_ring!(self.width, T => {
                let kept = match turn.kept() {
                    Some(kept) => kept,
                    None => self.open::<T>(turn, value).await?,
                };
                self.numbers::<T>(turn, value, kept)
            });
            Ok(vec![made?])
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
