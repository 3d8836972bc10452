//! `submit`: a client's values for the servers of a service, and its results.

mod error;
mod receipts;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use madrigal_app::figures::{print, print_json};
use madrigal_app::progress::say;
use madrigal_core::Digest256;
use madrigal_program::{Array, Shape, Type};
use madrigal_service_client::{
    ClientError, JobReceipts, Kind, Outputs, ServiceClient, ServiceConfig, State, Submission,
    Submit, Value, shape_in_words, token_digest,
};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::args::{NamedFile, Submit as Flags};
use crate::arrays::{file_of, table};
use crate::commands::share::read_array;
use crate::exit::{Failure, Result};
use crate::files::write_result;

use self::error::Unsubmitted;
pub use self::error::of_client;

/// Name of a client that gives none.
const ANONYMOUS: &str = "anonymous";

/// Outcome of many submissions, as JSON.
#[derive(Serialize)]
struct Accepted {
    /// Submissions that all servers have accepted.
    accepted: u64,
}

/// Report of a submission, or of where it stands.
#[derive(Serialize)]
struct Report {
    /// Name of the submission.
    submission: String,
    /// Name of the kind.
    kind: String,
    /// Where it stands at each server, in words; nothing where all have just accepted it.
    states: Vec<String>,
}

/// Report of a job.
#[derive(Serialize)]
struct JobReport {
    /// Name of the kind.
    kind: String,
    /// Number of the batch.
    batch: u64,
    /// Number of submissions in the batch.
    submissions: u64,
    /// Outputs that are for us, by name: a value or a list, row by row. Elements are texts.
    outputs: Map<String, Json>,
}

pub fn run(flags: Flags) -> Result<()> {
    let mut config = ServiceConfig::load(&flags.service).map_err(|source| Unsubmitted::Config {
        path: flags.service.clone(),
        source,
    })?;
    if flags.token_lines {
        return print(token_lines(&config, flags.client.as_deref())?.as_bytes());
    }
    if let Some(path) = &flags.check_receipt {
        return receipts::tell(flags.json, path, &config);
    }
    if let Some(client) = &flags.client {
        config.client = config.client.or_else(|| Some(client.clone()));
    }
    if flags.each {
        config.connections = config.connections.max(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::system("cannot start the runtime"))?;
    runtime.block_on(serve(&flags, config))
}

/// The lines by which servers know the client's token: each server has its own, and cannot pose as the client at the others.
fn token_lines(config: &ServiceConfig, client: Option<&str>) -> Result<String> {
    let secret = config.token.as_ref().ok_or(Unsubmitted::NoToken)?;
    let client = client.or(config.client.as_deref()).unwrap_or(ANONYMOUS);
    let mut text = String::new();
    for server in config.servers.parties() {
        let digest = token_digest(secret, &server.key);
        let _ = writeln!(
            text,
            "# for the file of {}\n[[clients]]\nname = \"{client}\"\ntoken-sha256 = \"{digest}\"",
            server.name
        );
    }
    Ok(text)
}

async fn serve(flags: &Flags, config: ServiceConfig) -> Result<()> {
    let name = (flags.client.clone()).or_else(|| config.client.clone());
    let service = ServiceClient::connect(config).await;
    let service = service.map_err(Unsubmitted::from)?;
    let waits = flags.wait || !flags.outputs.is_empty() || flags.job_receipt.is_some();
    if let Some(path) = &flags.from {
        let submission = Submission::load(path).map_err(Unsubmitted::from)?;
        return match waits {
            true => tell_job(flags, &service, service.wait(&submission).await),
            false => tell_states(flags, &service, &submission).await,
        };
    }
    let Some(job) = &flags.job else {
        return print(listed(service.kinds()).as_bytes());
    };
    if let Some(after) = flags.after {
        return tell_job(flags, &service, service.wait_after(job, after).await);
    }
    let known = service.kinds().iter().find(|kind| kind.name == *job);
    let inputs = match known {
        Some(kind) => read(kind, &flags.inputs, flags.each)?,
        // The library says which kinds there are.
        None => Vec::new(),
    };
    let name = name.unwrap_or_else(|| ANONYMOUS.to_owned());
    if flags.each {
        return each(flags, &service, job, &name, &inputs).await;
    }
    let pending = flags.receipt.as_deref().map(pending_of);
    let inputs: Vec<(String, Value)> = inputs
        .into_iter()
        .map(|(name, array)| (name, array.into()))
        .collect();
    let submit = Submit {
        kind: job,
        inputs: &inputs,
        client: &name,
        pending: pending.as_deref(),
        receipt: flags.receipt.as_deref(),
    };
    let submission = service.submit(&submit).await.map_err(Unsubmitted::from)?;
    if waits {
        if !flags.quiet {
            say(format_args!(
                "accepted by all servers: submission {}",
                submission.id
            ));
        }
        return tell_job(flags, &service, service.wait(&submission).await);
    }
    match (flags.json, flags.quiet) {
        (true, _) => print_json(&Report {
            submission: submission.id.to_string(),
            kind: submission.kind,
            states: Vec::new(),
        }),
        (false, true) => Ok(()),
        (false, false) => {
            let text = format!("accepted by all servers: submission {}\n", submission.id);
            print(text.as_bytes())
        }
    }
}

/// The file that lets a submission go on after a crash.
fn pending_of(receipt: &Path) -> PathBuf {
    let mut path = receipt.as_os_str().to_owned();
    path.push(".pending");
    path.into()
}

/// Reads the values of the inputs.
fn read(kind: &Kind, files: &[NamedFile], each: bool) -> Result<Vec<(String, Array)>> {
    let value = |named: &NamedFile| -> Result<(String, Array)> {
        let mut inputs = kind.inputs.iter();
        let input = inputs.find(|input| input.name == named.name);
        let there = || kind.inputs.iter().map(|input| input.name.as_str());
        let input = input.ok_or_else(|| Unsubmitted::Input {
            name: named.name.clone(),
            kind: kind.name.clone(),
            there: there().collect::<Vec<_>>().join(", "),
        })?;
        let element = typed(&kind.name, &input.element_type)?;
        let shape: Option<Vec<usize>> = input.shape.iter().copied().collect();
        let shape = shape.and_then(|shape| Shape::checked(&shape));
        // Files that --each cuts up have more rows than one submission.
        let array = match read_array(&named.file, element, shape.as_ref()) {
            Ok(array) => array,
            Err(_) if each && shape.is_some() => read_array(&named.file, element, None)?,
            Err(error) => return Err(error),
        };
        Ok((named.name.clone(), array))
    };
    files.iter().map(value).collect()
}

fn typed(kind: &str, found: &str) -> Result<Type> {
    let element = found.parse::<Type>();
    Ok(element.map_err(|_| Unsubmitted::Type {
        kind: kind.to_owned(),
        found: found.to_owned(),
    })?)
}

/// Makes a submission of each place along the first axis.
async fn each(
    flags: &Flags,
    service: &ServiceClient,
    job: &str,
    name: &str,
    inputs: &[(String, Array)],
) -> Result<()> {
    let length = |array: &Array| array.shape().axes().first().copied().unwrap_or(1);
    let lengths: Vec<usize> = inputs.iter().map(|(_, array)| length(array)).collect();
    let all = lengths.first().copied().unwrap_or(0);
    if lengths.iter().any(|&length| length != all) {
        return Err(Unsubmitted::Lengths { lengths }.into());
    }
    let kind = service.kinds().iter().find(|kind| kind.name == job);
    let shape = |name: &str| {
        let mut inputs = kind?.inputs.iter();
        let axes = &inputs.find(|input| input.name == name)?.shape;
        Shape::checked(&axes.iter().copied().collect::<Option<Vec<_>>>()?)
    };
    let shapes: Vec<_> = inputs.iter().map(|(name, _)| shape(name)).collect();
    let one = |place: usize| {
        let row = |((name, array), shape): (&(String, Array), &Option<Shape>)| {
            let row = shaped(row(array, place), shape.as_ref());
            (name.clone(), row.into())
        };
        let inputs: Vec<(String, Value)> = inputs.iter().zip(&shapes).map(row).collect();
        (format!("{name}-{place}"), inputs)
    };
    let mut first = None;
    let done = service.many(
        job,
        (0..all).map(one),
        flags.at_once as usize,
        |_, result, _| {
            if let Err(error) = result {
                first.get_or_insert(error.to_string());
            }
            true
        },
    );
    let done = done.await.map_err(Unsubmitted::from)?;
    if let Some(first) = first {
        let failed = done.failed;
        return Err(Unsubmitted::Each { failed, all, first }.into());
    }
    let accepted = done.accepted;
    match (flags.json, flags.quiet) {
        (true, _) => print_json(&Accepted { accepted }),
        (false, true) => Ok(()),
        (false, false) => {
            print(format!("{accepted} submissions accepted by all servers\n").as_bytes())
        }
    }
}

/// A place in the shape of the input, if it has as many elements: a line of a table is one value, or as many as the input has.
fn shaped(row: Array, shape: Option<&Shape>) -> Array {
    let fits = shape.filter(|shape| shape.elements() == row.shape().elements());
    let shaped = fits.and_then(|shape| Array::from_codes(row.element(), shape, row.codes()));
    shaped.unwrap_or(row)
}

/// One place along the first axis, which stays, of length 1.
fn row(array: &Array, place: usize) -> Array {
    let row = array.rows(place..place + 1);
    // A single value has no axis, and is the one place that there is.
    row.unwrap_or_else(|| array.clone())
}

async fn tell_states(
    flags: &Flags,
    service: &ServiceClient,
    submission: &Submission,
) -> Result<()> {
    let states = service
        .status(submission)
        .await
        .map_err(Unsubmitted::from)?;
    let states: Vec<String> = states.iter().map(in_words).collect();
    if flags.json {
        return print_json(&Report {
            submission: submission.id.to_string(),
            kind: submission.kind.clone(),
            states,
        });
    }
    let mut text = format!("submission {} to {}\n", submission.id, submission.kind);
    for (server, state) in service.roster().parties().iter().zip(states) {
        let _ = writeln!(text, "{}: {state}", server.name);
    }
    print(text.as_bytes())
}

fn in_words(state: &State) -> String {
    match state {
        State::Unknown => "unknown".to_owned(),
        State::Receiving { offset } => format!("{offset} bytes have come"),
        State::Accepted => "accepted, waits for a batch".to_owned(),
        State::Held { reason } => format!("accepted, waits for a batch; {reason}"),
        State::InBatch { batch } => format!("in batch {batch}, at work"),
        State::Counted { batch } => format!("done, in batch {batch}"),
        State::Failed { batch, reason } => format!("batch {batch} failed: {reason}"),
        State::Expired => "expired".to_owned(),
    }
}

/// Shows the outputs of a job, or writes them where the flags say.
fn tell_job(
    flags: &Flags,
    service: &ServiceClient,
    outputs: std::result::Result<Outputs, ClientError>,
) -> Result<()> {
    let outputs = outputs.map_err(Unsubmitted::from)?;
    if let Some(path) = &flags.job_receipt {
        let receipts = JobReceipts(outputs.receipts.clone());
        let saved = receipts.save(path, service.roster());
        saved.map_err(Unsubmitted::from)?;
    }
    let job = &outputs.job;
    let mut arrays = Vec::new();
    for (header, shares) in &outputs.values {
        let named = header.named();
        let element = typed(&job.kind, &named.element_type)?;
        let shape = Shape::checked(&named.shape);
        let array = shape.and_then(|shape| Array::from_shares(element, &shape, shares));
        let array = array.ok_or_else(|| Unsubmitted::Type {
            kind: job.kind.clone(),
            found: named.element_type.clone(),
        })?;
        arrays.push((named.name.clone(), array));
    }
    for named in &flags.outputs {
        let found = arrays.iter().find(|(name, _)| *name == named.name);
        let (_, array) = found.ok_or_else(|| Unsubmitted::Output {
            name: named.name.clone(),
            there: arrays
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        let bytes = file_of(array, &named.file)?;
        write_result(&named.file, &|to| to.write_all(&bytes))?;
    }
    let shown = arrays
        .iter()
        .filter(|(name, _)| flags.outputs.iter().all(|named| named.name != *name));
    if flags.json {
        let text = |(name, array): &(String, Array)| {
            let texts: Vec<Json> = array.texts().map(Json::from).collect();
            let value = match array.shape().rank() {
                0 => texts.into_iter().next().unwrap_or_default(),
                _ => Json::Array(texts),
            };
            (name.clone(), value)
        };
        return print_json(&JobReport {
            kind: job.kind.clone(),
            batch: job.batch,
            submissions: job.submissions,
            outputs: shown.map(text).collect(),
        });
    }
    let mut text = String::new();
    if !flags.quiet {
        say(format_args!(
            "batch {} of {}, {} submissions; all servers have signed for it",
            job.batch, job.kind, job.submissions
        ));
    }
    for (name, array) in shown {
        let lines = table(array);
        let lines = lines.trim_end();
        let between = if lines.contains('\n') { "\n" } else { " " };
        let _ = writeln!(text, "{name}:{between}{lines}");
    }
    print(text.as_bytes())
}

/// The kinds of a service, for people.
fn listed(kinds: &[Kind]) -> String {
    let mut text = String::new();
    for kind in kinds {
        let _ = writeln!(text, "{}, for {}", kind.name, kind.submitters);
        for input in &kind.inputs {
            let shape = shape_in_words(&input.shape);
            let _ = writeln!(
                text,
                "  in   {}: {} {shape}",
                input.name, input.element_type
            );
        }
        for output in &kind.outputs {
            let shape = shape_in_words(&output.shape);
            let to = &output.receivers;
            let _ = writeln!(
                text,
                "  out  {}: {} {shape} for {to}",
                output.name, output.element_type
            );
        }
        let _ = writeln!(text, "  program {}", Digest256(kind.program.0));
    }
    text
}
