//! Loads that are held now, from the vault.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use madrigal_core::Digest256;
use madrigal_vault::agreement::{Outcome, run_name};
use madrigal_vault::{Id, Vault, VaultError};

use crate::kind::Kind;
use crate::work::Submitted;

/// A load of a holding kind, as servers name it to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loaded {
    /// The kind.
    pub(crate) kind: String,
    /// Number of its batch.
    pub(crate) batch: u64,
    /// Name of the run that counted, which no other load has.
    pub(crate) name: Digest256,
}

/// All holding kinds of a server.
#[derive(Debug, Default)]
pub(crate) struct Held {
    kinds: RwLock<BTreeMap<String, Arc<Mutex<Holding>>>>,
}

/// A holding kind.
#[derive(Debug, Default)]
pub(super) struct Holding {
    pub(super) newest: Option<(Loaded, Id)>,
    /// Shares of the newest load, once a job has asked for them. They are wiped when neither this nor a job has them.
    pub(super) shares: Option<Arc<Submitted>>,
}

impl Held {
    /// Looks up what is held by these of a server's kinds.
    pub(crate) fn open<'a>(
        vault: &Vault,
        kinds: impl Iterator<Item = &'a Kind>,
    ) -> Result<Self, VaultError> {
        let held = Self::default();
        held.add(vault, kinds)?;
        Ok(held)
    }

    /// Takes further kinds, of which those are known already that were there.
    pub(crate) fn add<'a>(
        &self,
        vault: &Vault,
        kinds: impl Iterator<Item = &'a Kind>,
    ) -> Result<(), VaultError> {
        for kind in kinds.filter(|kind| kind.config.holds.is_some()) {
            let name = &kind.config.name;
            let mut all = self.kinds.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(name.clone()).or_default();
            drop(all);
            self.look(vault, name)?;
        }
        Ok(())
    }

    /// Whether a kind holds inputs.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.holding(kind).is_some()
    }

    fn holding(&self, kind: &str) -> Option<Arc<Mutex<Holding>>> {
        let all = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        all.get(kind).cloned()
    }

    /// Does something with what a kind holds.
    pub(super) fn with<T>(&self, kind: &str, with: impl FnOnce(&mut Holding) -> T) -> Option<T> {
        let holding = self.holding(kind)?;
        let mut holding = holding.lock().unwrap_or_else(PoisonError::into_inner);
        Some(with(&mut holding))
    }

    /// Looks what a kind holds after one of its batches has ended; gives whether the kind holds inputs at all.
    pub(crate) fn look(&self, vault: &Vault, kind: &str) -> Result<bool, VaultError> {
        if !self.has(kind) {
            return Ok(false);
        }
        let newest = newest(vault, kind)?;
        self.with(kind, |holding| {
            if holding.newest != newest {
                *holding = Holding {
                    newest,
                    shares: None,
                };
            }
        });
        Ok(true)
    }

    /// The newest load of a kind, with its submission.
    pub(super) fn now(&self, kind: &str) -> Option<(Loaded, Id)> {
        self.with(kind, |holding| holding.newest.clone())?
    }

    /// Whether a later load has taken the place of a batch of this kind.
    pub(crate) fn is_replaced(&self, kind: &str, batch: u64) -> bool {
        self.now(kind)
            .is_some_and(|(loaded, _)| loaded.batch > batch)
    }

    /// The newest loads of these kinds, without those that hold nothing.
    pub(crate) fn all_now(&self, kinds: &[&str]) -> Vec<Loaded> {
        let now = kinds.iter().filter_map(|kind| self.now(kind));
        now.map(|(loaded, _)| loaded).collect()
    }

    /// In words, which one of these kinds holds nothing, if one does.
    pub(crate) fn missing(&self, kinds: &[String]) -> Option<String> {
        let missing = kinds.iter().find(|kind| self.now(kind).is_none())?;
        Some(format!(
            "it waits for inputs that kind `{missing}` is to hold: nothing is loaded there yet"
        ))
    }
}

/// The newest load of a kind in the vault.
fn newest(vault: &Vault, kind: &str) -> Result<Option<(Loaded, Id)>, VaultError> {
    let Some(batch) = vault.newest_done(kind)? else {
        return Ok(None);
    };
    let info = vault.batch(kind, batch)?;
    let ended = info.and_then(|info| Some((info.digest, info.ended?.0)));
    let id = vault.members(kind, batch)?.first().copied();
    let (Some((digest, Outcome::Final { run })), Some(id)) = (ended, id) else {
        return Ok(None);
    };
    let loaded = Loaded {
        kind: kind.to_owned(),
        batch,
        name: run_name(&digest, run),
    };
    Ok(Some((loaded, id)))
}
