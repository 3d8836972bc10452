//! Steps of alpha on ring elements, each in two parts: on masks, and on public parts.

use std::sync::Arc;

use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock, Width};
use madrigal_engine::{Bill, Early, Element, Held, Shares, Sharing, Sort};
use madrigal_kernels::rings;
use madrigal_net::Result;
use madrigal_protocols::aby2::{self, Flips};
use madrigal_protocols::planes;

use super::{AlphaTool, Elements};
use crate::aby2::beta::{Bits, MASK, PUBLIC, assembled, both, exchange, masked, tell};
use crate::boolean_gmw::pack;
use crate::protocol::{RingStep, Rings};

/// Party whose number in bits the public part is added to.
const FIRST: Party = aby2::LEADER;
/// Party whose number in bits is its share of the mask.
const SECOND: Party = Party::new(1);

/// One value, before its public part is there if there is none.
fn value<T: Held>(public: Option<Elements<T>>, masks: &Elements<T>) -> Shares {
    let zeros = || Zeroizing::new(vec![T::ZERO; masks.len()]);
    let public = public.unwrap_or_else(zeros);
    Shares::ring(Sharing::ALPHA, vec![public, masks.clone()])
}

/// Masks and products that are kept of a step.
pub enum AlphaSetup<T: Ring> {
    /// Our shares of the masks of the results, and of products of masks less these.
    Products(Elements<T>, Elements<T>),
    /// Our shares of the masks of the results, the bits' masks opened under shared bits, and our shares of the products
    /// of masks of bits and of elements, where there are elements.
    Flips(Elements<T>, Flips<T>, Elements<T>),
    /// The masks of each of a value's two numbers in bits.
    Numbers([Bits; 2]),
}

impl AlphaTool {
    /// Both numbers of a value before it is there. Of the second one all is known: its owner's share of the value's mask
    /// is its mask, and its public part is always 0, which tells nothing; whatever is sent of it later is under a
    /// triple's factor or a fresh mask, or is an opened value less what its receiver has.
    fn prepare_numbers<T: Held>(
        &mut self,
        x: &Shares,
        negated: bool,
    ) -> (Vec<Shares>, AlphaSetup<T>) {
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
        (results, AlphaSetup::Numbers([first, second]))
    }

    async fn finish_numbers<T: Held>(
        &mut self,
        x: &Shares,
        [first, second]: [Bits; 2],
    ) -> Result<Vec<Shares>> {
        let sorts = [number_of::<T>(x.len())];
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

/// Adds the cost of a product: its results, and the elements that setup opens.
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

/// Adds the cost of a step on bits with `results` results to a bill: setup tells the other party `told` bytes, and each
/// keeps `kept`.
fn flips_bill<T: Held>(results: usize, told: usize, kept: usize, bill: &mut Bill) {
    let results = results * T::BYTES;
    bill.ahead(|bill| {
        both().for_each(|party| bill.aes(party, aby2::draw_aes(results)));
        bill.results_known();
        exchange(told, bill);
    });
    both().for_each(|party| bill.keep(party, kept as u64));
    exchange(results, bill);
}

impl Rings for AlphaTool {
    const BITS: Sharing = Sharing::BETA;

    type Setup<T: Held> = AlphaSetup<T>;

    async fn prepare_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        stock: &mut Stock,
        early: &Early<'_>,
    ) -> Result<(Vec<Shares>, AlphaSetup<T>)> {
        let mask = |place: usize| inputs[place].component::<T>(MASK);
        let bit_masks = || pack(&[Arc::new(inputs[0].clone())], MASK);
        let len = inputs[0].len();
        let results = match step {
            RingStep::Addends { negated } => return Ok(self.prepare_numbers(inputs[0], negated)),
            RingStep::Mul | RingStep::Square | RingStep::Compose | RingStep::BitTimes => len,
            RingStep::Dot(length) => len / length,
            RingStep::Product(product) => product.lengths()[2],
        };
        let fresh = self.draw::<T>(None, results);
        let told = early.tell(vec![value(None, &fresh)]);
        let mut products = Zeroizing::new(vec![T::ZERO; results]);
        let aby2 = &mut self.aby2;
        match step {
            RingStep::Mul => {
                let mut triples = stock.ring_triples::<T>(len)?;
                let making = aby2.products(&mut triples, mask(0), mask(1), &mut products);
                making.await?;
            }
            RingStep::Square => {
                let mut pairs = stock.square_pairs::<T>(len)?;
                let making = aby2.squares(&mut pairs, mask(0), &mut products);
                making.await?;
            }
            RingStep::Dot(length) => {
                let mut triples = stock.ring_triples::<T>(len)?;
                let making = aby2.dots(&mut triples, mask(0), mask(1), length, &mut products);
                making.await?;
            }
            RingStep::Product(product) => {
                let triple = stock.product_triple::<T>(product)?;
                let making = aby2.product_masks(triple, mask(0), mask(1), &mut products);
                making.await?;
            }
            RingStep::Compose => {
                let count = inputs[0].sort().element.bits() * len;
                let mut shared = stock.shared_bits::<T>(count)?;
                let flips = aby2.flips(&mut shared, &bit_masks(), count).await?;
                return Ok((told, AlphaSetup::Flips(fresh, flips, Zeroizing::default())));
            }
            RingStep::BitTimes => {
                let masks = bit_masks();
                let mut shared = stock.shared_bits::<T>(len)?;
                let mut triples = stock.ring_triples::<T>(len)?;
                let making = aby2.bit_masks_times(&mut shared, &mut triples, &masks, mask(1));
                let (flips, products) = making.await?;
                return Ok((told, AlphaSetup::Flips(fresh, flips, products)));
            }
            RingStep::Addends { .. } => unreachable!("numbers have left"),
        }
        rings::sub_into(&mut products, &fresh);
        Ok((told, AlphaSetup::Products(fresh, products)))
    }

    async fn finish_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        _: &mut Stock,
        ready: AlphaSetup<T>,
    ) -> Result<Vec<Shares>> {
        let both = |place: usize| [PUBLIC, MASK].map(|part| inputs[place].component::<T>(part));
        let pair = |part: usize| [0, 1].map(|place| inputs[place].component::<T>(part));
        let zeros = |fresh: &Elements<T>| Zeroizing::new(vec![T::ZERO; fresh.len()]);
        let aby2 = &mut self.aby2;
        let (z, fresh) = match ready {
            AlphaSetup::Numbers(masks) => return self.finish_numbers::<T>(inputs[0], masks).await,
            AlphaSetup::Products(fresh, products) => {
                let mut z = zeros(&fresh);
                match step {
                    RingStep::Square => {
                        let [public, masks] = both(0);
                        aby2.square(public, masks, &products, &mut z).await?;
                    }
                    RingStep::Dot(length) => {
                        let (public, masks) = (pair(PUBLIC), pair(MASK));
                        let dots = aby2.dot(public, masks, &products, length, &mut z);
                        dots.await?;
                    }
                    RingStep::Product(product) => {
                        let (public, masks) = (pair(PUBLIC), pair(MASK));
                        let made = aby2.product_publics(&product, public, masks, &products, &mut z);
                        made.await?;
                    }
                    RingStep::Mul => {
                        let (public, masks) = (pair(PUBLIC), pair(MASK));
                        aby2.mul(public, masks, &products, &mut z).await?;
                    }
                    RingStep::Compose | RingStep::BitTimes | RingStep::Addends { .. } => {
                        unreachable!("bits are prepared otherwise")
                    }
                }
                (z, fresh)
            }
            AlphaSetup::Flips(fresh, flips, products) => {
                let mut z = zeros(&fresh);
                let public = pack(&[Arc::new(inputs[0].clone())], PUBLIC);
                if let RingStep::BitTimes = step {
                    let products = (&flips, &products[..]);
                    let made = aby2.bit_times(&public, products, both(1), &fresh, &mut z);
                    made.await?;
                } else {
                    let width = inputs[0].sort().element.bits();
                    aby2.compose(&public, &flips, width, &fresh, &mut z).await?;
                }
                (z, fresh)
            }
        };
        Ok(vec![value(Some(z), &fresh)])
    }

    fn step_bill<T: Held>(step: RingStep, inputs: &[Sort], bill: &mut Bill) {
        let (width, len) = (Width::of::<T>(), inputs[0].len);
        match step {
            RingStep::Mul => {
                bill.ahead(|bill| bill.needs().add(Kind::RingTriples(width), len));
                product_bill::<T>(len, 2 * len, bill);
                bill.touch((7 * len * T::BYTES) as u64);
            }
            RingStep::Square => {
                bill.ahead(|bill| bill.needs().add(Kind::SquarePairs(width), len));
                product_bill::<T>(len, len, bill);
                bill.touch((5 * len * T::BYTES) as u64);
            }
            RingStep::Dot(length) => {
                bill.ahead(|bill| bill.needs().add(Kind::RingTriples(width), len));
                product_bill::<T>(len / length, 2 * len, bill);
                bill.touch((5 * len * T::BYTES) as u64);
            }
            RingStep::Product(product) => {
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
            RingStep::Compose => {
                let count = inputs[0].element.bits() * len;
                bill.ahead(|bill| bill.needs().add(Kind::SharedBits(width), count));
                let kept = count * T::BYTES + bits::bytes_for(count) + len * T::BYTES;
                flips_bill::<T>(len, bits::bytes_for(count), kept, bill);
                bill.touch((3 * count * T::BYTES) as u64);
            }
            RingStep::BitTimes => {
                bill.ahead(|bill| {
                    bill.needs().add(Kind::SharedBits(width), len);
                    bill.needs().add(Kind::RingTriples(width), len);
                });
                let bytes = bits::bytes_for(len);
                let told = 2 * len * T::BYTES + bytes;
                flips_bill::<T>(len, told, 3 * len * T::BYTES + bytes, bill);
                bill.touch((8 * len * T::BYTES) as u64);
            }
            RingStep::Addends { .. } => {
                let bytes = bits::bytes_for(T::BITS * len);
                bill.ahead(|bill| bill.aes(FIRST, aby2::draw_aes(bytes)));
                both().for_each(|party| bill.keep(party, 2 * bytes as u64));
                tell(FIRST, bytes, bill);
                bill.touch(6 * bytes as u64);
            }
        }
    }

    fn addend_count(_: usize) -> usize {
        aby2::PARTIES
    }
}
