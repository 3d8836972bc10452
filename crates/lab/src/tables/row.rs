//! A line of `madrigal-lab tables`.

use serde::Serialize;

use crate::args::{BenchTables, TransportArg};
use crate::measured::{self, Watch};
use crate::numbers::{bytes, seconds};
use crate::scaling::line::Line;
use crate::scaling::processes::Once;
use crate::scaling::workloads::Workload;
use crate::spread::Spread;

/// Figures of the runs of a name.
#[derive(Debug, Serialize)]
pub(super) struct TableRow {
    name: &'static str,
    transport: TransportArg,
    parties: usize,
    /// Threads of each party.
    threads: usize,
    /// Rows of the table; of each of the two that are joined.
    rows: u64,
    /// Seconds from the opening of the job to its finish at all parties: the median.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    setup_seconds: f64,
    online_seconds: f64,
    /// Payload bytes that all parties send, in setup and online.
    bytes: u64,
    /// Rounds of the party that has most.
    rounds: u64,
    /// Peak memory of the largest process in bytes: of a party, over memory of all of them; `null` where the system does not tell.
    peak_memory: Option<u64>,
    /// Bytes of a party's shares of the table.
    share: u64,
    /// Peak memory as a multiple of that.
    of_share: Option<f64>,
    /// AES blocks that a core makes in a second.
    aes_blocks_per_second: f64,
    /// Bytes per second that loopback carries raw over as many connections; `null` over memory.
    loopback_bytes_per_second: Option<f64>,
    /// Part of this that the run carried, 0 to 1.
    of_loopback: Option<f64>,
    /// Cores that were free while the row was measured.
    cores_free: f64,
    repeats: usize,
}

impl TableRow {
    pub(super) fn new(
        workload: &Workload,
        args: &BenchTables,
        runs: &[Once],
        watch: &Watch,
        line: &Line,
    ) -> Self {
        let slowest = |pick: fn(&crate::scaling::messages::Figures) -> f64| {
            let of = |once: &Once| once.parties.iter().map(pick).fold(0.0, f64::max);
            Spread::of(runs.iter().map(of).collect())
        };
        let time = slowest(|party| party.seconds);
        let first = || runs.first().into_iter().flat_map(|once| &once.parties);
        let bytes = first().map(|party| party.bytes_sent).sum::<u64>();
        let connections = runs.iter().map(|once| once.connections).max().unwrap_or(0);
        let loopback = line.of(connections);
        let peaks = runs.iter().flat_map(|once| &once.processes);
        let peak_memory = peaks.map(|used| used.peak_rss_bytes).max().flatten();
        let share = runs.first().map_or(0, |once| once.ops);
        Self {
            name: workload.name,
            transport: args.transport,
            parties: workload.parties,
            threads: args.threads,
            rows: args.rows,
            seconds: time.median,
            minimum_seconds: time.min,
            maximum_seconds: time.max,
            setup_seconds: slowest(|party| party.setup_seconds).median,
            online_seconds: slowest(|party| party.online_seconds).median,
            bytes,
            rounds: first().map(|party| party.rounds).max().unwrap_or(0),
            peak_memory,
            share,
            of_share: peak_memory.map(|peak| peak as f64 / share as f64),
            aes_blocks_per_second: watch.aes(),
            loopback_bytes_per_second: loopback,
            of_loopback: loopback.map(|rate| bytes as f64 / time.median / rate),
            cores_free: watch.least(),
            repeats: runs.len(),
        }
    }
}

impl measured::Row for TableRow {
    const HEADER: &'static [&'static str] = &[
        "name",
        "time",
        "least",
        "most",
        "setup",
        "sent by all",
        "rounds",
        "peak memory",
        "of its share",
        "of loopback",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.to_owned(),
            seconds(self.seconds),
            seconds(self.minimum_seconds),
            seconds(self.maximum_seconds),
            seconds(self.setup_seconds),
            bytes(self.bytes),
            self.rounds.to_string(),
            self.peak_memory.map(bytes).unwrap_or_default(),
            self.of_share
                .map(|times| format!("{times:.1}"))
                .unwrap_or_default(),
            self.of_loopback
                .map(|part| format!("{:.1} %", 100.0 * part))
                .unwrap_or_default(),
        ]
    }
}
