//! The source that a job agreed on.

use std::fmt;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_net::{Context, Result};

use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::dealer::DealerSource;
use crate::extension::Extension;
use crate::matrices::{MatrixShape, MatrixTriple};
use crate::needs::Needs;
use crate::rings::{RingTriples, SharedBits, SquarePairs};
use crate::source::{OtCosts, OtSource, Source};
use crate::vectors::VectorTriples;

/// Where a job's correlations come from. All parties of a job must agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Oblivious transfer between all pairs of parties ([`OtSource`]), over this extension.
    Ot(Extension),
    /// A trusted dealer, the session's last party ([`DealerSource`]).
    Dealer,
}

impl Default for Origin {
    fn default() -> Self {
        Self::Ot(Extension::default())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ot(extension) => write!(f, "ot {extension}"),
            Self::Dealer => f.write_str("dealer"),
        }
    }
}

impl Origin {
    /// Parties of the session that compute nothing.
    pub fn helpers(self) -> usize {
        match self {
            Self::Ot(_) => 0,
            Self::Dealer => 1,
        }
    }

    /// What a source of this kind will cost `me` of `parties` parties that compute.
    pub fn costs(self, me: Party, parties: usize) -> SupplyCosts {
        match self {
            Self::Ot(extension) => SupplyCosts::Ot(OtCosts::new(extension, me, parties)),
            Self::Dealer => SupplyCosts::Dealer(me),
        }
    }
}

/// What a [`Supply`] costs one party, call by call in the order of the calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SupplyCosts {
    /// See [`Origin::Ot`].
    Ot(OtCosts),
    /// See [`Origin::Dealer`]; for this party.
    Dealer(Party),
}

impl SupplyCosts {
    /// What a job that needs `needs` spends on [`Supply::open`] and [`Supply::end`]. It opens no
    /// supply from OT if it needs nothing.
    pub fn start(&self, needs: &Needs) -> PhaseCost {
        match self {
            Self::Ot(_) if needs.is_empty() => PhaseCost::default(),
            Self::Ot(costs) => costs.base(),
            Self::Dealer(_) => DealerSource::start_cost(),
        }
    }

    /// Cost of the next call for `count` Boolean triples.
    pub fn bit_triples(&mut self, count: usize) -> PhaseCost {
        match self {
            Self::Ot(costs) => costs.bit_triples(count),
            Self::Dealer(me) => DealerSource::bit_triples_cost(*me, count),
        }
    }
}

/// The [`Source`] of one job, whatever its [`Origin`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Supply {
    /// See [`Origin::Ot`].
    Ot(Box<OtSource>),
    /// See [`Origin::Dealer`].
    Dealer(Box<DealerSource>),
}

impl Supply {
    /// Starts the source of a job, in the context of all its parties, helpers too.
    /// [`SupplyCosts::start`] is spent here and in [`end`](Self::end).
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn open(origin: Origin, context: &Context) -> Result<Self> {
        Ok(match origin {
            Origin::Ot(extension) => Self::Ot(Box::new(OtSource::new(context, extension).await?)),
            Origin::Dealer => Self::Dealer(Box::new(DealerSource::new(context)?)),
        })
    }

    /// Tells the helpers that no more is wanted. Every job ends its supply.
    ///
    /// # Errors
    /// Those of the network.
    pub async fn end(&mut self) -> Result<()> {
        match self {
            Self::Ot(_) => Ok(()),
            Self::Dealer(source) => source.end().await,
        }
    }
}

impl BitTripleSource for Supply {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        match self {
            Self::Ot(source) => source.bit_triples(count, made).await,
            Self::Dealer(source) => source.bit_triples(count, made).await,
        }
    }
}

impl Source for Supply {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        match self {
            Self::Ot(source) => source.ring_triples(count, made).await,
            Self::Dealer(source) => source.ring_triples(count, made).await,
        }
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        match self {
            Self::Ot(source) => source.square_pairs(count, made).await,
            Self::Dealer(source) => source.square_pairs(count, made).await,
        }
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        match self {
            Self::Ot(source) => source.shared_bits(count, made).await,
            Self::Dealer(source) => source.shared_bits(count, made).await,
        }
    }

    async fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> Result<MatrixTriple<T>> {
        match self {
            Self::Ot(source) => source.matrix_triple(shape, made).await,
            Self::Dealer(source) => source.matrix_triple(shape, made).await,
        }
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        match self {
            Self::Ot(source) => source.vector_triples(length, count, made).await,
            Self::Dealer(source) => source.vector_triples(length, count, made).await,
        }
    }
}
