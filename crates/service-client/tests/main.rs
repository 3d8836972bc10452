//! All tests of the crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod configs;
mod dealings;
mod fake;
mod pendings;
mod requests;
mod submissions;
mod tls;
mod views;
