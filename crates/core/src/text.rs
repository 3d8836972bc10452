//! Shows text that others wrote, and a party's own values, where people read them.
//!
//! Names come out of files and from other machines: of layers, variables, modules, parties. In one of them a terminal may
//! find commands, and a reader something else than stands there: controls move the cursor, and other characters turn the
//! direction of writing or cannot be seen. Text that a program writes for people goes through [`plain`], or through what
//! does the same for a stream.
//!
//! Values that a party computes on are its own, and messages end in logs. So what an error found among it is an [`OwnData`]: it
//! is told where it stands, and told itself only once [`show_own_data`] was called.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::wipe::Zeroizing;

/// Whether a character is seen as what it is: none that controls a terminal, ends a line, turns the direction of writing,
/// or is invisible.
pub fn is_plain(character: char) -> bool {
    !(character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        ))
}

/// A text as one line in which each character is seen: others stand there as in `\u{1b}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_plain(character) {
            true => safe.push(character),
            false => {
                let _ = write!(safe, "{}", character.escape_unicode());
            }
        }
    }
    Cow::Owned(safe)
}

static SHOWN: AtomicBool = AtomicBool::new(false);
static KEPT: AtomicBool = AtomicBool::new(false);

/// Has messages of this process tell [`OwnData`] from now on: somebody has asked for it.
pub fn show_own_data() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Whether [`show_own_data`] was called.
pub fn own_data_is_shown() -> bool {
    SHOWN.load(Ordering::Relaxed)
}

/// Whether a message of this process was about [`OwnData`] that it did not tell.
pub fn own_data_was_kept() -> bool {
    KEPT.load(Ordering::Relaxed)
}

/// A value that stands in a party's own data and is wrong there. Its `Display` says what it is, as in `the cell`, and tells it
/// only where that was asked for; its `Debug` never does.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnData {
    what: &'static str,
    text: Zeroizing<String>,
}

/// Characters that are told.
const TOLD: usize = 24;

impl OwnData {
    /// The beginning of a text, and what it is in a sentence.
    pub fn new(what: &'static str, text: &str) -> Self {
        let text: String = text.chars().take(TOLD).collect();
        let text = Zeroizing::new(text);
        Self { what, text }
    }
}

impl fmt::Display for OwnData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if own_data_is_shown() {
            return write!(f, "{} `{}`", self.what, plain(&self.text));
        }
        KEPT.store(true, Ordering::Relaxed);
        f.write_str(self.what)
    }
}

impl fmt::Debug for OwnData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("...")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert!(matches!(plain("süß, 漢字 ✓"), Cow::Borrowed(_)));
        assert_eq!(
            plain("a\u{1b}]0;b\u{7}\r\n\u{202e}c\u{2028}\u{9b}1m\u{200b}"),
            "a\\u{1b}]0;b\\u{7}\\u{d}\\u{a}\\u{202e}c\\u{2028}\\u{9b}1m\\u{200b}"
        );
    }

    #[test]
    fn own_data_is_not_told() {
        let own = OwnData::new("the cell", "secret");
        assert_eq!(own.to_string(), "the cell");
        assert!(own_data_was_kept());
        assert_eq!(format!("{own:?}"), "...");
    }
}
