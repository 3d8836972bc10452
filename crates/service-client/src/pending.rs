//! The pending file of a submission: with it, a submission that a crash has interrupted goes on as the same one.
//!
//! It is written before the first byte goes to any server, and removed once the receipt is written. It has the seed of the shares, so that
//! the same inputs give the same shares, nonce and name again: a server that has the submission already gives its receipt once more, and one that
//! has half of it takes the other half. It has the digests of all bodies too: other inputs under the same seed would be cut up with
//! the same random parts, and whoever saw both would know their difference; so they are refused.
//!
//! Who has this file, and what one server got, has the inputs. So its mode is 0600.

use std::path::Path;

use madrigal_clients::{SEED_BYTES, private_seed};
use madrigal_core::{Wipe, Zeroizing};
use madrigal_net::roster::Roster;
use serde::{Deserialize, Serialize};

use crate::error::ClientError;
use crate::files::{Mode, check_private, read, remove, write};
use crate::hex;
use crate::prepared::Prepared;

/// Version of the file.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    madrigal_pending_submission: u32,
    /// Digest of the servers' keys.
    servers: String,
    kind: String,
    program: String,
    client: String,
    submission: String,
    /// Digests of the bodies, in the order of the servers.
    digests: Vec<String>,
    seed: String,
}

impl Drop for Written {
    fn drop(&mut self) {
        self.seed.wipe();
    }
}

/// The seed of a submission, and what it is to give.
pub(crate) struct Pending {
    pub(crate) seed: Zeroizing<[u8; SEED_BYTES]>,
    written: Option<Written>,
}

impl Pending {
    /// The pending submission of a file, or a new one.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, ClientError> {
        let bytes = match path {
            Some(path) => read(path)?,
            None => None,
        };
        let (Some(path), Some(bytes)) = (path, bytes) else {
            return Ok(Self {
                seed: private_seed()?,
                written: None,
            });
        };
        check_private(path)?;
        let file = |what: &str| ClientError::File {
            path: path.to_owned(),
            what: what.into(),
        };
        let damaged =
            || file("it is no pending submission, or is damaged: remove it, and submit anew");
        let written: Written = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if written.madrigal_pending_submission != VERSION {
            return Err(file(
                "it is of another version of this program: finish the submission with that one",
            ));
        }
        let seed = hex::secret(&written.seed).ok_or_else(damaged)?;
        Ok(Self {
            seed,
            written: Some(written),
        })
    }

    /// Writes the file of a new submission, or checks that an old one is this submission.
    pub(crate) fn settle(
        &self,
        path: Option<&Path>,
        prepared: &Prepared,
        servers: &Roster,
    ) -> Result<(), ClientError> {
        let Some(path) = path else {
            return Ok(());
        };
        let now = Written {
            madrigal_pending_submission: VERSION,
            servers: hex::digits(&servers.digest()),
            kind: prepared.kind.clone(),
            program: prepared.program.to_string(),
            client: prepared.client.clone(),
            submission: prepared.id.to_string(),
            digests: prepared
                .bodies
                .iter()
                .map(|(digest, _)| digest.to_string())
                .collect(),
            seed: hex::digits(&*self.seed),
        };
        let Some(before) = &self.written else {
            let json = Zeroizing::new(serde_json::to_vec_pretty(&now).unwrap_or_default());
            return write(path, &json, Mode::Private);
        };
        let fields = [
            ("list of servers", &before.servers, &now.servers),
            ("kind", &before.kind, &now.kind),
            ("program", &before.program, &now.program),
            ("client", &before.client, &now.client),
            ("submission", &before.submission, &now.submission),
        ];
        let other = fields.iter().find(|(_, before, now)| before != now);
        let other = other.map(|(field, ..)| *field);
        match other.or((before.digests != now.digests).then_some("inputs")) {
            None => Ok(()),
            Some(field) => Err(ClientError::File {
                path: path.to_owned(),
                what: format!(
                    "it is of a submission with other content ({field}): finish that one with what it was begun with, or remove the file to submit anew, which may count as a second submission"
                ),
            }),
        }
    }

    /// Removes the file: the submission is accepted everywhere.
    pub(crate) fn done(path: Option<&Path>) -> Result<(), ClientError> {
        path.map_or(Ok(()), remove)
    }
}
