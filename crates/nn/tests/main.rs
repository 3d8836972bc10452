//! The tests of this crate, in one executable.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and tells what it did"
)]

mod common;
mod csv;
mod damaged;
mod differential;
mod graphs;
mod hostile;
#[cfg(feature = "png")]
mod image;
mod malformed;
mod models;
mod npy;
mod operators;
mod secret;
mod strip;
mod unread;
