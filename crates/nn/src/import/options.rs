//! Settings of an import beside the model.

use std::collections::BTreeMap;

use crate::tensor::Tensor;

/// Settings of an import beside the model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Size of the first dimension of every input, where that has a name instead of a size, or has size 1.
    pub batch: Option<usize>,
    /// Sizes of dimensions by name.
    pub dimensions: BTreeMap<String, usize>,
    /// Shapes of inputs by name, whatever the file says of sizes.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Inputs that are constants, by name: then they are no inputs of the graph.
    pub constants: BTreeMap<String, Tensor>,
}

impl Options {
    /// Batches of this size.
    pub fn batch(size: usize) -> Options {
        Options {
            batch: Some(size),
            ..Options::default()
        }
    }
}
