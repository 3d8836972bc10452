//! A submission that all servers have accepted, as a file with which one can come back.

use std::path::Path;

use madrigal_core::Digest256;
use madrigal_intake::{Receipt, Signed};
use madrigal_net::identity::Signature;
use madrigal_net::roster::Roster;
use serde::{Deserialize, Serialize};

use crate::error::{At, ClientError};
use crate::files::{Mode, read, write};
use crate::hex;

/// Version of the file.
const VERSION: u32 = 1;

/// A submission that all servers have accepted, with their receipts. It has no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Name of the kind.
    pub kind: String,
    /// Digest of the kind's program.
    pub program: Digest256,
    /// Name of the client.
    pub client: String,
    /// Name of the submission.
    pub id: Digest256,
    /// Digests of headers and bodies, in the order of the servers.
    pub digests: Vec<Digest256>,
    /// Receipts, in the order of the servers.
    pub receipts: Vec<Signed>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    madrigal_submission: u32,
    kind: String,
    program: String,
    client: String,
    submission: String,
    servers: Vec<WrittenServer>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenServer {
    name: String,
    address: String,
    key: String,
    digest: String,
    receipt: String,
    signature: String,
}

impl Submission {
    /// Checks that the servers of a list have signed for this submission.
    ///
    /// # Errors
    /// [`ClientError::Receipt`] for the first that has not, and [`ClientError::JobReceipts`] where a receipt is missing.
    pub fn verify(&self, servers: &Roster) -> Result<(), ClientError> {
        let (got, expected) = (self.receipts.len().min(self.digests.len()), servers.len());
        if got != expected {
            return Err(madrigal_intake::ReceiptError::Count { got, expected }.into());
        }
        let all = servers
            .parties()
            .iter()
            .zip(&self.receipts)
            .zip(&self.digests);
        for (place, ((entry, signed), digest)) in all.enumerate() {
            let receipt = Receipt::verify(signed, &entry.key);
            let fits = receipt
                .and_then(|receipt| receipt.is_for(&self.kind, &self.program, &self.id, digest));
            let name = entry.name.clone();
            fits.map_err(|fault| ClientError::Receipt {
                server: At { place, name },
                fault: Box::new(fault),
            })?;
        }
        Ok(())
    }

    /// Writes the submission into a file, as JSON.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn save(&self, path: &Path, servers: &Roster) -> Result<(), ClientError> {
        write(path, &self.to_bytes(servers), Mode::Usual)
    }

    /// The submission as [`Submission::save`] writes it.
    pub fn to_bytes(&self, servers: &Roster) -> Vec<u8> {
        let all = servers
            .parties()
            .iter()
            .zip(&self.receipts)
            .zip(&self.digests);
        let written = Written {
            madrigal_submission: VERSION,
            kind: self.kind.clone(),
            program: self.program.to_string(),
            client: self.client.clone(),
            submission: self.id.to_string(),
            servers: all
                .map(|((entry, signed), digest)| WrittenServer {
                    name: entry.name.clone(),
                    address: entry.address.to_string(),
                    key: entry.key.to_string(),
                    digest: digest.to_string(),
                    receipt: hex::digits(&signed.bytes),
                    signature: hex::digits(signed.signature.as_bytes()),
                })
                .collect(),
        };
        serde_json::to_vec_pretty(&written).unwrap_or_default()
    }

    /// Reads a file that [`Submission::save`] wrote. Its receipts are checked by whoever uses them ([`Submission::verify`]).
    ///
    /// # Errors
    /// [`ClientError`]: the file cannot be read, or holds no submission.
    pub fn load(path: &Path) -> Result<Self, ClientError> {
        let file = |what: &str| ClientError::File {
            path: path.to_owned(),
            what: what.into(),
        };
        let bytes = read(path)?;
        let bytes = bytes.ok_or_else(|| {
            file("it does not exist: give the file that was written when the inputs were submitted")
        })?;
        Self::parse(&bytes).map_err(file)
    }

    /// Reads what [`Submission::to_bytes`] gave. Its receipts are checked by whoever uses them ([`Submission::verify`]).
    ///
    /// # Errors
    /// [`ClientError::Bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ClientError> {
        Self::parse(bytes).map_err(|what| ClientError::Bytes { what })
    }

    /// The submission, or what is wrong with the bytes.
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let damaged = || "it is no receipt of a submission, or is damaged: copy it again";
        let written: Written = serde_json::from_slice(bytes).map_err(|_| damaged())?;
        if written.madrigal_submission != VERSION {
            return Err("it is of another version of this program: use that one");
        }
        let digest = |digits: &str| hex::array(digits).map(Digest256).ok_or_else(damaged);
        let digests = written.servers.iter().map(|server| digest(&server.digest));
        let receipts = written.servers.iter().map(|server| {
            let bytes = hex::bytes(&server.receipt)?;
            let signature = Signature::from_bytes(hex::array(&server.signature)?);
            Some(Signed {
                bytes: bytes.into(),
                signature,
            })
        });
        Ok(Self {
            digests: digests.collect::<Result<_, _>>()?,
            receipts: receipts.collect::<Option<_>>().ok_or_else(damaged)?,
            kind: written.kind,
            program: digest(&written.program)?,
            client: written.client,
            id: digest(&written.submission)?,
        })
    }
}
