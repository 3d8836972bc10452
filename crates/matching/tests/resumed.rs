//! Runs whose line is lost go on where they were, and come to the rows of a run that is not.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::over::Over;
use madrigal_core::Party;
use madrigal_kernels::Block;
use madrigal_lists::{Duplicates, Extra, Keep, Payload, Source};
use madrigal_matching::{Found, Ledger, MOST_KEYS, Question, Security, State, Task, Told, find};
use madrigal_net::transport::{Fault, FaultKind, Faulty, mesh};
use madrigal_net::{Session, block_on};
use madrigal_ot::SeededRng;
use madrigal_psi::{PsiCosts, PsiPlan, Role, Sizes};
use madrigal_testkit::{World, seed};
use rand_core::Rng as _;
use tempfile::TempDir;

/// Bytes of the record that comes before all answers.
const SIZES: usize = 40;

fn below(rng: &mut SeededRng, n: u64) -> u64 {
    rng.next_u64() % n
}

/// Lists of both parties, and a directory for each.
struct Case {
    folder: TempDir,
    to: Told,
    join: bool,
}

impl Case {
    fn new(rng: &mut SeededRng, to: Told, join: bool) -> Self {
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
            to,
            join,
        };
        for party in [0, 1] {
            let rows = 200 + below(rng, 200);
            let mut text = "key,n\n".to_owned();
            for _ in 0..rows {
                let (key, n) = (below(rng, 500), below(rng, 1000));
                writeln!(text, "{key},{n}").unwrap();
            }
            fs::write(case.path(party, "csv"), text).unwrap();
        }
        case
    }

    fn path(&self, party: usize, ending: &str) -> PathBuf {
        self.folder.path().join(format!("{party}.{ending}"))
    }

    fn state(&self, party: usize) -> PathBuf {
        self.path(party, "state")
    }

    fn task(&self, party: usize) -> Task {
        let source = Source::new(self.path(party, "csv"), ["key"]).unwrap();
        let brings = self.join && !self.to.names(Party::new(party));
        let source = match brings {
            true => source.payload(Payload {
                duplicates: Duplicates::Sum,
                ..Payload::integers("n")
            }),
            false => Ok(source),
        };
        Task {
            source: source.unwrap(),
            question: match self.join {
                true => Question::Join,
                false => Question::Rows,
            },
            to: self.to,
            places: 0,
            bound: None,
            memory: 1 << 20,
            folder: self.folder.path().to_owned(),
            over: Over::default(),
            most: MOST_KEYS,
            ledger: None,
            state: Some(State {
                folder: self.state(party),
                keys: 40,
            }),
            noise: None,
            security: Security::SemiHonest,
            alone: 2,
            deadline: None,
        }
    }

    fn tasks(&self) -> [Task; 2] {
        [0, 1].map(|party| self.task(party))
    }

    /// The rows of a run without a state.
    fn rows(&self) -> [Option<String>; 2] {
        let tasks = self.tasks().map(|task| Task {
            state: None,
            ..task
        });
        run(&tasks, None).map(|found| rows(&found.unwrap_or_else(|failure| panic!("{failure}"))))
    }

    /// Begins runs and loses them until one has left answers of some partitions.
    fn lose(&self, seed: u64) {
        let learn: Vec<usize> = (0..2)
            .filter(|&party| self.to.names(Party::new(party)))
            .collect();
        for attempt in 0..200 {
            for party in [0, 1] {
                let _ = fs::remove_dir_all(self.state(party));
                let _ = fs::remove_file(self.path(party, "ledger"));
            }
            // Lists have been read at packet 24 or so, and all is over before packet 60.
            let fault = Fault {
                kind: FaultKind::Cut { noticed: true },
                party: Party::new(0),
                peer: Party::new(1),
                at: 20 + attempt % 40,
                seed,
            };
            let ended = run(&self.tasks(), Some(fault));
            let left = learn.iter().all(|&party| self.records(party) > SIZES);
            if ended.iter().all(Result::is_err) && left {
                return;
            }
        }
        panic!("no run was lost half way; MADRIGAL_SEED={seed}");
    }

    /// Bytes of a party's state beyond its beginning.
    fn records(&self, party: usize) -> usize {
        let Ok(state) = fs::read(self.state(party).join("matched.state")) else {
            return 0;
        };
        let length = u32::from_le_bytes(*state[24..].first_chunk().unwrap()) as usize;
        state.len() - (24 + 4 + length + 16)
    }
}

/// Both parties' runs in one session, to which a fault may happen.
fn run(tasks: &[Task; 2], fault: Option<Fault>) -> [Result<Found>; 2] {
    let world = World::light(2, seed()).with_limits(|limits| {
        limits.silence = Duration::from_secs(5);
        limits.stall = Duration::from_secs(5);
    });
    let never = Fault {
        at: u32::MAX,
        ..Fault::random(1, 2)
    };
    let transports = Faulty::all(mesh(2), fault.unwrap_or(never));
    let party = |(me, transport)| {
        let config = world.config(me);
        let task = &tasks[me.index()];
        block_on(async {
            let session = Session::new(config, transport);
            session.greet().await.map_err(Failure::from)?;
            let found = find(&session, 1, task, &|_| ()).await?;
            session.close().await;
            Ok(found)
        })
    };
    std::thread::scope(|scope| {
        let threads = Party::all(2)
            .zip(transports)
            .map(|one| scope.spawn(|| party(one)));
        let threads: Vec<_> = threads.collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect::<Vec<_>>().try_into().ok().unwrap()
    })
}

/// Rows that a party learnt, as they are written.
fn rows(found: &Found) -> Option<String> {
    let (matches, _) = found.matches.as_ref()?;
    let extra = (found.question == Question::Join).then(|| Extra {
        name: "theirs".to_owned(),
        places: 0,
    });
    let mut out = Vec::new();
    let watch = &mut |_| ControlFlow::Continue(());
    let written =
        (found.listed).write_rows(matches, Keep::Matched, extra.as_ref(), &mut out, watch);
    written.unwrap();
    Some(String::from_utf8(out).unwrap())
}

fn said(ended: Result<Found>) -> String {
    ended.map(drop).unwrap_err().to_string()
}

/// Costs are those of what is left, and of 81 bytes in which parties tell sizes and states.
fn must_cost(found: &Found, me: Party, case: &Case) {
    let receiver = match case.to {
        Told::One(one) => one,
        Told::Both => Party::new(usize::from(found.sizes[1] < found.sizes[0])),
    };
    let sizes = Sizes::of([found.sizes[0], found.sizes[1]], receiver);
    let plan = PsiPlan::new(sizes, found.partitions, case.to == Told::Both).unwrap();
    let plan = if case.join {
        plan.with_payloads()
    } else {
        plan
    };
    let plan = plan.without(|partition| partition < found.before);
    let declared = PsiCosts::new(&plan, Role::of(me, receiver), 1);
    assert_eq!(
        found.cost.online.bytes_sent,
        declared.online.bytes_sent + 81
    );
    assert_eq!(found.cost.setup.bytes_sent, declared.setup.bytes_sent);
}

/// Lines are lost and parties killed at random, again and again, until all who are to learn rows have them.
#[test]
fn lost_runs_come_to_the_rows_of_whole_ones() {
    let seed = seed();
    let (mut went_on, mut lost) = (0, 0);
    for i in 0..60_u64 {
        if i >= 8 && went_on > 2 {
            break;
        }
        let mut again = format!("MADRIGAL_SEED={}", seed.wrapping_add(i));
        let mut rng = SeededRng::from_seed(Block::new(seed.wrapping_add(i), 12));
        let to = [
            Told::Both,
            Told::One(Party::new(0)),
            Told::One(Party::new(1)),
        ][i as usize % 3];
        let case = Case::new(&mut rng, to, to != Told::Both && i % 2 == 0);
        let expected = case.rows();
        let mut had = [false; 2];
        for attempt in 0.. {
            let kind = match below(&mut rng, 2) {
                0 => FaultKind::Kill,
                _ => FaultKind::Cut { noticed: true },
            };
            let party = below(&mut rng, 2) as usize;
            let fault = Fault {
                kind,
                party: Party::new(party),
                peer: Party::new(1 - party),
                // Lists have been read at packet 24, and all is over at 48 or so.
                at: 20 + below(&mut rng, 28) as u32,
                seed: rng.next_u64(),
            };
            // The last one of many is left alone.
            let fault = (attempt < 6).then_some(fault);
            for (party, ended) in run(&case.tasks(), fault).into_iter().enumerate() {
                let me = Party::new(party);
                match ended {
                    Ok(mut found) => {
                        assert!(!had[party] || to == Told::Both || !to.names(me), "{again}");
                        assert_eq!(rows(&found), expected[party], "party {party}; {again}");
                        if found.before < found.partitions {
                            must_cost(&found, me, &case);
                        }
                        went_on += usize::from(found.before > 0);
                        found.forget().unwrap();
                        assert!(!case.state(party).exists());
                        had[party] = true;
                    }
                    Err(failure) => {
                        again = format!("{again}\n{attempt}, party {party}: {failure}");
                        lost += 1;
                    }
                }
            }
            let all = [0, 1]
                .iter()
                .all(|&party| had[party] || !to.names(Party::new(party)));
            if all {
                break;
            }
            assert!(attempt < 7, "{again}");
        }
    }
    println!(
        "{lost} ends of parties without an answer, {went_on} that went on (MADRIGAL_SEED={seed})"
    );
    assert!(went_on > 2 && lost > 4);
}

fn two(state: u64) -> Case {
    let mut rng = SeededRng::from_seed(Block::new(state, 13));
    Case::new(&mut rng, Told::Both, false)
}

/// Tasks whose queries are counted, one each, in a ledger of each party.
fn counted(case: &Case) -> [Task; 2] {
    [0, 1].map(|party| {
        let ledger = Ledger {
            path: case.path(party, "ledger"),
            limit: Some(1),
            budget: None,
        };
        Task {
            ledger: Some((ledger, "the other".to_owned())),
            ..case.task(party)
        }
    })
}

fn queries(case: &Case, party: usize) -> usize {
    let ledger = fs::read_to_string(case.path(party, "ledger")).unwrap_or_default();
    ledger.matches("[[query]]").count()
}

/// A query counts once wherever its run is lost: a limit of one does not keep it from its end.
#[test]
fn a_run_that_goes_on_is_counted_once() {
    let seed = seed();
    let (mut before, mut within) = (0, 0);
    for at in (12..46).step_by(3) {
        let case = two(seed.wrapping_add(u64::from(at)));
        let expected = case.rows();
        let fault = Fault {
            kind: FaultKind::Kill,
            party: Party::new(at as usize % 2),
            peer: Party::new(1 - at as usize % 2),
            at,
            seed,
        };
        let again = format!("packet {at}; MADRIGAL_SEED={seed}");
        let lost = run(&counted(&case), Some(fault));
        if lost.iter().any(Result::is_ok) {
            continue;
        }
        let is_counted = [0, 1].map(|party| queries(&case, party) == 1);
        let has_answers = [0, 1].map(|party| case.records(party) > SIZES);
        before += usize::from(is_counted.contains(&true) && has_answers == [false; 2]);
        within += usize::from(has_answers == [true; 2]);
        for (party, ended) in run(&counted(&case), None).into_iter().enumerate() {
            let mut found = ended.unwrap_or_else(|failure| panic!("{failure}; {again}"));
            assert_eq!(rows(&found), expected[party], "{again}");
            assert_eq!(queries(&case, party), 1, "{again}");
            found.forget().unwrap();
        }
        for ended in run(&counted(&case), None) {
            let error = said(ended);
            let refused = error.contains("1 are allowed") || error.contains("cannot be matched");
            assert!(refused, "{error}; {again}");
        }
    }
    println!("{before} lost once counted, {within} half way (MADRIGAL_SEED={seed})");
    assert!(before > 0 && within > 0);
}

/// A run that began without a ledger is counted by the one with which it goes on, or whose answer is given again.
#[test]
fn a_run_that_began_without_a_ledger_is_counted() {
    let seed = seed();
    let case = two(seed);
    case.lose(seed);
    for _ in 0..2 {
        for (party, ended) in run(&counted(&case), None).into_iter().enumerate() {
            drop(ended.unwrap_or_else(|failure| panic!("{failure}")));
            assert_eq!(queries(&case, party), 1);
        }
    }
}

/// A run that begins anew after sizes were told is another query: the other party may have had its answer.
#[test]
fn a_run_that_begins_anew_is_counted_by_what_was_told() {
    let seed = seed();
    for (told, is_again) in [(false, false), (true, true)] {
        let mut rng = SeededRng::from_seed(Block::new(seed, 15));
        let case = Case::new(&mut rng, Told::One(Party::new(1)), false);
        for party in run(&counted(&case), None) {
            drop(party.unwrap_or_else(|failure| panic!("{failure}")));
        }
        let path = case.state(0).join("matched.state");
        if !told {
            let state = fs::read(&path).unwrap();
            let begin = state.len() - case.records(0);
            fs::write(&path, &state[..begin]).unwrap();
        }
        fs::remove_file(case.state(1).join("matched.state")).unwrap();
        fs::remove_file(case.path(1, "ledger")).unwrap();
        // Party 0 learns nothing, and has nothing to go on from: the run begins anew.
        let [first, _] = run(&counted(&case), None);
        match is_again {
            true => assert!(said(first).contains("1 are allowed")),
            false => drop(first.unwrap_or_else(|failure| panic!("{failure}"))),
        }
        assert_eq!(queries(&case, 0), 1);
    }
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let seed = seed();
    let case = two(seed);
    let expected = case.rows();
    case.lose(seed);
    // A state of another question.
    let mut tasks = case.tasks();
    tasks[0].bound = Some(1000);
    let error = said(run(&tasks, None).into_iter().next().unwrap());
    assert!(
        error.contains("whose --bound was \"\", and now it is \"1000\""),
        "{error}"
    );
    // One party has none.
    let kept = fs::read(case.state(1).join("matched.state")).unwrap();
    fs::remove_file(case.state(1).join("matched.state")).unwrap();
    let errors = run(&case.tasks(), None).map(said);
    assert!(
        errors
            .iter()
            .any(|error| error.contains("party 1 has no state of the run"))
            || errors
                .iter()
                .any(|error| error.contains("this directory has nothing")),
        "{errors:?}"
    );
    assert!(
        errors.iter().all(|error| error.contains("begin anew")),
        "{errors:?}"
    );
    // A state of another run.
    let other = two(seed);
    other.lose(seed);
    fs::copy(
        other.state(1).join("matched.state"),
        case.state(1).join("matched.state"),
    )
    .unwrap();
    let errors = run(&case.tasks(), None).map(said);
    assert!(
        errors.iter().all(|error| error.contains("begin anew")),
        "{errors:?}"
    );
    fs::write(case.state(1).join("matched.state"), &kept).unwrap();
    // A list that has changed, in a column that does not matter and in one that does.
    let list = fs::read_to_string(case.path(1, "csv")).unwrap();
    fs::write(case.path(1, "csv"), format!("{list}501,1\n")).unwrap();
    let errors = run(&case.tasks(), None).map(said);
    assert!(
        errors[1].contains("other keys or payloads now"),
        "{errors:?}"
    );
    assert!(
        errors[0].contains("its list cannot be matched as it is"),
        "{errors:?}"
    );
    fs::write(case.path(1, "csv"), list.replace("key,n", "key,m")).unwrap();
    // A directory in use, and one that others can read.
    let mut tasks = case.tasks();
    tasks[1].state = tasks[0].state.clone();
    let errors = run(&tasks, None).map(said);
    assert!(
        errors
            .iter()
            .any(|error| error.contains("another run uses the directory")
                || error.contains("whose party was")),
        "{errors:?}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |mode| fs::set_permissions(case.state(0), fs::Permissions::from_mode(mode));
        let found = fs::metadata(case.state(0)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, 0o700);
        let file = fs::metadata(case.state(0).join("matched.state")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        mode(0o750).unwrap();
        let error = said(run(&case.tasks(), None).into_iter().next().unwrap());
        assert!(error.contains("others than its owner"), "{error}");
        mode(0o700).unwrap();
    }
    // All of it is there yet.
    for (party, ended) in run(&case.tasks(), None).into_iter().enumerate() {
        let found = ended.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(found.before > 0);
        let rows = rows(&found).map(|rows| rows.replace("key,m", "key,n"));
        assert_eq!(rows, expected[party]);
    }
    // Runs that have all go on from the disk, again and again, until they are forgotten.
    assert!(run(&case.tasks(), None).iter().all(|ended| {
        let found = ended.as_ref().unwrap_or_else(|failure| panic!("{failure}"));
        found.before == found.partitions
    }));
}

/// Ends of files that are cut, and bytes that were changed.
#[test]
fn files_that_are_damaged_are_cut_or_refused() {
    let seed = seed();
    let case = two(seed);
    let expected = case.rows();
    case.lose(seed);
    let path = case.state(0).join("matched.state");
    let whole = fs::read(&path).unwrap();
    let begin = whole.len() - case.records(0);
    let mut rng = SeededRng::from_seed(Block::new(seed, 14));
    let first = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        said(run(&case.tasks(), None).into_iter().next().unwrap())
    };
    for cut in [
        0,
        1,
        20,
        24,
        begin as u64 - 1,
        below(&mut rng, begin as u64),
    ] {
        let error = first(&whole[..cut as usize]);
        assert!(
            error.contains("is no state of a run, or is damaged"),
            "{cut}: {error}"
        );
    }
    for _ in 0..10 {
        let mut bytes = whole.clone();
        bytes[below(&mut rng, begin as u64) as usize] ^= 1 << below(&mut rng, 8);
        let error = first(&bytes);
        let known = ["is no state of a run, or is damaged", "of another version"];
        assert!(known.iter().any(|known| error.contains(known)), "{error}");
    }
    let error = first(&[&b"psi state of madrigal 9\n"[..], &whole[24..]].concat());
    assert!(error.contains("of another version"), "{error}");
    // A record that is cut or changed, and all after it, are as if they had not been written.
    for _ in 0..4 {
        let at = begin + below(&mut rng, case_records(&whole, begin)) as usize;
        let mut bytes = whole.clone();
        match below(&mut rng, 2) {
            0 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << below(&mut rng, 8),
        }
        fs::write(&path, bytes).unwrap();
        let other = case.state(1).join("matched.state");
        let theirs = fs::read(&other).unwrap();
        for (party, ended) in run(&case.tasks(), None).into_iter().enumerate() {
            let found = ended.unwrap_or_else(|failure| panic!("{failure}; MADRIGAL_SEED={seed}"));
            assert_eq!(rows(&found), expected[party], "MADRIGAL_SEED={seed}");
        }
        fs::write(&other, theirs).unwrap();
    }
}

fn case_records(whole: &[u8], begin: usize) -> u64 {
    (whole.len() - begin) as u64
}

/// Whoever reads an error knows which directory it is about.
#[test]
fn errors_name_the_directory() {
    let case = two(seed());
    fs::write(case.state(0), "a file").unwrap();
    let error = said(run(&case.tasks(), None).into_iter().next().unwrap());
    let path: &Path = &case.state(0);
    assert!(error.contains(&path.display().to_string()), "{error}");
}
