//! Lists of three parties and more are matched as plain sets are, at the cost that is declared.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::{Args as _, Command, FromArgMatches as _};
use madrigal_app::everyone::everyone;
use madrigal_app::failure::Result;
use madrigal_app::flags::{Patience, TransportArg};
use madrigal_app::over::Over;
use madrigal_app::reach::Network;
use madrigal_core::{Party, Phase};
use madrigal_engine::Sharing;
use madrigal_kernels::Block;
use madrigal_lists::{Normal, Source};
use madrigal_matching::args::Psi;
use madrigal_matching::psi::{compute, json};
use madrigal_matching::{Found, MOST_KEYS, Many, Question, Security, Task, Told, find_many};
use madrigal_net::Session;
use madrigal_operations::Backend;
use madrigal_ot::SeededRng;
use madrigal_psi_programs::{Keyed, KeyedPlan};
use madrigal_testkit::seed;
use rand_core::Rng as _;

fn below(rng: &mut SeededRng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// A list's rows, and its bound.
type List = (Vec<String>, Option<u64>);

/// Keys from one range, some of them several times, some in another spelling, some empty.
fn rows(rng: &mut SeededRng, most: usize, range: usize) -> Vec<String> {
    let size = match below(rng, 8) {
        0 => 0,
        1 => 1,
        _ => below(rng, most),
    };
    let key = |_| match below(rng, 20) {
        0 => String::new(),
        1 => format!(" KEY {} ", below(rng, range)),
        _ => format!("key {}", below(rng, range)),
    };
    (0..size).map(key).collect()
}

fn task(folder: &Path, party: usize, (rows, bound): &List) -> Task {
    let path = folder.join(format!("{party}.csv"));
    let lines: String = rows.iter().map(|row| format!("{row},\n")).collect();
    fs::write(&path, format!("key,more\n{lines}")).unwrap();
    let normal: Normal = "lower,trim".parse().unwrap();
    Task {
        source: Source::new(path, ["key"]).unwrap().normal(&normal),
        question: Question::Rows,
        places: 0,
        to: Told::Both,
        bound: *bound,
        memory: 1 << 20,
        folder: folder.to_owned(),
        over: Over::default(),
        most: MOST_KEYS,
        ledger: None,
        noise: None,
        security: Security::SemiHonest,
        alone: 2,
        state: None,
        deadline: None,
    }
}

/// Different keys of a list.
fn keys(rows: &[String]) -> BTreeSet<String> {
    let keys = rows.iter().map(|row| row.trim().to_lowercase());
    keys.filter(|key| !key.is_empty()).collect()
}

fn run(tasks: &[Task], many: &Many) -> Result<Vec<Found>> {
    everyone(
        TransportArg::Memory,
        Network::new(None),
        tasks.len(),
        1,
        &Patience::default(),
        async |session: &Session| {
            let task = &tasks[session.me().index()];
            find_many(session, 1, task, many, &|_| ()).await
        },
    )
}

fn check(lists: &[List], to: &[usize], sharing: Sharing, about: &str) {
    let folder = tempfile::tempdir().unwrap();
    let tasks = lists.iter().enumerate();
    let tasks: Vec<Task> = tasks
        .map(|(party, list)| task(folder.path(), party, list))
        .collect();
    let many = Many {
        to: to.iter().map(|&party| Party::new(party)).collect(),
        protocol: Backend::of(sharing),
    };
    let about = format!("{lists:?} in {sharing} for {to:?}, {about}");
    let found = run(&tasks, &many).unwrap_or_else(|failure| panic!("{failure}: {about}"));
    let sets: Vec<_> = lists.iter().map(|(rows, _)| keys(rows)).collect();
    let all = sets
        .iter()
        .skip(1)
        .fold(sets[0].clone(), |all, set| &all & set);
    let sizes = lists.iter().zip(&sets);
    let sizes = sizes.map(|((_, bound), set)| bound.unwrap_or(set.len() as u64));
    let sizes: Vec<u64> = sizes.collect();
    for (party, found) in found.iter().enumerate() {
        assert_eq!(found.sizes, sizes, "{about}");
        match (&found.matches, to.contains(&party)) {
            (None, false) => {}
            (Some((matches, count)), true) => {
                assert_eq!(*count, all.len() as u64, "party {party}: {about}");
                for (row, key) in lists[party].0.iter().enumerate() {
                    let expected = all.contains(&key.trim().to_lowercase());
                    assert_eq!(
                        matches.is_marked(row as u32),
                        expected,
                        "row {row} of {party}: {about}"
                    );
                }
            }
            _ => panic!("party {party} is told what it must not know, or not told: {about}"),
        }
        let mut bytes = 8 * (lists.len() as u64 - 1);
        if !sizes.contains(&0) && sharing == Sharing::R {
            let lens = sizes.iter().map(|&size| size as usize).collect();
            let keyed = Keyed {
                to: many.to.clone(),
                line: Over::default().line(),
                ..Keyed::new(many.protocol, lens)
            };
            let cost = KeyedPlan::new(&keyed).unwrap().cost(Party::new(party));
            bytes += cost.setup.bytes_sent + cost.online.bytes_sent;
        }
        if sharing == Sharing::R || sizes.contains(&0) {
            let spent = found.cost.setup.bytes_sent + found.cost.online.bytes_sent;
            assert_eq!(spent, bytes, "bytes of party {party}: {about}");
        }
    }
}

#[test]
fn random_lists_are_matched_as_sets_are() {
    let seed = seed();
    let mut rng = SeededRng::from_seed(Block::new(seed, 7));
    for trial in 0..9 {
        let (sharing, parties, most) = match trial {
            0..6 => (Sharing::R, 3, 90),
            6..8 => (Sharing::B, 3, 12),
            _ => (Sharing::B, 5, 6),
        };
        let range = 1 + below(&mut rng, most);
        let mut lists: Vec<List> = Vec::new();
        for _ in 0..parties {
            let rows = match (lists.last(), below(&mut rng, 6)) {
                (Some((rows, _)), 0) => rows.clone(),
                _ => rows(&mut rng, most, range),
            };
            let bound =
                (below(&mut rng, 3) == 0).then(|| (rows.len() + below(&mut rng, 20)) as u64);
            lists.push((rows, bound));
        }
        let to: Vec<usize> = match below(&mut rng, 3) {
            0 => vec![below(&mut rng, parties)],
            1 => vec![0, parties - 1],
            _ => (0..parties).collect(),
        };
        check(
            &lists,
            &to,
            sharing,
            &format!("MADRIGAL_SEED={seed}, trial {trial}"),
        );
    }
}

#[test]
fn the_ends_of_ranges() {
    let list = |keys: &[&str]| (keys.iter().map(ToString::to_string).collect(), None);
    let ab = || list(&["a", "b", "a"]);
    let cases: [[List; 3]; 5] = [
        [ab(), ab(), ab()],
        [list(&["a"]), list(&["b"]), list(&["c"])],
        [ab(), list(&[]), ab()],
        [list(&["a", "x"]), list(&["a", "y"]), list(&["y", "x", "a"])],
        [(vec![], Some(3)), ab(), (vec!["b".to_owned()], Some(1))],
    ];
    for lists in cases {
        check(&lists, &[0, 1, 2], Sharing::R, "ends of ranges");
    }
}

#[test]
fn parties_that_differ_and_lists_that_are_too_long_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let list: List = (vec!["a".to_owned(), "b".to_owned()], None);
    let tasks: Vec<Task> = (0..3)
        .map(|party| task(folder.path(), party, &list))
        .collect();
    let many = Many {
        to: vec![Party::new(0)],
        protocol: Backend::of(Sharing::R),
    };
    let refused = |change: &dyn Fn(&mut Vec<Task>), words: &str| {
        let mut tasks = tasks.clone();
        change(&mut tasks);
        let failure = run(&tasks, &many).err().unwrap().to_string();
        assert!(failure.contains(words), "{failure}");
    };
    refused(&|tasks| tasks[1].most = 1, "the list of party");
    refused(&|tasks| tasks[2].bound = Some(1), "--bound 1");
    refused(
        &|tasks| tasks[0].bound = Some(1 << 27),
        "all lists together",
    );
    refused(
        &|tasks| tasks[1].source = tasks[1].source.clone().normal(&Normal::default()),
        "--normal",
    );
    refused(
        &|tasks| {
            tasks
                .iter_mut()
                .for_each(|task| task.question = Question::Shares)
        },
        "rows alone",
    );
    // One party believes something else of receivers, or of the protocol.
    for other in [
        Many {
            to: vec![Party::new(1)],
            ..many.clone()
        },
        Many {
            protocol: Backend::of(Sharing::B),
            ..many.clone()
        },
    ] {
        let failed = everyone(
            TransportArg::Memory,
            Network::new(None),
            3,
            1,
            &Patience::default(),
            async |session: &Session| {
                let me = session.me().index();
                let many = if me == 2 { &other } else { &many };
                find_many(session, 1, &tasks[me], many, &|_| ()).await
            },
        );
        let failure = failed.err().unwrap().to_string();
        assert!(
            failure.contains("--to") || failure.contains("--protocol"),
            "{failure}"
        );
    }
}

/// A party that says a size which no list has, or sends another number of bytes.
#[test]
fn a_size_that_is_none_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let list: List = (vec!["a".to_owned()], None);
    let tasks: Vec<Task> = (0..2)
        .map(|party| task(folder.path(), party, &list))
        .collect();
    let many = Many {
        to: Party::all(3).collect(),
        protocol: Backend::of(Sharing::R),
    };
    let over = Over::default();
    let extension = over.choose(1, 1 << 26).extension.to_string();
    let line = format!("{:?}", over.line());
    let facts = [
        ("what is asked of the lists", "rows"),
        ("--to", "all"),
        ("--security", "semi-honest"),
        ("--normal", "lower,trim"),
        ("columns of a key", "1"),
        ("--empty", "skip"),
        ("--state", "not given"),
        ("--protocol", "R"),
        ("the line of --link or --network", &line),
        ("--extension", &extension),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (message, words) in [
        (vec![0xff; 8], "keys"),
        (vec![0; 7], "7"),
        (vec![0; 9], "9"),
    ] {
        let failed = everyone(
            TransportArg::Memory,
            Network::new(None),
            3,
            1,
            &Patience::default(),
            async |session: &Session| {
                if let Some(task) = tasks.get(session.me().index()) {
                    return find_many(session, 1, task, &many, &|_| ()).await.map(drop);
                }
                let job = session.job(1, &facts, None).await?;
                let context = job.context().enter(Phase::Online, "sizes of lists");
                let mut channels = Vec::new();
                for peer in context.peers() {
                    channels.push(context.channel(peer)?);
                }
                for channel in &mut channels {
                    channel.tx.send(message.clone()).await?;
                }
                context.flush();
                job.finish().await?;
                Ok(())
            },
        );
        let failure = failed.err().unwrap().to_string();
        assert!(
            failure.contains("party 2") && failure.contains(words),
            "{failure}"
        );
    }
}

fn asked(words: &[String]) -> Psi {
    let command = Psi::augment_args(Command::new("psi").no_binary_name(true));
    Psi::from_arg_matches(&command.get_matches_from(words)).unwrap()
}

#[test]
fn flags_of_two_parties_alone_are_refused_and_reports_have_all_parties() {
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec![
        "--local=3".to_owned(),
        "--transport=memory".into(),
        "--column=key".into(),
        "--quiet".into(),
    ];
    for (party, keys) in ["a\nb\nb\n", "b\nc\n", "c\nb\n"].iter().enumerate() {
        let path = folder.path().join(format!("{party}.csv"));
        fs::write(&path, format!("key\n{keys}")).unwrap();
        words.push(format!("--input={party}={}", path.display()));
    }
    let with = |more: &[&str]| {
        let more = more.iter().map(ToString::to_string);
        asked(&words.iter().cloned().chain(more).collect::<Vec<_>>())
    };
    for (flags, named) in [
        (&["--join", "--payload=1=key"][..], "--join"),
        (&["--size"], "--size"),
        (&["--sum", "--payload=key"], "--sum"),
        (
            &["--shares=0=a", "--shares=1=b", "--shares=2=c"],
            "--shares",
        ),
        (&["--payload=0=key"], "--payload"),
        (&["--security=malicious"], "--security malicious"),
        (&["--or=key"], "--or"),
        (&["--state=0=a", "--state=1=b", "--state=2=c"], "--state"),
        (&["--noise=1"], "--noise"),
    ] {
        let failure = compute(&with(flags)).err().unwrap().to_string();
        assert!(
            failure.starts_with(named) && failure.contains("two parties"),
            "{failure}"
        );
    }
    let two: Vec<String> = ["--local=2", "--protocol=R", "--column=key", "--input=x"]
        .map(str::to_owned)
        .into();
    assert!(
        compute(&asked(&two))
            .err()
            .unwrap()
            .to_string()
            .contains("--protocol R")
    );
    let out = folder.path().join("out.csv");
    let ledger = folder.path().join("0.ledger");
    let args = with(&[
        "--to=0,2",
        &format!("--out=0={}", out.display()),
        &format!("--ledger=0={}", ledger.display()),
        "--limit=1",
    ]);
    let done = compute(&args).unwrap_or_else(|failure| panic!("{failure}"));
    let report: serde_json::Value = serde_json::from_str(&json(&args, &done).unwrap()).unwrap();
    assert_eq!(report["keys"], serde_json::json!([2, 2, 2]));
    let of = |party: usize, name: &str| report["parties"][party][name].as_u64();
    assert_eq!(
        (of(0, "matched_keys"), of(0, "matched_rows")),
        (Some(1), Some(2))
    );
    assert_eq!(
        (of(1, "matched_keys"), of(2, "matched_keys")),
        (None, Some(1))
    );
    assert_eq!(fs::read_to_string(out).unwrap(), "key\nb\nb\n");
    let counted = fs::read_to_string(ledger).unwrap();
    assert!(
        counted.contains("rows, for 0,2") && counted.contains("party 1, party 2"),
        "{counted}"
    );
    assert!(
        compute(&args)
            .err()
            .unwrap()
            .to_string()
            .contains("--ledger")
    );
}

#[test]
fn costs_are_told_without_lists() {
    for words in [
        &["--explain", "--keys=1000,20,7", "--local=3"][..],
        &["--explain", "--keys=1000,20,7,3", "--json", "--to=3"],
        &["--explain", "--keys=10,0,10", "--protocol=B"],
    ] {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        madrigal_matching::psi::run(&asked(&words)).unwrap();
    }
    for words in [
        &["--explain", "--keys=1000,20,7", "--local=4"][..],
        &["--explain", "--keys=1000,20,7", "--size"],
        &["--explain", "--keys=1000,20,7,3", "--protocol=R"],
        &["--explain", "--keys=60000000,60000000,60000000"],
    ] {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        assert!(
            madrigal_matching::psi::run(&asked(&words)).is_err(),
            "{words:?}"
        );
    }
}
