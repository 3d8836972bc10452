//! Costs of correlations by oblivious transfer.

use std::sync::Arc;

use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::{Direction, Kind, Needs, Tripled, Width, calls, with_ring};
use madrigal_ot::KAPPA;

use crate::ot::base::{Group, base_cost};
use crate::ot::choice::bit_triple_work;
use crate::ot::extension::Extension;
use crate::ot::layout::CallLayout;
use crate::ot::ledger::Ledger;
use crate::ot::matrices::{self, EncryptedCosts, MatrixLayout};
use crate::ot::portions::{beside, portions, ranges};
use crate::ot::recipe::Recipe;
use crate::ot::recipes::recipe;
use crate::ot::rows::RowsLayout;
use crate::ot::together::{ProductCall, groups};

/// Costs of an [`OtSource`](crate::OtSource) for one party, call by call: asked for the same kinds and counts in the same
/// order, it gives what each call will spend, to the byte. What a group of kinds spends to begin is in
/// its first call.
#[derive(Clone, Debug)]
pub struct OtCosts {
    extension: Extension,
    me: Party,
    parties: usize,
    /// By line, by [`Group`].
    ledgers: Vec<[Ledger; Group::COUNT]>,
    encrypted: Option<EncryptedCosts>,
}

impl OtCosts {
    /// Makes the costs of a new source with `extension`, for `me` of `parties` parties.
    pub fn new(extension: Extension, me: Party, parties: usize) -> Self {
        Self::with_threads(extension, 1, me, parties)
    }

    /// Makes the costs of [`OtSource::with_threads`](crate::OtSource::with_threads).
    pub fn with_threads(extension: Extension, threads: usize, me: Party, parties: usize) -> Self {
        let ledgers = || std::array::from_fn(|_| Ledger::new(extension, me, parties));
        Self {
            extension,
            me,
            parties,
            ledgers: (0..threads).map(|_| ledgers()).collect(),
            encrypted: None,
        }
    }

    /// Makes them the costs of [`OtSource::with_lattice_matrices`](crate::OtSource::with_lattice_matrices).
    #[must_use]
    pub fn with_lattice_matrices(self) -> Self {
        Self {
            encrypted: Some(EncryptedCosts::default()),
            ..self
        }
    }

    /// Cost of [`OtSource::new`](crate::OtSource::new).
    pub fn base(&self) -> PhaseCost {
        base_cost(self.parties)
    }

    /// Gives the work of [`OtSource::new`](crate::OtSource::new) beside AES blocks: with each peer, base OTs in both directions.
    pub(crate) fn base_work(&self) -> Work {
        Work {
            base_ots: 2.0 * (KAPPA * (self.parties - 1)) as f64,
            ..Work::default()
        }
    }

    /// Gives the work of calls for Boolean triples beside AES blocks, `count` triples together.
    pub(crate) fn bit_triples_work(&self, count: u64) -> Work {
        let lines = portions(self.extension, count as usize, 1, self.ledgers.len()).len();
        bit_triple_work(self.extension, count, lines).times((self.parties - 1) as f64)
    }

    /// Gives the work of making `needs` beside AES blocks, matrices by encryption priced as the OTs that take as long.
    pub(crate) fn work(&self, needs: &Needs) -> Work {
        let (triples, transforms) = self.counts(needs);
        let mut work = self.bit_triples_work(triples);
        work.extended_ots += transforms as f64 * OF_TRANSFORM * (self.parties - 1) as f64;
        work
    }

    pub(crate) fn parties(&self) -> usize {
        self.parties
    }

    /// Counts the OTs that `needs` are worth, and the transforms of what is encrypted among them.
    fn counts(&self, needs: &Needs) -> (u64, u64) {
        let (mut triples, mut transforms) = (0, 0);
        for (kind, count) in needs.kinds() {
            let encrypted = match kind.product() {
                Some((width, one)) if self.encrypted.is_some() => matrices::transforms(width, one),
                _ => None,
            };
            match encrypted {
                Some(each) => transforms += each * count as u64,
                None => triples += kind.descriptor().ots * count as u64,
            }
        }
        (triples, transforms)
    }

    /// Gives the number of threads that share the work of `needs`: encryption has all of them, and of the lines as many
    /// make OTs as these are worth.
    pub(crate) fn threads(&self, needs: &Needs) -> usize {
        let lines = self.ledgers.len();
        match self.counts(needs) {
            (_, 1..) => lines,
            (ots, 0) => portions(self.extension, ots as usize, 1, lines).len(),
        }
    }

    /// Gives the cost of the next call of [`Source::items`](madrigal_correlations::Source::items).
    pub fn call(&mut self, kind: Kind, count: usize) -> PhaseCost {
        self.calls(kind, count, 1)
    }

    /// Gives the cost of `times` such calls, one after the other, but for triples of products by
    /// arithmetic: it takes no longer for many.
    pub fn calls(&mut self, kind: Kind, count: usize, times: u64) -> PhaseCost {
        match (kind, recipe(kind)) {
            (_, Some(recipe)) => {
                // The first call is by itself: lines may begin in it.
                let first = self.by_recipe(&recipe, count, times.min(1));
                first + self.by_recipe(&recipe, count, times.saturating_sub(1))
            }
            (Kind::CorrelatedOts { sender, receiver }, None) => self.each(times, |costs| {
                costs.correlated_ots(&[((sender, receiver), count)])
            }),
            (_, None) => match kind.product() {
                Some(product) => self.each(times, |costs| costs.products(product, count)),
                None => PhaseCost::default(),
            },
        }
    }

    fn each(&mut self, times: u64, one: impl Fn(&mut Self) -> PhaseCost) -> PhaseCost {
        (0..times).fold(PhaseCost::default(), |total, _| total + one(self))
    }

    /// Gives the cost of `count` more items of a kind, in the calls in which a stock has them made.
    pub fn items(&mut self, kind: Kind, count: usize) -> PhaseCost {
        calls(kind, count).fold(PhaseCost::default(), |total, now| {
            total + self.call(kind, now)
        })
    }

    /// Gives the cost of a new source, and of filling a stock or a store from it: base OTs included. The source is
    /// called several times for a kind, each time but the last for as many items as `batch` says.
    #[must_use]
    pub fn filling(mut self, needs: &Needs, batch: impl Fn(Kind) -> usize) -> PhaseCost {
        if needs.is_empty() {
            return PhaseCost::default();
        }
        let mut total = self.base();
        for (kind, count) in needs.kinds() {
            if let Kind::CorrelatedOts { .. } = kind {
                // All directions at once, at the end.
                continue;
            }
            let batch = batch(kind).max(1);
            for start in (0..count).step_by(batch) {
                total += self.items(kind, batch.min(count - start));
            }
        }
        let correlated = needs.all_correlated_ots();
        if !correlated.is_empty() {
            total += self.correlated_ots(&correlated);
        }
        total
    }

    fn by_recipe(&mut self, recipe: &Recipe, count: usize, times: u64) -> PhaseCost {
        let portions = portions(self.extension, count, recipe.ots, self.ledgers.len());
        let group = recipe.group as usize;
        let lines = self.ledgers.iter_mut().zip(portions);
        let parties = self.parties;
        beside(
            lines.map(|(line, count)| line[group].calls(&*(recipe.layout)(parties, count), times)),
        )
    }

    fn products(&mut self, (width, one): (Width, Tripled), count: usize) -> PhaseCost {
        let (me, parties) = (self.me, self.parties);
        with_ring!(width, T => match &mut self.encrypted {
            Some(encrypted) if matrices::serves::<T>() => {
                encrypted.triples::<T>((me, parties), &[(one, count)])
            }
            _ => {
                let layout = MatrixLayout::new::<T>(me, one, count);
                self.on_one_line(Group::Matrices, &layout)
            }
        })
    }

    /// Gives the cost of the next call of [`Source::products`](madrigal_correlations::Source::products).
    pub fn products_of(&mut self, wanted: &[(Kind, usize)]) -> PhaseCost {
        let who = (self.me, self.parties);
        let groups = groups(wanted, self.encrypted.is_some());
        groups
            .into_iter()
            .fold(PhaseCost::default(), |total, group| {
                total
                    + match (group, &mut self.encrypted) {
                        (ProductCall::One(kind, count), _) => self.call(kind, count),
                        (ProductCall::Together(width, products), Some(encrypted)) => {
                            with_ring!(width, T => encrypted.triples::<T>(who, &products))
                        }
                        (ProductCall::Together(..), None) => {
                            unreachable!("they are together where they are encrypted")
                        }
                    }
            })
    }

    fn on_one_line(&mut self, group: Group, layout: &dyn CallLayout) -> PhaseCost {
        let lines = self.ledgers.iter_mut().take(1);
        beside(lines.map(|line| line[group as usize].calls(layout, 1)))
    }

    /// Gives the cost of [`correlated_ots`](madrigal_correlations::Source::correlated_ots): an OT each, without hashes. One round; two
    /// with silent OT in the first call.
    pub fn correlated_ots(&mut self, counts: &[(Direction, usize)]) -> PhaseCost {
        let longest = RowsLayout::longest(counts);
        let counts: Arc<[(Direction, usize)]> = counts.into();
        let (me, lines) = (self.me, self.ledgers.len());
        let ranges = ranges(self.extension, longest, 1, lines);
        let lines = self.ledgers.iter_mut().zip(ranges);
        beside(lines.map(|(line, portion)| {
            line[Group::Rows as usize].calls(&RowsLayout::new(me, &counts, portion), 1)
        }))
    }
}

/// OTs that are extended in the time of a [transform](madrigal_lattice::Layout::transforms): measured on a core with
/// AVX-512, by networks whose setup is little else.
const OF_TRANSFORM: f64 = 12_500.0;
