//! A store that is open for use.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::{BoxFuture, LocalBoxFuture};
use madrigal_correlations::{ID_BYTES, Kind, Maker, Means, Needs, Reserve};
use madrigal_net::{Context, exchange};

use crate::chunks::ChunkLayout;
use crate::error::{Result, StoreError};
use crate::files;
use crate::id::StoreId;
use crate::key::StoreKey;
use crate::opened::Opened;
use crate::records::{Header, Marks};
use crate::source::StoreSource;

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

/// Description of a store and of its items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreStatus {
    /// Name of the store, the same at all parties.
    pub id: StoreId,
    /// Party whose store it is.
    pub party: usize,
    /// Number of parties that made it.
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
        bytes += ChunkLayout::new(kind, count as u64)?.file_bytes();
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

/// Removes a store that nobody uses, or what is left of one. Its header goes first, so that what a crash leaves is no store.
///
/// # Errors
/// [`StoreError::Io`].
pub fn remove(directory: &Path) -> Result<()> {
    let failed = |file| StoreError::io("remove", file);
    for (file, removed) in [
        (
            files::HEADER,
            fs::remove_file(directory.join(files::HEADER)),
        ),
        (".", fs::remove_dir_all(directory)),
    ] {
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other.map_err(failed(file))?,
        }
    }
    Ok(())
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

    /// Gives the name of the store, the same at all parties.
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
    /// [`Error`](madrigal_net::Error) of the network; the others use another store; it is another party's; too little is
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
                let error = StoreError::OtherStore {
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

impl Reserve for Store {
    fn reserve<'a>(
        &'a mut self,
        context: &'a Context,
        needs: &'a Needs,
    ) -> LocalBoxFuture<'a, madrigal_net::Result<Box<dyn Maker>>> {
        Box::pin(async move {
            let source = self.reserve(context, needs).await?;
            Ok(Box::new(source) as Box<dyn Maker>)
        })
    }
}

impl<'a> From<&'a mut Store> for Means<'a> {
    fn from(store: &'a mut Store) -> Self {
        Self::of_store(store)
    }
}
