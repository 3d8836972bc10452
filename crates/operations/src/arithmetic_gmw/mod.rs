//! Arithmetic GMW in programs.

mod known;
mod known_bits;
mod masked;
mod record;

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock, Width};
use madrigal_engine::{
    Bill, Early, Element, Held, Mismatch, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::arithmetic::{self, ArithmeticGmw, InputSharing};

use crate::protocol::{Protocol, RingStep, Rings};
use crate::shared::{rings_alone, width};

pub use known::KnownProduct;
pub use known_bits::KnownBitTimes;
pub use masked::ComposeMasked;

/// [`ArithmeticGmw`] with its inputs.
pub struct ArithmeticGmwTool {
    me: Party,
    pub(super) gmw: ArithmeticGmw,
    /// By the owner's number.
    inputs: Vec<InputSharing>,
}

impl Tool for ArithmeticGmwTool {
    const STEP: &'static str = "arithmetic gmw";

    fn open(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            me: context.me(),
            inputs: InputSharing::of_everyone(&context)?,
            gmw: ArithmeticGmw::new(context, opening)?,
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.gmw.count_in(context);
    }
}

/// Party whose addend is never negated.
const FIRST: Party = Party::new(0);

/// All parties.
fn everyone(bill: &Bill) -> Vec<Party> {
    Party::all(bill.parties()).collect()
}

fn opened_to_all(bytes: usize, bill: &mut Bill) {
    let all = everyone(bill);
    bill.open(bytes as u64, &all);
}

impl Protocol for ArithmeticGmwTool {
    const SHARING: Sharing = Sharing::A;

    fn holds(element: Element, _: usize) -> Result<(), Mismatch> {
        rings_alone(Sharing::A, element)
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let mut shared = Vec::with_capacity(values.len());
        for value in values {
            let mut shares = if owner == self.me {
                Shares::clone(value).as_shared(Sharing::A)
            } else {
                Shares::zeros(value.sort().shared(Sharing::A))
            };
            let inputs = &mut self.inputs[owner.index()];
            crate::with_ring!(width(value.sort()), T => {
                inputs.share_elements(shares.component_mut::<T>(0));
            });
            shared.push(shares);
        }
        Ok(shared)
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        let parties = bill.parties();
        for sort in sorts {
            for party in Party::all(parties) {
                let bytes = sort.bytes() as u64;
                let blocks = arithmetic::share_aes_blocks(party, owner, parties, bytes);
                bill.aes(party, blocks);
            }
        }
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let Some(first) = values.first() else {
            return Ok(Vec::new());
        };
        crate::with_ring!(width(first.sort()), T => self.open_ring::<T>(values, to).await)
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        bill.open(sorts.iter().map(|sort| sort.bytes() as u64).sum(), to);
    }

    fn leads(me: Party) -> [bool; 2] {
        [me == arithmetic::LEADER, false]
    }
}

impl ArithmeticGmwTool {
    async fn open_ring<T: Held>(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
    ) -> Result<Vec<Shares>> {
        let mut all = Zeroizing::new(Vec::with_capacity(
            values.iter().map(|value| value.len()).sum(),
        ));
        values
            .iter()
            .for_each(|value| all.extend_from_slice(value.component::<T>(0)));
        let opened = self.gmw.open(&all, to).await?;
        let mut at = 0;
        let of = |value: &Arc<Shares>| {
            let range = at..at + value.len();
            at = range.end;
            match &opened {
                Some(opened) => Shares::ring_of(Sharing::PUBLIC, opened[range].to_vec()),
                None => Shares::unknown(value.sort().shared(Sharing::PUBLIC)),
            }
        };
        Ok(values.iter().map(of).collect())
    }
}

impl ArithmeticGmwTool {
    /// Shares of the bits of numbers that each party knows: its own share.
    fn addends<T: Held>(&mut self, x: &Shares, negated: bool) -> Vec<Shares> {
        let sort = Sort::new(Sharing::B, Element::Bits(T::BITS), x.len());
        let mut share = Zeroizing::new(x.component::<T>(0).to_vec());
        if negated && self.me != FIRST {
            share
                .iter_mut()
                .for_each(|share| *share = T::ZERO.sub(*share));
        }
        let of = |inputs: &mut InputSharing| {
            let mut addend = Shares::zeros(sort);
            let stride = addend.shape().stride * 8;
            arithmetic::share_addend(inputs, &share, addend.plane_bytes_mut(), stride);
            addend
        };
        self.inputs.iter_mut().map(of).collect()
    }
}

impl Rings for ArithmeticGmwTool {
    const BITS: Sharing = Sharing::B;

    type Setup<T: Held> = ();

    async fn prepare_step<T: Held>(
        &mut self,
        _: RingStep,
        _: &[&Shares],
        _: &mut Stock,
        _: &Early<'_>,
    ) -> Result<(Vec<Shares>, ())> {
        Ok((Vec::new(), ()))
    }

    async fn finish_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        stock: &mut Stock,
        (): (),
    ) -> Result<Vec<Shares>> {
        let len = inputs[0].len();
        let zeros = |len: usize| Zeroizing::new(vec![T::ZERO; len]);
        let element = |place: usize| inputs[place].component::<T>(0);
        let mut z;
        match step {
            RingStep::Mul => {
                z = zeros(len);
                let mut triples = stock.ring_triples::<T>(len)?;
                let (x, y) = (element(0), element(1));
                self.gmw.mul(&mut triples, x, y, &mut z).await?;
            }
            RingStep::Square => {
                z = zeros(len);
                let mut pairs = stock.square_pairs::<T>(len)?;
                self.gmw.square(&mut pairs, element(0), &mut z).await?;
            }
            RingStep::Dot(length) => {
                z = zeros(len / length);
                let mut triples = stock.ring_triples::<T>(len)?;
                let (x, y) = (element(0), element(1));
                self.gmw.dot(&mut triples, x, y, length, &mut z).await?;
            }
            RingStep::Product(product) => {
                z = zeros(product.lengths()[2]);
                let triple = stock.product_triple::<T>(product)?;
                let (x, y) = (element(0), element(1));
                self.gmw.products(triple, x, y, &mut z).await?;
            }
            RingStep::Compose => {
                let planes = inputs[0];
                z = zeros(len);
                let mut shared = stock.shared_bits::<T>(planes.sort().element.bits() * len)?;
                let (bytes, stride) = (planes.plane_bytes(), planes.shape().stride * 8);
                let composing = self.gmw.compose(&mut shared, bytes, stride, &mut z);
                composing.await?;
            }
            RingStep::BitTimes => {
                z = zeros(len);
                let mut shared = stock.shared_bits::<T>(len)?;
                let mut triples = stock.ring_triples::<T>(len)?;
                let (bits, x) = (inputs[0].plane(0, 0), element(1));
                self.gmw
                    .bit_times(&mut shared, &mut triples, bits, x, &mut z)
                    .await?;
            }
            RingStep::Addends { negated } => return Ok(self.addends::<T>(inputs[0], negated)),
        }
        Ok(vec![Shares::ring_of(Sharing::A, z)])
    }

    fn step_bill<T: Held>(step: RingStep, inputs: &[Sort], bill: &mut Bill) {
        let (width, len, parties) = (Width::of::<T>(), inputs[0].len, bill.parties());
        match step {
            RingStep::Mul | RingStep::Dot(_) => {
                bill.needs().add(Kind::RingTriples(width), len);
                opened_to_all(2 * len * T::BYTES, bill);
                bill.touch((12 * len * T::BYTES) as u64);
            }
            RingStep::Square => {
                bill.needs().add(Kind::SquarePairs(width), len);
                opened_to_all(len * T::BYTES, bill);
                bill.touch((8 * len * T::BYTES) as u64);
            }
            RingStep::Product(product) => {
                bill.needs().product_triples::<T>(product);
                let [left, right, _] = product.lengths();
                let operands = left + right;
                opened_to_all(operands * T::BYTES, bill);
                // Three products of matrices; elements of the second are read once for each band of rows.
                let products = product.multiplications();
                bill.touch((3 * products * T::BYTES / 16 + 6 * operands * T::BYTES) as u64);
            }
            RingStep::Compose => {
                let count = inputs[0].element.bits() * len;
                bill.needs().add(Kind::SharedBits(width), count);
                opened_to_all(bits::bytes_for(count), bill);
                bill.touch((3 * count * T::BYTES) as u64);
            }
            RingStep::BitTimes => {
                bill.needs().add(Kind::SharedBits(width), len);
                bill.needs().add(Kind::RingTriples(width), len);
                opened_to_all(2 * len * T::BYTES + bits::bytes_for(len), bill);
                bill.touch((16 * len * T::BYTES) as u64);
            }
            RingStep::Addends { .. } => {
                for owner in Party::all(parties) {
                    Self::share_bill(owner, inputs, bill);
                }
                bill.touch((4 * parties * len * T::BYTES) as u64);
            }
        }
    }

    fn addend_count(parties: usize) -> usize {
        parties
    }
}
