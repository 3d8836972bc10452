//! Receipts of a job by all servers, as a file that anybody can check who has the list of servers.

use std::path::Path;

use madrigal_intake::{JobReceipt, Signed, check};
use madrigal_net::identity::Signature;
use madrigal_net::roster::Roster;
use serde::{Deserialize, Serialize};

use crate::error::ClientError;
use crate::files::{Mode, read, write};
use crate::hex;
use crate::submission::Submission;

/// Version of the file.
const VERSION: u32 = 1;

/// Receipts of a job, in the order of the servers. They have no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReceipts(pub Vec<Signed>);

/// Contents of a file of receipts, once the servers' signatures are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// A submission that all servers have accepted.
    Submission(Submission),
    /// A job, as all servers say.
    Job(JobReceipt),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    madrigal_job: u32,
    servers: Vec<WrittenServer>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenServer {
    name: String,
    key: String,
    receipt: String,
    signature: String,
}

/// The field by which the two sorts of files are told apart.
#[derive(Deserialize)]
struct Sort {
    madrigal_job: Option<u32>,
}

impl JobReceipts {
    /// Writes the receipts into a file, as JSON.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn save(&self, path: &Path, servers: &Roster) -> Result<(), ClientError> {
        let all = servers.parties().iter().zip(&self.0);
        let written = Written {
            madrigal_job: VERSION,
            servers: all
                .map(|(entry, signed)| WrittenServer {
                    name: entry.name.clone(),
                    key: entry.key.to_string(),
                    receipt: hex::digits(&signed.bytes),
                    signature: hex::digits(signed.signature.as_bytes()),
                })
                .collect(),
        };
        let json = serde_json::to_vec_pretty(&written).unwrap_or_default();
        write(path, &json, Mode::Usual)
    }

    /// Reads the text of a file that [`JobReceipts::save`] wrote. The receipts are not checked.
    fn parse(path: &Path, text: &[u8]) -> Result<Self, ClientError> {
        let file = |what: &str| ClientError::File {
            path: path.to_owned(),
            what: what.into(),
        };
        let damaged = || file("it is no receipt of a job, or is damaged: copy it again");
        let written: Written = serde_json::from_slice(text).map_err(|_| damaged())?;
        if written.madrigal_job != VERSION {
            return Err(file(
                "it is of another version of this program: use that one",
            ));
        }
        let receipts = written.servers.iter().map(|server| {
            let bytes = hex::bytes(&server.receipt)?;
            let signature = Signature::from_bytes(hex::array(&server.signature)?);
            Some(Signed {
                bytes: bytes.into(),
                signature,
            })
        });
        let receipts = receipts.collect::<Option<_>>().ok_or_else(damaged)?;
        Ok(Self(receipts))
    }
}

impl Verified {
    /// Reads a file with receipts of a submission or of a job, and checks that these servers have signed them and say the same. Nobody is asked.
    ///
    /// # Errors
    /// [`ClientError`]: a file that cannot be read or is none of the two, a signature that is missing or is not its server's, servers that say different
    /// things of the job.
    pub fn load(path: &Path, servers: &Roster) -> Result<Self, ClientError> {
        let text = read(path)?.ok_or_else(|| ClientError::File {
            path: path.to_owned(),
            what: "it does not exist".to_owned(),
        })?;
        let sort = serde_json::from_slice::<Sort>(&text);
        if sort.is_ok_and(|sort| sort.madrigal_job.is_some()) {
            let JobReceipts(receipts) = JobReceipts::parse(path, &text)?;
            return Ok(Self::Job(check(&receipts, servers)?));
        }
        let submission = Submission::load(path)?;
        submission.verify(servers)?;
        Ok(Self::Submission(submission))
    }
}
