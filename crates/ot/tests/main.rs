//! The tests of this crate, in one executable: linking many takes longer than running them.

mod base;
mod common;
mod costs;
mod endemic;
mod extension;
mod flavours;
mod kem;
mod known_answers;
mod silent;
mod softspoken;
mod threads;
mod transcript;
