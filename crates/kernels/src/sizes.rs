//! Sizes that the kernels of all levels are written for.

/// Trees of correlated GGM that grow side by side.
pub const TREES: usize = 4;

/// Blocks of the table that each row adds up.
pub const LOCALITY: usize = 10;

/// Blocks that are encrypted in registers again and again, to see what AES allows at most.
pub(crate) const REGISTER_BLOCKS: usize = 48;
