//! Code generated from schema/: writes it, or with `--check` fails if what is there is not current.
#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        [] => codegen(false),
        ["--check"] => codegen(true),
        _ => Err(format!("there is --check, and nothing else; not {words:?}").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask-codegen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles schema/control.proto to Rust. A Rust compiler for protobuf keeps `protoc` off the list
/// of what a machine needs.
fn codegen(check: bool) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let schema = root.join("schema");
    let target = root.join("crates/net/src/generated/control.rs");
    let scratch = std::env::temp_dir().join(format!("madrigal-codegen-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let descriptors = protox::compile([schema.join("control.proto")], [&schema])?;
    prost_build::Config::new()
        .out_dir(&scratch)
        // It carries half a seed: crates/net writes a Debug that leaves it out.
        .skip_debug(["Hello"])
        .compile_fds(descriptors)?;
    let fresh = std::fs::read_to_string(scratch.join("madrigal.control.v1.rs"))?;
    std::fs::remove_dir_all(&scratch)?;
    if check {
        let current = std::fs::read_to_string(&target)?;
        if current != fresh {
            return Err("crates/net/src/generated/control.rs is not what schema/control.proto gives: run `cargo xtask codegen`".into());
        }
        return Ok(());
    }
    std::fs::create_dir_all(target.parent().expect("the target lies in a folder"))?;
    std::fs::write(&target, fresh)?;
    Ok(())
}
