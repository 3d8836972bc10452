//! A source's work on several threads: the items of a call are shared out among *lines*, which have
//! extensions of their own and run side by side.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::LocalBoxFuture;
use madrigal_core::{PhaseCost, Ring, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result, block_on, on_threads};

use crate::base::{Base, Group, Stream};
use crate::bit_triples::BitTriples;
use crate::correlated::{CorrelatedOts, Direction, RowsCall, RowsLayout};
use crate::extension::Extension;
use crate::in_order::{Hand, InOrder};
use crate::links::{Links, OUT_OF_STEP};
use crate::matrices::{self, Encrypted, ProductTriple, Tripled};
use crate::ot_triples::{BitCall, BitLayout, Taker};
use crate::rings::{self, RingTriples, SquarePairs};
use crate::rows::Pool;
use crate::shared_bits::{ChainCall, SharedBits};
use crate::vectors::{VectorCall, VectorLayout, VectorTriples};

/// The most threads of a source.
pub const MAX_THREADS: usize = 64;

/// Bytes that all lines together send a peer before they have heard of it: half of what a session
/// stores for steps that are not open yet.
const UNHEARD: usize = 128 << 20;

/// A call's portions are multiples of this many OTs, but for the last one: about a millisecond's work with
/// SoftSpoken, and what makes up for the start of silent OT. Beside it, starting a thread costs nothing.
fn unit(extension: Extension) -> usize {
    match extension {
        Extension::SoftSpoken(_) => 1 << 16,
        Extension::Silent => 1 << 21,
    }
}

/// How `count` items, each of several OTs, are shared out among `lines`: all portions but the last are
/// of equal length and whole bytes, and there are no more than are worth a thread. One at least.
pub(crate) fn portions(
    extension: Extension,
    count: usize,
    ots: usize,
    lines: usize,
) -> impl ExactSizeIterator<Item = usize> + Clone {
    let unit = (unit(extension) / ots.max(1)).next_multiple_of(8).max(8);
    let each = match lines {
        1 => count.max(1),
        _ => count.max(1).div_ceil(lines).next_multiple_of(unit),
    };
    (0..count.div_ceil(each).max(1)).map(move |portion| each.min(count - portion * each))
}

/// The numbers of the items of each portion.
pub(crate) fn ranges(
    extension: Extension,
    count: usize,
    ots: usize,
    lines: usize,
) -> impl Iterator<Item = Range<usize>> {
    portions(extension, count, ots, lines).scan(0, |start, len| {
        let portion = *start..*start + len;
        *start = portion.end;
        Some(portion)
    })
}

/// The cost of what runs side by side.
pub(crate) fn beside(costs: impl Iterator<Item = PhaseCost>) -> PhaseCost {
    costs.fold(PhaseCost::default(), |total, cost| PhaseCost {
        rounds: total.rounds.max(cost.rounds),
        ..total + cost
    })
}

/// The extensions of one thread with all peers, one for each group of kinds.
pub(crate) struct Line {
    number: u32,
    context: Context,
    base: Arc<Base>,
    extension: Extension,
    /// Its part of [`UNHEARD`].
    unheard: usize,
    /// By [`Group`].
    links: [Option<Links>; Group::COUNT],
    /// Makes matrix triples in place of the links, where it can.
    encrypted: Option<Encrypted>,
    /// Of rows.
    pool: Pool,
}

impl Line {
    pub(crate) fn new(
        context: Context,
        base: &Arc<Base>,
        extension: Extension,
        number: u32,
        unheard: usize,
    ) -> Result<Self> {
        Ok(Self {
            number,
            unheard,
            base: Arc::clone(base),
            extension,
            links: [const { None }; Group::COUNT],
            encrypted: None,
            pool: Pool::default(),
            context,
        })
    }

    /// The links of a group, made first if they are not there yet, which is work even for no items.
    async fn links(&mut self, group: Group) -> Result<&mut Links> {
        match &mut self.links[group as usize] {
            Some(links) => Ok(links),
            place => {
                let stream = Stream {
                    group,
                    line: self.number,
                };
                let (context, base) = (&self.context, &self.base);
                let links = Links::new(context, base, self.extension, stream, self.unheard);
                Ok(place.insert(links.await?))
            }
        }
    }

    pub(crate) async fn bit_triples(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<BitTriples> {
        let parties = self.context.parties();
        let mut call = BitCall::new(&self.context, BitLayout { parties, count });
        if count > 0 {
            self.links(Group::Bits).await?.run(&mut call, made).await?;
        }
        Ok(call.finish())
    }

    /// The same, given to `taker` part by part.
    async fn bit_triples_in_parts(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        taker: Taker,
    ) -> Result<()> {
        let parties = self.context.parties();
        let mut call = BitCall::in_parts(&self.context, BitLayout { parties, count }, taker);
        if count > 0 {
            self.links(Group::Bits).await?.run(&mut call, made).await?;
        }
        Ok(())
    }

    pub(crate) async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        if count == 0 {
            return Ok(RingTriples::concat(Vec::new()));
        }
        let context = self.context.clone();
        rings::triples(self.links(Group::Rings).await?, &context, count, made).await
    }

    pub(crate) async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        if count == 0 {
            return Ok(SquarePairs::concat(Vec::new()));
        }
        let context = self.context.clone();
        rings::squares(self.links(Group::Rings).await?, &context, count, made).await
    }

    pub(crate) async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        let mut call = ChainCall::new(&self.context, count);
        if count > 0 {
            self.links(Group::Rings).await?.run(&mut call, made).await?;
        }
        Ok(call.finish())
    }

    pub(crate) async fn product_triples<T: Ring>(
        &mut self,
        one: Tripled,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let context = self.context.clone();
        if count == 0 || one.product.multiplications() == 0 {
            return Ok(matrices::empty(&context, one, count));
        }
        if let Some(encrypted) = self.encrypted.as_mut().filter(|_| matrices::serves::<T>()) {
            return encrypted.triples(one, count, made).await;
        }
        let links = self.links(Group::Matrices).await?;
        matrices::triples(links, &context, one, count, made).await
    }

    pub(crate) async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let mut call = VectorCall::new(&self.context, VectorLayout { length, count });
        if count > 0 {
            self.links(Group::Vectors)
                .await?
                .run(&mut call, made)
                .await?;
        }
        Ok(call.finish())
    }

    async fn correlated_ots(
        &mut self,
        counts: &Arc<[(Direction, usize)]>,
        portion: Range<usize>,
        made: &dyn Fn(usize),
    ) -> Result<CorrelatedOts> {
        let any = !portion.is_empty();
        let layout = RowsLayout::new(self.context.me(), counts, portion);
        let mut call = RowsCall::new(&self.context, layout, &self.pool);
        if any {
            self.links(Group::Rows).await?.run(&mut call, made).await?;
        }
        Ok(call.finish())
    }
}

/// All lines of a source; none after a call that failed or was given up.
pub(crate) struct Lines {
    context: Context,
    extension: Extension,
    lines: Vec<Line>,
    count: usize,
    offset: Zeroizing<Block>,
}

impl Lines {
    pub(crate) fn new(
        context: &Context,
        base: Base,
        extension: Extension,
        count: usize,
    ) -> Result<Self> {
        let base = Arc::new(base);
        let offset = Zeroizing::new(base.delta());
        let line = |number: usize| {
            let context = match count {
                1 => context.clone(),
                _ => context.fork(&format!("thread {number}")),
            };
            Line::new(context, &base, extension, number as u32, UNHEARD / count)
        };
        Ok(Self {
            lines: (0..count).map(line).collect::<Result<_>>()?,
            context: context.clone(),
            extension,
            count,
            offset,
        })
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
            async move |line: &mut Line, portion, made: &dyn Fn(usize)| {
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
            async move |line: &mut Line, portion: Range<usize>, made: &dyn Fn(usize)| {
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
        if let Some(line) = self.lines.first_mut() {
            line.encrypted = Some(Encrypted::new(&line.context)?);
        }
        Ok(())
    }

    /// Has the lines make `count` items of this many OTs each; the portions, in order.
    pub(crate) async fn run<T: Send + 'static>(
        &mut self,
        count: usize,
        ots: usize,
        made: &dyn Fn(usize),
        work: impl AsyncFn(&mut Line, usize, &dyn Fn(usize)) -> Result<T> + Copy + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let portions: Vec<_> = ranges(self.extension, count, ots, self.count).collect();
        self.share(
            portions,
            made,
            async move |line: &mut Line, portion: Range<usize>, made: &dyn Fn(usize)| {
                work(line, portion.len(), made).await
            },
        )
        .await
    }

    async fn share<T: Send + 'static>(
        &mut self,
        portions: Vec<Range<usize>>,
        made: &dyn Fn(usize),
        work: impl AsyncFn(&mut Line, Range<usize>, &dyn Fn(usize)) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let results: Arc<[Mutex<Option<T>>]> = portions.iter().map(|_| Mutex::default()).collect();
        let keep = Arc::clone(&results);
        let work = Arc::new(work);
        let work: Arc<Work> = Arc::new(move |line, (index, portion), made| {
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

    /// The part of [`run`](Self::run) that does not know what is made: boxed, so that it is compiled
    /// once.
    fn share_out<'a>(
        &'a mut self,
        portions: Vec<Range<usize>>,
        made: &'a dyn Fn(usize),
        work: Arc<Work>,
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
    mut lines: Vec<Line>,
    portions: Vec<Range<usize>>,
    made: &dyn Fn(usize),
    work: Arc<Work>,
) -> Result<Vec<Line>> {
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
type Work = dyn for<'a> Fn(
        &'a mut Line,
        (usize, Range<usize>),
        &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<()>>
    + Send
    + Sync;

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
