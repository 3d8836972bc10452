//! The tests of this crate, in one executable: linking many takes longer than running them.

mod bit_triples;
mod dealer;
mod matrices;
mod precomputed;
mod rings;
mod store;
mod store_kill;
mod support;
mod tampered;
mod threads;
