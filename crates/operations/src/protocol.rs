//! What a protocol does to have operations.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use madrigal_core::{Party, Product};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Early, Element, Held, Mismatch, Prepared, Shares, Sharing, Sort, Tool,
};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};
use madrigal_protocols::arithmetic::Side;

use crate::arena::Arena;
use crate::circuit::Circuit;

/// What was kept of preparing an operation.
pub type Kept = Box<dyn Any + Send>;

/// Of protocols that prepare nothing.
pub(crate) fn unprepared() -> Error {
    Error::Ended {
        reason: "a bug in madrigal: a protocol that prepares nothing was to prepare something"
            .into(),
    }
}

/// A protocol that values can be brought into and opened from.
pub trait Protocol: Tool {
    /// What its values are.
    const SHARING: Sharing;

    /// What it is called where parties compare what they do.
    fn name() -> &'static str {
        Self::SHARING.name()
    }

    /// Whether it has values of this element, among so many parties.
    ///
    /// # Errors
    /// Why not.
    fn holds(element: Element, parties: usize) -> std::result::Result<(), Mismatch>;

    /// Whether inputs, circuits and openings can be [prepared](madrigal_engine::Operation::prepare).
    const PREPARES: bool = false;

    /// What can be done for [`share`](Self::share) before the values are there.
    fn prepare_share(
        &mut self,
        _owner: Party,
        _sorts: &[Sort],
        _stock: &mut Stock,
    ) -> impl Future<Output = Result<Prepared>> {
        std::future::ready(Err(unprepared()))
    }

    /// Shares of clear values of `owner`'s, which are unknown to the others: bits, or all of one ring.
    fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<Kept>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill);

    /// What can be done for [`open`](Self::open) before inputs are there.
    fn prepare_open(
        &mut self,
        _values: &[Arc<Shares>],
        _to: &[Party],
        _stock: &mut Stock,
    ) -> impl Future<Output = Result<Prepared>> {
        std::future::ready(Err(unprepared()))
    }

    /// The values, at the parties `to`: bits, or all of one ring.
    fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<Kept>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill);

    /// The components of `me`'s shares that public constants are added to.
    fn leads(me: Party) -> [bool; 2];

    /// What is known of [`constant`](Self::constant) before there are inputs, of a value that is part of the program:
    /// masks are zeros.
    fn prepared_constant(
        _me: Party,
        _parties: usize,
        value: &Shares,
        _offset: Option<&Block>,
    ) -> Shares {
        Shares::zeros(value.sort().shared(Self::SHARING))
    }

    /// Shares of a value that all know. No message. `offset` is this party's of the job, for labels.
    fn constant(me: Party, _parties: usize, value: &Shares, _offset: Option<&Block>) -> Shares {
        let mut shares = Shares::zeros(value.sort().shared(Self::SHARING));
        let components = 0..Self::SHARING.components();
        for component in components.filter(|&component| Self::leads(me)[component]) {
            match value.sort().element {
                Element::Bits(planes) => {
                    for plane in 0..planes {
                        let row = shares.plane_mut(plane, component);
                        row.copy_from_slice(value.plane(plane, 0));
                    }
                }
                Element::Ring(width) => crate::with_ring!(width, T => {
                    let part = shares.component_mut::<T>(component);
                    part.copy_from_slice(value.component::<T>(0));
                }),
            }
        }
        shares
    }
}

/// A protocol that evaluates Boolean circuits.
pub trait Boolean: Protocol {
    /// Whether circuits are evaluated as [sums of products](madrigal_circuit::Sums).
    const SUMS: bool = false;

    /// What can be done for [`evaluate`](Self::evaluate) before inputs are there.
    fn prepare_evaluate(
        &mut self,
        _circuit: &Circuit,
        _lanes: usize,
        _inputs: &[Arc<Shares>],
        _stock: &mut Stock,
        _early: &Early<'_>,
    ) -> impl Future<Output = Result<Prepared>> {
        std::future::ready(Err(unprepared()))
    }

    /// A circuit in so many lanes: a value for each of its inputs, one for each of its outputs.
    fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        prepared: Option<Kept>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill);

    /// Bits of memory that it works in for each lane.
    fn bits_at_work(circuit: &Circuit) -> usize;
}

/// What is done to ring elements in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// [`Rings::mul`].
    Mul,
    /// [`Rings::square`].
    Square,
    /// [`Rings::dot`] of vectors of so many elements.
    Dot(usize),
    /// [`Rings::product`].
    Product(Product),
    /// [`Rings::compose`].
    Compose,
    /// [`Rings::bit_times`].
    BitTimes,
    /// [`Rings::addends`].
    Addends {
        /// Whether all numbers but the first one are.
        negated: bool,
    },
}

/// A product with an operand that one party knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProduct {
    /// Of what.
    pub product: Product,
    /// The operand.
    pub side: Side,
    /// Who knows it.
    pub owner: Party,
}

/// A protocol that computes on elements of rings.
pub trait Rings: Protocol {
    /// The Boolean sharing that its conversions go to and come from.
    const BITS: Sharing;

    /// What can be done for a step before inputs are there, of protocols that [prepare](Protocol::PREPARES);
    /// T is the ring of the elements.
    fn prepare_step<T: Held>(
        &mut self,
        _step: Step,
        _inputs: &[&Shares],
        _stock: &mut Stock,
        _early: &Early<'_>,
    ) -> impl Future<Output = Result<Prepared>> {
        std::future::ready(Err(unprepared()))
    }

    /// The rest of it.
    fn finish_step<T: Held>(
        &mut self,
        _step: Step,
        _inputs: &[&Shares],
        _kept: Kept,
    ) -> impl Future<Output = Result<Vec<Shares>>> {
        std::future::ready(Err(unprepared()))
    }

    /// Products, element by element.
    fn mul<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost.
    fn mul_bill<T: Held>(len: usize, bill: &mut Bill);

    /// Squares.
    fn square<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost.
    fn square_bill<T: Held>(len: usize, bill: &mut Bill);

    /// Dot products of vectors of `length` elements, which lie one after the other.
    fn dot<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        length: usize,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost, for so many results.
    fn dot_bill<T: Held>(len: usize, length: usize, bill: &mut Bill);

    /// Products of matrices, or of convolutions, with the left operand in `x`.
    fn product<T: Held>(
        &mut self,
        stock: &mut Stock,
        x: &Shares,
        y: &Shares,
        product: Product,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost.
    fn product_bill<T: Held>(product: Product, bill: &mut Bill);

    /// Whether products take an operand that one party knows, among so many.
    fn takes_known(_parties: usize) -> bool {
        false
    }

    /// The same with an operand that one party knows, which is there at that party alone.
    fn known_product<T: Held>(
        &mut self,
        _stock: &mut Stock,
        _known: Option<&[T]>,
        _shared: &Shares,
        _product: KnownProduct,
    ) -> impl Future<Output = Result<Shares>> {
        std::future::ready(Err(unprepared()))
    }

    /// Its cost.
    fn known_product_bill<T: Held>(_product: KnownProduct, _bill: &mut Bill) {}

    /// How many numbers in [`BITS`](Self::BITS) add up to one of this protocol's, among so many parties.
    fn addend_count(parties: usize) -> usize;

    /// Such numbers, as planes; all but the first one `negated`, if so.
    fn addends<T: Held>(
        &mut self,
        x: &Shares,
        negated: bool,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn addends_bill<T: Held>(len: usize, bill: &mut Bill);

    /// The numbers whose bits, from the lowest on, are shared in [`BITS`](Self::BITS).
    fn compose<T: Held>(
        &mut self,
        stock: &mut Stock,
        planes: &Shares,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost, for so many planes.
    fn compose_bill<T: Held>(planes: usize, len: usize, bill: &mut Bill);

    /// Bits that are shared in [`BITS`](Self::BITS), times elements.
    fn bit_times<T: Held>(
        &mut self,
        stock: &mut Stock,
        bits: &Shares,
        x: &Shares,
    ) -> impl Future<Output = Result<Shares>>;

    /// Its cost.
    fn bit_times_bill<T: Held>(len: usize, bill: &mut Bill);
}
