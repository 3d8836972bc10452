//! All that connections of clients have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use madrigal_core::{Digest256, MAX_PARTIES, Party};
use madrigal_intake::{Code, Input, Kind as Description, Output, Requests, Terms, What, WireError};
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::Identity;
use tokio::sync::{Semaphore, watch};

use super::offer::{Asks, Offer};
use super::reply::No;
use super::visitor::Visitor;
use crate::config::{ClientConfig, Submitters};
use crate::keep::Keep;
use crate::kind::Kind;
use crate::operation::Meters;
use crate::requests::RequestKind;
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
    name: String,
    me: Party,
    servers: usize,
    /// Present offer of the server. Connections hear when it changes.
    offer: watch::Sender<Arc<Offer>>,
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
    pub(crate) requests: Vec<Asks>,
    pub(crate) clients: BTreeMap<String, ClientConfig>,
    pub(crate) name: String,
    pub(crate) me: Party,
    pub(crate) servers: usize,
}

impl Desk {
    pub(crate) fn new(setup: DeskSetup) -> Self {
        let kinds = described_all(&setup.kinds, setup.requests.iter().map(|(kind, _)| kind));
        let terms = terms(setup.name.clone(), setup.me, setup.servers, kinds);
        let offer = Offer {
            kinds: setup.kinds,
            requests: setup.requests,
            gone: Vec::new(),
            clients: setup.clients,
            terms: Arc::new(terms),
        };
        Self {
            identity: setup.identity,
            keep: setup.keep,
            meters: setup.meters,
            teller: setup.teller,
            name: setup.name,
            me: setup.me,
            servers: setup.servers,
            offer: watch::Sender::new(Arc::new(offer)),
            reads: Semaphore::new(READS),
        }
    }

    /// Number of this server.
    pub(super) fn me(&self) -> Party {
        self.me
    }

    /// The server's present offer.
    pub(crate) fn offer(&self) -> Arc<Offer> {
        Arc::clone(&self.offer.borrow())
    }

    /// Tells of changes of what the server offers.
    pub(super) fn changes(&self) -> watch::Receiver<Arc<Offer>> {
        self.offer.subscribe()
    }

    /// Takes what a file says that was read again. Kinds of requests are those that were there before.
    pub(crate) fn reload(
        &self,
        kinds: Vec<Arc<Kind>>,
        requests: &[Arc<RequestKind>],
        clients: BTreeMap<String, ClientConfig>,
    ) {
        self.offer.send_modify(|offer| {
            let requests = offer.requests.iter().map(|(before, pool)| {
                let now = |kind: &&Arc<RequestKind>| kind.config.name == before.config.name;
                let now = requests.iter().find(now).unwrap_or(before);
                (Arc::clone(now), Arc::clone(pool))
            });
            let requests: Vec<Asks> = requests.collect();
            let described = described_all(&kinds, requests.iter().map(|(kind, _)| kind));
            let terms = terms(self.name.clone(), self.me, self.servers, described);
            let before = offer.kinds.iter().chain(&offer.gone);
            let gone = before.filter(|before| {
                let name = &before.config.name;
                kinds.iter().all(|kind| kind.config.name != *name)
            });
            *offer = Arc::new(Offer {
                gone: gone.cloned().collect(),
                kinds,
                requests,
                clients,
                terms: Arc::new(terms),
            });
        });
    }

    /// Fingerprint of this server's key.
    pub(crate) fn key(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    /// The kind of jobs at a place of the terms that a client was told, as the kind is now.
    pub(super) fn jobs(&self, number: u64, place: u32, visitor: &Visitor) -> Result<Arc<Kind>, No> {
        let no_such = || (number, Code::NotFound, "no such kind of jobs".to_owned());
        let told = visitor.offer().kind(place).ok_or_else(no_such)?;
        let name = &told.config.name;
        let now = self.offer().named(name).cloned().ok_or_else(no_such)?;
        match now.digest == told.digest {
            true => Ok(now),
            false => {
                let text = format!(
                    "kind `{name}` is another one since the service's file was read again: connect anew"
                );
                Err((number, Code::NotFound, text))
            }
        }
    }

    /// Checks that a client may submit to a kind of jobs now.
    pub(super) fn may_submit(&self, kind: &Kind, visitor: &Visitor) -> Result<(), (Code, String)> {
        let (name, offer) = (&kind.config.name, self.offer());
        let now = offer.kinds.iter().find(|kind| kind.config.name == *name);
        match now {
            Some(now) => may_submit(&now.config.submit, name, visitor),
            None => {
                let text = format!(
                    "kind `{name}` was taken out of the service's file, and takes no submissions any more"
                );
                Err((Code::NotAllowed, text))
            }
        }
    }

    /// Takes requests, which are answered when their batch is.
    pub(super) fn ask(
        &self,
        requests: Requests,
        visitor: &mut Visitor,
    ) -> Result<(), (Code, String)> {
        let told = visitor.offer();
        let place = (requests.kind as usize).checked_sub(told.kinds.len());
        let found = place.and_then(|place| told.requests.get(place));
        let no_such = || (Code::NotFound, "no such kind of requests".to_owned());
        let name = &found.ok_or_else(no_such)?.0.config.name;
        let offer = self.offer();
        let mut now = offer.requests.iter();
        let now = now.find(|(kind, _)| kind.config.name == *name);
        let (kind, pool) = now.ok_or_else(no_such)?;
        may_submit(&kind.config.submit, &kind.config.name, visitor)?;
        visitor.ask(pool, requests)
    }
}

/// All kinds as clients see them, in the order of the terms.
fn described_all<'a>(
    kinds: &[Arc<Kind>],
    asks: impl Iterator<Item = &'a Arc<RequestKind>>,
) -> Vec<Description> {
    let kinds = kinds.iter().map(|kind| described(kind));
    kinds.chain(asks.map(|kind| requests(kind))).collect()
}

/// Facts about a server, for each of its clients.
fn terms(server: String, place: Party, servers: usize, kinds: Vec<Description>) -> Terms {
    Terms {
        server,
        place,
        servers,
        software: concat!("madrigal ", env!("CARGO_PKG_VERSION")).to_owned(),
        kinds,
        body_window: BODY_WINDOW,
        request_window: REQUEST_WINDOW,
    }
}

/// Checks that what a server tells each client about its kinds fits into a message.
///
/// # Errors
/// The reason, in words, with the number of kinds that fit.
pub(crate) fn check_welcome(
    server: &str,
    kinds: &[Arc<Kind>],
    asks: &[Arc<RequestKind>],
) -> Result<(), String> {
    let all = described_all(kinds, asks.iter());
    let check = |kinds: &[Description]| {
        // Names and places of servers take a few bytes; those of the largest service are counted.
        let terms = terms(
            server.to_owned(),
            Party::new(0),
            MAX_PARTIES,
            kinds.to_vec(),
        );
        terms.check()
    };
    let Err(problem) = check(&all) else {
        return Ok(());
    };
    let WireError::Long { got, most } = problem else {
        return Err(problem.to_string());
    };
    let fit = (0..all.len())
        .rev()
        .find(|count| check(&all[..*count]).is_ok());
    Err(format!(
        "{} kinds take {got} bytes in the message that each client gets first, and {most} are the most: the first {} of them fit. Divide them among several services, or give them fewer inputs and outputs and shorter names",
        all.len(),
        fit.unwrap_or(0),
    ))
}

/// Whether a client may submit to a kind.
fn may_submit(submit: &Submitters, kind: &str, visitor: &Visitor) -> Result<(), (Code, String)> {
    let allowed = match (submit, visitor.client()) {
        (Submitters::Anyone, _) | (Submitters::Known, Some(_)) => true,
        (Submitters::Named(names), Some(client)) => names.contains(client),
        (Submitters::Known | Submitters::Named(_), None) => false,
    };
    match allowed {
        true => Ok(()),
        false => {
            let who = submitters(submit);
            let text = format!("kind `{kind}` takes submissions of {who}");
            Err((Code::NotAllowed, text))
        }
    }
}

/// Those who may submit, in words.
fn submitters(submit: &Submitters) -> String {
    match submit {
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

/// A kind of requests as clients see it.
fn requests(kind: &RequestKind) -> Description {
    let [request_bytes, answer_bytes] = RequestKind::bytes();
    Description {
        name: kind.config.name.clone(),
        program: Digest256(kind.digest),
        what: What::Requests {
            request_bytes,
            answer_bytes,
        },
        inputs: Vec::new(),
        outputs: Vec::new(),
        submitters: submitters(&kind.config.submit),
        most_bytes: 0,
        anonymous: kind.config.submit == Submitters::Anyone,
    }
}

/// A kind of jobs as clients see it.
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
        submitters: submitters(&kind.config.submit),
        most_bytes: kind.most_bytes(),
        anonymous: kind.config.submit == Submitters::Anyone,
    }
}
