//! Arithmetic GMW in programs.

use std::sync::Arc;

use madrigal_core::{Party, Product, Zeroizing};
use madrigal_correlations::{Kind, Stock, Tripled, Width};
use madrigal_engine::{Bill, Element, Held, Mismatch, Shares, Sharing, Sort, Tool};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::arithmetic::{self, ArithmeticGmw, InputSharing, Side};

use crate::protocol::{Kept, KnownProduct, Protocol, Rings};

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

/// Whose addend is never negated.
const FIRST: Party = Party::new(0);

/// The ring of values that have one.
fn width_of(element: Element) -> Width {
    match element {
        Element::Ring(width) => width,
        Element::Bits(_) => unreachable!("A has no bits"),
    }
}

/// The other one of two parties.
const fn other_of_two(party: Party) -> Party {
    Party::new(1 - party.index())
}

/// The triple for it: who knows an operand has its mask.
fn split(known: KnownProduct) -> Tripled {
    let left = match known.side {
        Side::Left => known.owner,
        Side::Right => other_of_two(known.owner),
    };
    Tripled::split(known.product, left)
}

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
        match element {
            Element::Ring(_) => Ok(()),
            Element::Bits(_) => Err(Mismatch::new(format!(
                "A has elements of rings, and no {element}"
            ))),
        }
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        _: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let mut shared = Vec::with_capacity(values.len());
        for value in values {
            let mut shares = if owner == self.me {
                Shares::clone(value).as_shared(Sharing::A)
            } else {
                Shares::zeros(value.sort().shared(Sharing::A))
            };
            let inputs = &mut self.inputs[owner.index()];
            crate::with_ring!(width_of(value.sort().element), T => {
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
        _: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let Some(first) = values.first() else {
            return Ok(Vec::new());
        };
        crate::with_ring!(width_of(first.sort().element), T => self.open_ring::<T>(values, to).await)
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

impl Rings for ArithmeticGmwTool {
    const BITS: Sharing = Sharing::B;

    async fn mul<T: Held>(&mut self, stock: &mut Stock, x: &Shares, y: &Shares) -> Result<Shares> {
        let mut z = Zeroizing::new(vec![T::ZERO; x.len()]);
        let mut triples = stock.ring_triples::<T>(x.len())?;
        let (x, y) = (x.component(0), y.component(0));
        self.gmw.mul(&mut triples, x, y, &mut z).await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn mul_bill<T: Held>(len: usize, bill: &mut Bill) {
        bill.needs().add(Kind::RingTriples(Width::of::<T>()), len);
        opened_to_all(2 * len * T::BYTES, bill);
        bill.touch((12 * len * T::BYTES) as u64);
    }

    async fn square<T: Held>(&mut self, stock: &mut Stock, x: &Shares) -> Result<Shares> {
        let mut z = Zeroizing::new(vec![T::ZERO; x.len()]);
        let mut pairs = stock.square_pairs::<T>(x.len())?;
        self.gmw.square(&mut pairs, x.component(0), &mut z).await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn square_bill<T: Held>(len: usize, bill: &mut Bill) {
        bill.needs().add(Kind::SquarePairs(Width::of::<T>()), len);
        opened_to_all(len * T::BYTES, bill);
        bill.touch((8 * len * T::BYTES) as u64);
    }

    async fn dot<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        length: usize,
    ) -> Result<Shares> {
        let mut z = Zeroizing::new(vec![T::ZERO; x.len() / length]);
        let mut triples = stock.ring_triples::<T>(x.len())?;
        let (x, y) = (x.component(0), y.component(0));
        self.gmw.dot(&mut triples, x, y, length, &mut z).await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn dot_bill<T: Held>(len: usize, length: usize, bill: &mut Bill) {
        Self::mul_bill::<T>(len * length, bill);
    }

    async fn product<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        product: Product,
    ) -> Result<Shares> {
        let [.., len] = product.lengths();
        let mut z = Zeroizing::new(vec![T::ZERO; len]);
        let triple = stock.product_triple::<T>(product)?;
        let (x, y) = (x.component(0), y.component(0));
        self.gmw.products(triple, x, y, &mut z).await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn product_bill<T: Held>(product: Product, bill: &mut Bill) {
        bill.needs().product_triples::<T>(product);
        let [left, right, _] = product.lengths();
        let operands = left + right;
        opened_to_all(operands * T::BYTES, bill);
        // Three products of matrices; elements of the second are read once for each band of rows.
        let products = product.multiplications();
        bill.touch((3 * products * T::BYTES / 16 + 6 * operands * T::BYTES) as u64);
    }

    fn takes_known(parties: usize) -> bool {
        parties == 2
    }

    async fn known_product<T: Held>(
        &mut self,
        stock: &mut Stock,
        known: Option<&[T]>,
        shared: &Shares,
        product: KnownProduct,
    ) -> Result<Shares> {
        let [.., len] = product.product.lengths();
        let mut z = Zeroizing::new(vec![T::ZERO; len]);
        let triple = stock.product_triple::<T>(split(product))?;
        let shared = shared.component(0);
        let made = self
            .gmw
            .known_products(triple, product.side, known, shared, &mut z);
        made.await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn known_product_bill<T: Held>(known: KnownProduct, bill: &mut Bill) {
        bill.needs().product_triples::<T>(split(known));
        let [left, right, _] = known.product.lengths();
        let (its, others) = match known.side {
            Side::Left => (left, right),
            Side::Right => (right, left),
        };
        let bytes = |elements: usize| (elements * T::BYTES) as u64;
        let (owner, other) = (known.owner, other_of_two(known.owner));
        bill.exchange(&[(owner, other, bytes(its)), (other, owner, bytes(others))]);
        let products = known.product.multiplications();
        bill.touch((products * T::BYTES / 16 + 4 * (left + right) * T::BYTES) as u64);
    }

    fn addend_count(parties: usize) -> usize {
        parties
    }

    async fn addends<T: Held>(&mut self, x: &Shares, negated: bool) -> Result<Vec<Shares>> {
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
        Ok(self.inputs.iter_mut().map(of).collect())
    }

    fn addends_bill<T: Held>(len: usize, bill: &mut Bill) {
        let parties = bill.parties();
        let bytes = (len * T::BYTES) as u64;
        for owner in Party::all(parties) {
            for party in Party::all(parties) {
                let blocks = arithmetic::share_aes_blocks(party, owner, parties, bytes);
                bill.aes(party, blocks);
            }
        }
        bill.touch(4 * parties as u64 * bytes);
    }

    async fn compose<T: Held>(&mut self, stock: &mut Stock, planes: &Shares) -> Result<Shares> {
        let width = planes.sort().element.bits();
        let mut z = Zeroizing::new(vec![T::ZERO; planes.len()]);
        let mut shared = stock.shared_bits::<T>(width * planes.len())?;
        let stride = planes.shape().stride * 8;
        self.gmw
            .compose(&mut shared, planes.plane_bytes(), stride, &mut z)
            .await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn compose_bill<T: Held>(planes: usize, len: usize, bill: &mut Bill) {
        let count = planes * len;
        bill.needs().add(Kind::SharedBits(Width::of::<T>()), count);
        opened_to_all(madrigal_core::bits::bytes_for(count), bill);
        bill.touch((3 * count * T::BYTES) as u64);
    }

    async fn bit_times<T: Held>(
        &mut self,
        stock: &mut Stock,
        bits: &Shares,
        x: &Shares,
    ) -> Result<Shares> {
        let mut z = Zeroizing::new(vec![T::ZERO; x.len()]);
        let mut shared = stock.shared_bits::<T>(x.len())?;
        let mut triples = stock.ring_triples::<T>(x.len())?;
        let (bits, x) = (bits.plane(0, 0), x.component(0));
        self.gmw
            .bit_times(&mut shared, &mut triples, bits, x, &mut z)
            .await?;
        Ok(Shares::ring_of(Sharing::A, z))
    }

    fn bit_times_bill<T: Held>(len: usize, bill: &mut Bill) {
        let width = Width::of::<T>();
        bill.needs().add(Kind::SharedBits(width), len);
        bill.needs().add(Kind::RingTriples(width), len);
        opened_to_all(
            2 * len * T::BYTES + madrigal_core::bits::bytes_for(len),
            bill,
        );
        bill.touch((16 * len * T::BYTES) as u64);
    }
}
