//! All that connections of clients have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use madrigal_core::{Digest256, Party};
use madrigal_intake::{Code, Input, Kind as Description, Output, Terms, What};
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::Identity;
use tokio::sync::Semaphore;

use super::visitor::Visitor;
use crate::config::{ClientConfig, Submitters};
use crate::keep::Keep;
use crate::kind::Kind;
use crate::operation::Meters;
use crate::together::Teller;

/// Bytes of bodies that a client may send ahead of the disk.
const BODY_WINDOW: u64 = 1 << 20;
/// Reads from the disk at once, for all clients.
const READS: usize = 32;
/// Requests that a client may have unanswered.
const REQUEST_WINDOW: u32 = 4096;

/// Everything that connections of clients need.
pub(crate) struct Desk {
    pub(crate) identity: Identity,
    pub(crate) keep: Arc<Keep>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) teller: Teller,
    /// The kinds, in the order of the terms.
    pub(crate) kinds: Vec<Arc<Kind>>,
    clients: RwLock<Arc<BTreeMap<String, ClientConfig>>>,
    terms: Arc<Terms>,
    /// Places for reads from the disk.
    pub(super) reads: Semaphore,
}

/// Parts of a desk.
pub(crate) struct DeskSetup {
    pub(crate) identity: Identity,
    pub(crate) keep: Arc<Keep>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) teller: Teller,
    pub(crate) kinds: Vec<Arc<Kind>>,
    pub(crate) clients: BTreeMap<String, ClientConfig>,
    pub(crate) name: String,
    pub(crate) me: Party,
    pub(crate) servers: usize,
}

impl Desk {
    pub(crate) fn new(setup: DeskSetup) -> Self {
        let terms = Terms {
            server: setup.name,
            place: setup.me,
            servers: setup.servers,
            software: concat!("madrigal ", env!("CARGO_PKG_VERSION")).to_owned(),
            kinds: setup.kinds.iter().map(|kind| described(kind)).collect(),
            body_window: BODY_WINDOW,
            request_window: REQUEST_WINDOW,
        };
        Self {
            identity: setup.identity,
            keep: setup.keep,
            meters: setup.meters,
            teller: setup.teller,
            kinds: setup.kinds,
            clients: RwLock::new(Arc::new(setup.clients)),
            terms: Arc::new(terms),
            reads: Semaphore::new(READS),
        }
    }

    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms)
    }

    /// The clients that are known now.
    pub(crate) fn clients(&self) -> Arc<BTreeMap<String, ClientConfig>> {
        let clients = self.clients.read();
        Arc::clone(&clients.unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes another list of known clients, for those who come from now on.
    pub(crate) fn reload(&self, clients: BTreeMap<String, ClientConfig>) {
        let mut known = self.clients.write().unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new(clients);
    }

    /// Fingerprint of this server's key.
    pub(crate) fn key(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    /// Whether a client may submit to a kind.
    pub(super) fn may_submit(&self, kind: &Kind, visitor: &Visitor) -> Result<(), (Code, String)> {
        let name = &kind.config.name;
        let allowed = match (&kind.config.submit, visitor.client()) {
            (Submitters::Anyone, _) | (Submitters::Known, Some(_)) => true,
            (Submitters::Named(names), Some(client)) => names.contains(client),
            (Submitters::Known | Submitters::Named(_), None) => false,
        };
        match allowed {
            true => Ok(()),
            false => {
                let who = submitters(kind);
                let text = format!("kind `{name}` takes submissions of {who}");
                Err((Code::NotAllowed, text))
            }
        }
    }
}

/// Those who may submit, in words.
fn submitters(kind: &Kind) -> String {
    match &kind.config.submit {
        Submitters::Anyone => "anyone".to_owned(),
        Submitters::Known => "all clients that the service knows".to_owned(),
        Submitters::Named(names) => {
            let mut text = names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            if names.len() > 8 {
                text.push_str(&format!(" and {} others", names.len() - 8));
            }
            text
        }
    }
}

/// A kind as clients see it.
fn described(kind: &Kind) -> Description {
    let shape = |shape: &[usize]| shape.iter().copied().map(Some).collect();
    Description {
        name: kind.config.name.clone(),
        program: Digest256(kind.digest),
        what: What::Program,
        inputs: kind
            .inputs
            .iter()
            .map(|input| Input {
                name: input.name.clone(),
                element_type: input.element_type.clone(),
                shape: shape(&input.shape),
                sharing: input.form.0,
                element: input.form.1,
            })
            .collect(),
        outputs: kind
            .outputs
            .iter()
            .map(|output| Output {
                name: output.name.clone(),
                element_type: output.element_type.clone(),
                shape: output.shape.clone(),
                receivers: output.to.to_string(),
            })
            .collect(),
        submitters: submitters(kind),
        most_bytes: kind.most_bytes(),
        anonymous: kind.config.submit == Submitters::Anyone,
    }
}
