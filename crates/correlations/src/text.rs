//! Parts of the texts of kinds and needs.

/// The most rows or columns that a text may ask for.
pub(crate) const MAX_SIDE: usize = 1 << 16;

/// Reads digits alone, and no zero before them: one number has one text.
pub(crate) fn number(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

/// Cuts a text that may be of any length, for messages.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
