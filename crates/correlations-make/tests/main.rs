//! The tests of this crate, in one executable: linking many takes longer than running them.

mod bit_triples;
mod chosen_numbers;
mod convolutions;
mod correlated;
mod crowd;
mod dealer;
mod lines;
mod matrices;
mod precomputed;
mod prices;
mod rings;
mod split;
mod tampered;
mod threads;
mod vole;

// The examples are tested too.
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/triples_only.rs"]
mod triples_only;
