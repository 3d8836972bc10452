//! Lists that are matched between processes, of which one is killed.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::command::{Running, madrigal, roster, start, write};

/// A party's list of every `step`-th number, in two partitions of those that a state has.
fn list(path: &Path, name: &str, step: u32) {
    let mut text = "key\n".to_owned();
    (0..300_000).for_each(|i| {
        let _ = writeln!(text, "{}", step * i);
    });
    write(path, name, &text);
}

fn both(path: &Path, more: &str) -> [Running; 2] {
    [0, 1].map(|party| {
        let shared = "psi --parties parties.toml --column key --threads 1 --connect-timeout 30s";
        let own =
            format!("--party {party} --input {party}.csv --state s{party} --out {party}-out.csv");
        start(path, &format!("{shared} {own} {more}"))
    })
}

/// Whether a state has a whole record of a partition: beyond the first line, header and sizes, as many bytes as the record says it has, and a checksum.
fn has_an_answer(path: &Path) -> bool {
    let state = std::fs::read(path).unwrap_or_default();
    let word = |at: usize| Some(u32::from_le_bytes(*state.get(at..)?.first_chunk()?) as usize);
    let whole = || {
        let record = 24 + 4 + word(24)? + 16 + 40;
        Some(state.len() >= record + 8 + 4 * word(record + 4)? + 16)
    };
    whole().unwrap_or(false)
}

/// Before, all of a long run was lost with the line.
#[test]
fn a_party_that_is_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    roster(path, 2);
    list(path, "0.csv", 2);
    list(path, "1.csv", 3);
    // Slow enough that the second partition takes a second or more.
    let [zero, mut one] = both(path, "--network 1ms,15Mbps");
    // Both have the answer of a partition as a whole, some 50,000 places of four bytes each.
    let begun = Instant::now();
    for party in [0, 1] {
        let state = path.join(format!("s{party}/matched.state"));
        while !has_an_answer(&state) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    one.kill();
    let told = [
        "1 of 2 partitions are kept in s0",
        "the same command at both parties",
    ];
    zero.end().bad(4, &told);
    let [zero, one] = both(path, "").map(|running| running.end().good());
    for (party, ended) in [zero, one].iter().enumerate() {
        assert!(
            ended.stderr.contains("went on from 1 of 2 partitions"),
            "{ended}"
        );
        let rows = std::fs::read_to_string(path.join(format!("{party}-out.csv"))).unwrap();
        let expected = (0..100_000).map(|i| 6 * i);
        let found = rows.lines().skip(1).map(|row| row.parse::<u32>().unwrap());
        assert!(found.eq(expected), "party {party}");
        assert!(!path.join(format!("s{party}")).exists());
    }
    let wrong = "psi --local 2 --input a.csv --column key --size --state s";
    madrigal(path, wrong).bad(2, &["--state"]);
}
