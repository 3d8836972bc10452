//! Files of random lists are matched as plain sets are.
//!
//! `MADRIGAL_LISTS` sets how many are tried.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use madrigal_app::everyone::everyone;
use madrigal_app::flags::{Patience, TransportArg};
use madrigal_app::over::Over;
use madrigal_app::reach::Network;
use madrigal_core::Party;
use madrigal_kernels::Block;
use madrigal_lists::{Empty, Keep, Normal, Source};
use madrigal_matching::{Found, MOST_KEYS, Question, Security, Task, Told, find};
use madrigal_net::Session;
use madrigal_ot::SeededRng;
use madrigal_testkit::seed;
use rand_core::Rng as _;

/// Rows of a list, each with its key.
type Rows = Vec<String>;

/// A random number below `n`.
fn below(rng: &mut SeededRng, n: u64) -> u64 {
    rng.next_u64() % n
}

/// A size: often small, sometimes large.
fn size(rng: &mut SeededRng) -> u64 {
    match below(rng, 6) {
        0 => 0,
        1 => 1,
        2 => below(rng, 8),
        3 => below(rng, 3000),
        _ => below(rng, 200),
    }
}

/// Keys of one list, drawn from `first..first + range`, in some spelling.
fn rows(rng: &mut SeededRng, (first, range): (u64, u64)) -> Rows {
    let size = size(rng);
    (0..size)
        .map(|_| match below(rng, 200) {
            0..10 => String::new(),
            10 => "x".repeat(1 << 20),
            11 => format!("a \"quoted\",\nkey {}", below(rng, 3)),
            12..60 => format!(" Key {}  ", first + below(rng, range)),
            _ => format!("key {}", first + below(rng, range)),
        })
        .collect()
}

/// A CSV file of rows, with a number beside each.
fn write(path: &Path, rows: &Rows) {
    let mut text = "number,key\n".to_owned();
    for (i, key) in rows.iter().enumerate() {
        writeln!(text, "{i},\"{}\"", key.replace('"', "\"\"")).unwrap();
    }
    fs::write(path, text).unwrap();
}

fn normal(key: &str) -> String {
    let words: Vec<&str> = key.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Numbers of the rows that match, and different keys among them.
fn expected(own: &Rows, other: &Rows, empty: Empty) -> (Vec<usize>, u64) {
    let other: BTreeSet<String> = other.iter().map(|key| normal(key)).collect();
    let mut matched = BTreeMap::<String, Vec<usize>>::new();
    for (i, key) in own.iter().enumerate() {
        let key = normal(key);
        let taken = empty == Empty::Match || !key.is_empty();
        if taken && other.contains(&key) {
            matched.entry(key).or_default().push(i);
        }
    }
    let keys = matched.len() as u64;
    let mut rows: Vec<usize> = matched.into_values().flatten().collect();
    rows.sort_unstable();
    (rows, keys)
}

/// Numbers in the rows that were written.
fn written(found: &Found) -> (Vec<usize>, u64) {
    let (matches, keys) = found.matches.as_ref().unwrap();
    let mut out = Vec::new();
    let watch = &mut |_| ControlFlow::Continue(());
    let rows = found
        .listed
        .write_rows(matches, Keep::Matched, None, &mut out, watch)
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    // A line break within a quoted key is followed by no number and a comma.
    let numbers = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(",\"")?.0.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    assert_eq!(numbers.len() as u64, rows);
    (numbers, *keys)
}

fn check(seed: u64, folder: &Path) {
    let mut rng = SeededRng::from_seed(Block::new(seed, 5));
    let range = 1 + size(&mut rng);
    let apart = match below(&mut rng, 4) {
        0 => 1_000_000,
        1 => range / 2,
        _ => 0,
    };
    let first = rows(&mut rng, (0, range));
    let second = match below(&mut rng, 8) {
        0 => first.clone(),
        _ => rows(&mut rng, (apart, range)),
    };
    run(
        [first, second],
        &mut rng,
        folder,
        &format!("MADRIGAL_SEED={seed}"),
    );
}

fn run(lists: [Rows; 2], rng: &mut SeededRng, folder: &Path, again: &str) {
    let empty = if below(rng, 2) == 0 {
        Empty::Skip
    } else {
        Empty::Match
    };
    let to = [
        Told::Both,
        Told::One(Party::new(0)),
        Told::One(Party::new(1)),
    ][below(rng, 3) as usize];
    let bounds = [0, 1].map(|_| (below(rng, 3) == 0).then(|| 3100 + below(rng, 3000)));
    let security = match below(rng, 2) {
        0 => Security::SemiHonest,
        _ => Security::Malicious,
    };
    let memory = if below(rng, 2) == 0 { 0 } else { 1 << 20 };
    let threads = 1 + below(rng, 3) as usize;
    let tasks = [0, 1].map(|party: usize| {
        let path = folder.join(format!("{party}.csv"));
        write(&path, &lists[party]);
        let normal: Normal = "lower,trim".parse().unwrap();
        let source = Source::new(path, ["key"])
            .unwrap()
            .normal(&normal)
            .empty(empty);
        Task {
            source,
            question: Question::Rows,
            security,
            noise: None,
            places: 0,
            to,
            bound: bounds[party].filter(|&bound| bound >= lists[party].len() as u64),
            memory,
            folder: folder.to_owned(),
            over: Over::default(),
            most: MOST_KEYS,
            ledger: None,
            alone: 2,
            state: None,
            deadline: None,
        }
    });
    let found = everyone(
        TransportArg::Memory,
        Network::new(None),
        2,
        threads,
        &Patience::default(),
        async |session: &Session| {
            let task = &tasks[session.me().index()];
            find(session, 1, task, &|_| ()).await
        },
    );
    let found = found.unwrap_or_else(|failure| panic!("{failure}; again: {again}"));
    for (party, found) in found.iter().enumerate() {
        if !to.names(Party::new(party)) {
            assert!(found.matches.is_none());
            continue;
        }
        let expected = expected(&lists[party], &lists[1 - party], empty);
        assert!(written(found) == expected, "party {party}, again: {again}");
    }
}

#[test]
fn random_lists_are_matched_as_sets_are() {
    let number = std::env::var("MADRIGAL_LISTS")
        .ok()
        .and_then(|text| text.parse().ok());
    let (number, seed) = (number.unwrap_or(25), seed());
    let folder = tempfile::tempdir().unwrap();
    for i in 0..number {
        check(seed.wrapping_add(i), folder.path());
    }
    println!("{number} pairs of lists (MADRIGAL_SEED={seed})");
}

/// One list is as good as nothing beside the other.
#[test]
fn lists_of_very_different_sizes_are_matched() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SeededRng::from_seed(Block::new(seed(), 6));
    let long: Rows = (0..200_000).map(|i| format!("key {i}")).collect();
    for key in ["key 77777", "key 1000000"] {
        let short = vec![key.to_owned()];
        run(
            [short.clone(), long.clone()],
            &mut rng,
            folder.path(),
            "one and many",
        );
        run(
            [long.clone(), short],
            &mut rng,
            folder.path(),
            "many and one",
        );
    }
}
