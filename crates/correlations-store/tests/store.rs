//! Stores give what the source has made, each item once, and are refused when they are not what was
//! written.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use madrigal_core::Party;
use madrigal_correlations::Kind;
use madrigal_correlations_make::{Extension, OtCosts, OtSource};
use madrigal_correlations_store::{
    NewStore, Store, StoreError, StoreKey, StoreSource, remove, status,
};
use madrigal_net::Error;
use proptest::prelude::*;

use crate::support::{Known, Stores, columns, needs_of};

/// All kinds and widths; several chunks of some, with ends in the middle of bytes.
const EVERYTHING: &str = "bits=600001,vectors-1=9,vectors-100=3000,vectors-128=10,u8=40,\
    u16=7000,u32=30,u64=9000,u128=2,squares-u8=3,squares-u64=700,shared-u32=20k,shared-u128=4,\
    matrix-u64-2x3x4=5,matrix-u8-16x1x16=3,matrix-u32-64x64x64=3,matrix-u64-2x3x4-left1=2,\
    conv-u32-1x2x4x4-3x2x2-left0=2";

/// Parts of it, used one after the other; all of some kinds are used up.
const RUNS: [&str; 4] = [
    "bits=3,u64=1,matrix-u64-2x3x4=2,vectors-100=1,matrix-u64-2x3x4-left1=2,\
     conv-u32-1x2x4x4-3x2x2-left0=2",
    "bits=270000,u64=8990,u16=7000,squares-u64=1,vectors-1=9,matrix-u32-64x64x64=3",
    "shared-u32=5000,vectors-100=2999,matrix-u64-2x3x4=3,u8=1,u128=2,shared-u128=4",
    "bits=329998,shared-u32=15000,u64=9,squares-u64=699,squares-u8=3,u32=30,vectors-128=10,\
     matrix-u8-16x1x16=3,u8=39",
];

#[test]
fn every_kind_comes_back_as_it_was_made() {
    let parties = 2;
    let stores = Stores::known(parties, EVERYTHING);
    let mut known: Vec<Known> = Party::all(parties).map(Known::new).collect();
    for needs in RUNS {
        let found = stores.use_up(needs);
        let kinds = needs_of(needs).kinds();
        for ((me, found), known) in Party::all(parties).zip(found).zip(&mut known) {
            for ((kind, count), found) in kinds.iter().zip(found.unwrap()) {
                let expected = madrigal_net::block_on(columns(known, *kind, *count)).unwrap();
                assert!(found == expected, "{count} {kind} of {me} in {needs}");
            }
        }
    }
    let me = Party::new(0);
    let status = status(&stores.directory(me), &stores.key(me), true).unwrap();
    for holding in status.holdings {
        assert_eq!(holding.left(), 0, "{}", holding.kind);
    }
}

/// A part of the job's items at a time, wherever it is cut.
#[test]
fn a_job_may_take_what_it_reserved_in_parts() {
    let stores = Stores::known(3, "bits=1M,u32=10k");
    let needs = needs_of("bits=700k,u32=7k");
    let parts = [1, 7, 8, 262_143, 262_144, 100_001, 0, 75_696];
    assert_eq!(parts.iter().sum::<usize>(), 700_000);
    let spent = stores.run(|context| {
        let (mut store, needs) = (stores.open(context.me()), needs.clone());
        async move {
            let mut known = Known::new(context.me());
            let mut source = store.reserve(&context, &needs).await?;
            for count in parts {
                for (kind, count) in [(Kind::BitTriples, count), (needs.kinds()[1].0, count / 101)]
                {
                    let found = columns(&mut source, kind, count).await?;
                    let expected = columns(&mut known, kind, count).await?;
                    assert!(found == expected, "{count} {kind}");
                }
            }
            Ok(())
        }
    });
    for ((), cost) in spent {
        assert_eq!(cost.setup, StoreSource::cost(3, &needs));
        assert_eq!((cost.setup.rounds, cost.setup.bytes_sent), (1, 2 * 48));
    }
    // No more than was reserved, though the store has more.
    let greedy = stores.try_run(|context| {
        let mut store = stores.open(context.me());
        async move {
            let mut source = store.reserve(&context, &needs_of("bits=5")).await?;
            columns(&mut source, Kind::BitTriples, 6).await
        }
    });
    assert!(
        greedy
            .iter()
            .any(|one| matches!(one, Err(Error::Store { .. })))
    );
}

#[test]
fn what_ot_has_made_is_right_and_costs_what_is_declared() {
    let (parties, holds) = (
        3,
        needs_of("bits=9M,u64=100,shared-u8=10,matrix-u8-2x3x2=2,vectors-9=3"),
    );
    let stores = Stores::none(parties);
    let extension = Extension::default();
    let spent = stores.run(|context| {
        let new = stores.new_store(context.me(), &holds);
        async move {
            let mut source = OtSource::with_threads(&context, extension, 2).await?;
            new.fill(&context, &mut source, &|_| {}).await
        }
    });
    for (me, (filled, cost)) in Party::all(parties).zip(spent) {
        filled.complete().unwrap();
        let costs = OtCosts::with_threads(extension, 2, me, parties);
        assert_eq!(
            cost.setup,
            NewStore::cost(costs.filling(&holds, NewStore::batch), parties)
        );
    }
    let used = stores.use_up("bits=9M,u64=100");
    let used: Vec<_> = used.into_iter().map(Result::unwrap).collect();
    let bit = |column: usize, i: usize| used.iter().fold(0, |sum, party| sum ^ party[0][column][i]);
    assert!((0..9_000_000).all(|i| bit(2, i) == bit(0, i) & bit(1, i)));
    let sum = |column: usize, i: usize| {
        used.iter().fold(0_u64, |sum, party| {
            let bytes = party[1][column][8 * i..][..8].try_into().unwrap();
            sum.wrapping_add(u64::from_le_bytes(bytes))
        })
    };
    assert!((0..100).all(|i| sum(2, i) == sum(0, i).wrapping_mul(sum(1, i))));
}

fn all_failed<T: std::fmt::Debug>(results: Vec<Result<T, Error>>, with: &str) {
    for result in results {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(with), "{error}");
    }
}

#[test]
fn a_store_that_is_used_up_says_how_much_is_left() {
    let stores = Stores::known(2, "bits=100,u8=5");
    all_failed(
        stores.use_up("bits=101"),
        "101 `bits` are needed and 100 of 100 are left",
    );
    stores
        .use_up("bits=60")
        .into_iter()
        .for_each(|used| drop(used.unwrap()));
    all_failed(
        stores.use_up("bits=41,u8=5"),
        "41 `bits` are needed and 40 of 100 are left",
    );
    all_failed(
        stores.use_up("u16=1"),
        "1 `u16` are needed and 0 of 0 are left; make a new store",
    );
    // What failed has used nothing.
    stores
        .use_up("bits=40,u8=5")
        .into_iter()
        .for_each(|used| drop(used.unwrap()));
    all_failed(
        stores.use_up("bits=1"),
        "make a new store that has enough: bits=1",
    );
}

#[test]
fn stores_of_different_sessions_do_not_go_together() {
    let stores = Stores::known(2, "bits=100");
    let others = Stores::known(2, "bits=100");
    let mixed = stores.try_run(|context| {
        let me = context.me();
        let mut store = [&stores, &others][me.index()].open(me);
        async move { store.reserve(&context, &needs_of("bits=1")).await.map(drop) }
    });
    all_failed(mixed, "give each party the directory that it made");
    let swapped = stores.try_run(|context| {
        let mut store = stores.open(Party::new(1 - context.me().index()));
        async move { store.reserve(&context, &needs_of("bits=1")).await.map(drop) }
    });
    all_failed(swapped, "it belongs to party");
    // Nothing was reserved.
    stores
        .use_up("bits=100")
        .into_iter()
        .for_each(|used| drop(used.unwrap()));
}

#[test]
fn a_party_that_has_skipped_items_takes_the_others_along() {
    let stores = Stores::known(2, "u64=10");
    let me = Party::new(0);
    let journal = stores.directory(me).join("journal");
    let old = fs::read(&journal).unwrap();
    let first = stores.use_up("u64=4");
    fs::write(&journal, old).unwrap(); // set back at one party
    let second = stores.use_up("u64=4");
    let mut known = Known::new(me);
    let kind = needs_of("u64=1").kinds()[0].0;
    for found in [&first[0], &second[0]] {
        let expected = madrigal_net::block_on(columns(&mut known, kind, 4)).unwrap();
        assert_eq!(found.as_ref().unwrap()[0], expected);
    }
}

/// A new journal that was being written when the machine failed.
#[test]
fn what_a_crash_has_left_is_ignored() {
    let stores = Stores::known(2, "u64=10");
    for (me, half) in [(0, &b"madr"[..]), (1, &[0; 500])] {
        let path = stores.directory(Party::new(me)).join("journal.new");
        fs::write(path, half).unwrap();
    }
    for _ in 0..2 {
        stores
            .use_up("u64=5")
            .into_iter()
            .for_each(|used| drop(used.unwrap()));
    }
    all_failed(stores.use_up("u64=1"), "0 of 10 are left");
}

#[test]
fn one_job_at_a_time() {
    let stores = Stores::known(2, "bits=100");
    let me = Party::new(1);
    let store = stores.open(me);
    let again = Store::open(&stores.directory(me), &stores.key(me));
    assert!(matches!(again, Err(StoreError::InUse)), "{again:?}");
    // Its status can be had meanwhile.
    status(&stores.directory(me), &stores.key(me), true).unwrap();
    drop(store);
    stores.open(me);
}

#[test]
fn parties_that_want_different_stores_make_none() {
    let stores = Stores::none(2);
    let failed = stores.try_run(|context| {
        let holds = ["bits=10", "bits=11"][context.me().index()];
        let new = stores.new_store(context.me(), &needs_of(holds));
        async move {
            let mut source = Known::new(context.me());
            new.fill(&context, &mut source, &|_| {}).await
        }
    });
    all_failed(failed, "ask for the same at all parties");
    assert!(
        !stores.directory(Party::new(0)).exists(),
        "nothing is left of it"
    );
}

#[test]
fn a_store_that_another_party_lacks_is_removed() {
    let stores = Stores::none(2);
    let failed = stores.try_run(|context| {
        let new = stores.new_store(context.me(), &needs_of("bits=10"));
        async move {
            let mut source = Known::new(context.me());
            let filled = new.fill(&context, &mut source, &|_| {}).await?;
            match context.me().index() {
                0 => Ok(filled),
                _ => Err(context.fail(Error::Store {
                    problem: "no space is left".to_owned(),
                })),
            }
        }
    });
    all_failed(failed, "no space is left");
    for me in Party::all(2) {
        assert!(!stores.directory(me).exists(), "nothing is left of it");
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_incomplete_is_used() {
    let stores = Stores::known(2, "bits=100");
    let me = Party::new(0);
    let (directory, key) = (stores.directory(me), stores.key(me));
    let again = NewStore::create(&directory, &key, &needs_of("bits=1"));
    assert!(matches!(again, Err(StoreError::Exists)), "{again:?}");
    let empty = NewStore::create(&directory.join("new"), &key, &Default::default());
    assert!(matches!(empty, Err(StoreError::Size)), "{empty:?}");
    fs::rename(directory.join("header"), directory.join("header.partial")).unwrap();
    let partial = Store::open(&directory, &key);
    assert!(
        matches!(partial, Err(StoreError::Incomplete)),
        "{partial:?}"
    );
    let missing = Store::open(&directory.join("nowhere"), &key);
    assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_copy_is_refused_and_a_renamed_store_is_not() {
    let stores = Stores::known(2, "bits=100");
    let me = Party::new(0);
    let (directory, key) = (stores.directory(me), stores.key(me));
    let elsewhere = stores.root().join("copy");
    copy(&directory, &elsewhere);
    let copied = Store::open(&elsewhere, &key);
    assert!(matches!(copied, Err(StoreError::Copied)), "{copied:?}");
    // Nor does the copy pass in the place of the original.
    let aside = stores.root().join("aside");
    fs::rename(&directory, &aside).unwrap();
    fs::rename(&elsewhere, &directory).unwrap();
    assert!(matches!(
        Store::open(&directory, &key),
        Err(StoreError::Copied)
    ));
    Store::open(&aside, &key).unwrap();
}

#[test]
fn the_key_is_needed() {
    let stores = Stores::known(2, "bits=100");
    let directory = stores.directory(Party::new(0));
    let other = Store::open(&directory, &StoreKey::generate().unwrap());
    assert!(matches!(other, Err(StoreError::Header)), "{other:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// Any bit of any file.
    #[test]
    fn a_flipped_bit_is_found(place in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let stores = Stores::known(2, "bits=100,u64=3");
        let me = Party::new(0);
        let (directory, key) = (stores.directory(me), stores.key(me));
        stores.use_up("bits=10").into_iter().for_each(|used| drop(used.unwrap()));
        for name in ["header", "journal", "bits", "u64"] {
            let path = directory.join(name);
            let good = fs::read(&path).unwrap();
            let mut bad = good.clone();
            bad[place.index(good.len())] ^= 1_u8 << bit;
            fs::write(&path, &bad).unwrap();
            let error = status(&directory, &key, true).unwrap_err().to_string();
            let named = error.contains(&format!("`{name}`")) || error.contains("version");
            prop_assert!(named, "{}", error);
            for shorter in [&good[..good.len() - 1], &[][..]] {
                fs::write(&path, shorter).unwrap();
                prop_assert!(Store::open(&directory, &key).is_err(), "{} cut off", name);
            }
            fs::write(&path, [&good[..], &[0]].concat()).unwrap();
            prop_assert!(Store::open(&directory, &key).is_err(), "{} made longer", name);
            fs::remove_file(&path).unwrap();
            prop_assert!(Store::open(&directory, &key).is_err(), "{} missing", name);
            fs::write(&path, &good).unwrap();
        }
        stores.use_up("bits=90,u64=3").into_iter().for_each(|used| drop(used.unwrap()));
    }
}

/// Damage that opening does not see ends the job when the chunk is read.
#[test]
fn a_damaged_chunk_is_never_used() {
    let stores = Stores::known(2, "u64=20k");
    let path = stores.directory(Party::new(0)).join("u64");
    let mut bytes = fs::read(&path).unwrap();
    bytes[200_000] ^= 1;
    fs::write(&path, bytes).unwrap();
    stores
        .use_up("u64=4000")
        .into_iter()
        .for_each(|used| drop(used.unwrap()));
    all_failed(stores.use_up("u64=9000"), "its file `u64` is damaged");
}

/// Chunks of one store, under one key, do not fit another, nor another place of the same.
#[test]
fn chunks_cannot_be_moved() {
    let stores = Stores::known(2, "bits=600k,u8=600k");
    let me = Party::new(0);
    let directory = stores.directory(me);
    let (bits, path) = (
        fs::read(directory.join("bits")).unwrap(),
        directory.join("bits"),
    );
    let chunk = 3 * (1 << 18) / 8 + 16;
    let mut swapped = bits.clone();
    swapped[..chunk].copy_from_slice(&bits[chunk..2 * chunk]);
    swapped[chunk..2 * chunk].copy_from_slice(&bits[..chunk]);
    fs::write(&path, swapped).unwrap();
    let error = status(&directory, &stores.key(me), true).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

/// Also what a crash has left of a store, and what is not there at all; whoever uses it meanwhile has it to the end.
#[test]
fn a_store_that_was_removed_is_gone() {
    let stores = Stores::known(2, "bits=1000");
    let me = Party::new(0);
    let (directory, key) = (stores.directory(me), stores.key(me));
    let open = Store::open(&directory, &key).unwrap();
    remove(&directory).unwrap();
    assert!(!directory.exists());
    drop(open);
    let missing = status(&directory, &key, false);
    assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
    remove(&directory).unwrap();
    let other = stores.directory(Party::new(1));
    fs::remove_file(other.join("journal")).unwrap();
    remove(&other).unwrap();
    assert!(!other.exists());
}
