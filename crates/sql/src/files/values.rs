//! Values as texts.

use madrigal_tables::{Unit, days_of};

/// Microseconds of a day.
pub(super) const DAY: i128 = 86_400_000_000;

/// A number as it is written: digits without the point, and how many of them stand after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) number: i128,
    pub(super) digits: u32,
}

/// Reads `-12.50`; `None` for all else, numbers with exponents among it, and for more than 38 digits.
pub(super) fn written(text: &str) -> Option<Written> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, part) = rest.split_once('.').unwrap_or((rest, ""));
    let mut number = 0_i128;
    for digit in whole.bytes().chain(part.bytes()) {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number.checked_mul(10)?.checked_add((digit - b'0').into())?;
    }
    if whole.is_empty() && part.is_empty() || rest.ends_with('.') {
        return None;
    }
    Some(Written {
        number: if negative { -number } else { number },
        digits: u32::try_from(part.len()).ok()?,
    })
}

/// The number in units of another number of digits; `None` where it has more digits than that, or too many.
pub(super) fn rescaled(number: i128, from: u32, to: u32) -> Option<i128> {
    match to >= from {
        true => number.checked_mul(10_i128.checked_pow(to - from)?),
        false => {
            let Some(unit) = 10_i128.checked_pow(from - to) else {
                return (number == 0).then_some(0);
            };
            (number % unit == 0).then_some(number / unit)
        }
    }
}

/// Reads a number in units of `unit`.
pub(super) fn in_unit(text: &str, unit: Unit) -> Result<i128, String> {
    match unit {
        Unit::Day => date(text)
            .map(i128::from)
            .ok_or_else(|| "no date: write year, month and day as 2024-02-29".into()),
        Unit::Microsecond => {
            time(text).ok_or_else(|| "no time: write it as 2024-02-29 12:30:00".into())
        }
        Unit::One | Unit::Decimal(_) => {
            let digits = u32::from(unit.digits().unwrap_or(0));
            let Written {
                number,
                digits: own,
            } = written(text).ok_or("no number: write digits, with a point before decimals")?;
            rescaled(number, own, digits).ok_or_else(|| match digits {
                0 => "no integer: declare the column as decimal, or round it".into(),
                _ => format!("a number with more than {digits} digits after the point: declare more, or round it"),
            })
        }
    }
}

/// Reads `2024-02-29` as days since 1970-01-01.
pub(super) fn date(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let part = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = bytes.get(range)?;
        digits.iter().try_fold(0, |number, digit| {
            digit
                .is_ascii_digit()
                .then(|| number * 10 + u32::from(digit - b'0'))
        })
    };
    days_of(part(0..4)? as i32, part(5..7)?, part(8..10)?)
}

/// Reads `2024-02-29 12:30:00.5`, with a T in place of the space, too, and a Z at the end, as microseconds since 1970-01-01.
pub(super) fn time(text: &str) -> Option<i128> {
    let day = date(text.get(..10)?)?;
    let rest = text.get(10..)?;
    let rest = rest.strip_suffix('Z').unwrap_or(rest);
    if rest.is_empty() {
        return (text.len() == 10).then_some(i128::from(day) * DAY);
    }
    let rest = rest.strip_prefix([' ', 'T'])?;
    let (clock, part) = rest.split_once('.').unwrap_or((rest, "0"));
    let mut parts = clock.split(':');
    let mut next = |most: u32| -> Option<u32> {
        let text = parts.next()?;
        let number = (text.len() == 2).then(|| text.parse::<u32>().ok())??;
        (number <= most && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    };
    let (hours, minutes) = (next(23)?, next(59)?);
    let seconds = match clock.len() {
        5 => 0,
        _ => next(59)?,
    };
    if parts.next().is_some() || clock.len() == 5 && rest.contains('.') {
        return None;
    }
    if part.is_empty() || part.len() > 38 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let micros = rescaled(part.parse().ok()?, part.len() as u32, 6)?;
    let seconds = i128::from(hours * 3600 + minutes * 60 + seconds);
    Some(i128::from(day) * DAY + seconds * 1_000_000 + micros)
}

/// Reads a truth value.
pub(super) fn truth(text: &str) -> Option<bool> {
    const YES: [&str; 3] = ["true", "t", "1"];
    const NO: [&str; 3] = ["false", "f", "0"];
    let is = |one: &str| text.eq_ignore_ascii_case(one);
    match (YES.iter().any(|one| is(one)), NO.iter().any(|one| is(one))) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}
