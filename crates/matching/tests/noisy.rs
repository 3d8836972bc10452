//! Numbers with noise, from lists to what is told, and flags and ledgers of them.

use std::fs;
use std::path::Path;

use clap::{Args as _, Command, FromArgMatches as _};
use madrigal_app::failure::Failure;
use madrigal_core::Party;
use madrigal_kernels::Block;
use madrigal_matching::args::Psi;
use madrigal_matching::psi::{compute, json, run};
use madrigal_matching::{Question, Told};
use madrigal_noise::Noise;
use madrigal_ot::SeededRng;
use madrigal_testkit::seed;

use crate::numbers::{expected, list, run_with};

const SIZE: Question = Question::Numbers {
    keys: true,
    sums: false,
};

#[test]
fn sizes_are_told_with_noise() {
    let seed = seed();
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SeededRng::from_seed(Block::new(seed, 12));
    let noises = [(5.0, 1e-3), (0.05, 1e-9), (1e-9, 1e-9)]
        .map(|(epsilon, delta)| Noise::new(epsilon, delta, 1).unwrap());
    let mut draws = Vec::new();
    for (i, (first, second)) in [(0, 0), (0, 3), (200, 100), (90, 90)]
        .into_iter()
        .enumerate()
    {
        let lists = [list(&mut rng, 0, first), list(&mut rng, first / 3, second)];
        let (common, _) = expected(&lists);
        for (j, to) in [
            Told::Both,
            Told::One(Party::new(0)),
            Told::One(Party::new(1)),
        ]
        .into_iter()
        .enumerate()
        {
            let noise = noises[(i + j) % noises.len()];
            let answers = run_with(
                folder.path(),
                &lists,
                [false; 2],
                (SIZE, to),
                [Some(noise); 2],
                async |_, _, found| {
                    assert_eq!(found.noise, Some(noise));
                    (found.answer, **found.drawn.as_ref().unwrap())
                },
            );
            let answers = answers.unwrap_or_else(|failure| panic!("{failure}"));
            let (mut told, mut off) = (Vec::new(), -2 * noise.half() as i64);
            for (party, (answer, drawn)) in Party::all(2).zip(answers) {
                assert_eq!(answer.is_some(), to.names(party));
                told.extend(answer.map(|answer| answer.keys.unwrap()));
                assert!(drawn <= noise.most());
                off += drawn as i64;
                if noise == noises[2] {
                    draws.push(drawn);
                }
            }
            // Both learn one number, and none that noise cannot make.
            told.dedup();
            assert_eq!(told.len(), 1, "MADRIGAL_SEED={seed}");
            // Both draws are in it, and nothing else is.
            assert_eq!(told[0] - common as i64, off, "MADRIGAL_SEED={seed}");
        }
    }
    // Draws are from 2^30 numbers or so: no two of them are equal, whatever party and run they are of.
    let all = draws.len();
    draws.sort_unstable();
    draws.dedup();
    assert!(
        all >= 8 && draws.len() == all,
        "{all} draws, MADRIGAL_SEED={seed}"
    );
}

#[test]
fn parties_with_other_noise_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SeededRng::from_seed(Block::new(seed(), 13));
    let lists = [list(&mut rng, 0, 5), list(&mut rng, 0, 5)];
    let noise = |epsilon, delta| Some(Noise::new(epsilon, delta, 1).unwrap());
    for (first, second, ours, theirs) in [
        (noise(1.0, 1e-9), noise(1.0, 1e-8), "1e-9", "1e-8"),
        (
            noise(1.0, 1e-9),
            noise(0.5, 1e-9),
            "epsilon = 1",
            "epsilon = 0.5",
        ),
        (None, noise(1.0, 1e-9), "none", "epsilon = 1"),
    ] {
        let failed = run_with(
            folder.path(),
            &lists,
            [false; 2],
            (SIZE, Told::Both),
            [first, second],
            async |_, _, _| (),
        );
        let text = failed.err().unwrap().to_string();
        assert!(
            ["--noise", ours, theirs]
                .iter()
                .all(|one| text.contains(one)),
            "{text}"
        );
    }
}

/// Flags of a run with both lists here.
fn args(folder: &Path, words: &[&str]) -> Psi {
    let lists = [("0", "a\nb\nc\n"), ("1", "b\nd\n")].map(|(party, keys)| {
        let path = folder.join(format!("{party}.csv"));
        fs::write(&path, format!("key\n{keys}")).unwrap();
        format!("--input={party}={}", path.display())
    });
    let flags = ["--local=2", "--transport=memory", "--column=key", "--quiet"];
    let words = flags.iter().chain(words).map(|word| (*word).to_owned());
    let command = Psi::augment_args(Command::new("psi").no_binary_name(true));
    let matches = command.try_get_matches_from(words.chain(lists)).unwrap();
    Psi::from_arg_matches(&matches).unwrap()
}

#[test]
fn reports_and_ledgers_say_how_much_noise_there_was() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("0.ledger");
    let flag = format!("--ledger=0={}", ledger.display());
    let asked = |more: &[&str]| {
        let words: Vec<&str> = more.iter().copied().chain([&*flag]).collect();
        let args = args(folder.path(), &words);
        compute(&args).map(|done| -> serde_json::Value {
            serde_json::from_str(&json(&args, &done).unwrap()).unwrap()
        })
    };
    let noise = [
        "--size",
        "--noise=0.5",
        "--budget=1.2,3e-9",
        "--to=1",
        "--bound=0=10",
    ];
    for _ in 0..2 {
        let report = asked(&noise).unwrap();
        let told = &report["noise"];
        assert_eq!(
            (told["epsilon"].as_f64(), told["delta"].as_f64()),
            (Some(0.5), Some(1e-9))
        );
        let most = told["most"].as_i64().unwrap();
        assert!(told["deviation"].as_f64().unwrap() < most as f64);
        assert!(report["parties"][0]["matched_keys"].is_null());
        let keys = report["parties"][1]["matched_keys"].as_i64().unwrap();
        assert!((keys - 1).abs() <= most, "{keys}");
    }
    let text = fs::read_to_string(&ledger).unwrap();
    assert_eq!(text.matches("epsilon = 0.5").count(), 2, "{text}");
    for (words, told) in [
        (&noise[..], "epsilons of 1 in all"),
        (&["--size", "--noise=0.1"][..], "give --bound"),
        (&["--size"][..], "without noise"),
        (&[][..], "without noise"),
    ] {
        let failed = asked(words).unwrap_err().to_string();
        assert!(failed.contains(told), "{failed}");
    }
    assert_eq!(fs::read_to_string(&ledger).unwrap(), text);
    assert!(asked(&["--size", "--noise=0.2", "--bound=0=10"]).is_ok());
    let path = folder.path().join("each.ledger");
    let flag = format!("--ledger=1={}", path.display());
    let words = [
        "--size",
        "--noise=0.1",
        "--each=3",
        "--bound=1=9",
        "--budget=1",
        &flag,
    ];
    let done = compute(&args(folder.path(), &words)).unwrap();
    assert_eq!(done[0].1.noise.unwrap().each(), 3);
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("epsilon = 0.1\ndelta = 1e-9\neach = 3\n"),
        "{text}"
    );
    // The next query reads it.
    compute(&args(folder.path(), &words)).unwrap();
    let exact = compute(&args(folder.path(), &["--size"])).unwrap();
    let report: serde_json::Value =
        serde_json::from_str(&json(&args(folder.path(), &["--size"]), &exact).unwrap()).unwrap();
    assert!(report["noise"].is_null() && report["parties"][0]["matched_keys"] == 1);
}

#[test]
fn noise_that_would_hide_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let failed = |words: &[&str]| -> String {
        let failed: Failure = compute(&args(folder.path(), words)).err().unwrap();
        failed.to_string()
    };
    for (words, told) in [
        (&["--noise=1"][..], "--size"),
        (
            &["--noise=1", "--join", "--payload=1=key", "--to=0"],
            "--size",
        ),
        (&["--noise=1", "--size", "--sum"], "leave out --sum"),
        (&["--noise=1", "--sum"], "leave out --sum"),
        (
            &["--noise=0", "--size"],
            "--noise 0: give a number from 1e-9 to 5",
        ),
        (&["--noise=5.1", "--size"], "to 5"),
        (&["--noise=NaN", "--size"], "--noise NaN"),
        (
            &["--noise=1", "--delta=1", "--size"],
            "--delta 1: give a number from 1e-15 to 0.001",
        ),
        (
            &["--noise=1e-9", "--delta=1e-15", "--size"],
            "larger epsilon (--noise) or --delta",
        ),
        (
            &["--noise=1", "--each=0", "--size"],
            "--each 0: give a number from 1 to 1000000",
        ),
    ] {
        let text = failed(words);
        assert!(text.contains(told), "{words:?}: {text}");
    }
    let mut shares = args(folder.path(), &["--noise=1"]);
    shares.keep_shares = true;
    let text = compute(&shares).err().unwrap().to_string();
    assert!(text.contains("--shares"), "{text}");
    // Nothing else is explained.
    for (more, is_told) in [(&["--size"][..], true), (&["--sum"], false), (&[], false)] {
        let words = [
            "psi",
            "--explain",
            "--keys=1000,20",
            "--local=2",
            "--json",
            "--noise=1",
        ];
        let matches =
            Psi::augment_args(Command::new("psi")).try_get_matches_from(words.iter().chain(more));
        let args = Psi::from_arg_matches(&matches.unwrap()).unwrap();
        assert_eq!(run(&args).is_ok(), is_told, "{more:?}");
    }
    for wrong in ["--delta=1e-9", "--each=2", "--budget=1"] {
        let command = Psi::augment_args(Command::new("psi").no_binary_name(true));
        let words = ["--local=2", "--input=a", "--column=key", "--size", wrong];
        assert!(command.try_get_matches_from(words).is_err(), "{wrong}");
    }
}
