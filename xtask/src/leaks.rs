//! Memory that the protocols' tests leak, found by Valgrind's Memcheck.

use std::cell::RefCell;
use std::hint::black_box;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::process::{need_valgrind, works};
use crate::suites::{self, Suite};

/// Packages whose tests are watched: those that send, keep and hand on what protocols consist of.
const WATCHED: [&str; 6] = [
    "garbling",
    "protocols",
    "operations",
    "correlations-make",
    "ot",
    "net",
];

/// Time that a test may take outside of Memcheck to be watched where no test is named. Inside it takes some fifty times as long;
/// longer tests have the same code allocate the same for more values, and are watched by name.
const MOST: Duration = Duration::from_millis(100);

/// Exit status of Memcheck where it has found a leak; that of failed tests is another one.
const FOUND: i32 = 99;

/// Leaks on purpose, each of a kind that Rust allows, and what leaks nothing.
const PLANTS: [(&str, bool); 3] = [("forgotten", true), ("circle", true), ("none", false)];

/// Runs the tests of [`WATCHED`] that take less than [`MOST`], or those whose names contain one of `words`, under Memcheck: first
/// the planted leaks, each of which must be found. It takes half an hour on two cores. What is still reachable when a test executable ends is no leak: caches of
/// the whole process are.
pub(crate) fn leaks(words: &[&str]) -> Outcome {
    match *words {
        ["--plant", name] => return plant(name),
        _ => need_valgrind()?,
    }
    if let Some(word) = words.iter().find(|word| word.starts_with('-')) {
        return Err(format!("leaks takes names of tests alone, not {word}").into());
    }
    let began = Instant::now();
    for (name, leaks) in PLANTS {
        let mut command = memcheck();
        command
            .arg(std::env::current_exe()?)
            .args(["leaks", "--plant", name]);
        if works(command.stderr(std::process::Stdio::null())) == leaks {
            return Err(format!("the plant `{name}` is not told from what it is not").into());
        }
    }
    println!("xtask: the planted leaks are found");
    let mut suites: Vec<Suite> = Vec::new();
    let mut left_out = 0;
    for executable in suites::build(&WATCHED)? {
        let times = executable.times(words)?;
        let watched = |(time, _): &&(Duration, String)| !words.is_empty() || *time < MOST;
        let names: Vec<&str> = times
            .iter()
            .filter(watched)
            .map(|(_, name)| &**name)
            .collect();
        left_out += times.len() - names.len();
        if !names.is_empty() {
            suites.push(executable.under(memcheck(), &names));
        }
    }
    if suites.is_empty() {
        return Err(format!("no test of {} has such a name", WATCHED.join(", ")).into());
    }
    println!("xtask: {left_out} tests take longer than {MOST:?} and are watched if they are named");
    let tally = suites::run(suites);
    // Where a leak is found Memcheck's own status takes the place of libtest's.
    tally
        .excusing("they wait no longer than they do elsewhere, and Memcheck is slow; what they allocated was not lost")
        .close(began.elapsed())
}

/// Memcheck that looks for leaks alone: reads of memory that has no value are what `cargo xtask secrets` looks for. What
/// only a pointer into its middle leads to counts as reachable, for hash tables have no other.
fn memcheck() -> Command {
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--leak-check=full", "--undef-value-errors=no"])
        .args(["--show-leak-kinds=definite,indirect", "--num-callers=30"])
        .arg("--errors-for-leak-kinds=definite,indirect")
        .arg(format!("--error-exitcode={FOUND}"));
    command
}

/// Leaks in the way of this name.
fn plant(name: &str) -> Outcome {
    match name {
        "forgotten" => std::mem::forget(black_box(vec![1_u8; 4096])),
        "circle" => circle(),
        "none" => drop(black_box(vec![1_u8; 4096])),
        _ => return Err(format!("there is no plant `{name}`").into()),
    }
    Ok(())
}

/// Counted pointers that keep each other.
fn circle() {
    #[derive(Default)]
    struct Link(RefCell<Option<Rc<Link>>>);
    let (first, second) = (Rc::new(Link::default()), Rc::new(Link::default()));
    *first.0.borrow_mut() = Some(Rc::clone(&second));
    *second.0.borrow_mut() = Some(Rc::clone(&first));
    black_box((first, second));
}
