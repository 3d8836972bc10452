//! CSV, record by record, from a stream.
//!
//! Records are those of the crate `csv` as it reads by default, which a test holds: fields in quotes with quotes doubled within, records that end
//! with a line feed, a carriage return or both, lines without any byte left out. One thing differs: a quote that is
//! never closed is an error here, and not a field of all that follows.
//!
//! A line without quotes is found by one search for its end, and its fields by searches for separators: that takes a third
//! of the time of a machine that looks at each byte. Where the next quote is, and the next carriage return that ends a line alone, is
//! known from one search through each buffer.

mod quoted;

use std::io::{self, Read};
use std::ops::Range;

use madrigal_core::Zeroizing;
use memchr::{memchr, memchr_iter};

pub(crate) use quoted::Mark;
use quoted::{Scan, scan};

use crate::error::Problem;

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// Mark of UTF-8, which some programs begin a file with.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reasons why a stream is not read on, and at which of its bytes the record begins.
pub(crate) enum Fault {
    Io(io::Error),
    /// A record that is longer than it may be.
    Long(u64),
    /// A quote that is never closed.
    Open(u64),
    /// A text in UTF-16.
    Utf16,
}

/// Places of a record in the buffer, until the next one is asked for.
#[derive(Clone)]
pub(crate) struct Span {
    /// The record without its ending.
    pub(crate) body: Range<usize>,
    /// End of the ending.
    pub(crate) end: usize,
    /// Whether no field begins with a quote, and so on: the fields are between the separators.
    plain: bool,
}

/// The records of a stream.
pub(crate) struct Records<R> {
    input: R,
    separator: u8,
    /// Bytes of the longest record.
    most: usize,
    buffer: Zeroizing<Vec<u8>>,
    /// Where the next record begins.
    next: usize,
    /// End of what was read into the buffer.
    end: usize,
    /// Place in the stream of the buffer's first byte.
    offset: u64,
    /// Whether the stream begins with a mark of UTF-8.
    marked: bool,
    /// Whether the stream has ended.
    ended: bool,
    /// First quote that was not passed, or the end.
    quote: usize,
    /// First carriage return that was not passed and has no line feed after it, or the end.
    alone: usize,
    /// Fields of the last record that was not plain.
    marks: Vec<Mark>,
    /// Number of these fields, those among them that are past the most that a file may have.
    count: usize,
}

impl<R: Read> Records<R> {
    /// Begins with a stream: reads its first bytes.
    pub(crate) fn new(input: R, separator: u8, most: usize) -> Result<Self, Fault> {
        Self::with_buffer(input, separator, most, BUFFER)
    }

    pub(crate) fn with_buffer(
        input: R,
        separator: u8,
        most: usize,
        buffer: usize,
    ) -> Result<Self, Fault> {
        let mut records = Self {
            input,
            separator,
            most,
            buffer: Zeroizing::zeros(buffer.max(4)),
            next: 0,
            end: 0,
            offset: 0,
            marked: false,
            ended: false,
            quote: 0,
            alone: 0,
            marks: Vec::new(),
            count: 0,
        };
        while records.end < MARK.len() && !records.ended {
            records.fill()?;
        }
        let begin = &records.buffer[..records.end];
        if begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff") {
            return Err(Fault::Utf16);
        }
        if begin.starts_with(MARK) {
            records.next = MARK.len();
            records.marked = true;
        }
        Ok(records)
    }

    /// Finds the next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Span>, Fault> {
        loop {
            while self.next < self.end && matches!(self.buffer[self.next], b'\n' | b'\r') {
                self.next += 1;
            }
            if self.next < self.end
                && let Some(span) = self.found()?
            {
                self.next = span.end;
                return Ok(Some(span));
            }
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Looks for the end of the record that begins at `next`; `None` if it was not read yet.
    #[inline]
    fn found(&mut self) -> Result<Option<Span>, Fault> {
        let begin = self.next;
        if self.buffer[begin] == b'"' {
            return self.special();
        }
        if self.quote < begin {
            self.quote = self.place(begin, b'"');
        }
        if self.alone < begin {
            self.alone = self.next_alone(begin);
        }
        let special = self.quote.min(self.alone);
        let line = memchr(b'\n', &self.buffer[begin..special]);
        let Some(line) = line else {
            return match special == self.end {
                // There is nothing special up to the end.
                true => Ok(self.ended.then_some(Span {
                    body: begin..self.end,
                    end: self.end,
                    plain: true,
                })),
                false => self.special(),
            };
        };
        let end = begin + line;
        // The record is not empty: its first byte is no carriage return.
        let body = match self.buffer[end - 1] {
            b'\r' => end - 1,
            _ => end,
        };
        Ok(Some(Span {
            body: begin..body,
            end: end + 1,
            plain: true,
        }))
    }

    /// Finds the end of a record with quotes, or that a carriage return ends.
    fn special(&mut self) -> Result<Option<Span>, Fault> {
        let begin = self.next;
        self.marks.clear();
        let rest = &self.buffer[begin..self.end];
        match scan(rest, self.separator, self.ended, begin, &mut self.marks) {
            Scan::Record { body, end, fields } => {
                self.count = fields;
                Ok(Some(Span {
                    body: begin..body,
                    end,
                    plain: false,
                }))
            }
            Scan::More => Ok(None),
            Scan::Open => Err(Fault::Open(self.offset + begin as u64)),
        }
    }

    fn place(&self, from: usize, byte: u8) -> usize {
        memchr(byte, &self.buffer[from..self.end]).map_or(self.end, |at| from + at)
    }

    fn next_alone(&self, from: usize) -> usize {
        let rest = &self.buffer[from..self.end];
        // One at the very end is taken for one: nothing before it depends on that.
        let mut all = memchr_iter(b'\r', rest);
        all.find(|&at| rest.get(at + 1) != Some(&b'\n'))
            .map_or(self.end, |at| from + at)
    }

    /// Reads on, and moves what was not passed to the beginning.
    fn fill(&mut self) -> Result<(), Fault> {
        let kept = self.end - self.next;
        if kept > self.most {
            return Err(Fault::Long(self.offset + self.next as u64));
        }
        if kept > self.buffer.len() / 2 {
            let mut larger = Zeroizing::zeros(2 * self.buffer.len());
            larger[..kept].copy_from_slice(&self.buffer[self.next..self.end]);
            self.buffer = larger;
        } else {
            self.buffer.copy_within(self.next..self.end, 0);
        }
        self.offset += self.next as u64;
        self.next = 0;
        self.end = kept;
        let read = loop {
            match self.input.read(&mut self.buffer[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(Fault::Io)?,
            }
        };
        self.ended = read == 0;
        self.end += read;
        (self.quote, self.alone) = (self.place(0, b'"'), self.next_alone(0));
        Ok(())
    }

    /// Whether the stream begins with [`MARK`].
    pub(crate) fn is_marked(&self) -> bool {
        self.marked
    }

    /// Gives the bytes of a place.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Place in the stream of a byte of the buffer.
    pub(crate) fn offset(&self, place: usize) -> u64 {
        self.offset + place as u64
    }

    /// Finds some fields of the last record, in ascending order and none twice.
    ///
    /// # Errors
    /// The number of fields that there are, if it is not `all`.
    #[inline]
    pub(crate) fn fields(
        &self,
        span: &Span,
        wanted: &[usize],
        all: usize,
        found: &mut Vec<Mark>,
    ) -> Result<(), usize> {
        found.clear();
        if !span.plain {
            if self.count != all {
                return Err(self.count);
            }
            found.extend(wanted.iter().map(|&field| self.marks[field].clone()));
            return Ok(());
        }
        let line = &self.buffer[span.body.clone()];
        let base = span.body.start;
        let mut ends = memchr_iter(self.separator, line);
        let (mut field, mut begin) = (0, 0);
        for &wanted in wanted {
            while field < wanted {
                begin = ends.next().ok_or(field + 1)? + 1;
                field += 1;
            }
            let end = ends.next();
            found.push(Mark::Plain(base + begin..base + end.unwrap_or(line.len())));
            let Some(end) = end else {
                return match field + 1 == all {
                    // Others that are wanted are past the end, which cannot be: they are below `all`.
                    true => Ok(()),
                    false => Err(field + 1),
                };
            };
            (begin, field) = (end + 1, field + 1);
        }
        let got = field + ends.count() + 1;
        match got == all {
            true => Ok(()),
            false => Err(got),
        }
    }

    /// Number of fields of the last record.
    pub(crate) fn count(&self, span: &Span) -> usize {
        match span.plain {
            true => memchr_iter(self.separator, &self.buffer[span.body.clone()]).count() + 1,
            false => self.count,
        }
    }

    /// All fields of the last record, of which a file may have as many.
    pub(crate) fn all_fields(&self, span: &Span) -> Vec<Mark> {
        if !span.plain {
            return self.marks.clone();
        }
        let mut begin = span.body.start;
        let line = &self.buffer[span.body.clone()];
        let ends = memchr_iter(self.separator, line).chain([line.len()]);
        let field = |end: usize| {
            let end = span.body.start + end;
            let field = Mark::Plain(begin..end);
            begin = end + 1;
            field
        };
        ends.map(field).collect()
    }

    /// Gives a field's value; one with doubled quotes is put together in `room`.
    #[inline]
    pub(crate) fn value<'a>(&'a self, mark: &Mark, room: &'a mut Zeroizing<Vec<u8>>) -> &'a [u8] {
        match mark {
            Mark::Plain(range) => &self.buffer[range.clone()],
            Mark::Mixed { quoted, rest } => {
                quoted::unquoted(
                    &self.buffer[quoted.clone()],
                    &self.buffer[rest.clone()],
                    room,
                );
                room
            }
        }
    }
}

/// Calls a function with the fields of each record of a stream that is read `buffer` bytes at a time: for tests, of which
/// the fuzzer's are one. Stops at the first record whose fields are not as many as the first one's.
///
/// # Errors
/// The byte at which the record begins, and its problem.
#[doc(hidden)]
pub fn each_record(
    input: impl Read,
    separator: u8,
    buffer: usize,
    see: &mut dyn FnMut(&[&[u8]]),
) -> Result<(), (u64, Problem)> {
    let most = crate::MOST_RECORD;
    let problem = |fault| match fault {
        Fault::Io(error) => (0, Problem::Parquet(error.to_string())),
        Fault::Long(at) => (at, Problem::LongRecord),
        Fault::Open(at) => (at, Problem::OpenQuote),
        Fault::Utf16 => (0, Problem::Utf16),
    };
    let mut records = Records::with_buffer(input, separator, most, buffer).map_err(problem)?;
    let mut first = None;
    let mut found = Vec::new();
    while let Some(span) = records.next().map_err(problem)? {
        let at = records.offset(span.body.start);
        let all = records.count(&span);
        if all > crate::MOST_FIELDS {
            return Err((at, Problem::Columns(all)));
        }
        let expected = *first.get_or_insert(all);
        assert_eq!(records.all_fields(&span).len(), all);
        let wanted: Vec<usize> = (0..expected).collect();
        if let Err(got) = records.fields(&span, &wanted, expected, &mut found) {
            assert_eq!(got, all, "both ways of finding fields count alike");
            return Err((at, Problem::Fields { expected, got }));
        }
        let mut rooms = vec![Zeroizing::default(); expected];
        let values: Vec<&[u8]> = found
            .iter()
            .zip(&mut rooms)
            .map(|(mark, room)| records.value(mark, room))
            .collect();
        see(&values);
    }
    Ok(())
}
