//! Answers to wishes of clients, as futures.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use madrigal_clients::Preamble;
use madrigal_core::Digest256;
use madrigal_intake::{
    Asked, Code, Fetch, Finished, JobOutput, JobPrivacy, JobReceipt, Of, OutputPiece, Refused,
    ServerConnection, Signed, State, batch_digest, limits::PIECE,
};
use madrigal_vault::VaultError;
use madrigal_vault::agreement::run_name;

use super::office::Desk;
use super::reply::{No, Pending, Reply};
use super::visitor::Visitor;
use crate::keep::Facts;
use crate::kind::{Kind, Receivers};

pub(super) type Answer = BoxFuture<'static, Vec<Reply>>;

impl Desk {
    /// Does what a client asks for, now or in a future that is put among `pending`.
    pub(super) fn take(
        self: &Arc<Self>,
        asked: Asked,
        visitor: &mut Visitor,
        connection: &mut ServerConnection,
        pending: &mut Pending,
    ) {
        match asked {
            Asked::Hello(hello) => match visitor.greet(&hello, self.offer().clients()) {
                Ok(client) => {
                    connection.welcome(client, crate::clock::now());
                }
                Err((code, text)) => {
                    self.meters.refuse("client unknown");
                    connection.reject(code, &text);
                }
            },
            Asked::Requests(requests) => {
                let (first, count) = (requests.first_number, requests.count());
                if let Err((code, text)) = self.ask(requests, visitor) {
                    self.meters.refuse("requests");
                    connection.refuse(Refused {
                        count: count as u32,
                        ..Refused::new(first, code, &text)
                    });
                }
            }
            asked => match self.answer(asked, visitor) {
                Ok(Some(answer)) => pending.push(answer),
                Ok(None) => {}
                Err((number, code, text)) => {
                    connection.refuse(Refused::new(number, code, &text));
                }
            },
        }
    }

    /// The answer to a wish; nothing where there is none.
    pub(super) fn answer(
        self: &Arc<Self>,
        asked: Asked,
        visitor: &mut Visitor,
    ) -> Result<Option<Answer>, No> {
        let desk = Arc::clone(self);
        Ok(Some(match asked {
            Asked::Hello(_) => return Ok(None),
            Asked::Begin(begin, headers) => return desk.begin(begin, &headers, visitor).map(Some),
            Asked::Piece(piece) => {
                let number = piece.number;
                let Some(upload) = visitor.uploads.get(&number) else {
                    return Ok(None);
                };
                let length = piece.bytes.len() as u64;
                let id = upload.id.0;
                let taken = desk
                    .keep
                    .vault()
                    .piece(id, piece.offset, piece.bytes.to_vec());
                async move {
                    let mut replies = vec![Reply::Taken(length)];
                    if let Err(error) = taken.await {
                        replies.push(desk.refusal(number, &error));
                    }
                    replies
                }
                .boxed()
            }
            Asked::End { number } => {
                let Some(upload) = visitor.uploads.remove(&number) else {
                    return Ok(None);
                };
                // The file may have been read again since it was begun.
                let may = desk.may_submit(&upload.kind, visitor);
                may.map_err(|(code, text)| (number, code, text))?;
                async move { vec![desk.end(number, upload).await] }.boxed()
            }
            Asked::Whole(whole, headers) => return desk.whole(whole, &headers, visitor).map(Some),
            Asked::Status { number, id } => {
                let state = desk.state(&id);
                let reply = match state {
                    Ok(state) => Reply::State { number, state },
                    Err(error) => desk.refusal(number, &error),
                };
                async move { vec![reply] }.boxed()
            }
            Asked::Wait { number, of } => {
                let client = visitor.client().map(str::to_owned);
                match of {
                    Of::Submission(id) => visitor.may_stop(number, async move {
                        vec![desk.wait(number, id, client).await]
                    }),
                    Of::Batch { kind, batch } => {
                        let kind = desk.jobs(number, kind, visitor)?;
                        visitor.may_stop(number, async move {
                            vec![desk.wait_after(number, kind, batch, client).await]
                        })
                    }
                }
            }
            Asked::Fetch(fetch) => {
                let client = visitor.client().map(str::to_owned);
                let number = fetch.number;
                let batch = match fetch.of {
                    Of::Submission(_) => None,
                    Of::Batch { kind, batch } => Some((desk.jobs(number, kind, visitor)?, batch)),
                };
                visitor.may_stop(number, async move {
                    let read = desk
                        .clone()
                        .reading(number, move || desk.fetch(fetch, batch, client.as_deref()));
                    vec![read.await.unwrap_or_else(refused)]
                })
            }
            // They are answered by another way, at which many wait.
            Asked::Requests(_) => return Ok(None),
            Asked::Cancel { number } => {
                visitor.uploads.remove(&number);
                visitor.stop(number);
                let text = "it was taken back".to_owned();
                return Err((number, Code::Cancelled, text));
            }
        }))
    }

    /// Reads from the disk, beside the tasks of connections, as one of a bounded number.
    pub(super) async fn reading<T: Send + 'static>(
        self: Arc<Self>,
        number: u64,
        read: impl FnOnce() -> Result<T, No> + Send + 'static,
    ) -> Result<T, No> {
        let _place = self.reads.acquire().await;
        let failed = |error: tokio::task::JoinError| (number, Code::Server, error.to_string());
        tokio::task::spawn_blocking(read).await.map_err(failed)?
    }

    /// A refusal because of the vault.
    pub(super) fn refusal(&self, number: u64, error: &VaultError) -> Reply {
        let code = match error {
            VaultError::Conflict { .. } => Code::Conflict,
            VaultError::Expired => Code::Expired,
            VaultError::Digest => Code::Digest,
            VaultError::Full { .. } | VaultError::Share { .. } => Code::Quota,
            VaultError::NoSubmission | VaultError::NoResult { .. } => Code::NotFound,
            VaultError::Offset { .. } | VaultError::Incomplete { .. } => Code::Retry,
            VaultError::Length { .. } | VaultError::Name { .. } => Code::Header,
            // The server ends, and has what it acknowledged when it is started again.
            VaultError::Stopped { .. } => {
                self.keep.trouble(error);
                Code::Closing
            }
            _ => {
                self.keep.trouble(error);
                Code::Server
            }
        };
        self.meters.refuse("submission");
        refused((number, code, error.to_string()))
    }

    /// The state of a submission.
    fn state(&self, id: &Digest256) -> Result<State, VaultError> {
        use madrigal_vault::State as Kept;
        let status = self.keep.status(&id.0)?;
        let kind = status.as_ref().map(|status| status.kind.clone());
        Ok(match status.map(|status| status.state) {
            None => State::Unknown,
            Some(Kept::Receiving { offset }) => State::Receiving { offset },
            Some(Kept::Accepted) => match kind.and_then(|kind| self.keep.hindrance(&kind)) {
                None => State::Accepted,
                Some(reason) => State::Held { reason },
            },
            Some(Kept::InBatch { n }) => State::InBatch { batch: n },
            Some(Kept::Counted { n, .. }) => State::Counted { batch: n },
            Some(Kept::Failed { n, reason }) => State::Failed { batch: n, reason },
            Some(Kept::Expired) => State::Expired,
        })
    }

    /// Checks that a client may ask for the outputs of a submission: it is the one that brought it.
    fn is_of(&self, number: u64, owner: &str, client: Option<&str>) -> Result<(), No> {
        if client == Some(owner) {
            return Ok(());
        }
        // An anonymous client has no outputs of its own: whoever knows its submission's name, as each server does, could ask for them.
        let text = match client {
            Some(client) => {
                format!("the submission is of client `{owner}`, and the connection of `{client}`")
            }
            None => "outputs of submissions are for clients that the service knows".to_owned(),
        };
        Err((number, Code::NotAllowed, text))
    }

    /// Waits for the end of a submission's job.
    async fn wait(self: Arc<Self>, number: u64, id: Digest256, client: Option<String>) -> Reply {
        let status = match self.keep.status(&id.0) {
            Ok(status) => status,
            Err(error) => return self.refusal(number, &error),
        };
        let owner = status.as_ref().map(|status| status.client.clone());
        let owner = owner.unwrap_or_default();
        // Others hear that the job is done, and get nothing of it.
        let client = client.filter(|client| *client == owner);
        let kind = status.map(|status| status.kind).unwrap_or_default();
        let Some(kind) = self.offer().named(&kind).cloned() else {
            let state = State::Unknown;
            return Reply::State { number, state };
        };
        let mut ends = self.keep.ends(&kind.config.name);
        loop {
            ends.borrow_and_update();
            match self.state(&id) {
                Ok(State::Counted { batch }) => {
                    let desk = Arc::clone(&self);
                    let kind = Arc::clone(&kind);
                    let finished = self.reading(number, move || {
                        desk.finished(number, &kind, batch, Some(&id), client.as_deref())
                    });
                    return finished.await.unwrap_or_else(refused);
                }
                Ok(state) if state.is_last() || state == State::Unknown => {
                    return Reply::State { number, state };
                }
                Ok(_) => {}
                Err(error) => return self.refusal(number, &error),
            }
            if ends.changed().await.is_err() {
                let text = "the server stops".to_owned();
                return refused((number, Code::Closing, text));
            }
        }
    }

    /// Waits for the first job of a kind after a batch whose results are kept.
    async fn wait_after(
        self: Arc<Self>,
        number: u64,
        kind: Arc<Kind>,
        batch: u64,
        client: Option<String>,
    ) -> Reply {
        let mut ends = self.keep.ends(&kind.config.name);
        loop {
            ends.borrow_and_update();
            let (desk, of, client) = (Arc::clone(&self), Arc::clone(&kind), client.clone());
            let found = Arc::clone(&self).reading(number, move || {
                let next = desk.keep.next_done(&of.config.name, batch);
                let next = next.map_err(|error| (number, Code::Server, error.to_string()))?;
                next.map(|next| desk.finished(number, &of, next, None, client.as_deref()))
                    .transpose()
            });
            match found.await {
                Ok(Some(reply)) => return reply,
                Ok(None) => {}
                Err(no) => return refused(no),
            }
            if ends.changed().await.is_err() {
                let text = "the server stops".to_owned();
                return refused((number, Code::Closing, text));
            }
        }
    }

    fn finished(
        &self,
        number: u64,
        kind: &Kind,
        batch: u64,
        id: Option<&Digest256>,
        client: Option<&str>,
    ) -> Result<Reply, No> {
        let facts = self.facts(number, kind, batch)?;
        let receipt = match facts.receipt.get() {
            Some(receipt) => receipt.clone(),
            None => {
                let receipt = self.job_receipt(number, kind, &facts)?;
                facts.receipt.get_or_init(|| receipt).clone()
            }
        };
        let mut outputs = Vec::new();
        for place in 0..kind.outputs.len() {
            if let Ok((_, length)) = part(number, kind, &facts, place, id, client) {
                outputs.push((place as u32, length));
            }
        }
        Ok(Reply::Finished(Finished {
            number,
            receipt,
            outputs,
        }))
    }

    fn facts(&self, number: u64, kind: &Kind, batch: u64) -> Result<Arc<Facts>, No> {
        let name = &kind.config.name;
        let facts = self.keep.facts(name, batch);
        let failed = |error: VaultError| (number, Code::Server, error.to_string());
        facts.map_err(failed)?.ok_or_else(|| {
            let text = match kind.config.holds {
                Some(_) => format!("batch {batch} of kind `{name}` is held no longer: a later one has taken its place"),
                None => format!("results of batch {batch} of kind `{name}` are no longer kept"),
            };
            (number, Code::NotFound, text)
        })
    }

    fn job_receipt(&self, number: u64, kind: &Kind, facts: &Facts) -> Result<Signed, No> {
        let failed = |error: &dyn std::fmt::Display| (number, Code::Server, error.to_string());
        let name = &kind.config.name;
        let members: Vec<Digest256> = facts.members.iter().map(|id| Digest256(*id)).collect();
        let mut outputs = Vec::new();
        for (place, output) in kind.outputs.iter().enumerate() {
            let each = each(kind, facts, place);
            let head = self
                .keep
                .output(name, facts.n, place, 0, PIECE.min(each as usize));
            let head = head.map_err(|error| failed(&error))?;
            let read = Preamble::read(&mut &head[..], each);
            let header = read.map_err(|error| failed(&error))?.header;
            let shape = &header.named().shape;
            outputs.push(JobOutput {
                name: output.name.clone(),
                element_type: output.element_type.clone(),
                shape: shape.iter().map(|&axis| axis as u64).collect(),
                header: header.submission(),
            });
        }
        let recipients = kind.outputs.iter();
        let recipients = recipients.map(|output| format!("{}: {}", output.name, output.to));
        let receipt = JobReceipt {
            server: self.key(),
            kind: name.clone(),
            program: Digest256(kind.digest),
            batch: facts.n,
            run: run_name(&facts.info.digest, facts.run),
            submissions: members.len() as u64,
            batch_digest: batch_digest(members.iter()),
            recipients: recipients.collect(),
            outputs,
            privacy: (kind.privacy.as_ref().ok()).map(|privacy| JobPrivacy {
                epsilon: privacy.epsilon.units(),
                delta: privacy.delta.units(),
            }),
            time: facts.info.ended.as_ref().map_or(0, |(_, time)| *time),
            held: (self.keep.used(kind, facts.n)).map_err(|error| failed(&error))?,
        };
        receipt.sign(&self.identity).map_err(|error| failed(&error))
    }

    fn fetch(
        &self,
        fetch: Fetch,
        batch: Option<(Arc<Kind>, u64)>,
        client: Option<&str>,
    ) -> Result<Reply, No> {
        let number = fetch.number;
        let failed = |error: VaultError| (number, Code::Server, error.to_string());
        let of_submission = |id: &Digest256| {
            let status = self.keep.status(&id.0).map_err(failed)?;
            if let Some(status) = &status {
                self.is_of(number, &status.client, client)?;
            }
            Ok(status.and_then(|status| match status.state {
                madrigal_vault::State::Counted { n, .. } => {
                    let kind = self.offer().named(&status.kind).cloned()?;
                    Some((kind, n))
                }
                _ => None,
            }))
        };
        let (id, found) = match fetch.of {
            Of::Submission(id) => (Some(id), of_submission(&id)?),
            Of::Batch { .. } => (None, batch),
        };
        let (kind, batch) = found.ok_or_else(|| {
            let text = "no job has counted this submission".to_owned();
            (number, Code::NotFound, text)
        })?;
        let facts = self.facts(number, &kind, batch)?;
        let place = fetch.output as usize;
        let (from, length) = part(number, &kind, &facts, place, id.as_ref(), client)?;
        if fetch.offset > length {
            let text = format!("offset {} of {length} bytes", fetch.offset);
            return Err((number, Code::NotFound, text));
        }
        let count = (length - fetch.offset).min(PIECE as u64);
        let at = from + fetch.offset;
        let name = &kind.config.name;
        let bytes = self.keep.output(name, batch, place, at, count as usize);
        let bytes = bytes.map_err(failed)?;
        Ok(Reply::Piece(OutputPiece {
            number,
            offset: fetch.offset,
            last: fetch.offset + bytes.len() as u64 == length,
            bytes: bytes.to_vec().into(),
        }))
    }
}

/// Bytes of one share file of an output.
fn each(kind: &Kind, facts: &Facts, place: usize) -> u64 {
    let length = facts.lengths.get(place).copied().unwrap_or(0);
    match kind.outputs[place].to {
        Receivers::OwnRow => length / (facts.members.len() as u64).max(1),
        Receivers::Submitters | Receivers::Named(_) => length,
    }
}

/// The part of an output that is for a client: where it begins, and its length. A submission's own outputs are for `client` if it is the one that
/// brought it, and for nobody otherwise.
fn part(
    number: u64,
    kind: &Kind,
    facts: &Facts,
    place: usize,
    id: Option<&Digest256>,
    client: Option<&str>,
) -> Result<(u64, u64), No> {
    let not_there = |text: String| (number, Code::NotFound, text);
    let output = kind
        .outputs
        .get(place)
        .filter(|_| place < facts.lengths.len());
    let output = output.ok_or_else(|| not_there(format!("there is no output {place}")))?;
    let each = each(kind, facts, place);
    match &output.to {
        Receivers::OwnRow if client.is_some() => {
            let row = id.and_then(|id| facts.members.binary_search(&id.0).ok());
            let row =
                row.ok_or_else(|| not_there("rows are for those who submitted".to_owned()))?;
            Ok((row as u64 * each, each))
        }
        Receivers::Submitters if id.is_some() && client.is_some() => Ok((0, each)),
        Receivers::Named(names) if client.is_some_and(|client| names.contains(client)) => {
            Ok((0, each))
        }
        Receivers::Named(_) | Receivers::Submitters | Receivers::OwnRow => {
            let text = format!("output `{}` is for {}", output.name, output.to);
            Err((number, Code::NotAllowed, text))
        }
    }
}

pub(super) fn refused((number, code, text): No) -> Reply {
    Reply::Refused(Refused::new(number, code, &text))
}
