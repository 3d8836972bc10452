//! Packed bits: bit `i` of a string is bit `i % 8` of byte `i / 8`.
//!
//! A message of the Boolean protocols is one such string: the rows of all gates of a layer, one
//! after the other, without padding between them. These two functions move a row between its
//! byte-aligned home and its place in a string.

/// Bytes that hold `bits` bits.
pub const fn bytes_for(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Writes the first `count` bits of `row` at bit `at` of `string`, leaving all other bits alone.
///
/// # Panics
/// If `row` has fewer than `count` bits or `string` ends before bit `at + count`.
pub fn put(string: &mut [u8], at: usize, row: &[u8], count: usize) {
    if count == 0 {
        return;
    }
    let row = &row[..bytes_for(count)];
    assert!(
        at + count <= string.len() * 8,
        "the string has room for the row"
    );
    let (start, shift) = (at / 8, at % 8);
    let (full, tail) = (count / 8, count % 8);
    if shift == 0 {
        string[start..start + full].copy_from_slice(&row[..full]);
    } else {
        let mut carry = string[start] & low(shift);
        let (words, bytes) = row[..full].as_chunks::<8>();
        let (to_words, to_bytes) = string[start..start + full].split_at_mut(8 * words.len());
        for (to, &from) in to_words.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            let from = u64::from_le_bytes(from);
            *to = (u64::from(carry) | (from << shift)).to_le_bytes();
            carry = (from >> (64 - shift)) as u8;
        }
        for (to, &from) in to_bytes.iter_mut().zip(bytes) {
            *to = carry | (from << shift);
            carry = from >> (8 - shift);
        }
        let next = &mut string[start + full..];
        if let Some(next) = next.first_mut() {
            *next = (*next & !low(shift)) | carry;
        }
    }
    if tail > 0 {
        let from = u16::from(row[full] & low(tail)) << shift;
        let mask = u16::from(low(tail)) << shift;
        let place = &mut string[start + full..];
        place[0] = (place[0] & !(mask as u8)) | from as u8;
        if shift + tail > 8 {
            place[1] = (place[1] & !((mask >> 8) as u8)) | (from >> 8) as u8;
        }
    }
}

/// Reads `count` bits from bit `at` of `string` into `row`; the bits above `count` in the last byte
/// of the row become zero.
///
/// # Panics
/// If `row` has fewer than `count` bits or `string` ends before bit `at + count`.
pub fn take(string: &[u8], at: usize, row: &mut [u8], count: usize) {
    if count == 0 {
        return;
    }
    let row = &mut row[..bytes_for(count)];
    assert!(at + count <= string.len() * 8, "the string has the row");
    let (start, shift) = (at / 8, at % 8);
    if shift == 0 {
        row.copy_from_slice(&string[start..start + row.len()]);
    } else {
        let string = &string[start..];
        for (i, to) in row.iter_mut().enumerate() {
            let high = string.get(i + 1).copied().unwrap_or(0);
            *to = (string[i] >> shift) | (high << (8 - shift));
        }
    }
    clear_tail(row, count);
}

/// Clears the bits above `count` in the last byte of `row`.
pub fn clear_tail(row: &mut [u8], count: usize) {
    if !count.is_multiple_of(8) {
        row[count / 8] &= low(count % 8);
    }
}

/// Whether the bits above `count` in the last byte of `row` are zero.
pub fn tail_is_clear(row: &[u8], count: usize) -> bool {
    count.is_multiple_of(8) || row[count / 8] & !low(count % 8) == 0
}

/// The lowest `count < 8` bits set.
const fn low(count: usize) -> u8 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn get(string: &[u8], i: usize) -> bool {
        string[i / 8] >> (i % 8) & 1 == 1
    }

    proptest! {
        #[test]
        fn put_then_take_gives_the_row_and_disturbs_nothing(
            before in prop::collection::vec(any::<u8>(), 24),
            row in prop::collection::vec(any::<u8>(), 12),
            at in 0usize..90,
            count in 0usize..=96,
        ) {
            let mut string = before.clone();
            put(&mut string, at, &row, count);
            for i in 0..before.len() * 8 {
                let expected = if (at..at + count).contains(&i) { get(&row, i - at) } else { get(&before, i) };
                prop_assert_eq!(get(&string, i), expected, "bit {}", i);
            }
            let mut back = vec![0xff; bytes_for(count)];
            take(&string, at, &mut back, count);
            for i in 0..back.len() * 8 {
                prop_assert_eq!(get(&back, i), i < count && get(&row, i));
            }
        }
    }
}
