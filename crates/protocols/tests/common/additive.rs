//! N parties with dealt shares and correlations, of which each takes its own.

use madrigal_core::{Party, Phase, PhaseCost, Product, Ring, Zeroizing};
use madrigal_correlations::{MatrixShape, ProductTriple, RingTriples, SharedBits, SquarePairs};
use madrigal_kernels::{Block, Prg, meter::unmetered, rings};
use madrigal_net::{Context, Result};
use madrigal_protocols::arithmetic::ArithmeticGmw;
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::World;

use super::products::plain;

pub const OPENINGS: [Opening; 2] = [Opening::Direct, Opening::Relay];
pub const PARTIES: [usize; 3] = [2, 3, 5];

/// Dealer of shares: each party of a test asks for its own.
#[derive(Clone, Copy)]
pub struct Dealer {
    pub seed: u64,
    pub parties: usize,
    pub me: Party,
}

impl Dealer {
    fn random<T: Ring>(prg: &mut Prg, count: usize) -> Vec<T> {
        let mut values = vec![T::ZERO; count];
        unmetered(|| prg.fill(rings::as_bytes_mut(&mut values)));
        values
    }

    /// Our share of values that all know, under masks that `label` names.
    pub fn share<T: Ring>(self, label: u64, values: &[T]) -> Vec<T> {
        let mut prg = Prg::new(Block::new(self.seed, 1 << 32 | label));
        let mut last = values.to_vec();
        for party in 1..self.parties {
            let mask = Self::random(&mut prg, values.len());
            if self.me.index() == party {
                return mask;
            }
            rings::sub_into(&mut last, &mask);
        }
        last
    }

    /// Our share of packed bits that all know.
    pub fn share_bits(self, label: u64, bits: &[u8]) -> Vec<u8> {
        let mut prg = Prg::new(Block::new(self.seed, 2 << 32 | label));
        let mut last = bits.to_vec();
        for party in 1..self.parties {
            let mask = Self::random::<u8>(&mut prg, bits.len());
            if self.me.index() == party {
                return mask;
            }
            last.iter_mut().zip(&mask).for_each(|(a, b)| *a ^= b);
        }
        last
    }

    fn secret<T: Ring>(self, label: u64, values: &[T]) -> Zeroizing<Vec<T>> {
        Zeroizing::new(self.share(label, values))
    }

    fn masks<T: Ring>(self, label: u64, count: usize) -> Vec<T> {
        let mut prg = Prg::new(Block::new(self.seed, 3 << 32 | label));
        Self::random(&mut prg, count)
    }

    pub fn triples<T: Ring>(self, label: u64, count: usize) -> RingTriples<T> {
        let [a, b] = [0, 1].map(|i| self.masks::<T>(8 * label + i, count));
        let mut c = a.clone();
        rings::mul_into(&mut c, &b);
        let [a, b, c] =
            [(2, a), (3, b), (4, c)].map(|(i, values)| self.secret(8 * label + i, &values));
        RingTriples::new(a, b, c)
    }

    pub fn pairs<T: Ring>(self, label: u64, count: usize) -> SquarePairs<T> {
        let a = self.masks::<T>(8 * label, count);
        let mut c = a.clone();
        rings::mul_into(&mut c, &a);
        SquarePairs::new(
            self.secret(8 * label + 1, &a),
            self.secret(8 * label + 2, &c),
        )
    }

    pub fn bits<T: Ring>(self, label: u64, count: usize) -> SharedBits<T> {
        let mut bits = self.masks::<T>(8 * label, count);
        bits.iter_mut().for_each(|bit| *bit = bit.and(T::ONE));
        SharedBits::new(self.secret(8 * label + 1, &bits))
    }

    pub fn matrices<T: Ring>(self, label: u64, shape: MatrixShape) -> ProductTriple<T> {
        self.product(label, &Product::Matrices(1, shape))
    }

    /// The triple of a product.
    pub fn product<T: Ring>(self, label: u64, product: &Product) -> ProductTriple<T> {
        let [left, right, _] = product.lengths();
        let [a, b] = [(0, left), (1, right)].map(|(i, len)| self.masks::<T>(8 * label + i, len));
        let c = plain(product, &a, &b);
        let [a, b, c] =
            [(2, a), (3, b), (4, c)].map(|(i, values)| self.secret(8 * label + i, &values));
        ProductTriple::new(*product, a, b, c)
    }
}

/// Operations in a phase of their own.
pub fn worker(context: &Context, opening: Opening) -> Result<ArithmeticGmw> {
    ArithmeticGmw::new(context.enter(Phase::Online, "arithmetic"), opening)
}

/// Runs one operation as all parties; its cost must be the declared one, and its rounds those of as many
/// openings to all.
pub fn run<R: Send>(
    (seed, parties, opening): (u64, usize, Opening),
    about: &str,
    operation: impl AsyncFn(&mut ArithmeticGmw, Dealer) -> Result<R> + Sync,
    openings: usize,
    declare: impl Fn(Party) -> PhaseCost,
) -> Vec<R> {
    let results = World::light(parties, seed).run(|context| {
        let operation = &operation;
        async move {
            let me = context.me();
            let dealer = Dealer { seed, parties, me };
            operation(&mut worker(&context, opening)?, dealer).await
        }
    });
    let all: Vec<Party> = Party::all(parties).collect();
    let mut rounds = Rounds::new(parties);
    (0..openings).for_each(|_| rounds.open(opening, &all));
    let check = |(me, (result, spent)): (Party, (R, madrigal_core::Cost))| {
        let declared = PhaseCost {
            rounds: rounds.of(me),
            ..declare(me)
        };
        assert_eq!(
            spent.online, declared,
            "{me} of {parties}, {opening}: {about}"
        );
        assert_eq!(spent.setup, PhaseCost::default(), "{me}: {about}");
        result
    };
    Party::all(parties).zip(results).map(check).collect()
}

/// Adds up all parties' shares.
pub fn sum<T: Ring>(shares: &[Vec<T>]) -> Vec<T> {
    let mut sum = shares[0].clone();
    shares[1..]
        .iter()
        .for_each(|share| rings::add_into(&mut sum, share));
    sum
}

/// All numbers of parties and both openings.
pub fn everywhere(seed: u64, mut work: impl FnMut((u64, usize, Opening))) {
    for parties in PARTIES {
        for opening in OPENINGS {
            work((seed, parties, opening));
        }
    }
}
