//! Bytes as hexadecimal digits, as files have them.

/// The digits of bytes.
pub(crate) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of digits.
pub(crate) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let even = digits.len().is_multiple_of(2) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    even.then(|| (0..digits.len()).step_by(2).map(pair).collect())?
}

/// The bytes of digits, as many as are wanted.
pub(crate) fn array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    bytes(digits)?.try_into().ok()
}
