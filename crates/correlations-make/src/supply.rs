//! The source that a job agreed on.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use madrigal_core::time::Work;
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations::{
    AnyShares, Call, CorrelatedOts, Direction, Hand, Kind, Maker, Means, Needs, Own, Provider,
    Source, Stock, calls, reserve_cost,
};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Meter, Result};

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

    /// Threads that make `needs`: as many as these are worth, of those that the source has.
    pub fn threads(&self, needs: &Needs) -> usize {
        match self {
            Self::Ot(costs) => costs.threads(needs),
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
        let (products, others): (Vec<_>, Vec<_>) = (needs.kinds().into_iter())
            .filter(|(kind, _)| !matches!(kind, Kind::CorrelatedOts { .. }))
            .partition(|(kind, _)| kind.product().is_some());
        let others =
            (others.into_iter()).fold(rows, |sum, (kind, count)| sum + self.items(kind, count));
        match self {
            Self::Ot(costs) => {
                let of = |(kind, count)| calls(kind, count).map(move |count| (kind, count));
                let wanted: Vec<_> = products.into_iter().flat_map(of).collect();
                others + costs.products_of(&wanted)
            }
            _ => (products.into_iter())
                .fold(others, |sum, (kind, count)| sum + self.items(kind, count)),
        }
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

/// The [`Source`] of one job, whatever its [`Origin`], which also tells what each [`Primitive`] took.
pub struct Supply {
    source: Box<dyn Source>,
    /// Counters of the source.
    meter: Meter,
    me: Party,
    phase: Phase,
    made: Vec<Made>,
}

/// A piece of a source's work that is told by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Primitive {
    /// Base OTs with every peer, both ways.
    BaseOts,
    /// Beginning with a dealer, with stores, or with a source of the caller's own.
    Start,
    /// A kind of correlations, which is made of OTs where OTs make correlations.
    Kind(Kind),
    /// Triples of products of several kinds, which are made together.
    Products,
    /// Correlated OTs in all directions.
    CorrelatedOts,
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseOts => f.write_str("base OTs"),
            Self::Start => f.write_str("start of the source"),
            Self::Kind(kind) => {
                write!(f, "{} ({kind})", kind.descriptor().name)
            }
            Self::Products => f.write_str("triples of several products"),
            Self::CorrelatedOts => f.write_str("correlated OTs"),
        }
    }
}

/// Costs of a primitive in all of a job's calls.
#[derive(Debug, Clone)]
pub struct Made {
    /// Primitive that was made.
    pub primitive: Primitive,
    /// Items that were made; of base OTs and of correlated OTs those that this party sent or received.
    pub items: u64,
    /// Wall time of the calls. What goes on beside them is part of it.
    pub time: Duration,
    /// Cost by counters of the source's own; rounds are those by which the job's longest chain of messages grew.
    pub spent: PhaseCost,
}

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
        let meter = Meter::default();
        let context = &context.with_meter(&meter);
        let began = Instant::now();
        let maker: Box<dyn Maker> = match *origin {
            Origin::Ot {
                extension,
                threads,
                matrices,
            } => {
                let source = OtSource::with_threads(context, extension, threads).await?;
                let source = match matrices {
                    Matrices::Lattice => source.with_lattice_matrices()?,
                    Matrices::Ot => source,
                };
                let costs =
                    OtCosts::with_threads(extension, threads, context.me(), context.parties());
                let mut supply = Self::of(Box::new(source), meter, context);
                let base = costs.base_work().base_ots as usize;
                supply.note(Primitive::BaseOts, base, began, PhaseCost::default());
                return Ok(supply);
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
        let mut supply = Self::of(Box::new(maker), meter, context);
        supply.note(Primitive::Start, 1, began, PhaseCost::default());
        Ok(supply)
    }

    fn of(source: Box<dyn Source>, meter: Meter, context: &Context) -> Self {
        Self {
            source,
            meter,
            me: context.me(),
            phase: context.phase(),
            made: Vec::new(),
        }
    }

    /// Tells what has been made so far, and what it took, in the order in which each primitive was first made.
    pub fn made(&self) -> &[Made] {
        &self.made
    }

    /// Notes a call that `began` when the source had spent `before`.
    fn note(&mut self, primitive: Primitive, items: usize, began: Instant, before: PhaseCost) {
        let spent = self.meter.spent(self.phase).since(before);
        let (items, time) = (items as u64, began.elapsed());
        match self
            .made
            .iter_mut()
            .find(|made| made.primitive == primitive)
        {
            Some(made) => {
                made.items += items;
                made.time += time;
                made.spent += spent;
            }
            None => self.made.push(Made {
                primitive,
                items,
                time,
                spent,
            }),
        }
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
        self.source.close().await
    }
}

impl Source for Supply {
    fn items<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<AnyShares>> {
        Box::pin(async move {
            let (began, before) = (Instant::now(), self.meter.spent(self.phase));
            let shares = self.source.items(kind, count, made).await?;
            self.note(Primitive::Kind(kind), count, began, before);
            Ok(shares)
        })
    }

    fn products<'a>(
        &'a mut self,
        wanted: &'a [(Kind, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Vec<AnyShares>>> {
        Box::pin(async move {
            let (began, before) = (Instant::now(), self.meter.spent(self.phase));
            let shares = self.source.products(wanted, made).await?;
            let primitive = match wanted {
                [(kind, _), others @ ..] if others.iter().all(|(other, _)| other == kind) => {
                    Primitive::Kind(*kind)
                }
                _ => Primitive::Products,
            };
            let count = wanted.iter().map(|(_, count)| count).sum();
            self.note(primitive, count, began, before);
            Ok(shares)
        })
    }

    fn bit_triples_as_made<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
        hand: &'a Hand,
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (began, before) = (Instant::now(), self.meter.spent(self.phase));
            self.source.bit_triples_as_made(count, made, hand).await?;
            self.note(Primitive::Kind(Kind::BitTriples), count, began, before);
            Ok(())
        })
    }

    fn correlated_ots<'a>(
        &'a mut self,
        counts: &'a [(Direction, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<CorrelatedOts>> {
        Box::pin(async move {
            let (began, before) = (Instant::now(), self.meter.spent(self.phase));
            let rows = self.source.correlated_ots(counts, made).await?;
            let own = |&((from, to), count): &(Direction, usize)| {
                ([from, to].contains(&self.me)).then_some(count)
            };
            let items = counts.iter().filter_map(own).sum();
            self.note(Primitive::CorrelatedOts, items, began, before);
            Ok(rows)
        })
    }

    fn offset(&self) -> Option<Block> {
        self.source.offset()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        self.source.close()
    }
}
