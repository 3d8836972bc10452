//! A model's file without what was trained.

use prost::Message as _;

use super::Model;
use crate::proto;

/// Bytes of an element of a float type, in ONNX's numbering: float32, float16, float64, bfloat16.
fn float_bytes(code: i32) -> Option<usize> {
    match code {
        1 => Some(4),
        10 | 16 => Some(2),
        11 => Some(8),
        _ => None,
    }
}

/// Makes all floats of a tensor 0, unless it has only one.
fn strip(tensor: &mut proto::Tensor) {
    let Some(bytes) = float_bytes(tensor.data_type) else {
        return;
    };
    if tensor.raw_data.len() > bytes {
        tensor.raw_data = vec![0; tensor.raw_data.len()].into();
    }
    if tensor.float_data.len() > 1 {
        tensor.float_data.fill(0.0);
    }
    if tensor.double_data.len() > 1 {
        tensor.double_data.fill(0.0);
    }
    // The bits of narrow floats.
    if tensor.int32_data.len() > 1 {
        tensor.int32_data.fill(0);
    }
}

impl Model {
    /// The model as a file for those who are to know its architecture alone: all floats among its constants are 0, but
    /// for single ones (a slope, a scale), which count as architecture, as integers and Booleans do, and attributes. Names
    /// stay, and of the [notes](Self::note) Madrigal's own.
    ///
    /// Its graph is that of the whole model, on secrets too, unless constants that are computed of weights decide on
    /// it: then the programs differ, and parties that compare them refuse to begin.
    pub fn without_weights(&self) -> Vec<u8> {
        let mut graph = self.graph.clone();
        graph.initializer.iter_mut().for_each(strip);
        let attributes = graph.node.iter_mut().flat_map(|node| &mut node.attribute);
        attributes.filter_map(|one| one.t.as_mut()).for_each(strip);
        proto::Model {
            ir_version: 8,
            producer_name: self.producer.clone(),
            graph: Some(graph),
            opset_import: vec![proto::OperatorSet {
                domain: String::new(),
                version: self.opset,
            }],
            metadata_props: self.own_notes(),
            ..Default::default()
        }
        .encode_to_vec()
    }
}
