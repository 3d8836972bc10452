//! Errors, and the party through whom they come.

use core::fmt;

/// The message that was being read when an error was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// The base sender's group element S.
    BaseSender,
    /// The base receiver's group elements R, one per OT.
    BaseReceiver,
    /// The KEM-based base receiver's masked keys, two per OT.
    BaseKeys,
    /// The KEM-based base sender's ciphertexts, two per OT.
    BaseCiphertexts,
    /// The extension receiver's sums of its seed trees.
    ExtensionSetup,
    /// The extension receiver's matrix u.
    Extension,
    /// The extension receiver's answer to the consistency check.
    ExtensionCheck,
    /// The sender's corrections of correlated OTs.
    Corrections,
    /// The sender's masked pairs of chosen-message OTs.
    MaskedPairs,
    /// The receiver's choice flips for precomputed OTs.
    ChoiceFlips,
    /// The silent sender's level sums.
    Silent,
    /// The VOLE sender's silent OTs that elements are made of.
    VoleSetup,
    /// The VOLE sender's silent OTs, level sums and sums of leaves.
    Vole,
    /// The VOLE receiver's challenge.
    VoleChallenge,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Message::BaseSender => "base-OT sender message (S)",
            Message::BaseReceiver => "base-OT receiver message (R)",
            Message::BaseKeys => "base-OT receiver message (masked ML-KEM keys)",
            Message::BaseCiphertexts => "base-OT sender message (ML-KEM ciphertexts)",
            Message::ExtensionSetup => "OT-extension setup message (tree sums)",
            Message::Extension => "OT-extension message (u)",
            Message::ExtensionCheck => "answer to the consistency check of OTs",
            Message::Corrections => "correlated-OT corrections",
            Message::MaskedPairs => "chosen-OT masked pairs",
            Message::ChoiceFlips => "OT choice flips",
            Message::Silent => "silent-OT message (level sums)",
            Message::VoleSetup => "VOLE setup message (silent OTs)",
            Message::Vole => "VOLE message (silent OTs, level sums, sums of leaves)",
            Message::VoleChallenge => "VOLE challenge (seed, sum of values)",
        })
    }
}

/// Party that caused an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The peer sent something that no honest peer of the same version and plan sends.
    Peer,
    /// The code that called this crate passed arguments that do not fit together, or this machine
    /// failed it.
    Caller,
}

/// An error of an OT protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OtError {
    /// The peer's message has the wrong length.
    #[error(
        "the peer's {message} has {got} bytes where {expected} are due; \
         check that both parties run the same version and the same plan"
    )]
    MessageLength {
        /// Message of the wrong length.
        message: Message,
        /// Length due, in bytes.
        expected: usize,
        /// Length received, in bytes.
        got: usize,
    },
    /// The peer sent bytes that encode no element of the group, or the identity.
    #[error(
        "element {index} of the peer's {message} is not the canonical encoding of a Ristretto255 \
         element other than the identity; the peer is faulty or the channel corrupts data: \
         stop the session and ask the peer's operator"
    )]
    GroupElement {
        /// Message that has the element.
        message: Message,
        /// Position in the message, in elements of 32 bytes.
        index: usize,
    },
    /// The peer sent a masked key with a coefficient outside the field of ML-KEM.
    #[error(
        "key {index} of the peer's {message} has a coefficient that is not below 3329; the peer is \
         faulty or the channel corrupts data: stop the session and ask the peer's operator"
    )]
    Coefficient {
        /// Message that has the coefficient.
        message: Message,
        /// Position in the message, in keys.
        index: usize,
    },
    /// The library for ML-KEM failed, for want of randomness or memory.
    #[error(
        "ML-KEM {operation} failed in the cryptographic library; check the operating system's \
             random numbers and memory"
    )]
    Kem {
        /// Operation that was tried.
        operation: &'static str,
    },
    /// The unused bits of the last byte are not zero.
    #[error(
        "the peer's {message} has a last byte of {got:#04x} although only its low {used} bits are \
         in use and the others must be zero; check that both parties run the same version"
    )]
    Padding {
        /// Message that has the padding.
        message: Message,
        /// Number of bits in use in the last byte.
        used: u32,
        /// The last byte received, without the bits in use.
        got: u8,
    },
    /// The peer's answer to a check does not fit what it sent before.
    #[error(
        "the peer's {message} does not fit what it sent before; the peer deviates from the protocol or \
         the channel corrupts data: stop the session and ask the peer's operator"
    )]
    Inconsistent {
        /// Message that does not fit.
        message: Message,
    },
    /// The caller passed a buffer of the wrong length.
    #[error(
        "argument `{argument}` has length {got} where {expected} is due; correct the calling code"
    )]
    ArgumentLength {
        /// Name of the argument.
        argument: &'static str,
        /// Length due, in elements of the argument's slice.
        expected: usize,
        /// Length passed, in elements of the argument's slice.
        got: usize,
    },
    /// The caller asked for a field that SoftSpoken is not built for.
    #[error("SoftSpoken's k is 1 to 8, not {got}; choose one of these")]
    FieldBits {
        /// The k asked for.
        got: u8,
    },
    /// The caller asked for 1-out-of-n OT with an n that it is not built for.
    #[error("1-out-of-n OT takes an n of 2 to 65536, not {got}; choose one of these")]
    OneOf {
        /// The n asked for.
        got: usize,
    },
    /// The caller chose a message that does not exist. The index itself is secret.
    #[error("choice {place} is not below {n}, the number of messages; correct the calling code")]
    Index {
        /// Position of the choice among all.
        place: usize,
        /// Number of messages of each OT.
        n: usize,
    },
    /// The caller passed an offset whose lowest bit is zero.
    #[error(
        "the lowest bit of Delta is zero, where silent OT keeps the choice bits; \
         draw it with Delta::random_odd"
    )]
    EvenDelta,
    /// The caller took more OTs than are left.
    #[error("{wanted} OTs were taken where {left} are left; extend by more OTs first")]
    Exhausted {
        /// OTs asked for.
        wanted: usize,
        /// OTs left.
        left: usize,
    },
}

impl OtError {
    /// Says who caused the error.
    pub fn fault(&self) -> Fault {
        match self {
            OtError::MessageLength { .. }
            | OtError::GroupElement { .. }
            | OtError::Coefficient { .. }
            | OtError::Inconsistent { .. }
            | OtError::Padding { .. } => Fault::Peer,
            OtError::ArgumentLength { .. }
            | OtError::EvenDelta
            | OtError::FieldBits { .. }
            | OtError::Kem { .. }
            | OtError::OneOf { .. }
            | OtError::Index { .. }
            | OtError::Exhausted { .. } => Fault::Caller,
        }
    }
}

pub(crate) fn check_message(
    message: Message,
    bytes: &[u8],
    expected: usize,
) -> Result<(), OtError> {
    if bytes.len() == expected {
        Ok(())
    } else {
        Err(OtError::MessageLength {
            message,
            expected,
            got: bytes.len(),
        })
    }
}

/// Checks a message of `bits` packed bits: its length, and that the bits past the end are zero.
pub(crate) fn check_bit_message(
    message: Message,
    bytes: &[u8],
    bits: usize,
) -> Result<(), OtError> {
    check_message(message, bytes, bits.div_ceil(8))?;
    let used = (bits % 8) as u32;
    match bytes.last() {
        Some(&last) if used != 0 && last >> used != 0 => Err(OtError::Padding {
            message,
            used,
            // The bits in use are masked secrets; the error may be shown to anybody.
            got: last >> used << used,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn check_argument(
    argument: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), OtError> {
    if got == expected {
        Ok(())
    } else {
        Err(OtError::ArgumentLength {
            argument,
            expected,
            got,
        })
    }
}
