//! Changes of a transaction, table by table.

mod arrivals;
mod batches;
mod book;
mod counting;
mod entry;
mod fields;
mod read;
mod results;
mod runs;
mod submissions;
mod sweep;
mod tables;

use std::collections::HashMap;

use madrigal_core::Zeroizing;
use redb::{Database, ReadableTable, Table, WriteTransaction};

pub(crate) use book::Book;
pub(crate) use read::{Reading, Wanted};
pub use sweep::{Ages, Swept};
use tables::Definition;

use crate::error::{Result, VaultError};
use crate::key::VaultKey;
use crate::limits::Limits;
use crate::seal::{self, Place, Sealer};

const VERSION: &[u8] = b"1";

type Rows<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// A table, with its name.
pub(crate) struct Rowed<'t> {
    name: &'static str,
    rows: Rows<'t>,
}

/// A transaction with all tables open.
pub(crate) struct Transaction<'t> {
    sealer: &'t Sealer,
    limits: &'t Limits,
    book: &'t mut Book,
    submissions: Rowed<'t>,
    pieces: Rowed<'t>,
    accepted: Rowed<'t>,
    arrived: Rowed<'t>,
    receiving: Rowed<'t>,
    ended: Rowed<'t>,
    batches: Rowed<'t>,
    done: Rowed<'t>,
    members: Rowed<'t>,
    outputs: Rowed<'t>,
    results: Rowed<'t>,
    notes: Rowed<'t>,
    usage: Rowed<'t>,
    accounts: Rowed<'t>,
}

impl<'t> Transaction<'t> {
    pub(crate) fn new(
        transaction: &'t WriteTransaction,
        sealer: &'t Sealer,
        limits: &'t Limits,
        book: &'t mut Book,
    ) -> Result<Self> {
        let open = |definition: Definition| -> Result<Rowed<'t>> {
            Ok(Rowed {
                name: name_of(&definition),
                rows: transaction.open_table(definition)?,
            })
        };
        Ok(Self {
            sealer,
            limits,
            book,
            submissions: open(tables::SUBMISSIONS)?,
            pieces: open(tables::PIECES)?,
            accepted: open(tables::ACCEPTED)?,
            arrived: open(tables::ARRIVED)?,
            receiving: open(tables::RECEIVING)?,
            ended: open(tables::ENDED)?,
            batches: open(tables::BATCHES)?,
            done: open(tables::DONE)?,
            members: open(tables::MEMBERS)?,
            outputs: open(tables::OUTPUTS)?,
            results: open(tables::RESULTS)?,
            notes: open(tables::NOTES)?,
            usage: open(tables::USAGE)?,
            accounts: open(tables::ACCOUNTS)?,
        })
    }

    /// Writes down what is used.
    pub(crate) fn finish(mut self) -> Result<()> {
        for (kind, value) in self.book.rows() {
            self.usage.put(self.sealer, kind.as_bytes(), kind, &value)?;
        }
        for (kind, number, value) in self.book.account_rows() {
            let key = tables::of_account(kind, number);
            match value {
                Some(value) => self.accounts.put(self.sealer, &key, kind, &value)?,
                None => self.accounts.remove(&key)?,
            }
        }
        Ok(())
    }

    /// Writes a note, or takes it away.
    pub(crate) fn note(&mut self, name: &str, value: Option<&[u8]>) -> Result<()> {
        match value {
            Some(value) => self.notes.put(self.sealer, name.as_bytes(), "", value),
            None => self.notes.remove(name.as_bytes()),
        }
    }

    /// Adds to a counter that is kept as a note of 8 bytes; an amount that would pass `most` adds nothing and gives nothing.
    pub(crate) fn count(&mut self, name: &str, amount: u64, most: u64) -> Result<Option<u64>> {
        let before = self.notes.get(self.sealer, name.as_bytes(), "")?;
        let before = match &before {
            None => 0,
            Some(value) => {
                let place = self.notes.place(name.as_bytes(), "");
                let value = value.as_slice().try_into();
                u64::from_le_bytes(value.map_err(|_| place.damaged())?)
            }
        };
        let Some(after) = before.checked_add(amount).filter(|after| *after <= most) else {
            return Ok(None);
        };
        self.note(name, Some(&after.to_le_bytes()))?;
        Ok(Some(after))
    }
}

impl<'t> Rowed<'t> {
    fn place<'a>(&self, key: &'a [u8], kind: &'a str) -> Place<'a> {
        let table = self.name;
        Place { table, key, kind }
    }

    /// Seals a value and writes it.
    fn put(&mut self, sealer: &Sealer, key: &[u8], kind: &str, value: &[u8]) -> Result<()> {
        let sealed = sealer.seal(self.place(key, kind), value)?;
        self.rows.insert(key, &sealed[..])?;
        Ok(())
    }

    /// Reads a value and opens it.
    fn get(&self, sealer: &Sealer, key: &[u8], kind: &str) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let row = self.rows.get(key)?;
        row.map(|sealed| sealer.open(self.place(key, kind), sealed.value()))
            .transpose()
    }

    /// Writes a key without a value.
    fn mark(&mut self, key: &[u8]) -> Result<()> {
        self.rows.insert(key, &[][..])?;
        Ok(())
    }

    fn has(&self, key: &[u8]) -> Result<bool> {
        Ok(self.rows.get(key)?.is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.rows.remove(key)?;
        Ok(())
    }

    /// Removes all rows from a key up to another, which is not removed.
    fn remove_range(&mut self, from: &[u8], to: &[u8]) -> Result<()> {
        if from < to {
            self.rows.retain_in(from..to, |_, _| false)?;
        }
        Ok(())
    }

    /// Removes all rows whose keys begin so.
    fn remove_prefix(&mut self, prefix: &[u8]) -> Result<()> {
        self.remove_range(prefix, &tables::after(prefix))
    }

    /// Some keys from a key up to another, in order.
    fn keys(&self, from: &[u8], to: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        if from < to {
            for row in self.rows.range(from..to)?.take(most) {
                keys.push(row?.0.value().to_vec());
            }
        }
        Ok(keys)
    }
}

fn name_of(definition: &Definition) -> &'static str {
    use redb::TableHandle;
    let found = NAMES.iter().find(|name| **name == definition.name());
    found.copied().unwrap_or("a table")
}

/// Names of tables, for errors.
const NAMES: [&str; 14] = [
    "submissions",
    "pieces",
    "accepted",
    "arrived",
    "receiving",
    "ended",
    "batches",
    "done",
    "members",
    "outputs",
    "results",
    "notes",
    "usage",
    "accounts",
];

/// Opens the file's tables and checks its key; draws the salt of this opening and has it on disk before anything is sealed under it.
pub(crate) fn unlock(database: &Database, key: &VaultKey) -> Result<Sealer> {
    let transaction = database.begin_write()?;
    let (sealer, ordered) = {
        let mut meta = transaction.open_table(tables::META)?;
        let version = meta.get(&b"version"[..])?.map(|row| row.value().to_vec());
        match version {
            None => {
                let salt = seal::fresh_salt()?;
                let check = seal::check_value(key, &salt)?;
                meta.insert(&b"version"[..], VERSION)?;
                meta.insert(&b"salt"[..], &salt[..])?;
                meta.insert(&b"check"[..], &check[..])?;
            }
            Some(version) if version == VERSION => {}
            Some(other) => {
                let found = String::from_utf8_lossy(&other).into_owned();
                return Err(VaultError::Version { found });
            }
        }
        let value = |name: &'static str| -> Result<Vec<u8>> {
            let row = meta.get(name.as_bytes())?;
            Ok(row.map(|row| row.value().to_vec()).unwrap_or_default())
        };
        let salt = value("salt")?
            .try_into()
            .map_err(|_| VaultError::WrongKey)?;
        if !seal::is_key(key, &salt, &value("check")?)? {
            return Err(VaultError::WrongKey);
        }
        let mut keys = transaction.open_table(tables::KEYS)?;
        let mut salts = HashMap::new();
        for row in keys.iter()? {
            let (number, salt) = row?;
            if let (Ok(number), Ok(salt)) = (number.value().try_into(), salt.value().try_into()) {
                salts.insert(u32::from_be_bytes(number), salt);
            }
        }
        let ordered = meta.insert(&b"arrivals"[..], VERSION)?.is_some();
        let generation = salts.keys().max().map_or(0, |last| last + 1);
        let salt = seal::fresh_salt()?;
        keys.insert(&generation.to_be_bytes()[..], &salt[..])?;
        salts.insert(generation, salt);
        (Sealer::new(key.clone(), generation, salts)?, ordered)
    };
    // All tables are there for whoever reads.
    let (limits, mut book) = (Limits::default(), Book::default());
    let mut open = Transaction::new(&transaction, &sealer, &limits, &mut book)?;
    if !ordered {
        open.count_all()?;
    }
    open.finish()?;
    transaction.commit()?;
    Ok(sealer)
}
