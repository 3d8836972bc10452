//! Starts the program, with files that many tests take.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tempfile::TempDir;

pub use madrigal_testkit::command::{Ended, Running};

/// Starts `madrigal` with these arguments, in a directory.
pub fn start(directory: &Path, line: &str) -> Running {
    Running::start(env!("CARGO_BIN_EXE_madrigal"), directory, line)
}

/// Runs `madrigal` to its end.
pub fn madrigal(directory: &Path, line: &str) -> Ended {
    start(directory, line).end()
}

/// A directory with `sum.txt`, an adder of two numbers of 8 bits, and `a` and `b`, two lanes each:
/// 3 + 4 and 0xff + 2.
pub fn adder() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path();
    std::fs::copy(circuit("int_add8_size.bristol"), path.join("sum.txt")).expect("the circuit");
    write(path, "a", "3\nff\n");
    write(path, "b", "0x04\n02\n");
    directory
}

/// Line that the adder gives for `a` and `b`.
pub const SUM: &str = "07\n01\n";

/// A circuit that is in the repository.
pub fn circuit(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../circuit/tests/data")
        .join(name)
}

pub fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).expect("the file is written");
}

/// A port that is free now and that nobody gets who does not ask for it by number: below those that a
/// system hands out, and another one for each call.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 64 + NEXT.fetch_add(1, Relaxed);
        let port = 20_000 + (number % 10_000) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// `parties.toml` of parties with keys `p0`, `p1`, ... in `directory`, at free ports.
pub fn roster(directory: &Path, parties: usize) {
    let mut text = String::new();
    for party in 0..parties {
        let address = format!("127.0.0.1:{}", free_port());
        let made = madrigal(
            directory,
            &format!("keygen --out p{party} --address {address}"),
        )
        .good();
        let _ = writeln!(text, "{}", made.stdout);
    }
    write(directory, "parties.toml", &text);
}

/// One real party with what all of them share.
pub fn party(directory: &Path, party: usize, rest: &str) -> Running {
    let patience = if rest.contains("--connect-timeout") {
        ""
    } else {
        "--connect-timeout 30s"
    };
    let shared = "run --circuit sum.txt --parties parties.toml --quiet";
    start(
        directory,
        &format!("{shared} --party {party} {patience} {rest}"),
    )
}
