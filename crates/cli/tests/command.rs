//! Starts the program, and stops it if it does not stop by itself.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// No test's command takes nearly as long.
const LIMIT: Duration = Duration::from_secs(300);

/// A running program.
pub struct Running {
    child: Child,
    line: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    pub line: String,
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub time: Duration,
}

/// Starts `madrigal` with these arguments, in a directory.
pub fn start(directory: &Path, line: &str) -> Running {
    let child = Command::new(env!("CARGO_BIN_EXE_madrigal"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    Running {
        child,
        line: line.to_owned(),
    }
}

/// The same, to its end.
pub fn madrigal(directory: &Path, line: &str) -> Ended {
    start(directory, line).end()
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
    }

    pub fn end(self) -> Ended {
        let Self { child, line } = self;
        let start = Instant::now();
        let id = child.id();
        let (done, ended) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let _ = done.send(child.wait_with_output());
        });
        let Output {
            status,
            stdout,
            stderr,
        } = match ended.recv_timeout(LIMIT) {
            Ok(output) => output.expect("its output can be read"),
            Err(_) => {
                let _ = Command::new("kill").arg(id.to_string()).status();
                panic!("`madrigal {line}` still ran after {LIMIT:?}");
            }
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended {
            line,
            status: status.code().unwrap_or(-1),
            stdout: text(stdout),
            stderr: text(stderr),
            time: start.elapsed(),
        }
    }
}

impl Ended {
    /// It has done what it should.
    #[track_caller]
    pub fn good(self) -> Self {
        assert_eq!(self.status, 0, "{self}");
        self
    }

    /// It has failed with this status and a message that has all these parts.
    #[track_caller]
    pub fn bad(self, status: i32, parts: &[&str]) -> Self {
        assert_eq!(self.status, status, "{self}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing: {self}");
        }
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "madrigal {}\nstatus {}\nstdout: {}\nstderr: {}",
            self.line, self.status, self.stdout, self.stderr
        )
    }
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

/// What the adder gives for `a` and `b`.
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
