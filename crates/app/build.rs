//! Tells the program which commit it is built of, for its reports: in builds for release, from a repository.
//!
//! Other builds are told nothing, so that they are not made anew with each commit. Who builds from an archive may set
//! `MADRIGAL_COMMIT`.

use std::env;
use std::path::Path;
use std::process::Command;

/// Variable that the program is compiled with, and that may be given.
const COMMIT: &str = "MADRIGAL_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    let given = env::var(COMMIT).ok();
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if let Some(commit) = given.or_else(|| release.then(checked_out).flatten()) {
        println!("cargo::rustc-env={COMMIT}={commit}");
    }
}

/// The commit that is checked out; the script runs again when another one is.
fn checked_out() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
