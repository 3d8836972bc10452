//! A client of a service.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::try_join_all;
use madrigal_intake::{Kind, Receipt, State};
use madrigal_net::roster::Roster;

use crate::asks::ToServer;
use crate::config::ServiceConfig;
use crate::dial::Dial;
use crate::error::ClientError;
use crate::pending::Pending;
use crate::prepared::Prepared;
use crate::servers::{Servers, place_of};
use crate::submission::Submission;
use crate::value::Value;

/// A client of a service, connected to all of its servers. Lost connections are made again.
pub struct ServiceClient {
    pub(crate) servers: Servers,
}

impl std::fmt::Debug for ServiceClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServiceClient({} servers)", self.servers.len())
    }
}

/// A submission that is to be made.
#[derive(Debug)]
pub struct Submit<'a> {
    /// Name of the kind.
    pub kind: &'a str,
    /// A value for each of the kind's inputs, by their names.
    pub inputs: &'a [(String, Value)],
    /// Name of the client, as parties' names are.
    pub client: &'a str,
    /// Private file that lets the submission go on after a crash as the same one: it is written before anything is sent, and removed once
    /// the receipt is written. Where it is there already, its submission goes on; the inputs have to be the same.
    pub pending: Option<&'a Path>,
    /// File for the receipts.
    pub receipt: Option<&'a Path>,
}

impl ServiceClient {
    /// Connects to all servers of a service side by side, and compares what they say.
    ///
    /// # Errors
    /// [`ClientError`]: a server cannot be reached, is not the one of the list, refuses, or tells other kinds than another.
    pub async fn connect(config: ServiceConfig) -> Result<Self, ClientError> {
        let servers = Servers::connect(config, None).await?;
        Ok(Self { servers })
    }

    /// Connects as [`ServiceClient::connect`] does, by another way than TCP and TLS: whoever gives it answers for the servers being who they
    /// are.
    ///
    /// # Errors
    /// [`ClientError`] in the same cases as [`ServiceClient::connect`].
    pub async fn connect_by(
        config: ServiceConfig,
        dial: Arc<dyn Dial>,
    ) -> Result<Self, ClientError> {
        let servers = Servers::connect(config, Some(dial)).await?;
        Ok(Self { servers })
    }

    /// Kinds that the servers have.
    pub fn kinds(&self) -> &[Kind] {
        &self.servers.kinds
    }

    /// The servers.
    pub fn roster(&self) -> &Roster {
        &self.servers.config.servers
    }

    /// Deals inputs, sends each server its share, and returns when all servers have signed that they have it on disk.
    ///
    /// # Errors
    /// [`ClientError`]: inputs that the kind does not take, a server that refuses or stays away, a wrong receipt. With a pending file the
    /// same call goes on where it was.
    pub async fn submit(&self, submit: &Submit<'_>) -> Result<Submission, ClientError> {
        let kind = self.servers.kind(submit.kind)?;
        let pending = Pending::open(submit.pending)?;
        let (inputs, client) = (submit.inputs, submit.client);
        let servers = self.servers.len();
        let prepared = Prepared::deal(kind, inputs, client, servers, &pending.seed)?;
        pending.settle(submit.pending, &prepared, self.roster())?;
        let submission = self.send(&prepared).await?;
        if let Some(path) = submit.receipt {
            submission.save(path, self.roster())?;
        }
        Pending::done(submit.pending)?;
        Ok(submission)
    }

    /// Sends all servers their shares.
    pub(crate) async fn send(&self, prepared: &Prepared) -> Result<Submission, ClientError> {
        let each = (0..self.servers.len()).map(|server| self.send_to(server, prepared));
        let receipts = try_join_all(each).await?;
        let submission = Submission {
            kind: prepared.kind.clone(),
            program: prepared.program,
            client: prepared.client.clone(),
            id: prepared.id,
            digests: prepared.bodies.iter().map(|(digest, _)| *digest).collect(),
            receipts,
        };
        Ok(submission)
    }

    async fn send_to(
        &self,
        server: usize,
        prepared: &Prepared,
    ) -> Result<madrigal_intake::Signed, ClientError> {
        let (digest, body) = &prepared.bodies[server];
        let signed = self.servers.ask(server, move |link| async move {
            let submission = ToServer {
                kind: place_of(&link, &prepared.kind)?,
                id: prepared.id,
                headers: prepared.headers.clone(),
                digest: *digest,
                body: body.clone(),
            };
            link.submit(submission).await
        });
        let signed = signed.await?;
        let at = self.servers.at(server);
        let key = self.roster().parties()[server].key;
        let receipt = Receipt::verify(&signed, &key);
        let fits = receipt.and_then(|receipt| {
            receipt.is_for(&prepared.kind, &prepared.program, &prepared.id, digest)
        });
        match fits {
            Ok(()) => Ok(signed),
            Err(fault) => Err(ClientError::Receipt {
                server: at,
                fault: Box::new(fault),
            }),
        }
    }

    /// State of a submission at each server, in their order.
    ///
    /// # Errors
    /// [`ClientError`]: a server that stays away or refuses.
    pub async fn status(&self, submission: &Submission) -> Result<Vec<State>, ClientError> {
        let id = submission.id;
        let one = |server| {
            self.servers
                .ask(server, move |link| async move { link.state(id).await })
        };
        try_join_all((0..self.servers.len()).map(one)).await
    }
}
