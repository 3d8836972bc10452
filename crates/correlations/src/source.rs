//! Where correlations come from.

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_net::{Channel, Context, Result};

use crate::BitTripleSource;
use crate::base::{Base, Stream, base_cost};
use crate::bit_triples::BitTriples;
use crate::extension::Extension;
use crate::ledger::Ledger;
use crate::links::{Layout, Links};
use crate::matrices::{self, MatrixLayout, MatrixShape, MatrixTriple};
use crate::ot_triples::{BitCall, BitLayout};
use crate::rings::{self, RingTriples, SharedBits, SquarePairs};
use crate::vectors::{VectorCall, VectorLayout, VectorTriples};

/// A place that correlations of every kind come from.
///
/// All parties call the same methods with the same counts in the same order. `made` hears, as it
/// goes, how many more items are done. Errors are those of the network; a failure leaves the source
/// unusable.
pub trait Source: BitTripleSource {
    /// Makes this party's shares of `count` fresh triples over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<RingTriples<T>>>;

    /// Makes this party's shares of `count` fresh square pairs over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SquarePairs<T>>>;

    /// Makes this party's shares of `count` fresh random bits over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SharedBits<T>>>;

    /// Makes this party's shares of a fresh matrix triple over Z_2^l. `made` hears of products of
    /// elements.
    ///
    /// # Errors
    /// Those of the network.
    fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<MatrixTriple<T>>>;

    /// Makes this party's shares of `count` fresh vector triples, of vectors of `length` bits.
    ///
    /// # Errors
    /// Those of the network.
    fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<VectorTriples>>;
}

/// Makes every kind by oblivious transfer between all pairs of parties, over an [`Extension`] of one's
/// choice, and needs to trust nobody.
///
/// The base OTs are run once; each group of kinds (Boolean triples; ring triples, square pairs and
/// shared bits of every width; matrix triples; vector triples) starts extensions of its own from them
/// when it is first asked for. [`OtCosts`] knows what all of it costs.
pub struct OtSource {
    context: Context,
    extension: Extension,
    base: Base,
    /// By [`Stream`].
    links: [Option<Links>; 4],
    opening: Vec<Channel>,
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
    /// Those of the network; a peer's malformed message.
    pub async fn new(context: &Context, extension: Extension) -> Result<Self> {
        let context = context.step("correlations");
        Ok(Self {
            base: Base::new(&context, extension).await?,
            links: [const { None }; 4],
            opening: context.step("shared bits").channels()?,
            extension,
            context,
        })
    }

    /// The extension that it was made with.
    pub fn extension(&self) -> Extension {
        self.extension
    }

    /// The links of a stream, made first if they are not there yet.
    fn links(&mut self, stream: Stream) -> Result<&mut Links> {
        match &mut self.links[stream as usize] {
            Some(links) => Ok(links),
            place => {
                let links = Links::new(&self.context, &self.base, self.extension, stream)?;
                Ok(place.insert(links))
            }
        }
    }
}

impl BitTripleSource for OtSource {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        let parties = self.context.parties();
        let mut call = BitCall::new(&self.context, BitLayout { parties, count });
        if count > 0 {
            self.links(Stream::Bits)?.run(&mut call, made).await?;
        }
        Ok(call.finish())
    }
}

impl Source for OtSource {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        let context = self.context.clone();
        rings::triples(self.links(Stream::Rings)?, &context, count, made).await
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        let context = self.context.clone();
        rings::squares(self.links(Stream::Rings)?, &context, count, made).await
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        let context = self.context.clone();
        let mut opening = std::mem::take(&mut self.opening);
        let links = self.links(Stream::Rings)?;
        let bits = rings::shared_bits(links, &mut opening, &context, count, made).await?;
        self.opening = opening;
        Ok(bits)
    }

    async fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> Result<MatrixTriple<T>> {
        let context = self.context.clone();
        matrices::triple(self.links(Stream::Matrices)?, &context, shape, made).await
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let mut call = VectorCall::new(&self.context, VectorLayout { length, count });
        if count > 0 {
            self.links(Stream::Vectors)?.run(&mut call, made).await?;
        }
        Ok(call.finish())
    }
}

/// What an [`OtSource`] costs one party, call by call: asked for the same kinds and counts in the same
/// order, it gives what each call will spend, to the byte. What a group of kinds spends to begin is in
/// its first call.
#[derive(Clone, Debug)]
pub struct OtCosts {
    parties: usize,
    /// By [`Stream`].
    ledgers: [Ledger; 4],
}

impl OtCosts {
    /// Those of a new source with `extension`, for `me` of `parties` parties.
    pub fn new(extension: Extension, me: Party, parties: usize) -> Self {
        Self {
            parties,
            ledgers: std::array::from_fn(|_| Ledger::new(extension, me, parties)),
        }
    }

    /// Cost of [`OtSource::new`].
    pub fn base(&self) -> PhaseCost {
        base_cost(self.parties)
    }

    fn call(&mut self, stream: Stream, layout: &impl Layout) -> PhaseCost {
        self.ledgers[stream as usize].call(layout)
    }

    /// Cost of [`bit_triples`](BitTripleSource::bit_triples): for each peer an OT each way, and a bit
    /// to each peer but one. One round for two parties, else two.
    pub fn bit_triples(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        self.call(Stream::Bits, &BitLayout { parties, count })
    }

    /// Cost of [`ring_triples`](Source::ring_triples): for each peer l OTs and l (l + 1) / 2 bits each
    /// way, per triple. Two rounds.
    pub fn ring_triples<T: Ring>(&mut self, count: usize) -> PhaseCost {
        self.call(Stream::Rings, &rings::triples_layout::<T>(count))
    }

    /// Cost of [`square_pairs`](Source::square_pairs): for each peer l - 1 OTs, half of them each way,
    /// with l (l - 1) / 2 bits, per pair. Two rounds.
    pub fn square_pairs<T: Ring>(&mut self, count: usize) -> PhaseCost {
        self.call(Stream::Rings, &rings::once_layout::<T>(count))
    }

    /// Cost of [`shared_bits`](Source::shared_bits): that of a square pair and l - 1 bits to each peer,
    /// per bit. Three rounds.
    pub fn shared_bits<T: Ring>(&mut self, count: usize) -> PhaseCost {
        self.square_pairs::<T>(count) + rings::opening_cost::<T>(self.parties, count)
    }

    /// Cost of [`matrix_triple`](Source::matrix_triple): with p = min(m, n), q = max(m, n), to each
    /// peer p k l OTs, and as many strings of q elements that take half their bytes. Two rounds.
    pub fn matrix_triple<T: Ring>(&mut self, shape: MatrixShape) -> PhaseCost {
        self.call(Stream::Matrices, &MatrixLayout::new::<T>(shape))
    }

    /// Cost of [`vector_triples`](Source::vector_triples): an OT with each peer and the bytes of a
    /// vector to all peers but one, per triple. One round for two parties, else two.
    pub fn vector_triples(&mut self, length: usize, count: usize) -> PhaseCost {
        self.call(Stream::Vectors, &VectorLayout { length, count })
    }
}
