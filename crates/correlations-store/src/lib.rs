//! Correlations made ahead and kept on disk: made by all parties in one job, used by later ones.
//!
//! A [`NewStore`] is filled from any [`Source`](madrigal_correlations::Source); a [`Store`] gives each job what it
//! needs as a [`StoreSource`], in order. A store is one party's directory: a `header` that says what
//! it is, a file of encrypted chunks for each kind, and a `journal` of marks, one for each kind: the
//! index of the first item that no job has reserved. All of it is authenticated under the party's
//! [`StoreKey`].
//!
//! # Example
//! Two parties in one process, each with its directory and key: made in one session, used in two
//! others.
//! ```
//! use std::path::Path;
//!
//! use madrigal_core::Party;
//! use madrigal_correlations::{Needs, Source};
//! use madrigal_correlations_make::{Extension, OtSource};
//! use madrigal_correlations_store::{FilledStore, NewStore, Store, StoreKey};
//! use madrigal_net::transport::{MemoryTransport, mesh};
//! use madrigal_net::{Context, Session, SessionConfig, block_on};
//!
//! type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
//!
//! async fn fill(context: Context, new: NewStore) -> Result<FilledStore> {
//!     let mut source = OtSource::new(&context, Extension::default()).await?;
//!     Ok(new.fill(&context, &mut source, &|_| {}).await?)
//! }
//!
//! async fn take(context: Context, directory: &Path, key: &StoreKey, needs: &Needs) -> Result<u64> {
//!     let mut store = Store::open(directory, key)?;
//!     let mut source = store.reserve(&context, needs).await?;
//!     let bits = source.bit_triples(300, &|_| {}).await?;
//!     let words = source.ring_triples::<u64>(10, &|_| {}).await?;
//!     assert_eq!((bits.len(), words.len()), (300, 10));
//!     Ok(store.holdings()[0].left())
//! }
//!
//! /// One party's part: `work` in a job of a session of its own.
//! fn job<T>(
//!     me: usize,
//!     transport: MemoryTransport,
//!     needs: &Needs,
//!     work: impl AsyncFnOnce(Context) -> Result<T>,
//! ) -> Result<T> {
//!     block_on(async {
//!         let session = Session::new(SessionConfig::new(Party::new(me), 2), transport);
//!         session.greet().await?;
//!         let facts = [("needs".into(), needs.to_string())]; // compared with the other party's
//!         let job = session.job(1, &facts, None).await?;
//!         let done = work(job.context()).await?;
//!         job.finish().await?;
//!         session.close().await;
//!         Ok(done)
//!     })
//! }
//!
//! fn main() -> Result<()> {
//!     let root = tempfile::tempdir()?;
//!     let holds: Needs = "bits=1000,u64=30".parse()?;
//!     let needs: Needs = "bits=300,u64=10".parse()?;
//!     for step in 0..3 {
//!         std::thread::scope(|scope| {
//!             let party = |(me, transport): (usize, MemoryTransport)| {
//!                 let (root, holds, needs) = (root.path(), &holds, &needs);
//!                 scope.spawn(move || -> Result<()> {
//!                     let directory = root.join(format!("party{me}"));
//!                     let key = StoreKey::load_or_make(&root.join(format!("party{me}.store-key")))?;
//!                     if step == 0 {
//!                         let new = NewStore::create(&directory, &key, holds)?;
//!                         let filled = job(me, transport, holds, async |context| {
//!                             fill(context, new).await
//!                         })?;
//!                         filled.complete()?; // the job is finished: all parties have theirs
//!                         return Ok(());
//!                     }
//!                     let left = job(me, transport, needs, async |context| {
//!                         take(context, &directory, &key, needs).await
//!                     })?;
//!                     assert_eq!(left, 1000 - 300 * step);
//!                     Ok(())
//!                 })
//!             };
//!             let parties: Vec<_> = mesh(2).into_iter().enumerate().map(party).collect();
//!             let joined = parties.into_iter().map(|party| party.join().expect("no panic"));
//!             joined.collect::<Result<()>>()
//!         })?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # At most once
//! No item is handed out twice, also where processes are killed and machines fail at any moment:
//!
//! 1. *One user at a time.* Who opens a store holds an exclusive lock on its header, which the system
//!    releases when the process ends, however it ends. Two jobs of one process cannot reserve at once
//!    either: [`Store::reserve`] takes the store mutably.
//! 2. *Reserved before used.* The marks are raised in a new journal, which is on disk (`fsync`),
//!    takes the old one's place in one step (`rename`), and has its name on disk, before the first
//!    item is read. A crash before the step leaves the old marks, and nothing was read; after it, the
//!    new ones. At worst, items are skipped.
//! 3. *Marks never fall.* A job's items begin at the largest of all parties' marks, so at or above
//!    each party's own.
//! 4. *Handed out once.* A [`StoreSource`] hands out what was reserved for it, from its beginning to
//!    its end, and is gone with its job.
//!
//! So each party by itself uses no share twice, whatever the others do; the exchange of marks is what
//! makes all use the *same* items, and carries forward a party that has skipped fewer than another.
//! It also mends a journal that was set back to an older one at some of the parties, but not at all.
//!
//! A copy of a store has marks of its own, which would break the first and the third point. So the
//! header holds the inode and birth of its directory, and a store that is found elsewhere is refused.
//! That catches copies, archives and restored backups. It does *not* catch what copies a file system
//! as a whole, such as the snapshot of a virtual machine, nor an old journal put back in place, where
//! it happens to all parties at once. Whoever restores machines from snapshots must remove their
//! stores. The other way round, a file system that numbers its files anew on each mount, as some
//! overlays do, has its stores refused after the next: keep them on a volume.
//!
//! # At rest
//! Chunks are encrypted with AES-256-GCM, see `chunks.rs`; the keys come from the store key and the
//! header's random salt by HKDF-SHA256, one for each file. Used items stay on disk until the
//! directory is removed: whoever gets the disk *and* the key later, and has recorded the traffic,
//! reads what jobs have computed on. Remove a store, and its key, when it is used up.

mod chunks;
mod error;
mod files;
mod id;
mod key;
mod make;
mod opened;
mod records;
mod source;
mod store;

pub use error::StoreError;
pub use id::StoreId;
pub use key::StoreKey;
pub use make::{FilledStore, NewStore};
pub use records::fuzz_records;
pub use source::StoreSource;
pub use store::{Holding, Store, StoreStatus, remove, status};
