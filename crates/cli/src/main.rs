//! The program `madrigal`.

fn main() {}
