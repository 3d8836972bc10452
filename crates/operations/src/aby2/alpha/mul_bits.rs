//! Products of bits in beta as elements in alpha.

use std::sync::Arc;

use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_correlations::{Stock, Width};
use madrigal_engine::{
    Bill, Early, Element, Held, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sharing,
    Sort, Turn,
};
use madrigal_kernels::Block;
use madrigal_net::Result;
use madrigal_protocols::aby2::{self, BitPairs};

use super::{AlphaTool, Elements};
use crate::aby2::beta::{Bits, MASK, PUBLIC, both};
use crate::boolean_gmw::pack;
use crate::protocol::Protocol;
use crate::shared::{in_sharing, offset, other_of_two, unpacked};

/// Pairs of bits in beta become their products as elements of a ring in alpha, 0 or 1: one round online, in which
/// each party sends an element for each pair. An AND and a conversion would take two.
///
/// Setup takes three correlated OTs for each pair, which no store and no dealer has, and one round.
#[derive(Debug)]
pub struct MulBits {
    width: Width,
}

/// Kept values: our shares of the results' masks, and what setup made of the bits' masks.
struct MulBitsSetup<T: Held>(Elements<T>, BitPairs<T>);

/// One component of the bits.
fn strings(inputs: &[Arc<Shares>], component: usize) -> [Bits; 2] {
    [0, 1].map(|place| pack(&inputs[place..=place], component))
}

impl MulBits {
    /// Elements of this ring.
    pub const fn new(width: Width) -> Self {
        Self { width }
    }

    async fn ready<T: Held>(
        tool: &mut AlphaTool,
        stock: &mut Stock,
        inputs: &[Arc<Shares>],
        early: &Early<'_>,
    ) -> Result<(MulBitsSetup<T>, Vec<Shares>)> {
        let pairs = inputs[0].len();
        let fresh = tool.draw::<T>(None, pairs);
        let told = early.tell(results(None, fresh.clone()));
        let me = tool.aby2.me();
        let peer = other_of_two(me);
        let offset = offset(stock)?;
        let mut rows = |from: Party, to: Party| -> Result<Zeroizing<Vec<Block>>> {
            let count = aby2::bit_pairs_ots(from, pairs);
            let rows = stock.correlated_ots().take((from, to), count)?;
            Ok(Zeroizing::new(rows.to_vec()))
        };
        let (ours, theirs) = (rows(me, peer)?, rows(peer, me)?);
        let [x, y] = strings(inputs, MASK);
        let made = tool
            .aby2
            .bit_pairs((&offset, &ours, &theirs), [&x, &y], pairs);
        let made = made.await?;
        Ok((MulBitsSetup(fresh, made), told))
    }
}

/// The products, with these public parts, before which they are zeros.
fn results<T: Held>(public: Option<Elements<T>>, masks: Elements<T>) -> Vec<Shares> {
    let zeros = || Zeroizing::new(vec![T::ZERO; masks.len()]);
    let public = public.unwrap_or_else(zeros);
    vec![Shares::ring(Sharing::ALPHA, vec![public, masks])]
}

impl Operation for MulBits {
    fn name(&self) -> String {
        format!("bit-times-bit/1 to u{} in alpha", self.width.bits())
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [x, y] = inputs else {
            return Err(Mismatch::new("two values of bits wanted"));
        };
        for sort in [x, y] {
            in_sharing(Sharing::BETA, sort)?;
        }
        if x.element != Element::Bits(1) || y != x {
            return Err(Mismatch::new(format!("{x} times {y}")));
        }
        let element = Element::Ring(self.width);
        AlphaTool::holds(element, parties)?;
        Ok(vec![Sort::new(Sharing::ALPHA, element, x.len)])
    }

    fn bits_at_work(&self, _: &[Sort]) -> usize {
        // Rows with their hashes, messages, shares of three products and what is made of them.
        3 * 4 * 8 * size_of::<Block>() + 12 * self.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let pairs = inputs[0].len;
        if pairs == 0 {
            return;
        }
        let bytes = self.width.bits() / 8 * pairs;
        let [first, second] = [0, 1].map(Party::new);
        let directions = [(first, second), (second, first)];
        bill.ahead(|bill| {
            for (from, to) in directions {
                let count = aby2::bit_pairs_ots(from, pairs);
                bill.needs().correlated_ots(from, to, count);
                bill.aes(from, aby2::bit_pairs_aes(from, pairs));
                bill.aes(from, aby2::draw_aes(bytes));
            }
            bill.results_known();
            let told = crate::with_ring!(self.width, T => {
                directions.map(|(from, to)| {
                    (from, to, aby2::bit_pairs_bytes::<T>(from, pairs) as u64)
                })
            });
            bill.exchange(&told);
            bill.touch((3 * 4 * size_of::<Block>() * pairs + 12 * bytes) as u64);
        });
        both().for_each(|party| bill.keep(party, 4 * bytes as u64));
        bill.exchange(&directions.map(|(from, to)| (from, to, bytes as u64)));
        bill.touch(8 * bytes as u64);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let early = turn.early();
            let (tool, stock) = turn.tool::<AlphaTool>()?;
            Ok(crate::with_ring!(self.width, T => {
                let (ready, results) = Self::ready::<T>(tool, stock, &inputs, &early).await?;
                Prepared {
                    results,
                    kept: Box::new(ready),
                }
            }))
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let kept = turn.kept();
            let (tool, stock) = turn.tool::<AlphaTool>()?;
            let [x, y] = strings(&inputs, PUBLIC);
            crate::with_ring!(self.width, T => {
                let MulBitsSetup(fresh, pairs) = match kept {
                    Some(kept) => *unpacked::<MulBitsSetup<T>>(kept)?,
                    None => Self::ready::<T>(tool, stock, &inputs, &Early::default()).await?.0,
                };
                let mut z = Zeroizing::new(vec![T::ZERO; fresh.len()]);
                tool.aby2.mul_bits([&x, &y], &pairs, &fresh, &mut z).await?;
                Ok(results(Some(z), fresh))
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let bit = |place: usize, i: usize| inputs[place].plane(0, 0)[i / 8] >> (i % 8) & 1;
        Ok(vec![crate::with_ring!(self.width, T => {
            let of = |i: usize| T::from_u128((bit(0, i) & bit(1, i)).into());
            let z: Vec<T> = (0..inputs[0].len()).map(of).collect();
            Shares::ring_of(Sharing::PUBLIC, z)
        })])
    }
}
