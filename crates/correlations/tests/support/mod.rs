//! Stores for tests, filled from a source whose every item is known.

#![allow(dead_code)] // each test program uses a part
#![allow(clippy::unwrap_used, unreachable_pub)]

use std::cell::Cell;
use std::path::{Path, PathBuf};

use madrigal_core::{Cost, Party, PhaseCost, Ring, Zeroizing};
use madrigal_correlations::store::{NewStore, Store, StoreKey};
use madrigal_correlations::{
    BitTripleSource, BitTriples, Kind, Needs, ProductTriple, RingTriples, Scratch, SharedBits,
    Source, SquarePairs, Tripled, VectorTriples, Width,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error, Result};
use madrigal_testkit::{World, seed};

/// Item `i` of column `c` of a kind is a number that all of these and the party decide.
pub struct Known {
    party: u64,
    made: std::collections::BTreeMap<Kind, u64>,
}

impl Known {
    pub fn new(me: Party) -> Self {
        Self {
            party: me.index() as u64,
            made: Default::default(),
        }
    }

    /// `count` items from where the last call ended, `per_item` elements in each.
    fn column<T: Ring>(
        &self,
        kind: Kind,
        column: u64,
        count: usize,
        per_item: usize,
    ) -> Zeroizing<Vec<T>> {
        let start = self.made.get(&kind).copied().unwrap_or(0) * per_item as u64;
        let name = kind.to_string().bytes().fold(7_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let element = |at: u64| {
            let half = |which| mix(name ^ mix(self.party << 8 | column << 1 | which) ^ mix(at));
            T::from_u128(u128::from(half(0)) << 64 | u128::from(half(1)))
        };
        Zeroizing::new(
            (start..start + (count * per_item) as u64)
                .map(element)
                .collect(),
        )
    }

    fn done(&mut self, kind: Kind, count: usize, made: &dyn Fn(usize)) {
        *self.made.entry(kind).or_default() += count as u64;
        made(count * kind.steps() as usize);
    }
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl BitTripleSource for Known {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        let packed = |column| {
            let bits = self.column::<u8>(Kind::BitTriples, column, count, 1);
            let byte = |bits: &[u8]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | bit & 1);
            Zeroizing::new(bits.chunks(8).map(byte).collect())
        };
        let [a, b, c] = [0, 1, 2].map(packed);
        self.done(Kind::BitTriples, count, made);
        Ok(BitTriples::new(a, b, c, count))
    }
}

impl Source for Known {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        let kind = Kind::RingTriples(Width::of::<T>());
        let [a, b, c] = [0, 1, 2].map(|column| self.column(kind, column, count, 1));
        self.done(kind, count, made);
        Ok(RingTriples::new(a, b, c))
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        let kind = Kind::SquarePairs(Width::of::<T>());
        let [a, c] = [0, 1].map(|column| self.column(kind, column, count, 1));
        self.done(kind, count, made);
        Ok(SquarePairs::new(a, c))
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        let kind = Kind::SharedBits(Width::of::<T>());
        let b = self.column(kind, 0, count, 1);
        self.done(kind, count, made);
        Ok(SharedBits::new(b))
    }

    async fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let one = one.into();
        let (kind, _) = Kind::of_product(Width::of::<T>(), one);
        let sizes = one.product.lengths();
        let mut triple = || {
            let [a, b, c] =
                [0, 1, 2].map(|column| self.column(kind, column as u64, 1, sizes[column]));
            self.done(kind, 1, made);
            ProductTriple::new(one.product, a, b, c)
        };
        Ok((0..count).map(|_| triple()).collect())
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let kind = Kind::VectorTriples { length };
        let bytes = length.div_ceil(8);
        let [a, b, c] = [(0, 1), (1, bytes), (2, bytes)]
            .map(|(column, bytes)| self.column(kind, column, count, bytes));
        self.done(kind, count, made);
        Ok(VectorTriples::new(length, a, b, c))
    }
}

/// All columns of `count` items, for comparison; bits are unpacked.
pub async fn columns(source: &mut impl Source, kind: Kind, count: usize) -> Result<Vec<Vec<u8>>> {
    fn bytes<T: Ring>(column: &[T]) -> Vec<u8> {
        let mut all = vec![0; column.len() * T::BYTES];
        for (element, out) in column.iter().zip(all.chunks_exact_mut(T::BYTES)) {
            element.write(out);
        }
        all
    }
    async fn ring<T: Ring>(
        source: &mut impl Source,
        kind: Kind,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<Vec<u8>>> {
        Ok(match kind {
            Kind::RingTriples(_) => {
                let mut items = source.ring_triples::<T>(count, made).await?;
                let shares = items.take(count);
                vec![bytes(shares.a), bytes(shares.b), bytes(shares.c)]
            }
            Kind::SquarePairs(_) => {
                let mut items = source.square_pairs::<T>(count, made).await?;
                let shares = items.take(count);
                vec![bytes(shares.a), bytes(shares.c)]
            }
            Kind::SharedBits(_) => {
                let mut items = source.shared_bits::<T>(count, made).await?;
                vec![bytes(items.take(count).b)]
            }
            Kind::MatrixTriples(..)
            | Kind::ConvolutionTriples(..)
            | Kind::SplitMatrixTriples(..)
            | Kind::SplitConvolutionTriples(..) => {
                let Some((_, one)) = kind.product() else {
                    unreachable!("they are products")
                };
                let mut all = vec![Vec::new(); 3];
                for triple in source.product_triples::<T>(one, count, made).await? {
                    let shares = triple.take();
                    for (all, share) in all.iter_mut().zip(shares) {
                        all.extend(bytes(&share));
                    }
                }
                all
            }
            _ => unreachable!("no ring"),
        })
    }
    let heard = Cell::new(0);
    let made = |more: usize| heard.set(heard.get() + more);
    let result = match kind {
        Kind::BitTriples => {
            let mut items = source.bit_triples(count, &made).await?;
            let mut scratch = Scratch::default();
            let shares = items.take(count, &mut scratch)?;
            let bits = |string: &[u8]| (0..count).map(|i| string[i / 8] >> (i % 8) & 1).collect();
            vec![bits(shares.a), bits(shares.b), bits(shares.c)]
        }
        Kind::VectorTriples { length } => {
            let mut items = source.vector_triples(length, count, &made).await?;
            let shares = items.take(count);
            vec![shares.a.to_vec(), shares.b.to_vec(), shares.c.to_vec()]
        }
        Kind::RingTriples(width)
        | Kind::SquarePairs(width)
        | Kind::SharedBits(width)
        | Kind::MatrixTriples(width, _)
        | Kind::ConvolutionTriples(width, _)
        | Kind::SplitMatrixTriples(width, ..)
        | Kind::SplitConvolutionTriples(width, ..) => match width {
            Width::W8 => ring::<u8>(source, kind, count, &made).await?,
            Width::W16 => ring::<u16>(source, kind, count, &made).await?,
            Width::W32 => ring::<u32>(source, kind, count, &made).await?,
            Width::W64 => ring::<u64>(source, kind, count, &made).await?,
            Width::W128 => ring::<u128>(source, kind, count, &made).await?,
        },
        Kind::CorrelatedOts { .. } => panic!("no store keeps {kind}"),
    };
    assert_eq!(heard.get() as u64, count as u64 * kind.steps(), "{kind}");
    Ok(result)
}

/// Every party's directory and key, removed at the end.
pub struct Stores {
    root: tempfile::TempDir,
    pub parties: usize,
}

impl Stores {
    pub fn none(parties: usize) -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            parties,
        }
    }

    /// Stores of known items.
    pub fn known(parties: usize, needs: &str) -> Self {
        let stores = Self::none(parties);
        let needs = needs_of(needs);
        let costs = stores.run(|context| {
            let new = stores.new_store(context.me(), &needs);
            async move {
                let mut source = Known::new(context.me());
                new.fill(&context, &mut source, &|_| {}).await
            }
        });
        let id = costs[0].0.id();
        for (filled, cost) in costs {
            assert_eq!(cost.setup, NewStore::cost(PhaseCost::default(), parties));
            assert_eq!(filled.complete().unwrap(), id);
        }
        stores
    }

    pub fn directory(&self, me: Party) -> PathBuf {
        self.root.path().join(format!("party{}", me.index()))
    }

    pub fn key(&self, me: Party) -> StoreKey {
        let path = self.directory(me).with_extension("key");
        StoreKey::load_or_make(&path).unwrap()
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn new_store(&self, me: Party, needs: &Needs) -> NewStore {
        NewStore::create(&self.directory(me), &self.key(me), needs).unwrap()
    }

    pub fn open(&self, me: Party) -> Store {
        Store::open(&self.directory(me), &self.key(me)).unwrap()
    }

    /// Runs all parties in one job; they must succeed.
    pub fn run<T: Send, F: Future<Output = Result<T>>>(
        &self,
        program: impl Fn(Context) -> F + Sync,
    ) -> Vec<(T, Cost)> {
        World::light(self.parties, seed()).run(program)
    }

    /// Runs all parties in one job.
    pub fn try_run<T: Send, F: Future<Output = Result<T>>>(
        &self,
        program: impl Fn(Context) -> F + Sync,
    ) -> Vec<Result<T, Error>> {
        let world = World::light(self.parties, seed());
        let results = world.run_over(mesh(self.parties), program).into_iter();
        results
            .map(|result| result.map(|(value, _)| value))
            .collect()
    }

    /// Reserves in a job of its own, and reads all of it.
    pub fn use_up(&self, needs: &str) -> Vec<Result<Vec<Vec<Vec<u8>>>, Error>> {
        let needs = needs_of(needs);
        self.try_run(|context| {
            let (mut store, needs) = (self.open(context.me()), needs.clone());
            async move {
                let mut source = store.reserve(&context, &needs).await?;
                let mut all = Vec::new();
                for (kind, count) in needs.kinds() {
                    all.push(columns(&mut source, kind, count).await?);
                }
                Ok(all)
            }
        })
    }
}

pub fn needs_of(text: &str) -> Needs {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}
