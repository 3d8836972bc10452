//! Test executables: cargo builds them, and here they are run, so that one build serves every level
//! and the slowest tests can be named.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;
use crate::process::{cargo, shown};

/// How many tests are named as the slowest.
const SLOWEST: usize = 12;
/// Executables that run at a time, so that none waits for the longest test of another. They share the
/// processors for their own tests, rounded up: tests of networks and of the program mostly wait, and
/// where there are two processors three tests keep them busy.
const AT_A_TIME: usize = 3;

/// Settings of glibc's `malloc`; other systems know nothing of them. Thousands of small worlds begin and end in a test, and without
/// these each has the kernel map and clear its memory anew: a third of the time of some tests. Arrays of four megabytes and more,
/// which tests of memory look at, are given back as ever.
const MEMORY: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4194304"),
    ("MALLOC_TRIM_THRESHOLD_", "67108864"),
];

/// A test executable that cargo has built.
pub(crate) struct Executable {
    /// The folder of its package, without those above.
    pub(crate) package: String,
    folder: PathBuf,
    /// Which of the package's targets.
    target: String,
    path: PathBuf,
}

/// Builds the tests of these packages, or of the workspace if none is named.
pub(crate) fn build(packages: &[&str]) -> Result<Vec<Executable>, Box<dyn std::error::Error>> {
    let mut command = cargo();
    // `--tests`: all targets that are tested, whatever they are, and no example beside them.
    command
        .args(["test", "--no-run", "--tests"])
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped());
    for package in packages {
        command.arg(format!("--package=madrigal-{package}"));
    }
    if packages.is_empty() {
        command.arg("--workspace");
    }
    println!("+ {}", shown(&command));
    let mut child = command.spawn()?;
    let mut messages = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut messages)?;
    }
    if !child.wait()?.success() {
        return Err("the tests do not build".into());
    }
    let mut executables = Vec::new();
    for message in messages.lines() {
        executables.extend(executable(&serde_json::from_str(message)?));
    }
    executables.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    Ok(executables)
}

/// The test executable that a message of cargo's is about, if it is about one.
fn executable(message: &Value) -> Option<Executable> {
    let is_test = message["profile"]["test"].as_bool()?;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let kind = message["target"]["kind"][0].as_str()?;
    let name = message["target"]["name"].as_str()?;
    let target = match kind {
        "lib" | "bin" => format!("src ({kind})"),
        "test" => "tests".into(),
        _ => format!("{kind} {name}"),
    };
    Some(Executable {
        package: folder.file_name()?.to_str()?.to_owned(),
        folder: folder.to_owned(),
        target,
        path: path.into(),
    })
}

impl Executable {
    /// One run of it, with a variable set.
    pub(crate) fn suite(&self, variable: Option<(&str, String)>) -> Suite {
        let mut command = Command::new(&self.path);
        self.start_as_cargo(&mut command);
        let mut name = format!("{} {}", self.package, self.target);
        if let Some((variable, value)) = variable {
            name = format!("{name}, {value}");
            command.env(variable, value);
        }
        Suite::new(name, command, true)
    }

    /// One run of the tests of these names, by another program that is given the executable.
    pub(crate) fn under(&self, mut program: Command, names: &[&str]) -> Suite {
        program.arg(&self.path).arg("--exact").args(names);
        self.start_as_cargo(&mut program);
        Suite::new(format!("{} {}", self.package, self.target), program, true)
    }

    /// The times of all tests that pass, or of those whose names contain one of `words`.
    pub(crate) fn times(&self, words: &[&str]) -> std::io::Result<Vec<(Duration, String)>> {
        let mut command = Command::new(&self.path);
        self.start_as_cargo(&mut command);
        report_times(command.args(words).env("RUST_TEST_THREADS", "1"));
        let said = command.output()?.stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(said.lines().filter_map(time).collect())
    }

    fn start_as_cargo(&self, command: &mut Command) {
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
    }
}

/// Exit status of an executable in which a test failed.
const TESTS_FAILED: i32 = 101;

/// Tests that one command runs.
pub(crate) struct Suite {
    name: String,
    command: Command,
    /// It is an executable with libtest in it, and takes its flags.
    libtest: bool,
}

impl Suite {
    pub(crate) fn new(name: String, command: Command, libtest: bool) -> Self {
        Self {
            name,
            command,
            libtest,
        }
    }

    /// Name of the suite, as it is told.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Leaves out tests whose names contain one of `names`.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.command.args(["--skip", name]);
        }
        self
    }

    /// Runs it; what it said is kept.
    fn run(mut self, threads: usize) -> Ran {
        let began = Instant::now();
        self.command
            .envs(MEMORY)
            .env("RUST_TEST_THREADS", threads.to_string());
        if self.libtest {
            report_times(&mut self.command);
        }
        let mut said = Vec::new();
        let ended = self.command.stdout(Stdio::piped()).spawn();
        let ended = ended.and_then(|mut child| {
            let stdout = child.stdout.take().into_iter();
            for line in stdout.flat_map(|stdout| BufReader::new(stdout).split(b'\n')) {
                let line = String::from_utf8_lossy(&line?).into_owned();
                if line.contains("has been running for over") {
                    println!("{}: {line}", self.name);
                }
                said.push(line);
            }
            child.wait()
        });
        let mut results: Vec<Counts> = said.iter().filter_map(|line| Counts::read(line)).collect();
        if self.libtest {
            // The harness has the last word, whatever a test prints.
            results = results.pop().into_iter().collect();
        }
        let counts = results.iter().fold(Counts::default(), Counts::plus);
        let problem = match ended {
            Err(error) => Some(format!("cannot start: {error}")),
            // A crash may come after a result.
            Ok(status) if !status.success() => Some(status.to_string()),
            Ok(_) if results.is_empty() => Some("it ended without a result".into()),
            Ok(_) if counts.failed > 0 => Some("a test failed".into()),
            Ok(_) if counts.passed == 0 => Some("it has no test; if so, say `test = false`".into()),
            Ok(_) => None,
        };
        Ran {
            times: said.iter().filter_map(|line| time(line)).collect(),
            name: self.name,
            said,
            counts,
            problem,
            took: began.elapsed(),
        }
    }
}

/// What became of a suite.
struct Ran {
    name: String,
    said: Vec<String>,
    counts: Counts,
    problem: Option<String>,
    /// Of its tests, by name.
    times: Vec<(Duration, String)>,
    took: Duration,
}

/// What libtest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; ...`
    fn read(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count = |name: &str| {
            let of_it = counts.split("; ").find_map(|part| part.strip_suffix(name));
            of_it?.trim().parse().ok()
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            ignored: count("ignored")?,
        })
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }
}

/// Has a test executable tell each test's time: on nightly Rust only, or where this variable makes the harness believe in it.
/// Nothing is compiled with it.
fn report_times(command: &mut Command) {
    command
        .args(["-Zunstable-options", "--report-time"])
        .env("RUSTC_BOOTSTRAP", "1");
}

/// `test name ... ok <0.123s>`
fn time(line: &str) -> Option<(Duration, String)> {
    let (name, ended) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = ended.strip_suffix("s>")?.rsplit_once('<')?.1;
    let time = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    Some((time, name.to_owned()))
}

/// What became of all suites.
#[derive(Default)]
pub(crate) struct Tally {
    counts: Counts,
    suites: usize,
    failed: Vec<String>,
    times: Vec<(Duration, String)>,
}

impl Tally {
    /// Takes in a suite and says what became of it; all that it said, if it failed.
    fn add(&mut self, ran: Ran) {
        let Counts { passed, .. } = ran.counts;
        let took = ran.took.as_secs_f64();
        match &ran.problem {
            None => println!("{}: {passed} passed in {took:.1} s", ran.name),
            Some(problem) => {
                println!("{}\n{}: FAILED: {problem}", ran.said.join("\n"), ran.name);
                self.failed.push(format!("{}: {problem}", ran.name));
            }
        }
        self.suites += 1;
        self.counts = self.counts.plus(&ran.counts);
        let times = ran.times.into_iter();
        self.times
            .extend(times.map(|(time, test)| (time, format!("{}: {test}", ran.name))));
    }

    /// Lets suites pass in which some tests failed, one in twenty at most of all that ran, and says `why`: they ended with libtest's
    /// own status, so nothing else was found in them.
    pub(crate) fn excusing(mut self, why: &str) -> Self {
        let Counts { passed, failed, .. } = self.counts;
        if failed > 0 && failed * 20 <= passed {
            self.failed
                .retain(|told| !told.ends_with(&format!("exit status: {TESTS_FAILED}")));
            println!("xtask: {failed} tests failed: {why}");
        }
        self
    }

    /// The slowest tests, and the end as libtest says it.
    pub(crate) fn close(mut self, took: Duration) -> Outcome {
        self.times.sort_by(|a, b| b.cmp(a));
        println!("\nthe slowest tests:");
        for (time, test) in self.times.iter().take(SLOWEST) {
            println!("{:7.1} s  {test}", time.as_secs_f64());
        }
        let Counts {
            passed,
            failed,
            ignored,
        } = self.counts;
        let verdict = if self.failed.is_empty() {
            "ok"
        } else {
            "FAILED"
        };
        println!(
            "\ntest result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; \
             0 measured; 0 filtered out; finished in {:.2}s",
            took.as_secs_f64()
        );
        if self.failed.is_empty() {
            println!("xtask: all tests passed ({} runs)", self.suites);
            return Ok(());
        }
        let failed = self.failed.join("\n  ");
        Err(format!("tests failed:\n  {failed}").into())
    }
}

/// Runs suites, [`AT_A_TIME`], in their order.
pub(crate) fn run(suites: Vec<Suite>) -> Tally {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.div_ceil(AT_A_TIME);
    let queue = Mutex::new(VecDeque::from(suites));
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(suite) = next(&queue) {
                    // Before the lock is taken: with it, suites would run one after another.
                    let ran = suite.run(threads);
                    lock(&tally).add(ran);
                }
            });
        }
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn next(queue: &Mutex<VecDeque<Suite>>) -> Option<Suite> {
    lock(queue).pop_front()
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Suite::new("it".into(), command, false).run(1)
    }

    /// Each of these would otherwise pass for a suite that passed.
    #[test]
    fn what_is_no_success_is_told() {
        let ok = "echo 'test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured'";
        assert_eq!(shell(ok).problem, None);
        let none = "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured'";
        let failed = "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured'";
        for bad in [none, failed, "true", "exit 3", &format!("{ok}; kill -9 $$")] {
            let ran = shell(bad);
            assert!(ran.problem.is_some(), "{bad}");
            let mut tally = Tally::default();
            tally.add(shell(ok));
            tally.add(ran);
            assert!(tally.close(Duration::ZERO).is_err(), "{bad}");
        }
    }

    /// Each of two waits for the other: one after another, neither would pass.
    #[test]
    fn suites_run_beside_each_other() {
        let folder = std::env::temp_dir().join(format!("suites-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let waits = |mine: &str, other: &str| {
            let script = format!(
                "cd '{}'; : > {mine}; for i in $(seq 200); do [ -e {other} ] && echo \
                 'test result: ok. 1 passed; 0 failed; 0 ignored' && exit; sleep 0.1; done; exit 1",
                folder.display()
            );
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            Suite::new(mine.into(), command, false)
        };
        let tally = run(vec![waits("a", "b"), waits("b", "a")]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(tally.close(Duration::ZERO).is_ok());
    }

    #[test]
    fn what_libtest_says_is_read() {
        let line = "test result: ok. 13 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let counts = Counts {
            passed: 13,
            failed: 0,
            ignored: 2,
        };
        assert_eq!(Counts::read(line), Some(counts));
        assert_eq!(Counts::read("test result of a kind"), None);
        let read = time("test a::b ... ok <1.250s>");
        assert_eq!(read, Some((Duration::from_millis(1250), "a::b".into())));
        assert_eq!(time("test a::b ... ok"), None);
    }

    #[test]
    fn a_test_executable_is_known_by_what_cargo_says() {
        let mut message = serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/m/crates/ot/Cargo.toml",
            "target": {"kind": ["test"], "name": "main"},
            "profile": {"test": true},
            "executable": "/t/main-0",
        });
        let found = executable(&message).unwrap();
        assert_eq!(
            (found.package.as_str(), found.target.as_str(), found.path),
            ("ot", "tests", PathBuf::from("/t/main-0"))
        );
        message["profile"]["test"] = false.into();
        assert!(executable(&message).is_none());
    }
}
