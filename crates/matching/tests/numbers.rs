//! Numbers of matched lists, and shares of them, are those of plain sets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use madrigal_app::everyone::everyone;
use madrigal_app::failure::Failure;
use madrigal_app::flags::{Patience, TransportArg};
use madrigal_app::over::Over;
use madrigal_app::reach::Network;
use madrigal_core::Party;
use madrigal_kernels::Block;
use madrigal_lists::{Duplicates, Payload, Source};
use madrigal_matching::{
    Found, MOST_KEYS, Question, Security, Task, Told, find, rows_of_bins, shares,
};
use madrigal_net::Session;
use madrigal_noise::Noise;
use madrigal_ot::SeededRng;
use madrigal_testkit::seed;
use rand_core::Rng as _;

/// Keys with an amount each, in hundredths.
pub(crate) type List = BTreeMap<u64, i64>;

pub(crate) fn list(rng: &mut SeededRng, first: u64, size: u64) -> List {
    let amount = |rng: &mut SeededRng| (rng.next_u64() % 2_000_001) as i64 - 1_000_000;
    (0..size)
        .map(|_| (first + rng.next_u64() % (2 * size), amount(rng)))
        .collect()
}

fn source(folder: &Path, party: usize, list: &List, with_payload: bool) -> Source {
    let path = folder.join(format!("{party}.csv"));
    let mut text = "key,amount\n".to_owned();
    for (key, amount) in list {
        let sign = if *amount < 0 { "-" } else { "" };
        let amount = amount.unsigned_abs();
        writeln!(text, "{key},{sign}{}.{:02}", amount / 100, amount % 100).unwrap();
    }
    fs::write(&path, text).unwrap();
    let source = Source::new(path, ["key"]).unwrap();
    let payload = Payload {
        places: 2,
        duplicates: Duplicates::Sum,
        ..Payload::integers("amount")
    };
    if with_payload {
        source.payload(payload).unwrap()
    } else {
        source
    }
}

fn run<T: Send>(
    folder: &Path,
    lists: &[List; 2],
    payloads: [bool; 2],
    question: Question,
    to: Told,
    work: impl AsyncFn(&Session, &Task, Found) -> T + Sync,
) -> Vec<T> {
    let asked = (question, to);
    run_with(folder, lists, payloads, asked, [None; 2], work)
        .unwrap_or_else(|failure| panic!("{failure}"))
}

/// Asks with the noise that each party says.
pub(crate) fn run_with<T: Send>(
    folder: &Path,
    lists: &[List; 2],
    payloads: [bool; 2],
    (question, to): (Question, Told),
    noise: [Option<Noise>; 2],
    work: impl AsyncFn(&Session, &Task, Found) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let tasks = [0, 1].map(|party| Task {
        source: source(folder, party, &lists[party], payloads[party]),
        question,
        security: Security::SemiHonest,
        noise: noise[party],
        to,
        places: 2,
        bound: None,
        memory: 1 << 20,
        folder: folder.to_owned(),
        over: Over::default(),
        most: MOST_KEYS,
        ledger: None,
        alone: 2,
        state: None,
        deadline: None,
    });
    let network = Network::new(None);
    let patience = Patience::default();
    everyone(
        TransportArg::Memory,
        network,
        2,
        1,
        &patience,
        async |session: &Session| {
            let task = &tasks[session.me().index()];
            let found = find(session, 1, task, &|_| ()).await?;
            Ok(work(session, task, found).await)
        },
    )
}

/// Sums of both parties' amounts over common keys, and the number of these.
pub(crate) fn expected(lists: &[List; 2]) -> (u64, [i64; 2]) {
    let common = lists[0].keys().filter(|key| lists[1].contains_key(key));
    let sums = |party: usize| common.clone().map(|key| lists[party][key]).sum();
    (common.clone().count() as u64, [0, 1].map(sums))
}

#[test]
fn sizes_and_sums_are_those_of_sets() {
    let seed = seed();
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SeededRng::from_seed(Block::new(seed, 8));
    let sizes = [(0, 0), (0, 3), (1, 1), (40, 700), (900, 30), (300, 300)];
    for (i, (first, second)) in sizes.into_iter().enumerate() {
        let lists = [list(&mut rng, 0, first), list(&mut rng, first / 3, second)];
        let (common, sums) = expected(&lists);
        for (payloads, keys) in [
            ([false, true], true),
            ([true, true], false),
            ([true, false], true),
        ] {
            let question = Question::Numbers { keys, sums: true };
            let to = [
                Told::Both,
                Told::One(Party::new(0)),
                Told::One(Party::new(1)),
            ][i % 3];
            let answers = run(
                folder.path(),
                &lists,
                payloads,
                question,
                to,
                async |_, _, found| found.answer,
            );
            for (party, answer) in answers.into_iter().enumerate() {
                assert_eq!(answer.is_some(), to.names(Party::new(party)));
                let Some(answer) = answer else { continue };
                assert_eq!(
                    answer.keys,
                    keys.then_some(common as i64),
                    "MADRIGAL_SEED={seed}"
                );
                for party in [0, 1] {
                    let sum = payloads[party].then_some(sums[party]);
                    assert_eq!(answer.sums[party], sum, "MADRIGAL_SEED={seed}");
                }
            }
        }
    }
}

/// The shares of the two parties, added up, are the bits of common keys and their payloads.
#[test]
fn shares_are_those_of_common_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SeededRng::from_seed(Block::new(seed(), 9));
    let lists = [list(&mut rng, 0, 60), list(&mut rng, 20, 80)];
    let (common, [_, sum]) = expected(&lists);
    let all = run(
        folder.path(),
        &lists,
        [false, true],
        Question::Shares,
        Told::Both,
        async |session, task, found| {
            let in_bins = found.in_bins.unwrap();
            let me = session.me();
            let rows =
                rows_of_bins(me, &found.listed, &in_bins).unwrap_or_else(|error| panic!("{error}"));
            if me == in_bins.receiver {
                // Each row is in one bin, as none has the key of another.
                let mut there: Vec<i64> = rows.iter().copied().filter(|&row| row >= 0).collect();
                there.sort_unstable();
                assert_eq!(rows.len(), in_bins.bins);
                assert_eq!(
                    there,
                    (0..i64::from(found.listed.rows())).collect::<Vec<_>>()
                );
            } else {
                assert!(rows.is_empty());
            }
            let made = shares(session, found.next_job, task, &in_bins, &|_| ()).await;
            made.map_err(|failure| failure.to_string()).unwrap().0
        },
    );
    let bits = |party: usize| all[party][0].to_numbers::<u8>().unwrap();
    let words = |party: usize| all[party][1].component::<u64>(0);
    let (first, second) = (bits(0), bits(1));
    let both = first.iter().zip(second.iter()).map(|(a, b)| a ^ b);
    assert_eq!(both.map(u8::count_ones).sum::<u32>() as u64, common);
    let sums = words(0)
        .iter()
        .zip(words(1))
        .map(|(a, b)| a.wrapping_add(*b) as i64);
    assert_eq!(sums.sum::<i64>(), sum);
}
