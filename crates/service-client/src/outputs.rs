//! Outputs of a job: waited for, fetched from all servers, checked against their receipts, and put together.

use std::path::PathBuf;

use futures_util::future::try_join_all;
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use madrigal_clients::{Header, Purpose, Received, ShareFile, combine};
use madrigal_core::budget::Budget;
use madrigal_core::{Digest256, Zeroizing};
use madrigal_engine::Shares;
use madrigal_intake::limits::PIECE;
use madrigal_intake::{Finished, JobReceipt, Of, check};

use crate::asks::{LinkError, Waited};
use crate::client::ServiceClient;
use crate::error::ClientError;
use crate::link::Link;
use crate::servers::place_of;
use crate::submission::Submission;

/// Pieces of an output that are asked for at once.
const AHEAD: u64 = 8;

/// The longest share of an output that is fetched, in bytes, unless one says otherwise.
pub const MOST_OUTPUT_BYTES: u64 = 1 << 30;

/// Outputs of a job, for one client.
#[derive(Debug)]
pub struct Outputs {
    /// The job, as all servers have receipted it.
    pub job: JobReceipt,
    /// The servers' receipts, in their order: with the list of servers anybody can check them ([`check`]).
    pub receipts: Vec<madrigal_intake::Signed>,
    /// Headers and values of the outputs that are for this client.
    pub values: Vec<(Header, Shares)>,
}

/// A job, as it is asked for.
#[derive(Debug, Clone, Copy)]
enum Wanted<'a> {
    Submission(Digest256),
    Batch { kind: &'a str, batch: u64 },
}

impl Wanted<'_> {
    /// The job, as messages on a connection name it.
    fn of(self, link: &Link) -> Result<Of, LinkError> {
        Ok(match self {
            Self::Submission(id) => Of::Submission(id),
            Self::Batch { kind, batch } => Of::Batch {
                kind: place_of(link, kind)?,
                batch,
            },
        })
    }
}

impl ServiceClient {
    /// Waits for the job of a submission, however long it takes, and puts its outputs together.
    ///
    /// The receipts of all servers are checked, and that they say the same; each share against its receipt. That the submission is one of the job's
    /// batch, the servers say by answering: the receipt has a digest of the batch's names alone.
    ///
    /// # Errors
    /// [`ClientError`]: a server that stays away or refuses, a submission that failed or expired, receipts that do not go together, outputs that are
    /// not those of the receipts.
    pub async fn wait(&self, submission: &Submission) -> Result<Outputs, ClientError> {
        submission.verify(self.roster())?;
        let wanted = Wanted::Submission(submission.id);
        let program = submission.program.to_string();
        self.outputs(wanted, &submission.kind, &program).await
    }

    /// Waits for the first job of a kind after the batch of this number that is done, and puts those outputs together that are for this client: for one who
    /// brings nothing. After batch 0 comes the first that the servers still have.
    ///
    /// # Errors
    /// [`ClientError`] in the same cases as [`ServiceClient::wait`].
    pub async fn wait_after(&self, kind: &str, batch: u64) -> Result<Outputs, ClientError> {
        let program = self.servers.kind(kind)?.program.to_string();
        let wanted = Wanted::Batch { kind, batch };
        self.outputs(wanted, kind, &program).await
    }

    async fn outputs(
        &self,
        wanted: Wanted<'_>,
        kind: &str,
        program: &str,
    ) -> Result<Outputs, ClientError> {
        let each = (0..self.servers.len()).map(|server| self.finished(server, wanted));
        let finished: Vec<Finished> = try_join_all(each).await?;
        let receipts: Vec<_> = finished.iter().map(|one| one.receipt.clone()).collect();
        let job = check(&receipts, self.roster())?;
        let expected = [
            ("kind", &job.kind, kind.to_owned()),
            ("program", &job.program.to_string(), program.to_owned()),
        ]
        .map(|(field, got, expected)| (field, got.clone(), expected));
        if let Some((field, got, expected)) = expected
            .into_iter()
            .find(|(_, got, expected)| got != expected)
        {
            let fault = madrigal_intake::ReceiptError::Other {
                field,
                got,
                expected,
            };
            return Err(fault.into());
        }
        let wanted = match wanted {
            Wanted::Submission(_) => wanted,
            Wanted::Batch { kind, .. } => Wanted::Batch {
                kind,
                batch: job.batch,
            },
        };
        let mut values = Vec::new();
        for &(output, _) in &finished[0].outputs {
            values.push(self.output(wanted, &job, &finished, output).await?);
        }
        Ok(Outputs {
            job,
            receipts,
            values,
        })
    }

    async fn finished(&self, server: usize, wanted: Wanted<'_>) -> Result<Finished, ClientError> {
        let waited = self.servers.ask(server, move |link| async move {
            let of = wanted.of(&link)?;
            link.wait(of).await
        });
        match waited.await? {
            Waited::Finished(finished) => Ok(finished),
            Waited::State(state) => Err(ClientError::NoResult {
                server: self.servers.at(server),
                state,
            }),
        }
    }

    /// Fetches an output from all servers, and puts it together.
    async fn output(
        &self,
        wanted: Wanted<'_>,
        job: &JobReceipt,
        finished: &[Finished],
        output: u32,
    ) -> Result<(Header, Shares), ClientError> {
        let each = finished
            .iter()
            .enumerate()
            .map(|(server, finished)| async move {
                let listed = finished.outputs.iter().find(|(place, _)| *place == output);
                let length = listed.map(|(_, length)| *length);
                let file = self.share(server, wanted, job, output, length).await?;
                Ok::<_, ClientError>(Received {
                    file: PathBuf::from(self.servers.at(server).to_string()),
                    share: file,
                })
            });
        Ok(combine(try_join_all(each).await?)?)
    }

    /// Fetches a server's share of an output.
    async fn share(
        &self,
        server: usize,
        wanted: Wanted<'_>,
        job: &JobReceipt,
        output: u32,
        length: Option<u64>,
    ) -> Result<ShareFile, ClientError> {
        let described = job.outputs.get(output as usize);
        let wrong = |what: String| ClientError::Output {
            server: self.servers.at(server),
            output: described.map_or_else(|| output.to_string(), |output| output.name.clone()),
            what,
        };
        let described =
            described.ok_or_else(|| wrong("the job's receipt does not list it".into()))?;
        let length = length
            .ok_or_else(|| wrong("this server does not offer it, and another does".into()))?;
        if length > MOST_OUTPUT_BYTES {
            return Err(wrong(format!(
                "its share has {length} bytes, and {MOST_OUTPUT_BYTES} are the most that is fetched"
            )));
        }
        let bytes = self.fetch(server, wanted, output, length).await?;
        let budget = Budget::of_file(bytes.len());
        let read = ShareFile::read(&mut &bytes[..], length, None, &budget);
        let file = read.map_err(|fault| wrong(fault.to_string()))?;
        let header = file.header();
        let fits = header.purpose() == Purpose::Output
            && header.submission() == described.header
            && *header.nonce() == job.run.0
            && header.servers() == self.servers.len()
            && header.named().name == described.name
            && file.place().index() == server;
        match fits {
            true => Ok(file),
            false => Err(wrong(
                "its header is not the one of the job's receipt".into(),
            )),
        }
    }

    /// Fetches the bytes of a share, some pieces ahead.
    async fn fetch(
        &self,
        server: usize,
        wanted: Wanted<'_>,
        output: u32,
        length: u64,
    ) -> Result<Zeroizing<Vec<u8>>, ClientError> {
        let ask = |offset: u64| {
            self.servers.ask(server, move |link| async move {
                let of = wanted.of(&link)?;
                let piece = link.fetch(of, output, offset).await?;
                let bytes = (length - offset).min(PIECE as u64);
                let last = offset + bytes == length;
                match piece.bytes.len() as u64 == bytes && piece.last == last {
                    true => Ok(piece.bytes),
                    false => Err(LinkError::Fault(
                        "it sent a piece of an output that is of another length".into(),
                    )),
                }
            })
        };
        let mut bytes = Zeroizing::new(Vec::with_capacity(length as usize));
        let mut offsets = (0..length).step_by(PIECE);
        let mut asked: FuturesOrdered<_> = offsets.by_ref().take(AHEAD as usize).map(ask).collect();
        while let Some(piece) = asked.next().await {
            bytes.extend_from_slice(&piece?);
            asked.extend(offsets.next().map(ask));
        }
        Ok(bytes)
    }
}
