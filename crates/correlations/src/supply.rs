//! The source that a job agreed on.

use std::fmt;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_net::{Context, Result};

use crate::bit_triples::BitTriples;
use crate::dealer::DealerSource;
use crate::matrices::{MatrixShape, MatrixTriple};
use crate::needs::Needs;
use crate::ot_triples::OtTriples;
use crate::rings::{RingTriples, SharedBits, SquarePairs};
use crate::source::{OtSource, Source};
use crate::vectors::VectorTriples;
use crate::{BitTripleSource, base_cost, stream_cost};

/// Where a job's correlations come from. All parties of a job must agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Origin {
    /// Oblivious transfer between all pairs of parties ([`OtSource`]).
    #[default]
    Ot,
    /// A trusted dealer, the session's last party ([`DealerSource`]).
    Dealer,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ot => "ot",
            Self::Dealer => "dealer",
        })
    }
}

impl Origin {
    /// Parties of the session that compute nothing.
    pub fn helpers(self) -> usize {
        match self {
            Self::Ot => 0,
            Self::Dealer => 1,
        }
    }

    /// What a job that needs `needs` costs a party once, however the calls for them are cut: base OTs,
    /// and the start of the extensions for each kind that is needed; the end of the dealer's work.
    pub fn start_cost(self, parties: usize, needs: &Needs) -> PhaseCost {
        match self {
            Self::Ot if needs.is_empty() => PhaseCost::default(),
            Self::Ot => {
                let mut total = base_cost(parties) + stream_cost(parties).times(needs.ot_groups());
                if needs.has_bit_triples() {
                    total += OtTriples::start_cost(parties);
                }
                total
            }
            Self::Dealer => DealerSource::start_cost(),
        }
    }

    /// Cost for `me` of one call for `count` Boolean triples.
    pub fn bit_triples_cost(self, me: Party, parties: usize, count: usize) -> PhaseCost {
        match self {
            Self::Ot => OtTriples::cost(me.index(), parties, count),
            Self::Dealer => DealerSource::bit_triples_cost(me, count),
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
    /// [`Origin::start_cost`] is spent here, in the first calls and in [`end`](Self::end).
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn open(origin: Origin, context: &Context) -> Result<Self> {
        Ok(match origin {
            Origin::Ot => Self::Ot(Box::new(OtSource::new(context).await?)),
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
