//! Correlations made in a trial, to learn how fast a machine makes them.
//!
//! The model of time knows of correlations how many AES blocks and OTs they take; what else is done for
//! each kind, and how well a machine does it while others use its memory, it does not. A trial makes a
//! few of the same kinds, and scales the rates so that the model comes to what was measured.

use std::time::Instant;

use madrigal_core::time::{Rates, Work};
use madrigal_core::{Party, PhaseCost, Product};
use madrigal_correlations::{Kind, MatrixShape, Needs, Stock, Tripled};
use madrigal_correlations_make::{Extension, Matrices, Origin, OtCosts, OtSource, SupplyCosts};
use madrigal_net::{Context, Result};

use crate::plan::Plan;

/// The most rows and columns of a matrix.
const SIDE: usize = 128;
/// The most entries of a matrix whose products are made by OT, a row of products each.
const ENTRIES: usize = 64;
/// Factor by which products are made faster by encryption than by OT, or less.
const BY_ENCRYPTION: f64 = 8.0;
/// The most by which a rate is scaled: beyond that a trial was disturbed.
const MOST: f64 = 64.0;

/// A few of the correlations that a plan needs, for parties in one process.
#[derive(Clone, Debug)]
pub struct Trial {
    extension: Extension,
    lattice: bool,
    needs: Needs,
}

/// Times of a trial, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct TrialTimes {
    /// The base OTs.
    pub base_ots: f64,
    /// The first call.
    pub first: f64,
    /// Another one.
    pub next: f64,
}

impl Plan {
    /// A trial of its correlations; `None` where none are made by OT.
    pub fn trial(&self) -> Option<Trial> {
        let needs = self.needs();
        match self.spec().origin {
            Origin::Ot {
                extension,
                matrices,
                ..
            } if !needs.is_empty() => {
                let lattice = matrices == Matrices::Lattice;
                Some(Trial::new(extension, lattice, &needs))
            }
            _ => None,
        }
    }
}

impl Trial {
    /// Trial of correlations such as `needs`.
    pub(crate) fn new(extension: Extension, lattice: bool, needs: &Needs) -> Self {
        let all: f64 = needs.kinds().iter().map(|&kind| ots(kind, lattice)).sum();
        let part = (together(extension) / all.max(1.0)).min(1.0);
        let mut few = Needs::new();
        for (kind, count) in needs.kinds() {
            let count = (count as f64 * part).ceil() as usize;
            few.add(smaller(kind, lattice), count.max(1));
        }
        Self {
            extension,
            lattice,
            needs: few,
        }
    }

    /// Makes them twice, together with the other parties of `context`.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network.
    pub async fn run(&self, context: &Context) -> Result<TrialTimes> {
        let mut last = Instant::now();
        let mut lap = || std::mem::replace(&mut last, Instant::now()).elapsed();
        let mut source = OtSource::new(context, self.extension).await?;
        if self.lattice {
            source = source.with_lattice_matrices()?;
        }
        let mut seconds = [lap().as_secs_f64(), 0.0, 0.0];
        for seconds in &mut seconds[1..] {
            let _ = Stock::fill(&mut source, &self.needs, &|_| {}).await?;
            *seconds = lap().as_secs_f64();
        }
        let [base_ots, first, next] = seconds;
        Ok(TrialTimes {
            base_ots,
            first,
            next,
        })
    }

    /// `rates`, but with those that a machine has by its trial, where each of `parties` parties had a core.
    #[must_use]
    pub fn rates(&self, rates: Rates, times: &TrialTimes, parties: usize) -> Rates {
        let source = OtCosts::new(self.extension, Party::new(0), parties);
        let mut costs = SupplyCosts::Ot(match self.lattice {
            true => source.with_lattice_matrices(),
            false => source,
        });
        let base = costs.start_work(&self.needs).base_ots;
        let [first, next] = [(); 2].map(|()| costs.fill(&self.needs));
        let begin = costs.first_work();
        let work = costs.work(&self.needs);
        let again = Work {
            tree_leaves: 0.0,
            silent_rows: work.silent_rows - begin.silent_rows,
            ..work
        };
        // Nothing goes through the operating system.
        let aes = |cost: PhaseCost| cost.aes_blocks as f64 / rates.aes_blocks;
        let besides = again.seconds(&rates).max(f64::MIN_POSITIVE);
        // All that is no AES, however little: the rates for AES come from a kernel.
        let slower = ((times.next - aes(next)) / besides).clamp(1.0 / MOST, MOST);
        let mut rates = Rates {
            extended_ots: rates.extended_ots / slower,
            silent_rows: rates.silent_rows / slower,
            base_ots: base / times.base_ots.max(1e-6),
            ..rates
        };
        if begin.tree_leaves > 0.0 {
            let begun = times.first - aes(first) - again.seconds(&rates);
            let usual = begin.tree_leaves / rates.tree_leaves;
            rates.tree_leaves = begin.tree_leaves / begun.clamp(usual / MOST, usual * MOST);
        }
        rates
    }
}

/// OTs of a call, about: a tenth of a second's work on one core at most. Silent ones are made by iterations that
/// begin with more work than they go on with: one of them, some tenths of a second.
fn together(extension: Extension) -> f64 {
    match extension {
        Extension::SoftSpoken(_) => (1 << 19) as f64,
        Extension::Silent => (1 << 22) as f64,
    }
}

/// OTs that items of a kind take, about; by encryption, OTs that take as long.
fn ots((kind, count): (Kind, usize), lattice: bool) -> f64 {
    let all = kind.descriptor().ots as f64 * count as f64;
    // Several, so that parties do not wait for each other as they do at the ends of a call.
    if lattice && kind.product().is_some() {
        all / BY_ENCRYPTION
    } else {
        all
    }
}

/// Kind with smaller matrices, whose rows of products are as long, and between the two parties of a
/// trial.
fn smaller(kind: Kind, lattice: bool) -> Kind {
    if let Kind::CorrelatedOts { sender, receiver } = kind {
        let [sender, receiver] = match sender < receiver {
            true => [0, 1],
            false => [1, 0],
        }
        .map(Party::new);
        return Kind::CorrelatedOts { sender, receiver };
    }
    let Some((width, tripled)) = kind.product() else {
        return kind;
    };
    let (_, shape) = tripled.product.pieces();
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let shape = if lattice {
        MatrixShape {
            rows: rows.min(SIDE),
            inner: inner.min(SIDE),
            columns: columns.min(SIDE),
        }
    } else {
        let (short, long) = (rows.min(columns), rows.max(columns));
        let rows = short.min(ENTRIES);
        MatrixShape {
            rows,
            inner: inner.min((ENTRIES / rows.max(1)).max(1)),
            columns: long.min(64 * SIDE),
        }
    };
    let tripled = Tripled {
        product: Product::Matrices(1, shape),
        ..tripled
    };
    Kind::of_product(width, tripled).0
}
