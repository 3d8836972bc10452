//! A program as a user meets it: started as a process, and stopped if it does not stop by itself.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No test's command takes nearly as long.
const LIMIT: Duration = Duration::from_secs(300);

/// A running program.
pub struct Running {
    child: Child,
    line: String,
}

/// Outcome of a program.
#[derive(Debug)]
pub struct Ended {
    /// The command.
    pub line: String,
    /// The exit status; -1 if there is none.
    pub status: i32,
    /// Text on standard output.
    pub stdout: String,
    /// Text on standard error.
    pub stderr: String,
    /// Time that the end was waited for.
    pub time: Duration,
}

impl Running {
    /// Starts a program with these arguments, in a directory.
    pub fn start(program: &str, directory: &Path, line: &str) -> Self {
        let child = Command::new(program)
            .args(line.split_whitespace())
            .current_dir(directory)
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let name = Path::new(program).file_stem().unwrap_or_default();
        Self {
            child,
            line: format!("{} {line}", name.display()),
        }
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
    }

    /// Waits for the end, and stops a program that does not come to it.
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
                panic!("`{line}` still ran after {LIMIT:?}");
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
    /// Checks that it has done what it should.
    #[track_caller]
    pub fn good(self) -> Self {
        assert_eq!(self.status, 0, "{self}");
        self
    }

    /// Checks that it has failed with this status and a message that has all these parts.
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
            "{}\nstatus {}\nstdout: {}\nstderr: {}",
            self.line, self.status, self.stdout, self.stderr
        )
    }
}
