//! A kind as it is kept: the rules by which the agreement counts its submissions, what its policy has spent, and who waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use madrigal_core::Party;
use madrigal_vault::{Id, Policy, Vault, VaultError};
use tokio::sync::watch;

use crate::clock::now;
use crate::held::Held;
use crate::kind::Kind;
use crate::operation::KindLabel;
use crate::policy::{Spending, Verdict};

/// Reason why what is kept cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// A kind was changed that clients have brought submissions for.
    #[error("{0}")]
    Changed(String),
}

/// Reason for which no batch of a kind begins that was taken out.
const TAKEN_OUT: &str = "the kind was taken out of the service's file there";

/// A kind, as it is kept.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) digest: [u8; 32],
    pub(crate) rules: Rules,
    /// Servers whose policies let no batch begin now, and why.
    pub(crate) refusals: Arc<Mutex<BTreeMap<Party, String>>>,
    /// Number of batches that have ended in this process, for those who wait.
    pub(crate) ended: watch::Sender<u64>,
    pub(crate) label: KindLabel,
}

impl Kept {
    /// A kind that was not there before, of which the vault may know how often it was computed.
    pub(crate) fn new(
        vault: &Vault,
        held: &Arc<Held>,
        (kind, verdict): &Judged,
    ) -> Result<Self, KeepError> {
        let name = &kind.config.name;
        let each = kind.privacy.as_ref().copied().unwrap_or_default();
        let spent = vault.noted(&spent_note(name))?;
        let spent = spent.as_ref().map(|note| &note[..]);
        let spending = Spending::new(name, verdict, each, spent).map_err(KeepError::Changed)?;
        Ok(Self {
            digest: kind.digest,
            rules: Rules::new(kind, spending, Arc::default(), Arc::clone(held)),
            refusals: Arc::default(),
            ended: watch::Sender::new(0),
            label: KindLabel::from(&**name),
        })
    }

    /// The kind as a file has it that was read again.
    pub(crate) fn anew(&self, (kind, verdict): &Judged) -> Self {
        let spending = self.rules.spending.under(verdict);
        Self {
            rules: Rules::new(
                kind,
                spending,
                Arc::clone(&self.rules.told),
                Arc::clone(&self.rules.held),
            ),
            ..self.clone()
        }
    }

    /// The kind once it was taken out of the file.
    pub(crate) fn closed(&self) -> Self {
        let mut closed = self.clone();
        closed.rules.closed = true;
        closed
    }
}

/// A kind, with the policy's verdict on it.
pub(crate) type Judged = (Arc<Kind>, Verdict);

/// Rules of a kind, as the agreement asks for them.
#[derive(Clone)]
pub(crate) struct Rules {
    least: u64,
    /// The least that the leader was told last: a batch that it forms by that is computed, even if the file was read again meanwhile.
    told: Arc<AtomicU64>,
    /// Whether the kind was taken out of the file: no batch begins, and one that is formed already is computed.
    pub(crate) closed: bool,
    most: u64,
    expires: u64,
    pub(crate) waits_for: BTreeSet<String>,
    pub(crate) spending: Spending,
    /// Kinds that hold inputs for this one.
    pub(crate) holders: Vec<String>,
    held: Arc<Held>,
}

impl Rules {
    fn new(kind: &Kind, spending: Spending, told: Arc<AtomicU64>, held: Arc<Held>) -> Self {
        let config = &kind.config;
        Self {
            least: spending.least(config.least) as u64,
            told,
            closed: false,
            most: config.most as u64,
            expires: config.expires.as_secs(),
            waits_for: config.waits_for.clone(),
            spending,
            holders: config.held.values().cloned().collect(),
            held,
        }
    }

    /// Reason for which this server lets no batch begin at this time, if so.
    pub(crate) fn refusal(&self, now: u64) -> Option<String> {
        match self.closed {
            true => Some(TAKEN_OUT.to_owned()),
            false => {
                let waits = || self.held.missing(&self.holders);
                self.spending.refusal(now).or_else(waits)
            }
        }
    }
}

impl Policy for Rules {
    fn least(&self) -> u64 {
        // Submissions stay where there is no batch; one that is formed and then refused would end them.
        if self.refusal(now()).is_some() {
            return u64::MAX;
        }
        self.told.store(self.least, Relaxed);
        self.least
    }

    fn overdue(&self) -> u64 {
        self.expires
    }

    fn awaited(&self) -> Vec<&str> {
        self.waits_for.iter().map(String::as_str).collect()
    }

    fn refuses(&self, _: u64, ids: &[Id]) -> Option<String> {
        let (most, got) = (self.most, ids.len() as u64);
        // 0: none was told since the server was started.
        let least = match self.told.load(Relaxed) {
            0 => self.least,
            told => self.least.min(told),
        };
        if let Some(reason) = self.spending.refusal(now()) {
            return Some(reason);
        }
        let fits = (least..=most).contains(&got);
        // The leader knows the least of all servers, so a batch of another size is its fault.
        (!fits).then(|| {
            format!("a batch of {got} submissions, where this server computes {least} to {most}")
        })
    }
}

/// Name of the note of how often a kind was computed.
pub(crate) fn spent_note(kind: &str) -> String {
    format!("spent {kind}")
}
