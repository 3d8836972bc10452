//! Trained networks: ONNX models, what they are made of, and what they compute in the clear.
//!
//! [`Model::read`] decodes a file, [`Model::import`] makes of it a [`Graph`] of few typed operators ([`Op`]) whose
//! shapes are all known, and [`Graph::evaluate`] computes it.
//!
//! ```
//! use madrigal_nn::{Limits, Model, Options, Tensor, proto};
//! use madrigal_nn::prost::Message as _;
//!
//! // relu(x), as a file.
//! let names = |name: &str| vec![name.to_string()];
//! let node = proto::Node { op_type: "Relu".into(), input: names("x"), output: names("y"), ..Default::default() };
//! let dim = |size| proto::Dimension { value: Some(proto::dimension::Value::DimValue(size)) };
//! let shape = Some(proto::Shape { dim: vec![dim(1), dim(2)] });
//! let ty = proto::r#type::Value::TensorType(proto::TensorType { elem_type: 1, shape });
//! let x = proto::ValueInfo { name: "x".into(), r#type: Some(proto::Type { value: Some(ty) }) };
//! let y = proto::ValueInfo { name: "y".into(), ..Default::default() };
//! let graph = proto::Graph { node: vec![node], input: vec![x], output: vec![y], ..Default::default() };
//! let opset_import = vec![proto::OperatorSet { version: 17, ..Default::default() }];
//! let file = proto::Model { graph: Some(graph), opset_import, ..Default::default() }.encode_to_vec();
//!
//! let model = Model::read(file, &Limits::default())?;
//! let graph = model.import(&Options::batch(3))?; // three at a time
//! let x = Tensor::f32(vec![3, 2], vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0])?;
//! let made = graph.evaluate(&[x])?;
//! assert_eq!(made[0].as_f32(), Some(&[1.0, 0.0, 2.0, 0.0, 3.0, 0.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Steps of an import:
//!
//! * operators of ONNX's versions 6 to 27 become those of [`Op`], each in the same meaning whatever the version;
//! * dimensions that the file names instead of numbering are set by [`Options`], of themselves or from data;
//! * what depends on no input is computed, as are chains of shapes that exporters write;
//! * what passes values on (identities, dropout, casts to the same elements) goes;
//! * factors and summands of channels, above all batch normalisation, become part of the convolution or product
//!   before them;
//! * all that is wrong or not supported is told at once ([`ImportError`]), each with its node and what to do.
//!
//! [`Graph::evaluate_with`] shows every node's result to an [`Observer`]. [`npy`] reads and writes tensors as NumPy
//! does, [`csv`] as tables; `image`, with the feature `png` (on by default), reads images.

pub mod csv;
mod error;
mod evaluate;
mod graph;
mod half;
#[cfg(feature = "png")]
pub mod image;
mod import;
pub mod known;
pub mod npy;
pub mod proto;
mod read;
pub mod secret;
mod tensor;

// Library of `proto`'s messages; it stands in signatures there.
pub use prost;

pub use error::{EvaluateError, Fault, ImportError, Problem};
pub use evaluate::Observer;
pub use graph::{Binary, Count, Graph, Node, Op, Reduction, Type, Unary, Value, ValueId, Window};
pub use import::{Options, Size, supported_operators};
pub use read::{
    LONGEST_NAME, Limits, Model, NEWEST_OPSET, OLDEST_OPSET, ReadError, Readable,
    StoredTensorError, StripError, Stripped, TensorFault, read_tensor, with_note,
};
pub use tensor::{Data, Element, HeldError, Tensor, TensorError};
