//! The source that a job agreed on.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};

use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::correlated::{CorrelatedOts, Direction};
use crate::dealer::DealerSource;
use crate::extension::Extension;
use crate::in_order::Hand;
use crate::kind::Kind;
use crate::maker::Maker;
use crate::matrices::{Matrices, ProductTriple, Tripled};
use crate::needs::{Needs, Stock, calls};
use crate::ot_costs::OtCosts;
use crate::ot_source::OtSource;
use crate::provider::{Call, Own, Provider};
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::source::Source;
#[cfg(feature = "store")]
use crate::store::Store;
use crate::store_cost::reserve_cost;
use crate::vectors::VectorTriples;

/// Where a job's correlations come from. All parties of a job must agree on it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Oblivious transfer between all pairs of parties ([`OtSource`]).
    Ot {
        /// Which makes many OTs of a few.
        extension: Extension,
        /// On how many threads of each party.
        threads: usize,
        /// What makes matrix triples.
        matrices: Matrices,
    },
    /// A trusted dealer, the session's last party ([`DealerSource`]).
    Dealer,
    /// Stores that the parties made in an earlier job (`store::Store`).
    Store,
    /// A source of the caller's own ([`Provider`]).
    Own(Own),
}

impl Default for Origin {
    fn default() -> Self {
        Self::ot(Extension::default())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ot {
                extension,
                threads,
                matrices,
            } => {
                write!(f, "ot {extension}")?;
                if *threads > 1 {
                    write!(f, " on {threads} threads")?;
                }
                match matrices {
                    Matrices::Ot => Ok(()),
                    Matrices::Lattice => f.write_str(", matrices by lattice encryption"),
                }
            }
            Self::Dealer => f.write_str("dealer"),
            Self::Store => f.write_str("store"),
            Self::Own(own) => write!(f, "own {}", own.name()),
        }
    }
}

impl Origin {
    /// [`Origin::Own`].
    pub fn own(provider: impl Provider + 'static) -> Self {
        Self::Own(Own::new(Arc::new(provider)))
    }

    /// [`Origin::Ot`] on one thread, of matrices too.
    pub const fn ot(extension: Extension) -> Self {
        Self::Ot {
            extension,
            threads: 1,
            matrices: Matrices::Ot,
        }
    }

    /// Whether it has items of this kind: correlated OTs come from oblivious transfer alone.
    pub fn serves(&self, kind: Kind) -> bool {
        match (self, kind) {
            (Self::Ot { .. }, _) => true,
            (_, Kind::CorrelatedOts { .. }) => false,
            (Self::Dealer | Self::Store, _) => true,
            (Self::Own(own), _) => own.serves(kind),
        }
    }

    /// Parties of the session that compute nothing.
    pub fn helpers(&self) -> usize {
        match self {
            Self::Ot { .. } | Self::Store | Self::Own(_) => 0,
            Self::Dealer => 1,
        }
    }

    /// What a source of this kind will cost `me` of `parties` parties that compute.
    pub fn costs(&self, me: Party, parties: usize) -> SupplyCosts {
        match *self {
            Self::Ot {
                extension,
                threads,
                matrices,
            } => {
                let costs = OtCosts::with_threads(extension, threads, me, parties);
                SupplyCosts::Ot(match matrices {
                    Matrices::Lattice => costs.with_lattice_matrices(),
                    Matrices::Ot => costs,
                })
            }
            Self::Dealer => SupplyCosts::Dealer(me),
            Self::Store => SupplyCosts::Store { parties },
            Self::Own(ref own) => SupplyCosts::Own {
                own: own.clone(),
                me,
                parties,
                made: Needs::new(),
            },
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
    /// See [`Origin::Store`].
    Store {
        /// How many parties have a store.
        parties: usize,
    },
    /// See [`Origin::Own`].
    Own {
        /// Which.
        own: Own,
        /// Whose costs.
        me: Party,
        /// How many parties compute.
        parties: usize,
        /// What the calls so far have made.
        made: Needs,
    },
}

impl SupplyCosts {
    /// What a job that needs `needs` spends on [`Supply::open`] and [`Supply::end`]: base OTs; the end
    /// of the dealer's work; one round to agree on what is taken from the stores, 32 bytes and 8 for
    /// each kind to each party. It opens no supply from OT or stores if it needs nothing.
    pub fn start(&self, needs: &Needs) -> PhaseCost {
        match self {
            Self::Ot(_) if needs.is_empty() => PhaseCost::default(),
            Self::Ot(costs) => costs.base(),
            Self::Dealer(_) => DealerSource::start_cost(),
            Self::Store { parties } => reserve_cost(*parties, needs),
            Self::Own { .. } if needs.is_empty() => PhaseCost::default(),
            Self::Own {
                own, me, parties, ..
            } => own.start(*me, *parties, needs),
        }
    }

    /// What [`start`](Self::start) computes beside its AES blocks.
    pub fn start_work(&self, needs: &Needs) -> Work {
        match self {
            Self::Ot(costs) if !needs.is_empty() => costs.base_work(),
            _ => Work::default(),
        }
    }

    /// What making `needs` computes beside AES blocks.
    pub fn work(&self, needs: &Needs) -> Work {
        match self {
            Self::Ot(costs) => costs.work(needs),
            Self::Dealer(_) => Work::default(),
            Self::Store { .. } => Work {
                store_bytes: needs.share_bytes() as f64,
                ..Work::default()
            },
            Self::Own { own, .. } => own.work(needs),
        }
    }

    /// What of [`work`](Self::work) comes before the first correlation: a source that has made some needs
    /// no more of it.
    pub fn first_work(&self) -> Work {
        match self {
            Self::Ot(costs) => costs.bit_triples_work(0),
            Self::Dealer(_) | Self::Store { .. } | Self::Own { .. } => Work::default(),
        }
    }

    /// Links that the messages to other parties are spread over.
    pub fn links(&self) -> usize {
        match self {
            Self::Ot(costs) => costs.parties() - 1,
            Self::Dealer(_) => 1,
            Self::Store { parties } | Self::Own { parties, .. } => parties - 1,
        }
    }

    /// Threads that make correlations.
    pub fn threads(&self) -> usize {
        match self {
            Self::Ot(costs) => costs.threads(),
            Self::Dealer(_) | Self::Store { .. } | Self::Own { .. } => 1,
        }
    }

    /// Cost of the next call of [`Stock::fill`](crate::Stock::fill) for `needs`.
    pub fn fill(&mut self, needs: &Needs) -> PhaseCost {
        let correlated = needs.all_correlated_ots();
        let rows = match self {
            Self::Ot(costs) if !correlated.is_empty() => costs.correlated_ots(&correlated),
            _ => PhaseCost::default(),
        };
        let kinds = needs.kinds().into_iter();
        let others = kinds.filter(|(kind, _)| !matches!(kind, Kind::CorrelatedOts { .. }));
        others.fold(rows, |sum, (kind, count)| sum + self.items(kind, count))
    }

    /// Cost of so many more items of a kind other than correlated OTs.
    fn items(&mut self, kind: Kind, count: usize) -> PhaseCost {
        match self {
            Self::Ot(costs) => costs.items(kind, count),
            Self::Dealer(me) => DealerSource::items_cost(*me, kind, count),
            Self::Store { .. } => PhaseCost::default(),
            Self::Own {
                own,
                me,
                parties,
                made,
            } => {
                let mut sum = PhaseCost::default();
                for count in calls(kind, count) {
                    sum += own.bill(&Call {
                        me: *me,
                        parties: *parties,
                        kind,
                        count,
                        before: made,
                    });
                    made.add(kind, count);
                }
                sum
            }
        }
    }
}

/// What a party has at hand for the sources of a job, besides the other parties. Nothing by default,
/// which is all that oblivious transfer needs; made from a `store::Store` for [`Origin::Store`].
#[derive(Debug, Default)]
pub struct Means<'a> {
    #[cfg(feature = "store")]
    store: Option<&'a mut Store>,
    _borrowed: PhantomData<&'a mut ()>,
}

#[cfg(feature = "store")]
impl<'a> From<&'a mut Store> for Means<'a> {
    fn from(store: &'a mut Store) -> Self {
        Self {
            store: Some(store),
            _borrowed: PhantomData,
        }
    }
}

/// The [`Source`] of one job, whatever its [`Origin`].
#[non_exhaustive]
pub enum Supply {
    /// See [`Origin::Ot`].
    Ot(Box<OtSource>),
    /// Of any other origin.
    Made(Box<dyn Maker>),
}

impl fmt::Debug for Supply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ot(source) => source.fmt(f),
            Self::Made(_) => f.write_str("Supply"),
        }
    }
}

impl Supply {
    /// Starts the source of a job that needs `needs`, in the context of all its parties, helpers too.
    /// [`SupplyCosts::start`] is spent here and in [`end`](Self::end).
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message; those of `Store::reserve`, and no store among
    /// the means; those of a source of the caller's own.
    pub fn open<'a>(
        origin: &'a Origin,
        context: &'a Context,
        needs: &'a Needs,
        means: Means<'a>,
    ) -> LocalBoxFuture<'a, Result<Self>> {
        Box::pin(Self::open_from(origin, context, needs, means))
    }

    async fn open_from(
        origin: &Origin,
        context: &Context,
        needs: &Needs,
        means: Means<'_>,
    ) -> Result<Self> {
        match *origin {
            Origin::Ot {
                extension,
                threads,
                matrices,
            } => {
                let source = OtSource::with_threads(context, extension, threads).await?;
                Ok(Self::Ot(Box::new(match matrices {
                    Matrices::Lattice => source.with_lattice_matrices()?,
                    Matrices::Ot => source,
                })))
            }
            Origin::Dealer => Ok(Self::Made(Box::new(DealerSource::new(context)?))),
            Origin::Store => Self::from_store(context, needs, means).await,
            Origin::Own(ref own) => Ok(Self::Made(own.open_checked(context, needs).await?)),
        }
    }

    #[cfg(feature = "store")]
    async fn from_store(context: &Context, needs: &Needs, means: Means<'_>) -> Result<Self> {
        let Some(store) = means.store else {
            let problem = "this party has opened none, and the job takes its correlations from stores; open one".to_owned();
            return Err(context.fail(Error::Store { problem }));
        };
        let source = store.reserve(context, needs).await?;
        Ok(Self::Made(Box::new(source)))
    }

    #[cfg(not(feature = "store"))]
    async fn from_store(context: &Context, _: &Needs, _: Means<'_>) -> Result<Self> {
        let problem = "this program was built without stores; build it with the feature `store` of madrigal-correlations".to_owned();
        Err(context.fail(Error::Store { problem }))
    }

    /// [`Stock::fill`] from it.
    ///
    /// # Errors
    /// As there.
    pub fn fill<'a>(
        &'a mut self,
        needs: &'a Needs,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Stock>> {
        Box::pin(Stock::fill(self, needs, made))
    }

    /// Says that no more is wanted. Every job ends its supply.
    ///
    /// # Errors
    /// Those of the network.
    pub async fn end(&mut self) -> Result<()> {
        match self {
            Self::Ot(_) => Ok(()),
            Self::Made(maker) => maker.end().await,
        }
    }
}

/// Passes a call on.
macro_rules! either {
    ($supply:expr, $source:ident => $call:expr) => {
        match $supply {
            Supply::Ot($source) => $call.await,
            Supply::Made($source) => $call.await,
        }
    };
}

impl BitTripleSource for Supply {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        either!(self, source => source.bit_triples(count, made))
    }

    async fn bit_triples_as_made(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        hand: &Hand,
    ) -> Result<()> {
        either!(self, source => source.bit_triples_as_made(count, made, hand))
    }
}

impl Source for Supply {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        either!(self, source => source.ring_triples(count, made))
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        either!(self, source => source.square_pairs(count, made))
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        either!(self, source => source.shared_bits(count, made))
    }

    async fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        either!(self, source => source.product_triples(one, count, made))
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        either!(self, source => source.vector_triples(length, count, made))
    }

    async fn correlated_ots(
        &mut self,
        counts: &[(Direction, usize)],
        made: &dyn Fn(usize),
    ) -> Result<CorrelatedOts> {
        either!(self, source => source.correlated_ots(counts, made))
    }

    fn offset(&self) -> Option<Block> {
        match self {
            Self::Ot(source) => source.offset(),
            Self::Made(source) => source.offset(),
        }
    }
}
