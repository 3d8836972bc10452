//! A run of garbling, with two parties or with more.

/// Bytes of one chunk's table, at most.
pub(super) const CHUNK: usize = 64 << 10;

/// Costs of one run; where there are two, the garbler's are the first, then the evaluator's.
#[derive(Default)]
pub(super) struct GarblingRun {
    pub ands: usize,
    /// Bytes of tables.
    pub bytes: u64,
    pub seconds: [f64; 2],
    /// Blocks of AES.
    pub aes: [u64; 2],
}
