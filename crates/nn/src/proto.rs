//! The messages of an ONNX file, generated from `schema/onnx.proto`: for programs that write models.
#![allow(missing_docs, reason = "the schema says what there is to say")]

include!("generated/onnx.rs");
