//! Lists against what plain Rust makes of the same files.

use std::collections::BTreeMap;

use madrigal_kernels::Block;
use madrigal_lists::{Duplicates, Empty, Listed, Payload, Source, digest, partition_of, read};
use madrigal_testkit::seed;

use crate::{Folder, Random, SALT, go};

/// A file, and its rows as they were meant: two columns of the key and a number.
pub(crate) struct Made {
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: Vec<u8>,
    pub(crate) records: Vec<Vec<u8>>,
    keys: Vec<[Vec<u8>; 2]>,
    numbers: Vec<i64>,
}

fn field(value: &[u8], quote: bool, into: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b',' | b'\n' | b'\r');
    if quote || value.iter().any(special) || value.is_empty() {
        into.push(b'"');
        for &byte in value {
            into.extend_from_slice(if byte == b'"' {
                b"\"\""
            } else {
                std::slice::from_ref(&byte)
            });
        }
        into.push(b'"');
    } else {
        into.extend_from_slice(value);
    }
}

/// Makes a random file whose keys are of `different` kinds at most.
pub(crate) fn make(random: &mut Random, rows: usize, different: usize) -> Made {
    let mut made = Made {
        bytes: Vec::new(),
        header: Vec::new(),
        records: Vec::new(),
        keys: Vec::new(),
        numbers: Vec::new(),
    };
    if random.below(2) == 0 {
        made.header.extend_from_slice(b"\xef\xbb\xbf");
    }
    made.header.extend_from_slice(b"n,\"b\", other,a\r\n");
    made.bytes.extend_from_slice(&made.header);
    for row in 0..rows {
        let kind = random.below(different);
        // A key's kind gives its values; some are empty.
        let a = match kind % 7 {
            0 => Vec::new(),
            1 => format!("\"{kind}\"\r\n").into_bytes(),
            2 => vec![b'\xff', kind as u8, b','],
            _ => format!("key {kind}").into_bytes(),
        };
        let b = match kind % 5 {
            0 => Vec::new(),
            _ => vec![b'b'; kind % 40],
        };
        let number = random.word() as i64 >> 20;
        let mut record = Vec::new();
        let quote = random.below(3) == 0;
        field(number.to_string().as_bytes(), quote, &mut record);
        record.push(b',');
        field(&b, quote, &mut record);
        record.extend_from_slice(b",\"other \"\"\nthings\",");
        field(&a, quote, &mut record);
        if row + 1 < rows || random.below(2) == 0 {
            record.extend_from_slice(random.of(&["\n", "\r\n", "\r"]).as_bytes());
        }
        made.bytes.extend_from_slice(&record);
        // A line without a byte is no row.
        if random.below(10) == 0 && row + 1 < rows {
            made.bytes.push(b'\n');
            if record.ends_with(b"\r") {
                record.push(b'\n');
            }
        }
        made.records.push(record);
        made.keys.push([a, b]);
        made.numbers.push(number);
    }
    made
}

/// Holds a list against the rows that it was made of.
fn check(made: &Made, listed: &Listed, empty: Empty, duplicates: Option<Duplicates>) {
    let mut expected: BTreeMap<(u64, u64), (Vec<u32>, i64)> = BTreeMap::new();
    let mut skipped = 0;
    for (row, ([a, b], number)) in made.keys.iter().zip(&made.numbers).enumerate() {
        if empty == Empty::Skip && (a.is_empty() || b.is_empty()) {
            skipped += 1;
            continue;
        }
        let digest = digest(&SALT, &[a, b]);
        let entry = expected.entry((digest.hi(), digest.lo())).or_default();
        match duplicates {
            Some(Duplicates::Sum) => entry.1 += number,
            _ if entry.0.is_empty() => entry.1 = *number,
            _ => {}
        }
        entry.0.push(row as u32);
    }
    assert_eq!(listed.rows() as usize, made.keys.len());
    assert_eq!(listed.skipped(), skipped);
    assert_eq!(listed.keys(), expected.len() as u64);
    let repeated = made.keys.len() as u64 - u64::from(skipped) - listed.keys();
    assert_eq!(listed.repeated(), repeated);
    // Partitions are in order themselves, and so are their keys.
    let mut expected = expected.into_iter();
    for partition in 0..listed.partitions() {
        let part = listed.partition(partition).expect("a partition");
        assert_eq!(
            part.len(),
            listed.keys_of_partitions()[partition as usize] as usize
        );
        assert_eq!(part.values().is_some(), duplicates.is_some());
        for (place, &digest) in part.digests().iter().enumerate() {
            let ((high, low), (rows, number)) = expected.next().expect("a key");
            assert!(digest == Block::new(low, high));
            assert_eq!(partition_of(digest, listed.partitions()), partition);
            assert_eq!(part.rows(place), rows);
            if let Some(values) = part.values() {
                assert_eq!(values[place], number);
            }
        }
    }
    assert!(expected.next().is_none());
}

#[test]
fn random_lists_are_those_of_plain_rust_in_memory_and_on_the_disk() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    for round in 0..60 {
        let rows = match round {
            0..=3 => round,
            59 => 30_000,
            _ => random.below(1500),
        };
        let different = 1 + random.below(2 * rows + 1);
        let made = make(&mut random, rows, different);
        let path = folder.file("list.csv", &made.bytes);
        let empty = if round % 2 == 0 {
            Empty::Skip
        } else {
            Empty::Match
        };
        let duplicates = [None, Some(Duplicates::First), Some(Duplicates::Sum)][round % 3];
        let mut source = Source::new(path, ["a", "b"]).expect("a list").empty(empty);
        if let Some(duplicates) = duplicates {
            let payload = Payload {
                duplicates,
                ..Payload::integers("n")
            };
            source = source.payload(payload).expect("places");
        }
        let partitions = 1 + random.below(9) as u32;
        let listed = folder.read(&source, partitions).expect("a list");
        assert_eq!(listed.spilled(), 0);
        check(&made, &listed, empty, duplicates);
        let few = folder.room(0);
        let listed = read(&source, &SALT, partitions, &few, &mut go).expect("a list");
        check(&made, &listed, empty, duplicates);
        if round == 59 {
            assert!(listed.spilled() > 100_000, "{}", listed.spilled());
        }
    }
}

#[test]
fn what_is_on_the_disk_has_no_name_and_is_gone_with_its_list() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    let path = folder.file("list.csv", make(&mut random, 20_000, 20_000).bytes);
    let source = Source::new(path, ["a", "b"]).expect("a list");
    let listed = read(&source, &SALT, 2, &folder.room(0), &mut go).expect("a list");
    assert!(listed.spilled() > 0);
    if cfg!(unix) {
        assert_eq!(folder.names(), 1);
    }
    drop(listed);
    assert_eq!(folder.names(), 1);
    let mut room = folder.room(0);
    room.folder = folder.0.path().join("none");
    let error = read(&source, &SALT, 2, &room, &mut go)
        .expect_err("no folder")
        .to_string();
    assert!(
        error.contains("cannot use the folder") && error.contains("none"),
        "{error}"
    );
}

/// Several threads may ask for partitions.
#[test]
fn lists_are_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    let mut random = Random::new(seed());
    let folder = Folder::new();
    let path = folder.file("list.csv", make(&mut random, 20_000, 20_000).bytes);
    let source = Source::new(path, ["a", "b"]).expect("a list");
    let listed = read(&source, &SALT, 2, &folder.room(0), &mut go).expect("a list");
    shared(&listed);
    let whole = folder.read(&source, 2).expect("a list");
    std::thread::scope(|scope| {
        for partition in [0, 1, 0, 1] {
            let (listed, whole) = (&listed, &whole);
            scope.spawn(move || {
                let (some, all) = (listed.partition(partition), whole.partition(partition));
                assert!(some.expect("one").digests() == all.expect("one").digests());
            });
        }
    });
}

#[test]
fn a_list_may_have_no_rows() {
    let folder = Folder::new();
    for bytes in ["", "\n\n", "\u{feff}", "k", "k,x\r\n", "\u{feff}k\n\n"] {
        let listed = folder.keys(bytes).expect("an empty list");
        assert_eq!((listed.rows(), listed.keys()), (0, 0), "{bytes:?}");
        assert!(listed.partition(2).expect("a partition").is_empty());
    }
}

#[test]
fn keys_may_be_long() {
    let folder = Folder::new();
    let long = "x".repeat(1 << 20);
    let listed = folder
        .keys(format!("k\n{long}\n\"{long}\"\ny\n"))
        .expect("a list");
    assert_eq!((listed.rows(), listed.keys()), (3, 2));
    let error = folder
        .keys(format!("k\ny\n{long}x\n"))
        .expect_err("too long")
        .to_string();
    assert!(
        error.contains("line 3, column \"k\": a key of more than 1024 KiB"),
        "{error}"
    );
}

/// The digest, written out: also for whoever makes one elsewhere.
#[test]
fn digests_are_sha_256() {
    use sha2::{Digest as _, Sha256};
    let mut random = Random::new(seed());
    for length in (0..300).chain([1 << 20]) {
        let key: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
        let hashed = |columns: u8, key: &[u8]| {
            let begin = b"madrigal key of a list's row v1";
            let all = [begin.as_slice(), &[columns], &SALT, key].concat();
            let hash = Sha256::digest(all);
            let mut first = [0; 16];
            first.copy_from_slice(&hash[..16]);
            Block::from(u128::from_be_bytes(first))
        };
        assert!(digest(&SALT, &[&key]) == hashed(1, &key), "{length} bytes");
        let length = (length as u64).to_le_bytes();
        let joined = [&length[..], &key, &0_u64.to_le_bytes()].concat();
        assert!(digest(&SALT, &[&key, b""]) == hashed(2, &joined));
    }
    // Values are told apart, and so are salts.
    assert!(digest(&SALT, &[b"ab", b"c"]) != digest(&SALT, &[b"a", b"bc"]));
    assert!(digest(&SALT, &[b"ab"]) != digest(&[8; 32], &[b"ab"]));
    // One known answer keeps all of this from changing unnoticed.
    let known = u128::from(digest(&SALT, &[b"key"]));
    assert_eq!(format!("{known:032x}"), "70754e8028beee0b073eaea10cb209dd");
}

#[test]
fn partitions_are_equal_shares_of_all_digests() {
    for (high, partitions, partition) in [
        (0, 1, 0),
        (u64::MAX, 1, 0),
        (u64::MAX, 65_536, 65_535),
        (1 << 63, 2, 1),
        ((1 << 63) - 1, 2, 0),
        (u64::MAX / 3, 3, 0),
        (u64::MAX / 3 + 1, 3, 1),
    ] {
        assert_eq!(
            partition_of(Block::new(u64::MAX, high), partitions),
            partition
        );
    }
}
