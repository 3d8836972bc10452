//! The source that a job agreed on.

use std::fmt;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::{
    AnyShares, Call, CorrelatedOts, Direction, Hand, Kind, Maker, Means, Needs, Own, Provider,
    Source, Stock, calls, reserve_cost,
};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};

use crate::dealer::DealerSource;
use crate::ot::{Extension, Matrices, OtCosts, OtSource};

/// Where a job's correlations come from. All parties of a job must agree on it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Oblivious transfer between all pairs of parties ([`OtSource`]).
    Ot {
        /// Extension that makes many OTs of a few.
        extension: Extension,
        /// On how many threads of each party.
        threads: usize,
        /// Way in which matrix triples are made.
        matrices: Matrices,
    },
    /// A trusted dealer, the session's last party ([`DealerSource`]).
    Dealer,
    /// Stores that the parties made in an earlier job ([`Means`]).
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

    /// Gives the costs of a source of this origin for `me` of `parties` parties that compute.
    pub fn costs(&self, me: Party, parties: usize) -> SupplyCosts {
        match *self {
            Self::Ot {
                extension,
                threads,
                matrices,
            } => {
                let costs = OtCosts::with_threads(extension, threads, me, parties);
                SupplyCosts::Ot(matrices.applied(costs))
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

/// Costs of a [`Supply`] for one party, call by call in the order of the calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SupplyCosts {
    /// See [`Origin::Ot`].
    Ot(OtCosts),
    /// See [`Origin::Dealer`]; for this party.
    Dealer(Party),
    /// See [`Origin::Store`].
    Store {
        /// Number of parties, each with a store.
        parties: usize,
    },
    /// See [`Origin::Own`].
    Own {
        /// Which.
        own: Own,
        /// Party whose costs they are.
        me: Party,
        /// Number of parties that compute.
        parties: usize,
        /// Items that the calls so far have made.
        made: Needs,
    },
}

impl SupplyCosts {
    /// Gives the cost that a job which needs `needs` has on [`Supply::open`] and [`Supply::end`]: base OTs; the end
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

    /// Gives the work of [`start`](Self::start) beside its AES blocks.
    pub fn start_work(&self, needs: &Needs) -> Work {
        match self {
            Self::Ot(costs) if !needs.is_empty() => costs.base_work(),
            _ => Work::default(),
        }
    }

    /// Gives the work of making `needs` beside AES blocks.
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

    /// Gives the part of [`work`](Self::work) that comes before the first correlation: a source that has made some needs
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

    /// Cost of the next call of [`Stock::fill`] for `needs`.
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

    /// Gives the cost of `count` more items of a kind other than correlated OTs.
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
                    sum += own.bill(&Call::new(*me, *parties, kind, count, made));
                    made.add(kind, count);
                }
                sum
            }
        }
    }
}

/// The [`Source`] of one job, whatever its [`Origin`].
pub struct Supply(Box<dyn Source>);

impl fmt::Debug for Supply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Supply")
    }
}

impl Supply {
    /// Starts the source of a job that needs `needs`, in the context of all its parties, helpers too.
    /// [`SupplyCosts::start`] is spent here and in [`end`](Self::end).
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message; of reserving what is needed, and without a store among
    /// the means; of a source of the caller's own.
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
        let maker: Box<dyn Maker> = match *origin {
            Origin::Ot {
                extension,
                threads,
                matrices,
            } => {
                let source = OtSource::with_threads(context, extension, threads).await?;
                return Ok(Self(Box::new(match matrices {
                    Matrices::Lattice => source.with_lattice_matrices()?,
                    Matrices::Ot => source,
                })));
            }
            Origin::Dealer => Box::new(DealerSource::new(context)?),
            Origin::Store => match means.store() {
                Some(store) => store.reserve(context, needs).await?,
                None => {
                    let problem = "this party has opened none, and the job takes its correlations from stores; open one".to_owned();
                    return Err(context.fail(Error::Store { problem }));
                }
            },
            Origin::Own(ref own) => own.open_checked(context, needs).await?,
        };
        Ok(Self(Box::new(maker)))
    }

    /// Does [`Stock::fill`] from it.
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
    /// [`Error`](madrigal_net::Error) of the network.
    pub async fn end(&mut self) -> Result<()> {
        self.0.close().await
    }
}

impl Source for Supply {
    fn items<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<AnyShares>> {
        self.0.items(kind, count, made)
    }

    fn bit_triples_as_made<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
        hand: &'a Hand,
    ) -> LocalBoxFuture<'a, Result<()>> {
        self.0.bit_triples_as_made(count, made, hand)
    }

    fn correlated_ots<'a>(
        &'a mut self,
        counts: &'a [(Direction, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<CorrelatedOts>> {
        self.0.correlated_ots(counts, made)
    }

    fn offset(&self) -> Option<Block> {
        self.0.offset()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        self.0.close()
    }
}
