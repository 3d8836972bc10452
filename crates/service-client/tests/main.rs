//! All tests of the crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocks;
mod configs;
mod fake;
mod pendings;
mod requests;
mod spawned;
mod submissions;
mod tls;
