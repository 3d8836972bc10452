//! Receipts of others, checked without a server.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use madrigal_app::figures::{print, print_json};
use madrigal_service_client::{ServiceConfig, Verified};
use serde::Serialize;

use super::error::Unsubmitted;
use crate::exit::Result;

/// The last second that is shown as a date: the end of the year 9999.
const LAST_TIME: u64 = 253_402_300_799;

/// Report of receipts whose signatures were checked.
#[derive(Serialize)]
struct ReceiptReport {
    /// Subject of the receipts: `submission` or `job`.
    of: &'static str,
    /// Names of the servers that have signed, in their order.
    servers: Vec<String>,
    /// Name of the kind.
    kind: String,
    /// Digest of the kind: of its program, lengths, sharings and receivers.
    program: String,
    /// Name of the submission; of a submission alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    submission: Option<String>,
    /// Job; of a job alone.
    #[serde(flatten)]
    job: Option<JobFacts>,
}

/// Facts about a job that all servers have signed.
#[derive(Serialize)]
struct JobFacts {
    /// Number of the batch.
    batch: u64,
    /// Number of submissions in the batch.
    submissions: u64,
    /// Digest of the names of these submissions.
    batch_digest: String,
    /// Outputs, each with who receives it.
    recipients: Vec<String>,
    /// Epsilon of each submission in the outputs, in billionths; of jobs with noise alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon_billionths: Option<u64>,
    /// Delta that goes with it, in units of 1e-15; of jobs with noise alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta_units: Option<u64>,
    /// Submissions that servers held and that the job computed with; of jobs with held inputs alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held: Vec<HeldFacts>,
    /// Time of the job's end at the first server, in seconds since 1970.
    time: u64,
}

/// A submission that servers held.
#[derive(Serialize)]
struct HeldFacts {
    /// Name of the kind that holds it.
    kind: String,
    /// Number of that kind's batch in which it was loaded.
    batch: u64,
    /// Name of the submission.
    submission: String,
}

/// Checks a file of receipts against the list of servers, and tells what they have signed.
pub(super) fn tell(json: bool, path: &Path, config: &ServiceConfig) -> Result<()> {
    let verified = Verified::load(path, &config.servers);
    let verified = verified.map_err(Unsubmitted::from)?;
    let servers = config.servers.parties().iter();
    let servers = servers.map(|entry| entry.name.clone()).collect();
    let report = match verified {
        Verified::Submission(submission) => ReceiptReport {
            of: "submission",
            servers,
            kind: submission.kind,
            program: submission.program.to_string(),
            submission: Some(submission.id.to_string()),
            job: None,
        },
        Verified::Job(job) => ReceiptReport {
            of: "job",
            servers,
            kind: job.kind,
            program: job.program.to_string(),
            submission: None,
            job: Some(JobFacts {
                batch: job.batch,
                submissions: job.submissions,
                batch_digest: job.batch_digest.to_string(),
                recipients: job.recipients,
                epsilon_billionths: job.privacy.map(|privacy| privacy.epsilon),
                delta_units: job.privacy.map(|privacy| privacy.delta),
                held: (job.held.into_iter())
                    .map(|held| HeldFacts {
                        kind: held.kind,
                        batch: held.batch,
                        submission: held.submission.to_string(),
                    })
                    .collect(),
                time: job.time,
            }),
        },
    };
    if json {
        return print_json(&report);
    }
    let ReceiptReport {
        of, kind, program, ..
    } = &report;
    let mut text = format!("signed by {}\n", report.servers.join(", "));
    let _ = writeln!(text, "{of} of kind {kind}");
    let _ = writeln!(text, "program {program}");
    if let Some(submission) = &report.submission {
        let _ = writeln!(text, "submission {submission}, on disk at all servers");
    }
    if let Some(job) = &report.job {
        let (batch, count) = (job.batch, job.submissions);
        let _ = writeln!(
            text,
            "batch {batch}, {count} submissions, with digest {}",
            job.batch_digest
        );
        let end = UNIX_EPOCH.checked_add(Duration::from_secs(job.time));
        let end = end
            .filter(|_| job.time <= LAST_TIME)
            .map(humantime::format_rfc3339_seconds);
        if let Some(end) = end {
            let _ = writeln!(text, "ended {end}");
        }
        if let (Some(epsilon), Some(delta)) = (job.epsilon_billionths, job.delta_units) {
            let (epsilon, delta) = (epsilon as f64 / 1e9, delta as f64 / 1e15);
            let _ = writeln!(
                text,
                "epsilon {epsilon}, delta {delta:e}, by noise of the servers"
            );
        }
        for held in &job.held {
            let HeldFacts {
                kind,
                batch,
                submission,
            } = held;
            let _ = writeln!(
                text,
                "with submission {submission}, held by kind {kind} since its batch {batch}"
            );
        }
        for recipient in &job.recipients {
            let _ = writeln!(text, "output {recipient}");
        }
    }
    print(text.as_bytes())
}
