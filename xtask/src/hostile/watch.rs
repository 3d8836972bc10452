//! A command under limits, and what became of it.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a command may take.
pub(crate) struct Limits {
    /// In bytes; memory that it asks for beyond is refused, which ends it.
    pub(crate) address_space: u64,
    pub(crate) patience: Duration,
}

/// What became of a command.
pub(crate) struct Ended {
    /// None if a signal ended it.
    pub(crate) status: Option<i32>,
    /// Whether it had to be ended.
    late: bool,
    /// Most memory that it had, in bytes, and most address space, as far as was seen.
    pub(crate) memory: u64,
    pub(crate) address_space: u64,
    pub(crate) time: Duration,
    /// Standard error.
    pub(crate) told: String,
    /// Whether anything that it wrote commands a terminal.
    raw: bool,
}

impl Ended {
    /// What must not be.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self.status {
            _ if self.late => Some("hang"),
            None => Some("abort"),
            Some(101) => Some("panic"),
            Some(1) => Some("internal"),
            _ if self.told.contains("panicked at") => Some("panic"),
            // A process of a local run that died is told of by the one that started it.
            _ if self.told.contains("memory allocation of") => Some("abort"),
            _ if self.raw => Some("raw text"),
            _ => None,
        }
    }
}

/// Runs the program to its end, or ends it.
pub(crate) fn watch(
    program: &Path,
    words: &[String],
    folder: &Path,
    limits: &Limits,
) -> std::io::Result<Ended> {
    // Only a shell can limit a process without code that is unsafe here; it becomes the program.
    let limit = limits.address_space >> 10;
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {limit} && exec \"$@\""), "sh"])
        .arg(program)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let start = Instant::now();
    let out = child
        .stdout
        .take()
        .map(|out| thread::spawn(move || all_of(out)));
    let err = child
        .stderr
        .take()
        .map(|err| thread::spawn(move || all_of(err)));
    let (mut memory, mut address_space, mut late) = (0, 0, false);
    let status = loop {
        let seen = peaks(&child);
        memory = memory.max(seen.0);
        address_space = address_space.max(seen.1);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limits.patience && !late {
            late = true;
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(if late { 20 } else { 1 }));
    };
    let text = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok());
        bytes.unwrap_or_default()
    };
    let (out, err) = (text(out), text(err));
    let raw = |text: &[u8]| {
        let text = std::str::from_utf8(text);
        !text.is_ok_and(|text| text.chars().all(|c| c == '\n' || c == '\t' || is_plain(c)))
    };
    Ok(Ended {
        status: status.code(),
        late,
        memory,
        address_space,
        time: start.elapsed(),
        raw: raw(&out) || raw(&err),
        told: String::from_utf8_lossy(&err).into_owned(),
    })
}

/// What is told apart from the program's own rule, and is less strict.
fn is_plain(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn all_of(mut from: impl Read) -> Vec<u8> {
    /// What is kept; the rest is read, so that nobody waits.
    const KEPT: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let _ = from.by_ref().take(KEPT).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    bytes
}

/// The most memory and address space that a process has had, in bytes; Linux tells.
fn peaks(child: &Child) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        kib.unwrap_or(0) * 1024
    };
    (of("VmHWM:"), of("VmPeak:"))
}
