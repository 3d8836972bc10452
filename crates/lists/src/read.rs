//! One pass over a file: its keys become digests in partitions.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use madrigal_core::Zeroizing;
use madrigal_core::budget::open_regular;

use crate::csv::{Fault, Mark, Records, Span};
use crate::decimal;
use crate::digest::{Digester, join, partition_of};
use crate::error::{ListError, Names, Place, Problem};
use crate::part::{self, Clash, ENTRY, LONG_ENTRY, Part};
use crate::source::{Empty, Format, Payload, Source};
use crate::store::{Room, Store};
use crate::{MOST_KEY, MOST_PARTITIONS, MOST_RECORD, MOST_ROWS};

/// How far a pass over a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of a CSV file, or rows of a Parquet file, that were passed.
    pub done: u64,
    /// Bytes or rows that there are.
    pub all: u64,
}

/// A function that is told how far a pass has come, some hundred times a second at most, and may stop it.
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

/// The keys of a list, in partitions.
pub struct Listed {
    pub(crate) source: Source,
    pub(crate) stamp: Stamp,
    pub(crate) rows: u32,
    skipped: u32,
    keys: Vec<u32>,
    store: Store,
    /// Partitions in order, if memory has room for all.
    parts: Vec<Option<Arc<Part>>>,
}

madrigal_core::opaque!(Listed);

/// Reads a list's file, and puts the digests of its keys into `partitions` partitions, each in order.
///
/// The salt is the job's, and all parties' the same. All that is wrong with the list shows here: afterwards only the disk can
/// fail.
///
/// Memory, beside `room.memory`: 0.5 MB for reading, for a partition of n rows 32 n bytes (40 n with a payload) while it is sorted,
/// and what [`Part`] says. Records of more than 16 MiB and keys of more than 1 MiB are refused.
///
/// # Errors
/// [`ListError`]: a file that cannot be read, or that has something that cannot be taken, with its place; no room on the disk.
pub fn read(
    source: &Source,
    salt: &[u8; 32],
    partitions: u32,
    room: &Room,
    watch: Watch<'_>,
) -> Result<Listed, ListError> {
    if !(1..=MOST_PARTITIONS).contains(&partitions) {
        return Err(ListError::Partitions { partitions });
    }
    let (file, stamp) = open(source)?;
    let mut sink = Sink::new(source, salt, partitions, room);
    match source.format() {
        Format::Csv => read_csv(source, &file, &stamp, &mut sink, watch)?,
        Format::Parquet => {
            return Err(ListError::NoParquet {
                path: source.path().to_owned(),
            });
        }
    }
    let Sink {
        mut store,
        rows,
        skipped,
        ..
    } = sink;
    store.finish()?;
    let mut listed = Listed {
        source: source.clone(),
        stamp,
        rows,
        skipped,
        keys: Vec::with_capacity(partitions as usize),
        store,
        parts: Vec::new(),
    };
    listed.settle()?;
    Ok(listed)
}

/// Opens a list's file.
pub(crate) fn open(source: &Source) -> Result<(File, Stamp), ListError> {
    let path = source.path();
    let opened = open_regular(path, u64::MAX).map_err(|source| ListError::Open {
        path: path.to_owned(),
        source,
    });
    let (file, length) = opened?;
    let modified = file.metadata().map_err(ListError::read(path))?.modified();
    let modified = modified.ok();
    Ok((file, Stamp { length, modified }))
}

/// The first record of a file.
pub(crate) struct Header {
    pub(crate) span: Span,
    pub(crate) names: Vec<String>,
}

/// The records of a file, after its header.
pub(crate) fn records<'f>(
    source: &Source,
    file: &'f File,
) -> Result<(Records<&'f File>, Option<Header>), ListError> {
    let fault = |fault| wrong(source, fault);
    let mut records = Records::new(file, source.between(), MOST_RECORD).map_err(fault)?;
    let Some(span) = records.next().map_err(fault)? else {
        return Ok((records, None));
    };
    let mut names = Vec::new();
    let mut room = Zeroizing::default();
    for mark in records.all_fields(&span) {
        let name = std::str::from_utf8(records.value(&mark, &mut room));
        let name = name.map_err(|_| {
            let problem = Problem::NameNotUtf8(names.len() + 1);
            ListError::content(source.path(), Place::line(1), problem)
        })?;
        names.push(name.trim().to_owned());
    }
    Ok((records, Some(Header { span, names })))
}

/// Finds columns by their names.
pub(crate) fn places(
    path: &Path,
    names: &[String],
    wanted: &[&str],
) -> Result<Vec<usize>, ListError> {
    let place = |wanted: &&str| {
        let mut found = (0..names.len()).filter(|&at| names[at] == *wanted);
        match (found.next(), found.count()) {
            (Some(place), 0) => Ok(place),
            (first, more) => Err(ListError::Column {
                path: path.to_owned(),
                name: (*wanted).to_owned(),
                times: first.map_or(0, |_| more + 1),
                there: Names(names.to_vec()),
            }),
        }
    };
    wanted.iter().map(place).collect()
}

fn read_csv(
    source: &Source,
    file: &File,
    stamp: &Stamp,
    sink: &mut Sink<'_>,
    watch: Watch<'_>,
) -> Result<(), ListError> {
    let path = source.path();
    let (mut records, header) = records(source, file)?;
    let Some(Header { names, .. }) = header else {
        // A file without a line is a list without rows.
        return Ok(());
    };
    let columns = source.columns();
    let places = places(path, &names, &columns)?;
    // Fields are found in the order of the file.
    let mut wanted = places.clone();
    wanted.sort_unstable();
    let order = |name: &str| {
        let place = columns.iter().position(|column| *column == name);
        let place = place.map(|column| places[column]);
        wanted.iter().position(|&wanted| Some(wanted) == place)
    };
    let keys: Vec<usize> = (source.keys().iter())
        .filter_map(|key| order(&key.column))
        .collect();
    let payload = source.numbers().and_then(|payload| order(&payload.column));
    let mut marks: Vec<Mark> = Vec::with_capacity(wanted.len());
    let mut rooms = vec![Zeroizing::<Vec<u8>>::default(); keys.len() + 1];
    let mut told = 0;
    while let Some(span) = records.next().map_err(|fault| wrong(source, fault))? {
        let offset = records.offset(span.body.start);
        let at = |name: Option<&str>, problem| {
            let place = Place::line(line(source, offset)?);
            let place = name.map_or(place.clone(), |name| place.column(name));
            Err(ListError::content(path, place, problem))
        };
        if let Err(got) = records.fields(&span, &wanted, names.len(), &mut marks) {
            let expected = names.len();
            return at(None, Problem::Fields { expected, got });
        }
        let (room, rooms) = rooms.split_at_mut(1);
        let number = payload.map(|place| records.value(&marks[place], &mut room[0]));
        let number = number.map(Number::Text);
        let added = match (&keys[..], &mut *rooms) {
            ([key], [room]) => sink.add(&[records.value(&marks[*key], room)], number),
            (_, rooms) => {
                let both = keys.iter().zip(rooms);
                let values: Vec<&[u8]> = both
                    .map(|(key, room)| records.value(&marks[*key], room))
                    .collect();
                sink.add(&values, number)
            }
        };
        match added {
            Ok(()) => {}
            Err(Refused::Error(error)) => return Err(error),
            Err(Refused::Key(column, problem)) => {
                return at(Some(&source.keys()[column].column), problem);
            }
            Err(Refused::Number(problem)) => {
                return at(
                    source.numbers().map(|payload| payload.column.as_str()),
                    problem,
                );
            }
        }
        if offset - told >= TELL {
            told = offset;
            tell(source, watch, offset, stamp.length)?;
        }
    }
    tell(source, watch, stamp.length, stamp.length)
}

/// Bytes after which progress is told.
pub(crate) const TELL: u64 = 4 << 20;

pub(crate) fn tell(
    source: &Source,
    watch: Watch<'_>,
    done: u64,
    all: u64,
) -> Result<(), ListError> {
    match watch(Progress { done, all }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ListError::Stopped {
            path: source.path().to_owned(),
        }),
    }
}

/// The error for what is wrong with a stream.
pub(crate) fn wrong(source: &Source, fault: Fault) -> ListError {
    let path = source.path();
    let (offset, problem) = match fault {
        Fault::Io(error) => return ListError::read(path)(error),
        Fault::Long(offset) => (offset, Problem::LongRecord),
        Fault::Open(offset) => (offset, Problem::OpenQuote),
        Fault::Utf16 => (0, Problem::Utf16),
    };
    match line(source, offset) {
        Ok(line) => ListError::content(path, Place::line(line), problem),
        Err(error) => error,
    }
}

/// The line, counted from 1, of a byte of a CSV file. Lines are counted only now: a pass over the file costs nothing when something
/// is wrong, and a count of each line would cost everybody.
fn line(source: &Source, offset: u64) -> Result<u64, ListError> {
    use std::io::Read as _;
    let (file, _) = open(source)?;
    let mut rest = file.take(offset);
    let mut buffer = Zeroizing::<Vec<u8>>::zeros(64 << 10);
    let mut lines = 1;
    let mut last = 0;
    loop {
        let read = rest
            .read(&mut buffer)
            .map_err(ListError::read(source.path()))?;
        if read == 0 {
            return Ok(lines);
        }
        for &byte in &buffer[..read] {
            lines += u64::from(byte == b'\r' || byte == b'\n' && last != b'\r');
            last = byte;
        }
    }
}

/// A payload as a file has it.
pub(crate) enum Number<'a> {
    Text(&'a [u8]),
    #[cfg(feature = "parquet")]
    Value(i128),
}

/// Reasons why a row is not taken.
pub(crate) enum Refused {
    /// Nothing wrong with the row.
    Error(ListError),
    /// A column of the key.
    Key(usize, Problem),
    /// The payload.
    Number(Problem),
}

/// Takes rows, one after the other.
pub(crate) struct Sink<'a> {
    source: &'a Source,
    payload: Option<&'a Payload>,
    digester: Digester,
    partitions: u32,
    store: Store,
    rows: u32,
    skipped: u32,
    joined: Zeroizing<Vec<u8>>,
    room: Zeroizing<Vec<u8>>,
}

impl<'a> Sink<'a> {
    fn new(source: &'a Source, salt: &[u8; 32], partitions: u32, room: &Room) -> Self {
        let payload = source.numbers();
        let entry = if payload.is_some() { LONG_ENTRY } else { ENTRY };
        Self {
            source,
            payload,
            digester: Digester::new(salt, source.keys().len() as u8),
            partitions,
            store: Store::new(entry, partitions, room),
            rows: 0,
            skipped: 0,
            joined: Zeroizing::default(),
            room: Zeroizing::default(),
        }
    }

    /// Takes the next row.
    #[inline]
    pub(crate) fn add(
        &mut self,
        values: &[&[u8]],
        number: Option<Number<'_>>,
    ) -> Result<(), Refused> {
        let row = self.rows;
        if row == MOST_ROWS {
            return Err(Refused::Error(ListError::TooManyRows {
                path: self.source.path().to_owned(),
            }));
        }
        self.rows += 1;
        let keys = self.source.keys();
        let mut empty = None;
        let digest = match (values, keys) {
            ([value], [key]) => {
                let value = normal(value, key, &mut self.room)
                    .map_err(|problem| Refused::Key(0, problem))?;
                empty = value.is_empty().then_some(0);
                self.digester.digest(value)
            }
            _ => {
                self.joined.clear();
                for (place, (value, key)) in values.iter().zip(keys).enumerate() {
                    let value = normal(value, key, &mut self.room);
                    let value = value.map_err(|problem| Refused::Key(place, problem))?;
                    if value.is_empty() {
                        empty = empty.or(Some(place));
                    }
                    join(&mut self.joined, value);
                }
                self.digester.digest(&self.joined)
            }
        };
        if let Some(place) = empty {
            match self.source.of_empty() {
                Empty::Match => {}
                Empty::Refuse => return Err(Refused::Key(place, Problem::EmptyKey)),
                Empty::Skip => {
                    self.skipped += 1;
                    return Ok(());
                }
            }
        }
        let partition = partition_of(digest, self.partitions);
        let pushed = match (self.payload, number) {
            (Some(payload), Some(number)) => {
                let value = match number {
                    Number::Text(text) => decimal::parse(text, payload.places),
                    #[cfg(feature = "parquet")]
                    Number::Value(value) => Ok(value),
                };
                let value = value.and_then(|value| payload.check(value));
                let value = value.map_err(Refused::Number)?;
                let entry = part::encode(digest, row, value);
                self.store.push(partition, &entry)
            }
            _ => {
                let entry = part::encode(digest, row, 0);
                self.store.push(partition, &entry[..ENTRY])
            }
        };
        pushed.map_err(Refused::Error)
    }
}

/// Gives a value's normal form.
#[inline]
fn normal<'v>(
    value: &'v [u8],
    key: &crate::Key,
    room: &'v mut Zeroizing<Vec<u8>>,
) -> Result<&'v [u8], Problem> {
    if value.len() > MOST_KEY {
        return Err(Problem::LongKey);
    }
    key.normal.apply(value, room)
}

impl Listed {
    /// Sorts all partitions, finds what is wrong with keys that have several rows, and keeps what memory holds.
    fn settle(&mut self) -> Result<(), ListError> {
        let spilled = self.store.spilled() > 0;
        for partition in 0..self.partitions() {
            let part = self.sorted(partition)?;
            self.keys.push(part.len() as u32);
            if !spilled {
                self.store.clear(partition);
                self.parts.push(Some(Arc::new(part)));
            }
        }
        Ok(())
    }

    fn sorted(&self, partition: u32) -> Result<Part, ListError> {
        let payload = self.source.numbers();
        match part::sorted(&self.store, partition, payload) {
            Ok(part) => Ok(part),
            Err(Clash::Error(error)) => Err(error),
            Err(Clash::Rows(first, second, problem)) => {
                let problem = match problem {
                    Problem::Repeated { .. } => Problem::Repeated {
                        other: self.place(first)?.to_string(),
                    },
                    other => other,
                };
                let place = self.place(second)?;
                let place = match payload {
                    Some(payload) => place.column(&payload.column),
                    None => place,
                };
                Err(ListError::content(self.source.path(), place, problem))
            }
        }
    }

    /// Finds a row in the file.
    fn place(&self, row: u32) -> Result<Place, ListError> {
        let (file, stamp) = open(&self.source)?;
        if stamp != self.stamp {
            return Err(ListError::Changed {
                path: self.source.path().to_owned(),
            });
        }
        let fault = |fault| wrong(&self.source, fault);
        let (mut records, _) = records(&self.source, &file)?;
        for _ in 0..row {
            records.next().map_err(fault)?;
        }
        let span = records.next().map_err(fault)?;
        let offset = span.map_or(stamp.length, |span| records.offset(span.body.start));
        Ok(Place::line(line(&self.source, offset)?))
    }

    /// The keys of a partition, in order.
    ///
    /// # Errors
    /// [`ListError::Partition`] if there is none of that number, [`ListError::Spill`] if the disk fails.
    pub fn partition(&self, partition: u32) -> Result<Arc<Part>, ListError> {
        let partitions = self.partitions();
        if partition >= partitions {
            return Err(ListError::Partition {
                partition,
                partitions,
            });
        }
        match self.parts.get(partition as usize) {
            Some(Some(part)) => Ok(part.clone()),
            _ => self.sorted(partition).map(Arc::new),
        }
    }

    /// Number of partitions.
    pub fn partitions(&self) -> u32 {
        self.store.partitions()
    }

    /// Number of rows, those without a key among them.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of rows that were skipped because their keys are empty.
    pub fn skipped(&self) -> u32 {
        self.skipped
    }

    /// Number of different keys.
    pub fn keys(&self) -> u64 {
        self.keys.iter().map(|&keys| u64::from(keys)).sum()
    }

    /// Number of different keys of each partition.
    pub fn keys_of_partitions(&self) -> &[u32] {
        &self.keys
    }

    /// Number of rows beyond the first of their key.
    pub fn repeated(&self) -> u64 {
        u64::from(self.rows - self.skipped) - self.keys()
    }

    /// Bytes that were put into a file because memory did not hold them.
    pub fn spilled(&self) -> u64 {
        self.store.spilled()
    }

    /// The list that was read.
    pub fn source(&self) -> &Source {
        &self.source
    }
}
