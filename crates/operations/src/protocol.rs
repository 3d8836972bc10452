//! Protocols: the traits that give a protocol its operations.

use std::future::Future;
use std::sync::Arc;

use madrigal_core::{Party, Product};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Early, Element, Held, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_kernels::Block;
use madrigal_net::Result;

use crate::arena::Arena;
use crate::circuit::Circuit;

/// Knows nothing of results before they are there.
fn nothing_known(sorts: impl Iterator<Item = Sort>) -> Prepared {
    Prepared {
        results: sorts.map(Shares::unknown).collect(),
        kept: Box::new(()),
    }
}

/// A protocol that values can be brought into and opened from.
pub trait Protocol: Tool {
    /// Sharing of its values.
    const SHARING: Sharing;

    /// Name of the protocol where parties compare what they do.
    fn name() -> &'static str {
        Self::SHARING.name()
    }

    /// Checks whether it has values of this element, among `parties` parties.
    ///
    /// # Errors
    /// [`Mismatch`] that says why not.
    fn holds(element: Element, parties: usize) -> std::result::Result<(), Mismatch>;

    /// Whether inputs, circuits and openings can be [prepared](madrigal_engine::Operation::prepare).
    const PREPARES: bool = false;

    /// Does for [`share`](Self::share) what can be done before the values are there; nothing, unless said otherwise.
    fn prepare_share(
        &mut self,
        _owner: Party,
        sorts: &[Sort],
        _stock: &mut Stock,
    ) -> impl Future<Output = Result<Prepared>> {
        let shared = sorts.iter().map(|sort| sort.shared(Self::SHARING));
        std::future::ready(Ok(nothing_known(shared)))
    }

    /// Shares of clear values of `owner`'s, which are unknown to the others: bits, or all of one ring.
    fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Adds the cost of share to a bill.
    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill);

    /// Does for [`open`](Self::open) what can be done before inputs are there; nothing, unless said otherwise.
    fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        _to: &[Party],
        _stock: &mut Stock,
    ) -> impl Future<Output = Result<Prepared>> {
        let opened = values
            .iter()
            .map(|value| value.sort().shared(Sharing::PUBLIC));
        std::future::ready(Ok(nothing_known(opened)))
    }

    /// The values, at the parties `to`: bits, or all of one ring.
    fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Adds the cost of open to a bill.
    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill);

    /// The components of `me`'s shares that public constants are added to.
    fn leads(me: Party) -> [bool; 2];

    /// Part of [`constant`](Self::constant) that is known before there are inputs, of a value that is part of the program:
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

    /// Says in which of several ways a circuit is evaluated, where it is not the usual one: all parties compare it.
    fn manner(_circuit: &Circuit) -> &'static str {
        ""
    }

    /// Whether evaluating a circuit can be prepared: as all else, unless said otherwise.
    fn prepares_circuit(_circuit: &Circuit) -> bool {
        Self::PREPARES
    }

    /// Does for [`evaluate`](Self::evaluate) what can be done before inputs are there; nothing, unless said otherwise.
    fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        _inputs: &[Arc<Shares>],
        _stock: &mut Stock,
        _early: &Early<'_>,
    ) -> impl Future<Output = Result<Prepared>> {
        let element = |&width: &u32| Element::Bits(width as usize);
        let outputs = circuit.outputs().iter().map(element);
        let outputs = outputs.map(|element| Sort::new(Self::SHARING, element, lanes));
        std::future::ready(Ok(nothing_known(outputs)))
    }

    /// Evaluates a circuit in `lanes` lanes: takes a value for each input and gives one for each output.
    fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Adds the cost of evaluate to a bill.
    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill);

    /// Bits of memory that it works in for each lane.
    fn bits_at_work(circuit: &Circuit) -> usize;
}

/// Work on ring elements in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingStep {
    /// Multiplies two values, element by element.
    Mul,
    /// Squares a value.
    Square,
    /// Makes dot products of vectors of a number of elements, which lie one after the other in two values.
    Dot(usize),
    /// Multiplies matrices, or convolves images with filters, the left operand being the first value.
    Product(Product),
    /// Makes numbers of their bits, from the lowest on, in [`Rings::BITS`].
    Compose,
    /// Multiplies bits in [`Rings::BITS`], the first value, with elements.
    BitTimes,
    /// Makes numbers in [`Rings::BITS`], as planes, that add up to the elements.
    Addends {
        /// Whether all numbers but the first one are negated.
        negated: bool,
    },
}

/// A protocol that computes on elements of rings.
///
/// Each [`RingStep`] is done in two parts. A protocol with masks does the first one before inputs are there; any other has
/// nothing to do in it.
pub trait Rings: Protocol {
    /// The Boolean sharing that its conversions go to and come from.
    const BITS: Sharing;

    /// Results of the first part of a step, which are kept until the second one.
    type Setup<T: Held>: Send + 'static;

    /// Does the first part of a step on elements of T; gives what is known of the results then, unless somebody was
    /// [told](Early::tell).
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn prepare_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        stock: &mut Stock,
        early: &Early<'_>,
    ) -> impl Future<Output = Result<(Vec<Shares>, Self::Setup<T>)>>;

    /// Does the second part of a step.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn finish_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        stock: &mut Stock,
        ready: Self::Setup<T>,
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Does a whole step.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error): those of the network.
    fn step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        stock: &mut Stock,
    ) -> impl Future<Output = Result<Vec<Shares>>> {
        async move {
            let early = Early::default();
            let (_, ready) = self.prepare_step(step, inputs, stock, &early).await?;
            self.finish_step::<T>(step, inputs, stock, ready).await
        }
    }

    /// Adds the cost of a step on values of these sorts to a bill.
    fn step_bill<T: Held>(step: RingStep, inputs: &[Sort], bill: &mut Bill);

    /// Counts the numbers in [`BITS`](Self::BITS) that add up to one of this protocol's, among `parties` parties.
    fn addend_count(parties: usize) -> usize;
}
