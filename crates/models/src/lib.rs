//! Commands on trained networks, for programs that have them: [`infer`] computes a network on data that nobody shows, and
//! [`model`] says what a network consists of, what it costs, and what a fixed point makes of it.
//!
//! Each command is a type of flags in [`args`], a function that does what they say and gives what came of it, and one that
//! prints that. Data comes from files that flags name ([`data`]), or as arrays from whoever has them already.

pub mod args;
mod cores;
pub mod data;
mod html;
pub mod infer;
pub mod model;
mod models;
mod remedies;
