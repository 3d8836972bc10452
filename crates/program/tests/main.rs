//! The tests of this crate, in one executable: linking many takes longer than running them.

mod errors;
mod loops;
mod lowering;
mod operators;
mod optimise;
mod random;
mod running;
mod tensors;
