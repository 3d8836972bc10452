//! Correlations made ahead and kept on disk: made by all parties in one job, used by later ones.
//!
//! A [`NewStore`] is filled from any [`Source`](crate::Source); a [`Store`] gives each job what it
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
//! use madrigal_correlations::store::{FilledStore, NewStore, Store, StoreKey};
//! use madrigal_correlations::{BitTripleSource, Extension, Needs, OtSource, Source};
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
mod convert;
mod error;
mod files;
mod id;
mod key;
mod make;
mod opened;
mod records;
mod source;

pub use error::StoreError;
pub use id::StoreId;
pub use key::StoreKey;
pub use make::{FilledStore, NewStore};
pub use records::fuzz_records;
pub use source::StoreSource;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use madrigal_net::{Context, exchange};

use self::chunks::Layout;
use self::error::Result;
use self::opened::Opened;
use self::records::{Header, Marks};
use crate::kind::Kind;
use crate::needs::Needs;
use crate::store_cost::ID_BYTES;

/// A store that is open for use; nobody else can open it meanwhile.
#[derive(Debug)]
pub struct Store {
    opened: Arc<Opened>,
    marks: Marks,
}

/// How much of one kind a store has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holding {
    /// The kind.
    pub kind: Kind,
    /// Items that were made.
    pub made: u64,
    /// Items that jobs have reserved, whether they have used them or not.
    pub used: u64,
}

impl Holding {
    /// Items that are left.
    pub fn left(&self) -> u64 {
        self.made - self.used
    }
}

/// What a store is and has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreStatus {
    /// The same at all parties.
    pub id: StoreId,
    /// Whose store it is.
    pub party: usize,
    /// How many parties made it.
    pub parties: usize,
    /// Each kind that it was made with.
    pub holdings: Vec<Holding>,
    /// Bytes of its data files.
    pub bytes: u64,
}

/// Says what a store is and has, also while a job uses it. With `verify`, reads all that it holds.
///
/// # Errors
/// It is no store, damaged, copied, incomplete, or under another key.
pub fn status(directory: &Path, key: &StoreKey, verify: bool) -> Result<StoreStatus> {
    let opened = Opened::new(directory, key, false)?;
    let marks = opened.marks()?;
    let mut bytes = 0;
    for (kind, count) in opened.header.holds.kinds() {
        let mut reader = opened.reader(kind)?;
        bytes += Layout::new(kind, count as u64)?.file_bytes();
        if verify {
            reader.verify()?;
        }
    }
    Ok(StoreStatus {
        id: opened.header.id,
        party: opened.header.party as usize,
        parties: opened.header.parties as usize,
        holdings: holdings(&opened.header, &marks),
        bytes,
    })
}

fn holdings(header: &Header, marks: &Marks) -> Vec<Holding> {
    let kinds = header.holds.kinds().into_iter().zip(&marks.0);
    let holding = |((kind, made), &used)| Holding {
        kind,
        made: made as u64,
        used,
    };
    kinds.map(holding).collect()
}

impl Store {
    /// Opens a store and locks it.
    ///
    /// # Errors
    /// It is no store, damaged, copied, incomplete, in use, or under another key.
    pub fn open(directory: &Path, key: &StoreKey) -> Result<Self> {
        let opened = Opened::new(directory, key, true)?;
        let marks = opened.marks()?;
        for (kind, _) in opened.header.holds.kinds() {
            opened.reader(kind)?;
        }
        Ok(Self {
            opened: Arc::new(opened),
            marks,
        })
    }

    /// The same at all parties.
    pub fn id(&self) -> StoreId {
        self.opened.header.id
    }

    /// How much of each kind it has.
    pub fn holdings(&self) -> Vec<Holding> {
        holdings(&self.opened.header, &self.marks)
    }

    /// Reserves what a job needs, together with all other parties, who need the same. One round;
    /// [`StoreSource::cost`]. What is reserved is never given to another job.
    ///
    /// # Errors
    /// Those of the network; the others use another store; it is another party's; too little is
    /// left; the disk. Each fails the job for all parties.
    pub fn reserve<'a>(
        &'a mut self,
        context: &Context,
        needs: &'a Needs,
    ) -> BoxFuture<'a, madrigal_net::Result<StoreSource>> {
        Box::pin(self.reserve_in(context.step("store"), needs))
    }

    async fn reserve_in(
        &mut self,
        context: Context,
        needs: &Needs,
    ) -> madrigal_net::Result<StoreSource> {
        let failed = |error: StoreError| error.fail(&context);
        let mut wanted = BTreeMap::new();
        if !needs.is_empty() {
            let mut marks = self.own_marks(&context, needs).map_err(failed)?;
            self.largest(&context, &mut marks).await?;
            wanted = self.raise(needs, &marks).map_err(failed)?;
        }
        let opened = Arc::clone(&self.opened);
        StoreSource::new(context.clone(), opened, wanted).map_err(failed)
    }

    /// Our marks for the kinds that are needed.
    fn own_marks(&self, context: &Context, needs: &Needs) -> Result<BTreeMap<Kind, u64>> {
        let header = &self.opened.header;
        let (me, session) = (context.me().index(), context.parties());
        let (found, parties) = (header.party as usize, header.parties as usize);
        if (me, session) != (found, parties) {
            return Err(StoreError::Party {
                found,
                parties,
                me,
                session,
            });
        }
        let have: BTreeMap<Kind, Holding> = self
            .holdings()
            .into_iter()
            .map(|holding| (holding.kind, holding))
            .collect();
        let mark = |(kind, _)| (kind, have.get(&kind).map_or(0, |holding| holding.used));
        Ok(needs.kinds().into_iter().map(mark).collect())
    }

    /// Makes each mark the largest of all parties'.
    async fn largest(
        &self,
        context: &Context,
        marks: &mut BTreeMap<Kind, u64>,
    ) -> madrigal_net::Result<()> {
        let own = &self.opened.header.id;
        let mut message = own.0.to_vec();
        for mark in marks.values() {
            message.extend(mark.to_le_bytes());
        }
        let expected = message.len();
        let mut channels = context.channels()?;
        let received = exchange(&mut channels, message, expected).await?;
        for (channel, theirs) in channels.iter().zip(&received) {
            let (id, theirs) = theirs.split_at(ID_BYTES);
            if id != &own.0[..] {
                let error = StoreError::Other {
                    peer: channel.peer(),
                    theirs: StoreId(std::array::from_fn(|index| id[index])),
                    ours: *own,
                };
                return Err(error.fail(context));
            }
            for ((kind, mark), theirs) in marks.iter_mut().zip(theirs.as_chunks().0) {
                let theirs = u64::from_le_bytes(*theirs);
                let made = self.opened.header.holds.of(*kind) as u64;
                if theirs > made {
                    return Err(channel.refuse(format_args!(
                        "it has used {theirs} `{kind}` of a store of {made}"
                    )));
                }
                *mark = theirs.max(*mark);
            }
        }
        Ok(())
    }

    /// Has the new marks on disk.
    fn raise(
        &mut self,
        needs: &Needs,
        starts: &BTreeMap<Kind, u64>,
    ) -> Result<BTreeMap<Kind, std::ops::Range<u64>>> {
        let header = &self.opened.header;
        let mut reserved = BTreeMap::new();
        for (kind, needed) in needs.kinds() {
            let (needed, made) = (needed as u64, header.holds.of(kind) as u64);
            let start = starts.get(&kind).copied().unwrap_or(made);
            let left = made - start;
            if needed > left {
                return Err(StoreError::Few {
                    kind: Box::new(kind),
                    needed,
                    left,
                    made,
                });
            }
            reserved.insert(kind, start..start + needed);
        }
        // Even if the journal cannot be written, we do not know that it was not.
        for ((kind, _), mark) in header.holds.kinds().iter().zip(&mut self.marks.0) {
            if let Some(items) = reserved.get(kind) {
                *mark = items.end;
            }
        }
        let bytes = self.marks.seal(header, &self.opened.keys)?;
        files::replace_journal(&self.opened.directory, &bytes)?;
        Ok(reserved)
    }
}
