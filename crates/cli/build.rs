//! Has the linker lay what every party runs side by side (`layout.ld`, written by `cargo xtask layout`).
//!
//! A system maps a program in pieces of 64 KB and more. What one job runs is a twentieth of the program, and
//! is scattered over half of its pieces where crates follow one another: 3 to 6 MB more for each party.

use std::env;

const LAYOUT: &str = "layout.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LAYOUT}");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if is_known_here() {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo::rustc-link-arg-bins=-T");
        println!("cargo::rustc-link-arg-bins={folder}/{LAYOUT}");
    }
}

/// Rust's own linker and GNU's know this kind of script, others may not: whoever has chosen one gets the
/// program without it. So does what is not optimised, where nobody counts megabytes.
fn is_known_here() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = ["linker", "fuse-ld"]
        .iter()
        .any(|word| flags.contains(word));
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("PROFILE", "release")
        && env::var_os("RUSTC_LINKER").is_none()
        && !chosen
}
