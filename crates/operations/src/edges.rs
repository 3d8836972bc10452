//! Where values come from and go to: inputs, public constants, openings.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_core::{Digest256, Party, domains};
use madrigal_engine::{
    Bill, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;

use crate::protocol::Protocol;
use crate::shared::{in_sharing, prepared_locally, same_ring, sorts_of, unopened};

/// Clear values of one party's become shared, all in one message. They are bits, or all of one ring.
pub struct Share<P> {
    owner: Party,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Share<P> {
    /// Shares values of this party's.
    pub const fn new(owner: Party) -> Self {
        Self {
            owner,
            protocol: PhantomData,
        }
    }
}

impl<P: Protocol> Operation for Share<P> {
    fn name(&self) -> String {
        format!("share/1 in {} of {}", P::name(), self.owner)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        same_ring(inputs)?;
        if self.owner.index() >= parties {
            let problem = format!("there is no {} among {parties}", self.owner);
            return Err(Mismatch::new(problem));
        }
        for value in inputs {
            P::holds(value.element, parties)?;
            if !value.sharing.is_known_to(self.owner) {
                let problem = format!("{} does not know {value}", self.owner);
                return Err(Mismatch::new(problem));
            }
        }
        let shared = inputs.iter().map(|value| value.shared(P::SHARING));
        Ok(shared.collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        P::share_bill(self.owner, inputs, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let sorts = sorts_of(&inputs);
            let (protocol, stock) = turn.tool::<P>()?;
            protocol.prepare_share(self.owner, &sorts, stock).await
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let prepared = turn.kept();
            let (protocol, stock) = turn.tool::<P>()?;
            protocol.share(self.owner, &inputs, stock, prepared).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Values that all know become shared, without a message.
pub struct Constant<P>(PhantomData<fn() -> P>);

impl<P: Protocol> Constant<P> {
    /// Takes values of any length.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: Protocol> Default for Constant<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Protocol> Operation for Constant<P> {
    fn name(&self) -> String {
        format!("constant/1 in {}", P::name())
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            P::holds(value.element, parties)?;
            if !value.sharing.is_public(parties) {
                return Err(Mismatch::new(format!("{value} is not known to all")));
            }
        }
        let shared = inputs.iter().map(|value| value.shared(P::SHARING));
        Ok(shared.collect())
    }

    fn bill(&self, _: &[Sort], _: &mut Bill) {}

    fn prepares(&self, _: &[Sort]) -> bool {
        P::SHARING.begins_ahead()
    }

    /// Labels of 0 depend on the value; masks do not.
    fn needs_clear(&self) -> bool {
        P::SHARING.has_labels()
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let (me, parties) = (turn.me(), turn.parties());
        let of = |value: &Arc<Shares>| P::prepared_constant(me, parties, value, turn.offset());
        let results = inputs.iter().map(of).collect();
        Box::pin(std::future::ready(Ok(prepared_locally(results))))
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        let (me, parties) = (turn.me(), turn.parties());
        let shares = inputs.iter();
        let shares = shares
            .map(|value| P::constant(me, parties, value, turn.offset()))
            .collect();
        Box::pin(std::future::ready(Ok(shares)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Shared values become known to some parties, or to all, in one message. They are bits, or all of one
/// ring.
pub struct Open<P> {
    to: Vec<Party>,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Open<P> {
    /// To these parties.
    pub fn new(mut to: Vec<Party>) -> Self {
        to.sort();
        to.dedup();
        Self {
            to,
            protocol: PhantomData,
        }
    }
}

impl<P: Protocol> Operation for Open<P> {
    fn name(&self) -> String {
        let to: Vec<_> = self
            .to
            .iter()
            .map(|party| party.index().to_string())
            .collect();
        format!("open/1 from {} to {}", P::name(), to.join(","))
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        same_ring(inputs)?;
        for value in inputs {
            in_sharing(P::SHARING, value)?;
        }
        if self.to.is_empty() {
            return Err(Mismatch::new(
                "nobody gets the value: name a party that does",
            ));
        }
        if let Some(party) = self.to.iter().find(|party| party.index() >= parties) {
            return Err(Mismatch::new(format!(
                "there is no {party} among {parties}"
            )));
        }
        let known = known_to(&self.to, parties);
        Ok(inputs.iter().map(|value| value.shared(known)).collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        if P::SHARING.has_masks() {
            bill.ahead(Bill::results_known);
        }
        P::open_bill(inputs, &self.to, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let early = turn.early();
            let (protocol, stock) = turn.tool::<P>()?;
            if !P::SHARING.has_masks() {
                return protocol.prepare_open(&inputs, &self.to, stock).await;
            }
            // Opened values are not known before the online phase.
            let results = early.tell(unopened(&sorts_of(&inputs)));
            let opening = protocol.prepare_open(&inputs, &self.to, stock);
            Ok(Prepared {
                results,
                ..opening.await?
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let known = known_to(&self.to, turn.parties());
            let prepared = turn.kept();
            let (protocol, stock) = turn.tool::<P>()?;
            let opened = protocol.open(&inputs, &self.to, stock, prepared).await?;
            Ok(opened
                .into_iter()
                .map(|value| value.as_shared(known))
                .collect())
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Clear, known to these parties, which may be all.
fn known_to(to: &[Party], parties: usize) -> Sharing {
    if to.len() == parties {
        Sharing::PUBLIC
    } else {
        Sharing::clear(to)
    }
}

/// A value that all know because it is part of the program.
pub struct Public(Shares);

impl Public {
    /// This value.
    ///
    /// # Panics
    /// If it is shared or unknown.
    pub fn new(value: Shares) -> Self {
        assert!(
            value.sort().sharing.is_clear() && value.is_known(),
            "a public value"
        );
        Self(value.as_shared(madrigal_engine::Sharing::PUBLIC))
    }
}

impl Operation for Public {
    fn name(&self) -> String {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new_with_prefix(domains::PUBLIC_VALUE);
        self.0.each_bytes(|bytes| hash.update(bytes));
        let digest = Digest256::from(hash.finalize());
        format!("public/1 {} ({digest})", self.0.sort())
    }

    fn sorts(&self, _: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        Ok(vec![*self.0.sort()])
    }

    fn constant(&self) -> Option<&Shares> {
        Some(&self.0)
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, _: &[Sort], _: &mut Bill) {}

    fn online<'a>(&'a self, _: &'a mut Turn<'_>, _: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(std::future::ready(Ok(vec![self.0.clone()])))
    }

    fn plain(&self, _: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.0.clone()])
    }
}
