//! Records with quotes.

use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::MOST_FIELDS;

/// Places of a field's value in the buffer.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// The value as it stands.
    Plain(Range<usize>),
    /// A part that was in quotes, with quotes doubled, and what follows it up to the separator.
    Mixed {
        quoted: Range<usize>,
        rest: Range<usize>,
    },
}

pub(super) enum Scan {
    /// A record; its ending is from `body` to `end`.
    Record {
        body: usize,
        end: usize,
        fields: usize,
    },
    /// More bytes must be read.
    More,
    /// A quote is never closed.
    Open,
}

/// Finds the fields of the record that `rest` begins with, and its end. `ended` says that nothing follows `rest`; places are counted from `base` on. Fields
/// past [`MOST_FIELDS`] are counted and not kept.
pub(super) fn scan(
    rest: &[u8],
    separator: u8,
    ended: bool,
    base: usize,
    marks: &mut Vec<Mark>,
) -> Scan {
    let mut at = 0;
    let mut fields = 0;
    loop {
        let begin = at;
        let quoted = rest.get(at) == Some(&b'"');
        let mut doubled = false;
        if quoted {
            at += 1;
            loop {
                let Some(quote) = find(&rest[at..], |byte| byte == b'"', |far| memchr(b'"', far))
                else {
                    return if ended { Scan::Open } else { Scan::More };
                };
                at += quote + 1;
                match rest.get(at) {
                    Some(b'"') => {
                        doubled = true;
                        at += 1;
                    }
                    None if !ended => return Scan::More,
                    _ => break,
                }
            }
        }
        let closed = at;
        let ends = |byte| byte == separator || byte == b'\n' || byte == b'\r';
        let far = |far: &[u8]| memchr3(separator, b'\n', b'\r', far);
        let end = find(&rest[at..], ends, far);
        let Some(end) = end.map(|end| at + end).or(ended.then_some(rest.len())) else {
            return Scan::More;
        };
        fields += 1;
        if fields <= MOST_FIELDS {
            marks.push(match quoted {
                false => Mark::Plain(base + begin..base + end),
                true if !doubled && closed == end => Mark::Plain(base + begin + 1..base + end - 1),
                true => Mark::Mixed {
                    quoted: base + begin + 1..base + closed - 1,
                    rest: base + closed..base + end,
                },
            });
        }
        let after = match rest.get(end) {
            Some(&byte) if byte == separator => {
                at = end + 1;
                continue;
            }
            None => end,
            Some(b'\r') => match rest.get(end + 1) {
                Some(b'\n') => end + 2,
                None if !ended => return Scan::More,
                _ => end + 1,
            },
            Some(_) => end + 1,
        };
        return Scan::Record {
            body: base + end,
            end: base + after,
            fields,
        };
    }
}

/// Looks at the next bytes one by one, since fields are short, and then far away.
#[inline(always)]
fn find(
    bytes: &[u8],
    near: impl Fn(u8) -> bool,
    far: impl FnOnce(&[u8]) -> Option<usize>,
) -> Option<usize> {
    const NEAR: usize = 24;
    let (first, rest) = bytes.split_at(bytes.len().min(NEAR));
    match first.iter().position(|&byte| near(byte)) {
        None if !rest.is_empty() => far(rest).map(|at| at + NEAR),
        found => found,
    }
}

/// Puts a value together: of doubled quotes one is kept.
pub(super) fn unquoted(mut quoted: &[u8], rest: &[u8], room: &mut Vec<u8>) {
    room.clear();
    // Room for all of it at once: what grows leaves copies behind.
    room.reserve(quoted.len() + rest.len());
    while let Some(quote) = memchr(b'"', quoted) {
        room.extend_from_slice(&quoted[..=quote]);
        quoted = quoted.get(quote + 2..).unwrap_or_default();
    }
    room.extend_from_slice(quoted);
    room.extend_from_slice(rest);
}
