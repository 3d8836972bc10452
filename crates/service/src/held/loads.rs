//! Loads: kept by the job of a holding kind, and read by the jobs of kinds that use them.

use std::sync::Arc;
use std::time::Duration;

use madrigal_core::{Digest256, Party, Zeroizing};
use madrigal_intake::HeldSubmission;
use madrigal_vault::{Id, PIECE_BYTES, VaultError};
use tokio::time::{Instant, timeout_at};

use super::now::{Holding, Loaded};
use crate::keep::Keep;
use crate::kind::Kind;
use crate::work::Submitted;

/// Names of the results of a holding kind.
const HEADER: &str = "held header";
const BODY: &str = "held body";
/// Name of the result of a using kind that says what it was computed with.
const USED: &str = "held inputs";
/// Time that a server waits for a load that the leader has and that has not ended here.
const PATIENCE: Duration = Duration::from_secs(10);

/// A load that a job computes with.
#[derive(Debug)]
pub(crate) struct InUse {
    loaded: Loaded,
    submission: Id,
    /// This server's shares.
    pub(crate) shares: Arc<Submitted>,
}

impl Keep {
    /// Does the job of a holding kind: this server's share of the submission becomes a result of the run, which is held once the batch counts.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        kind: &Arc<Kind>,
        me: Party,
        (n, run): (u64, u32),
        ids: &[Id],
    ) -> Result<(), String> {
        let [id] = ids else {
            return Err(format!("a load of {} submissions", ids.len()));
        };
        let (keep, of, id) = (Arc::clone(self), Arc::clone(kind), *id);
        let read = move || {
            let wrong = |error: VaultError| error.to_string();
            let header = keep.vault().header(&id).map_err(wrong)?;
            let body = keep.vault().body(&id).map_err(wrong)?;
            // They were looked at when they came; a disk that has changed them since is noticed here, and not by each job.
            of.shares(me, &header, &body)?;
            Ok::<_, String>((header, body))
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (header, body) = read.map_err(|error| error.to_string())??;
        self.result(kind, (n, run), HEADER, &header).await?;
        self.result(kind, (n, run), BODY, &body).await
    }

    /// The shares of what the leader says that a job of this kind computes with, once they are here.
    ///
    /// # Errors
    /// Another load than the one that the leader names, or none, in words.
    pub(crate) async fn held_shares(
        self: &Arc<Self>,
        kind: &Arc<Kind>,
        me: Party,
        told: &[Loaded],
    ) -> Result<Vec<InUse>, String> {
        let holders = kind.holders();
        if !holders.iter().eq(told.iter().map(|loaded| &loaded.kind)) {
            let told: Vec<&str> = told.iter().map(|loaded| &*loaded.kind).collect();
            return Err(format!(
                "party 0 says that the job computes with what [{}] hold, and this kind uses what [{}] hold",
                told.join(", "),
                holders.join(", ")
            ));
        }
        let mut all = Vec::new();
        for loaded in told {
            let submission = self.wait_for(loaded).await?;
            let (keep, kind, of) = (Arc::clone(self), Arc::clone(kind), loaded.clone());
            let read = move || keep.read_held(&kind, me, &of);
            let read = tokio::task::spawn_blocking(read).await;
            all.push(InUse {
                loaded: loaded.clone(),
                submission,
                shares: read.map_err(|error| error.to_string())??,
            });
        }
        Ok(all)
    }

    /// Waits until a load is the newest one here, as the leader may be a moment ahead; gives its submission.
    async fn wait_for(&self, wanted: &Loaded) -> Result<Id, String> {
        let Loaded { kind, batch, .. } = wanted;
        let mut ends = self.ends(kind);
        let until = Instant::now() + PATIENCE;
        loop {
            ends.borrow_and_update();
            let now = self.held().now(kind);
            match &now {
                Some((now, id)) if now == wanted => return Ok(*id),
                Some((now, _)) if now.batch >= *batch => {
                    return Err(format!(
                        "the job is to compute with batch {batch} of kind `{kind}`, and this server holds {} of it",
                        match now.batch == *batch {
                            true => "another submission".to_owned(),
                            false => format!("batch {}", now.batch),
                        }
                    ));
                }
                _ => {}
            }
            if !matches!(timeout_at(until, ends.changed()).await, Ok(Ok(()))) {
                let held = now.map(|(now, _)| format!("batch {}", now.batch));
                let held = held.unwrap_or_else(|| "nothing".to_owned());
                return Err(format!(
                    "the job is to compute with batch {batch} of kind `{kind}`, and this server holds {held} of it"
                ));
            }
        }
    }

    /// The shares of a load, from memory or the vault.
    fn read_held(&self, kind: &Kind, me: Party, loaded: &Loaded) -> Result<Arc<Submitted>, String> {
        let Loaded {
            kind: holder,
            batch,
            ..
        } = loaded;
        let is_newest = |holding: &Holding| {
            let newest = holding.newest.as_ref();
            newest.is_some_and(|(newest, _)| newest == loaded)
        };
        let known = self.held().with(holder, |holding| {
            let newest = is_newest(holding);
            holding.shares.clone().filter(|_| newest)
        });
        if let Some(shares) = known.flatten() {
            return Ok(shares);
        }
        let wrong = |problem: &dyn std::fmt::Display| {
            format!("what kind `{holder}` holds since its batch {batch}: {problem}")
        };
        let read = |name| self.whole_result(holder, *batch, name);
        let header = read(HEADER).map_err(|error| wrong(&error))?;
        let body = read(BODY).map_err(|error| wrong(&error))?;
        let shares = kind.shares(me, &header, &body);
        let shares = Arc::new(shares.map_err(|problem| wrong(&problem))?);
        // A load that was replaced meanwhile is not kept.
        self.held().with(holder, |holding| {
            if is_newest(holding) {
                holding.shares = Some(Arc::clone(&shares));
            }
        });
        Ok(shares)
    }

    fn whole_result(
        &self,
        kind: &str,
        n: u64,
        name: &str,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let mut bytes = Zeroizing::new(Vec::new());
        loop {
            let piece = self.vault().output(kind, n, name, bytes.len() as u64)?;
            bytes.extend_from_slice(&piece);
            if piece.len() < PIECE_BYTES {
                return Ok(bytes);
            }
        }
    }

    /// Writes down what a run was computed with, for its receipt.
    pub(crate) async fn note_held(
        &self,
        kind: &Kind,
        (n, run): (u64, u32),
        used: &[InUse],
    ) -> Result<(), String> {
        if used.is_empty() {
            return Ok(());
        }
        let mut note = Vec::new();
        for InUse {
            loaded, submission, ..
        } in used
        {
            note.push(loaded.kind.len() as u8);
            note.extend(loaded.kind.as_bytes());
            note.extend(loaded.batch.to_le_bytes());
            note.extend(submission);
        }
        self.result(kind, (n, run), USED, &note).await
    }

    /// Held submissions that a batch was computed with.
    pub(crate) fn used(&self, kind: &Kind, n: u64) -> Result<Vec<HeldSubmission>, VaultError> {
        if kind.config.held.is_empty() {
            return Ok(Vec::new());
        }
        let name = &kind.config.name;
        let note = self.whole_result(name, n, USED)?;
        used(&note).ok_or_else(|| VaultError::NoResult {
            kind: name.clone(),
            n,
            name: USED.to_owned(),
        })
    }
}

/// Reads what [`Keep::note_held`] wrote.
fn used(mut note: &[u8]) -> Option<Vec<HeldSubmission>> {
    let mut all = Vec::new();
    while let Some((&length, rest)) = note.split_first() {
        let (kind, rest) = rest.split_at_checked(length.into())?;
        let (batch, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        all.push(HeldSubmission {
            kind: std::str::from_utf8(kind).ok()?.to_owned(),
            batch: u64::from_le_bytes(*batch),
            submission: Digest256(*id),
        });
        note = rest;
    }
    Some(all)
}
