//! Writes PEM (RFC 7468). Reading is rustls'; writing is here so that no copy of a key stays behind.

pub(super) const CERTIFICATE: &str = "CERTIFICATE";
pub(super) const PRIVATE_KEY: &str = "PRIVATE KEY";

/// Bytes in a line of 64 characters.
const LINE_BYTES: usize = 48;

/// The text is allocated once: it never moves and leaves no copy on the heap.
pub(super) fn encode(label: &str, der: &[u8]) -> String {
    let lines = der.len().div_ceil(LINE_BYTES);
    let mut text = String::with_capacity(64 + 2 * label.len() + 65 * lines);
    let capacity = text.capacity();
    text.extend(["-----BEGIN ", label, "-----\n"]);
    for line in der.chunks(LINE_BYTES) {
        for group in line.chunks(3) {
            push_base64(&mut text, group);
        }
        text.push('\n');
    }
    text.extend(["-----END ", label, "-----\n"]);
    debug_assert_eq!(text.capacity(), capacity);
    text
}

/// One to three bytes as four characters (RFC 4648, section 4).
fn push_base64(text: &mut String, group: &[u8]) {
    let mut word = 0u32;
    for i in 0..3 {
        word = word << 8 | u32::from(group.get(i).copied().unwrap_or(0));
    }
    for i in 0..4 {
        // One byte fills two characters, two bytes three.
        text.push(if i <= group.len() {
            base64_digit((word >> (18 - 6 * i)) as u8 & 63)
        } else {
            '='
        });
    }
}

/// Gives a digit by comparisons that the compiler makes arithmetic: a key must not index a table.
fn base64_digit(value: u8) -> char {
    let select = |from: u8| 0u8.wrapping_sub(u8::from(value >= from));
    let mut digit = value + b'A';
    digit = digit.wrapping_add(select(26) & (b'a' - b'Z' - 1));
    digit = digit.wrapping_sub(select(52) & (b'z' - b'0' + 1));
    digit = digit.wrapping_sub(select(62) & (b'9' + 1 - b'+'));
    digit = digit.wrapping_add(select(63) & (b'/' - b'+' - 1));
    digit.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_alphabet() {
        let all: String = (0..64).map(base64_digit).collect();
        assert_eq!(
            all,
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        );
    }

    /// RFC 4648, section 10.
    #[test]
    fn base64_vectors() {
        for (bytes, expected) in [
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let text = encode("X", bytes.as_bytes());
            assert_eq!(
                text,
                format!("-----BEGIN X-----\n{expected}\n-----END X-----\n")
            );
        }
    }
}
