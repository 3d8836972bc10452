//! A source's work on several threads: the items of a call are shared out among *lines*, which have
//! extensions of their own and run side by side.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::LocalBoxFuture;
use madrigal_core::Zeroizing;
use madrigal_correlations::{AnyShares, CorrelatedOts, Direction, Hand, Kind, Tripled, Width};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result, block_on, on_threads};

use crate::ot::base::Base;
use crate::ot::extension::Extension;
use crate::ot::in_order::InOrder;
use crate::ot::line::OtLine;
use crate::ot::links::OUT_OF_STEP;
use crate::ot::portions::ranges;
use crate::ot::recipe::Recipe;

/// The most threads of a source.
pub const MAX_THREADS: usize = 64;

/// Bytes that all lines together send a peer before they have heard of it: half of what a session
/// stores for steps that are not open yet.
const UNHEARD: usize = 128 << 20;

/// All lines of a source; none after a call that failed or was given up.
pub(crate) struct OtLines {
    context: Context,
    extension: Extension,
    lines: Vec<OtLine>,
    count: usize,
    offset: Zeroizing<Block>,
}

impl OtLines {
    pub(crate) fn new(context: &Context, base: Base, extension: Extension, count: usize) -> Self {
        let base = Arc::new(base);
        let offset = Zeroizing::new(base.delta());
        let line = |number: usize| {
            let context = match count {
                1 => context.clone(),
                _ => context.fork(&format!("thread {number}")),
            };
            OtLine::new(context, &base, extension, number as u32, UNHEARD / count)
        };
        Self {
            lines: (0..count).map(line).collect(),
            context: context.clone(),
            extension,
            count,
            offset,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn offset(&self) -> Block {
        *self.offset
    }

    /// Correlated OTs of all lines; `longest` of one direction at most.
    pub(crate) async fn correlated_ots(
        &mut self,
        longest: usize,
        counts: Arc<[(Direction, usize)]>,
        made: &dyn Fn(usize),
    ) -> Result<Vec<CorrelatedOts>> {
        let portions: Vec<_> = ranges(self.extension, longest, 1, self.count).collect();
        self.share(
            portions,
            made,
            async move |line: &mut OtLine, portion, made: &dyn Fn(usize)| {
                line.correlated_ots(&counts, portion, made).await
            },
        )
        .await
    }

    /// Boolean triples of all lines, handed out in order as they are made.
    pub(crate) async fn bit_triples_as_made(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        hand: &Hand,
    ) -> Result<()> {
        let portions: Vec<_> = ranges(self.extension, count, 1, self.count).collect();
        let counts: Vec<usize> = portions.iter().map(Range::len).collect();
        let order = Arc::new(InOrder::new(&counts, Arc::clone(hand)));
        self.share(
            portions,
            made,
            async move |line: &mut OtLine, portion: Range<usize>, made: &dyn Fn(usize)| {
                let (order, number) = (Arc::clone(&order), line.number as usize);
                let taker = Box::new(move |part| order.put(number, part));
                line.bit_triples_in_parts(portion.len(), made, taker).await
            },
        )
        .await?;
        Ok(())
    }

    /// From now on matrix triples are made by encryption.
    pub(crate) fn encrypt_matrices(&mut self) -> Result<()> {
        self.lines
            .first_mut()
            .map_or(Ok(()), OtLine::encrypt_matrices)
    }

    /// Makes items of a kind by its recipe, shared out among all lines.
    pub(crate) async fn items(
        &mut self,
        kind: Kind,
        recipe: Recipe,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<AnyShares> {
        let portions = ranges(self.extension, count, recipe.ots, self.count).collect();
        let work = async move |line: &mut OtLine, portion: Range<usize>, made: &dyn Fn(usize)| {
            line.items(kind, &recipe, portion.len(), made).await
        };
        let parts = self.share(portions, made, work).await?;
        Ok(AnyShares::concat(parts))
    }

    /// Makes triples of a product on one line.
    pub(crate) async fn products(
        &mut self,
        product: (Width, Tripled),
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<AnyShares> {
        let work = async move |line: &mut OtLine, _: Range<usize>, made: &dyn Fn(usize)| {
            line.products(product, count, made).await
        };
        let portions = ranges(self.extension, 1, 1, self.count).collect();
        let mut parts = self.share(portions, made, work).await?;
        Ok(parts.remove(0))
    }

    /// Makes triples of several products together, on one line that encrypts.
    pub(crate) async fn products_together(
        &mut self,
        width: Width,
        wanted: Vec<(Tripled, usize)>,
        made: &dyn Fn(usize),
    ) -> Result<Vec<AnyShares>> {
        let work = async move |line: &mut OtLine, _: Range<usize>, made: &dyn Fn(usize)| {
            line.products_together(width, &wanted, made).await
        };
        let portions = ranges(self.extension, 1, 1, self.count).collect();
        let mut parts = self.share(portions, made, work).await?;
        Ok(parts.remove(0))
    }

    async fn share<T: Send + 'static>(
        &mut self,
        portions: Vec<Range<usize>>,
        made: &dyn Fn(usize),
        work: impl AsyncFn(&mut OtLine, Range<usize>, &dyn Fn(usize)) -> Result<T>
        + Send
        + Sync
        + 'static,
    ) -> Result<Vec<T>> {
        let results: Arc<[Mutex<Option<T>>]> = portions.iter().map(|_| Mutex::default()).collect();
        let keep = Arc::clone(&results);
        let work = Arc::new(work);
        let work: Arc<PortionWork> = Arc::new(move |line, (index, portion), made| {
            let (keep, work) = (Arc::clone(&keep), Arc::clone(&work));
            Box::pin(async move {
                let portion = work(line, portion, made).await?;
                *lock(&keep[index]) = Some(portion);
                Ok(())
            })
        });
        self.share_out(portions, made, work).await?;
        let made = results.iter().filter_map(|slot| lock(slot).take());
        Ok(made.collect())
    }

    /// The part of [`share`](Self::share) that does not know what is made: boxed, so that it is compiled
    /// once.
    fn share_out<'a>(
        &'a mut self,
        portions: Vec<Range<usize>>,
        made: &'a dyn Fn(usize),
        work: Arc<PortionWork>,
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(async move {
            // Back again after success alone.
            let mut lines = std::mem::take(&mut self.lines);
            if lines.is_empty() {
                return Err(Error::Ended {
                    reason: OUT_OF_STEP.into(),
                });
            }
            let idle = lines.split_off(portions.len());
            // The lines' rounds are counted side by side, from here on.
            let clocks: Vec<Context> = lines.iter().map(|line| line.context.clone()).collect();
            clocks.iter().for_each(|clock| clock.join(&self.context));
            let work = side_by_side(&self.context, lines, portions, made, work);
            let mut lines = self.context.metered(work).await?;
            clocks.iter().for_each(|clock| self.context.join(clock));
            lines.extend(idle);
            self.lines = lines;
            Ok(())
        })
    }
}

/// Has each line make its portion, on a thread of its own where there are several.
async fn side_by_side(
    context: &Context,
    mut lines: Vec<OtLine>,
    portions: Vec<Range<usize>>,
    made: &dyn Fn(usize),
    work: Arc<PortionWork>,
) -> Result<Vec<OtLine>> {
    let portions = portions.into_iter().enumerate();
    if let [line] = &mut lines[..] {
        for portion in portions {
            work(line, portion, made).await?;
        }
        return Ok(lines);
    }
    let pieces = lines.into_iter().zip(portions).map(|(mut line, portion)| {
        let work = Arc::clone(&work);
        move |tell: &dyn Fn(usize)| {
            block_on(work(&mut line, portion, tell))?;
            Ok(line)
        }
    });
    on_threads(context, pieces, made).await
}

/// Work of a line on the portion with this number and these items; it keeps what it makes.
type PortionWork = dyn for<'a> Fn(
        &'a mut OtLine,
        (usize, Range<usize>),
        &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<()>>
    + Send
    + Sync;

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
