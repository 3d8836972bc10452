//! Decimal numbers of a stated number of places, as integers.

use std::ops::RangeInclusive;

use crate::error::Problem;

/// Powers of ten that 64 bits hold.
pub(crate) const MOST_PLACES: u32 = 18;

/// Powers of ten that 128 bits hold.
pub(crate) const MOST_SCALE: u32 = 38;

/// More than 64 bits hold; ten times as much, with all places after it, fits into 128 bits.
const ENOUGH: i128 = 10_i128.pow(19);

/// Reads a number with at most `places` digits after the point (more if they are zeros), in units of the last of those
/// places. White space around it does not count. A number that 64 bits do not hold may come out as another such one.
pub(crate) fn parse(text: &[u8], places: u32) -> Result<i128, Problem> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(Problem::NoNumber);
    }
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let not = || Problem::NotANumber { places };
    let mut value = 0_i128;
    let mut after = None;
    let mut seen = false;
    for &byte in digits {
        match (byte, after) {
            (b'0'..=b'9', _) => {
                seen = true;
                if let Some(count) = &mut after {
                    if *count == places {
                        match byte {
                            b'0' => continue,
                            _ => return Err(Problem::Places { places }),
                        }
                    }
                    *count += 1;
                }
                // It stops growing before it could overflow, and is out of any range then.
                if value < ENOUGH {
                    value = 10 * value + i128::from(byte - b'0');
                }
            }
            (b'.', None) => after = Some(0),
            _ => return Err(not()),
        }
    }
    if !seen {
        return Err(not());
    }
    let value = value * 10_i128.pow(places - after.unwrap_or(0));
    Ok(if negative { -value } else { value })
}

/// Writes a number of units of the last of `places` places.
pub(crate) fn format(value: impl Into<i128>, places: u32) -> String {
    let value = value.into();
    let unit = 10_u128.pow(places.min(MOST_SCALE));
    let size = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    match places {
        0 => format!("{sign}{size}"),
        _ => format!(
            "{sign}{}.{:0width$}",
            size / unit,
            size % unit,
            width = places as usize
        ),
    }
}

/// Checks that a number is in its range.
pub(crate) fn check(value: i128, places: u32, range: &RangeInclusive<i64>) -> Result<i64, Problem> {
    match i64::try_from(value) {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(Problem::Range {
            low: format(*range.start(), places),
            high: format(*range.end(), places),
        }),
    }
}
