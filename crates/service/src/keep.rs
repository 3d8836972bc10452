//! All that a server keeps on its disk, as its kinds and its clients use it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use madrigal_core::{Budget, Digest256, Party, Zeroizing};
use madrigal_correlations_store::StoreKey;
use madrigal_intake::{Signed, unpack};
use madrigal_vault::agreement::{Outcome, Record, Restored};
use madrigal_vault::{
    Ages, BatchInfo, Id, Limits, Pending, Status, Vault, VaultError, VaultKey, View,
};
use tokio::sync::watch;
use tracing::{error, warn};

use crate::clock::{Expiry, now};
use crate::config::Config;
use crate::held::Held;
use crate::kept::{Judged, KeepError, Kept, spent_note};
use crate::kind::Kind;
use crate::operation::{Health, Meters, Trouble};
use crate::quotas::{ages, limits};
use crate::work::{Output, Submitted};

/// Name of the note of the time by which things expire.
const CLOCK: &str = "clock";
/// Name of the vault's file.
const FILE: &str = "server.vault";
/// Pause between two sweeps.
const SWEEP: Duration = Duration::from_secs(60);
/// Jobs whose facts are kept in memory.
const FACTS: usize = 32;

/// A way to open a vault on a disk of the caller's.
pub type Disk = Box<dyn FnOnce(&VaultKey, Limits) -> Result<Vault, VaultError> + Send>;

/// All that a server keeps.
pub(crate) struct Keep {
    vault: Vault,
    key_of_stores: StoreKey,
    /// All kinds that the server has had since it was started: what waits for one that was taken out expires.
    kinds: RwLock<BTreeMap<String, Arc<Kept>>>,
    /// Inputs that kinds hold for others.
    held: Arc<Held>,
    health: Arc<Health>,
    meters: Arc<Meters>,
    facts: Mutex<HashMap<(String, u64), Arc<Facts>>>,
    ages: Mutex<Ages>,
    /// The time by which submissions and results grow old.
    expiry: Expiry,
    /// Reason why the vault has stopped, once it has.
    failed: watch::Sender<Option<String>>,
}

/// Facts about a batch that has ended well.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) n: u64,
    pub(crate) info: BatchInfo,
    pub(crate) run: u32,
    /// Submissions, in order of their names.
    pub(crate) members: Vec<Id>,
    /// Bytes of each output's share files, of which there may be one for each submission.
    pub(crate) lengths: Vec<u64>,
    /// The job's receipt, once it was signed.
    pub(crate) receipt: OnceLock<Signed>,
}

impl std::fmt::Debug for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keep({} kinds)", self.all().len())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keep {
    /// Opens what is kept, in the file of the configuration or on `disk`; a server's first start makes it, and its key.
    pub(crate) fn open(
        config: &Config,
        kinds: &[Judged],
        health: &Arc<Health>,
        meters: &Arc<Meters>,
        disk: Option<Disk>,
    ) -> Result<Self, KeepError> {
        let file = config.data.join(FILE);
        if !file.exists() && !config.vault_key.exists() {
            VaultKey::make(&config.vault_key)?;
            warn!(
                key = %config.vault_key.display(),
                "made the key that what is kept is sealed with: keep a copy of it, apart from the data"
            );
        }
        let key = VaultKey::load(&config.vault_key)?;
        let limits = limits(config);
        let vault = match disk {
            None => Vault::open(&file, &key, limits)?,
            Some(disk) => disk(&key, limits)?,
        };
        let noted = vault.noted(CLOCK)?;
        let noted = noted.and_then(|note| note.as_slice().try_into().ok());
        let expiry = Expiry::from(noted.map(u64::from_le_bytes));
        let held = Arc::new(Held::open(&vault, kinds.iter().map(|(kind, _)| &**kind))?);
        let kept = kinds.iter().map(|judged| {
            let name = judged.0.config.name.clone();
            Ok((name, Arc::new(Kept::new(&vault, &held, judged)?)))
        });
        let kept = kept.collect::<Result<_, KeepError>>()?;
        let keep = Self {
            vault,
            key_of_stores: StoreKey::from_bytes(key.of_stores()?),
            kinds: RwLock::new(kept),
            held,
            health: Arc::clone(health),
            meters: Arc::clone(meters),
            facts: Mutex::default(),
            failed: watch::Sender::new(None),
            expiry,
            ages: Mutex::new(ages(config)),
        };
        keep.all().keys().for_each(|kind| keep.meter_waiting(kind));
        keep.tell_waiting();
        let bound = kinds.iter().try_for_each(|(kind, _)| keep.bind(kind));
        bound.map_err(KeepError::Changed)?;
        Ok(keep)
    }

    /// Key of the stores of correlations that lie beside the vault.
    pub(crate) fn key_of_stores(&self) -> &StoreKey {
        &self.key_of_stores
    }

    /// The vault.
    pub(crate) fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Takes the kinds of a file that was read again: those that are there keep what they have spent and whoever waits for them, others begin, and those
    /// that are missing begin no batch any more.
    ///
    /// # Errors
    /// [`KeepError`]: a kind was changed that clients have brought submissions for; then all stays as it was.
    pub(crate) fn reload(&self, config: &Config, kinds: &[Judged]) -> Result<(), KeepError> {
        let bound = kinds.iter().try_for_each(|(kind, _)| self.bind(kind));
        bound.map_err(KeepError::Changed)?;
        self.held
            .add(&self.vault, kinds.iter().map(|(kind, _)| &**kind))?;
        let before = self.all().clone();
        let mut kept = BTreeMap::new();
        for judged in kinds {
            let name = judged.0.config.name.clone();
            let same = before.get(&name);
            let same = same.filter(|before| before.digest == judged.0.digest);
            let one = match same {
                Some(before) => before.anew(judged),
                None => Kept::new(&self.vault, &self.held, judged)?,
            };
            kept.insert(name, Arc::new(one));
        }
        for (name, before) in before {
            let closed = || Arc::new(before.closed());
            kept.entry(name).or_insert_with(closed);
        }
        self.vault.set_limits(limits(config));
        *lock(&self.ages) = ages(config);
        *self.kinds.write().unwrap_or_else(PoisonError::into_inner) = kept;
        self.all().keys().for_each(|kind| self.meter_waiting(kind));
        self.tell_waiting();
        Ok(())
    }

    fn all(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Kept>>> {
        self.kinds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self, kind: &str) -> Arc<Kept> {
        let all = self.all();
        let kept = all.get(kind);
        Arc::clone(kept.expect("kinds are those of the service's file"))
    }

    /// Does something with the kind's submissions as the agreement sees them now.
    pub(crate) fn with_view<T>(&self, kind: &str, with: impl FnOnce(&View<'_>) -> T) -> T {
        let kept = self.kept(kind);
        with(&View::new(
            &self.vault,
            kind,
            &kept.rules,
            self.expiry.now(),
        ))
    }

    /// Whether a kind was taken out of the service's file.
    pub(crate) fn is_closed(&self, kind: &str) -> bool {
        self.kept(kind).rules.closed
    }

    /// Where the agreement about a kind goes on.
    pub(crate) fn restored(&self, kind: &str) -> Result<Restored, VaultError> {
        self.vault.restored(kind)
    }

    /// Writes a record of the agreement. A batch that this server takes part in is counted with it.
    pub(crate) fn write(&self, kind: &str, record: Record) -> Pending<Vec<Id>> {
        let now = now();
        if !matches!(record, Record::Prepare { refused: None, .. }) {
            return self.vault.write(kind, record, now);
        }
        let kept = self.kept(kind);
        let note = (spent_note(kind), kept.rules.spending.spend(now));
        self.vault.write_noting(kind, record, note, now)
    }

    /// Reason for which this server's policy lets no batch of a kind begin now, if so. The meter of what is left is set.
    pub(crate) fn refusal(&self, kind: &str) -> Option<String> {
        let kept = self.kept(kind);
        let now = now();
        if let Some(left) = kept.rules.spending.left(now) {
            let gauge = self.meters.batches_left.get_or_create(&kept.label);
            gauge.set(left as i64);
        }
        if let Some(left) = kept.rules.spending.epsilon_left() {
            let gauge = self.meters.epsilon_left.get_or_create(&kept.label);
            gauge.set(left);
        }
        kept.rules.refusal(now)
    }

    /// Notes a server's word whether its policy lets batches of a kind begin.
    pub(crate) fn note_refusal(&self, kind: &str, from: Party, reason: Option<String>) {
        let kept = self.kept(kind);
        let mut refusals = lock(&kept.refusals);
        match reason {
            Some(reason) => drop(refusals.insert(from, reason)),
            None => drop(refusals.remove(&from)),
        }
    }

    /// Forgets what the other servers said of their policies, as they say it anew in the next session.
    pub(crate) fn forget_refusals(&self, kind: &str, me: Party) {
        lock(&self.kept(kind).refusals).retain(|from, _| *from == me);
    }

    /// Reasons for which no batch of a kind begins: held inputs that are missing, or policies, each with the server whose it is.
    pub(crate) fn hindrance(&self, kind: &str) -> Option<String> {
        let kept = self.all().get(kind).cloned()?;
        if let Some(waits) = self.held.missing(&kept.rules.holders) {
            return Some(waits);
        }
        let refusals = lock(&kept.refusals);
        let each = refusals.iter();
        let each: Vec<String> = each
            .map(|(from, reason)| format!("{from} refuses: {reason}"))
            .collect();
        (!each.is_empty()).then(|| each.join("; "))
    }

    /// Inputs that kinds hold for others.
    pub(crate) fn held(&self) -> &Held {
        &self.held
    }

    /// Tells operators which kinds wait for held inputs.
    fn tell_waiting(&self) {
        let all = self.all().clone();
        let uses = |kept: &Kept| !kept.rules.holders.is_empty();
        for (name, kept) in all.iter().filter(|(_, kept)| uses(kept)) {
            let trouble = Trouble::Waits(name.clone());
            match self
                .held
                .missing(&kept.rules.holders)
                .filter(|_| !kept.rules.closed)
            {
                Some(why) => self.health.trouble(trouble, why),
                None => self.health.over(&trouble),
            }
        }
    }

    /// Number of a kind's submissions that wait for a batch.
    pub(crate) fn waiting(&self, kind: &str) -> usize {
        usize::try_from(self.vault.usage(kind).waiting).unwrap_or(usize::MAX)
    }

    fn meter_waiting(&self, kind: &str) {
        let gauge = self.meters.waiting.get_or_create(&self.kept(kind).label);
        gauge.set(self.waiting(kind) as i64);
    }

    /// Notes that a submission is on the disk.
    pub(crate) fn accepted(&self, kind: &str) {
        let kept = self.kept(kind);
        self.meters.accepted.get_or_create(&kept.label).inc();
        self.meter_waiting(kind);
    }

    /// Notes that a batch has ended, and tells those who wait for it.
    pub(crate) fn batch_ended(&self, kind: &str) {
        self.meter_waiting(kind);
        match self.held.look(&self.vault, kind) {
            Ok(true) => self.tell_waiting(),
            Ok(false) => {}
            Err(error) => self.trouble(&error),
        }
        self.kept(kind).ended.send_modify(|number| *number += 1);
    }

    /// Tells of ends of a kind's batches.
    pub(crate) fn ends(&self, kind: &str) -> watch::Receiver<u64> {
        self.kept(kind).ended.subscribe()
    }

    /// Whether submissions wait here of all clients that the kind waits for.
    pub(crate) fn are_waiting(&self, kind: &str) -> bool {
        let kept = self.kept(kind);
        let mut awaited = kept.rules.waits_for.iter();
        awaited.all(|client| self.vault.usage_of_account(kind, client).waiting > 0)
    }

    /// Notes that a kind has stopped until an operator has looked.
    pub(crate) fn stopped(&self, kind: &str, why: String) {
        self.health.trouble(Trouble::Stopped(kind.to_owned()), why);
    }

    /// Notes why a kind stands still, or that it does no more.
    pub(crate) fn stalled(&self, kind: &str, why: Option<String>) {
        let trouble = Trouble::Stalled(kind.to_owned());
        match why {
            Some(why) => self.health.trouble(trouble, why),
            None => self.health.over(&trouble),
        }
    }

    /// Binds a kind to its program: submissions are for the program that their clients knew.
    fn bind(&self, kind: &Kind) -> Result<(), String> {
        let name = &kind.config.name;
        let note = format!("kind {name}");
        let failed = |error: VaultError| error.to_string();
        let digest = kind.digest;
        let noted = self.vault.noted(&note).map_err(failed)?;
        if noted.as_deref().map(Vec::as_slice) == Some(&digest[..]) {
            return Ok(());
        }
        let used = self.vault.usage(name);
        let restored = self.vault.restored(name).map_err(failed)?;
        if noted.is_some() && (used.submissions > 0 || restored.closed.is_some()) {
            return Err(format!(
                "kind `{name}` has another program, other lengths, receivers or sizes of batches than before, and clients brought submissions for those: put them back, or give the kind another name"
            ));
        }
        self.vault
            .note(&note, Some(digest.to_vec()))
            .wait()
            .map_err(failed)
    }

    /// Notes a trouble of the disk.
    pub(crate) fn trouble(&self, error: &VaultError) {
        error!(%error, "the vault");
        self.health.trouble(Trouble::Vault, error.to_string());
        if matches!(error, VaultError::Stopped { .. }) {
            self.failed.send_replace(Some(error.to_string()));
        }
    }

    /// Waits until the vault has stopped, which it does not survive: gives the reason.
    pub(crate) async fn failed(&self) -> String {
        let mut failed = self.failed.subscribe();
        let reason = failed.wait_for(Option::is_some).await;
        reason
            .ok()
            .and_then(|reason| reason.clone())
            .unwrap_or_default()
    }

    /// How a submission stands.
    pub(crate) fn status(&self, id: &Id) -> Result<Option<Status>, VaultError> {
        let status = self.vault.status(id);
        status.inspect_err(|error| self.trouble(error))
    }

    /// The shares of a batch's submissions, in order.
    pub(crate) async fn batch(
        self: &Arc<Self>,
        kind: &Arc<Kind>,
        me: Party,
        ids: &Arc<[Id]>,
    ) -> Result<Vec<Submitted>, String> {
        let (keep, kind, ids) = (Arc::clone(self), Arc::clone(kind), Arc::clone(ids));
        let read = move || -> Result<Vec<Submitted>, String> {
            let one = |id: &Id| keep.submitted(&kind, me, id);
            ids.iter().map(one).collect()
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.map_err(|error| error.to_string())?
    }

    pub(crate) fn submitted(&self, kind: &Kind, me: Party, id: &Id) -> Result<Submitted, String> {
        let wrong =
            |problem: &dyn std::fmt::Display| format!("submission {}: {problem}", Digest256(*id));
        let header = self.vault.header(id).map_err(|error| wrong(&error))?;
        let body = self.vault.body(id).map_err(|error| wrong(&error))?;
        kind.shares(me, &header, &body)
            .map_err(|error| wrong(&error))
    }

    /// Writes the results of a run.
    pub(crate) async fn results(
        &self,
        kind: &Kind,
        n: u64,
        run: u32,
        outputs: Vec<Output>,
    ) -> Result<(), String> {
        for output in outputs {
            let of = output_name(output.place);
            self.result(kind, (n, run), &of, &output.files).await?;
        }
        Ok(())
    }

    /// Writes a result of a run under a name.
    pub(crate) async fn result(
        &self,
        kind: &Kind,
        of: (u64, u32),
        name: &str,
        bytes: &[u8],
    ) -> Result<(), String> {
        let mut offset = 0;
        let mut pieces = bytes.chunks(madrigal_vault::PIECE_BYTES);
        let first = pieces.next().unwrap_or_default();
        for piece in std::iter::once(first).chain(pieces) {
            let kind = &kind.config.name;
            let written = self.vault.result(kind, of, name, offset, piece.to_vec());
            offset = written.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Facts about a batch that has ended well.
    pub(crate) fn facts(&self, kind: &str, n: u64) -> Result<Option<Arc<Facts>>, VaultError> {
        if self.held.is_replaced(kind, n) {
            // Another load has taken its place.
            return Ok(None);
        }
        let key = (kind.to_owned(), n);
        if let Some(facts) = lock(&self.facts).get(&key) {
            return Ok(Some(Arc::clone(facts)));
        }
        let Some(info) = self.vault.batch(kind, n)? else {
            return Ok(None);
        };
        let Some((Outcome::Final { run }, _)) = info.ended else {
            return Ok(None);
        };
        let mut lengths = BTreeMap::new();
        for output in self.vault.outputs(kind, n)? {
            let place = output.name.strip_prefix("output ");
            if let Some(place) = place.and_then(|place| place.parse::<usize>().ok()) {
                lengths.insert(place, output.length);
            }
        }
        if lengths.is_empty() && !self.held.has(kind) {
            return Ok(None);
        }
        let facts = Arc::new(Facts {
            n,
            run,
            info,
            members: self.vault.members(kind, n)?,
            lengths: lengths.into_values().collect(),
            receipt: OnceLock::new(),
        });
        let mut all = lock(&self.facts);
        if all.len() >= FACTS {
            let oldest = all.keys().min_by_key(|(_, n)| *n).cloned();
            oldest.map(|oldest| all.remove(&oldest));
        }
        all.insert(key, Arc::clone(&facts));
        Ok(Some(facts))
    }

    /// The first batch after one that ended well and whose results are kept.
    pub(crate) fn next_done(&self, kind: &str, after: u64) -> Result<Option<u64>, VaultError> {
        self.vault.next_done(kind, after)
    }

    /// Bytes of an output from a place on, 64 KiB at most.
    pub(crate) fn output(
        &self,
        kind: &str,
        n: u64,
        place: usize,
        from: u64,
        most: usize,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        const PIECE: u64 = madrigal_vault::PIECE_BYTES as u64;
        let name = output_name(place);
        let mut bytes = Zeroizing::new(Vec::with_capacity(most));
        let mut at = from;
        while bytes.len() < most {
            let piece = self.vault.output(kind, n, &name, at / PIECE * PIECE)?;
            let rest = piece.get((at % PIECE) as usize..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let count = rest.len().min(most - bytes.len());
            bytes.extend_from_slice(&rest[..count]);
            at += count as u64;
        }
        Ok(bytes)
    }

    /// Takes away what is old, again and again.
    pub(crate) async fn sweep_forever(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            if let Err(error) = self.sweep().await {
                self.trouble(&error);
            }
            self.all().keys().for_each(|kind| self.meter_waiting(kind));
            let used = self.vault.usage_of_all();
            self.meters.stored.set((used.bytes + used.results) as i64);
        }
    }

    pub(crate) async fn sweep(&self) -> Result<(), VaultError> {
        let now = self.expiry.now();
        let note = Some(now.to_le_bytes().to_vec());
        self.vault.note(CLOCK, note).await?;
        let ages = lock(&self.ages).clone();
        while self.vault.sweep(&ages, now).await?.more {}
        Ok(())
    }
}

/// Name of an output in the vault.
fn output_name(place: usize) -> String {
    format!("output {place}")
}

impl Kind {
    /// The share files of a submission, from what a client sent.
    ///
    /// # Errors
    /// A fault of the submission, in words: a client that sends wrong shares is refused before, so this is a fault of the disk.
    pub(crate) fn shares(
        &self,
        me: Party,
        header: &[u8],
        body: &[u8],
    ) -> Result<Submitted, String> {
        let headers = unpack(header).map_err(|error| error.to_string())?;
        let mut rest = body;
        // Bits take a word for each eight bytes at the most.
        let budget = Budget::of_file(body.len());
        let mut shares = Vec::with_capacity(headers.len());
        for header in headers {
            let share = madrigal_clients::ShareFile::of_body(header, me, &mut rest, &budget);
            shares.push(share.map_err(|error| error.to_string())?);
        }
        Ok(shares)
    }
}
