//! The tests of this crate, in one executable.
