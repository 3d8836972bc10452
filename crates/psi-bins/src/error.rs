//! Errors, all of which are the caller's, the sender's of hints, or chance's.

use madrigal_okvs::OkvsError;

/// Reasons why items cannot be put into bins, or hints not be made or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BinsError {
    /// More items than bins or stores are for.
    #[error(
        "{items} items of the {whose} were to be matched, and the most are {most}: divide the items of both parties by \
         a part of their digests, and match part by part"
    )]
    TooManyItems {
        /// The party, in words.
        whose: &'static str,
        /// Items that it has.
        items: u64,
        /// Items that are possible.
        most: u64,
    },
    /// Numbers of bins that there cannot be.
    #[error("{bins} bins were asked for: their number is from 3 to {most}")]
    Bins {
        /// Bins asked for.
        bins: u64,
        /// Bins that are possible.
        most: u64,
    },
    /// Another number of digests, payloads, pads or hints than belong together.
    #[error(
        "{got} {what} were given where {expected} belong: both parties' numbers of items say how many there are"
    )]
    Length {
        /// Argument of the wrong length.
        what: &'static str,
        /// Elements that were due.
        expected: usize,
        /// Elements that were given.
        got: usize,
    },
    /// One item at two places of a party's list.
    #[error(
        "the items at places {first} and {second} are the same: a set has each item once, so leave one of them out, or \
         put together what belongs to both"
    )]
    Repeated {
        /// Place of the one, counted from 0.
        first: usize,
        /// Place of the other.
        second: usize,
    },
    /// Items that no placing gives a bin each, which happens once in 2^40 times.
    #[error(
        "some items have fewer bins together than there are items of them, a chance of 2^-40: draw another seed for the \
         bins, and tell the sender the one that served, alone"
    )]
    Full,
    /// A store of hints that cannot be made.
    #[error("hints: {0}")]
    Store(OkvsError),
}

/// Takes errors of a store of the sender's items.
impl From<OkvsError> for BinsError {
    fn from(error: OkvsError) -> Self {
        match error {
            OkvsError::DuplicateKey { first, second } => Self::Repeated { first, second },
            OkvsError::Length {
                what,
                expected,
                got,
            } => Self::Length {
                what,
                expected,
                got,
            },
            error => Self::Store(error),
        }
    }
}

pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), BinsError> {
    if expected == got {
        Ok(())
    } else {
        Err(BinsError::Length {
            what,
            expected,
            got,
        })
    }
}
