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

// The examples are tested too.
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/base_only.rs"]
mod base_only;
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/dudect/statistics.rs"]
mod dudect_statistics;
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/extension_only.rs"]
mod extension_only;
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/silent_only.rs"]
mod silent_only;
