//! The wheel of the Python package: built, measured and tried as its users would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::process::{run, target_folder};
use crate::{Outcome, python, root};

/// Bytes that a wheel may have.
const MOST: u64 = 15_000_000;

/// Tells how long an import takes, in the median of five fresh interpreters, beside that of NumPy alone, and that no other package
/// came along.
const LOOK: &str = r#"
import importlib.metadata, statistics, subprocess, sys, time
def seconds(code):
    def once():
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - began
    return statistics.median(once() for _ in range(5))
empty = seconds("pass")
print(f"import madrigal, all of it: {seconds('import madrigal; madrigal.program') - empty:.3f} s; of that NumPy: {seconds('import numpy') - empty:.3f} s")
needs = [need.split(";")[0] for need in importlib.metadata.requires("madrigal")]
assert [need[:5] for need in needs] == ["numpy"], needs
"#;

/// Builds the wheel, and tries it; `words` are `--sdist` and interpreters in which the tests run too.
pub(crate) fn wheel(words: &[&str]) -> Outcome {
    let (sdist, others): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| **word == "--sdist");
    if let Some(strange) = others.iter().find(|word| word.starts_with('-')) {
        return Err(format!("there is no option {strange}; there is --sdist").into());
    }
    let maker = python::interpreter()?;
    let folder = target_folder().join("wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let maturin = |what: &[&str]| {
        run(Command::new(&maker)
            .current_dir(root())
            .env("CARGO_TARGET_DIR", target_folder())
            .args(["-m", "maturin"])
            .args(what)
            .arg("--out")
            .arg(&folder))
    };
    maturin(&["build", "--release", "--locked"])?;
    let wheel = only(&folder, "whl")?;
    let size = fs::metadata(&wheel)?.len();
    println!("xtask: {} has {size} bytes", wheel.display());
    if size > MOST {
        return Err(format!("a wheel has {MOST} bytes at most").into());
    }
    let tried = target_folder().join("wheel-try");
    let began = Instant::now();
    let fresh = environment(Path::new("python3"), &tried, &[wheel.as_os_str().as_ref()])?;
    run(Command::new(&fresh).arg(root().join("examples/bill.py")))?;
    let seconds = began.elapsed().as_secs_f64();
    println!("xtask: from the wheel to the first result in a fresh environment: {seconds:.1} s");
    run(Command::new(&fresh).args(["-c", LOOK]))?;
    let program = fresh.with_file_name("madrigal");
    run(Command::new(program)
        .args(["demo", "aes-ctr", "--file"])
        .arg(root().join("examples/data/pi.txt"))
        .arg("--out")
        .arg(tried.join("pi.enc")))?;
    for asked in others {
        let (interpreter, numpy) = asked.split_once('=').unwrap_or((asked, ""));
        let numpy = if numpy.is_empty() {
            "numpy".to_owned()
        } else {
            format!("numpy=={numpy}")
        };
        let needed = [
            wheel.as_os_str().as_ref(),
            Path::new(&numpy),
            Path::new("pytest>=8"),
            Path::new("hypothesis>=6"),
            Path::new("nbclient>=0.10"),
            Path::new("ipykernel>=6"),
        ];
        let fresh = environment(
            Path::new(interpreter),
            &target_folder().join("wheel-tests"),
            &needed,
        )?;
        let mut tests = Command::new(&fresh);
        // The package that was installed, not the one in the repository.
        tests
            .current_dir(root())
            .args(["-m", "pytest", "-q", "-o", "pythonpath=python/tests"]);
        run(tests.env("MADRIGAL", fresh.with_file_name("madrigal")))?;
    }
    if !sdist.is_empty() {
        maturin(&["sdist"])?;
        let source = only(&folder, "gz")?;
        let built = folder.join("from-source");
        run(Command::new(&maker)
            .env("CARGO_TARGET_DIR", target_folder().join("sdist"))
            .args(["-m", "pip", "wheel", "--no-deps", "--wheel-dir"])
            .args([&built, &source]))?;
        println!(
            "xtask: {} builds {}",
            source.display(),
            only(&built, "whl")?.display()
        );
    }
    Ok(())
}

/// The only file of a folder with an ending.
fn only(folder: &Path, ending: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut found = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(format!("{} has no file .{ending}, or several", folder.display()).into()),
    }
}

/// A fresh environment of an interpreter, with these packages; gives the interpreter in it.
fn environment(
    interpreter: &Path,
    folder: &Path,
    packages: &[&Path],
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    run(Command::new(interpreter).args(["-m", "venv"]).arg(folder))?;
    let fresh = folder.join("bin/python");
    run(Command::new(&fresh)
        .args(["-m", "pip", "install", "--quiet"])
        .args(packages))?;
    Ok(fresh)
}
