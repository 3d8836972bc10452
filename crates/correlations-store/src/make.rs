//! A new store: all parties fill theirs in one job.

use std::fs;
use std::path::{Path, PathBuf};

use aws_lc_rs::rand;
use futures_util::future::try_join;
use madrigal_core::{PhaseCost, domains};
use madrigal_correlations::{ID_BYTES, Kind, Needs, Source, exchange_cost};
use madrigal_net::{Channel, Context, Error, exchange};
use sha2::{Digest, Sha256};

use crate::chunks::{ChunkLayout, Writer};
use crate::error::{Result, StoreError};
use crate::files::{self, HEADER, PARTIAL};
use crate::id::StoreId;
use crate::key::{KEY_BYTES, StoreKey};
use crate::records::{Header, Marks, Place};

/// A directory that is about to become a store. Dropped before it is one, what was made of it is
/// removed.
#[derive(Debug)]
pub struct NewStore {
    directory: PathBuf,
    key: StoreKey,
    holds: Needs,
    complete: bool,
}

/// A new store that holds all it is to hold. Dropped before it is [`complete`](Self::complete), it is
/// removed.
#[derive(Debug)]
#[must_use = "it is removed unless it is completed"]
pub struct FilledStore {
    new: NewStore,
    id: StoreId,
}

impl NewStore {
    /// Makes the directory, so that what is wrong with it is known before the parties meet.
    ///
    /// # Errors
    /// It exists and is not empty; it cannot be made; `holds` is nothing, or far too much.
    pub fn create(directory: &Path, key: &StoreKey, holds: &Needs) -> Result<Self> {
        for (kind, count) in holds.kinds() {
            ChunkLayout::new(kind, count as u64)?;
        }
        // The header's text must be read back: it has bounds of its own.
        if holds.to_string().parse::<Needs>().as_ref() != Ok(holds) {
            return Err(StoreError::Size);
        }
        let failed = |source| StoreError::io("make", ".")(source);
        if let Some(parent) = directory.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(directory) {
            let mut there = fs::read_dir(directory).map_err(|_| failed(error))?;
            if there.next().is_some() {
                let incomplete =
                    directory.join(PARTIAL).exists() && !directory.join(HEADER).exists();
                return Err(if incomplete {
                    StoreError::Incomplete
                } else {
                    StoreError::Exists
                });
            }
        }
        Ok(Self {
            directory: directory.into(),
            key: key.clone(),
            holds: holds.clone(),
            complete: false,
        })
    }

    /// Has `source` make everything, in batches of about 16 MiB, and writes it. The parties agree
    /// meanwhile on what is made. The store is used once all parties have theirs on disk: complete it
    /// when their job is finished, which says so ([`Job::finish`](madrigal_net::Job::finish)). `made`
    /// hears how many more steps are done, of [`Needs::steps`].
    ///
    /// `context` is that of the parties who get a store: with a dealer in the session, what
    /// [`Context::among`] gives, while the source has the session's.
    ///
    /// # Errors
    /// [`Error`] of the network and of the source; of another party that makes another store; of the disk.
    pub async fn fill(
        self,
        context: &Context,
        source: &mut impl Source,
        made: &dyn Fn(usize),
    ) -> madrigal_net::Result<FilledStore> {
        let context = context.step("new store");
        let mut channels = context.channels()?;
        let id = StoreId(
            Sha256::new()
                .chain_update(domains::STORE_ID)
                .chain_update(context.public_id())
                .chain_update(self.holds.to_string())
                .finalize()
                .into(),
        );
        let failed = |error: StoreError| error.fail(&context);
        let (header, keys) = self.begin(&context, id).map_err(failed)?;
        let makes = async {
            for (kind, count) in self.holds.kinds() {
                if let Kind::CorrelatedOts { .. } = kind {
                    let reason = format!(
                        "{kind} belong to one job, and stores keep none; ask for other kinds"
                    );
                    return Err(Error::Ended { reason });
                }
                let writer = Writer::new(&self.directory, &header, &keys, kind, count as u64);
                let mut writer = writer.map_err(failed)?;
                let batch = Self::batch(kind);
                let mut left = count;
                while left > 0 {
                    let now = left.min(batch);
                    let columns = source.items(kind, now, made).await?.strings();
                    writer.append(&columns, now as u64).map_err(failed)?;
                    left -= now;
                }
                writer.finish().map_err(failed)?;
            }
            Ok(())
        };
        // Nothing waits for the first agreement. It is looked at before what the source sends, so that it is
        // what tells of another store.
        let beside = context.beside();
        channels
            .iter_mut()
            .for_each(|channel| channel.count_in(&beside));
        try_join(agree(&context, &mut channels, id), makes).await?;
        context.join(&beside);
        let marks = Marks(vec![0; self.holds.kinds().len()]);
        marks
            .seal(&header, &keys)
            .and_then(|bytes| files::replace_journal(&self.directory, &bytes))
            .map_err(failed)?;
        Ok(FilledStore { new: self, id })
    }

    /// Cost of [`fill`](Self::fill) for one of `parties` parties, where what the source makes costs
    /// `makes`: an agreement beside it.
    pub fn cost(makes: PhaseCost, parties: usize) -> PhaseCost {
        makes.beside(exchange_cost(parties, ID_BYTES))
    }

    /// Gives the number of items that are made in one call.
    pub fn batch(kind: Kind) -> usize {
        ChunkLayout::batch(kind)
    }

    fn begin(&self, context: &Context, id: StoreId) -> Result<(Header, crate::key::Keys)> {
        let mut salt = [0; KEY_BYTES];
        rand::fill(&mut salt).map_err(|_| StoreError::Cryptography)?;
        let header = Header {
            id,
            party: context.me().index() as u32,
            parties: context.parties() as u32,
            place: Place::of(&self.directory).map_err(StoreError::io("read", "."))?,
            salt,
            holds: self.holds.clone(),
        };
        let keys = self.key.with_salt(&salt);
        let bytes = header.seal(&keys)?;
        let mut file = files::create(&self.directory, PARTIAL)?;
        std::io::Write::write_all(&mut file, &bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| files::sync_directory(&self.directory))
            .map_err(StoreError::io("write", PARTIAL))?;
        Ok((header, keys))
    }
}

impl FilledStore {
    /// Names the store; the same at all parties.
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// Makes it a store that can be opened. All parties must be known to have theirs on disk: a store
    /// that others lack is of no use.
    ///
    /// # Errors
    /// The disk.
    pub fn complete(mut self) -> madrigal_net::Result<StoreId> {
        let directory = &self.new.directory;
        let [from, to] = [PARTIAL, HEADER].map(|name| directory.join(name));
        fs::rename(from, to)
            .and_then(|()| files::sync_directory(directory))
            .map_err(|error| StoreError::io("write", HEADER)(error).told())?;
        self.new.complete = true;
        Ok(self.id)
    }
}

impl Drop for NewStore {
    fn drop(&mut self) {
        if !self.complete {
            let kinds = self.holds.kinds().into_iter();
            let data = kinds.map(|(kind, _)| kind.to_string());
            let small = [PARTIAL, HEADER, files::JOURNAL, files::NEW_JOURNAL];
            for name in data.chain(small.map(str::to_owned)) {
                let _ = fs::remove_file(self.directory.join(name));
            }
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

/// Everybody says the same, or nobody goes on.
async fn agree(
    context: &Context,
    channels: &mut [Channel],
    id: StoreId,
) -> madrigal_net::Result<()> {
    let received = exchange(channels, id.0.to_vec(), ID_BYTES).await?;
    for (channel, theirs) in channels.iter().zip(received) {
        if theirs != id.0[..] {
            let peer = channel.peer();
            return Err(StoreError::Differs { peer }.fail(context));
        }
    }
    Ok(())
}
