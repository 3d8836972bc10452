//! What needs no running: form, lints, documentation, licences.

use crate::Outcome;
use crate::circles::finished;
use crate::codegen::codegen;
use crate::domains::domains;
use crate::features::features;
use crate::neutral::neutral;
use crate::process::{cargo, run, target_folder, works};
use crate::profiles::profiles;
use crate::signposts::signposts;
use crate::wording::wording;

/// Checks everything, the quickest first.
pub(crate) fn lint() -> Outcome {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    codegen(true)?;
    signposts()?;
    domains()?;
    neutral()?;
    finished()?;
    wording()?;
    features()?;
    profiles()?;
    deny()?;
    run(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))?;
    // What needs no socket must build without any: the workspace's builds do not show it.
    run(cargo().args([
        "check",
        "--package",
        "madrigal-net",
        "--no-default-features",
    ]))?;
    // Nothing in the workspace asks the library for networks: the program takes them from below it.
    run(cargo().args(["check", "--package", "madrigal", "--features", "nn"]))?;
    // The fuzz targets need nightly to run, and no more than this to be kept in step. libFuzzer itself
    // would have to be compiled first; a check does not link it. What both workspaces take from others
    // is built once.
    run(cargo()
        .args(["check", "--manifest-path", "fuzz/Cargo.toml"])
        .env("CUSTOM_LIBFUZZER_PATH", "/libnone.a")
        .env("CARGO_TARGET_DIR", target_folder()))?;
    run(cargo()
        .args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings"))?;
    println!("xtask: no lint");
    Ok(())
}

/// Licences, bans and sources need nothing but the lock file; advisories need their database, which
/// a machine without a way to it must do without. It says so.
fn deny() -> Outcome {
    if !works(cargo().args(["deny", "--version"])) {
        return Err("cargo-deny is missing: `cargo install cargo-deny --locked`".into());
    }
    // The fuzz targets and the crate outside are workspaces of their own, with the same rules.
    for manifest in [
        "Cargo.toml",
        "fuzz/Cargo.toml",
        "examples/own_operation/Cargo.toml",
    ] {
        run(cargo()
            .args(["deny", "--manifest-path", manifest])
            .args(["--config", "deny.toml"])
            .args(["check", "--hide-inclusion-graph"])
            .args(["licenses", "bans", "sources"]))?;
    }
    if !works(cargo().args(["deny", "fetch", "db"])) {
        println!("xtask: SKIPPED advisories: their database cannot be fetched from here");
        return Ok(());
    }
    run(cargo().args(["deny", "check", "advisories"]))
}
