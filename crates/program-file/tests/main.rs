//! Program files: what is saved is what is loaded; dimensions; files that are wrong.

#![allow(clippy::unwrap_used)] // helpers of tests

mod broken;
mod dimensions;
mod saved;
