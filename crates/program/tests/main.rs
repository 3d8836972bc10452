//! The tests of this crate, in one executable: linking many takes longer than running them.

mod branches;
mod convolutions;
mod errors;
mod faults;
mod functions;
mod loops;
mod lowering;
mod operators;
mod optimise;
mod random;
mod running;
mod sweep;
mod tensors;
mod text;
