//! A list's file: opened, its first record read, its lines counted.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use madrigal_core::Zeroizing;
use madrigal_core::budget::open_regular;

use crate::csv::{Fault, Records, Span};
use crate::error::{ListError, Names, Place, Problem};
use crate::source::Source;
use crate::{MOST_FIELDS, MOST_RECORD};

/// How far a pass over a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of a CSV file, or rows of a Parquet file, that were passed.
    pub done: u64,
    /// Bytes or rows that there are.
    pub all: u64,
}

/// A function that is told how far a pass has come, some hundred times a second, and may stop it. While partitions are sorted it is told
/// the end again and again.
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
    let columns = records.count(&span);
    if columns > MOST_FIELDS {
        let problem = Problem::Columns(columns);
        return Err(ListError::content(source.path(), Place::line(1), problem));
    }
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

/// Rows of a Parquet file after which progress is told.
#[cfg(feature = "parquet")]
pub(crate) const TELL_ROWS: u64 = 100_000;
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
pub(crate) fn line(source: &Source, offset: u64) -> Result<u64, ListError> {
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
