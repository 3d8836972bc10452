//! The lines of `madrigal-lab scaling`.

use serde::Serialize;

use super::line::Line;
use super::messages::Used;
use super::processes::Once;
use super::workloads::Workload;
use crate::args::TransportArg;
use crate::measured;
use crate::numbers::{bytes, rate, seconds};
use crate::spread::Spread;

/// One line of JSON, one row of the table. Seconds are medians of the runs.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ScalingRow {
    pub name: &'static str,
    pub transport: TransportArg,
    pub parties: usize,
    /// Threads of each party.
    pub threads: usize,
    /// Seconds of the slowest party, from the opening of the job to its finish at all parties.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    setup_seconds: f64,
    online_seconds: f64,
    /// Operations of a run, and the things that they are.
    ops: u64,
    unit: &'static str,
    per_second: f64,
    /// Seconds with one thread, as a multiple of these; `null` where one thread was not measured, as the next one.
    pub speed_up: Option<f64>,
    /// The busiest thread's seconds with one thread, as a multiple of these.
    pub work_speed_up: Option<f64>,
    /// Seconds of the slowest of as many copies of the work as a party has threads, each with one thread, all at the same time;
    /// `null` without `--ceiling`, and where the copies did not fit into memory, as the next two.
    copies_seconds: Option<f64>,
    /// Speed-up of these copies over one after the other: that of work whose threads share nothing but the machine.
    ceiling: Option<f64>,
    /// Part of the ceiling that the speed-up is; about 1 at most.
    of_ceiling: Option<f64>,
    /// Processor seconds of all threads of all parties; `null` where the system does not tell, as the next two.
    processor_seconds: Option<f64>,
    /// Processor seconds of the thread that had most of all, where threads that take turns count as one; `null` also over
    /// memory.
    busiest_thread_seconds: Option<f64>,
    /// Memory of the process that took most: a party, or over memory all of them.
    pub peak_rss_bytes: Option<u64>,
    /// Bytes that all parties send.
    bytes_sent: u64,
    /// Rounds of the party that has most.
    rounds: u64,
    /// AES blocks of all parties.
    aes_blocks: u64,
    /// Blocks that a core makes in a second.
    pub aes_blocks_per_second: f64,
    /// TCP connections between all parties.
    connections: usize,
    /// Bytes that loopback carries over one connection, and over that many, in a second; `null` over memory.
    one_connection_bytes_per_second: Option<f64>,
    loopback_bytes_per_second: Option<f64>,
    /// Part of this that the run carried, 0 to 1.
    of_loopback: Option<f64>,
    cores: usize,
    /// Cores that all parties' threads would have to themselves.
    cores_wanted: usize,
    /// Whether the machine has fewer: wall time then tells little of scaling.
    is_crowded: bool,
    cores_free: f64,
    repeats: usize,
}

/// Measurements beside the runs.
pub(super) struct Beside<'a> {
    pub cores: usize,
    pub cores_free: f64,
    /// AES blocks that a core makes in a second.
    pub aes: f64,
    pub line: &'a Line,
}

/// Seconds of a run with one thread, and of its busiest thread.
pub(super) type Base = (f64, Option<f64>);

impl ScalingRow {
    pub(super) fn new(
        workload: &Workload,
        transport: TransportArg,
        threads: usize,
        runs: &[Once],
        beside: &Beside<'_>,
    ) -> Self {
        let spread = |pick: &dyn Fn(&Once) -> f64| Spread::of(runs.iter().map(pick).collect());
        let slowest = |pick: fn(&super::messages::Figures) -> f64| {
            spread(&move |once| once.parties.iter().map(pick).fold(0.0, f64::max))
        };
        let time = slowest(|party| party.seconds);
        let processes = |pick: &dyn Fn(&[Used]) -> Option<f64>| {
            let all: Option<Vec<f64>> = runs.iter().map(|once| pick(&once.processes)).collect();
            all.map(|all| Spread::of(all).median)
        };
        let copies: Option<Vec<f64>> = runs.iter().map(|once| once.copies_seconds).collect();
        // Costs are declared and counted alike in all runs.
        let first = || runs.first().into_iter().flat_map(|once| &once.parties);
        let bytes_sent = first().map(|party| party.bytes_sent).sum::<u64>();
        let connections = runs.iter().map(|once| once.connections).max().unwrap_or(0);
        let loopback = beside.line.of(connections);
        let ops = runs.first().map_or(0, |once| once.ops);
        let cores_wanted = threads * workload.parties;
        let peaks = runs.iter().flat_map(|once| &once.processes);
        Self {
            name: workload.name,
            transport,
            parties: workload.parties,
            threads,
            seconds: time.median,
            minimum_seconds: time.min,
            maximum_seconds: time.max,
            setup_seconds: slowest(|party| party.setup_seconds).median,
            online_seconds: slowest(|party| party.online_seconds).median,
            ops,
            unit: workload.unit,
            per_second: ops as f64 / time.median,
            speed_up: None,
            work_speed_up: None,
            copies_seconds: copies.map(|copies| Spread::of(copies).median),
            ceiling: None,
            of_ceiling: None,
            processor_seconds: processes(&|all| {
                all.iter().map(|used| used.processor_seconds).sum()
            }),
            busiest_thread_seconds: processes(&|all| {
                let busiest = all.iter().map(|used| used.busiest_thread_seconds);
                let busiest: Option<Vec<f64>> = busiest.collect();
                busiest.map(|all| all.into_iter().fold(0.0, f64::max))
            }),
            peak_rss_bytes: peaks.map(|used| used.peak_rss_bytes).max().flatten(),
            bytes_sent,
            rounds: first().map(|party| party.rounds).max().unwrap_or(0),
            aes_blocks: first().map(|party| party.aes_blocks).sum(),
            aes_blocks_per_second: beside.aes,
            connections,
            one_connection_bytes_per_second: (connections > 0).then(|| beside.line.of(1)).flatten(),
            loopback_bytes_per_second: loopback,
            of_loopback: loopback.map(|rate| bytes_sent as f64 / time.median / rate),
            cores: beside.cores,
            cores_wanted,
            is_crowded: cores_wanted > beside.cores,
            cores_free: beside.cores_free,
            repeats: runs.len(),
        }
    }

    pub(super) fn base(&self) -> Base {
        (self.seconds, self.busiest_thread_seconds)
    }

    /// Compares the row with that of one thread, if it was measured.
    pub(super) fn against(&mut self, one: Option<Base>) {
        let times = |one: f64, here: f64| (here > 0.0).then(|| one / here);
        self.speed_up = one.and_then(|(one, _)| times(one, self.seconds));
        let busiest = one
            .and_then(|(_, one)| one)
            .zip(self.busiest_thread_seconds);
        self.work_speed_up = busiest.and_then(|(one, here)| times(one, here));
        let copies = one.zip(self.copies_seconds);
        self.ceiling =
            copies.and_then(|((one, _), copies)| times(self.threads as f64 * one, copies));
        let both = self.speed_up.zip(self.ceiling);
        self.of_ceiling = both.map(|(speed_up, ceiling)| speed_up / ceiling);
    }
}

impl measured::Row for ScalingRow {
    const HEADER: &'static [&'static str] = &[
        "name",
        "threads",
        "cores",
        "time",
        "least",
        "most",
        "rate",
        "speed-up",
        "of ceiling",
        "all threads",
        "busiest",
        "speed-up of that",
        "peak memory",
        "sent",
        "of loopback",
    ];

    fn cells(&self) -> Vec<String> {
        let times = |times: Option<f64>| times.map(|times| format!("{times:.2}"));
        let cores = match self.is_crowded {
            true => format!("{} of {}", self.cores, self.cores_wanted),
            false => self.cores_wanted.to_string(),
        };
        let share = self.of_loopback.map(|share| {
            let connections = self.connections;
            format!("{:.1} % of {connections}", 100.0 * share)
        });
        let ceiling = self.of_ceiling.zip(self.ceiling);
        let ceiling =
            ceiling.map(|(part, ceiling)| format!("{:.0} % of {ceiling:.2}", 100.0 * part));
        vec![
            self.name.to_owned(),
            self.threads.to_string(),
            cores,
            seconds(self.seconds),
            seconds(self.minimum_seconds),
            seconds(self.maximum_seconds),
            rate(self.per_second, &format!(" {}/s", self.unit)),
            times(self.speed_up).unwrap_or_default(),
            ceiling.unwrap_or_default(),
            self.processor_seconds.map(seconds).unwrap_or_default(),
            self.busiest_thread_seconds.map(seconds).unwrap_or_default(),
            times(self.work_speed_up).unwrap_or_default(),
            self.peak_rss_bytes.map(bytes).unwrap_or_default(),
            bytes(self.bytes_sent),
            share.unwrap_or_default(),
        ]
    }
}
