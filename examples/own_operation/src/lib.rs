//! A secret bit times a number that one party knows, as a vector operation of one's own: Listing 2 of "MOTION
//! - A Framework for Mixed-Protocol Multi-Party Computation" (TOPS 2022), for any number of parties.
//!
//! It rests on Madrigal's public interface alone. The party that knows the number shares it, which takes no
//! message in arithmetic GMW, and [`RingStep::BitTimes`] does the rest in one round: a shared bit and a triple
//! for each product, where the paper's two parties take one additively correlated OT.
//!
//! ```
//! use std::sync::Arc;
//! use madrigal::engine::operations::{ArithmeticGmwTool, BooleanGmwTool, Open, Share};
//! use madrigal::engine::{Element, Graph, Shares, Sharing, Sort, Width};
//! use madrigal::Party;
//! use own_operation::MultiplyKnown;
//!
//! let [server, client] = [0, 1].map(Party::new);
//! let mut graph = Graph::new(2);
//! let number = graph.input(Sort::new(Sharing::clear(&[server]), Element::Ring(Width::W32), 3));
//! let bit = graph.input(Sort::new(Sharing::clear(&[client]), Element::Bits(1), 3));
//! let bit = graph.add_one(Share::<BooleanGmwTool>::new(client), &[bit])?;
//! let product = MultiplyKnown::<ArithmeticGmwTool>::new(server);
//! let product = graph.add_one(product, &[bit, number])?;
//! let opened = graph.add_one(Open::<ArithmeticGmwTool>::new(vec![client]), &[product])?;
//! graph.output(opened);
//! # Ok::<(), madrigal::engine::GraphError>(())
//! ```

pub mod gray;
pub mod trusted_files;

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal::engine::operations::{RingStep, Rings};
use madrigal::engine::{
    Bill, Element, Mismatch, Operation, Shares, Sharing, Sort, Turn, with_ring,
};
use madrigal::net::Result;
use madrigal::{Party, Ring};

/// Shared bits times numbers that one party knows, element by element.
pub struct MultiplyKnown<P> {
    owner: Party,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> MultiplyKnown<P> {
    /// Of numbers that `owner` knows.
    pub const fn new(owner: Party) -> Self {
        Self {
            owner,
            protocol: PhantomData,
        }
    }
}

impl<P: Rings> Operation for MultiplyKnown<P> {
    fn name(&self) -> String {
        format!("own/multiply-known/1 by {} in {}", self.owner, P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        let [bit, number] = inputs else {
            let got = inputs.len();
            return Err(Mismatch::new(format!(
                "a bit and a number wanted, not {got} values"
            )));
        };
        P::holds(number.element, parties)?;
        if (bit.sharing, bit.element) != (P::BITS, Element::Bits(1)) {
            return Err(Mismatch::new(format!("{bit} is no bit in {}", P::BITS)));
        }
        let known = number.sharing.is_clear() && number.sharing.is_known_to(self.owner);
        if !known || !matches!(number.element, Element::Ring(_)) {
            return Err(Mismatch::new(format!(
                "{number} is no number that {} knows",
                self.owner
            )));
        }
        Ok(vec![number.shared(P::SHARING)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let number = &inputs[1];
        P::share_bill(self.owner, &[*number], bill);
        if let Element::Ring(width) = number.element {
            with_ring!(width, T => P::step_bill::<T>(RingStep::BitTimes, inputs, bill));
        }
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (bit, number) = (&inputs[0], &inputs[1]);
            let Element::Ring(width) = number.sort().element else {
                return Err(turn.refuse(&Mismatch::new("a number wanted")));
            };
            let (tool, stock) = turn.tool::<P>()?;
            let shared = tool.share(self.owner, &inputs[1..], stock, None);
            let shared = shared.await?;
            let (step, inputs) = (RingStep::BitTimes, [&**bit, &shared[0]]);
            with_ring!(width, T => tool.step::<T>(step, &inputs, stock).await)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        let (bits, number) = (inputs[0].plane(0, 0), inputs[1]);
        let Element::Ring(width) = number.sort().element else {
            return Err(Mismatch::new("a number wanted"));
        };
        let product = with_ring!(width, T => {
            let elements = number.component::<T>(0).iter().enumerate();
            let product = elements.map(|(at, &x)| match bits[at / 8] >> (at % 8) & 1 {
                1 => x,
                _ => <T as Ring>::ZERO,
            });
            Shares::ring_of(Sharing::PUBLIC, product.collect::<Vec<T>>())
        });
        Ok(vec![product])
    }
}
