//! Kinds of columns: what their values mean, and the public range that they keep to.

use std::fmt;
use std::sync::Arc;

use madrigal_program::{Plain, Type};
use serde::{Deserialize, Serialize};

/// Unit that a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Units.
    One,
    /// Units of the last decimal digit: with 2 digits after the point, 125 is 1.25.
    Decimal(u8),
    /// Days since 1970-01-01.
    Day,
    /// Microseconds since 1970-01-01, 00:00.
    Microsecond,
}

impl Unit {
    /// Digits after the point, of integers none; `None` for dates and times.
    pub const fn digits(self) -> Option<u8> {
        match self {
            Self::One => Some(0),
            Self::Decimal(digits) => Some(digits),
            Self::Day | Self::Microsecond => None,
        }
    }

    /// Numbers with this many digits after the point.
    pub const fn with_digits(digits: u8) -> Self {
        match digits {
            0 => Self::One,
            _ => Self::Decimal(digits),
        }
    }
}

/// Numbers in a unit, within a public range, both ends included.
///
/// The range says how many bits a value takes, and what is computed of values has the range that follows, so no sum or
/// product wraps. Whoever declares a narrow range saves bytes and time, and tells everybody that values are within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Number {
    /// The unit.
    pub unit: Unit,
    /// The least value in units.
    pub least: i128,
    /// The greatest value in units.
    pub greatest: i128,
}

impl Number {
    /// Numbers from `least` to `greatest`, which are put in order.
    pub const fn new(unit: Unit, least: i128, greatest: i128) -> Self {
        match least <= greatest {
            true => Self {
                unit,
                least,
                greatest,
            },
            false => Self {
                unit,
                least: greatest,
                greatest: least,
            },
        }
    }

    /// The smallest type of elements that holds the range.
    pub fn element(&self) -> Type {
        let signed = [i8::TYPE, i16::TYPE, i32::TYPE, i64::TYPE, i128::TYPE];
        let unsigned = [u8::TYPE, u16::TYPE, u32::TYPE, u64::TYPE, u128::TYPE];
        let types = match self.least < 0 {
            true => signed,
            false => unsigned,
        };
        // A signed type holds a number if it or its complement has as many bits less one.
        let size = |number: i128| 128 - (if number < 0 { !number } else { number }).leading_zeros();
        let bits = size(self.least).max(size(self.greatest)) + u32::from(self.least < 0);
        let fits = types.into_iter().find(|one| one.bits() >= bits);
        fits.unwrap_or(i128::TYPE)
    }

    /// The range that holds both.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            unit: self.unit,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }

    /// Whether a value is within the range.
    pub const fn contains(&self, value: i128) -> bool {
        self.least <= value && value <= self.greatest
    }
}

/// Kind of a column's values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// True or false.
    Bool,
    /// Integers, decimal numbers, dates and times.
    Number(Number),
    /// Texts of `bytes` bytes at most, as UTF-8. They are ordered by their bytes, as SQL's binary order is.
    Text {
        /// The greatest length in bytes: public.
        bytes: usize,
        /// Whether all characters take one byte. Parts of a text can be taken only then.
        ascii: bool,
    },
    /// One of these public texts, which are in order and differ: a value is its place.
    Choice(Arc<[String]>),
    /// The quotient of two numbers, the second of which is greater than 0. It is kept as a pair, compared by products, and divided
    /// only where it must be: where it is opened, sorted or grouped by.
    Ratio(Number, Number),
}

/// Bytes of a text that lie in one element.
pub(crate) const PART: usize = 16;
/// Digits after the point that a quotient has once it is divided.
pub(crate) const DIGITS: u8 = 6;

impl Kind {
    /// All integers of a type of Rust.
    pub fn of<T: Plain>() -> Self {
        if T::TYPE.is_bool() {
            return Self::Bool;
        }
        let bits = T::TYPE.bits();
        let (least, greatest) = match T::TYPE.is_signed() {
            true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            false if bits == 128 => (0, i128::MAX),
            false => (0, (1 << bits) - 1),
        };
        Self::integer(least, greatest)
    }

    /// Integers from `least` to `greatest`.
    pub const fn integer(least: i128, greatest: i128) -> Self {
        Self::Number(Number::new(Unit::One, least, greatest))
    }

    /// Decimal numbers of `precision` digits, `digits` of them after the point.
    ///
    /// # Panics
    /// If there are more than 38 digits.
    pub const fn decimal(precision: u32, digits: u8) -> Self {
        assert!(precision <= 38, "38 digits at most");
        let end = 10_i128.pow(precision) - 1;
        Self::Number(Number::new(Unit::with_digits(digits), -end, end))
    }

    /// Dates of the years 1 to 9999.
    pub const fn date() -> Self {
        Self::Number(Number::new(Unit::Day, -719_162, 2_932_896))
    }

    /// Times of the years 1 to 9999.
    pub const fn time() -> Self {
        const DAY: i128 = 86_400_000_000;
        Self::Number(Number::new(
            Unit::Microsecond,
            -719_162 * DAY,
            2_932_897 * DAY - 1,
        ))
    }

    /// One of these texts.
    pub fn choice<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        texts.sort_unstable();
        texts.dedup();
        Self::Choice(texts.into())
    }

    /// The kind of numbers that a value is.
    pub const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Number of different values, if it is a small one that everybody knows.
    pub(crate) fn values(&self) -> Option<usize> {
        match self {
            Self::Bool => Some(2),
            Self::Number(number) => {
                let more = number.greatest.checked_sub(number.least)?;
                usize::try_from(more).ok()?.checked_add(1)
            }
            Self::Choice(texts) => Some(texts.len()),
            Self::Text { .. } | Self::Ratio(..) => None,
        }
    }

    /// Types of the elements that a value consists of; of a text, of its bytes from the first to the last.
    pub fn elements(&self) -> Vec<Type> {
        match self {
            Self::Bool => vec![bool::TYPE],
            Self::Number(number) => vec![number.element()],
            Self::Text { bytes, .. } => text_elements(*bytes),
            Self::Choice(texts) => vec![place_type(texts.len())],
            Self::Ratio(numerator, denominator) => {
                vec![numerator.element(), denominator.element()]
            }
        }
    }
}

/// Types that hold the bytes of a text: whole elements of 16, and a last one that is as short as it can be.
fn text_elements(bytes: usize) -> Vec<Type> {
    let rest = match bytes % PART {
        0 => None,
        1 => Some(u8::TYPE),
        2 => Some(u16::TYPE),
        3..=4 => Some(u32::TYPE),
        5..=8 => Some(u64::TYPE),
        _ => Some(u128::TYPE),
    };
    let empty = (bytes == 0).then_some(u8::TYPE);
    std::iter::repeat_n(u128::TYPE, bytes / PART)
        .chain(rest)
        .chain(empty)
        .collect()
}

/// The type of places among `count` texts.
pub(crate) fn place_type(count: usize) -> Type {
    Number::new(Unit::One, 0, count.saturating_sub(1) as i128).element()
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Number(number) => number.fmt(f),
            Self::Text { bytes, ascii: true } => write!(f, "text({bytes}, ascii)"),
            Self::Text { bytes, .. } => write!(f, "text({bytes})"),
            Self::Choice(texts) => write!(f, "one of {} texts", texts.len()),
            Self::Ratio(numerator, denominator) => write!(f, "{numerator} / {denominator}"),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::One => write!(f, "integer({}..={})", self.least, self.greatest),
            Unit::Decimal(digits) => write!(
                f,
                "decimal({}..={})",
                Decimal(self.least, digits),
                Decimal(self.greatest, digits)
            ),
            Unit::Day => f.write_str("date"),
            Unit::Microsecond => f.write_str("time"),
        }
    }
}

/// A number in units of its last digit, and how many digits are after the point.
pub(crate) struct Decimal(pub(crate) i128, pub(crate) u8);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, digits) = *self;
        let sign = if number < 0 { "-" } else { "" };
        if digits == 0 {
            return write!(f, "{number}");
        }
        let unit = 10_u128.pow(u32::from(digits));
        let (whole, rest) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
        write!(
            f,
            "{sign}{whole}.{rest:0width$}",
            width = usize::from(digits)
        )
    }
}
