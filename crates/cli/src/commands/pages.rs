//! `completions` and `man`: made from the definition of the flags.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::{Failure, Result};
use crate::figures::print_bytes;

pub fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "madrigal", &mut script);
    print_bytes(&script)
}

/// A page for the program and one for each command.
pub fn man(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    clap_mangen::generate_to(Cli::command(), directory)
        .map_err(Failure::file("write the man pages to", directory))
}
