//! The shelves of all kinds, and the filling at work.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use madrigal_core::{Digest256, Party};
use madrigal_correlations_store::StoreKey;

use super::filling::Filling;
use super::shelf::{Shelf, Taken};
use crate::kind::Kind;
use crate::operation::{KindLabel, Meters};

/// Name of the folder of all shelves.
const FOLDER: &str = "ahead";

/// All that a server keeps ready, and the filling at work.
#[derive(Debug)]
pub(crate) struct Shelves {
    all: RefCell<BTreeMap<String, Shelf>>,
    filling: RefCell<Option<Filling>>,
    /// The last time that a job was seen at work.
    busy: Cell<Instant>,
    meters: Arc<Meters>,
}

/// Word of a server of what it keeps ready of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Told {
    /// Number of jobs.
    pub(crate) jobs: u32,
    /// Names of its units.
    pub(crate) units: Vec<Digest256>,
}

impl Shelves {
    /// The shelves of the kinds that keep correlations ready, in a folder of the server's data. Those of other kinds are removed.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open(
        data: &Path,
        kinds: &[Arc<Kind>],
        (me, servers): (Party, usize),
        key: &StoreKey,
        meters: &Arc<Meters>,
    ) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        let mut all = BTreeMap::new();
        let mut names = HashSet::new();
        for kind in kinds {
            let Some(unit) = &kind.ahead else { continue };
            // A changed kind has other needs, and may be another program of the same name.
            let name = format!("{}-{}", kind.config.name, Digest256(kind.digest));
            let directory = folder.join(&name);
            let shelf = Shelf::open(kind, unit, (me, servers), directory, key.clone())?;
            all.insert(kind.config.name.clone(), shelf);
            names.insert(name);
        }
        match fs::read_dir(&folder) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry?;
                    let name = entry.file_name();
                    let known = name.to_str().is_some_and(|name| names.contains(name));
                    if !known && entry.file_type()?.is_dir() {
                        fs::remove_dir_all(entry.path())?;
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let shelves = Self {
            all: RefCell::new(all),
            filling: RefCell::default(),
            busy: Cell::new(Instant::now()),
            meters: Arc::clone(meters),
        };
        shelves
            .all
            .borrow()
            .keys()
            .for_each(|kind| shelves.meter(kind));
        Ok(shelves)
    }

    /// Does something with the shelf of a kind, if it has one, and sets its meters.
    pub(crate) fn with<T>(&self, kind: &str, work: impl FnOnce(&mut Shelf) -> T) -> Option<T> {
        let done = self.all.borrow_mut().get_mut(kind).map(work);
        self.meter(kind);
        done
    }

    /// Removes the smallest unit of a kind that has no room for another. Gives its name.
    pub(crate) fn make_room(&self, kind: &str) -> Option<Digest256> {
        self.with(kind, Shelf::make_room).flatten()
    }

    /// Word for the other servers of what this one keeps ready of a kind.
    pub(crate) fn told(&self, kind: &str) -> Told {
        let told = |shelf: &mut Shelf| Told {
            jobs: shelf.wanted() as u32,
            units: shelf.names(),
        };
        self.with(kind, told).unwrap_or_default()
    }

    /// Begins a session in which servers have told this of a kind, this one among them: units that one of them lacks are of no use.
    pub(crate) fn settle(&self, kind: &str, told: &[Told]) {
        self.with(kind, |shelf| {
            let mut names: HashSet<Digest256> = shelf.names().into_iter().collect();
            for told in told {
                let theirs: HashSet<Digest256> = told.units.iter().copied().collect();
                names.retain(|name| theirs.contains(name));
            }
            shelf.keep_only(&names);
            let level = told.iter().map(|told| told.jobs).min().unwrap_or(0);
            shelf.level = level as usize;
        });
    }

    /// Uses and makes nothing more for a kind: it is another one from now on. Its units go from the disk with the next start.
    pub(crate) fn forget(&self, kind: &str) {
        self.all.borrow_mut().remove(kind);
    }

    /// Ends a session: nothing is used or made until the next one.
    pub(crate) fn down(&self) {
        self.give_way();
        for shelf in self.all.borrow_mut().values_mut() {
            shelf.level = 0;
        }
    }

    /// The unit for a run of a batch of this size, at the leader; nothing if none is ready.
    pub(crate) fn choose(&self, kind: &str, size: usize, threads: usize) -> Option<Digest256> {
        self.with(kind, |shelf| shelf.choose(size, threads))
            .flatten()
    }

    /// Takes the unit of a run.
    ///
    /// # Errors
    /// It is not here, or cannot be used; in words.
    pub(crate) fn take(&self, kind: &str, unit: Digest256) -> Result<Taken, String> {
        let taken = self.with(kind, |shelf| shelf.take(unit));
        taken.unwrap_or_else(|| {
            Err("this server keeps no correlations of the kind ready".to_owned())
        })
    }

    /// Puts the unit of a run back that has ended well, and counts the run.
    pub(crate) fn put_back(&self, kind: &str, taken: Taken) {
        self.with(kind, |shelf| shelf.put_back(taken));
        let runs = &self.meters.runs_ahead;
        runs.get_or_create(&KindLabel::from(kind)).inc();
    }

    /// Gives way to a job: a filling at work is given up.
    pub(crate) fn give_way(&self) {
        self.busy.set(Instant::now());
        drop(self.filling.take());
    }

    /// The last time that a job was at work.
    pub(crate) fn busy(&self) -> Instant {
        self.busy.get()
    }

    /// Whether a filling is at work.
    pub(crate) fn is_filling(&self) -> bool {
        self.filling.borrow().is_some()
    }

    /// Notes a filling that has begun; one before it is given up.
    pub(crate) fn begun(&self, filling: Filling) {
        drop(self.filling.replace(Some(filling)));
    }

    /// Notes that a filling has ended.
    pub(crate) fn ended(&self, number: u32) {
        let ended = |filling: &mut Filling| filling.number == number;
        drop(self.filling.borrow_mut().take_if(ended));
    }

    /// The kind for which the least is ready, of those that have less than their level. `may` says which may be
    /// filled now.
    pub(crate) fn neediest(&self, may: impl Fn(&str) -> bool) -> Option<String> {
        let all = self.all.borrow();
        let below = all
            .iter()
            .filter(|(kind, shelf)| may(kind) && shelf.whole() < shelf.level);
        let share = |shelf: &Shelf| shelf.whole() as f64 / shelf.level as f64;
        let least = below.min_by(|(_, one), (_, other)| share(one).total_cmp(&share(other)));
        least.map(|(kind, _)| kind.clone())
    }

    fn meter(&self, kind: &str) {
        let all = self.all.borrow();
        let Some(shelf) = all.get(kind) else { return };
        let label = KindLabel::from(kind);
        let meters = &self.meters;
        meters.ahead.get_or_create(&label).set(shelf.jobs());
        meters
            .ahead_level
            .get_or_create(&label)
            .set(shelf.wanted() as i64);
        meters
            .ahead_bytes
            .get_or_create(&label)
            .set(shelf.bytes() as i64);
    }
}
