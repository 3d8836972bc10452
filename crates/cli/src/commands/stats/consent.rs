//! The question whether to go on, once all that parties will learn has been told.

use std::io::{self, BufRead, IsTerminal as _, Write as _};

use madrigal_app::failure::Fault;

use crate::exit::{Failure, Result, Status};

/// Nobody has said that the parties may learn it.
#[derive(Debug, thiserror::Error)]
enum Unsaid {
    #[error(
        "nobody is there to ask whether the parties may learn this: give --yes; nothing was sent"
    )]
    NoTerminal,
    #[error("not confirmed; nothing was sent")]
    No,
}

impl Fault for Unsaid {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// Asks on the terminal.
pub fn ask() -> Result<()> {
    let input = io::stdin();
    if !input.is_terminal() {
        return Err(Unsaid::NoTerminal.into());
    }
    let _ = write!(crate::terminal::stderr(), "Go on? [y/N] ");
    answer(&mut input.lock())
}

fn answer(input: &mut impl BufRead) -> Result<()> {
    let mut line = String::new();
    let read = input.read_line(&mut line);
    read.map_err(Failure::file("read the answer", std::path::Path::new("-")))?;
    match line.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Unsaid::No.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        let given = |text: &str| answer(&mut text.as_bytes());
        assert!(given("y\n").is_ok() && given("yes\n").is_ok());
        for text in ["", "\n", "n\n", "yesterday\n"] {
            let said = given(text).unwrap_err();
            assert_eq!(said.to_string(), "not confirmed; nothing was sent");
            assert_eq!(said.status(), Status::Usage);
        }
    }
}
