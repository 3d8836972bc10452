//! Bounds on what a model may ask for.

/// The least version of ONNX's operators that is supported.
pub const OLDEST_OPSET: i64 = 6;
/// The greatest version of ONNX's operators that is supported: that of ONNX 1.22.
pub const NEWEST_OPSET: i64 = 27;

/// Bounds on what a model may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file; protobuf itself allows 2 GiB.
    pub bytes: usize,
    /// Nodes, tensors, names and attributes of a file.
    pub parts: usize,
    /// Elements of one tensor, and of all constants together that are computed while a model is imported.
    pub elements: usize,
    /// Elementary steps of computing constants while a model is imported.
    pub work: u64,
    /// Bytes of memory that reading a model, importing it and making a program of it may take beyond
    /// [`PER_BYTE`](madrigal_core::budget::PER_BYTE) for each byte of its files: what its parts, its constants, and lists of places take.
    pub memory: u64,
}

/// Bytes of a name: what takes more is no name of anybody's, and names are in all that is told of a model.
pub const LONGEST_NAME: usize = 4096;

impl Default for Limits {
    /// Limits for files of up to 2 GiB: a million parts, tensors of 2^29 elements, 2^34 steps, 256 MiB of memory for what
    /// a file asks for without having it.
    fn default() -> Limits {
        Limits {
            bytes: 1 << 31,
            parts: 1 << 20,
            elements: 1 << 29,
            work: 1 << 34,
            memory: 256 << 20,
        }
    }
}
