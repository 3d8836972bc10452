//! All that a server keeps on its disk, as its kinds and its clients use it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use madrigal_core::{Budget, Digest256, Party, Zeroizing};
use madrigal_correlations_store::StoreKey;
use madrigal_intake::{Signed, unpack};
use madrigal_vault::agreement::{Outcome, Record, Restored};
use madrigal_vault::{
    Ages, BatchInfo, Id, Limits, Pending, Policy, Status, Vault, VaultError, VaultKey, View,
};
use tokio::sync::watch;
use tracing::{error, warn};

use crate::clock::{Expiry, now};
use crate::config::Config;
use crate::kind::Kind;
use crate::operation::{Health, KindLabel, Meters, Trouble};
use crate::policy::{Spending, Verdict};
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

/// A way to open a vault on a disk of the caller's.
pub type Disk = Box<dyn FnOnce(&VaultKey, Limits) -> Result<Vault, VaultError> + Send>;

/// All that a server keeps.
pub(crate) struct Keep {
    vault: Vault,
    key_of_stores: StoreKey,
    kinds: BTreeMap<String, Kept>,
    health: Arc<Health>,
    meters: Arc<Meters>,
    facts: Mutex<HashMap<(String, u64), Arc<Facts>>>,
    ages: Ages,
    /// The time by which submissions and results grow old.
    expiry: Expiry,
    /// Reason why the vault has stopped, once it has.
    failed: watch::Sender<Option<String>>,
}

/// A kind, as it is kept.
struct Kept {
    rules: Rules,
    /// Servers whose policies let no batch begin now, and why.
    refusals: Mutex<BTreeMap<Party, String>>,
    /// Number of batches that have ended in this process, for those who wait.
    ended: watch::Sender<u64>,
    label: KindLabel,
}

/// Rules of a kind, as the agreement asks for them.
struct Rules {
    least: u64,
    most: u64,
    expires: u64,
    waits_for: BTreeSet<String>,
    spending: Spending,
}

impl Policy for Rules {
    fn least(&self) -> u64 {
        // Submissions stay where there is no batch; one that is formed and then refused would end them.
        match self.spending.refusal(now()) {
            None => self.least,
            Some(_) => u64::MAX,
        }
    }

    fn overdue(&self) -> u64 {
        self.expires
    }

    fn awaited(&self) -> Vec<&str> {
        self.waits_for.iter().map(String::as_str).collect()
    }

    fn refuses(&self, _: u64, ids: &[Id]) -> Option<String> {
        let (least, most, got) = (self.least, self.most, ids.len() as u64);
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
        write!(f, "Keep({} kinds)", self.kinds.len())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keep {
    /// Opens what is kept, in the file of the configuration or on `disk`; a server's first start makes it, and its key.
    pub(crate) fn open(
        config: &Config,
        kinds: &[(Arc<Kind>, Verdict)],
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
        let kept = kinds.iter().map(|(kind, verdict)| {
            let (name, config) = (kind.config.name.clone(), &kind.config);
            let each = kind.privacy.as_ref().copied().unwrap_or_default();
            let spent = vault.noted(&spent_note(&name))?;
            let spent = spent.as_ref().map(|note| &note[..]);
            let spending =
                Spending::new(&name, verdict, each, spent).map_err(KeepError::Changed)?;
            let kept = Kept {
                rules: Rules {
                    least: spending.least(config.least) as u64,
                    most: config.most as u64,
                    expires: config.expires.as_secs(),
                    waits_for: config.waits_for.clone(),
                    spending,
                },
                refusals: Mutex::default(),
                ended: watch::Sender::new(0),
                label: KindLabel::from(&*name),
            };
            Ok((name, kept))
        });
        let kept = kept.collect::<Result<_, KeepError>>()?;
        let keep = Self {
            vault,
            key_of_stores: StoreKey::from_bytes(key.of_stores()?),
            kinds: kept,
            health: Arc::clone(health),
            meters: Arc::clone(meters),
            facts: Mutex::default(),
            failed: watch::Sender::new(None),
            expiry,
            ages: ages(config),
        };
        keep.kinds.keys().for_each(|kind| keep.meter_waiting(kind));
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

    fn kept(&self, kind: &str) -> &Kept {
        self.kinds
            .get(kind)
            .expect("kinds are those of the service's file")
    }

    /// The kind's submissions as the agreement sees them now.
    pub(crate) fn view<'a>(&'a self, kind: &'a str) -> View<'a> {
        View::new(&self.vault, kind, &self.kept(kind).rules, self.expiry.now())
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
        kept.rules.spending.refusal(now)
    }

    /// Notes a server's word whether its policy lets batches of a kind begin.
    pub(crate) fn note_refusal(&self, kind: &str, from: Party, reason: Option<String>) {
        let mut refusals = lock(&self.kept(kind).refusals);
        match reason {
            Some(reason) => drop(refusals.insert(from, reason)),
            None => drop(refusals.remove(&from)),
        }
    }

    /// Forgets what the other servers said of their policies, as they say it anew in the next session.
    pub(crate) fn forget_refusals(&self, kind: &str, me: Party) {
        lock(&self.kept(kind).refusals).retain(|from, _| *from == me);
    }

    /// Reason for which no batch of a kind begins, with the server whose policy it is; the first one, if there are several.
    pub(crate) fn held(&self, kind: &str) -> Option<String> {
        let refusals = lock(&self.kinds.get(kind)?.refusals);
        let first = refusals.first_key_value();
        first.map(|(from, reason)| format!("{from} refuses: {reason}"))
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
        let label = &self.kept(kind).label;
        self.meters.accepted.get_or_create(label).inc();
        self.meter_waiting(kind);
    }

    /// Notes that a batch has ended, and tells those who wait for it.
    pub(crate) fn batch_ended(&self, kind: &str) {
        self.meter_waiting(kind);
        self.kept(kind).ended.send_modify(|number| *number += 1);
    }

    /// Tells of ends of a kind's batches.
    pub(crate) fn ends(&self, kind: &str) -> watch::Receiver<u64> {
        self.kept(kind).ended.subscribe()
    }

    /// Whether submissions wait here of all clients that the kind waits for.
    pub(crate) fn are_waiting(&self, kind: &str) -> bool {
        let mut awaited = self.kept(kind).rules.waits_for.iter();
        awaited.all(|client| self.vault.usage_of_account(kind, client).waiting > 0)
    }

    /// Notes that a kind has stopped until an operator has looked.
    pub(crate) fn stopped(&self, kind: &str, why: String) {
        self.health.trouble(Trouble::Stopped(kind.to_owned()), why);
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
        let name = &kind.config.name;
        for output in outputs {
            let of = output_name(output.place);
            let mut offset = 0;
            let mut pieces = output.files.chunks(madrigal_vault::PIECE_BYTES);
            let first = pieces.next().unwrap_or_default();
            for piece in std::iter::once(first).chain(pieces) {
                let written = self
                    .vault
                    .result(name, (n, run), &of, offset, piece.to_vec());
                offset = written.await.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Facts about a batch that has ended well.
    pub(crate) fn facts(&self, kind: &str, n: u64) -> Result<Option<Arc<Facts>>, VaultError> {
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
        if lengths.is_empty() {
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
            self.kinds.keys().for_each(|kind| self.meter_waiting(kind));
            let used = self.vault.usage_of_all();
            self.meters.stored.set((used.bytes + used.results) as i64);
        }
    }

    async fn sweep(&self) -> Result<(), VaultError> {
        let now = self.expiry.now();
        let note = Some(now.to_le_bytes().to_vec());
        self.vault.note(CLOCK, note).await?;
        while self.vault.sweep(&self.ages, now).await?.more {}
        Ok(())
    }
}

/// Name of the note of how often a kind was computed.
fn spent_note(kind: &str) -> String {
    format!("spent {kind}")
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
