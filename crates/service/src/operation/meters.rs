//! Meters, in the format of OpenMetrics.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::process::Process;

/// A kind of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabel {
    /// Name of the kind.
    pub kind: String,
}

/// A kind of jobs, and another server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PartyLabel {
    /// Name of the kind.
    pub kind: String,
    /// Number of the server.
    pub party: u64,
}

/// How a batch ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct EndLabel {
    /// Name of the kind.
    pub kind: String,
    /// The end.
    pub end: End,
}

/// The end of a batch or of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs, reason = "the words are those of the meters")]
pub enum End {
    Done,
    Failed,
    Broken,
}

/// How a filling ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct FillingLabel {
    /// Name of the kind.
    pub kind: String,
    /// The end.
    pub end: FillingEnd,
}

/// The end of a filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs, reason = "the words are those of the meters")]
pub enum FillingEnd {
    Done,
    GivenUp,
    Failed,
}

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RefusalLabel {
    /// The reason's short name.
    pub reason: &'static str,
}

/// Meters of a server. They tell numbers and times, and nothing of any value.
#[derive(Debug)]
pub struct Meters {
    registry: Registry,
    /// Whether a session with all servers is there.
    pub in_session: Gauge,
    /// Sessions so far.
    pub sessions: Counter,
    /// Version of the servers' notes that all speak in the last session; 0 before the first.
    pub notes_version: Gauge,
    /// Submissions that were accepted.
    pub accepted: Family<KindLabel, Counter>,
    /// Submissions that wait for a batch.
    pub waiting: Family<KindLabel, Gauge>,
    /// Submissions that a server lacked when it was asked last, at the leader.
    pub lacked: Family<PartyLabel, Gauge>,
    /// Batches that may begin by the server's policy, until time goes on.
    pub batches_left: Family<KindLabel, Gauge>,
    /// Epsilon that may yet be spent by the server's policy.
    pub epsilon_left: Family<KindLabel, Gauge<f64, AtomicU64>>,
    /// Batches that have ended.
    pub batches: Family<EndLabel, Counter>,
    /// Submissions of batches that have ended.
    pub counted: Family<EndLabel, Counter>,
    /// Runs that came to nothing.
    pub broken_runs: Family<KindLabel, Counter>,
    /// Seconds from a run's start to its end.
    pub run_seconds: Family<KindLabel, Histogram>,
    /// Bytes that runs have sent.
    pub sent: Family<KindLabel, Counter>,
    /// Jobs of the stated size for which correlations are ready.
    pub ahead: Family<KindLabel, Gauge<f64, AtomicU64>>,
    /// Jobs for which correlations are to be ready, by this server's file.
    pub ahead_level: Family<KindLabel, Gauge>,
    /// Bytes of the correlations that are ready.
    pub ahead_bytes: Family<KindLabel, Gauge>,
    /// Runs that ended well and took their correlations from those that were ready.
    pub runs_ahead: Family<KindLabel, Counter>,
    /// Jobs that made correlations ahead, by how they ended.
    pub fillings: Family<FillingLabel, Counter>,
    /// Jobs at work.
    pub jobs: Gauge,
    /// Memory of jobs at work, by their plans.
    pub job_memory: Gauge,
    /// Requests that were answered.
    pub answered: Family<KindLabel, Counter>,
    /// Connections of clients.
    pub connections: Gauge,
    /// Refusals.
    pub refused: Family<RefusalLabel, Counter>,
    /// Bytes of submissions and results on the disk.
    pub stored: Gauge,
    process: Process,
}

impl Default for Meters {
    fn default() -> Self {
        Self::new()
    }
}

impl Meters {
    /// Meters that are all zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("madrigal");
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", build);
        let seconds = || Histogram::new(exponential_buckets(0.001, 2.0, 20));
        let made = Self {
            in_session: Gauge::default(),
            sessions: Counter::default(),
            notes_version: Gauge::default(),
            accepted: Family::default(),
            waiting: Family::default(),
            lacked: Family::default(),
            batches_left: Family::default(),
            epsilon_left: Family::default(),
            batches: Family::default(),
            counted: Family::default(),
            broken_runs: Family::default(),
            run_seconds: Family::new_with_constructor(seconds),
            sent: Family::default(),
            ahead: Family::default(),
            ahead_level: Family::default(),
            ahead_bytes: Family::default(),
            runs_ahead: Family::default(),
            fillings: Family::default(),
            jobs: Gauge::default(),
            job_memory: Gauge::default(),
            answered: Family::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            stored: Gauge::default(),
            process: Process::registered(&mut registry),
            registry: Registry::default(),
        };
        let r = &mut registry;
        r.register(
            "in_session",
            "Whether a session with all servers is there",
            made.in_session.clone(),
        );
        r.register(
            "sessions",
            "Sessions with all servers so far",
            made.sessions.clone(),
        );
        r.register(
            "notes_version",
            "Version of the servers' notes that all servers of the last session speak",
            made.notes_version.clone(),
        );
        r.register(
            "submissions_accepted",
            "Submissions accepted",
            made.accepted.clone(),
        );
        r.register(
            "submissions_waiting",
            "Submissions that wait for a batch",
            made.waiting.clone(),
        );
        r.register(
            "submissions_lacked",
            "Submissions that a server lacked when it was asked last",
            made.lacked.clone(),
        );
        r.register(
            "batches_left",
            "Batches that may begin now by the server's policy",
            made.batches_left.clone(),
        );
        r.register(
            "epsilon_left",
            "Epsilon that may yet be spent by the server's policy",
            made.epsilon_left.clone(),
        );
        r.register("batches", "Batches that have ended", made.batches.clone());
        r.register(
            "submissions_ended",
            "Submissions of batches that have ended",
            made.counted.clone(),
        );
        r.register(
            "runs_broken",
            "Runs that came to nothing",
            made.broken_runs.clone(),
        );
        r.register_with_unit(
            "run",
            "Time of runs",
            Unit::Seconds,
            made.run_seconds.clone(),
        );
        r.register_with_unit(
            "run_sent",
            "Bytes that runs have sent",
            Unit::Bytes,
            made.sent.clone(),
        );
        r.register(
            "ahead_jobs",
            "Jobs for which correlations are ready",
            made.ahead.clone(),
        );
        r.register(
            "ahead_level_jobs",
            "Jobs for which correlations are to be ready",
            made.ahead_level.clone(),
        );
        r.register_with_unit(
            "ahead",
            "Correlations that are ready, on the disk",
            Unit::Bytes,
            made.ahead_bytes.clone(),
        );
        r.register(
            "ahead_runs",
            "Runs that took correlations that were ready",
            made.runs_ahead.clone(),
        );
        r.register(
            "ahead_fillings",
            "Jobs that made correlations ahead",
            made.fillings.clone(),
        );
        r.register("jobs", "Jobs at work", made.jobs.clone());
        r.register_with_unit(
            "job_memory",
            "Memory of jobs at work, by their plans",
            Unit::Bytes,
            made.job_memory.clone(),
        );
        r.register(
            "requests_answered",
            "Requests answered",
            made.answered.clone(),
        );
        r.register(
            "connections",
            "Connections of clients",
            made.connections.clone(),
        );
        r.register("refused", "Refusals", made.refused.clone());
        r.register_with_unit(
            "stored",
            "Submissions and results on the disk",
            Unit::Bytes,
            made.stored.clone(),
        );
        Self { registry, ..made }
    }

    /// All meters, as OpenMetrics has them.
    ///
    /// # Errors
    /// [`std::fmt::Error`] of the formatter.
    pub fn in_words(&self) -> Result<String, std::fmt::Error> {
        self.process.look();
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Notes how many submissions of a kind a server lacks.
    pub fn lacks(&self, kind: &str, party: usize, lacks: usize) {
        let label = PartyLabel {
            kind: kind.to_owned(),
            party: party as u64,
        };
        self.lacked.get_or_create(&label).set(lacks as i64);
    }

    /// Counts a refusal.
    pub fn refuse(&self, reason: &'static str) {
        self.refused.get_or_create(&RefusalLabel { reason }).inc();
    }
}

/// The label of a kind.
impl From<&str> for KindLabel {
    fn from(kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
        }
    }
}
