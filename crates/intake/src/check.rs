//! Checks of fields that several messages have.

use madrigal_core::Digest256;
use madrigal_core::text::is_plain;
use madrigal_net::roster::is_name;

use crate::error::WireError;
use crate::limits::{MAX_SOFTWARE, MAX_WORDS};

/// A field of 32 bytes.
pub(crate) fn digest(bytes: &[u8], what: &'static str) -> Result<Digest256, WireError> {
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| WireError::Field(what))?;
    Ok(Digest256(bytes))
}

/// Number of a message.
pub(crate) fn number(number: u64) -> Result<u64, WireError> {
    match number {
        0 => Err(WireError::Field("a message with number 0")),
        number => Ok(number),
    }
}

/// Refuses what does not hold.
pub(crate) fn holds(fits: bool, what: &'static str) -> Result<(), WireError> {
    match fits {
        true => Ok(()),
        false => Err(WireError::Field(what)),
    }
}

/// A name as parties have them.
pub(crate) fn name(text: String, what: &'static str) -> Result<String, WireError> {
    holds(is_name(&text), what).map(|()| text)
}

/// A name as parties have them, or none.
pub(crate) fn name_if_any(text: String, what: &'static str) -> Result<Option<String>, WireError> {
    match text.is_empty() {
        true => Ok(None),
        false => name(text, what).map(Some),
    }
}

/// A text for people.
pub(crate) fn words(text: String, what: &'static str) -> Result<String, WireError> {
    let fits = text.len() <= MAX_WORDS && text.chars().all(is_plain);
    holds(fits, what).map(|()| text)
}

/// A text for people as it is sent: without what cannot be seen, and not too long.
pub(crate) fn shortened(text: &str) -> String {
    let mut plain: String = text
        .chars()
        .map(|c| if is_plain(c) { c } else { ' ' })
        .collect();
    let mut end = plain.len().min(MAX_WORDS);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    plain.truncate(end);
    plain
}

/// Name of a program.
pub(crate) fn software(text: String) -> Result<String, WireError> {
    let fits = text.len() <= MAX_SOFTWARE && text.chars().all(is_plain);
    holds(
        fits,
        "a name of a program that is too long or cannot be shown",
    )
    .map(|()| text)
}
