//! Stores that parties make ahead: at the declared cost, the same at all, and nothing left of what
//! failed.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::cell::Cell;
use std::path::Path;

use madrigal_core::{Party, Phase};
use madrigal_correlations_store::{Store, StoreKey};
use madrigal_engine::{
    Extension, Matrices, Opening, Phases, Precomputation, StoreReport, StoreSpec,
};
use madrigal_net::transport::{MemoryTransport, mesh};
use madrigal_net::{Error, Session, block_on};
use madrigal_testkit::{World, seed};

use crate::common::{netlist, plan};

/// One party's part, with the key beside the directory.
fn fill(
    world: &World,
    me: Party,
    transport: MemoryTransport,
    spec: StoreSpec,
    directory: &Path,
) -> Result<StoreReport, Error> {
    let key = StoreKey::load_or_make(&directory.with_extension("key")).unwrap();
    let precomputation = Precomputation::new(spec, directory, &key).unwrap();
    block_on(async {
        let session = Session::new(world.config(me), transport);
        session.greet().await?;
        let total = precomputation.spec().holds.steps();
        let last = Cell::new((0, 0));
        let made = precomputation
            .run(&session, 1, None, &|progress| {
                assert_eq!(progress.phase, Phase::Setup);
                last.set((progress.done, progress.total));
            })
            .await;
        if made.is_ok() {
            assert_eq!(last.get(), (total, total));
        }
        session.close().await;
        made
    })
}

/// All parties; party i wants `specs[i]`.
fn fill_all(specs: &[StoreSpec], root: &Path) -> Vec<Result<StoreReport, Error>> {
    let world = &World::new(specs.len(), seed());
    std::thread::scope(|scope| {
        let parties = Party::all(specs.len()).zip(mesh(specs.len())).zip(specs);
        let threads: Vec<_> = parties
            .map(|((me, transport), spec)| {
                let directory = root.join(me.index().to_string());
                scope.spawn(move || fill(world, me, transport, spec.clone(), &directory))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn open(root: &Path, me: usize) -> Store {
    let directory = root.join(me.to_string());
    let key = StoreKey::load(&directory.with_extension("key")).unwrap();
    Store::open(&directory, &key).unwrap()
}

#[test]
fn they_are_made_at_the_declared_cost() {
    let all = "bits=1000,vectors-9=3,u8=5,squares-u64=4,shared-u32=7,matrix-u64-4x5x6=2";
    let silent = "silent".parse::<Extension>().unwrap();
    let plain = StoreSpec::new(all.parse().unwrap());
    for (parties, spec) in [
        (2, plain.clone()),
        (
            3,
            StoreSpec {
                threads: 2,
                matrices: Matrices::Ot,
                ..plain.clone()
            },
        ),
        (
            2,
            StoreSpec {
                extension: silent,
                ..StoreSpec::new("bits=100".parse().unwrap())
            },
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        let made = fill_all(&vec![spec.clone(); parties], root.path());
        for (me, made) in Party::all(parties).zip(made) {
            let made = made.unwrap();
            assert_eq!(made.setup.spent, spec.cost(me, parties), "{me}: {spec:?}");
            assert!(made.wire_bytes_sent > made.setup.spent.bytes_sent);
            let store = open(root.path(), me.index());
            assert_eq!(store.id(), made.id);
            let holdings = store.holdings().into_iter();
            let holds: Vec<_> = holdings
                .map(|holding| (holding.kind, holding.left() as usize))
                .collect();
            assert_eq!(holds, spec.holds.kinds());
        }
    }
}

#[test]
fn parties_that_want_different_stores_have_none() {
    let spec = StoreSpec::new("bits=64".parse().unwrap());
    let others = [
        ("triples", StoreSpec::new("bits=65".parse().unwrap())),
        (
            "extension",
            StoreSpec {
                extension: Extension::IKNP,
                ..spec.clone()
            },
        ),
        (
            "threads",
            StoreSpec {
                threads: 2,
                ..spec.clone()
            },
        ),
        (
            "matrices",
            StoreSpec {
                matrices: Matrices::Ot,
                ..spec.clone()
            },
        ),
    ];
    for (fact, other) in others {
        let root = tempfile::tempdir().unwrap();
        for (me, made) in fill_all(&[spec.clone(), other], root.path())
            .into_iter()
            .enumerate()
        {
            let error = made.unwrap_err().to_string();
            assert!(error.contains(fact), "{error}");
            assert!(!root.path().join(me.to_string()).exists());
        }
    }
}

#[test]
fn a_plan_says_whether_a_store_has_enough() {
    let netlist = netlist("adder64.txt");
    let (to, phases) = ([0], Phases::Sequential);
    let plan = plan(&netlist, 2, 10, &to, Opening::Direct, phases, 1 << 20);
    let root = tempfile::tempdir().unwrap();
    let spec = StoreSpec::new(plan.needs());
    for made in fill_all(&[spec.clone(), spec], root.path()) {
        made.unwrap();
    }
    let store = open(root.path(), 0);
    assert!(plan.check_store(&store, 1).is_ok());
    let few = plan.check_store(&store, 2).unwrap_err().to_string();
    let (needed, made) = (2 * plan.triples(), plan.triples());
    assert!(
        few.contains(&format!(
            "{needed} `bits` are needed and {made} of {made} are left"
        )),
        "{few}"
    );
}
