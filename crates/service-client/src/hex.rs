//! Bytes as hexadecimal digits, as files have them.

use madrigal_core::{Zeroizing, hexadecimal};

/// The digits of bytes.
pub(crate) fn digits(bytes: &[u8]) -> String {
    // It has all the room that it needs: growing would leave copies of what may be secret.
    let mut digits = String::with_capacity(2 * bytes.len());
    let all = bytes.iter().copied().flat_map(hexadecimal::encode);
    digits.extend(all.map(char::from));
    digits
}

/// The bytes of digits.
pub(crate) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; digits.len() / 2];
    let even = digits.len().is_multiple_of(2);
    (even && hexadecimal::decode(digits.as_bytes(), &mut bytes) == 0).then_some(bytes)
}

/// The bytes of digits, as many as are wanted.
pub(crate) fn array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    secret(digits).map(|bytes| *bytes)
}

/// The bytes of digits that are a secret, as many as are wanted.
pub(crate) fn secret<const N: usize>(digits: &str) -> Option<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    let fits = digits.len() == 2 * N;
    (fits && hexadecimal::decode(digits.as_bytes(), &mut *bytes) == 0).then_some(bytes)
}
