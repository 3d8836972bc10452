//! This side of a connection.

use std::sync::Arc;

use crate::fingerprint::Fingerprint;
use crate::identity::Validity;
use crate::roster::Roster;

/// Facts about this side that the errors need.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) roster: Arc<Roster>,
    pub(super) party: usize,
    pub(super) key: Fingerprint,
    pub(super) validity: Validity,
}
