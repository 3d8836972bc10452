//! How this program is started once more, for each party of a local run.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::OnceLock;

/// The program and its first arguments, where they are not those of the process: an interpreter that runs this one, for instance.
static AGAIN: OnceLock<Vec<OsString>> = OnceLock::new();

/// Has local runs start `words`, a program and its first arguments, for each party. The first call of a process counts.
pub fn start_by(words: Vec<OsString>) {
    let _ = AGAIN.set(words);
}

/// Starts this program once more, with arguments that the caller adds.
pub(super) fn command() -> io::Result<Command> {
    match AGAIN.get().and_then(|words| words.split_first()) {
        Some((program, first)) => {
            let mut command = Command::new(program);
            command.args(first);
            Ok(command)
        }
        None => Ok(Command::new(std::env::current_exe()?)),
    }
}
