//! Branches and addresses that depend on secrets, found by Valgrind's Memcheck.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use crate::process::{cargo, need_valgrind, run, target_folder};
use crate::{Outcome, root};

/// What Memcheck says of these is not reported; each with its reason.
const SUPPRESSIONS: &str = "xtask/secrets.supp";
/// Paths of these names leak on purpose, in the function of the name's rest.
const PLANT: &str = "plant:";
/// But this one, which does the same on what was declared public.
const NO_PLANT: &str = "plant:none";
/// Frames of our own that are shown of a report.
const FRAMES: usize = 5;

/// Runs crates/operations/examples/secrets under Memcheck: first the planted leaks, each of which must be found
/// where it is, then all paths, or those whose name contains one of `words`.
pub(crate) fn secrets(words: &[&str]) -> Outcome {
    if let Some(word) = words.iter().find(|word| word.starts_with('-')) {
        return Err(format!("secrets takes names of paths alone, not {word}").into());
    }
    if !cfg!(target_arch = "x86_64") {
        return Err("secrets are marked on x86-64 alone".into());
    }
    need_valgrind()?;
    // Optimised as what users run is: a compiler that optimises less makes other branches.
    run(cargo()
        .args(["build", "--release", "--package", "madrigal-operations"])
        .args(["--features", "madrigal-kernels/marks"])
        .args(["--example", "secrets"])
        // Memcheck tells lines, which the release profile leaves out.
        .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none"))?;
    let program = target_folder().join("release/examples/secrets");
    let names = Command::new(&program).output()?;
    let names = String::from_utf8(names.stdout)?;
    let (plants, paths): (Vec<&str>, Vec<&str>) =
        names.lines().partition(|name| name.starts_with(PLANT));

    let folder = target_folder().join("secrets");
    std::fs::create_dir_all(&folder)?;
    for watched in watch(&program, &folder, &plants)? {
        watched.is_found()?;
    }
    println!("xtask: the planted leaks are found");
    let wanted = |name: &&str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let paths: Vec<&str> = paths.into_iter().filter(wanted).collect();
    if paths.is_empty() {
        return Err(format!("there are no such paths, but these:\n{names}").into());
    }
    let watched = watch(&program, &folder, &paths)?;
    let failed: Vec<&str> = watched
        .iter()
        .filter(|watched| !watched.is_clean())
        .map(|watched| &*watched.name)
        .collect();
    if !failed.is_empty() {
        return Err(format!("reports from {}", failed.join(", ")).into());
    }
    println!(
        "xtask: nothing depends on a secret in {} paths",
        watched.len()
    );
    Ok(())
}

/// One path and what Memcheck said.
struct Watched {
    name: String,
    /// Why the path itself failed.
    failure: Option<String>,
    reports: Vec<Report>,
}

/// Something that depends on a secret.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    what: String,
    /// The innermost first: functions, each with its place.
    frames: Vec<String>,
}

impl Report {
    /// The frames in our code.
    fn ours(&self) -> impl Iterator<Item = &String> {
        self.frames.iter().filter(|frame| is_ours(frame))
    }
}

fn is_ours(frame: &str) -> bool {
    frame.contains("(crates/")
}

/// Runs all, as many side by side as there are processors, and prints each when it is done.
fn watch(program: &Path, folder: &Path, names: &[&str]) -> Result<Vec<Watched>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let one = || {
        while let Some(name) = names.get(next.fetch_add(1, Relaxed)) {
            let start = Instant::now();
            let watched = memcheck(program, folder, name);
            let seconds = start.elapsed().as_secs_f64();
            let mut done = done.lock().map_err(|_| "a thread panicked")?;
            let watched = watched?;
            println!("{watched} ({seconds:.0} s)");
            done.push(watched);
        }
        Ok::<(), String>(())
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let mut joined = threads.into_iter().map(|thread| thread.join());
        joined.try_for_each(|outcome| outcome.unwrap_or_else(|_| Err("a thread panicked".into())))
    })?;
    done.into_inner().map_err(|_| "a thread panicked".into())
}

fn memcheck(program: &Path, folder: &Path, name: &str) -> Result<Watched, String> {
    let root = root().canonicalize().map_err(|error| error.to_string())?;
    let log = folder.join(name.replace(['/', ':'], "-"));
    let output = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no", "--num-callers=40"])
        .arg(format!("--fullpath-after={}/", root.display()))
        .arg(format!(
            "--suppressions={}",
            root.join(SUPPRESSIONS).display()
        ))
        .arg(format!("--log-file={}", log.display()))
        .arg(program)
        .arg(name)
        .output()
        .map_err(|error| format!("cannot start valgrind: {error}"))?;
    let text = std::fs::read_to_string(&log).map_err(|error| error.to_string())?;
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    Ok(Watched {
        name: name.to_owned(),
        failure: (!output.status.success()).then(|| format!("{}{}", said[0], said[1])),
        reports: reports(&text),
    })
}

impl Watched {
    fn is_clean(&self) -> bool {
        self.failure.is_none() && self.reports.is_empty()
    }

    /// Whether a plant is found, in its function.
    fn is_found(&self) -> Result<(), String> {
        if self.name == NO_PLANT && self.is_clean() {
            return Ok(());
        }
        let function = self.name.trim_start_matches(PLANT);
        let at =
            format!("secrets::plants::{function} (crates/operations/examples/secrets/plants.rs:");
        let mut places = self
            .reports
            .iter()
            .filter_map(|report| report.ours().next());
        let found = places.any(|frame| frame.starts_with(&at));
        if self.failure.is_none() && found {
            return Ok(());
        }
        Err(format!("{} is not found as it should be", self.name))
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.reports.len() {
            0 => write!(f, "no report")?,
            count => write!(f, "{count} reports")?,
        }
        for report in &self.reports {
            write!(f, "\n  {}", report.what)?;
            let library = report.frames.iter().take(1).filter(|frame| !is_ours(frame));
            for frame in library.chain(report.ours().take(FRAMES)) {
                write!(f, "\n    {frame}")?;
            }
        }
        if let Some(failure) = &self.failure {
            write!(f, "\n  it failed:\n{}", failure.trim_end())?;
        }
        Ok(())
    }
}

/// The reports of Memcheck's log: paragraphs of a line that says what, and a line for each frame.
fn reports(log: &str) -> Vec<Report> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("=="));
    let lines: Vec<&str> = lines
        .filter_map(|line| Some(line.split_once("==")?.1.trim()))
        .filter(|line| !line.starts_with("Thread "))
        .collect();
    let paragraphs = lines.split(|line| line.is_empty());
    let report = |paragraph: &[&str]| {
        let (what, frames) = paragraph.split_first()?;
        let frames: Vec<String> = frames.iter().filter_map(|line| frame(line)).collect();
        // What has none is a remark about the program as a whole.
        (!frames.is_empty()).then(|| Report {
            what: (*what).to_owned(),
            frames,
        })
    };
    paragraphs.filter_map(report).collect()
}

/// `at 0x12: function (place)`, without the address and the types that a function is made for.
fn frame(line: &str) -> Option<String> {
    let line = line.strip_prefix("at ").or(line.strip_prefix("by "))?;
    let (_, frame) = line.split_once(": ")?;
    let (function, place) = frame.rsplit_once(" (").unwrap_or((frame, ""));
    if function.starts_with('<') {
        // The type or trait itself.
        return Some(format!("{function} ({place}"));
    }
    let mut depth = 0_usize;
    let outside = |letter: &char| match letter {
        '<' => {
            depth += 1;
            false
        }
        '>' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    };
    let function: String = function.chars().filter(outside).collect();
    Some(format!("{function} ({place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_their_frames() {
        let log = "==7== Conditional jump or move depends on uninitialised value(s)\n\
            ==7==    at 0x11: ours::leak (crates/x/src/lib.rs:3)\n\
            ==7==    by 0x12: main (main.rs:1)\n\
            ==7== \n\
            ==7== Thread 2:\n\
            ==7== Use of uninitialised value of size 8\n\
            ==7==    at 0x13: table<a::B<c>>::of<D> (t.rs:9)\n\
            ==7== \n";
        let found = reports(log);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].frames,
            ["ours::leak (crates/x/src/lib.rs:3)", "main (main.rs:1)"]
        );
        assert_eq!(found[1].what, "Use of uninitialised value of size 8");
        assert_eq!(found[1].frames, ["table::of (t.rs:9)"]);
        assert!(reports("").is_empty());
    }
}
