//! The program as a user meets it: started as a process, judged by its output, its messages and its
//! exit status.

// A test program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]
// A failed unwrap is a failed test with a location; print: what was skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod branches;
mod circuits;
mod clients;
mod command;
mod data;
mod demo;
mod documented;
mod errors;
mod files;
mod help;
mod hycc;
mod infer;
mod json;
mod known_answers;
mod lab;
mod layers;
mod lists;
mod models;
mod parties;
mod program;
mod shares;
mod signals;
mod splices;
mod statistics;
mod stats;
mod stores;
mod threads;
mod trials;
mod words;
