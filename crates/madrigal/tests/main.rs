//! The tests of this crate, in one executable: linking many takes longer than running them.

#[cfg(feature = "app")]
mod clients;
#[cfg(feature = "app")]
mod commands;
#[cfg(feature = "app")]
mod examples;
