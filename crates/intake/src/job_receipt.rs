//! Receipts of jobs, which anybody can check who has the list of servers.

use madrigal_clients::MAX_TEXT;
use madrigal_core::{Digest256, domains};
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::Identity;
use madrigal_net::roster::{MAX_NAME, Roster};
use sha2::{Digest, Sha256};

use crate::canonical::{Reader, Writer};
use crate::limits::{MAX_HELD, MAX_RANK, MAX_RECIPIENTS, MAX_VALUES};
use crate::receipt_error::ReceiptError;
use crate::signed::Signed;

/// A server's word on a job: what it computed of which submissions, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReceipt {
    /// Fingerprint of the server's key.
    pub server: Fingerprint,
    /// Name of the kind.
    pub kind: String,
    /// Digest of the kind's program.
    pub program: Digest256,
    /// Number of the batch.
    pub batch: u64,
    /// Identifier of the run, which the outputs' headers have as their nonce.
    pub run: Digest256,
    /// Number of submissions in the batch.
    pub submissions: u64,
    /// Digest of their names in the batch's order ([`batch_digest`]).
    pub batch_digest: Digest256,
    /// Those who receive outputs, in words or by fingerprints of keys: up to 64.
    pub recipients: Vec<String>,
    /// Outputs, in the program's order.
    pub outputs: Vec<JobOutput>,
    /// Bounds of what the outputs tell of one submission, if noise gives some.
    pub privacy: Option<JobPrivacy>,
    /// Time of the job's end at this server, in seconds since 1970.
    pub time: u64,
    /// Submissions that servers hold and that the job computed with beside the batch: up to 16, in the order of their kinds' names.
    pub held: Vec<HeldSubmission>,
}

/// A submission that servers hold for the jobs of other kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldSubmission {
    /// Name of the kind that holds it.
    pub kind: String,
    /// Number of that kind's batch in which it was loaded.
    pub batch: u64,
    /// Name of the submission.
    pub submission: Digest256,
}

/// Bounds of what a job's outputs tell of one submission: they are (epsilon, delta)-differentially private, against another one in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobPrivacy {
    /// Epsilon, in billionths.
    pub epsilon: u64,
    /// Delta, in units of 1e-15.
    pub delta: u64,
}

/// An output of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOutput {
    /// Name within the kind.
    pub name: String,
    /// Type of the elements.
    pub element_type: String,
    /// Lengths of the axes.
    pub shape: Vec<u64>,
    /// Digest of the header of its share files ([`Header::submission`](madrigal_clients::Header::submission)).
    pub header: Digest256,
}

/// Digest of the names of a batch's submissions, in their order.
pub fn batch_digest<'a>(submissions: impl ExactSizeIterator<Item = &'a Digest256>) -> Digest256 {
    let mut hash = Sha256::new_with_prefix(domains::INTAKE_BATCH);
    hash.update((submissions.len() as u64).to_le_bytes());
    submissions.for_each(|submission| hash.update(submission.0));
    hash.finalize().into()
}

impl JobReceipt {
    /// The bytes that are signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.bytes(self.server.as_bytes());
        to.text(&self.kind);
        to.bytes(&self.program.0);
        to.number(self.batch);
        to.bytes(&self.run.0);
        to.number(self.submissions);
        to.bytes(&self.batch_digest.0);
        to.count(self.recipients.len());
        self.recipients.iter().for_each(|text| to.text(text));
        to.count(self.outputs.len());
        for output in &self.outputs {
            to.text(&output.name);
            to.text(&output.element_type);
            to.count(output.shape.len());
            output.shape.iter().for_each(|&axis| to.number(axis));
            to.bytes(&output.header.0);
        }
        to.count(usize::from(self.privacy.is_some()));
        if let Some(JobPrivacy { epsilon, delta }) = self.privacy {
            to.number(epsilon);
            to.number(delta);
        }
        to.number(self.time);
        // A job without held inputs has the receipt that it always had.
        if !self.held.is_empty() {
            to.count(self.held.len());
        }
        for held in &self.held {
            to.text(&held.kind);
            to.number(held.batch);
            to.bytes(&held.submission.0);
        }
        to.0
    }

    /// Reads what [`JobReceipt::to_bytes`] wrote; every other text is refused.
    ///
    /// # Errors
    /// [`ReceiptError::Encoding`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let mut from = Reader(bytes);
        let receipt = Self {
            server: from.fingerprint()?,
            kind: from.text(MAX_NAME)?,
            program: from.digest()?,
            batch: from.number()?,
            run: from.digest()?,
            submissions: from.number()?,
            batch_digest: from.digest()?,
            recipients: {
                let count = from.count(MAX_RECIPIENTS)?;
                (0..count)
                    .map(|_| from.text(MAX_TEXT))
                    .collect::<Result<_, _>>()?
            },
            outputs: {
                let count = from.count(MAX_VALUES)?;
                (0..count)
                    .map(|_| output(&mut from))
                    .collect::<Result<_, _>>()?
            },
            privacy: match from.count(1)? {
                0 => None,
                _ => Some(JobPrivacy {
                    epsilon: from.number()?,
                    delta: from.number()?,
                }),
            },
            time: from.number()?,
            held: match from.is_at_end() {
                true => Vec::new(),
                false => held(&mut from)?,
            },
        };
        from.end().map(|()| receipt)
    }

    /// Signs the receipt.
    ///
    /// # Errors
    /// [`ReceiptError::Encoding`]: a field that no receipt has, such as a text that is empty or too long.
    pub fn sign(&self, identity: &Identity) -> Result<Signed, ReceiptError> {
        let bytes = self.to_bytes();
        if Self::from_bytes(&bytes)? != *self {
            return Err(ReceiptError::Encoding);
        }
        let signature = identity.sign(domains::JOB_RECEIPT, &bytes);
        Ok(Signed {
            bytes: bytes.into(),
            signature,
        })
    }

    /// Reads a receipt that the server with this key has signed.
    ///
    /// # Errors
    /// [`ReceiptError`]: another encoding, server or signature.
    pub fn verify(signed: &Signed, server: &Fingerprint) -> Result<Self, ReceiptError> {
        let signature = &signed.signature;
        signature.verify(server, domains::JOB_RECEIPT, &signed.bytes)?;
        let receipt = Self::from_bytes(&signed.bytes)?;
        match receipt.server == *server {
            true => Ok(receipt),
            false => Err(ReceiptError::Server),
        }
    }

    /// The first field that all servers of a job say alike and these two do not: the field, ours, theirs.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let fields = |one: &Self| {
            [
                ("kind", one.kind.clone()),
                ("program", one.program.to_string()),
                ("number of the batch", one.batch.to_string()),
                ("run", one.run.to_string()),
                ("number of submissions", one.submissions.to_string()),
                ("digest of submissions", one.batch_digest.to_string()),
                ("list of recipients", format!("{:?}", one.recipients)),
                ("list of outputs", format!("{:?}", one.outputs)),
                ("privacy", format!("{:?}", one.privacy)),
                ("held inputs", format!("{:?}", one.held)),
            ]
        };
        let mut pairs = fields(self).into_iter().zip(fields(other));
        let apart = pairs.find(|((_, one), (_, other))| one != other);
        apart.map(|((field, one), (_, other))| (field, one, other))
    }
}

/// Held submissions, of which there is one at least, each of another kind.
fn held(from: &mut Reader<'_>) -> Result<Vec<HeldSubmission>, ReceiptError> {
    let count = from.count(MAX_HELD)?;
    let all = (0..count).map(|_| {
        Ok(HeldSubmission {
            kind: from.text(MAX_NAME)?,
            batch: from.number()?,
            submission: from.digest()?,
        })
    });
    let all: Vec<_> = all.collect::<Result<_, ReceiptError>>()?;
    match !all.is_empty() && all.is_sorted_by(|one, next| one.kind < next.kind) {
        true => Ok(all),
        false => Err(ReceiptError::Encoding),
    }
}

fn output(from: &mut Reader<'_>) -> Result<JobOutput, ReceiptError> {
    Ok(JobOutput {
        name: from.text(MAX_TEXT)?,
        element_type: from.text(MAX_TEXT)?,
        shape: {
            let rank = from.count(MAX_RANK)?;
            (0..rank).map(|_| from.number()).collect::<Result<_, _>>()?
        },
        header: from.digest()?,
    })
}

/// Checks the receipts of a job by all servers of a list, in its order: each is signed by its server, and all say the same but for the
/// server and the time. Gives what they say, in the receipt of server 0.
///
/// # Errors
/// [`ReceiptError`]: too few or too many, one that is not its server's, or the first field in which two differ.
pub fn check(receipts: &[Signed], roster: &Roster) -> Result<JobReceipt, ReceiptError> {
    if receipts.len() != roster.len() {
        let (got, expected) = (receipts.len(), roster.len());
        return Err(ReceiptError::Count { got, expected });
    }
    let mut first: Option<JobReceipt> = None;
    for (server, (signed, entry)) in receipts.iter().zip(roster.parties()).enumerate() {
        let receipt = JobReceipt::verify(signed, &entry.key).map_err(|fault| ReceiptError::Of {
            server,
            name: entry.name.clone(),
            fault: Box::new(fault),
        })?;
        let Some(first) = &first else {
            first = Some(receipt);
            continue;
        };
        if let Some((field, got, expected)) = receipt.difference(first) {
            return Err(ReceiptError::Apart {
                server,
                field,
                got,
                expected,
            });
        }
    }
    first.ok_or(ReceiptError::Count {
        got: 0,
        expected: roster.len(),
    })
}
