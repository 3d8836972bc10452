//! What correlations by oblivious transfer cost.

use std::sync::Arc;

use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost, Product, Ring};
use madrigal_ot::KAPPA;

use crate::base::{Group, base_cost};
use crate::choice::bit_triple_work;
use crate::correlated::{Direction, RowsLayout};
use crate::extension::Extension;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::ledger::Ledger;
use crate::lines::{beside, portions, ranges};
use crate::matrices::{self, EncryptedCosts, MatrixLayout, MatrixShape, Tripled};
use crate::needs::Needs;
use crate::ot_triples::BitLayout;
use crate::rings;
use crate::shared_bits::ChainLayout;
use crate::vectors::{VectorLayout, vector_ots};

/// What an [`OtSource`](crate::OtSource) costs one party, call by call: asked for the same kinds and counts in the same
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
    /// Those of a new source with `extension`, for `me` of `parties` parties.
    pub fn new(extension: Extension, me: Party, parties: usize) -> Self {
        Self::with_threads(extension, 1, me, parties)
    }

    /// Those of [`OtSource::with_threads`](crate::OtSource::with_threads).
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

    /// Those of [`OtSource::with_lattice_matrices`](crate::OtSource::with_lattice_matrices).
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

    /// What [`OtSource::new`](crate::OtSource::new) computes beside AES blocks: with each peer, base OTs in both directions.
    pub(crate) fn base_work(&self) -> Work {
        Work {
            base_ots: 2.0 * (KAPPA * (self.parties - 1)) as f64,
            ..Work::default()
        }
    }

    /// What calls for Boolean triples compute beside AES blocks, `count` triples together.
    pub(crate) fn bit_triples_work(&self, count: u64) -> Work {
        let lines = portions(self.extension, count as usize, 1, self.ledgers.len()).len();
        bit_triple_work(self.extension, count, lines).times((self.parties - 1) as f64)
    }

    /// The same for what `needs` takes, matrices by encryption priced as the OTs that take as long.
    pub(crate) fn work(&self, needs: &Needs) -> Work {
        let (mut triples, mut transforms) = (0, 0);
        for (kind, count) in needs.kinds() {
            let encrypted = match kind.product() {
                Some((width, one)) if self.encrypted.is_some() => matrices::transforms(width, one),
                _ => None,
            };
            match encrypted {
                Some(each) => transforms += each * count as u64,
                None => triples += in_bit_triples(kind) * count as u64,
            }
        }
        let mut work = self.bit_triples_work(triples);
        work.extended_ots += transforms as f64 * OF_TRANSFORM * (self.parties - 1) as f64;
        work
    }

    pub(crate) fn parties(&self) -> usize {
        self.parties
    }

    pub(crate) fn threads(&self) -> usize {
        self.ledgers.len()
    }

    /// A call for `count` items of this many OTs each, of which `layout` says the cost of some.
    fn call<L: Layout>(
        &mut self,
        group: Group,
        count: usize,
        ots: usize,
        layout: impl Fn(usize) -> L,
    ) -> PhaseCost {
        self.calls(group, count, ots, layout, 1)
    }

    /// So many such calls; several only when all lines that they take have begun.
    fn calls<L: Layout>(
        &mut self,
        group: Group,
        count: usize,
        ots: usize,
        layout: impl Fn(usize) -> L,
        times: u64,
    ) -> PhaseCost {
        let portions = portions(self.extension, count, ots, self.ledgers.len());
        let lines = self.ledgers.iter_mut().zip(portions);
        beside(lines.map(|(line, count)| line[group as usize].calls(&layout(count), times)))
    }

    /// Cost of [`bit_triples`](crate::BitTripleSource::bit_triples): for each peer an OT each way, and a bit
    /// to each peer but one. One round for two parties, else two.
    pub fn bit_triples(&mut self, count: usize) -> PhaseCost {
        self.bit_triples_times(count, 1)
    }

    /// Cost of so many calls of [`bit_triples`](crate::BitTripleSource::bit_triples), one after the other, by
    /// arithmetic: it takes no longer for many.
    pub fn bit_triples_times(&mut self, count: usize, times: u64) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| BitLayout { parties, count };
        // The first call is by itself: lines may begin in it.
        let mut total = PhaseCost::default();
        for times in [times.min(1), times.saturating_sub(1)] {
            total += self.calls(Group::Bits, count, 1, layout, times);
        }
        total
    }

    /// Cost of [`ring_triples`](crate::Source::ring_triples): for each peer l OTs and l (l + 1) / 2 bits each
    /// way, per triple. Two rounds; with silent OT one for two parties, else three.
    pub fn ring_triples<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| rings::triples_layout::<T>(parties, count);
        self.call(Group::Rings, count, T::BITS, layout)
    }

    /// Cost of [`square_pairs`](crate::Source::square_pairs): for each peer l - 1 OTs, half of them each way,
    /// with l (l - 1) / 2 bits, per pair. Rounds as for triples.
    pub fn square_pairs<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| rings::squares_layout::<T>(parties, count);
        self.call(Group::Rings, count, T::BITS, layout)
    }

    /// Cost of [`shared_bits`](crate::Source::shared_bits): for each peer an OT, half of them each way, with
    /// l - 1 bits, per bit (their number is rounded up to a multiple of N). N rounds; with silent OT one
    /// for two parties, else N + 1.
    pub fn shared_bits<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| ChainLayout::new::<T>(parties, count);
        self.call(Group::Rings, count, 1, layout)
    }

    /// Cost of [`matrix_triple`](crate::Source::matrix_triple): with p = min(m, n), q = max(m, n), to each
    /// peer p k l OTs, and as many strings of q elements that take half their bytes. Two rounds. By
    /// encryption: what [`madrigal_lattice::Layout`] says, each way with each peer; two rounds for
    /// requests of about 26 MB.
    pub fn matrix_triple<T: Ring>(&mut self, shape: MatrixShape) -> PhaseCost {
        self.matrix_triples::<T>(shape, 1)
    }

    /// Cost of [`matrix_triples`](crate::Source::matrix_triples): that of as many, but two rounds for all of them.
    /// By encryption, requests of about 26 MB go together.
    pub fn matrix_triples<T: Ring>(&mut self, shape: MatrixShape, count: usize) -> PhaseCost {
        self.product_triples::<T>(Product::Matrices(1, shape), count)
    }

    /// Cost of [`product_triples`](crate::Source::product_triples), of convolutions by OT as of the matrices that they
    /// [are](Product::pieces).
    pub fn product_triples<T: Ring>(&mut self, one: impl Into<Tripled>, count: usize) -> PhaseCost {
        let one = one.into();
        if let Some(encrypted) = self.encrypted.as_mut().filter(|_| matrices::serves::<T>()) {
            return encrypted.triples::<T>((self.me, self.parties), one, count);
        }
        let layout = MatrixLayout::new::<T>(self.me, one, count);
        self.call(Group::Matrices, 1, 1, |_| layout)
    }

    /// Cost of [`vector_triples`](crate::Source::vector_triples): an OT with each peer and the bytes of a
    /// vector to all peers but one, per triple. One round for two parties, else two.
    pub fn vector_triples(&mut self, length: usize, count: usize) -> PhaseCost {
        self.call(Group::Vectors, count, vector_ots(length), |count| {
            VectorLayout { length, count }
        })
    }

    /// Cost of [`correlated_ots`](crate::Source::correlated_ots): an OT each, without hashes. One round; two
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

/// As many Boolean triples as take about as many OTs as one item.
fn in_bit_triples(kind: Kind) -> u64 {
    match kind {
        Kind::BitTriples | Kind::VectorTriples { .. } | Kind::CorrelatedOts { .. } => 1,
        Kind::RingTriples(width) | Kind::SquarePairs(width) => width.bits() as u64,
        // One OT, whatever the width, with a long correction: 10 ns of each party's core for 64 bits, of which AES and
        // bytes are 4 (Zen 5, docs/BENCHMARKS.md).
        Kind::SharedBits(_) => 4,
        Kind::MatrixTriples(width, shape) => (width.bits() * shape.rows * shape.inner) as u64,
        Kind::ConvolutionTriples(width, convolution) => {
            let shape = convolution.matrices();
            let entries = shape.rows.min(shape.columns) * shape.inner;
            (width.bits() * convolution.groups * entries) as u64
        }
        // One way instead of both.
        Kind::SplitMatrixTriples(width, shape, _) => {
            in_bit_triples(Kind::MatrixTriples(width, shape)).div_ceil(2)
        }
        Kind::SplitConvolutionTriples(width, convolution, _) => {
            in_bit_triples(Kind::ConvolutionTriples(width, convolution)).div_ceil(2)
        }
    }
}

/// OTs that are extended in the time of a [transform](madrigal_lattice::Layout::transforms): measured on a core with
/// AVX-512, by networks whose setup is little else.
const OF_TRANSFORM: f64 = 12_500.0;
