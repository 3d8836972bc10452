//! Checks that rows lie within their memory.

/// Every kernel rests on this check: `count` rows of `bytes` bytes at `stride` lie within `len`.
pub(super) fn assert_fits(what: &str, len: usize, count: usize, bytes: usize, stride: usize) {
    assert!(
        count == 0 || stride >= bytes,
        "{what}: rows of {bytes} bytes do not fit a stride of {stride} bytes"
    );
    assert_within(what, len, count, bytes, stride);
}

/// Asserts the same of rows that may overlap.
pub(crate) fn assert_within(what: &str, len: usize, count: usize, bytes: usize, stride: usize) {
    let Some(before) = count.checked_sub(1) else {
        return;
    };
    let end = before
        .checked_mul(stride)
        .and_then(|start| start.checked_add(bytes));
    assert!(
        end.is_some_and(|end| end <= len),
        "{what}: {count} rows of {bytes} bytes at a stride of {stride} bytes do not fit {len} bytes"
    );
}
