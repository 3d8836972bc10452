//! Fuzz targets, each for a while.

use std::process::Command;

use crate::process::{number_option, run, works};
use crate::{Outcome, root};

/// Runs the named targets, or all, over their seeds and what earlier runs found.
pub(crate) fn fuzz(words: &[&str]) -> Outcome {
    let (seconds, mut targets) = number_option(words, "--seconds", 60)?;
    let all = targets_there_are()?;
    for target in &targets {
        if !all.iter().any(|one| one == target) {
            return Err(format!(
                "there is no fuzz target {target}; there are {}",
                all.join(", ")
            )
            .into());
        }
    }
    if targets.is_empty() {
        targets = all.iter().map(String::as_str).collect();
    }
    if !works(nightly().args(["fuzz", "--version"])) {
        return Err("fuzzing needs `rustup toolchain install nightly` and `cargo install cargo-fuzz --locked`".into());
    }
    run(nightly().args(["fuzz", "build"]))?;
    for target in targets {
        let corpus = root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus)?;
        let seeds = root().join("fuzz/seeds").join(target);
        let mut command = nightly();
        // A thread that is about to end is taken for a leak. What grows without end meets the limit of
        // memory that the fuzzer sets.
        command.env("ASAN_OPTIONS", "detect_leaks=0");
        command.args(["fuzz", "run", target]).arg(&corpus);
        if seeds.is_dir() {
            command.arg(&seeds);
        }
        run(command.arg("--").arg(format!("-max_total_time={seconds}")))?;
    }
    Ok(())
}

/// One file each in fuzz/fuzz_targets.
fn targets_there_are() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(
                path.file_stem()
                    .map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    names.sort();
    Ok(names)
}

/// rustup's cargo, for the cargo that started us belongs to one toolchain.
fn nightly() -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").current_dir(root());
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    command
}
