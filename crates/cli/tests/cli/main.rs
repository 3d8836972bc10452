//! The program as a user meets it: started as a process, judged by its output, its messages and its
//! exit status.

// A test program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod circuits;
mod command;
mod demo;
mod errors;
mod help;
mod parties;
mod statistics;
