//! Offers of a server: kinds, and who may use them, by its service's file as it was read last.

use std::collections::BTreeMap;
use std::sync::Arc;

use madrigal_intake::Terms;

use crate::config::ClientConfig;
use crate::kind::Kind;
use crate::requests::{Pool, RequestKind};

/// A kind of requests, and where they wait.
pub(crate) type Asks = (Arc<RequestKind>, Arc<Pool>);

/// Kinds of a server, and who may use them, by its service's file.
pub(crate) struct Offer {
    /// The kinds of jobs, in the order of the terms, where they come first.
    pub(super) kinds: Vec<Arc<Kind>>,
    /// The kinds of requests, in the order of the terms.
    pub(super) requests: Vec<Asks>,
    /// Kinds of jobs that were taken out of the file since the server was started: they take no submissions, and their results are there.
    pub(super) gone: Vec<Arc<Kind>>,
    pub(super) clients: BTreeMap<String, ClientConfig>,
    pub(super) terms: Arc<Terms>,
}

impl Offer {
    /// The terms, as clients are told them.
    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms)
    }

    /// The clients that are known.
    pub(crate) fn clients(&self) -> &BTreeMap<String, ClientConfig> {
        &self.clients
    }

    /// The kind of jobs at a place of the terms.
    pub(super) fn kind(&self, place: u32) -> Option<&Arc<Kind>> {
        self.kinds.get(place as usize)
    }

    /// A kind of jobs with its name, also one that was taken out.
    pub(super) fn named(&self, name: &str) -> Option<&Arc<Kind>> {
        let mut all = self.kinds.iter().chain(&self.gone);
        all.find(|kind| kind.config.name == name)
    }
}
