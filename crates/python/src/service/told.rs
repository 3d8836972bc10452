//! Kinds and jobs of a service, as Python is told of them.

use std::borrow::Cow;

use madrigal_app::failure::Status;
use madrigal_program::{Array, Shape, Type};
use madrigal_service_client::{Kind, Outputs, ServiceClient, State, What};

use crate::done::Reason;

/// Name, type, and lengths of the axes.
type Input = (String, String, Vec<Option<usize>>);
/// Name, type, lengths of the axes, and who receives it.
type Output = (String, String, Vec<Option<usize>>, String);

/// Name, digest of the program, bytes of requests and answers, inputs, outputs, who may submit, whether anonymous clients may, the most bytes.
pub type KindParts = (
    String,
    String,
    Option<(u32, u32)>,
    Vec<Input>,
    Vec<Output>,
    String,
    bool,
    u64,
);

/// A server's name, its receipt, and its signature.
type Signed = (String, Cow<'static, [u8]>, Cow<'static, [u8]>);

/// A job: kind, digest of the program, number of the batch, submissions, recipients, seconds since 1970, receipts of the servers.
pub type Job = (
    String,
    String,
    u64,
    u64,
    Vec<String>,
    u64,
    Vec<Signed>,
    Vec<Held>,
);

/// A held submission: the kind that holds it, the number of its batch, its name.
pub type Held = (String, u64, String);

pub fn kind(kind: &Kind) -> KindParts {
    let requests = match kind.what {
        What::Program => None,
        What::Requests {
            request_bytes,
            answer_bytes,
        } => Some((request_bytes, answer_bytes)),
    };
    let inputs = kind.inputs.iter();
    let inputs = inputs.map(|one| {
        (
            one.name.clone(),
            one.element_type.clone(),
            one.shape.clone(),
        )
    });
    let outputs = kind.outputs.iter().map(|one| {
        let (name, typed, to) = (&one.name, &one.element_type, &one.receivers);
        (name.clone(), typed.clone(), one.shape.clone(), to.clone())
    });
    (
        kind.name.clone(),
        kind.program.to_string(),
        requests,
        inputs.collect(),
        outputs.collect(),
        kind.submitters.clone(),
        kind.anonymous,
        kind.most_bytes,
    )
}

pub fn job(client: &ServiceClient, outputs: &Outputs) -> Job {
    let servers = client.roster().parties().iter().zip(&outputs.receipts);
    let signed = servers.map(|(server, signed)| {
        let signature = signed.signature.as_bytes().to_vec();
        let bytes = signed.bytes.to_vec();
        (server.name.clone(), bytes.into(), signature.into())
    });
    let job = &outputs.job;
    (
        job.kind.clone(),
        job.program.to_string(),
        job.batch,
        job.submissions,
        job.recipients.clone(),
        job.time,
        signed.collect(),
        job.held
            .iter()
            .map(|held| (held.kind.clone(), held.batch, held.submission.to_string()))
            .collect(),
    )
}

/// Outputs by their names.
pub fn arrays(outputs: &Outputs) -> Result<Vec<(String, Array)>, Reason> {
    let arrays = outputs.values.iter().map(|(header, shares)| {
        let named = header.named();
        let typed = named.element_type.parse::<Type>().ok();
        let shape = Shape::checked(&named.shape);
        let array = typed
            .zip(shape)
            .and_then(|(typed, shape)| Array::from_shares(typed, &shape, shares));
        let unknown = || {
            Reason::own(
                format!(
                    "kind `{}`: the type `{}` of output `{}` is none that this version knows: use the version that the servers use",
                    outputs.job.kind,
                    named.element_type.escape_debug(),
                    named.name.escape_debug()
                ),
                Status::Peer,
            )
        };
        Ok((named.name.clone(), array.ok_or_else(unknown)?))
    });
    arrays.collect()
}

/// A state's name, its batch, and the reason of a failure or of a wait.
pub fn state(state: &State) -> (&'static str, Option<u64>, Option<String>) {
    match state {
        State::Unknown => ("unknown", None, None),
        State::Receiving { .. } => ("receiving", None, None),
        State::Accepted => ("accepted", None, None),
        State::Held { reason } => ("held", None, Some(reason.clone())),
        State::InBatch { batch } => ("running", Some(*batch), None),
        State::Counted { batch } => ("counted", Some(*batch), None),
        State::Failed { batch, reason } => ("failed", Some(*batch), Some(reason.clone())),
        State::Expired => ("expired", None, None),
    }
}
