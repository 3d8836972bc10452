//! Whoever is at the other end of a client's connection.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, BoxFuture};
use madrigal_core::Digest256;
use madrigal_intake::{Code, Hello, Requests};
use madrigal_net::fingerprint::Fingerprint;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::offer::Offer;
use super::reply::Reply;
use crate::config::ClientConfig;
use crate::kind::Kind;
use crate::requests::{Pool, SessionName, Told};

/// A client on one connection.
pub(crate) struct Visitor {
    /// Key that the connection has proved.
    key: Option<Fingerprint>,
    /// Name by which the client is known; nothing if it is anonymous.
    client: Option<String>,
    /// Digest of the token that the client has shown.
    token: Option<[u8; 32]>,
    /// Offer of the server when the client came: places of kinds are those of this one.
    offer: Arc<Offer>,
    greeted: bool,
    /// Uploads that are open, by their numbers.
    pub(super) uploads: HashMap<u64, Upload>,
    /// Answers that wait for something, by their numbers.
    waiting: HashMap<u64, AbortHandle>,
    /// Name of the client's connections to all servers.
    session: SessionName,
    /// Requests, once there are some.
    pub(super) asking: Option<Asking>,
}

/// Requests of a client on one connection.
#[derive(Debug)]
pub(super) struct Asking {
    session: SessionName,
    replies: UnboundedSender<Told>,
    told: UnboundedReceiver<Told>,
    /// Number of the connection in each pool that has requests of it.
    pools: Vec<(Arc<Pool>, u64)>,
}

impl Asking {
    /// Hands requests to a pool.
    ///
    /// # Errors
    /// Why they are refused.
    fn push(&mut self, pool: &Arc<Pool>, requests: Requests) -> Result<(), (Code, String)> {
        let known = self
            .pools
            .iter()
            .find(|(known, _)| Arc::ptr_eq(known, pool));
        let known = known.map(|(_, connection)| *connection);
        let connection = pool.push(self.session, known, &self.replies, requests)?;
        if known.is_none() {
            self.pools.push((Arc::clone(pool), connection));
        }
        Ok(())
    }

    /// The next word on requests.
    pub(super) async fn told(&mut self) -> Option<Told> {
        self.told.recv().await
    }

    /// The next word on requests, if there is one already.
    pub(super) fn told_now(&mut self) -> Option<Told> {
        self.told.try_recv().ok()
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        for (pool, connection) in &self.pools {
            pool.leave(&self.session, *connection);
        }
    }
}

/// An upload that is open.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    pub(super) kind: Arc<Kind>,
    pub(super) id: Digest256,
    pub(super) digest: Digest256,
}

impl Visitor {
    pub(crate) fn new(key: Option<Fingerprint>, offer: Arc<Offer>) -> Self {
        Self {
            key,
            token: None,
            offer,
            client: None,
            greeted: false,
            uploads: HashMap::new(),
            session: SessionName::default(),
            asking: None,
            waiting: HashMap::new(),
        }
    }

    /// Hands requests to a pool.
    ///
    /// # Errors
    /// Why they are refused.
    pub(super) fn ask(
        &mut self,
        pool: &Arc<Pool>,
        requests: Requests,
    ) -> Result<(), (Code, String)> {
        let session = self.session;
        let asking = self.asking.get_or_insert_with(|| {
            let (replies, told) = unbounded_channel();
            Asking {
                session,
                replies,
                told,
                pools: Vec::new(),
            }
        });
        asking.push(pool, requests)
    }

    /// The server's offer when the client came.
    pub(super) fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Checks that the client is still known by what it has shown, where the list of clients may have changed since.
    ///
    /// # Errors
    /// Why not, in words.
    pub(super) fn is_still_known(
        &self,
        known: &BTreeMap<String, ClientConfig>,
    ) -> Result<(), String> {
        let Some(name) = &self.client else {
            return Ok(());
        };
        let shows = |client: &ClientConfig| {
            let by_key = self.key.is_some() && client.key == self.key;
            let token = self.token.zip(client.token);
            let by_token = token.is_some_and(|(shown, known)| *known.as_bytes() == shown);
            by_key || by_token
        };
        match known.get(name).is_some_and(shows) {
            true => Ok(()),
            false => Err(format!(
                "client `{name}` is not known any more by the key or the token that it has shown: the service's file was read again"
            )),
        }
    }

    pub(crate) fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Name by which the client is known.
    pub(crate) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// An answer that the client may take back.
    pub(super) fn may_stop(
        &mut self,
        number: u64,
        answer: impl Future<Output = Vec<Reply>> + Send + 'static,
    ) -> BoxFuture<'static, Vec<Reply>> {
        let (handle, registration) = AbortHandle::new_pair();
        self.waiting.insert(number, handle);
        let answer = Abortable::new(answer, registration);
        async move { answer.await.unwrap_or_default() }.boxed()
    }

    /// Stops an answer that the client has taken back.
    pub(super) fn stop(&mut self, number: u64) {
        if let Some(handle) = self.waiting.remove(&number) {
            handle.abort();
        }
    }

    /// Notes that a message was answered.
    pub(super) fn answered(&mut self, number: u64) {
        self.uploads.remove(&number);
        self.waiting.remove(&number);
    }

    /// Finds out who greets: by the key that the connection has proved, or by the token. Gives the name, or why the client is turned away.
    pub(super) fn greet(
        &mut self,
        hello: &Hello,
        known: &BTreeMap<String, ClientConfig>,
    ) -> Result<Option<String>, (Code, String)> {
        let unknown = |what: &str| {
            let text = format!(
                "no client of this service has {what}: its operator adds clients under [[clients]]"
            );
            Err((Code::Unknown, text))
        };
        let mut found: Option<&String> = None;
        if let Some(key) = &self.key {
            let mut clients = known.iter();
            found = clients
                .find(|(_, client)| client.key.as_ref() == Some(key))
                .map(|(name, _)| name);
            if found.is_none() && hello.token.is_none() {
                return unknown(&format!("the key {key}"));
            }
        }
        if let Some(token) = &hello.token {
            let digest: [u8; 32] = Sha256::digest(&**token).into();
            self.token = Some(digest);
            // All are looked at, so that time tells nothing of which fits.
            let mut by_token = None;
            for (name, client) in known {
                let fits = client.token.as_ref();
                let fits = fits.is_some_and(|known| known.as_bytes().ct_eq(&digest).into());
                if fits {
                    by_token = Some(name);
                }
            }
            match (found, by_token) {
                (None, None) => return unknown("this token"),
                (Some(key), Some(token)) if key != token => {
                    let text = format!("the key is of client `{key}`, and the token of `{token}`");
                    return Err((Code::Unknown, text));
                }
                (None, found_now) => found = found_now,
                (Some(_), _) => {}
            }
        }
        if let (Some(found), Some(claimed)) = (found, &hello.client)
            && found != claimed
        {
            let text = format!(
                "the client calls itself `{claimed}`, and its key or token is of `{found}`"
            );
            return Err((Code::Unknown, text));
        }
        self.session = hello.session;
        self.client = found.cloned();
        self.greeted = true;
        Ok(self.client.clone())
    }
}
