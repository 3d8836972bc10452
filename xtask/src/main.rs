//! One entry for the chores of the project: `cargo xtask help` lists them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask CHORE

  codegen          write the code generated from schema/ again
  codegen --check  fail if it is not current
";

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["codegen"] => codegen(false),
        ["codegen", "--check"] => codegen(true),
        ["help"] | [] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(format!("there is no chore {words:?}\n{HELP}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compiles schema/control.proto to Rust. A Rust compiler for protobuf keeps `protoc` off the list
/// of what a machine needs.
fn codegen(check: bool) -> Outcome {
    let schema = root().join("schema");
    let target = root().join("crates/net/src/generated/control.rs");
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
