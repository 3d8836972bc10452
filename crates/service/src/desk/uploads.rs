//! Uploads: begun, checked against what they say, accepted.

use std::sync::Arc;

use futures_util::FutureExt as _;
use madrigal_clients::Header;
use madrigal_core::Digest256;
use madrigal_core::chain::Chain;
use madrigal_intake::{Begin, Code, Receipt, Whole};
use madrigal_vault::agreement::Record;
use madrigal_vault::{Begun, Submission, VaultError};

use super::answers::{Answer, refused};
use super::office::Desk;
use super::reply::{No, Reply};
use super::visitor::{Upload, Visitor};
use crate::clock::now;
use crate::kind::Kind;

impl Desk {
    /// Checks that a client may submit what these headers say, and for whom it speaks.
    fn may(
        &self,
        number: u64,
        kind: u32,
        headers: &[Header],
        visitor: &Visitor,
    ) -> Result<(Arc<Kind>, String), No> {
        let kind = self.jobs(number, kind, visitor)?;
        let may = self.may_submit(&kind, visitor);
        may.map_err(|(code, text)| (number, code, text))?;
        let client = headers.first().map(|header| header.named().client.clone());
        let client = client.unwrap_or_default();
        let name = &kind.config.name;
        let wrong = |text| Err((number, Code::NotAllowed, text));
        for header in headers {
            let named = header.named();
            if named.client != client {
                return wrong(format!(
                    "the inputs are of client `{client}` and of client `{}`",
                    named.client
                ));
            }
            if named.job != *name {
                return wrong(format!(
                    "an input for job `{}`, and not `{name}`",
                    named.job
                ));
            }
        }
        match visitor.client() {
            Some(known) if known != client => wrong(format!(
                "an input of client `{client}`, and the connection is of client `{known}`"
            )),
            None if self.offer().clients().contains_key(&client) => wrong(format!(
                "client `{client}` is known here by a key or a token, which the connection does not have"
            )),
            _ => Ok((kind, client)),
        }
    }

    pub(super) fn begin(
        self: Arc<Self>,
        begin: Begin,
        headers: &[Header],
        visitor: &mut Visitor,
    ) -> Result<Answer, No> {
        let number = begin.number;
        let (kind, client) = self.may(number, begin.kind, headers, visitor)?;
        let upload = Upload {
            kind: Arc::clone(&kind),
            id: begin.id,
            digest: begin.digest,
        };
        let submission = Submission {
            id: begin.id.0,
            kind: kind.config.name.clone(),
            client,
            account: account(visitor),
            header: begin.headers.to_vec(),
            length: begin.length,
            digest: begin.digest.0,
        };
        visitor.uploads.insert(number, upload.clone());
        let begun = self.keep.vault().begin(submission, now());
        Ok(async move {
            vec![match begun.await {
                Ok(Begun::At(offset)) => Reply::Begun { number, offset },
                Ok(Begun::Accepted { at }) => self.receipt(number, &upload, at),
                Err(error) => self.refusal(number, &error),
            }]
        }
        .boxed())
    }

    pub(super) fn whole(
        self: Arc<Self>,
        whole: Whole,
        headers: &[Header],
        visitor: &Visitor,
    ) -> Result<Answer, No> {
        let number = whole.number;
        let (kind, client) = self.may(number, whole.kind, headers, visitor)?;
        let upload = Upload {
            kind: Arc::clone(&kind),
            id: whole.id,
            digest: whole.digest,
        };
        let length = whole.body.len() as u64;
        // One client's wrong shares would end the jobs of all.
        let shares = kind.shares(self.me(), &whole.headers, &whole.body);
        shares.map_err(|problem| (number, Code::Header, problem))?;
        let submission = Submission {
            id: whole.id.0,
            kind: kind.config.name.clone(),
            client,
            account: account(visitor),
            header: whole.headers.to_vec(),
            length,
            digest: whole.digest.0,
        };
        let (begun, now) = (now(), now());
        let taken = self
            .keep
            .vault()
            .submit(submission, whole.body.to_vec(), begun);
        Ok(async move {
            let accepted = match taken.await {
                Ok(Begun::Accepted { at }) => Ok(at),
                Ok(Begun::At(_)) => Ok(now),
                Err(error) => Err(error),
            };
            vec![
                Reply::Taken(length),
                self.accepted(number, &upload, accepted),
            ]
        }
        .boxed())
    }

    /// Accepts an upload whose pieces all came, if its shares are what it says.
    pub(super) async fn end(self: Arc<Self>, number: u64, upload: Upload) -> Reply {
        match self.keep.vault().whole(upload.id.0).await {
            Ok(None) => {}
            Ok(Some(at)) => return self.accepted(number, &upload, Ok(at)),
            Err(error) => return self.refusal(number, &error),
        }
        let (desk, kind) = (Arc::clone(&self), Arc::clone(&upload.kind));
        let checked = Arc::clone(&self).reading(number, move || {
            let read = desk.keep.vault().received(&upload.id.0);
            let read = read.map_err(|error| (number, Code::Server, error.to_string()))?;
            // The digest is the submission's for ever, so what is accepted below is what was looked at here.
            let whole = read.filter(|(header, body)| Chain::digest(header, body) == upload.digest);
            let (header, body) = whole.ok_or_else(|| {
                let text = "it came on another connection meanwhile: ask for its state";
                (number, Code::Retry, text.to_owned())
            })?;
            let shares = kind.shares(desk.me(), &header, &body);
            shares.map_err(|problem| (number, Code::Header, problem))
        });
        match checked.await {
            Ok(_) => {
                let accepted = self.keep.vault().accept(upload.id.0, now()).await;
                self.accepted(number, &upload, accepted)
            }
            Err((number, Code::Header, problem)) => {
                // The bytes make room for others, and the submission never is accepted.
                let kind = &upload.kind.config.name;
                let ids = vec![upload.id.0];
                let dropped = self.keep.write(kind, Record::Bar { ids }).await;
                if let Err(error) = dropped {
                    self.keep.trouble(&error);
                }
                self.meters.refuse("submission");
                refused((number, Code::Header, problem))
            }
            Err(no) => refused(no),
        }
    }

    /// The answer to a submission that may be on the disk, of which the kind is told.
    fn accepted(&self, number: u64, upload: &Upload, at: Result<u64, VaultError>) -> Reply {
        match at {
            Ok(at) => {
                let kind = &upload.kind.config.name;
                self.keep.accepted(kind);
                self.teller.accepted(kind);
                self.receipt(number, upload, at)
            }
            Err(error) => self.refusal(number, &error),
        }
    }

    fn receipt(&self, number: u64, upload: &Upload, at: u64) -> Reply {
        let kind = &upload.kind;
        let receipt = Receipt {
            server: self.key(),
            kind: kind.config.name.clone(),
            program: Digest256(kind.digest),
            submission: upload.id,
            digest: upload.digest,
            time: at,
        };
        match receipt.sign(&self.identity) {
            Ok(receipt) => Reply::Accepted { number, receipt },
            Err(error) => refused((number, Code::Server, error.to_string())),
        }
    }
}

/// Account that submissions count in: a known client's own, or the one that strangers share, by whichever names they go.
fn account(visitor: &Visitor) -> String {
    visitor.client().map(str::to_owned).unwrap_or_default()
}
