//! Hostile files: the program is started on files that were changed at random or made to do harm, and must refuse them
//! or be right: no panic, no abort, no hang, memory that follows the file's length, and no text that commands a terminal.
//!
//! Each case is a folder of files and a command of the program on them, of which one file is changed. The cases are the
//! trials (`crates/cli/tests/trials`), the circuits and seeds of this repository, and what the program itself writes (lists of
//! parties, keys, stores, share files). A seed repeats a run.

mod cases;
mod change;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use crate::process::{cargo, run, target_folder};
use crate::{Outcome, root};
use cases::Case;
use change::Random;
use watch::{Ended, Limits, watch};

/// What the program takes before it reads anything: a run may end before more is seen.
const ITSELF: u64 = 20 << 20;
/// Bytes of memory beyond that of the unchanged file, whatever the file: the project's own bound.
const FLOOR: u64 = 16 << 20;
/// And for each byte of the files.
const PER_BYTE: u64 = 50;
/// What the limit of address space leaves for what is no memory: stacks and arenas of threads.
const SLACK: u64 = 256 << 20;
/// What a HyCC program may take, as `--file-memory` says here.
const PROGRAM: u64 = 64 << 20;
/// No command takes longer, on files of some kilobytes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Findings that are told in full.
const TOLD: usize = 40;

/// Starts the program on so many hostile files, drawn from this seed.
pub(crate) fn hostile(words: &[&str]) -> Outcome {
    let (mut files, mut seed, mut only) = (1000, None, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut number = || -> Result<u64, String> {
            let text = words.next().ok_or(format!("{word} wants a number"))?;
            text.parse()
                .map_err(|_| format!("{word} wants a number, not `{text}`"))
        };
        match word {
            "--files" => files = number()? as usize,
            "--seed" => seed = Some(number()?),
            other if other.starts_with('-') => {
                return Err(
                    format!("there is no option {other}; there are --files and --seed").into(),
                );
            }
            name => only.push(name),
        }
    }
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let seed = seed.unwrap_or(now.as_nanos() as u64);
    println!("--files {files} --seed {seed}");
    let program = match std::env::var_os("MADRIGAL") {
        Some(program) => PathBuf::from(program),
        None => {
            run(cargo().args(["build", "-p", "madrigal-cli"]))?;
            target_folder().join("debug/madrigal")
        }
    };
    let scratch = target_folder().join("hostile");
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    }
    std::fs::create_dir_all(&scratch)?;
    let mut cases = cases::all(&root(), &scratch.join("made"), &program)?;
    cases.retain(|case| only.is_empty() || only.iter().any(|part| case.name.contains(part)));
    if cases.is_empty() {
        return Err(format!("no case has {} in its name", only.join(" or ")).into());
    }
    let plain = unchanged(&cases, &program, &scratch)?;
    let told = changed(&cases, &plain, &program, &scratch, files, seed)?;
    match told {
        0 => Ok(()),
        _ => Err(format!(
            "{told} findings; their folders are in {}",
            scratch.display()
        )
        .into()),
    }
}

/// What each case takes as it is: so much, its files may take when they are changed.
fn unchanged(
    cases: &[Case],
    program: &std::path::Path,
    scratch: &std::path::Path,
) -> Result<Vec<Ended>, Box<dyn std::error::Error>> {
    let mut all = Vec::with_capacity(cases.len());
    for case in cases {
        let folder = case.write(&scratch.join("plain"), None)?;
        let limits = Limits {
            address_space: 8 << 30,
            patience: PATIENCE,
        };
        let ended = watch(program, &case.words, &folder, &limits)?;
        if let Some(problem) = ended.problem() {
            return Err(format!("{}, unchanged: {problem}", case.name).into());
        }
        std::fs::remove_dir_all(folder)?;
        all.push(ended);
    }
    Ok(all)
}

/// What was found of each kind of case.
#[derive(Default)]
struct Tally {
    files: usize,
    taken: usize,
    /// Most memory beyond the unchanged file's.
    memory: u64,
    slowest: Duration,
    problems: BTreeMap<&'static str, usize>,
}

fn changed(
    cases: &[Case],
    plain: &[Ended],
    program: &std::path::Path,
    scratch: &std::path::Path,
    files: usize,
    seed: u64,
) -> Result<usize, Box<dyn std::error::Error>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<(BTreeMap<String, Tally>, usize)> = Mutex::default();
    let work = || -> Result<(), std::io::Error> {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= files {
                return Ok(());
            }
            let mut random = Random::new(seed, number as u64);
            let at = random.below(cases.len());
            let (case, plain) = (&cases[at], &plain[at]);
            let changed = case.change(&mut random, cases);
            let folder = case.write(&scratch.join(number.to_string()), Some(&changed))?;
            let length: u64 = case.length(&changed);
            let declared = FLOOR + PER_BYTE * length + if case.has_program { PROGRAM } else { 0 };
            let limits = Limits {
                address_space: plain.address_space + declared + SLACK,
                patience: PATIENCE,
            };
            let ended = watch(program, &case.words, &folder, &limits)?;
            let memory = ended.memory.saturating_sub(plain.memory.max(ITSELF));
            let problem = ended.problem().or((memory > declared).then_some("memory"));
            let mut found = found.lock().unwrap_or_else(|broken| broken.into_inner());
            let tally = found.0.entry(case.kind.clone()).or_default();
            tally.files += 1;
            tally.taken += usize::from(ended.status == Some(0));
            tally.memory = tally.memory.max(memory);
            tally.slowest = tally.slowest.max(ended.time);
            let Some(problem) = problem else {
                drop(found);
                std::fs::remove_dir_all(folder)?;
                continue;
            };
            *tally.problems.entry(problem).or_default() += 1;
            found.1 += 1;
            if found.1 <= TOLD {
                let (name, file) = (&case.name, &changed.0);
                println!("{problem}: {name}, {file} changed, in {}", folder.display());
                println!("  madrigal {}", case.words.join(" "));
                let memory = ended.memory >> 20;
                println!("  {:?}, {memory} MiB, {:.1?}", ended.status, ended.time);
                for line in ended.told.lines().take(3) {
                    println!("  {}", line.escape_debug().take(300).collect::<String>());
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().try_for_each(join)
    })?;
    let (tallies, problems) = found
        .into_inner()
        .unwrap_or_else(|broken| broken.into_inner());
    println!("| files | of | taken | memory | slowest | findings |");
    println!("|---|---|---|---|---|---|");
    for (kind, tally) in tallies {
        let problems: Vec<String> = tally
            .problems
            .iter()
            .map(|(problem, count)| format!("{count} {problem}"))
            .collect();
        println!(
            "| {} | {kind} | {} | +{} MiB | {:.1?} | {} |",
            tally.files,
            tally.taken,
            tally.memory >> 20,
            tally.slowest,
            if problems.is_empty() {
                "0".to_owned()
            } else {
                problems.join(", ")
            }
        );
    }
    Ok(problems)
}
