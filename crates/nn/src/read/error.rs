//! Errors of files.

use madrigal_core::budget::Spent;

use super::limits::{LONGEST_NAME, NEWEST_OPSET, OLDEST_OPSET};

/// Reasons why a file is no model, or none that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file is longer than allowed.
    #[error(
        "the file has {found} bytes, and {limit} are allowed: take a smaller model, or raise `Limits::bytes`"
    )]
    TooLong {
        /// Bytes of the file.
        found: usize,
        /// Number of bytes that is allowed.
        limit: usize,
    },
    /// More nodes, tensors, names and attributes than allowed.
    #[error(
        "the file has more than {limit} nodes, tensors, names and attributes: simplify the model, or raise `Limits::parts`"
    )]
    TooManyParts {
        /// Number of parts that is allowed.
        limit: usize,
    },
    /// A name is longer than any that somebody would give.
    #[error(
        "the file has a name of {found} bytes, and {LONGEST_NAME} are allowed: give shorter names"
    )]
    Name {
        /// Number of bytes of the name.
        found: usize,
    },
    /// Parts of the file that take more memory than allowed.
    #[error("the file has too many parts for its length: {0}")]
    Memory(Spent),
    /// A file that is no ONNX file, or a damaged one.
    #[error("this is no ONNX file, or a damaged one: {0}")]
    Malformed(String),
    /// The file, or one with data of its tensors, cannot be read.
    #[error(
        "cannot read {path}: {error}; tensors' data lies beside the model, under the name that was saved"
    )]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        error: String,
    },
    /// A tensor's data is said to be where it cannot be.
    #[error(
        "tensor {tensor:?}: its data is said to be at {place}, and should be {expected}: save the model again"
    )]
    External {
        /// The tensor's name.
        tensor: String,
        /// Text that the model says.
        place: String,
        /// Text that it should say.
        expected: &'static str,
    },
    /// A file without a graph.
    #[error("the file has no graph: it is no ONNX model, or a damaged one")]
    NoGraph,
    /// A file that does not say which version of the operators it uses.
    #[error(
        "the file does not say which version of ONNX's operators it uses: export the model again"
    )]
    NoOpset,
    /// Operators of a version that is not supported.
    #[error(
        "the model uses version {found} of ONNX's operators; supported: {OLDEST_OPSET} to {NEWEST_OPSET}; export it \
         with one of these"
    )]
    Opset {
        /// The version.
        found: i64,
    },
    /// The file uses a part of the format that is not supported.
    #[error("the file has {what}, which is not supported: {advice}")]
    Unsupported {
        /// Name of the part.
        what: &'static str,
        /// Advice: what to do.
        advice: &'static str,
    },
}
