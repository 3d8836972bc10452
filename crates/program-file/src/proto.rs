//! The messages of a program file, generated from `schema/program.proto`: for programs that write such files.
#![allow(missing_docs, reason = "the schema says what there is to say")]

include!("generated/program.rs");
