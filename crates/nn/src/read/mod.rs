//! ONNX files: from bytes to messages that can be trusted to be as large as they say.

mod error;
mod external;
mod limits;
mod notes;
mod scan;
mod strip;
mod tensor;

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;
use madrigal_core::budget::{Budget, PER_BYTE};
use prost::Message as _;

pub use error::ReadError;
pub use limits::{LONGEST_NAME, Limits, NEWEST_OPSET, OLDEST_OPSET};
pub use notes::with_note;
pub use strip::{Readable, StripError, Stripped};
pub use tensor::{StoredTensorError, TensorFault};

use crate::proto;
use crate::tensor::Tensor;

/// An ONNX file, decoded; its operators are not looked at yet. [`Model::import`] does that.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) graph: proto::Graph,
    pub(crate) opset: i64,
    pub(crate) limits: Limits,
    /// Names of sparse tensors.
    pub(crate) sparse: Vec<String>,
    /// Bytes of memory that it may take in all, and those that it takes as it is.
    memory: [u64; 2],
    producer: String,
    notes: Vec<proto::Property>,
}

impl Model {
    /// Reads as [`Model::read`] does a file in `folder` that may have the data of tensors in files beside it.
    ///
    /// # Errors
    /// [`ReadError`] in the same cases as [`Model::read`]; or if one of the files cannot be read, or holds less
    /// than the model says.
    pub fn read_beside(
        file: impl Into<Bytes>,
        folder: &Path,
        limits: &Limits,
    ) -> Result<Model, ReadError> {
        let file: Bytes = file.into();
        let left = limits.bytes.saturating_sub(file.len());
        let mut model = Model::read(file, limits)?;
        model.fetch((folder, None), left)?;
        Ok(model)
    }

    /// Reads as [`Model::read_beside`] does the file that was read at `path`, which may be a link: then the data of tensors may
    /// lie where that leads, too.
    ///
    /// # Errors
    /// [`ReadError`] in the same cases as [`Model::read_beside`].
    pub fn read_at(
        file: impl Into<Bytes>,
        path: &Path,
        limits: &Limits,
    ) -> Result<Model, ReadError> {
        let file: Bytes = file.into();
        let left = limits.bytes.saturating_sub(file.len());
        let mut model = Model::read(file, limits)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        model.fetch((folder, Some(path)), left)?;
        Ok(model)
    }

    /// Data of tensors that is in other files.
    fn fetch(&mut self, place: (&Path, Option<&Path>), left: usize) -> Result<(), ReadError> {
        let more = external::fetch(&mut self.graph, place, left)?;
        let [limit, _] = &mut self.memory;
        *limit = limit.saturating_add(PER_BYTE.saturating_mul(more as u64));
        Ok(())
    }

    /// The memory that it may take, of which what it takes is taken.
    pub(crate) fn budget(&self) -> Budget {
        let [limit, taken] = self.memory;
        let budget = Budget::new(limit);
        // There was as much when it was read.
        let _ = budget.take(taken);
        budget
    }

    /// Reads a file whose tensors' data is all within.
    ///
    /// Memory follows the file's length and `limits`, not what it announces.
    ///
    /// # Errors
    /// [`ReadError`] if it is no ONNX file, too large, or uses parts of the format that are not supported.
    pub fn read(file: impl Into<Bytes>, limits: &Limits) -> Result<Model, ReadError> {
        let file: Bytes = file.into();
        if file.len() > limits.bytes {
            return Err(ReadError::TooLong {
                found: file.len(),
                limit: limits.bytes,
            });
        }
        let budget =
            Budget::new((PER_BYTE.saturating_mul(file.len() as u64)).saturating_add(limits.memory));
        scan::count(&file, limits.parts, &budget)?;
        let model = proto::Model::decode(file).map_err(|e| ReadError::Malformed(e.to_string()))?;
        let unsupported = |what, advice| Err(ReadError::Unsupported { what, advice });
        if !model.functions.is_empty() {
            return unsupported(
                "functions of its own",
                "have the exporter inline them (onnx.inliner.inline_local_functions)",
            );
        }
        let graph = model.graph.ok_or(ReadError::NoGraph)?;
        let sparse = graph.sparse_initializer.iter().cloned();
        let sparse = sparse.map(|stored| SparseTensor::decode(stored).map(SparseTensor::name));
        let sparse = sparse.collect::<Result<_, _>>();
        let sparse = sparse.map_err(|e| ReadError::Malformed(e.to_string()))?;
        let own = |domain: &str| domain.is_empty() || domain == "ai.onnx";
        let opset = model.opset_import.iter().find(|set| own(&set.domain));
        let opset = opset.ok_or(ReadError::NoOpset)?.version;
        if !(OLDEST_OPSET..=NEWEST_OPSET).contains(&opset) {
            return Err(ReadError::Opset { found: opset });
        }
        let producer = [model.producer_name, model.producer_version].join(" ");
        Ok(Model {
            graph,
            opset,
            limits: *limits,
            sparse,
            memory: [budget.limit(), budget.limit() - budget.left()],
            producer: producer.trim().to_string(),
            notes: model.metadata_props,
        })
    }

    /// The version of ONNX's operators that it uses.
    pub fn opset(&self) -> i64 {
        self.opset
    }

    /// Number of inputs of the model, weights left out.
    pub fn inputs(&self) -> usize {
        let weights = self.weights();
        let inputs = self.graph.input.iter();
        inputs
            .filter(|input| !weights.contains(&input.name[..]))
            .count()
    }

    /// Names of the tensors in the file: old files list them among the inputs.
    pub(crate) fn weights(&self) -> HashSet<&str> {
        let dense = self.graph.initializer.iter();
        let dense = dense.map(|stored| &stored.name[..]);
        dense
            .chain(self.sparse.iter().map(String::as_str))
            .collect()
    }

    /// The program that wrote it, as far as the file says.
    pub fn producer(&self) -> &str {
        &self.producer
    }
}

/// Values of a sparse tensor, which bear its name.
#[derive(Clone, PartialEq, prost::Message)]
struct SparseTensor {
    #[prost(message, optional, tag = "1")]
    values: Option<SparseValues>,
}

/// Name of these values.
#[derive(Clone, PartialEq, prost::Message)]
struct SparseValues {
    #[prost(string, tag = "8")]
    name: String,
}

impl SparseTensor {
    fn name(self) -> String {
        self.values.unwrap_or_default().name
    }
}

/// Reads a file that holds one tensor, as ONNX's own tests keep them (`.pb`).
///
/// # Errors
/// [`StoredTensorError`] if it is no tensor, is too large, or has elements that are not supported.
pub fn read_tensor(
    file: impl Into<Bytes>,
    limits: &Limits,
) -> Result<(String, Tensor), StoredTensorError> {
    let file: Bytes = file.into();
    let malformed = |error: String| StoredTensorError {
        tensor: String::new(),
        fault: TensorFault::Malformed(error),
    };
    let stored = proto::Tensor::decode(file).map_err(|e| malformed(e.to_string()))?;
    let budget = Budget::new(u64::MAX);
    let tensor = tensor::tensor(&stored, limits, &budget)?;
    Ok((stored.name, tensor))
}

pub(crate) use tensor::{element, tensor};
