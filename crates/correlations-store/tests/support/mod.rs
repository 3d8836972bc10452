//! Stores for tests, filled from a source whose every item is known.

#![allow(dead_code)] // each test program uses a part
#![allow(clippy::unwrap_used, unreachable_pub)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_util::future::{LocalBoxFuture, ready};
use madrigal_core::{Cost, Party, PhaseCost, Zeroizing};
use madrigal_correlations::{Cells, Kind, Maker, Needs, Source, Strings};
use madrigal_correlations_store::{NewStore, Store, StoreKey};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error, Result};
use madrigal_testkit::{World, seed};

/// Item `i` of column `c` of a kind is a number that all of these and the party decide.
pub struct Known {
    party: u64,
    made: BTreeMap<Kind, u64>,
}

impl Known {
    pub fn new(me: Party) -> Self {
        Self {
            party: me.index() as u64,
            made: BTreeMap::default(),
        }
    }

    /// Makes a column of `count` items, from item `start` on.
    fn column(&self, kind: Kind, column: u64, start: u64, count: usize, cells: Cells) -> Vec<u8> {
        let name = kind.to_string().bytes().fold(7_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let byte = |at: u64| mix(name ^ mix(self.party << 8 | column) ^ mix(at)) as u8;
        if cells == Cells::Bit {
            let bits: Vec<u8> = (start..start + count as u64).map(byte).collect();
            let packed = |bits: &[u8]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | bit & 1);
            return bits.chunks(8).map(packed).collect();
        }
        let each = cells.bytes(1) as u64;
        let end = start + count as u64;
        (start * each..end * each).map(byte).collect()
    }
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl Maker for Known {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        let start = self.made.get(&kind).copied().unwrap_or(0);
        let columns = (0..).zip(kind.descriptor().columns);
        let strings = columns
            .map(|(index, column)| self.column(kind, index, start, count, column.cells))
            .map(Zeroizing::new)
            .collect();
        self.made.insert(kind, start + count as u64);
        made(count * kind.steps() as usize);
        Box::pin(ready(Ok(strings)))
    }
}

/// All columns of `count` items, for comparison; bits are unpacked.
pub async fn columns(source: &mut impl Source, kind: Kind, count: usize) -> Result<Vec<Vec<u8>>> {
    let heard = Cell::new(0);
    let made = |more: usize| heard.set(heard.get() + more);
    let strings = source.items(kind, count, &made).await?.strings();
    assert_eq!(heard.get() as u64, count as u64 * kind.steps(), "{kind}");
    let unpacked = |string: &[u8]| match kind {
        Kind::BitTriples => (0..count).map(|i| string[i / 8] >> (i % 8) & 1).collect(),
        _ => string.to_vec(),
    };
    Ok(strings.iter().map(|string| unpacked(string)).collect())
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
