//! Names the levels of this machine, one a line, from the slowest to the fastest.
#![allow(clippy::print_stdout, reason = "an example")]

use madrigal_kernels::Level;

fn main() {
    for level in Level::available() {
        println!("{level}");
    }
}
