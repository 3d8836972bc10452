//! Ways in which clients bring their values: the library, the command `submit`, and Python.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use madrigal_program::{Array, Shape, Type};
use madrigal_service_client::{ServiceClient, ServiceConfig, Value};
use tokio::runtime::Builder;

/// What Python does: it submits the numbers of a file, and says how many were accepted.
const PYTHON: &str = "
import sys
import numpy as np
import madrigal as mg
ages = np.loadtxt(sys.argv[2], dtype=np.uint32, ndmin=1)
with mg.service(sys.argv[1], timeout=60) as servers:
    made = servers.submit_many('ages', {'age': ages}, at_once=int(sys.argv[4]), client=sys.argv[3], progress=False)
assert not made.failures, made.failures
print(made.accepted)
";

/// A way to bring values.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Library,
    /// The program `madrigal`.
    Command(PathBuf),
    /// A Python that has the package.
    Python(PathBuf),
}

impl Way {
    /// The library, and what `MADRIGAL_SUBMIT` and `MADRIGAL_PYTHON` name: a program `madrigal`, and a Python that has the package.
    pub(crate) fn all() -> Vec<Self> {
        let named = |name: &str| std::env::var_os(name).map(|path: OsString| PathBuf::from(path));
        let command = named("MADRIGAL_SUBMIT").map(Self::Command);
        let python = named("MADRIGAL_PYTHON").map(Self::Python);
        [Some(Self::Library), command, python]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Submits each age as a client of its own, at most `at_once` side by side, after a pause for each. Gives how many were accepted; fails if that is not all.
    pub(crate) fn bring(
        &self,
        config: &ServiceConfig,
        file: &Path,
        ages: &[u32],
        (at_once, pause): (usize, Duration),
    ) -> u64 {
        match self {
            Self::Library => library(config, ages, (at_once, pause)),
            // Processes come and go, each with as many as are under way at once.
            Self::Command(_) | Self::Python(_) => {
                let chunks = ages.chunks(at_once).enumerate();
                let each = chunks.map(|(at, chunk)| {
                    std::thread::sleep(pause * chunk.len() as u32);
                    self.process(file, at, chunk)
                });
                each.sum()
            }
        }
    }

    /// Submits ages in a process; gives how many were accepted.
    fn process(&self, file: &Path, at: usize, ages: &[u32]) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("ages.csv");
        let mut text = String::new();
        ages.iter().for_each(|age| writeln!(text, "{age}").unwrap());
        std::fs::write(&table, text).unwrap();
        let mut command = match self {
            Self::Library => unreachable!("the library needs no process"),
            Self::Command(program) => {
                let mut command = Command::new(program);
                let input = format!("age={}", table.display());
                command.args(["submit", "--json", "--each", "--job", "ages"]);
                command.args(["--input", &input, "--client", &format!("command-{at}")]);
                command.args(["--at-once", &ages.len().to_string(), "--service"]);
                command.arg(file);
                command
            }
            Self::Python(python) => {
                let mut command = Command::new(python);
                command.args(["-c", PYTHON]).arg(file).arg(&table);
                command.args([&format!("python-{at}"), &ages.len().to_string()]);
                command
            }
        };
        let output = command.output().unwrap();
        let (told, errors) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "{self:?}, {}: {told}{errors}",
            output.status
        );
        let digits: String = (told.chars().skip_while(|one| !one.is_ascii_digit()))
            .take_while(char::is_ascii_digit)
            .collect();
        let accepted: u64 = digits.parse().unwrap();
        assert_eq!(accepted, ages.len() as u64, "{self:?}: {told}");
        accepted
    }
}

fn library(config: &ServiceConfig, ages: &[u32], (at_once, pause): (usize, Duration)) -> u64 {
    // The future cannot go to another thread, so its runtime is made here.
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let client = ServiceClient::connect(config.clone()).await.unwrap();
        let all = ages.iter().enumerate();
        let all = all.map(|(at, &age)| {
            std::thread::sleep(pause);
            (
                format!("member-{at}"),
                vec![("age".to_owned(), scalar(age))],
            )
        });
        let done = client.many("ages", all, at_once, |at, result, _| {
            assert!(result.is_ok(), "submission {at}: {}", result.unwrap_err());
            true
        });
        done.await.unwrap().accepted
    })
}

fn scalar(age: u32) -> Value {
    let shape = Shape::checked(&[1]).unwrap();
    let typed: Type = "u32".parse().unwrap();
    Value::from(Array::from_codes(typed, &shape, [u128::from(age)].into_iter()).unwrap())
}
