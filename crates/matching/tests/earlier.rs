//! Answers that an earlier run has left, where one party or both need nobody for them.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::{Args as _, Command, FromArgMatches as _};
use madrigal_app::from_file::ProgramFlags;
use madrigal_app::held::Held;
use madrigal_matching::args::Psi;
use madrigal_matching::psi::{compute, compute_in};

/// Bytes of the note that all is there.
const NOTE: u64 = 24;

/// Flags of a run with these parties' lists and states.
fn args(folder: &Path, parties: &[usize]) -> Psi {
    let mut words: Vec<String> = ["--local=2", "--transport=memory", "--column=key", "--quiet"]
        .map(str::to_owned)
        .into();
    for &party in parties {
        let keys = ["a\nb\nc\n", "b\nd\n"][party];
        let at = |name: &str| folder.join(format!("{party}.{name}")).display().to_string();
        fs::write(at("csv"), format!("key\n{keys}")).unwrap();
        for (flag, name) in [("input", "csv"), ("state", "state"), ("out", "out")] {
            words.push(format!("--{flag}={party}={}", at(name)));
        }
    }
    let command = Psi::augment_args(Command::new("psi").no_binary_name(true));
    Psi::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
}

/// One of two parties here has forgotten a run, and the other one has not: the other one's answer is handed over, and said to be an older one.
#[test]
fn an_answer_is_there_whose_other_party_has_forgotten_the_run() {
    for is_noted in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let args = args(folder.path(), &[0, 1]);
        let mut done = compute(&args).unwrap();
        assert!(done.iter().all(|(_, found, _)| found.earlier.is_none()));
        done[0].1.forget().unwrap();
        drop(done);
        let state = folder.path().join("1.state/matched.state");
        if !is_noted {
            cut(&state);
        }
        let out = folder.path().join("1.out");
        fs::remove_file(&out).unwrap();
        let mut done = compute(&args).unwrap();
        assert_eq!(done.len(), 1);
        let (party, found, _) = &mut done[0];
        assert_eq!(party.index(), 1);
        assert!(found.earlier.is_some());
        assert_eq!(fs::read_to_string(&out).unwrap(), "key\nb\n");
        found.forget().unwrap();
        assert!(!state.exists());
        // All is forgotten now.
        let done = compute(&args).unwrap();
        assert!(done.len() == 2 && done.iter().all(|(_, found, _)| found.earlier.is_none()));
    }
}

/// Takes the note from a state that all is there.
fn cut(state: &Path) {
    let file = fs::File::options().write(true).open(state).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - NOTE).unwrap();
}

/// What each party of a session that goes on gets: its rows and whether they are an older answer, or the error.
fn in_session(folder: &Path, parties: &[usize]) -> Vec<Result<(u64, bool), String>> {
    let words = ["--local=2", "--quiet", "--transport=memory"];
    let command = ProgramFlags::augment_args(Command::new("test")).no_binary_name(true);
    let flags = ProgramFlags::from_arg_matches(&command.try_get_matches_from(words).unwrap());
    let held = Held::new(flags.unwrap()).unwrap();
    let asked: Vec<_> = parties
        .iter()
        .map(|&party| {
            let (send, receive) = channel();
            let args = args(folder, &[party]);
            held.work(
                party,
                move |seat| {
                    Box::pin(async move {
                        let (_, mut found, _) = compute_in(&args, seat).await?;
                        let rows = found.matches.as_ref().map_or(0, |(rows, _)| rows.marked());
                        let is_earlier = found.earlier.is_some();
                        if is_earlier {
                            found.forget()?;
                        }
                        Ok((rows, is_earlier))
                    })
                },
                move |told| drop(send.send(told.map_err(|ending| ending.text))),
            );
            receive
        })
        .collect();
    asked
        .iter()
        .map(|told| told.recv_timeout(Duration::from_secs(20)).unwrap())
        .collect()
}

/// A session ends where a party's run has been forgotten by the other one: that is an error at both, and the answer is there in the next session.
#[test]
fn sessions_that_go_on_do_not_lose_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let told = in_session(folder.path(), &[0, 1]);
    assert_eq!(told, [Ok((1, false)), Ok((1, false))]);
    fs::remove_dir_all(folder.path().join("0.state")).unwrap();
    cut(&folder.path().join("1.state/matched.state"));
    let told = in_session(folder.path(), &[0, 1]);
    let has = |party: usize, words: &str| {
        let error = told[party].as_ref().unwrap_err();
        assert!(error.contains(words), "{error}");
    };
    has(1, "it has all of the answer");
    // Party 1's end may be heard before what it has: both say to ask anew.
    has(0, "anew");
    let told = in_session(folder.path(), &[1]);
    assert_eq!(told, [Ok((1, true))]);
    assert!(!folder.path().join("1.state").exists());
}
