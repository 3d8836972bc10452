//! From Y2 to A.

use madrigal_engine::{Bill, Held, Shares, Sharing, Sort, Turn};
use madrigal_kernels::Block;
use madrigal_net::Result;
use madrigal_protocols::yao::{self, EVALUATOR, GARBLER, Planes, Projected};

use super::{Garbling, HalfGates, YaoTool};
use crate::garbled::{ComposeGarbled, Garbled, Numbers};

/// Garbled bits become the numbers in A whose lowest bits they are, as [`Compose`](crate::Compose) does it:
/// from Y2, with a message of the garbler's alone.
pub type ComposeLabels<G = HalfGates> = ComposeGarbled<YaoTool<G>>;

/// Tells the protocol of bits.
fn planes(bits: &Sort, numbers: Numbers) -> Planes {
    Planes {
        planes: bits.element.bits(),
        count: bits.len,
        signed: numbers.signed,
    }
}

impl<G: Garbling> Garbled for YaoTool<G> {
    type Opened<T: Held> = Projected<T>;

    async fn prepare_numbers<T: Held>(
        turn: &mut Turn<'_>,
        bits: &Shares,
        numbers: Numbers,
    ) -> Result<Projected<T>> {
        let (tool, stock) = turn.tool::<Self>()?;
        let offset = tool.offset(stock)?;
        let labels = match tool.yao.garbles() {
            true => bits.only_labels(),
            false => &[],
        };
        let planes = planes(bits.sort(), numbers);
        tool.yao.project::<T>(&offset, planes, labels).await
    }

    fn to_numbers<T: Held>(
        turn: &mut Turn<'_>,
        bits: &Shares,
        _: Numbers,
        projected: Projected<T>,
    ) -> Result<Shares> {
        let (tool, _) = turn.tool::<Self>()?;
        let labels = match tool.yao.garbles() {
            true => &[],
            false => bits.only_labels(),
        };
        let numbers = tool.yao.numbers(projected, labels)?;
        Ok(Shares::ring_of(Sharing::A, numbers))
    }

    fn numbers_bill<T: Held>(bits: &Sort, numbers: Numbers, bill: &mut Bill) {
        let planes = planes(bits, numbers);
        let bytes = planes.table_bytes::<T>() as u64;
        let [told, _] = yao::numbers_aes(planes, GARBLER);
        let [_, read] = yao::numbers_aes(planes, EVALUATOR);
        bill.ahead(|bill| {
            bill.aes(GARBLER, told);
            if bytes > 0 {
                bill.exchange(&[(GARBLER, EVALUATOR, bytes)]);
            }
        });
        bill.aes(EVALUATOR, read);
        bill.keep(GARBLER, (T::BYTES * planes.count) as u64);
        bill.keep(EVALUATOR, bytes);
        bill.touch((planes.labels() * size_of::<Block>()) as u64 + bytes);
    }
}
