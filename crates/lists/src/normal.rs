//! Normal forms of keys, so that two parties' spellings of one thing meet.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use madrigal_core::Zeroizing;

use crate::error::Problem;

/// Digits of a country's prefix.
const MOST_PREFIX: usize = 4;

/// How a column's values are changed before they are digested; the default leaves every byte as it is. Both parties must
/// use the same, so it is a fact of the job: its text ([`fmt::Display`]) is the same exactly if it is.
///
/// As text it is a list of words with commas between them, in any order: `lower`, `trim`, `phone:49`; or `exact`.
///
/// - `lower`: letters become small, as Unicode has it for single characters and whole words
///   ([`str::to_lowercase`]). Characters are not composed: `é` in one character and in two remain two keys. Letters are not
///   folded further: `ß` and `ss` remain two keys.
/// - `trim`: white space (of Unicode) at both ends is dropped, and any run of it within becomes one space.
/// - `phone:P`, P being a country's prefix without zeros: all but the digits 0 to 9 is dropped. A number with a `+` before its digits, or with `00` as the first,
///   loses that, and a `(0)` anywhere in it; of others a single 0 at the beginning is replaced by P. A number with neither is
///   taken to have a country's prefix already. Text without digits is an empty key. An extension's digits are
///   digits of the number. It cannot be combined with other words, which would change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Normal {
    lower: bool,
    trim: bool,
    phone: Option<String>,
}

/// A text that is no normal form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{word:?} is no normal form of keys: they are \"exact\", or some of \"lower\" and \"trim\" with a comma between them, or \
     \"phone:\" and a country's prefix of one to four digits without zeros before it, as in \"phone:49\""
)]
pub struct NormalError {
    /// Word that was not understood.
    pub word: String,
}

impl FromStr for Normal {
    type Err = NormalError;

    fn from_str(text: &str) -> Result<Self, NormalError> {
        let wrong = |word: &str| NormalError {
            word: word.chars().take(80).collect(),
        };
        let mut normal = Self::default();
        if text.trim() == "exact" {
            return Ok(normal);
        }
        for word in text.split(',').map(str::trim) {
            match word.strip_prefix("phone:") {
                Some(prefix) => {
                    let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
                    let length = (1..=MOST_PREFIX).contains(&prefix.len());
                    if !digits || !length || prefix.starts_with('0') || normal.phone.is_some() {
                        return Err(wrong(word));
                    }
                    normal.phone = Some(prefix.to_owned());
                }
                None => match word {
                    "lower" => normal.lower = true,
                    "trim" => normal.trim = true,
                    _ => return Err(wrong(word)),
                },
            }
        }
        match normal.phone.is_some() && (normal.lower || normal.trim) {
            true => Err(wrong(text)),
            false => Ok(normal),
        }
    }
}

impl fmt::Display for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(prefix) = &self.phone {
            return write!(f, "phone:{prefix}");
        }
        f.write_str(match (self.lower, self.trim) {
            (false, false) => "exact",
            (true, false) => "lower",
            (false, true) => "trim",
            (true, true) => "lower,trim",
        })
    }
}

impl Normal {
    /// Whether keys stay as they are.
    pub fn is_exact(&self) -> bool {
        *self == Self::default()
    }

    /// Gives a value's normal form, in `room` if it differs.
    pub(crate) fn apply<'a>(
        &self,
        value: &'a [u8],
        room: &'a mut Zeroizing<Vec<u8>>,
    ) -> Result<&'a [u8], Problem> {
        if let Some(prefix) = &self.phone {
            phone(value, prefix, room);
            return Ok(room);
        }
        if self.is_exact() {
            return Ok(value);
        }
        room.clear();
        if value.is_ascii() {
            ascii(value, self, room);
        } else {
            let text = std::str::from_utf8(value).map_err(|_| Problem::NotUtf8)?;
            unicode(text, self, room);
        }
        Ok(room)
    }
}

fn ascii(value: &[u8], normal: &Normal, room: &mut Vec<u8>) {
    room.reserve(value.len());
    if normal.trim {
        // The ASCII part of `char::is_whitespace`, with the vertical tab.
        let space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        for word in value.split(space).filter(|word| !word.is_empty()) {
            if !room.is_empty() {
                room.push(b' ');
            }
            room.extend_from_slice(word);
        }
    } else {
        room.extend_from_slice(value);
    }
    if normal.lower {
        room.make_ascii_lowercase();
    }
}

fn unicode(text: &str, normal: &Normal, room: &mut Vec<u8>) {
    let text = match normal.lower {
        true => Cow::Owned(text.to_lowercase()),
        false => Cow::Borrowed(text),
    };
    room.reserve(text.len());
    if normal.trim {
        for word in text.split_whitespace() {
            if !room.is_empty() {
                room.push(b' ');
            }
            room.extend_from_slice(word.as_bytes());
        }
    } else {
        room.extend_from_slice(text.as_bytes());
    }
    if let Cow::Owned(text) = text {
        drop(Zeroizing::new(text));
    }
}

fn phone(value: &[u8], prefix: &str, room: &mut Vec<u8>) {
    room.clear();
    room.reserve(value.len() + prefix.len());
    let mut digits = value.iter().copied().filter(u8::is_ascii_digit);
    let (first, second) = (digits.next(), digits.next());
    let mut before = value.iter().take_while(|byte| !byte.is_ascii_digit());
    let plus = before.any(|&byte| byte == b'+');
    let mut rest = value;
    let mut skip = 0;
    let abroad = plus || (first, second) == (Some(b'0'), Some(b'0'));
    if abroad {
        skip = if plus { 0 } else { 2 };
    } else if first == Some(b'0') {
        skip = 1;
        room.extend_from_slice(prefix.as_bytes());
    }
    while let [byte, others @ ..] = rest {
        rest = match others {
            [b'0', b')', after @ ..] if *byte == b'(' && abroad => after,
            _ => {
                if byte.is_ascii_digit() {
                    match skip {
                        0 => room.push(*byte),
                        _ => skip -= 1,
                    }
                }
                others
            }
        };
    }
}
