//! Measures the most that this machine can do: kernels, memory, loopback.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use madrigal_correlations_make::{Extension, MAX_THREADS};
use madrigal_engine::TRIPLE_MEMORY;
use madrigal_kernels::ceilings::Cores;
use madrigal_kernels::{Kernels, Level, ceilings};
use madrigal_net::transport::Profile;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::numbers::{Table, bytes, count, counted, rate, seconds, table};
use crate::threads::{AutoThreads, cores};

/// One measured limit.
#[derive(Debug, Clone, Serialize)]
pub struct Limit {
    /// Name of the kernel.
    pub name: String,
    /// The most that one thread can do in a second.
    pub rate: f64,
    /// Unit that is counted.
    pub unit: &'static str,
}

/// Limits of this machine.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Name of the processor, where the system tells it.
    pub processor: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Work of the slowest thread while all are at work, as a share of what one thread does alone, 0 to 1; the median of
    /// eleven moments.
    pub cores_free: f64,
    /// Threads that a party takes by `--threads auto`.
    pub threads: AutoThreads,
    /// Threads of each party beyond which Boolean triples come no faster through TCP to the machine itself.
    pub loopback_threads: usize,
    /// Memory that programs may take now, in bytes, where the system tells it.
    pub free_memory: Option<u64>,
    /// Instruction level that the kernels use.
    pub level: &'static str,
    /// Levels that this processor supports.
    pub levels: Vec<&'static str>,
    /// Rates of the kernels.
    pub kernels: Vec<Limit>,
    /// Round trip of a byte by TCP to the machine itself.
    pub loopback_round_trip_seconds: f64,
    /// Rate of TCP to the machine itself, in one direction.
    pub loopback_bytes_per_second: f64,
    /// Files that this process may have open, where the system tells it.
    pub open_files: Option<u64>,
    /// AES blocks per second while hashing: what setup is held against.
    #[serde(skip)]
    pub hashed_blocks: f64,
    /// AES blocks per second of one thread under one key.
    #[serde(skip)]
    pub aes_blocks: f64,
}

impl Machine {
    /// Measures for about a second.
    ///
    /// # Errors
    /// [`Failure`]: a system without a loopback interface.
    pub fn measure() -> Result<Self> {
        let cores = cores();
        let kernels = Kernels::detect();
        let ceilings = ceilings::measure(kernels);
        let limit = |one: ceilings::Ceiling| Limit {
            name: one.name.to_owned(),
            rate: one.rate,
            unit: one.unit.per_second(),
        };
        let (round_trip, bandwidth) =
            loopback().map_err(Failure::system("cannot measure the loopback interface"))?;
        let line = Profile {
            latency: Duration::from_secs_f64(round_trip / 2.0),
            bits_per_second: Some((8.0 * bandwidth) as u64),
            jitter: Duration::ZERO,
        };
        Ok(Self {
            processor: processor(),
            threads: AutoThreads::here(),
            loopback_threads: Extension::threads_that_help(&line, kernels.level(), MAX_THREADS),
            free_memory: available_memory(),
            cores,
            cores_free: cores_free(cores),
            level: kernels.level().name(),
            levels: Level::available().map(Level::name).collect(),
            kernels: ceilings.all().into_iter().map(limit).collect(),
            loopback_round_trip_seconds: round_trip,
            loopback_bytes_per_second: bandwidth,
            open_files: open_files(),
            hashed_blocks: ceilings.hash.rate,
            aes_blocks: ceilings.aes.rate,
        })
    }

    /// Makes a table for people.
    pub fn table(&self) -> Table {
        let mut table = table(&["", "this machine"]);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_owned(), value]);
        };
        row(
            "processor",
            self.processor
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        );
        row(
            "cores",
            format!(
                "{}; with all at work each does {:.0} % of what one does alone",
                self.cores,
                100.0 * self.cores_free
            ),
        );
        row("threads by --threads auto", self.threads.text());
        if let Some(free) = self.free_memory {
            // With several threads each correlation is there twice while it is made.
            let parties = free / (2 * PARTY_MEMORY);
            let room = format!(
                "room for correlations of {} parties by the usual --memory",
                count(parties)
            );
            row("memory free", format!("{}; {room}", bytes(free)));
        }
        row(
            "instructions used",
            format!("{} (of {})", self.level, self.levels.join(", ")),
        );
        for limit in &self.kernels {
            row(&limit.name, rate(limit.rate, limit.unit));
        }
        row(
            "loopback TCP, round trip",
            seconds(self.loopback_round_trip_seconds),
        );
        row(
            "loopback TCP, one way",
            format!(
                "{}; it keeps {} of each party busy",
                rate(self.loopback_bytes_per_second, "B/s"),
                counted(self.loopback_threads as u64, "thread"),
            ),
        );
        row("TLS", format!("1.3, {}", madrigal_net::tls::libraries()));
        let files = self
            .open_files
            .map_or("unknown".to_owned(), |files| files.to_string());
        row("open files allowed", files);
        table
    }
}

/// Correlations that a party keeps at most unless it is told otherwise, in bytes.
const PARTY_MEMORY: u64 = TRIPLE_MEMORY as u64;

/// The median of some moments.
fn cores_free(cores: usize) -> f64 {
    const LOOKS: usize = 11;
    let threads = Cores::new(cores);
    let mut free = [(); LOOKS].map(|()| threads.free().min(1.0));
    free.sort_by(f64::total_cmp);
    free[LOOKS / 2]
}

/// Seconds of a round trip and bytes per second of a TCP connection to ourselves.
pub fn loopback() -> io::Result<(f64, f64)> {
    const PINGS: usize = 1000;
    const BYTES: usize = 128 << 20;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let echo = thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut byte = [0];
        for _ in 0..PINGS {
            stream.read_exact(&mut byte)?;
            stream.write_all(&byte)?;
        }
        let mut buffer = vec![0; 256 << 10];
        let mut rest = BYTES;
        while rest > 0 {
            let got = stream.read(&mut buffer)?;
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            rest -= got.min(rest);
        }
        stream.write_all(&byte)
    });
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut byte = [1];
    let mut times = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let start = Instant::now();
        stream.write_all(&byte)?;
        stream.read_exact(&mut byte)?;
        times.push(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let buffer = vec![0; 256 << 10];
    for _ in 0..BYTES / buffer.len() {
        stream.write_all(&buffer)?;
    }
    stream.read_exact(&mut byte)?;
    let bandwidth = BYTES as f64 / start.elapsed().as_secs_f64();
    echo.join()
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
    times.sort_by(f64::total_cmp);
    Ok((times[PINGS / 2], bandwidth))
}

/// Name of the processor, where the system tells it.
pub(crate) fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn open_files() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Memory that this machine can give to programs now, in bytes, where the system tells it.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}
