//! Lists whose rows have several keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use madrigal_kernels::Block;
use madrigal_lists::{
    Duplicates, Empty, Extra, Keep, Key, ListError, Matches, Normal, Payload, Problem, Source,
    digest, digest_of, read,
};
use madrigal_testkit::seed;
use sha2::{Digest as _, Sha256};

use crate::{Folder, Random, SALT, go};

/// Columns `names` as one key, as they stand.
fn key(names: &[&str]) -> Vec<Key> {
    let key = |name: &&str| Key {
        column: (*name).to_owned(),
        normal: Normal::default(),
    };
    names.iter().map(key).collect()
}

/// The hash of what the documentation says.
#[test]
fn digests_tell_keys_apart_by_their_places() {
    let known = |domain: &[u8], rest: &[u8]| {
        let hash = Sha256::new().chain_update(domain).chain_update(rest);
        let hash = hash.chain_update(SALT).chain_update("ann").finalize();
        let half =
            |at: usize| u64::from_be_bytes(hash[at..at + 8].try_into().expect("eight bytes"));
        Block::new(half(8), half(0))
    };
    let first = known(b"madrigal key of a list's row v1", &[1]);
    assert_eq!(digest(&SALT, &[b"ann"]), first);
    assert_eq!(digest_of(&SALT, 0, &[b"ann"]), first);
    for place in [1, 2, 15] {
        let other = known(b"madrigal other key of a row v1", &[place as u8, 1]);
        assert_eq!(digest_of(&SALT, place, &[b"ann"]), other);
    }
}

type Keys = BTreeMap<u128, (usize, Vec<u32>, i64)>;

/// Random rows of columns a, b, c and n, of which the first key is a, the second b and c, the third c.
#[test]
fn keys_and_their_rows_are_those_of_plain_maps() {
    let seed = seed();
    let mut random = Random::new(seed);
    let folder = Folder::new();
    for round in 0..40 {
        let rows = [0, 1, 7, 200][round % 4];
        let empty = if random.below(2) == 0 {
            Empty::Skip
        } else {
            Empty::Match
        };
        let payload = random.below(2) == 0;
        let mut text = String::from("c,n,a,b\n");
        let (mut expected, mut skipped, mut entries) = (Keys::new(), 0, 0);
        for row in 0..rows as u32 {
            let mut value = || match random.below(6) {
                0..3 => String::new(),
                other => format!("{}", other * random.below(4)),
            };
            let [a, b, c] = [value(), value(), value()];
            let n = i64::from(row) * 3 - 100;
            writeln!(text, "{c},{n},{a},{b}").expect("a string");
            let keys = [vec![&a], vec![&b, &c], vec![&c]];
            let all_empty = keys
                .iter()
                .all(|key| key.iter().any(|value| value.is_empty()));
            if all_empty && empty == Empty::Skip {
                skipped += 1;
                continue;
            }
            for (place, key) in keys.iter().enumerate() {
                if !all_empty && key.iter().any(|value| value.is_empty()) {
                    continue;
                }
                let key: Vec<&[u8]> = key.iter().map(|value| value.as_bytes()).collect();
                let digest = digest_of(&SALT, place, &key);
                let of_key = expected
                    .entry(digest.into())
                    .or_insert((place, Vec::new(), 0));
                of_key.1.push(row);
                of_key.2 += n;
                entries += 1;
            }
        }
        let path = folder.file("list.csv", text);
        let source = Source::with_keys(path, key(&["a"]))
            .and_then(|source| source.or(key(&["b", "c"])))
            .and_then(|source| source.or(key(&["c"])))
            .expect("a list")
            .empty(empty);
        let source = match payload {
            true => source.payload(Payload {
                duplicates: Duplicates::Sum,
                ..Payload::integers("n")
            }),
            false => Ok(source),
        };
        let source = source.expect("a list");
        let memory = [0, 1 << 20][random.below(2)];
        let listed = read(&source, &SALT, 4, &folder.room(memory), &mut go).expect("a list");
        let again = format!("MADRIGAL_SEED={seed}");
        assert_eq!(
            (listed.rows() as usize, listed.skipped()),
            (rows, skipped),
            "{again}"
        );
        assert_eq!(listed.keys(), expected.len() as u64, "{again}");
        assert_eq!(
            listed.repeated(),
            entries - expected.len() as u64,
            "{again}"
        );
        let mut found = Keys::new();
        for partition in 0..4 {
            let part = listed.partition(partition).expect("a partition");
            for place in 0..part.len() {
                let value = part.values().map_or(0, |values| values[place]);
                let rows = part.rows(place).to_vec();
                let of_key = (part.key_of_row(place), rows, value);
                found.insert(part.digests()[place].into(), of_key);
            }
        }
        if !payload {
            expected.values_mut().for_each(|key| key.2 = 0);
        }
        assert_eq!(found, expected, "{again}");
    }
}

#[test]
fn rows_are_written_with_the_first_key_that_matched() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "k,x\na,1\nb,2\nc,3\nd,4\n");
    let source =
        Source::with_keys(path, key(&["k"])).and_then(|source| source.or(key(&["x", "k"])));
    let listed = folder.read(&source.expect("a list"), 2).expect("a list");
    for memory in [0, 1 << 20] {
        let mut matches = Matches::with_values(&listed, &folder.room(memory));
        for (row, key, value) in [(3, 1, 5), (1, 1, 100), (1, 0, 7), (1, 0, 6), (0, 0, -1)] {
            matches.set_by(row, key, value).expect("a row");
        }
        assert_eq!((matches.marked(), matches.marked_by()), (3, vec![2, 1]));
        let by = [0, 1, 2, 3].map(|row| matches.key_of(row));
        assert_eq!(by, [Some(0), Some(0), None, Some(1)]);
        let extra = Extra {
            name: "n".to_owned(),
            places: 0,
        };
        let mut out = Vec::new();
        let more = (Some(&extra), Some("found, by"));
        let done = listed.write_rows_by(&matches, Keep::All, more, &mut out, &mut go);
        assert_eq!(done.expect("rows"), 4);
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "k,x,n,\"found, by\"\na,1,-1,k\nb,2,7,k\nc,3,,\nd,4,5,\"x,k\"\n"
        );
    }
    let mut matches = Matches::new(&listed);
    assert!(matches!(
        matches.mark_by(0, 2),
        Err(ListError::Key { key: 2, keys: 2 })
    ));
}

#[test]
fn keys_that_are_refused() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "a,b\n1,\n,2\n,\n");
    let two = || Source::with_keys(&path, key(&["a"])).and_then(|source| source.or(key(&["b"])));
    let refused = folder.read(&two().expect("a list").empty(Empty::Refuse), 1);
    let Err(ListError::Content { place, problem, .. }) = refused else {
        panic!("rows without a key were to be refused");
    };
    assert_eq!((place.line, place.column.as_deref()), (Some(4), Some("a")));
    assert!(matches!(*problem, Problem::EmptyKey));
    assert!(matches!(
        two().and_then(|source| source.or(Vec::new())),
        Err(ListError::NoColumn)
    ));
    let mut source = two();
    for _ in 2..madrigal_lists::MOST_KEYS_OF_ROW {
        source = source.and_then(|source| source.or(key(&["a"])));
    }
    let source = source.expect("as many as may be");
    // The last of them have digests of their own, too.
    assert_eq!(folder.read(&source, 1).expect("a list").keys(), 16);
    assert!(matches!(
        source.or(key(&["a"])),
        Err(ListError::TooManyKeys)
    ));
    // Numbers of rows without a key do not matter, and others are read.
    let path = folder.file("list.csv", "a,b,n\n,,x\n,2,x\n");
    let source = Source::with_keys(path, key(&["a"])).and_then(|source| source.or(key(&["b"])));
    let source = source.and_then(|source| source.payload(Payload::integers("n")));
    let error = folder.read(&source.expect("a list"), 1).map(drop);
    let error = error.expect_err("no number").to_string();
    assert!(error.contains("line 3, column \"n\""), "{error}");
}
