//! The Python package: its native module, its types and its tests.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{cargo, run, target_folder, works};
use crate::{Outcome, root};

/// Packages of PyPI that the tests need: the package itself needs NumPy alone.
const NEEDED: [&str; 8] = [
    "numpy>=1.26",
    "pytest>=8",
    "hypothesis>=6",
    "mypy>=1.15",
    "maturin>=1.9,<2",
    // Notebooks are run as Jupyter runs them, in a process with an event loop.
    "nbclient>=0.10",
    "ipykernel>=6",
    // Results of random queries on tables are compared with its own.
    "duckdb>=1.3",
];

/// An interpreter in an environment of its own that has all that the tests need.
pub(crate) fn interpreter() -> Result<PathBuf, Box<dyn Error>> {
    environment("python", &NEEDED)
}

/// The feature of the package that tests need and newcomers do not wait for.
const SQL: &str = "--features=madrigal-python/sql";
/// Has the native module built with the features that cargo gives the tests of all crates: after these, little is left to build.
const AS_TESTS: &str = "--as-tests";

/// Builds the native module as tests are built, puts it beside the package, and runs mypy and pytest in an environment of their
/// own; `words` go to pytest.
pub(crate) fn python(words: &[&str]) -> Outcome {
    let target = target_folder();
    let interpreter = interpreter()?;
    let (as_tests, words): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| **word == AS_TESTS);
    let what: &[&str] = match as_tests[..] {
        [] => &["--package=madrigal-python", "--package=madrigal-cli", SQL],
        _ => &["--workspace", "--tests", "--lib", SQL],
    };
    run(cargo().arg("build").args(what))?;
    let built = target.join("debug/lib_native.so");
    let module = root().join("python/madrigal/_native.abi3.so");
    replace(&built, &module)?;
    let mut types = Command::new(&interpreter);
    run(types.current_dir(root()).args(["-m", "mypy"]))?;
    let mut tests = Command::new(&interpreter);
    tests
        .current_dir(root())
        .env("MADRIGAL", target.join("debug/madrigal"))
        .args(["-m", "pytest", "-q"])
        .args(words);
    run(&mut tests)
}

/// The interpreter of an environment with these packages, in a folder of `target`: made, or brought up to date, where it is not
/// what was asked for the last time. No package is built here.
pub(crate) fn environment(folder: &str, packages: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let environment = target_folder().join(folder);
    let interpreter = environment.join("bin/python");
    if !interpreter.is_file() {
        if !works(Command::new("python3").arg("--version")) {
            return Err("python3 is missing: install it, 3.11 or later, with venv".into());
        }
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment))?;
    }
    let stamp = environment.join("packages");
    let asked = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|have| have == asked) {
        return Ok(interpreter);
    }
    run(Command::new(&interpreter)
        .args(["-m", "pip", "install", "--quiet", "--only-binary=:all:"])
        .args(packages))?;
    fs::write(&stamp, asked)?;
    Ok(interpreter)
}

/// A file in the place of another, or of a link: what runs with the old one goes on with it.
fn replace(from: &Path, to: &Path) -> Outcome {
    if to.symlink_metadata().is_ok() {
        fs::remove_file(to)?;
    }
    fs::copy(from, to).map_err(|error| format!("{} cannot be copied: {error}", from.display()))?;
    Ok(())
}
