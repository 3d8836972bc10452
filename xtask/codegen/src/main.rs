//! Code generated from schema/: writes it, or with `--check` fails if what is there is not current.
#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// What is compiled: a schema, its package, and the file that holds the code.
const SCHEMAS: [(&str, &str, &str); 5] = [
    (
        "control.proto",
        "madrigal.control.v1",
        "crates/net/src/generated/control.rs",
    ),
    (
        "onnx.proto",
        "madrigal.onnx.v1",
        "crates/nn/src/generated/onnx.rs",
    ),
    (
        "program.proto",
        "madrigal.program.v1",
        "crates/program-file/src/generated/program.rs",
    ),
    (
        "servers.proto",
        "madrigal.servers.v1",
        "crates/service/src/generated/servers.rs",
    ),
    (
        "service.proto",
        "madrigal.service.v1",
        "crates/intake/src/generated/service.rs",
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = match words[..] {
        [] => Ok(false),
        ["--check"] => Ok(true),
        _ => Err(format!("there is --check, and nothing else; not {words:?}").into()),
    };
    let codegen = |check| SCHEMAS.iter().try_for_each(|files| codegen(files, check));
    match check.and_then(codegen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask-codegen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles a schema to Rust. A Rust compiler for protobuf keeps `protoc` off the list of what a machine
/// needs.
fn codegen(
    (name, package, target): &(&str, &str, &str),
    check: bool,
) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let schema = root.join("schema");
    let path = root.join(target);
    let scratch = std::env::temp_dir().join(format!("madrigal-codegen-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let descriptors = protox::compile([schema.join(name)], [&schema])?;
    prost_build::Config::new()
        .out_dir(&scratch)
        // It carries half a seed, or a token: crates/net and crates/intake write a Debug that leaves it out.
        .skip_debug(["Hello"])
        // Weights are not copied while a file is decoded, nor what a frame carries. A token is, into memory that is wiped.
        .bytes([
            ".madrigal.onnx.v1",
            ".madrigal.service.v1.Begin.headers",
            ".madrigal.service.v1.Piece",
            ".madrigal.service.v1.Whole.headers",
            ".madrigal.service.v1.Whole.body",
            ".madrigal.service.v1.Requests",
            ".madrigal.service.v1.Accepted",
            ".madrigal.service.v1.Finished.receipt",
            ".madrigal.service.v1.Finished.signature",
            ".madrigal.service.v1.OutputPiece",
            ".madrigal.service.v1.Answers",
        ])
        .compile_fds(descriptors)?;
    let fresh = std::fs::read_to_string(scratch.join(format!("{package}.rs")))?;
    std::fs::remove_dir_all(&scratch)?;
    if check {
        let current = std::fs::read_to_string(&path)?;
        if current != fresh {
            return Err(format!(
                "{target} is not what schema/{name} gives: run `cargo xtask codegen`"
            )
            .into());
        }
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().expect("the target lies in a folder"))?;
    std::fs::write(&path, fresh)?;
    Ok(())
}
