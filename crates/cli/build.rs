//! Has the linker lay side by side what every party runs (`layout.ld`, written by `cargo xtask layout`), in this
//! program and in `madrigal-lab`, whose build script this is too.
//!
//! Linux maps 64 KB of a program around each page that is touched. What one job runs is a twentieth of the
//! program, and is scattered over half of it where crates follow one another: 4 to 6 MB more for each party.

use std::env;

/// From the folder of either crate.
const LAYOUT: &str = "../cli/layout.ld";
const SCRIPT: &str = "../cli/build.rs";
/// With `off` here the program is linked without it.
const SWITCH: &str = "MADRIGAL_LAYOUT";
/// Variables that people choose their linker by; cargo makes `RUSTC_LINKER` of them and of its files.
const LINKER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER";

fn main() {
    println!("cargo::rerun-if-changed={SCRIPT}");
    println!("cargo::rerun-if-changed={LAYOUT}");
    println!("cargo::rerun-if-env-changed={SWITCH}");
    println!("cargo::rerun-if-env-changed={LINKER}");
    if is_known_here() {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo::rustc-link-arg-bins=-T");
        println!("cargo::rustc-link-arg-bins={folder}/{LAYOUT}");
    }
}

/// Rust's own linker and GNU's understand such scripts, others may not: whoever has chosen one gets the
/// program without it. So does what is not optimised, where nobody counts megabytes.
fn is_known_here() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = ["linker", "link-arg"]
        .iter()
        .any(|word| flags.contains(word));
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("PROFILE", "release")
        && env::var_os("RUSTC_LINKER").is_none()
        && !is(SWITCH, "off")
        && !chosen
}
