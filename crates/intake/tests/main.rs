//! All tests of the crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;
mod connections;
mod known;
mod messages;
mod pair;
mod receipts;
