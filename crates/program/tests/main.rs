//! The tests of this crate, in one executable: linking many takes longer than running them.

mod branches;
mod clients;
mod convolutions;
mod errors;
mod faults;
mod functions;
mod known;
mod loops;
mod lowering;
mod mixes;
mod noise;
mod numpy;
mod of_circuit;
mod operators;
mod optimise;
mod own;
mod permutations;
mod privacy;
mod random;
mod ranges;
mod requirements;
mod ring_branches;
mod running;
mod shuffles;
mod sorts;
mod stages;
mod sweep;
mod tensors;
mod text;
mod threads;
mod tournaments;
mod truncation;

// The example is tested too.
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/functions.rs"]
mod costs;
