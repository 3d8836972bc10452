//! Errors, all of which are the caller's or chance's.

/// Reasons why a store cannot be made or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OkvsError {
    /// More keys than a store can have.
    #[error(
        "a store of {keys} keys was asked for, and the most are {most}: divide the keys among several stores"
    )]
    TooManyKeys {
        /// Keys asked for.
        keys: u64,
        /// Keys that are possible.
        most: u64,
    },
    /// Numbers of columns that no store has.
    #[error(
        "a store of {columns} columns was asked for: their number is a multiple of 64 from 256 to 2^31"
    )]
    Columns {
        /// Columns asked for.
        columns: u64,
    },
    /// Another number of keys, values, columns or results than belong together.
    #[error(
        "{got} {what} were given where {expected} belong: a store's shape says how many there are"
    )]
    Length {
        /// Argument of the wrong length.
        what: &'static str,
        /// Elements that were due.
        expected: usize,
        /// Elements that were given.
        got: usize,
    },
    /// One key at two places. A store has one value for a key, also where both values are the same.
    #[error(
        "the keys at places {first} and {second} are the same: a store has one value for each key, so leave one of \
         them out"
    )]
    DuplicateKey {
        /// Place of the one, counted from 0.
        first: usize,
        /// Place of the other.
        second: usize,
    },
    /// The rows of different keys are linearly dependent, which happens once in 2^40 stores.
    #[error(
        "the rows of these keys are linearly dependent under this seed, a chance of 2^-40: draw another seed, encode \
         again, and tell the other party the seed that served, alone"
    )]
    Dependent,
}

pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), OkvsError> {
    if expected == got {
        Ok(())
    } else {
        Err(OkvsError::Length {
            what,
            expected,
            got,
        })
    }
}
