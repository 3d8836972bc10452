//! Correlations by oblivious transfer.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_correlations::{AnyShares, CorrelatedOts, Direction, Hand, Kind, Source, Width};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};

use crate::ot::base::Base;
use crate::ot::extension::Extension;
use crate::ot::lines::{MAX_THREADS, OtLines};
use crate::ot::recipes::recipe;
use crate::ot::rows::RowsLayout;
use crate::ot::together::{ProductCall, groups};

/// Makes every kind by oblivious transfer between all pairs of parties, over an [`Extension`] of one's
/// choice, and needs to trust nobody.
///
/// The base OTs are run once; each group of kinds (Boolean triples; ring triples, square pairs and
/// shared bits of every width; matrix triples; vector triples) starts extensions of its own from them
/// when it is first asked for. [`OtCosts`](crate::OtCosts) knows what all of it costs.
pub struct OtSource {
    context: Context,
    extension: Extension,
    lines: OtLines,
    /// Whether triples of products are made by encryption, where it serves.
    encrypts: bool,
}

impl std::fmt::Debug for OtSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OtSource({:?}, {})", self.context, self.extension)
    }
}

impl OtSource {
    /// Runs the base OTs with all peers, two rounds. All parties name the same extension.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub async fn new(context: &Context, extension: Extension) -> Result<Self> {
        Self::with_threads(context, extension, 1).await
    }

    /// Runs the base OTs for a source whose calls for many items compute on up to `threads` threads at a time, 1 to
    /// [`MAX_THREADS`], each with extensions of its own (of the same base OTs), and so with what these
    /// begin with and keep. All parties name the same number; one means the caller's thread. Triples
    /// of products are made one after the other, each shared out among the [crew](madrigal_kernels::crew) at work.
    ///
    /// # Errors
    /// [`Error`] in the same cases as [`new`](Self::new).
    ///
    /// # Panics
    /// Without threads, or with more.
    pub fn with_threads(
        context: &Context,
        extension: Extension,
        threads: usize,
    ) -> LocalBoxFuture<'_, Result<Self>> {
        assert!(
            (1..=MAX_THREADS).contains(&threads),
            "a source computes on 1 to {MAX_THREADS} threads"
        );
        Box::pin(Self::begin(context, extension, threads))
    }

    async fn begin(context: &Context, extension: Extension, threads: usize) -> Result<Self> {
        let context = context.step("correlations");
        let base = context.metered(Base::new(&context)).await?;
        Ok(Self {
            lines: OtLines::new(&context, base, extension, threads),
            extension,
            encrypts: false,
            context,
        })
    }

    /// From now on makes matrix triples of up to 64 bits by encryption ([`madrigal_lattice`])
    /// instead of OT: for all but the smallest matrices that is a fraction of the bytes and of
    /// the time. It rests on one more assumption, ring learning with errors. All parties do the same; local.
    /// Large matrices take up to 26 MB for a message, and 67 MB for what each peer has sent.
    ///
    /// # Errors
    /// The job's failure; a second call.
    pub fn with_lattice_matrices(mut self) -> Result<Self> {
        self.lines.encrypt_matrices()?;
        self.encrypts = true;
        Ok(self)
    }

    /// The extension that it was made with.
    pub fn extension(&self) -> Extension {
        self.extension
    }

    /// On how many threads it computes, at most.
    pub fn threads(&self) -> usize {
        self.lines.count()
    }
}

/// Calls are boxed, so that they are compiled here: what is generic or `async` to the outside is
/// compiled again by every crate that has a source.
impl Source for OtSource {
    fn items<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<AnyShares>> {
        Box::pin(self.make(kind, count, made))
    }

    fn products<'a>(
        &'a mut self,
        wanted: &'a [(Kind, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Vec<AnyShares>>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(wanted.len());
            for group in groups(wanted, self.encrypts) {
                match group {
                    ProductCall::One(kind, count) => all.push(self.make(kind, count, made).await?),
                    ProductCall::Together(width, products) => {
                        for (&(one, _), &(kind, count)) in products.iter().zip(&wanted[all.len()..])
                        {
                            one.check(self.context.parties())?;
                            self.tally(kind, count);
                        }
                        let triples = self.lines.products_together(width, products, made);
                        all.extend(triples.await?);
                    }
                }
            }
            Ok(all)
        })
    }

    fn bit_triples_as_made<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
        hand: &'a Hand,
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.tally(Kind::BitTriples, count);
            self.lines.bit_triples_as_made(count, made, hand).await
        })
    }

    fn correlated_ots<'a>(
        &'a mut self,
        counts: &'a [(Direction, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<CorrelatedOts>> {
        Box::pin(async move {
            let tally =
                |&((from, to), count): &(Direction, usize)| [from.index(), to.index(), count];
            let tally: Vec<usize> = counts.iter().flat_map(tally).collect();
            self.context.tally("correlated OTs", &tally);
            let longest = RowsLayout::longest(counts);
            let counts: Arc<[(Direction, usize)]> = counts.into();
            let parts = self.lines.correlated_ots(longest, counts, made).await?;
            Ok(CorrelatedOts::concat(parts))
        })
    }

    fn offset(&self) -> Option<Block> {
        Some(self.lines.offset())
    }
}

impl OtSource {
    async fn make(&mut self, kind: Kind, count: usize, made: &dyn Fn(usize)) -> Result<AnyShares> {
        if let Some(recipe) = recipe(kind) {
            self.tally(kind, count);
            return self.lines.items(kind, recipe, count, made).await;
        }
        let Some((width, one)) = kind.product() else {
            let reason = format!("{kind} are made for all directions at once; ask for them so");
            return Err(Error::Ended { reason });
        };
        one.check(self.context.parties())?;
        self.tally(kind, count);
        self.lines.products((width, one), count, made).await
    }

    /// Tells the job of a call, which all parties must make alike.
    fn tally(&self, kind: Kind, count: usize) {
        let said = kind.descriptor();
        let mut numbers = vec![count];
        numbers.extend(said.ring.map(Width::bits));
        numbers.extend(said.left.map(|left| 1 + left.index()));
        numbers.extend(said.numbers);
        self.context.tally(said.name, &numbers);
    }
}
