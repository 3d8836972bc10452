//! Rows with several keys are matched by the first that the other list has, as plain maps have it.

use std::collections::BTreeSet;
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
use madrigal_lists::{Duplicates, Extra, Keep, Key, Normal, Payload, Source};
use madrigal_matching::{Found, MOST_KEYS, Question, Security, Task, Told, find};
use madrigal_net::Session;
use madrigal_ot::SeededRng;
use madrigal_testkit::seed;
use rand_core::Rng as _;

/// Columns of each key.
const KEYS: [&[&str]; 3] = [&["mail"], &["phone"], &["first", "last"]];

/// A row: mail, phone, first and last name, and a number.
type Row = ([String; 4], i64);

fn below(rng: &mut SeededRng, n: u64) -> u64 {
    rng.next_u64() % n
}

fn rows(rng: &mut SeededRng) -> Vec<Row> {
    let size = match below(rng, 6) {
        0 => 0,
        1 => 1,
        2 => below(rng, 2000),
        _ => below(rng, 60),
    };
    let range = 1 + size / 2;
    let value = |rng: &mut SeededRng, name: &str| match below(rng, 3) {
        0 => String::new(),
        // Values of different columns are equal at times, and must not meet.
        1 => format!("{}", below(rng, range)),
        _ => format!("{name} {}", below(rng, range)),
    };
    let row = |rng: &mut SeededRng| {
        let values = ["m", "p", "f", "l"].map(|name| value(rng, name));
        (values, below(rng, 1000) as i64 - 500)
    };
    (0..size).map(|_| row(rng)).collect()
}

/// A row's keys, of which those with an empty column are none.
fn keys(row: &Row, of_row: usize) -> Vec<Option<Vec<&str>>> {
    let [mail, phone, first, last] = row.0.each_ref().map(String::as_str);
    let all = [vec![mail], vec![phone], vec![first, last]];
    let full = |key: Vec<_>| (!key.contains(&"")).then_some(key);
    all.into_iter().take(of_row).map(full).collect()
}

fn source(folder: &Path, party: usize, rows: &[Row], of_row: usize, payload: bool) -> Source {
    let path = folder.join(format!("{party}.csv"));
    let mut text = "n,first,mail,last,phone,row\n".to_owned();
    for (i, ([mail, phone, first, last], n)) in rows.iter().enumerate() {
        writeln!(text, "{n},{first},{mail},{last},{phone},{i}").unwrap();
    }
    fs::write(&path, text).unwrap();
    let key = |column: &&str| Key {
        column: (*column).to_owned(),
        normal: Normal::default(),
    };
    let mut source = Source::with_keys(path, KEYS[0].iter().map(key).collect()).unwrap();
    for columns in &KEYS[1..of_row] {
        source = source.or(columns.iter().map(key).collect()).unwrap();
    }
    match payload {
        true => source.payload(Payload {
            duplicates: Duplicates::Sum,
            ..Payload::integers("n")
        }),
        false => Ok(source),
    }
    .unwrap()
}

/// Row, number of the key, and payload of each row that matches, as plain loops find them.
fn expected(own: &[Row], other: &[Row], of_row: usize, join: bool) -> Vec<(usize, usize, i64)> {
    let has = |place: usize, key: &[&str]| {
        let theirs = other.iter().filter(|row| {
            let theirs = keys(row, of_row);
            theirs[place].as_deref() == Some(key)
        });
        let numbers: Vec<i64> = theirs.map(|row| row.1).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum())
    };
    let of_row = |(i, row)| {
        let own = keys(row, of_row);
        own.iter().enumerate().find_map(|(place, key)| {
            let sum: i64 = has(place, key.as_ref()?)?;
            Some((i, place, if join { sum } else { 0 }))
        })
    };
    own.iter().enumerate().filter_map(of_row).collect()
}

/// Rows that were written, likewise.
fn written(found: &Found, join: bool) -> Vec<(usize, usize, i64)> {
    let (matches, _) = found.matches.as_ref().unwrap();
    let extra = join.then(|| Extra {
        name: "theirs".to_owned(),
        places: 0,
    });
    let mut out = Vec::new();
    let watch = &mut |_| ControlFlow::Continue(());
    let more = (extra.as_ref(), Some("by"));
    let rows = (found.listed).write_rows_by(matches, Keep::Matched, more, &mut out, watch);
    assert_eq!(rows.unwrap(), matches.marked());
    let text = String::from_utf8(out).unwrap();
    let row = |line: &str| {
        let (line, by) = match line.strip_suffix("\"first,last\"") {
            Some(line) => (line.trim_end_matches(','), 2),
            None => {
                let (line, by) = line.rsplit_once(',').unwrap();
                (line, usize::from(by == "phone"))
            }
        };
        let (line, value) = match join {
            true => line.rsplit_once(',').unwrap(),
            false => (line, "0"),
        };
        let row = line.rsplit_once(',').unwrap().1;
        (row.parse().unwrap(), by, value.parse().unwrap())
    };
    let rows: Vec<_> = text.lines().skip(1).map(row).collect();
    let by = |key| rows.iter().filter(|row| row.1 == key).count() as u64;
    let told = matches.marked_by();
    assert_eq!(told, (0..told.len()).map(by).collect::<Vec<_>>());
    rows
}

fn check(rng: &mut SeededRng, folder: &Path, again: &str) {
    let lists = [rows(rng), rows(rng)];
    let of_row = 1 + below(rng, 3) as usize;
    let to = [
        Told::Both,
        Told::One(Party::new(0)),
        Told::One(Party::new(1)),
    ][below(rng, 3) as usize];
    let join = to != Told::Both && below(rng, 2) == 0;
    let threads = 1 + below(rng, 2) as usize;
    let memory = [0, 1 << 20][below(rng, 2) as usize];
    let tasks = [0, 1].map(|party: usize| {
        let payload = join && !to.names(Party::new(party));
        Task {
            source: source(folder, party, &lists[party], of_row, payload),
            question: if join { Question::Join } else { Question::Rows },
            to,
            places: 0,
            bound: None,
            memory,
            folder: folder.to_owned(),
            over: Over::default(),
            most: MOST_KEYS,
            ledger: None,
            state: None,
            noise: None,
            security: Security::SemiHonest,
            alone: 2,
            deadline: None,
        }
    });
    let network = Network::new(None);
    let patience = Patience::default();
    let found = everyone(
        TransportArg::Memory,
        network,
        2,
        threads,
        &patience,
        async |session: &Session| find(session, 1, &tasks[session.me().index()], &|_| ()).await,
    );
    let found = found.unwrap_or_else(|failure| panic!("{failure}; again: {again}"));
    for (party, found) in found.iter().enumerate() {
        let (own, other) = (&lists[party], &lists[1 - party]);
        let distinct: BTreeSet<_> = own
            .iter()
            .flat_map(|row| keys(row, of_row).into_iter().enumerate())
            .filter_map(|(place, key)| Some((place, key?)))
            .collect();
        assert_eq!(found.sizes[party], distinct.len() as u64, "{again}");
        if to.names(Party::new(party)) {
            let expected = expected(own, other, of_row, join);
            assert!(
                written(found, join) == expected,
                "party {party}; again: {again}"
            );
        } else {
            assert!(found.matches.is_none());
        }
    }
}

#[test]
fn rows_match_by_the_first_key_that_the_other_list_has() {
    let seed = seed();
    let folder = tempfile::tempdir().unwrap();
    for i in 0..20 {
        let mut rng = SeededRng::from_seed(Block::new(seed.wrapping_add(i), 11));
        let again = format!("MADRIGAL_SEED={}", seed.wrapping_add(i));
        check(&mut rng, folder.path(), &again);
    }
}
