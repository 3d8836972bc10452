//! The units of one kind at one server.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Digest256, Party};
use madrigal_correlations::{Maker, Needs, Reserve};
use madrigal_correlations_store::{
    Holding, Store, StoreError, StoreKey, StoreStatus, remove, status,
};
use madrigal_engine::StoreSpec;
use madrigal_net::{Context, Result};
use tracing::{debug, warn};

use crate::kind::Kind;
use crate::unit::{AheadUnit, spec, times};

/// Sizes of batches whose needs are remembered.
const SIZES: usize = 256;

/// The units of a kind.
pub(crate) struct Shelf {
    pub(crate) kind: Arc<Kind>,
    unit: AheadUnit,
    me: Party,
    directory: PathBuf,
    key: StoreKey,
    units: HashMap<Digest256, Unit>,
    /// Number of the next unit's directory.
    next: u64,
    /// Number of jobs for which all servers of this session keep correlations ready; 0 without one.
    pub(crate) level: usize,
    /// Needs of batches, by their sizes and the threads that they are computed with; nothing for those that cannot be planned.
    needs: HashMap<(usize, usize), Option<Needs>>,
    /// Specification of a unit, for a number of threads.
    spec: Option<(usize, StoreSpec)>,
}

/// A unit that nobody uses now.
#[derive(Debug)]
struct Unit {
    directory: PathBuf,
    left: Needs,
    bytes: u64,
}

/// A unit that a run takes its correlations from. Dropped before it is put back, it is removed.
#[derive(Debug)]
pub(crate) struct Taken {
    name: Digest256,
    me: Party,
    directory: PathBuf,
    bytes: u64,
    /// The open store; nothing once it is put back.
    store: Option<Store>,
    /// Needs of the job that has reserved some of it.
    reserved: Option<Needs>,
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, units) = (&self.kind.config.name, self.units.len());
        write!(f, "Shelf({units} units of {name})")
    }
}

impl Shelf {
    /// The shelf of a kind that keeps correlations ready, with what is on the disk of it. What cannot be used is removed.
    ///
    /// # Errors
    /// The system's: a directory that cannot be made, or read.
    pub(crate) fn open(
        kind: &Arc<Kind>,
        unit: &AheadUnit,
        (me, servers): (Party, usize),
        directory: PathBuf,
        key: StoreKey,
    ) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        let mut shelf = Self {
            kind: Arc::clone(kind),
            unit: unit.clone(),
            me,
            directory,
            key,
            units: HashMap::new(),
            next: 0,
            level: 0,
            needs: HashMap::new(),
            spec: None,
        };
        for entry in fs::read_dir(&shelf.directory)? {
            let path = entry?.path();
            let number = path
                .file_name()
                .and_then(|name| name.to_str()?.parse().ok());
            shelf.next = shelf.next.max(number.map_or(0, |number: u64| number + 1));
            match status(&path, &shelf.key, false) {
                Ok(found) if (found.party, found.parties) == (me.index(), servers) => {
                    shelf.insert(path, &found);
                }
                // A crash has left them so.
                Ok(_) | Err(StoreError::Incomplete | StoreError::Missing) => throw_away(&path),
                Err(error) => {
                    let kind = &kind.config.name;
                    warn!(kind, %error, "correlations made ahead cannot be used, and are removed");
                    throw_away(&path);
                }
            }
        }
        Ok(shelf)
    }

    fn insert(&mut self, directory: PathBuf, found: &StoreStatus) {
        let unit = Unit {
            directory,
            left: left(&found.holdings),
            bytes: found.bytes,
        };
        self.units.insert(name(found), unit);
    }

    /// Names of all units, in order.
    pub(crate) fn names(&self) -> Vec<Digest256> {
        let mut names: Vec<Digest256> = self.units.keys().copied().collect();
        names.sort_unstable_by_key(|name| name.0);
        names
    }

    /// Number of jobs of the stated size that are to be ready by this server's file.
    pub(crate) fn wanted(&self) -> usize {
        self.unit.config.jobs
    }

    /// Number of jobs of the stated size for which correlations are there.
    pub(crate) fn jobs(&self) -> f64 {
        let units = self.units.values();
        units.map(|unit| times(&unit.left, &self.unit.needs)).sum()
    }

    /// Bytes of all units on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.units.values().map(|unit| unit.bytes).sum()
    }

    /// Number of units that are enough for a job of the stated size.
    pub(crate) fn whole(&self) -> usize {
        let whole = |unit: &&Unit| times(&unit.left, &self.unit.needs) >= 1.0;
        self.units.values().filter(whole).count()
    }

    /// Whether there is room for one more unit, and `more`: each job of the level has a whole one, and one that is used in part beside it.
    pub(crate) fn has_room(&self, more: usize) -> bool {
        self.units.len() < 2 * self.level + more
    }

    /// Removes the unit with the least in it where there is no room for another. Gives its name.
    pub(crate) fn make_room(&mut self) -> Option<Digest256> {
        let smallest = self.best(|_| true).filter(|_| !self.has_room(0))?;
        self.drop_unit(smallest);
        Some(smallest)
    }

    /// Gives the specification of a unit that is made on this many threads of each server.
    ///
    /// # Errors
    /// There is no plan for as many, in words.
    pub(crate) fn spec(&mut self, threads: usize) -> std::result::Result<StoreSpec, String> {
        if let Some((_, spec)) = self.spec.as_ref().filter(|(known, _)| *known == threads) {
            return Ok(spec.clone());
        }
        let planned = self.kind.ahead_plan(threads);
        let spec = spec(&planned.map_err(|fault| fault.to_string())?);
        self.spec = Some((threads, spec.clone()));
        Ok(spec)
    }

    /// The unit for a batch of this size: of those that have enough, the one with the least.
    pub(crate) fn choose(&mut self, size: usize, threads: usize) -> Option<Digest256> {
        if self.level == 0 || self.units.is_empty() {
            return None;
        }
        let needs = self.needs_of(size, threads)?;
        self.best(|unit| times(&unit.left, &needs) >= 1.0)
    }

    fn best(&self, fits: impl Fn(&Unit) -> bool) -> Option<Digest256> {
        let units = self.units.iter().filter(|(_, unit)| fits(unit));
        let size = |unit: &Unit| times(&unit.left, &self.unit.needs);
        let least = units.min_by(|(one, a), (other, b)| {
            let order = size(a).total_cmp(&size(b));
            order.then_with(|| one.0.cmp(&other.0))
        });
        least.map(|(name, _)| *name)
    }

    /// Needs of a batch of this size; nothing for one that needs none, or has no plan.
    fn needs_of(&mut self, size: usize, threads: usize) -> Option<Needs> {
        if self.needs.len() >= SIZES {
            self.needs.clear();
        }
        let kind = &self.kind;
        let needs = self.needs.entry((size, threads)).or_insert_with(|| {
            let prepared = kind.prepared(size, threads, true).ok()?;
            Some(prepared.planned.plan.needs())
        });
        needs.clone().filter(|needs| !needs.is_empty())
    }

    /// Takes a unit for a run. It is on the shelf no more.
    ///
    /// # Errors
    /// It is not here, or cannot be opened; in words.
    pub(crate) fn take(&mut self, name: Digest256) -> std::result::Result<Taken, String> {
        let Some(unit) = self.units.remove(&name) else {
            return Err(format!(
                "unit {name} of correlations made ahead is not here; the job is run again, and makes its own"
            ));
        };
        let mut taken = Taken {
            name,
            me: self.me,
            directory: unit.directory,
            bytes: unit.bytes,
            store: None,
            reserved: None,
        };
        let store = Store::open(&taken.directory, &self.key);
        taken.store = Some(store.map_err(|error| format!("unit {name}: {error}"))?);
        Ok(taken)
    }

    /// Puts a unit back after a job that has ended well at all servers, if it has as much again; else removes it. All servers come to the same, for a
    /// job has raised their marks to the same.
    pub(crate) fn put_back(&mut self, mut taken: Taken) {
        let (Some(store), Some(reserved)) = (&taken.store, &taken.reserved) else {
            return;
        };
        let left = left(&store.holdings());
        // One more than where the leader makes room: what it has removed meanwhile may be at work here.
        if times(&left, reserved) >= 1.0 && self.has_room(1) {
            let unit = Unit {
                directory: taken.directory.clone(),
                left,
                bytes: taken.bytes,
            };
            self.units.insert(taken.name, unit);
            taken.store = None;
        }
    }

    /// Takes a unit that was just made on the shelf.
    pub(crate) fn put(&mut self, directory: PathBuf) {
        match status(&directory, &self.key, false) {
            Ok(found) => self.insert(directory, &found),
            Err(error) => {
                let kind = &self.kind.config.name;
                warn!(kind, %error, "correlations that were just made cannot be used");
                throw_away(&directory);
            }
        }
    }

    /// Removes a unit that was just made for a session that is over: the others may have done so.
    pub(crate) fn discard(&mut self, directory: &Path) {
        throw_away(directory);
    }

    /// Removes a unit, if it is on the shelf.
    pub(crate) fn drop_unit(&mut self, name: Digest256) {
        if let Some(unit) = self.units.remove(&name) {
            throw_away(&unit.directory);
        }
    }

    /// Removes all units but these.
    pub(crate) fn keep_only(&mut self, names: &HashSet<Digest256>) {
        let others: Vec<_> = self
            .units
            .keys()
            .filter(|name| !names.contains(*name))
            .copied()
            .collect();
        others.into_iter().for_each(|name| self.drop_unit(name));
    }

    /// A new unit's directory, and the key that it is sealed under.
    pub(crate) fn place(&mut self) -> (PathBuf, StoreKey) {
        let number = self.next;
        self.next += 1;
        (self.directory.join(number.to_string()), self.key.clone())
    }
}

impl Reserve for Taken {
    fn reserve<'a>(
        &'a mut self,
        context: &'a Context,
        needs: &'a Needs,
    ) -> LocalBoxFuture<'a, Result<Box<dyn Maker>>> {
        Box::pin(async move {
            let Some(store) = &mut self.store else {
                let reason = "a unit of correlations was taken after it was put back".to_owned();
                return Err(context.fail(madrigal_net::Error::Ended { reason }));
            };
            let source = store.reserve(context, needs).await?;
            self.reserved = Some(needs.clone());
            for (kind, count) in needs.kinds() {
                let holdings = store.holdings();
                let to = holdings.iter().find(|holding| holding.kind == kind);
                let to = to.map_or(0, |holding| holding.used);
                let (unit, from) = (self.name, to - count as u64);
                debug!(server = self.me.index(), %unit, %kind, from, to, "correlations made ahead are used");
            }
            Ok(Box::new(source) as Box<dyn Maker>)
        })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Unlocked before it goes.
        if self.store.take().is_some() || self.reserved.is_none() {
            throw_away(&self.directory);
        }
    }
}

fn name(found: &StoreStatus) -> Digest256 {
    Digest256(found.id.to_bytes())
}

fn left(holdings: &[Holding]) -> Needs {
    let mut left = Needs::new();
    for holding in holdings {
        left.add(
            holding.kind,
            usize::try_from(holding.left()).unwrap_or(usize::MAX),
        );
    }
    left
}

/// Removes a unit. What does not go now is tried again when the server starts.
fn throw_away(directory: &Path) {
    if let Err(error) = remove(directory) {
        warn!(%error, "correlations made ahead were not removed");
    }
}
