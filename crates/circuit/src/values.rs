//! The text form of inputs and outputs: lines of hexadecimal numbers.
//!
//! One line per lane; on it one number per value, in circuit order, separated by blanks. Bit `j` of a
//! number is the value's `j`-th wire, so the last digit holds the first four wires. Digits of either
//! case and a `0x` before them are read; at most `width / 4` digits, rounded up, may stand there.
//! Written are exactly that many, in lower case, without `0x`. A value of width 0 stands there as `0`,
//! so that every value has its place on the line.
//!
//! Inputs are secrets: digits are decoded without branches or indices that depend on them, errors
//! tell a place and never a digit (a wrong character only where the party's own data is asked for), and working space
//! is wiped. The number of digits that are written for a value is not hidden.

use std::convert::Infallible;
use std::io;

use madrigal_core::Zeroizing;
use madrigal_core::text::OwnData;
use madrigal_kernels::transpose_bits;
use thiserror::Error;
use zeroize::Zeroize;

use crate::error::ShapeError;
use crate::rows::Rows;

/// Limits of the text that [`read`] accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueLimits {
    /// Most lanes, that is lines.
    pub lanes: usize,
    /// Longest line in bytes.
    pub line_bytes: usize,
    /// Most bytes of the rows that are made: width times lanes divided by 8, lanes rounded up to 64.
    pub bytes: u64,
}

impl Default for ValueLimits {
    /// 2^30 lanes, lines of 16 MiB, 16 GiB of rows.
    fn default() -> Self {
        Self {
            lanes: 1 << 30,
            line_bytes: 1 << 24,
            bytes: 1 << 34,
        }
    }
}

/// A text of values that could not be read; names the file, and the line and the value where they are known.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{name}{}{}: {kind}", numbered(", line", *.line), numbered(", value", *.value))]
pub struct ValuesError {
    /// The name that the caller gave the text.
    pub name: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The value on the line, counted from 1.
    pub value: Option<usize>,
    /// Kind of the error there.
    pub kind: ValuesErrorKind,
}

fn numbered(what: &str, number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| format!("{what} {number}"))
}

/// Errors in a text of values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValuesErrorKind {
    /// No lines.
    #[error("no values; expected one line per lane with {values} hexadecimal numbers on it")]
    Empty {
        /// Values per line.
        values: usize,
    },
    /// A blank line before the end.
    #[error("the line is blank, but lines follow; give every lane its line")]
    Blank,
    /// Too few or too many numbers on a line.
    #[error(
        "expected {expected} value{}, found {found}; give each value of this party once, in circuit order",
        if *.expected == 1 { "" } else { "s" }
    )]
    Count {
        /// Values per line.
        expected: usize,
        /// Values on this line.
        found: usize,
    },
    /// Something that is not hexadecimal.
    #[error("{found} is not a hexadecimal digit; write 0-9 a-f, with or without 0x before them")]
    Digit {
        /// The first character that is none; the digits around it are not told in any case.
        found: OwnData,
    },
    /// More digits than the value's width takes.
    #[error(
        "{found} hexadecimal digits, but {width} bits take at most {most}; does the value belong to this circuit?"
    )]
    TooLong {
        /// Digits that stand there.
        found: usize,
        /// Most digits.
        most: usize,
        /// Width of the value in bits.
        width: u32,
    },
    /// A first digit with bits above the width.
    #[error("the number does not fit {width} bits; does the value belong to this circuit?")]
    TooLarge {
        /// Width of the value in bits.
        width: u32,
    },
    /// More than the caller's limits allow.
    #[error("{found} {what}, the limit is {limit}; split the input")]
    Limit {
        /// Name of what is too many.
        what: &'static str,
        /// Number that there is.
        found: u64,
        /// Number that is allowed.
        limit: u64,
    },
}

/// Bytes that some editors put before a text in UTF-8; [`read`] skips them.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Lanes that are decoded before they are transposed: a multiple of 64, small enough for the cache.
const BLOCK: usize = 1024;

/// Reads one line per lane into rows, one per bit of all values together. `widths` are those of the
/// values on each line, `name` is for messages.
///
/// # Errors
/// [`ValuesError`] tells where the text is wrong and what was expected.
pub fn read(
    name: &str,
    text: &[u8],
    widths: &[u32],
    limits: &ValueLimits,
) -> Result<Rows, ValuesError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = text.trim_ascii_end();
    let lanes = count_lines(text);
    let wrong = |line, value, kind| ValuesError {
        name: name.into(),
        line,
        value,
        kind,
    };
    if lanes == 0 {
        let values = widths.len();
        return Err(wrong(None, None, ValuesErrorKind::Empty { values }));
    }
    let limit = |line, what, found: u64, limit: u64| match found > limit {
        true => {
            let kind = ValuesErrorKind::Limit { what, found, limit };
            Err(wrong(Some(line), None, kind))
        }
        false => Ok(()),
    };
    limit(lanes, "lanes", lanes as u64, limits.lanes as u64)?;
    let width: u64 = widths.iter().map(|&width| u64::from(width)).sum();
    let bytes = width.saturating_mul(Rows::stride_for(lanes) as u64);
    limit(
        lanes,
        "bytes of values",
        bytes,
        limits.bytes.min(isize::MAX as u64),
    )?;

    let layout = Layout::new(widths);
    let mut rows = Rows::new(width as usize, lanes);
    let mut block = Zeroizing::new(vec![0; layout.bytes * BLOCK.min(lanes)]);
    let mut lines = text.split(|&byte| byte == b'\n');
    for first in (0..lanes).step_by(BLOCK) {
        let count = BLOCK.min(lanes - first);
        for (lane, line) in lines.by_ref().take(count).enumerate() {
            let number = first + lane + 1;
            limit(
                number,
                "bytes on the line",
                line.len() as u64,
                limits.line_bytes as u64,
            )?;
            let to = &mut block[lane * layout.bytes..][..layout.bytes];
            layout
                .decode(line, to)
                .map_err(|(value, kind)| wrong(Some(number), value, kind))?;
        }
        layout.to_rows(&block, count, &mut rows, first);
    }
    Ok(rows)
}

/// Writes rows as lines, one per lane, each with a number per value. `widths` are those of the values.
///
/// # Errors
/// [`ShapeError`] if there is not one row per bit of all values together.
pub fn write(rows: &Rows, widths: &[u32]) -> Result<Vec<u8>, ShapeError> {
    let lines = Lines::new(rows, widths)?;
    let mut text = Vec::with_capacity(lines.bytes());
    let Ok(()) = lines.blocks(|block| {
        text.extend_from_slice(block);
        Ok::<_, Infallible>(())
    });
    Ok(text)
}

/// Output of [`write()`], written as it is made: in memory are 1,024 lines of it at a time.
pub struct Lines<'a> {
    rows: &'a Rows,
    layout: Layout,
}

impl<'a> Lines<'a> {
    /// Rows as lines; `widths` are those of the values.
    ///
    /// # Errors
    /// [`ShapeError`] if there is not one row per bit of all values together.
    pub fn new(rows: &'a Rows, widths: &[u32]) -> Result<Self, ShapeError> {
        let width: u64 = widths.iter().map(|&width| u64::from(width)).sum();
        if width != rows.rows() as u64 {
            return Err(ShapeError {
                expected: usize::try_from(width).unwrap_or(usize::MAX),
                found: rows.rows(),
            });
        }
        let layout = Layout::new(widths);
        Ok(Self { rows, layout })
    }

    /// Length of all lines, in bytes.
    pub fn bytes(&self) -> usize {
        self.line() * self.rows.lanes()
    }

    fn line(&self) -> usize {
        let values = self.layout.values.iter();
        let line: usize = values.map(|place| digits(place.width) + 1).sum();
        line.max(1)
    }

    /// Writes all lines.
    ///
    /// # Errors
    /// [`io::Error`] of `to`.
    pub fn write_to(&self, to: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
        self.blocks(|block| to.write_all(block))
    }

    fn blocks<E>(&self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let (rows, layout) = (self.rows, &self.layout);
        let most = BLOCK.min(rows.lanes());
        let mut block = Zeroizing::new(vec![0; layout.bytes * most]);
        let mut text = Zeroizing::new(Vec::with_capacity(self.line() * most));
        for first in (0..rows.lanes()).step_by(BLOCK) {
            let count = BLOCK.min(rows.lanes() - first);
            layout.to_lanes(rows, first, count, &mut block);
            text.clear();
            for lane in 0..count {
                layout.encode(&block[lane * layout.bytes..][..layout.bytes], &mut text);
            }
            write(&text)?;
        }
        Ok(())
    }
}

/// Digits of a value: at least one.
fn digits(width: u32) -> usize {
    (width as usize).div_ceil(4).max(1)
}

fn count_lines(text: &[u8]) -> usize {
    if text.is_empty() {
        0
    } else {
        1 + text.iter().filter(|&&byte| byte == b'\n').count()
    }
}

/// Layout of each value: on a lane, in whole bytes, and among the rows.
struct Layout {
    values: Vec<Place>,
    /// Bytes of a lane.
    bytes: usize,
}

struct Place {
    width: u32,
    /// First byte in a lane.
    byte: usize,
    /// First row.
    row: usize,
}

impl Layout {
    fn new(widths: &[u32]) -> Self {
        let (mut byte, mut row) = (0, 0);
        let values = widths.iter().map(|&width| {
            let place = Place { width, byte, row };
            byte += (width as usize).div_ceil(8);
            row += width as usize;
            place
        });
        let values = values.collect();
        Self {
            values,
            bytes: byte,
        }
    }

    /// Reads a lane's values; an error comes with the number of the value that is wrong.
    fn decode(&self, line: &[u8], to: &mut [u8]) -> Result<(), (Option<usize>, ValuesErrorKind)> {
        let tokens = || {
            let tokens = line.split(u8::is_ascii_whitespace);
            tokens.filter(|token| !token.is_empty())
        };
        let wrong_count = || {
            let kind = match tokens().count() {
                0 => ValuesErrorKind::Blank,
                found => ValuesErrorKind::Count {
                    expected: self.values.len(),
                    found,
                },
            };
            (None, kind)
        };
        let mut rest = tokens();
        for (value, place) in self.values.iter().enumerate() {
            let token = rest.next().ok_or_else(wrong_count)?;
            let to = &mut to[place.byte..][..(place.width as usize).div_ceil(8)];
            place
                .decode(token, to)
                .map_err(|kind| (Some(value + 1), kind))?;
        }
        match rest.next() {
            Some(_) => Err(wrong_count()),
            None => Ok(()),
        }
    }

    fn encode(&self, lane: &[u8], text: &mut Vec<u8>) {
        for (value, place) in self.values.iter().enumerate() {
            if value > 0 {
                text.push(b' ');
            }
            let digits = digits(place.width);
            let bytes = &lane[place.byte..][..(place.width as usize).div_ceil(8)];
            text.extend((0..digits).rev().map(|i| {
                let byte = bytes.get(i / 2).copied().unwrap_or(0);
                let digit = byte >> (4 * (i % 2)) & 15;
                // 'a' is 39 above where the digits would go on.
                digit + b'0' + (digit.wrapping_sub(10) >> 7 ^ 1) * 39
            }));
        }
        text.push(b'\n');
    }

    fn to_rows(&self, block: &[u8], count: usize, rows: &mut Rows, first: usize) {
        let stride = rows.stride();
        for place in self.values.iter().filter(|place| place.width > 0) {
            let to = &mut rows.as_bytes_mut()[place.row * stride + first / 8..];
            transpose_bits(
                &block[place.byte..],
                count,
                place.width as usize,
                self.bytes,
                to,
                stride,
            );
        }
    }

    fn to_lanes(&self, rows: &Rows, first: usize, count: usize, block: &mut [u8]) {
        let stride = rows.stride();
        for place in self.values.iter().filter(|place| place.width > 0) {
            let from = &rows.as_bytes()[place.row * stride + first / 8..];
            transpose_bits(
                from,
                place.width as usize,
                count,
                stride,
                &mut block[place.byte..],
                self.bytes,
            );
        }
    }
}

impl Place {
    fn decode(&self, token: &[u8], to: &mut [u8]) -> Result<(), ValuesErrorKind> {
        let token = token
            .strip_prefix(b"0x")
            .or_else(|| token.strip_prefix(b"0X"))
            .unwrap_or(token);
        let most = digits(self.width);
        if token.is_empty() {
            let found = OwnData::new(CHARACTER, "0x");
            return Err(ValuesErrorKind::Digit { found });
        }
        if token.len() > most {
            let wrong = token.iter().fold(0, |wrong, &digit| wrong | nibble(digit));
            return Err(match wrong > 15 {
                true => no_number(token),
                false => ValuesErrorKind::TooLong {
                    found: token.len(),
                    most,
                    width: self.width,
                },
            });
        }
        let mut wrong = 0;
        let mut bytes = token.rchunks(2);
        for to in to.iter_mut() {
            *to = match bytes.next() {
                Some(&[high, low]) => {
                    let (high, low) = (nibble(high), nibble(low));
                    wrong |= high | low;
                    high << 4 | low & 15
                }
                Some(&[low]) => {
                    wrong |= nibble(low);
                    nibble(low)
                }
                _ => 0,
            };
        }
        if self.width == 0 {
            wrong = nibble(token[0]);
        }
        if wrong > 15 {
            return Err(no_number(token));
        }
        // Only the top digit can stand above the width.
        let mut last = if self.width == 0 {
            wrong
        } else {
            to.last().copied().unwrap_or(0)
        };
        let over =
            (!self.width.is_multiple_of(8) || self.width == 0) && last >> (self.width % 8) != 0;
        last.zeroize();
        match over {
            true => Err(ValuesErrorKind::TooLarge { width: self.width }),
            false => Ok(()),
        }
    }
}

/// The value of a hexadecimal digit, or something above 15; no branch depends on the digit.
fn nibble(digit: u8) -> u8 {
    let number = digit.wrapping_sub(b'0');
    let letter = (digit | 0x20).wrapping_sub(b'a');
    // 0xff where the digit is of that kind.
    let is_number = (u16::from(number).wrapping_sub(10) >> 8) as u8;
    let is_letter = (u16::from(letter).wrapping_sub(6) >> 8) as u8;
    (number & is_number) | (letter.wrapping_add(10) & is_letter) | (!(is_number | is_letter) & 0x80)
}

/// Name of a digit that is none.
const CHARACTER: &str = "a character";

/// Makes the error of a token that is no number: its first character that is no digit.
fn no_number(token: &[u8]) -> ValuesErrorKind {
    let at = token.iter().position(|&digit| nibble(digit) > 15);
    // Bytes of the longest character.
    let rest = token[at.unwrap_or(0)..].iter().take(4).copied();
    let text = String::from_utf8_lossy(&rest.collect::<Vec<u8>>()).into_owned();
    let found: String = text.chars().take(1).collect();
    ValuesErrorKind::Digit {
        found: OwnData::new(CHARACTER, &found),
    }
}
