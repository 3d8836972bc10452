//! `madrigal-lab lines`: jobs over lines with latency.
//!
//! Each row is a job over a line: all parties are processes on this machine, over TCP, their links
//! shaped as the line is. It is run without the line first, which says what computing alone takes. What it
//! may take over the line follows from that, from the line, and from the row's rule; what the model
//! expects of it stands beside.

mod measure;
mod rows;

use serde::Serialize;

use self::measure::{Measured, Measurement};
use self::rows::{Row, Rule};
use crate::args::BenchLines;
use crate::exit::{Failure, Result};
use crate::measured::{self, Rows, is_wanted, select};
use crate::numbers::{bytes, seconds};
use crate::progress::Steps;

/// Share by which an estimate may be off.
const OFF: f64 = 0.25;
/// Memory that a job of a million lanes may take, if its plan does not say more.
const MEMORY: u64 = 300 << 20;

pub fn run(args: &BenchLines) -> Result<()> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => {
            let mut seed = [0; 4];
            getrandom::fill(&mut seed).map_err(Failure::bug)?;
            u64::from(u32::from_le_bytes(seed))
        }
    };
    let leaves_out = |name: &str| !args.except.is_empty() && is_wanted(&args.except, name);
    let wanted = |name: &str| is_wanted(&args.only, name) && !leaves_out(name);
    let wanted = select(rows::all(args, seed)?, wanted, |row| &row.name)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = Rows::new(args.json);
    for row in &wanted {
        steps.name(&row.name);
        steps.advance();
        let measured = Measurement::new(row, args.repeat)?.run(cores)?;
        rows.add(&LineRow::new(row, &measured, seed, cores))?;
    }
    steps.clear();
    rows.print(|rows| {
        format!(
            "All parties on {cores} cores, median of {} runs; lines by chance from seed {seed}.\n\n{rows}\n",
            args.repeat
        )
    })
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
struct LineRow {
    name: String,
    /// The line, as `--network` has it.
    network: String,
    parties: usize,
    /// Part of the job that the seconds are of: `setup`, `online` or `total`.
    phase: &'static str,
    /// Over the line, at the slowest party.
    seconds: f64,
    /// Seconds of the same job without the line.
    alone_seconds: f64,
    /// Seconds that the line takes if nothing is computed.
    line_seconds: f64,
    /// Seconds that the job may take.
    limit_seconds: f64,
    /// How much of that it takes.
    of_limit: f64,
    within_limit: bool,
    /// Seconds by the model of time.
    expected_seconds: f64,
    /// Against what was measured.
    expected_ratio: f64,
    /// Within a quarter.
    as_expected: bool,
    bytes_sent: u64,
    rounds: u64,
    peak_rss_bytes: Option<u64>,
    /// Memory of a party by the plan; `null` for stores.
    expected_memory_bytes: Option<u64>,
    /// Whether a job of a million lanes stays below 300 MiB or what its plan says.
    within_memory: Option<bool>,
    /// Seed that the lines by chance are drawn from.
    seed: u64,
    cores: usize,
}

impl LineRow {
    fn new(row: &Row, measured: &Measured, seed: u64, cores: usize) -> Self {
        let changes = matches!(
            row.rule,
            Rule::Falling | Rule::Lengthening | Rule::Disordered
        );
        let expected_ratio = measured.expected / measured.measured.max(f64::MIN_POSITIVE);
        let planned = measured.expected_memory.unwrap_or(0);
        let within = |peak| peak <= planned.max(MEMORY);
        Self {
            name: row.name.clone(),
            network: measured.network.clone(),
            parties: row.parties(),
            phase: match row.rule {
                Rule::Online => "online",
                Rule::Whole => "total",
                Rule::Setup | Rule::Falling | Rule::Lengthening | Rule::Disordered => "setup",
            },
            seconds: measured.measured,
            alone_seconds: measured.alone,
            line_seconds: measured.line,
            limit_seconds: measured.limit,
            of_limit: measured.measured / measured.limit,
            within_limit: measured.measured <= measured.limit,
            expected_seconds: measured.expected,
            expected_ratio,
            // Nobody expects a line to change.
            as_expected: changes || (1.0 - OFF..=1.0 + OFF).contains(&expected_ratio),
            bytes_sent: measured.bytes_sent,
            rounds: measured.rounds,
            peak_rss_bytes: measured.peak_rss_bytes,
            expected_memory_bytes: measured.expected_memory,
            within_memory: match row.rule {
                Rule::Whole => measured.peak_rss_bytes.map(within),
                _ => None,
            },
            seed,
            cores,
        }
    }
}

impl measured::Row for LineRow {
    const HEADER: &'static [&'static str] = &[
        "name",
        "line",
        "phase",
        "without line",
        "line alone",
        "measured",
        "limit",
        "of limit",
        "expected",
        "of measured",
        "peak memory",
        "planned",
    ];

    fn cells(&self) -> Vec<String> {
        let mark = |good: bool| if good { "" } else { " !" };
        vec![
            self.name.clone(),
            self.network.clone(),
            self.phase.to_owned(),
            seconds(self.alone_seconds),
            seconds(self.line_seconds),
            seconds(self.seconds),
            seconds(self.limit_seconds),
            format!("{:.2}{}", self.of_limit, mark(self.within_limit)),
            seconds(self.expected_seconds),
            format!("{:.2}{}", self.expected_ratio, mark(self.as_expected)),
            self.peak_rss_bytes.map(bytes).unwrap_or_default(),
            self.expected_memory_bytes.map(bytes).unwrap_or_default(),
        ]
    }
}
