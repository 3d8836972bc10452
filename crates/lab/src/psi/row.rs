//! A line of `madrigal-lab psi`.

use serde::Serialize;

use super::messages::{Done, Workload};
use crate::args::{BenchPsi, TransportArg};
use crate::measured::{self, Watch};
use crate::numbers::{bytes, seconds};
use crate::scaling::line::Line;
use crate::spread::Spread;

/// Figures of the runs of a name.
#[derive(Debug, Serialize)]
pub(super) struct PsiRow {
    name: &'static str,
    transport: TransportArg,
    /// Network that links are made to behave like, or `none`.
    network: String,
    /// Parties, each with a list.
    parties: usize,
    /// Keys of each list, a half of them in all.
    items: u64,
    /// Threads of each party.
    threads: usize,
    /// Seconds from when the parties have met to when all have written their files: the median.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    /// Seconds in which the slowest party read its file.
    seconds_read: f64,
    /// Seconds from when all had read their files to the end of the job: the median.
    seconds_protocol: f64,
    /// Payload bytes that all parties send.
    bytes: u64,
    /// These bytes for each key of one list.
    bytes_per_item: f64,
    /// Peak memory of the largest process in bytes; `null` where the system does not tell.
    peak_memory: Option<u64>,
    /// Bytes of digests that a party put into a file, at most.
    spilled_bytes: u64,
    /// AES blocks that a core makes in a second.
    aes_blocks_per_second: f64,
    /// Bytes per second that loopback carries raw over one connection.
    loopback_bytes_per_second: Option<f64>,
    /// Cores that were free while the row was measured.
    cores_free: f64,
    repeats: usize,
}

impl PsiRow {
    pub(super) fn new(
        workload: &Workload,
        args: &BenchPsi,
        runs: &[Vec<Done>],
        watch: &Watch,
        line: &Line,
    ) -> Self {
        let slowest = |pick: fn(&Done) -> f64| {
            let of = |once: &Vec<Done>| once.iter().map(pick).fold(0.0, f64::max);
            Spread::of(runs.iter().map(of).collect())
        };
        let time = slowest(|done| done.seconds);
        let all = || runs.iter().flatten();
        let bytes = runs
            .first()
            .into_iter()
            .flatten()
            .map(|done| done.bytes_sent)
            .sum::<u64>();
        Self {
            name: workload.name,
            transport: args.transport,
            network: args.network.clone(),
            parties: args.parties,
            items: args.items,
            threads: args.threads,
            seconds: time.median,
            minimum_seconds: time.min,
            maximum_seconds: time.max,
            seconds_read: slowest(|done| done.seconds_read).median,
            seconds_protocol: slowest(|done| done.seconds_protocol).median,
            bytes,
            bytes_per_item: bytes as f64 / args.items as f64,
            peak_memory: all().map(|done| done.peak_rss_bytes).max().flatten(),
            spilled_bytes: all().map(|done| done.spilled).max().unwrap_or(0),
            aes_blocks_per_second: watch.aes(),
            loopback_bytes_per_second: line.of(1),
            cores_free: watch.least(),
            repeats: runs.len(),
        }
    }
}

impl measured::Row for PsiRow {
    const HEADER: &'static [&'static str] = &[
        "name",
        "time",
        "least",
        "most",
        "read",
        "protocol",
        "sent by all",
        "for a key",
        "peak memory",
        "spilled",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.to_owned(),
            seconds(self.seconds),
            seconds(self.minimum_seconds),
            seconds(self.maximum_seconds),
            seconds(self.seconds_read),
            seconds(self.seconds_protocol),
            bytes(self.bytes),
            format!("{:.1} B", self.bytes_per_item),
            self.peak_memory.map(bytes).unwrap_or_default(),
            bytes(self.spilled_bytes),
        ]
    }
}
