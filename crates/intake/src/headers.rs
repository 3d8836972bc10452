//! Headers of a submission's inputs, its name and its digest.

use madrigal_clients::{Header, ShareFault};
use madrigal_core::{Digest256, Party, domains};
use sha2::{Digest, Sha256};

use crate::limits::{MAX_BODY, MAX_HEADERS, MAX_VALUES};

/// Headers that no submission to a kind has.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeadersError {
    /// Bytes that are no list of headers.
    #[error(
        "the headers are no list of headers, each after its length: the program that sent them is at fault"
    )]
    List,
    /// Headers that are too long together.
    #[error("the headers have {got} bytes, and {MAX_HEADERS} are the most: choose shorter names")]
    Long {
        /// Bytes of the headers with their lengths.
        got: usize,
    },
    /// A header that is none.
    #[error("header {at}: {fault}")]
    Header {
        /// Place of the header in the list.
        at: usize,
        /// Fault of the header.
        #[source]
        fault: Box<ShareFault>,
    },
    /// Too few or too many.
    #[error(
        "{got} inputs came, and the kind has {expected}: give each of its inputs a value, in the kind's order"
    )]
    Count {
        /// Headers that came.
        got: usize,
        /// Inputs of the kind.
        expected: usize,
    },
    /// A header that the input does not take.
    #[error("input {at}: {fault}")]
    Input {
        /// Place of the input.
        at: usize,
        /// Fault of the header.
        #[source]
        fault: Box<ShareFault>,
    },
    /// Inputs that were not made together.
    #[error("input {at} has another nonce than input 0: deal all inputs of a submission together")]
    Nonce {
        /// Place of the input.
        at: usize,
    },
    /// A name that the headers do not give.
    #[error(
        "the submission's name is not the one that its kind, program and headers give: the program that sent it is at fault, or it means another program"
    )]
    Name,
    /// A body of another length than the headers ask for.
    #[error(
        "a body of {got} bytes, where the headers ask for {expected}: the program that sent it is at fault"
    )]
    Length {
        /// Bytes that were announced.
        got: u64,
        /// Bytes that the headers ask for.
        expected: u64,
    },
}

/// Puts headers into one string: each after its length.
///
/// # Errors
/// [`HeadersError::Long`].
pub fn pack(headers: &[Header]) -> Result<Vec<u8>, HeadersError> {
    let mut packed = Vec::new();
    for header in headers {
        let bytes = header.to_bytes();
        packed.extend((bytes.len() as u32).to_le_bytes());
        packed.extend(bytes);
    }
    match packed.len() {
        got if got > MAX_HEADERS => Err(HeadersError::Long { got }),
        _ => Ok(packed),
    }
}

/// Reads what [`pack`] wrote; every other text is refused.
///
/// # Errors
/// [`HeadersError`]: too long, no list, or a header that is none.
pub fn unpack(packed: &[u8]) -> Result<Vec<Header>, HeadersError> {
    if packed.len() > MAX_HEADERS {
        return Err(HeadersError::Long { got: packed.len() });
    }
    let (mut rest, mut headers) = (packed, Vec::new());
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk().ok_or(HeadersError::List)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (header, after) = after.split_at_checked(length).ok_or(HeadersError::List)?;
        rest = after;
        let at = headers.len();
        if at == MAX_VALUES {
            return Err(HeadersError::List);
        }
        let header = Header::from_bytes(header);
        headers.push(header.map_err(|fault| HeadersError::Header {
            at,
            fault: Box::new(fault),
        })?);
    }
    match headers.is_empty() {
        true => Err(HeadersError::List),
        false => Ok(headers),
    }
}

/// Name of a submission. It binds the kind, its program and every field of the headers, above all the commitments in R: servers that
/// have submissions of one name have the same headers, and a submission goes to the program that it was made for.
pub fn submission_name(kind: &str, program: &Digest256, packed: &[u8]) -> Digest256 {
    let hash = Sha256::new_with_prefix(domains::INTAKE_NAME)
        .chain_update((kind.len() as u64).to_le_bytes())
        .chain_update(kind)
        .chain_update(program.0)
        .chain_update((packed.len() as u64).to_le_bytes())
        .chain_update(packed);
    hash.finalize().into()
}

/// Bytes of the body that a server gets: the bodies of the inputs' share files, one after the other. `None` beyond 2^46.
pub fn body_length(headers: &[Header], place: Party) -> Option<u64> {
    let bytes = |header: &Header| header.body_bytes(place);
    let all = headers.iter().map(bytes).try_fold(0_u64, u64::checked_add);
    all.filter(|&all| all <= MAX_BODY)
}
