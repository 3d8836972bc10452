//! Rows that are written.

use std::ops::ControlFlow;

use madrigal_lists::{Extra, Keep, ListError, Listed, Matches, Source};
use madrigal_testkit::seed;

use crate::lists::make;
use crate::{Folder, Random, go};

fn written(listed: &Listed, matches: &Matches, keep: Keep, extra: Option<&Extra>) -> Vec<u8> {
    let mut out = Vec::new();
    let done = listed.write_rows(matches, keep, extra, &mut out, &mut go);
    done.expect("rows");
    out
}

#[test]
fn rows_are_those_of_the_file_byte_by_byte() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    for round in 0..30 {
        let rows = if round == 0 { 5000 } else { random.below(200) };
        let made = make(&mut random, rows, 50);
        let path = folder.file("list.csv", &made.bytes);
        let source = Source::new(path, ["a"]).expect("a list");
        let listed = folder.read(&source, 2).expect("a list");
        let mut matches = Matches::new(&listed);
        let one_in = 1 + random.below(4);
        let marked: Vec<bool> = (0..rows).map(|_| random.below(one_in) == 0).collect();
        // Any order will do.
        for row in (0..rows).rev().filter(|&row| marked[row]) {
            matches.mark(row as u32).expect("a row");
            matches.mark(row as u32).expect("a row");
        }
        let count = marked.iter().filter(|&&marked| marked).count() as u64;
        assert_eq!(matches.marked(), count);
        let mut told = vec![false; rows];
        let each = matches.each(|row, value| {
            assert_eq!(value, None);
            told[row as usize] = true;
        });
        each.expect("rows in memory");
        assert_eq!(told, marked);
        for keep in [Keep::Matched, Keep::Others, Keep::All] {
            let kept = |row: usize| match keep {
                Keep::Matched => marked[row],
                Keep::Others => !marked[row],
                Keep::All => true,
            };
            let records = (0..rows)
                .filter(|&row| kept(row))
                .map(|row| &made.records[row]);
            let expected: Vec<u8> = std::iter::once(&made.header)
                .chain(records)
                .flatten()
                .copied()
                .collect();
            let out = written(&listed, &matches, keep, None);
            assert!(
                out == expected,
                "{:?}\n{:?}",
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(&expected)
            );
        }
    }
}

#[test]
fn a_column_is_added_before_the_endings_of_lines() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "k;x\r\na;1\r\n\"b\n\";2\nc;3\n\nd;4");
    let source = Source::new(&path, ["k"])
        .expect("a list")
        .separator(b';')
        .expect("a semicolon");
    let listed = folder.read(&source, 1).expect("a list");
    assert_eq!(listed.rows(), 4);
    for memory in [0, 1 << 20] {
        let mut matches = Matches::with_values(&listed, &folder.room(memory));
        matches.set(3, 7).expect("a row");
        matches.set(1, -1250).expect("a row");
        let mut told = Vec::new();
        let each = matches.each(|row, value| told.push((row, value)));
        each.expect("numbers, from the disk or not");
        assert_eq!(told, [(1, Some(-1250)), (3, Some(7))]);
        let extra = Extra {
            name: "their \"n\"".into(),
            places: 2,
        };
        let out = written(&listed, &matches, Keep::All, Some(&extra));
        let expected = "k;x;\"their \"\"n\"\"\"\r\na;1;\r\n\"b\n\";2;-12.50\nc;3;\nd;4;0.07";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        let out = written(&listed, &matches, Keep::Matched, Some(&extra));
        let expected = "k;x;\"their \"\"n\"\"\"\r\n\"b\n\";2;-12.50\nd;4;0.07";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        assert!(matches!(
            listed.write_rows(&matches, Keep::All, None, &mut Vec::new(), &mut go),
            Err(ListError::Values { column: false })
        ));
    }
    let matches = Matches::new(&listed);
    let extra = Extra {
        name: "n".into(),
        places: 0,
    };
    assert!(matches!(
        listed.write_rows(&matches, Keep::All, Some(&extra), &mut Vec::new(), &mut go),
        Err(ListError::Values { column: true })
    ));
    assert!(matches!(
        Matches::new(&listed).mark(4),
        Err(ListError::Row { row: 4, rows: 4 })
    ));
}

/// Numbers of many ranges of rows, beyond a budget.
#[test]
fn numbers_find_their_rows() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    let rows = 1_200_000_u32;
    let mut text = String::from("k\n");
    (0..rows).for_each(|row| text.push_str(["a\n", "b\n"][row as usize % 2]));
    let path = folder.file("list.csv", text);
    let listed = folder
        .read(&Source::new(path, ["k"]).expect("a list"), 1)
        .expect("a list");
    assert_eq!((listed.rows(), listed.keys()), (rows, 2));
    let mut matches = Matches::with_values(&listed, &folder.room(0));
    let step = 1 + random.below(50) as u32;
    let chosen = || (0..rows).step_by(step as usize);
    chosen()
        .rev()
        .for_each(|row| matches.set(row, i64::from(row) * 3).expect("a row"));
    let extra = Extra {
        name: "n".into(),
        places: 0,
    };
    let out = written(&listed, &matches, Keep::Matched, Some(&extra));
    let mut lines = std::str::from_utf8(&out).expect("text").lines().skip(1);
    for row in chosen() {
        let key = ["a", "b"][row as usize % 2];
        assert_eq!(lines.next(), Some(format!("{key},{}", row * 3).as_str()));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn a_file_that_has_changed_is_not_copied() {
    let folder = Folder::new();
    let listed = folder.keys("k\na\nb\n").expect("a list");
    let matches = Matches::new(&listed);
    folder.file("keys.csv", "k\na\nb\nc\n");
    let mut out = Vec::new();
    let done = listed.write_rows(&matches, Keep::All, None, &mut out, &mut go);
    assert!(matches!(done, Err(ListError::Changed { .. })));
    assert!(out.is_empty());
}

#[test]
fn a_pass_can_be_stopped_and_tells_how_far_it_is() {
    let folder = Folder::new();
    let text = "k\n".to_owned() + &"0123456789\n".repeat(900_000);
    let path = folder.file("list.csv", &text);
    let source = Source::new(path, ["k"]).expect("a list");
    let mut seen = Vec::new();
    let mut watch = |progress: madrigal_lists::Progress| {
        assert_eq!(progress.all, text.len() as u64);
        seen.push(progress.done);
        ControlFlow::Continue(())
    };
    let room = folder.room(1 << 30);
    madrigal_lists::read(&source, &[0; 32], 1, &room, &mut watch).expect("a list");
    assert!(seen.len() >= 3 && seen.is_sorted() && seen.last() == Some(&(text.len() as u64)));
    let mut stop = |_| ControlFlow::Break(());
    let done = madrigal_lists::read(&source, &[0; 32], 1, &room, &mut stop);
    assert!(matches!(done, Err(ListError::Stopped { .. })));
}
