//! Cells of tables: numbers with a decimal point, dates, and cells without a value.

use std::fmt;

/// The most digits after the point that a number has.
pub const MOST_PLACES: u32 = 9;

/// Numbers are less than this far from 0, in units of the last place that their column has: sums of as many as
/// [`MOST_ROWS`](crate::MOST_ROWS) then stay within 64 bits, and sums of squares times the number of rows within 128.
pub const LIMIT: i64 = 1 << 40;

/// A decimal number: `units` of 10^-`places`, without zeros at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number times 10^`places`.
    pub units: i64,
    /// Digits after the point.
    pub places: u32,
}

/// A value of a table or of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(Decimal),
    /// A date, in days after 1970-01-01.
    Date(i64),
}

/// Kinds of values that a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Dates.
    Date,
}

/// Reasons why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A comma where a point should be, or between thousands.
    #[error(
        "has a comma; write numbers with a decimal point and nothing between thousands, as 1234.5"
    )]
    Comma,
    /// A number with an exponent.
    #[error("has an exponent; write its digits, as 1200 for 1.2e3")]
    Exponent,
    /// More digits after the point than are computed with.
    #[error("has more than {MOST_PLACES} digits after the point; round it")]
    Places,
    /// A number that is too large.
    #[error(
        "is too large: numbers are less than {LIMIT} units of the last place from 0; take a larger unit, or round"
    )]
    Large,
    /// A date that the calendar does not have.
    #[error("is no day of the calendar, from 0001-01-01 to 9999-12-31")]
    Day,
    /// Something else.
    #[error(
        "is neither a number, as -12.5, nor a date, as 2024-02-29, nor missing (an empty cell or NA)"
    )]
    Other,
}

/// Texts that stand for a missing value, beside empty cells.
const MISSING: [&str; 7] = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None"];

/// Whether a cell has no value.
pub(crate) fn is_missing(text: &str) -> bool {
    text.is_empty() || MISSING.contains(&text)
}

impl Value {
    /// Reads a number or a date.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn read(text: &str) -> Result<Self, ValueError> {
        let bytes = text.as_bytes();
        let is_date = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
        match is_date {
            true => date(text).map(Self::Date),
            false => Decimal::read(text).map(Self::Number),
        }
    }

    /// The kind of columns that it stands in.
    pub fn kind(self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Date(_) => Kind::Date,
        }
    }

    /// Digits after the point.
    pub fn places(self) -> u32 {
        match self {
            Self::Number(number) => number.places,
            Self::Date(_) => 0,
        }
    }

    /// The value in units of 10^-`places`, or `None` if it has more places or is as far as [`LIMIT`] from 0.
    pub fn units(self, places: u32) -> Option<i64> {
        match self {
            Self::Number(number) => number.scaled(places),
            Self::Date(days) => Some(days),
        }
    }
}

impl Decimal {
    /// Reads a sign, digits, and digits after a point, of which a zero at the end counts for nothing.
    ///
    /// # Errors
    /// [`ValueError`] for any other text, and for numbers out of range.
    pub fn read(text: &str) -> Result<Self, ValueError> {
        let (negative, digits) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, after) = digits.split_once('.').unwrap_or((digits, ""));
        let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + after.len() == 0 || !all(whole) || !all(after) {
            let starts = digits.starts_with(|first: char| first.is_ascii_digit());
            let only = |more: &str| {
                let known = |one: char| one.is_ascii_digit() || more.contains(one);
                starts && digits.chars().all(known)
            };
            return Err(match () {
                () if only(".,") && digits.contains(',') => ValueError::Comma,
                () if only(".eE+-") && digits.contains(['e', 'E']) => ValueError::Exponent,
                () => ValueError::Other,
            });
        }
        let after = after.trim_end_matches('0');
        let places = after.len() as u32;
        if after.len() > MOST_PLACES as usize {
            return Err(ValueError::Places);
        }
        let mut units: i64 = 0;
        for digit in whole.bytes().chain(after.bytes()) {
            units = 10 * units + i64::from(digit - b'0');
            if units >= LIMIT {
                return Err(ValueError::Large);
            }
        }
        let units = if negative { -units } else { units };
        Ok(Self { units, places })
    }

    /// The number in units of 10^-`places`, or `None` if it has more places or is as far as [`LIMIT`] from 0.
    pub fn scaled(self, places: u32) -> Option<i64> {
        let more = places.checked_sub(self.places)?;
        let units = i128::from(self.units) * 10_i128.checked_pow(more)?;
        let units = i64::try_from(units).ok()?;
        (units.abs() < LIMIT).then_some(units)
    }
}

/// Units of 10^-`places` as a decimal number.
pub fn decimal(units: i128, places: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!(
        "{:0width$}",
        units.unsigned_abs(),
        width = places as usize + 1
    );
    let (whole, after) = digits.split_at(digits.len() - places as usize);
    match places {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{after}"),
    }
}

/// Days of 400 years.
const CYCLE: i64 = 146_097;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Days after 1970-01-01 of the first and the last day that is read.
pub(crate) const DAYS: (i64, i64) = (-719_162, 2_932_896);

fn date(text: &str) -> Result<i64, ValueError> {
    let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.parse::<i64>().map_err(|_| ValueError::Other),
        false => Err(ValueError::Other),
    };
    let part = |from, to| text.get(from..to).ok_or(ValueError::Other);
    let (year, month) = (number(part(0, 4)?)?, number(part(5, 7)?)?);
    let day = number(part(8, 10)?)?;
    if !(1..=12).contains(&month) {
        return Err(ValueError::Day);
    }
    let days = days(year, month, day);
    // The calendar gives back another date for a day that a month does not have.
    match civil(days) == (year, month, day) && days >= DAYS.0 {
        true => Ok(days),
        false => Err(ValueError::Day),
    }
}

/// Days after 1970-01-01, in years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    cycle * CYCLE + year * 365 + year / 4 - year / 100 + of_year - EPOCH
}

/// Year, month and day of a number of days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (cycle, day) = (days.div_euclid(CYCLE), days.rem_euclid(CYCLE));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month, day)
}

/// A day as it is written, as in 2024-02-29.
pub struct Day(pub i64);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "numbers",
            Self::Date => "dates",
        })
    }
}
