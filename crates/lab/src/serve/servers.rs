//! Servers of a service on this machine, each in a process, and what they take of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use madrigal_service::args::Serve;
use madrigal_service::serve;

use crate::exit::{Failure, Result};

/// Servers of each service.
pub const SERVERS: usize = 3;
/// The command of a server's process.
const COMMAND: &str = "serve-party";

/// Runs a server until it is told to end.
pub fn take_part(config: PathBuf) -> Result<()> {
    serve::run(&Serve {
        config: Some(config),
        check: false,
        json: false,
        local: None,
        demo: None,
        health: None,
        program: None,
        directory: None,
    })
}

/// Processes of servers, killed when dropped: they keep nothing that anyone needs.
pub struct Servers {
    folder: PathBuf,
    processes: Vec<Child>,
}

/// Part of the machine that a server takes, or the most of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Taken {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory at its most.
    pub peak: u64,
    /// Open files and connections.
    pub descriptors: u64,
    pub threads: u64,
    /// Bytes of its folder on disk.
    pub disk: u64,
}

impl Taken {
    fn most(self, other: Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            peak: self.peak.max(other.peak),
            descriptors: self.descriptors.max(other.descriptors),
            threads: self.threads.max(other.threads),
            disk: self.disk.max(other.disk),
        }
    }
}

impl Servers {
    /// Starts the servers whose files (`server0.toml` and so on) are in a folder.
    pub fn start(folder: &Path, servers: usize) -> Result<Self> {
        let program = std::env::current_exe();
        let program = program.map_err(Failure::system("cannot find this program"))?;
        let mut all = Self {
            folder: folder.to_owned(),
            processes: Vec::new(),
        };
        for server in 0..servers {
            let file = folder.join(format!("server{server}.toml"));
            let mut command = Command::new(&program);
            command.arg(COMMAND).arg("--config").arg(file);
            let log = fs::File::create(folder.join(format!("server{server}.log")));
            let log = log.map_err(Failure::system("cannot make a server's log"))?;
            let child = command.stdin(Stdio::null()).stderr(log).spawn();
            let child = child.map_err(Failure::system("cannot start a server"))?;
            all.processes.push(child);
        }
        Ok(all)
    }

    /// Gives the most that any server takes now.
    pub fn taken(&self) -> Taken {
        let each = self.processes.iter().enumerate();
        let each = each.map(|(at, process)| taken(process.id(), &self.data(at)));
        each.fold(Taken::default(), Taken::most)
    }

    fn data(&self, server: usize) -> PathBuf {
        self.folder.join(format!("data{server}"))
    }

    /// The last lines of all logs, for an error.
    pub fn last_words(&self) -> String {
        let words = |at: usize| {
            let log = fs::read_to_string(self.folder.join(format!("server{at}.log")));
            let log = log.unwrap_or_default();
            let lines: Vec<&str> = log.lines().rev().take(3).collect();
            let lines: Vec<&str> = lines.into_iter().rev().collect();
            format!("\nserver {at}: {}", lines.join("\n  "))
        };
        (0..self.processes.len()).map(words).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Reads what a process takes. What cannot be read is 0: a process that has ended is noticed by its clients.
fn taken(process: u32, data: &Path) -> Taken {
    let of_process = PathBuf::from(format!("/proc/{process}"));
    let status = fs::read_to_string(of_process.join("status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse::<u64>().ok())
    };
    let files = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    Taken {
        memory: field("VmRSS:").unwrap_or(0) * 1024,
        peak: field("VmHWM:").unwrap_or(0) * 1024,
        descriptors: files(&of_process.join("fd")).count() as u64,
        threads: field("Threads:").unwrap_or(0),
        disk: files(data)
            .filter_map(|file| file.metadata().ok())
            .map(|file| file.len())
            .sum(),
    }
}
