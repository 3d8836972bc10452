//! CSV files, row by row.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::FileError;

/// Bytes of the longest row. A quote that is not closed makes a row of all that follows.
const ROW: usize = 16 << 20;

/// A file with the names in its first line.
pub(super) struct Csv<'a> {
    path: &'a Path,
    reader: Reader<Budget>,
    left: Rc<Cell<usize>>,
    names: Vec<String>,
}

/// A file that gives no more bytes for a row than it may have.
struct Budget {
    file: File,
    left: Rc<Cell<usize>>,
}

impl Read for Budget {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other(format!(
                "a row of more than {} MiB: a closing quote may be missing",
                ROW >> 20
            )));
        }
        let read = self.file.read(into)?;
        self.left.set(self.left.get().saturating_sub(read));
        Ok(read)
    }
}

impl<'a> Csv<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, FileError> {
        let file = File::open(path).map_err(FileError::read(path))?;
        let left = Rc::new(Cell::new(ROW));
        let budget = Budget {
            file,
            left: left.clone(),
        };
        let mut reader = ReaderBuilder::new().from_reader(budget);
        let wrong = |error: ::csv::Error| of_reader(path, &error);
        let header = reader.byte_headers().map_err(wrong)?;
        let mut names = Vec::new();
        for name in header {
            let name = std::str::from_utf8(name).map_err(|_| {
                FileError::content(path, Some(1), "a name of a column that is not in UTF-8")
            })?;
            names.push(name.trim().to_owned());
        }
        if names.iter().all(String::is_empty) {
            return Err(FileError::content(
                path,
                Some(1),
                "no names of columns: the first line has them, with commas between them",
            ));
        }
        Ok(Self {
            path,
            reader,
            left,
            names,
        })
    }

    /// Names of the columns.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Calls a function with each row.
    pub(super) fn each(
        mut self,
        mut row: impl FnMut(&ByteRecord) -> Result<(), String>,
    ) -> Result<(), FileError> {
        let mut record = ByteRecord::new();
        loop {
            self.left.set(ROW);
            let wrong = |error: ::csv::Error| of_reader(self.path, &error);
            if !self.reader.read_byte_record(&mut record).map_err(wrong)? {
                return Ok(());
            }
            let line = record.position().map(::csv::Position::line);
            row(&record).map_err(|problem| FileError::content(self.path, line, problem))?;
        }
    }
}

/// A field of a row as text.
pub(super) fn field<'r>(
    record: &'r ByteRecord,
    place: usize,
    name: &str,
) -> Result<&'r str, String> {
    let bytes = record.get(place).unwrap_or_default();
    std::str::from_utf8(bytes)
        .map_err(|_| format!("column {name:?} has a text that is not in UTF-8: convert the file"))
}

fn of_reader(path: &Path, error: &::csv::Error) -> FileError {
    let line = error.position().map(::csv::Position::line);
    let problem = match error.kind() {
        ::csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!(
            "{len} fields, and the first line has {expected_len}: put fields with commas into quotes"
        ),
        ::csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    FileError::content(path, line, problem)
}
