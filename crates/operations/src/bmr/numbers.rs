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

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_engine::{Bill, Held, Shares, Sharing, Sort, Turn};
use madrigal_garbling::colours;
use madrigal_net::Result;

use super::BmrTool;
use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::garbled::{ComposeGarbled, Garbled, Numbers};
use crate::protocol::{Protocol, RingStep, Rings};

/// Bits that all have garbled become the numbers in A whose lowest bits they are, as
/// [`Compose`](crate::Compose) does it: from Y, with no message online.
pub type ComposeKeys = ComposeGarbled<BmrTool>;

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

impl Garbled for BmrTool {
    type Opened<T: Held> = Opened<T>;

    async fn prepare_numbers<T: Held>(
        turn: &mut Turn<'_>,
        value: &Shares,
        _: Numbers,
    ) -> Result<Opened<T>> {
        let masks = planes_of(value, MASK);
        let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
        let (stride, count) = (bits::bytes_for(value.len()), value.len());
        let all = value.sort().element.bits() * count;
        let mut shared = stock.shared_bits::<T>(all)?;
        let r = shared.take(all).b;
        let opened = tool.gmw.open_flipped(r, &masks, stride, count).await?;
        Ok((opened, Zeroizing::new(r.to_vec())))
    }

    fn to_numbers<T: Held>(
        turn: &mut Turn<'_>,
        value: &Shares,
        numbers: Numbers,
        (mut flips, r): Opened<T>,
    ) -> Result<Shares> {
        madrigal_kernels::xor_into(&mut flips, &planes_of(value, COLOUR));
        let leads = ArithmeticGmwTool::leads(turn.me())[0];
        let sign = numbers.sign(value.sort());
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

    fn numbers_bill<T: Held>(bits: &Sort, _: Numbers, bill: &mut Bill) {
        bill.ahead(|bill| ArithmeticGmwTool::step_bill::<T>(RingStep::Compose, &[*bits], bill));
        let kept =
            bits.element.bits() * (bits.len * T::BYTES + madrigal_core::bits::bytes_for(bits.len));
        for party in Party::all(bill.parties()) {
            bill.keep(party, kept as u64);
        }
        bill.touch(2 * bits.bytes() as u64);
    }
}
