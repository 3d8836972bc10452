//! Hexadecimal digits without a branch on what they are, and without a table: they may be a key's.

/// All ones if `x` is below `bound`, else zero; both below 2^31.
fn below(x: u32, bound: u32) -> u32 {
    (x.wrapping_sub(bound) as i32 >> 31) as u32
}

/// A byte as two lower-case digits.
pub fn encode(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| {
        let digit = u32::from(digit);
        // From '0' on, and those that are not below ten from 'a' on.
        (digit + u32::from(b'a') - 10 - (below(digit, 10) & 39)) as u8
    })
}

/// The bytes of twice as many digits, upper or lower case. Gives 0 if all are digits, and something else if one is none: the caller decides
/// whether that may be known.
///
/// # Panics
/// If there are not two digits for each byte.
pub fn decode(digits: &[u8], bytes: &mut [u8]) -> u32 {
    assert_eq!(digits.len(), 2 * bytes.len(), "two digits for each byte");
    let mut wrong = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let mut value = 0;
        for &digit in pair {
            let number = u32::from(digit ^ b'0');
            let letter = u32::from(digit | 0x20).wrapping_sub(u32::from(b'a')) & 0xff;
            let [is_number, is_letter] = [below(number, 10), below(letter, 6)];
            wrong |= !(is_number | is_letter);
            value = value << 4 | number & is_number | (letter + 10) & is_letter;
        }
        *byte = value as u8;
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for byte in 0..=255 {
            let digits = encode(byte);
            assert_eq!(&digits[..], format!("{byte:02x}").as_bytes());
            let mut back = [0];
            assert_eq!(
                decode(&digits.map(|digit| digit.to_ascii_uppercase()), &mut back),
                0
            );
            assert_eq!(back, [byte]);
            // A byte is a digit exactly where the standard library says so.
            let is_one = decode(&[byte, b'0'], &mut back) == 0;
            assert_eq!(is_one, byte.is_ascii_hexdigit(), "{byte}");
        }
    }
}
