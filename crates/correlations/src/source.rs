//! Where correlations come from.

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_net::{Context, Result};

use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::matrices::{MatrixShape, MatrixTriple, OtMatrices};
use crate::ot_triples::OtTriples;
use crate::pairs::{Base, base_cost, stream_cost};
use crate::rings::{OtRings, RingTriples, SharedBits, SquarePairs};
use crate::vectors::{OtVectors, VectorTriples};

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

/// Makes every kind by oblivious transfer between all pairs of parties, and needs to trust nobody.
///
/// The base OTs are run once; each kind starts extensions of its own from them when it is first asked
/// for ([`OtSource::open_cost`]).
pub struct OtSource {
    context: Context,
    base: Base,
    bits: Option<OtTriples>,
    rings: Option<OtRings>,
    matrices: Option<OtMatrices>,
    vectors: Option<OtVectors>,
}

impl std::fmt::Debug for OtSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OtSource({:?})", self.context)
    }
}

impl OtSource {
    /// Runs the base OTs with all peers. Two rounds; [`base_cost`].
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn new(context: &Context) -> Result<Self> {
        let context = context.step("correlations");
        Ok(Self {
            base: Base::new(&context).await?,
            context,
            bits: None,
            rings: None,
            matrices: None,
            vectors: None,
        })
    }

    /// Cost of [`new`](Self::new) for one of `parties` parties.
    pub fn base_cost(parties: usize) -> PhaseCost {
        base_cost(parties)
    }

    /// Cost of the first call for a group of kinds that share extensions: Boolean triples; ring
    /// triples, square pairs and shared bits of every width; matrix triples; vector triples. Local.
    pub fn open_cost(parties: usize) -> PhaseCost {
        stream_cost(parties)
    }

    /// Cost for `me` of [`bit_triples`](BitTripleSource::bit_triples), as
    /// [`OtTriples::cost`].
    pub fn bit_triples_cost(me: Party, parties: usize, count: usize) -> PhaseCost {
        OtTriples::cost(me.index(), parties, count)
    }

    /// Cost for `me` of [`ring_triples`](Source::ring_triples), two rounds: for each peer 2 l OTs,
    /// of 16 bytes each from their receiver, and l (l + 1) / 2 bits each way, per triple.
    pub fn ring_triples_cost<T: Ring>(me: Party, parties: usize, count: usize) -> PhaseCost {
        OtRings::triples_cost::<T>(me, parties, count)
    }

    /// Cost for `me` of [`square_pairs`](Source::square_pairs), two rounds: for each peer l - 1 OTs,
    /// half of them each way, with l (l - 1) / 2 bits, per pair.
    pub fn square_pairs_cost<T: Ring>(me: Party, parties: usize, count: usize) -> PhaseCost {
        OtRings::squares_cost::<T>(me, parties, count)
    }

    /// Cost for `me` of [`shared_bits`](Source::shared_bits), three rounds: that of a square pair
    /// and l - 1 bits to each peer, per bit.
    pub fn shared_bits_cost<T: Ring>(me: Party, parties: usize, count: usize) -> PhaseCost {
        OtRings::shared_bits_cost::<T>(me, parties, count)
    }

    /// Cost of [`matrix_triple`](Source::matrix_triple) for each of `parties` parties, two rounds:
    /// with p = min(m, n), q = max(m, n), to each peer p k l OTs of 16 bytes, and as many strings of
    /// q elements that take half their bytes.
    pub fn matrix_triple_cost<T: Ring>(parties: usize, shape: MatrixShape) -> PhaseCost {
        OtMatrices::cost::<T>(parties, shape)
    }

    /// Cost for `me` of [`vector_triples`](Source::vector_triples), one round for two parties, else
    /// two: an OT of 16 bytes with each peer and the bytes of a vector to all peers but one, per
    /// triple.
    pub fn vector_triples_cost(
        me: Party,
        parties: usize,
        length: usize,
        count: usize,
    ) -> PhaseCost {
        OtVectors::cost(me.index(), parties, length, count)
    }

    fn rings(&mut self) -> Result<&mut OtRings> {
        open(&mut self.rings, || OtRings::new(&self.context, &self.base))
    }
}

/// What `place` holds, made first if it holds nothing yet.
fn open<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match place {
        Some(open) => Ok(open),
        None => Ok(place.insert(make()?)),
    }
}

impl BitTripleSource for OtSource {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        let (context, base) = (&self.context, &self.base);
        let bits = open(&mut self.bits, || OtTriples::with_base(context, base))?;
        bits.bit_triples(count, made).await
    }
}

impl Source for OtSource {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        self.rings()?.triples(count, made).await
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        self.rings()?.squares(count, made).await
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        self.rings()?.shared_bits(count, made).await
    }

    async fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> Result<MatrixTriple<T>> {
        let (context, base) = (&self.context, &self.base);
        let matrices = open(&mut self.matrices, || OtMatrices::new(context, base))?;
        matrices.triple(shape, made).await
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let (context, base) = (&self.context, &self.base);
        let vectors = open(&mut self.vectors, || OtVectors::new(context, base))?;
        vectors.triples(length, count, made).await
    }
}
