//! What alpha does to ring elements, each step in two parts: on masks, and on public parts.

use std::sync::Arc;

use madrigal_core::{Party, Product, Ring, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock, Width};
use madrigal_engine::{Bill, Early, Element, Held, Prepared, Shares, Sharing, Sort};
use madrigal_kernels::rings;
use madrigal_net::Result;
use madrigal_protocols::aby2::{self, Flips};
use madrigal_protocols::planes;

use super::{AlphaTool, Elements};
use crate::aby2::beta::{Bits, MASK, PUBLIC, assembled, both, exchange, masked, tell};
use crate::boolean_gmw::pack;
use crate::protocol::{Kept, Rings, Step};
use crate::shared::unpacked;

/// Whose number in bits the public part is added to.
const FIRST: Party = aby2::LEADER;
/// Whose number in bits is its share of the mask.
const SECOND: Party = Party::new(1);

/// One value, before its public part is there if there is none.
fn value<T: Held>(public: Option<Elements<T>>, masks: &Elements<T>) -> Shares {
    let zeros = || Zeroizing::new(vec![T::ZERO; masks.len()]);
    let public = public.unwrap_or_else(zeros);
    Shares::ring(Sharing::ALPHA, vec![public, masks.clone()])
}

/// What is kept of a step: our shares of the masks of its results, and what it needs of products of masks.
struct Ready<T: Ring> {
    fresh: Elements<T>,
    products: Elements<T>,
    flips: Option<Flips<T>>,
}

/// What is kept of a value's two numbers in bits: the masks of each.
struct Numbers([Bits; 2]);

impl AlphaTool {
    /// All of a step at once.
    async fn whole<T: Held>(
        &mut self,
        step: Step,
        inputs: &[&Shares],
        stock: &mut Stock,
    ) -> Result<Vec<Shares>> {
        let early = Early::default();
        let preparing = self.prepare_step::<T>(step, inputs, stock, &early);
        let kept = preparing.await?.kept;
        self.finish_step::<T>(step, inputs, kept).await
    }

    async fn whole_one<T: Held>(
        &mut self,
        step: Step,
        inputs: &[&Shares],
        stock: &mut Stock,
    ) -> Result<Shares> {
        let mut made = self.whole::<T>(step, inputs, stock).await?;
        Ok(made.pop().expect("it has one result"))
    }

    /// Both numbers of a value before it is there. Of the second one all is known: its owner's share of the value's mask
    /// is its mask, and its public part is always 0, which tells nothing; whatever is sent of it later is under a
    /// triple's factor or a fresh mask, or is an opened value less what its receiver has.
    fn prepare_numbers<T: Held>(&mut self, x: &Shares, negated: bool) -> Prepared {
        let sorts = [number_of::<T>(x.len())];
        let mut first = Zeroizing::new(vec![0; bits::bytes_for(T::BITS * x.len())]);
        self.aby2.draw_input(FIRST, &mut first);
        let mut second = Zeroizing::new(vec![0; first.len()]);
        if self.aby2.me() == SECOND {
            let mut share = Zeroizing::new(x.component::<T>(MASK).to_vec());
            if negated {
                share.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
            }
            second = string(&share);
        }
        let mut results = masked(&sorts, &first);
        results.extend(masked(&sorts, &second));
        Prepared {
            results,
            kept: Box::new(Numbers([first, second])),
        }
    }

    async fn finish_numbers<T: Held>(&mut self, x: &Shares, kept: Numbers) -> Result<Vec<Shares>> {
        let sorts = [number_of::<T>(x.len())];
        let Numbers([first, second]) = kept;
        let number = (self.aby2.me() == FIRST).then(|| {
            let mut share = Zeroizing::new(x.component::<T>(MASK).to_vec());
            rings::add_into(&mut share, x.component(PUBLIC));
            string(&share)
        });
        let number = number.as_ref().map(|number| &number[..]);
        let sharing = self
            .aby2
            .share_bits(FIRST, number, &first, T::BITS * x.len());
        let public = sharing.await?;
        let mut numbers = assembled(&sorts, &public, &first);
        numbers.extend(masked(&sorts, &second));
        Ok(numbers)
    }
}

/// Elements of T as bits.
fn number_of<T: Held>(len: usize) -> Sort {
    Sort::new(Sharing::BETA, Element::Bits(T::BITS), len)
}

/// The bits of elements as a packed string, plane by plane.
fn string<T: Held>(elements: &[T]) -> Bits {
    let mut value = Shares::zeros(number_of::<T>(elements.len()).shared(Sharing::B));
    let stride = value.shape().stride * 8;
    planes::split(elements, value.plane_bytes_mut(), stride);
    pack(&[Arc::new(value)], 0)
}

/// What a product of so many results costs, of which setup opens so many elements.
fn product_bill<T: Held>(results: usize, opened: usize, bill: &mut Bill) {
    let results = results * T::BYTES;
    bill.ahead(|bill| {
        both().for_each(|party| bill.aes(party, aby2::draw_aes(results)));
        bill.results_known();
        exchange(opened * T::BYTES, bill);
        bill.touch((6 * opened * T::BYTES) as u64);
    });
    both().for_each(|party| bill.keep(party, 2 * results as u64));
    exchange(results, bill);
}

impl Rings for AlphaTool {
    const BITS: Sharing = Sharing::BETA;

    async fn prepare_step<T: Held>(
        &mut self,
        step: Step,
        inputs: &[&Shares],
        stock: &mut Stock,
        early: &Early<'_>,
    ) -> Result<Prepared> {
        let mask = |place: usize| inputs[place].component::<T>(MASK);
        let zeros = |len: usize| Zeroizing::new(vec![T::ZERO; len]);
        let len = inputs[0].len();
        let (mut products, mut flips) = (zeros(0), None);
        let results = match step {
            Step::Addends { negated } => {
                return Ok(self.prepare_numbers::<T>(inputs[0], negated));
            }
            Step::Mul | Step::Square | Step::Compose | Step::BitTimes => len,
            Step::Dot(length) => len / length,
            Step::Product(product) => product.lengths()[2],
        };
        let fresh = self.draw::<T>(None, results);
        let told = early.tell(vec![value(None, &fresh)]);
        match step {
            Step::Addends { .. } => unreachable!("numbers have left"),
            Step::Mul => {
                products = zeros(results);
                let mut triples = stock.ring_triples::<T>(len)?;
                let (x, y) = (mask(0), mask(1));
                let making = self.aby2.products(&mut triples, x, y, &mut products);
                making.await?;
            }
            Step::Square => {
                products = zeros(results);
                let mut pairs = stock.square_pairs::<T>(len)?;
                let making = self.aby2.squares(&mut pairs, mask(0), &mut products);
                making.await?;
            }
            Step::Dot(length) => {
                products = zeros(results);
                let mut triples = stock.ring_triples::<T>(len)?;
                let (x, y) = (mask(0), mask(1));
                let making = self.aby2.dots(&mut triples, x, y, length, &mut products);
                making.await?;
            }
            Step::Product(product) => {
                products = zeros(results);
                let triple = stock.product_triple::<T>(product)?;
                let (x, y) = (mask(0), mask(1));
                let making = self.aby2.product_masks(triple, x, y, &mut products);
                making.await?;
            }
            Step::Compose => {
                let masks = pack(&[Arc::new(inputs[0].clone())], MASK);
                let count = inputs[0].sort().element.bits() * len;
                let mut shared = stock.shared_bits::<T>(count)?;
                flips = Some(self.aby2.flips(&mut shared, &masks, count).await?);
            }
            Step::BitTimes => {
                let masks = pack(&[Arc::new(inputs[0].clone())], MASK);
                let mut shared = stock.shared_bits::<T>(len)?;
                let mut triples = stock.ring_triples::<T>(len)?;
                let aby2 = &mut self.aby2;
                let making = aby2.bit_masks_times(&mut shared, &mut triples, &masks, mask(1));
                let (opened, made) = making.await?;
                (products, flips) = (made, Some(opened));
            }
        }
        if !matches!(step, Step::Compose | Step::BitTimes) {
            rings::sub_into(&mut products, &fresh);
        }
        Ok(Prepared {
            results: told,
            kept: Box::new(Ready {
                fresh,
                products,
                flips,
            }),
        })
    }

    async fn finish_step<T: Held>(
        &mut self,
        step: Step,
        inputs: &[&Shares],
        kept: Kept,
    ) -> Result<Vec<Shares>> {
        if matches!(step, Step::Addends { .. }) {
            let kept = *unpacked::<Numbers>(kept)?;
            return self.finish_numbers::<T>(inputs[0], kept).await;
        }
        let Ready {
            fresh,
            products,
            flips,
        } = *unpacked::<Ready<T>>(kept)?;
        let mut z = Zeroizing::new(vec![T::ZERO; fresh.len()]);
        let aby2 = &mut self.aby2;
        let pair = |component: usize| [inputs[0], inputs[1]].map(|x| x.component::<T>(component));
        match (step, &flips) {
            (Step::Mul, _) => {
                let (public, masks) = (pair(PUBLIC), pair(MASK));
                aby2.mul(public, masks, &products, &mut z).await?;
            }
            (Step::Square, _) => {
                let [public, masks] = [PUBLIC, MASK].map(|part| inputs[0].component::<T>(part));
                aby2.square(public, masks, &products, &mut z).await?;
            }
            (Step::Dot(length), _) => {
                let (public, masks) = (pair(PUBLIC), pair(MASK));
                let dots = aby2.dot(public, masks, &products, length, &mut z);
                dots.await?;
            }
            (Step::Product(product), _) => {
                let (public, masks) = (pair(PUBLIC), pair(MASK));
                let made = aby2.product_publics(&product, public, masks, &products, &mut z);
                made.await?;
            }
            (Step::Compose, Some(flips)) => {
                let public = pack(&[Arc::new(inputs[0].clone())], PUBLIC);
                let width = inputs[0].sort().element.bits();
                aby2.compose(&public, flips, width, &fresh, &mut z).await?;
            }
            (Step::BitTimes, Some(flips)) => {
                let public = pack(&[Arc::new(inputs[0].clone())], PUBLIC);
                let x = [PUBLIC, MASK].map(|part| inputs[1].component::<T>(part));
                let made = aby2.bit_times(&public, (flips, &products), x, &fresh, &mut z);
                made.await?;
            }
            _ => unreachable!("numbers have left, and bits were flipped"),
        }
        Ok(vec![value(Some(z), &fresh)])
    }

    async fn mul<T: Held>(&mut self, stock: &mut Stock, x: &Shares, y: &Shares) -> Result<Shares> {
        self.whole_one::<T>(Step::Mul, &[x, y], stock).await
    }

    fn mul_bill<T: Held>(len: usize, bill: &mut Bill) {
        bill.ahead(|bill| bill.needs().add(Kind::RingTriples(Width::of::<T>()), len));
        product_bill::<T>(len, 2 * len, bill);
        bill.touch((7 * len * T::BYTES) as u64);
    }

    async fn square<T: Held>(&mut self, stock: &mut Stock, x: &Shares) -> Result<Shares> {
        self.whole_one::<T>(Step::Square, &[x], stock).await
    }

    fn square_bill<T: Held>(len: usize, bill: &mut Bill) {
        bill.ahead(|bill| bill.needs().add(Kind::SquarePairs(Width::of::<T>()), len));
        product_bill::<T>(len, len, bill);
        bill.touch((5 * len * T::BYTES) as u64);
    }

    async fn dot<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        length: usize,
    ) -> Result<Shares> {
        let step = Step::Dot(length);
        self.whole_one::<T>(step, &[x, y], stock).await
    }

    fn dot_bill<T: Held>(len: usize, length: usize, bill: &mut Bill) {
        let factors = len * length;
        bill.ahead(|bill| {
            bill.needs()
                .add(Kind::RingTriples(Width::of::<T>()), factors);
        });
        product_bill::<T>(len, 2 * factors, bill);
        bill.touch((5 * factors * T::BYTES) as u64);
    }

    async fn product<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        product: Product,
    ) -> Result<Shares> {
        let step = Step::Product(product);
        self.whole_one::<T>(step, &[x, y], stock).await
    }

    fn product_bill<T: Held>(product: Product, bill: &mut Bill) {
        let products = product.multiplications();
        bill.ahead(|bill| {
            bill.needs().product_triples::<T>(product);
            bill.touch((2 * products * T::BYTES / 16) as u64);
        });
        let [left, right, results] = product.lengths();
        let operands = left + right;
        product_bill::<T>(results, operands, bill);
        // Two products of matrices; elements of the second are read once for each band of rows.
        bill.touch((2 * products * T::BYTES / 16 + 3 * operands * T::BYTES) as u64);
    }

    fn addend_count(_: usize) -> usize {
        aby2::PARTIES
    }

    async fn addends<T: Held>(&mut self, x: &Shares, negated: bool) -> Result<Vec<Shares>> {
        // No correlation is used.
        let step = Step::Addends { negated };
        self.whole::<T>(step, &[x], &mut Stock::empty()).await
    }

    fn addends_bill<T: Held>(len: usize, bill: &mut Bill) {
        let bytes = bits::bytes_for(T::BITS * len);
        bill.ahead(|bill| bill.aes(FIRST, aby2::draw_aes(bytes)));
        both().for_each(|party| bill.keep(party, 2 * bytes as u64));
        tell(FIRST, bytes, bill);
        bill.touch(6 * bytes as u64);
    }

    async fn compose<T: Held>(&mut self, stock: &mut Stock, planes: &Shares) -> Result<Shares> {
        self.whole_one::<T>(Step::Compose, &[planes], stock).await
    }

    fn compose_bill<T: Held>(planes: usize, len: usize, bill: &mut Bill) {
        let count = planes * len;
        bill.ahead(|bill| {
            bill.needs().add(Kind::SharedBits(Width::of::<T>()), count);
            both().for_each(|party| bill.aes(party, aby2::draw_aes(len * T::BYTES)));
            bill.results_known();
            exchange(bits::bytes_for(count), bill);
        });
        let kept = count * T::BYTES + bits::bytes_for(count) + len * T::BYTES;
        both().for_each(|party| bill.keep(party, kept as u64));
        exchange(len * T::BYTES, bill);
        bill.touch((3 * count * T::BYTES) as u64);
    }

    async fn bit_times<T: Held>(
        &mut self,
        stock: &mut Stock,
        bits: &Shares,
        x: &Shares,
    ) -> Result<Shares> {
        self.whole_one::<T>(Step::BitTimes, &[bits, x], stock).await
    }

    fn bit_times_bill<T: Held>(len: usize, bill: &mut Bill) {
        let width = Width::of::<T>();
        bill.ahead(|bill| {
            bill.needs().add(Kind::SharedBits(width), len);
            bill.needs().add(Kind::RingTriples(width), len);
            both().for_each(|party| bill.aes(party, aby2::draw_aes(len * T::BYTES)));
            bill.results_known();
            exchange(2 * len * T::BYTES + bits::bytes_for(len), bill);
        });
        let kept = 3 * len * T::BYTES + bits::bytes_for(len);
        both().for_each(|party| bill.keep(party, kept as u64));
        exchange(len * T::BYTES, bill);
        bill.touch((8 * len * T::BYTES) as u64);
    }
}
