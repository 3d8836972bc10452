//! One entry for the chores of the project.

fn main() {}
