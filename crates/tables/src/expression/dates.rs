//! Days of the calendar.

use serde::{Deserialize, Serialize};

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the month, 1 to 31.
    Day,
}

/// Days since 1970-01-01 of a day of the calendar as it is today, extended to earlier years; `None` if there is none.
pub fn days_of(year: i32, month: u32, day: u32) -> Option<i32> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let lengths = |year: i32| {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        [
            31,
            28 + u32::from(leap),
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
        ]
    };
    let lengths = lengths(year);
    if !(1..=lengths[month as usize - 1]).contains(&day) {
        return None;
    }
    let before = year - 1;
    let leaps = before / 4 - before / 100 + before / 400;
    let months: u32 = lengths[..month as usize - 1].iter().sum();
    Some(before * 365 + leaps + (months + day - 1) as i32 - 719_162)
}

/// Year, month and day of a number of days since 1970-01-01, which is a day of the years 1 to 9999.
pub(crate) fn calendar(days: i32) -> (i32, u32, u32) {
    // A year too late is one at most, as years have 365 days at least.
    let mut year = ((days + 719_162) / 365 + 1).clamp(1, 9999);
    while days_of(year, 1, 1).is_some_and(|first| first > days) {
        year -= 1;
    }
    let mut month = 12;
    while days_of(year, month, 1).is_some_and(|first| first > days) {
        month -= 1;
    }
    let first = days_of(year, month, 1).unwrap_or(days);
    (year, month, (days - first + 1) as u32)
}
