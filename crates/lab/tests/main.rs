//! The program as a user meets it: started as a process, judged by its output, its messages and its
//! exit status.

// A test program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]
// A failed unwrap is a failed test with a location; print: what was skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bench;
mod command;
#[path = "../../cli/tests/documented.rs"]
mod documented;
mod help;
mod json;
