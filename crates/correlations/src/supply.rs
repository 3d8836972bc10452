//! The source that a job agreed on.

use std::fmt;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_net::{Context, Result};

use crate::bit_triples::BitTriples;
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
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ot => "ot",
        })
    }
}

impl Origin {
    /// What a job that needs `needs` pays once, however the calls for them are cut, for one of
    /// `parties` parties: base OTs, and the start of the extensions for each kind that is needed.
    pub fn start_cost(self, parties: usize, needs: &Needs) -> PhaseCost {
        if needs.is_empty() {
            return PhaseCost::default();
        }
        let mut total = base_cost(parties) + stream_cost(parties).times(needs.ot_groups());
        if needs.has_bit_triples() {
            total += OtTriples::start_cost(parties);
        }
        total
    }

    /// Cost for `me` of one call for `count` Boolean triples.
    pub fn bit_triples_cost(self, me: Party, parties: usize, count: usize) -> PhaseCost {
        match self {
            Self::Ot => OtTriples::cost(me.index(), parties, count),
        }
    }
}

/// The [`Source`] of one job, whatever its [`Origin`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Supply {
    /// See [`Origin::Ot`].
    Ot(Box<OtSource>),
}

impl Supply {
    /// Starts the source of a job; [`Origin::start_cost`] is spent here and in the first calls.
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn open(origin: Origin, context: &Context) -> Result<Self> {
        Ok(match origin {
            Origin::Ot => Self::Ot(Box::new(OtSource::new(context).await?)),
        })
    }
}

impl BitTripleSource for Supply {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        match self {
            Self::Ot(source) => source.bit_triples(count, made).await,
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
        }
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        match self {
            Self::Ot(source) => source.square_pairs(count, made).await,
        }
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        match self {
            Self::Ot(source) => source.shared_bits(count, made).await,
        }
    }

    async fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> Result<MatrixTriple<T>> {
        match self {
            Self::Ot(source) => source.matrix_triple(shape, made).await,
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
        }
    }
}
