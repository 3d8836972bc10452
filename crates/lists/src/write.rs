//! A second pass over a file: the rows that are kept, as they stand.

use std::io::{self, Write};

use madrigal_core::Zeroizing;

use crate::csv::MARK;
use crate::decimal::{self, MOST_PLACES};
use crate::error::ListError;
use crate::file::{TELL, Watch, open, records, tell, wrong};
use crate::listed::Listed;
use crate::matches::Matches;
use crate::source::Format;

/// Bytes that are written at once.
const BUFFER: usize = 256 << 10;

/// Rows that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Rows that match.
    Matched,
    /// Rows that do not match.
    Others,
    /// All; a column that is added is empty in rows that do not match.
    All,
}

/// A column that is added to rows, for numbers of those that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// Name of the column.
    pub name: String,
    /// Digits after the point, at most 18. Numbers are in units of the last of them.
    pub places: u32,
}

impl Listed {
    /// Writes rows of the list as CSV: the header, then the rows that are kept, in the order of the file. The rows of a CSV file are copied byte by
    /// byte, with their own line endings, and `extra` comes at their end; lines without a byte are left out. Of a
    /// Parquet file all columns are written but [`Listed::left_out`]; a text without a character is `""`, and NULL is nothing. Gives the number of rows.
    ///
    /// It takes memory for one record, and for the numbers of a million rows.
    ///
    /// # Errors
    /// [`ListError`]: a file that has changed since it was read, or cannot be read; numbers without a column for
    /// them, or the other way round; an output that takes no more.
    pub fn write_rows(
        &self,
        matches: &Matches,
        keep: Keep,
        extra: Option<&Extra>,
        out: &mut dyn Write,
        watch: Watch<'_>,
    ) -> Result<u64, ListError> {
        self.write_rows_by(matches, keep, (extra, None), out, watch)
    }

    /// Writes rows as [`write_rows`](Self::write_rows) does, and where `by` names one a further column at their ends: [the name of the
    /// key](crate::Source::name_of_key) by which each row matches, which is empty in rows that do not.
    ///
    /// # Errors
    /// [`ListError`] in the same cases as [`write_rows`](Self::write_rows).
    pub fn write_rows_by(
        &self,
        matches: &Matches,
        keep: Keep,
        (extra, by): (Option<&Extra>, Option<&str>),
        out: &mut dyn Write,
        watch: Watch<'_>,
    ) -> Result<u64, ListError> {
        let values = matches.values();
        if values.is_some() != extra.is_some() {
            return Err(ListError::Values {
                column: extra.is_some(),
            });
        }
        if let Some(&Extra { places, .. }) = extra
            && places > MOST_PLACES
        {
            return Err(ListError::Places { places });
        }
        if matches.rows() != self.rows {
            return Err(self.changed());
        }
        let mut pass = Pass {
            matches,
            keep,
            values,
            places: extra.map_or(0, |extra| extra.places),
            keys: match by {
                Some(_) => (0..self.source.all_keys().len())
                    .map(|key| self.field(self.source.name_of_key(key).as_bytes()))
                    .collect(),
                None => Vec::new(),
            },
            separator: self.source.between(),
            row: 0,
            written: 0,
            out: Out {
                to: out,
                bytes: Zeroizing::new(Vec::with_capacity(BUFFER)),
            },
        };
        let names = extra.map(|extra| extra.name.as_str());
        let names = names.into_iter().chain(by);
        let names: Vec<Vec<u8>> = names.map(|name| self.field(name.as_bytes())).collect();
        match self.source.format() {
            Format::Csv => self.copy_csv(&mut pass, &names, watch)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => self.copy_parquet(&mut pass, &names, watch)?,
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                return Err(ListError::NoParquet {
                    path: self.source.path().to_owned(),
                });
            }
        }
        // The file may have changed while it was copied.
        if pass.row != u64::from(self.rows) || open(&self.source)?.1 != self.stamp {
            return Err(self.changed());
        }
        pass.out.flush()?;
        Ok(pass.written)
    }

    fn changed(&self) -> ListError {
        ListError::Changed {
            path: self.source.path().to_owned(),
        }
    }

    /// A text as a field.
    fn field(&self, text: &[u8]) -> Vec<u8> {
        quoted(text, self.source.between())
    }

    fn copy_csv(
        &self,
        pass: &mut Pass<'_>,
        names: &[Vec<u8>],
        watch: Watch<'_>,
    ) -> Result<(), ListError> {
        let source = &self.source;
        let fault = |fault| wrong(source, fault);
        let (file, stamp) = open(source)?;
        if stamp != self.stamp {
            return Err(self.changed());
        }
        let length = stamp.length();
        let (mut records, header) = records(source, &file)?;
        if let Some(span) = header.map(|header| header.span) {
            if records.is_marked() {
                pass.out.put(MARK)?;
            }
            let body = records.bytes(span.body.clone());
            let ending = records.bytes(span.body.end..span.end);
            pass.record(body, ending, names)?;
        }
        let mut told = 0;
        while let Some(span) = records.next().map_err(fault)? {
            if pass.is_kept() {
                let body = records.bytes(span.body.clone());
                let ending = records.bytes(span.body.end..span.end);
                pass.row(body, ending)?;
            }
            pass.row += 1;
            let offset = records.offset(span.end);
            if offset - told >= TELL {
                told = offset;
                tell(source, watch, offset, length)?;
            }
        }
        tell(source, watch, length, length)
    }
}

#[cfg(feature = "parquet")]
impl Listed {
    fn copy_parquet(
        &self,
        pass: &mut Pass<'_>,
        names: &[Vec<u8>],
        watch: Watch<'_>,
    ) -> Result<(), ListError> {
        let (file, stamp) = open(&self.source)?;
        if stamp != self.stamp {
            return Err(self.changed());
        }
        let table = crate::parquet::Table::open(&self.source, file)?;
        let columns = table.columns();
        let wanted: Vec<usize> = (0..columns.len())
            .filter(|&place| columns[place].kind.is_some())
            .collect();
        let separator = pass.separator;
        let mut line = Zeroizing::new(Vec::new());
        let own = wanted
            .iter()
            .map(|&place| Some(columns[place].name.as_bytes()));
        join(own, separator, &mut line);
        pass.record(&line, b"\n", names)?;
        let rows = table.rows();
        table.each(&wanted, |row, values| {
            if pass.is_kept() {
                join(values.iter().copied(), separator, &mut line);
                pass.row(&line, b"\n")?;
            }
            pass.row += 1;
            match row % crate::file::TELL_ROWS {
                0 => tell(&self.source, watch, row, rows),
                _ => Ok(()),
            }
        })?;
        tell(&self.source, watch, rows, rows)
    }
}

/// Puts fields side by side.
#[cfg(feature = "parquet")]
fn join<'v>(values: impl Iterator<Item = Option<&'v [u8]>>, separator: u8, line: &mut Vec<u8>) {
    line.clear();
    for (place, value) in values.enumerate() {
        if place > 0 {
            line.push(separator);
        }
        match value {
            None => {}
            Some(value) if is_special(value, separator) => {
                line.extend_from_slice(&quoted(value, separator));
            }
            Some(value) => line.extend_from_slice(value),
        }
    }
    // A line without a byte would be no row.
    if line.is_empty() {
        line.extend_from_slice(b"\"\"");
    }
}

/// The state of a pass.
struct Pass<'a> {
    matches: &'a Matches,
    keep: Keep,
    values: Option<crate::matches::Values<'a>>,
    places: u32,
    /// Names of keys as fields, where these are written.
    keys: Vec<Vec<u8>>,
    separator: u8,
    /// Row that comes next.
    row: u64,
    written: u64,
    out: Out<'a>,
}

impl Pass<'_> {
    /// Whether the next row is kept.
    #[inline]
    fn is_kept(&self) -> bool {
        let matches = u32::try_from(self.row).is_ok_and(|row| self.matches.is_marked(row));
        match self.keep {
            Keep::Matched => matches,
            Keep::Others => !matches,
            Keep::All => true,
        }
    }

    /// Writes the next row.
    fn row(&mut self, body: &[u8], ending: &[u8]) -> Result<(), ListError> {
        self.written += 1;
        let row = self.row as u32;
        self.out.put(body)?;
        if let Some(values) = &mut self.values {
            let value = values.of(row)?;
            let value = value.map_or(String::new(), |value| decimal::format(value, self.places));
            self.out.put(&[self.separator])?;
            self.out.put(value.as_bytes())?;
        }
        if !self.keys.is_empty() {
            self.out.put(&[self.separator])?;
            let key = self.matches.key_of(row).and_then(|key| self.keys.get(key));
            self.out.put(key.map_or(&[], |key| key))?;
        }
        self.out.put(ending)
    }

    /// Writes a record with further fields at its end.
    fn record(&mut self, body: &[u8], ending: &[u8], more: &[Vec<u8>]) -> Result<(), ListError> {
        self.out.put(body)?;
        for field in more {
            self.out.put(&[self.separator])?;
            self.out.put(field)?;
        }
        self.out.put(ending)
    }
}

/// Bytes on their way out.
struct Out<'a> {
    to: &'a mut dyn Write,
    bytes: Zeroizing<Vec<u8>>,
}

impl Out<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), ListError> {
        if self.bytes.len() + bytes.len() > BUFFER {
            self.flush()?;
            if bytes.len() > BUFFER {
                return self.to.write_all(bytes).map_err(failed);
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ListError> {
        let done = self.to.write_all(&self.bytes);
        self.bytes.clear();
        done.map_err(failed)
    }
}

fn failed(source: io::Error) -> ListError {
    ListError::Write { source }
}

/// Whether a field needs quotes.
fn is_special(value: &[u8], separator: u8) -> bool {
    let special = |&byte: &u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    value.is_empty() || value.iter().any(special)
}

/// Puts a value into quotes if a field needs them.
fn quoted(value: &[u8], separator: u8) -> Vec<u8> {
    if !is_special(value, separator) {
        return value.to_owned();
    }
    let mut field = Vec::with_capacity(value.len() + 2);
    field.push(b'"');
    for &byte in value {
        field.push(byte);
        if byte == b'"' {
            field.push(byte);
        }
    }
    field.push(b'"');
    field
}
