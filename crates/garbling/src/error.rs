//! Errors, and the party through whom they come.

/// Party that caused an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The peer sent something that no honest peer of the same version and plan sends.
    Peer,
    /// The code that called this crate passed arguments that do not fit together.
    Caller,
}

/// An error of garbling or evaluating. The labels computed so far are of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GarblingError {
    /// The peer's table has the wrong length.
    #[error(
        "the peer's table for {ands} ANDs in {lanes} lanes has {got} bytes where {expected} are due; \
         check that both parties run the same version and the same plan"
    )]
    TableLength {
        /// ANDs of the chunk.
        ands: usize,
        /// Lanes of each.
        lanes: usize,
        /// Length due, in bytes.
        expected: usize,
        /// Length received, in bytes.
        got: usize,
    },
    /// The caller's room for something has another length than that.
    #[error("{what}: {expected} are due and {got} were passed")]
    Length {
        /// Name of the argument, and its unit.
        what: &'static str,
        /// Due.
        expected: usize,
        /// Passed.
        got: usize,
    },
    /// The caller's offset has an even colour.
    #[error(
        "the lowest bit of the offset is 0, so that both labels of a wire would have one colour; \
         draw the offset with that bit set"
    )]
    EvenOffset,
    /// The numbers of pieces are used up.
    #[error(
        "pieces {first} and following: {pieces} more would go past the last number, and a hash would \
         repeat; start an instance with another stream"
    )]
    Exhausted {
        /// The next number.
        first: u64,
        /// Number of pieces that are wanted.
        pieces: u64,
    },
}

impl GarblingError {
    /// Says whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::TableLength { .. } => Fault::Peer,
            Self::Length { .. } | Self::EvenOffset | Self::Exhausted { .. } => Fault::Caller,
        }
    }
}

/// Refuses an argument of another length.
pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), GarblingError> {
    if expected == got {
        return Ok(());
    }
    Err(GarblingError::Length {
        what,
        expected,
        got,
    })
}
