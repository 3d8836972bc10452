//! Numbers of a file: known ones, and lengths that follow from the dimensions.

use crate::error::{BindError, ReadError};
use crate::proto::{Length, length::Sort};

/// The number for one that is known.
pub(crate) fn known(number: i64) -> i64 {
    // Lengths have at most 2^40 elements.
    number.wrapping_mul(2)
}

/// The lengths of a file, for given dimensions.
pub(crate) struct Lengths {
    table: Vec<i64>,
    /// The dimensions with their lengths, for errors.
    told: String,
}

impl Lengths {
    /// Computes the table.
    pub(crate) fn new(
        table: &[Length],
        dimensions: &[i64],
        told: String,
    ) -> Result<Self, BindError> {
        let mut lengths = Self {
            table: Vec::with_capacity(table.len()),
            told,
        };
        for length in table {
            let sort = Sort::try_from(length.sort).unwrap_or(Sort::Unknown);
            if sort == Sort::Dimension {
                let place = usize::try_from(length.left).ok();
                let found = place.and_then(|place| dimensions.get(place));
                let found = found.ok_or(ReadError::Missing {
                    what: "dimension",
                    number: length.left,
                    count: dimensions.len(),
                })?;
                lengths.table.push(*found);
                continue;
            }
            let (a, b) = (lengths.get(length.left)?, lengths.get(length.right)?);
            let made = match sort {
                Sort::Sum => a.checked_add(b),
                Sort::Difference => a.checked_sub(b),
                Sort::Product => a.checked_mul(b),
                Sort::Quotient => a.checked_div_euclid(b).filter(|_| b > 0),
                Sort::QuotientUp => {
                    let more = a.checked_add(b.wrapping_sub(1));
                    more.and_then(|more| more.checked_div_euclid(b))
                        .filter(|_| b > 0)
                }
                Sort::Least => Some(a.min(b)),
                Sort::Greatest => Some(a.max(b)),
                Sort::Dimension | Sort::Unknown => {
                    let what = format!("a length of the unknown sort {}", length.sort);
                    return Err(ReadError::Malformed(what).into());
                }
            };
            let sign = match sort {
                Sort::Sum => "+",
                Sort::Difference => "-",
                Sort::Product => "*",
                _ => "divided by",
            };
            let made = made.ok_or_else(|| lengths.wrong(format!("{a} {sign} {b} is no length")))?;
            lengths.table.push(made);
        }
        Ok(lengths)
    }

    /// The number that stands so in a file.
    pub(crate) fn get(&self, number: i64) -> Result<i64, BindError> {
        if number & 1 == 0 {
            return Ok(number >> 1);
        }
        let place = usize::try_from(number >> 1).ok();
        let found = place.and_then(|place| self.table.get(place));
        let missing = ReadError::Missing {
            what: "length",
            number: number >> 1,
            count: self.table.len(),
        };
        found.copied().ok_or(missing.into())
    }

    /// Lengths of axes and the like: none is below 0.
    pub(crate) fn size(&self, number: i64) -> Result<usize, BindError> {
        let found = self.get(number)?;
        usize::try_from(found).map_err(|_| self.wrong(format!("a length would be {found}")))
    }

    pub(crate) fn sizes(&self, numbers: &[i64]) -> Result<Vec<usize>, BindError> {
        numbers.iter().map(|&number| self.size(number)).collect()
    }

    fn wrong(&self, what: String) -> BindError {
        let lengths = match self.told.is_empty() {
            true => "these numbers".into(),
            false => self.told.clone(),
        };
        BindError::Length { lengths, what }
    }
}
