//! The command `serve`: a server until it is told to stop.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use madrigal_app::failure::{Failure, Fault, Result, Status};
use madrigal_app::figures::{print, print_json};
use madrigal_app::stop;
use madrigal_core::Digest256;
use sd_notify::NotifyState;
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

use crate::args::{HealthArg, Serve};
use crate::config::{self, AheadConfig, ConfigError};
use crate::kind::{Kind, KindInput};
use crate::local::{self, Shown};
use crate::operation::{AskError, Question, ask, start_log};
use crate::policy::{Verdict, in_words};
use crate::server::{Checked, LEAVE, ServeError, Server};
use crate::unit::AheadUnit;

/// Threads of the runtime that clients' connections are served by.
const THREADS: usize = 2;

impl Fault for ServeError {
    fn status(&self) -> Status {
        match self {
            Self::Config(ConfigError::Read { .. })
            | Self::Identity(_)
            | Self::Keep(_)
            | Self::Failed(_) => Status::File,
            Self::Config(_)
            | Self::Kinds(_)
            | Self::Welcome(_)
            | Self::Requests { .. }
            | Self::Refused(_)
            | Self::Usage(_) => Status::Usage,
            Self::Tls(_) => Status::File,
            Self::System { .. } => Status::Network,
        }
    }
}

/// Does what the flags say.
///
/// # Errors
/// [`Failure`]: files that cannot be used, a port that is taken.
pub fn run(args: &Serve) -> Result<()> {
    if let Some(servers) = args.local {
        let demo = || args.demo.map(Shown::Demo);
        let shown = args.program.clone().map(Shown::Program).or_else(demo);
        let shown = shown.ok_or_else(|| Failure::bug("a local service without a program"))?;
        return local::run(usize::from(servers), &shown, args.directory.as_deref());
    }
    stop::leave_signals_to_the_command();
    let file = args.config.as_deref();
    let file = file.ok_or_else(|| Failure::bug("a service without a file"))?;
    if let Some(asked) = args.health {
        return health(file, asked, args.json);
    }
    if args.json && !args.check {
        return Err(ServeError::Usage("--json goes with --check or --health").into());
    }
    let checked = Checked::load(file)?;
    if args.check {
        let (jobs, requests) = checked.verdicts();
        let kinds = checked.kinds.iter().zip(&jobs);
        let kinds: Vec<KindReport> = kinds.map(KindReport::from).collect();
        match args.json {
            true => print_json(&kinds)?,
            false => print(told(&checked, &kinds, &requests).as_bytes())?,
        }
        // Those that are refused are told once more, each with a rule that would allow it.
        return Ok(checked.allowed()?);
    }
    checked.allowed()?;
    let log = start_log(&checked.config.log);
    log.map_err(|problem| ConfigError::Field {
        file: file.to_owned(),
        field: "log.level".to_owned(),
        problem,
    })
    .map_err(ServeError::from)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(Failure::system("cannot start the runtime"))?;
    runtime.block_on(stay(checked, file))
}

/// Reason why a health check fails.
#[derive(Debug, thiserror::Error)]
enum Unwell {
    #[error("the server is not ready; the reasons are above")]
    NotReady,
    #[error(transparent)]
    Unasked(#[from] AskError),
}

impl Fault for Unwell {
    fn status(&self) -> Status {
        // Health checks of containers know 0 and 1.
        Status::Internal
    }
}

/// An answer about a server's health, for scripts.
#[derive(Debug, Serialize)]
struct HealthReport {
    /// Whether it is as was asked.
    healthy: bool,
    /// Reasons why not.
    reasons: Vec<String>,
}

/// Asks the server of a file for its health, and prints what it says.
fn health(file: &Path, asked: HealthArg, json: bool) -> Result<()> {
    let address = config::operation(file).map_err(ServeError::from)?;
    let question = match asked {
        HealthArg::Alive => Question::Alive,
        HealthArg::Ready => Question::Ready,
    };
    let answer = ask(&address, question);
    if json {
        print_json(&match &answer {
            Ok(answer) => HealthReport {
                healthy: answer.yes,
                reasons: match answer.yes {
                    true => Vec::new(),
                    false => answer.lines.clone(),
                },
            },
            Err(error) => HealthReport {
                healthy: false,
                reasons: vec![error.to_string()],
            },
        })?;
    }
    let answer = answer.map_err(Unwell::from)?;
    if !json {
        let lines: String = answer
            .lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        print(lines.as_bytes())?;
    }
    match answer.yes {
        true => Ok(()),
        false => Err(Unwell::NotReady.into()),
    }
}

/// Serves until a signal says that it is enough.
async fn stay(checked: Checked, file: &Path) -> Result<()> {
    let system = || Failure::system("cannot hear signals");
    let mut terminate = signal(SignalKind::terminate()).map_err(system())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system())?;
    let mut hangup = signal(SignalKind::hangup()).map_err(system())?;
    let server = Server::start(checked).await?;
    // Whoever has not started us does not hear it.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    loop {
        tokio::select! {
            error = server.failed() => return Err(error.into()),
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => tokio::select! {
                read = server.reload(file) => told_again(read),
                // Reading takes as long as planning the programs does.
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
            },
        }
    }
    info!("taking leave");
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    server.leave(LEAVE).await;
    Ok(())
}

/// Says in the log what came of reading the service's file again.
fn told_again(read: std::result::Result<Vec<String>, ServeError>) {
    match read {
        Err(error) => error!(%error, "the service's file was not taken; all stays as it was"),
        Ok(changed) if changed.is_empty() => {
            info!("the service's file was read again, and holds from now on");
        }
        Ok(changed) => warn!(
            fields = changed.join(", "),
            "the service's file was read again: these fields hold after a restart, all else from now on"
        ),
    }
}

/// A kind, for scripts.
#[derive(Debug, Serialize)]
struct KindReport {
    /// Name of the kind.
    kind: String,
    /// Digest of all that the servers must have in common.
    digest: String,
    /// Inputs of a submission, in words.
    inputs: Vec<String>,
    /// Outputs of a batch and who receives them, in words.
    outputs: Vec<String>,
    /// The program's client whose inputs this kind holds for others; of holding kinds alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<String>,
    /// Inputs that other kinds hold for this one, each with the kind, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held: Vec<String>,
    /// The fewest submissions of a batch.
    least: usize,
    /// The most submissions of a batch.
    most: usize,
    /// Memory of a job of the largest batch, in bytes.
    memory: u64,
    /// Correlations that are kept ready; nothing where each job makes its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<AheadReport>,
    /// Epsilon and delta that a batch spends by its noise, in words; nothing where outputs are not private.
    #[serde(skip_serializing_if = "Option::is_none")]
    privacy: Option<String>,
    /// Verdict of the server's policy, in words.
    policy: String,
}

/// Correlations that a kind keeps ready, for scripts.
#[derive(Debug, Clone, Copy, Serialize)]
struct AheadReport {
    /// Number of jobs for which there are to be some.
    jobs: usize,
    /// Submissions of such a job.
    submissions: usize,
    /// Bytes on this server's disk once all are there, about.
    bytes: u64,
    /// Time that making those of one job is expected to take, in seconds, between machines side by side.
    seconds: f64,
}

impl From<&AheadUnit> for AheadReport {
    fn from(unit: &AheadUnit) -> Self {
        let AheadConfig { jobs, submissions } = unit.config;
        Self {
            jobs,
            submissions,
            bytes: unit.bytes.saturating_mul(jobs as u64),
            seconds: unit.seconds,
        }
    }
}

impl From<(&Arc<Kind>, &Verdict)> for KindReport {
    fn from((kind, verdict): (&Arc<Kind>, &Verdict)) -> Self {
        let shape = |axes: &mut dyn Iterator<Item = Option<usize>>| {
            let axes = axes.map(|axis| axis.map_or("_".to_owned(), |axis| axis.to_string()));
            axes.collect::<Vec<_>>().join(", ")
        };
        let input_in_words = |input: &KindInput| {
            let shape = shape(&mut input.shape.iter().copied().map(Some));
            format!(
                "{}: {} [{shape}] in {}",
                input.name, input.element_type, input.form.0
            )
        };
        let inputs = kind.inputs.iter().map(input_in_words);
        let held = kind.held.iter();
        let held = held.map(|held| format!("{} by {}", input_in_words(&held.input), held.holder));
        let outputs = kind.outputs.iter().map(|output| {
            let shape = shape(&mut output.shape.iter().copied());
            format!(
                "{}: {} [{shape}] for {}",
                output.name, output.element_type, output.to
            )
        });
        Self {
            kind: kind.config.name.clone(),
            digest: Digest256(kind.digest).to_string(),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            holds: kind.config.holds.clone(),
            held: held.collect(),
            least: kind.config.least,
            most: kind.config.most,
            memory: kind.memory,
            ahead: kind.ahead.as_ref().map(AheadReport::from),
            privacy: kind.privacy.as_ref().ok().copied().map(in_words),
            policy: verdict.to_string(),
        }
    }
}

fn told(checked: &Checked, kinds: &[KindReport], requests: &[Verdict]) -> String {
    let config = &checked.config;
    let names = config.roster.parties().iter();
    let names: Vec<&str> = names.map(|entry| entry.name.as_str()).collect();
    let mut text = format!(
        "server {} of {}: {}\n",
        config.me.index(),
        names.len(),
        names.join(", ")
    );
    for kind in kinds {
        let KindReport { least, most, .. } = kind;
        let _ = match &kind.holds {
            None => writeln!(
                text,
                "kind {}, {least} to {most} submissions a batch",
                kind.kind
            ),
            Some(role) => writeln!(text, "kind {}, holds inputs of {role}", kind.kind),
        };
        kind.held
            .iter()
            .for_each(|one| _ = writeln!(text, "  held {one}"));
        kind.inputs
            .iter()
            .for_each(|one| _ = writeln!(text, "  in   {one}"));
        kind.outputs
            .iter()
            .for_each(|one| _ = writeln!(text, "  out  {one}"));
        let _ = writeln!(
            text,
            "  up to {:.1} MB of memory; digest {}",
            kind.memory as f64 / 1e6,
            kind.digest
        );
        if let Some(ahead) = &kind.ahead {
            let _ = writeln!(
                text,
                "  correlations ready for {} jobs of {} submissions: {:.1} MB on disk, about {:.3} s for each job's",
                ahead.jobs,
                ahead.submissions,
                ahead.bytes as f64 / 1e6,
                ahead.seconds,
            );
        }
        if let Some(privacy) = &kind.privacy {
            let _ = writeln!(text, "  a batch spends {privacy}");
        }
        let _ = writeln!(text, "  {}", kind.policy);
    }
    for (kind, verdict) in checked.requests.iter().zip(requests) {
        let config = &kind.config;
        let function = config.function.name();
        let _ = writeln!(text, "kind {}, requests: {function}", config.name);
        let _ = writeln!(text, "  {verdict}");
    }
    text
}
