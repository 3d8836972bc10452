//! Tests of tunnels.

#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

mod addresses;
mod tunnels;
