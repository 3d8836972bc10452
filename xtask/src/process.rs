//! Other programs.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a chore comes to.
pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The cargo that started us, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(root());
    // Set for us by the cargo that runs xtask; to another package they would be lies.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command with its output shown; fails if it does.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = shown(command);
    println!("+ {shown}");
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{shown}` failed ({status})").into())
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Fails with what to do if there is no Valgrind.
pub(crate) fn need_valgrind() -> Outcome {
    if works(Command::new("valgrind").arg("--version")) {
        return Ok(());
    }
    Err("valgrind is missing: install it (Debian: apt-get install valgrind)".into())
}

/// As one would type it, with what was set in the environment.
pub(crate) fn shown(command: &Command) -> String {
    let word = |word: &OsStr| word.to_string_lossy().into_owned();
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", word(name), word(value?))));
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().map(word);
    set.chain(program)
        .chain(command.get_args().map(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Where cargo builds: xtask itself lies two folders below.
pub(crate) fn target_folder() -> PathBuf {
    let fallback = root().join("target");
    let own = std::env::current_exe().ok();
    own.and_then(|path| Some(path.ancestors().nth(2)?.to_owned()))
        .unwrap_or(fallback)
}

/// Splits `--name N` off a chore's words: the number (or `default`), and the other words.
pub(crate) fn number_option<'a>(
    words: &[&'a str],
    name: &str,
    default: u64,
) -> Result<(u64, Vec<&'a str>), String> {
    let mut number = default;
    let mut others = Vec::new();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        if word == name {
            let value = words.next().ok_or(format!("{name} wants a number"))?;
            number = value
                .parse()
                .map_err(|_| format!("{name} wants a number, not `{value}`"))?;
        } else if word.starts_with('-') {
            return Err(format!("there is no option {word}; there is {name} N"));
        } else {
            others.push(word);
        }
    }
    Ok((number, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_stand_anywhere() {
        let split = |words: &[&'static str]| number_option(words, "--seconds", 60);
        assert_eq!(split(&["a"]), Ok((60, vec!["a"])));
        assert_eq!(
            split(&["a", "--seconds", "5", "b"]),
            Ok((5, vec!["a", "b"]))
        );
        assert!(split(&["--seconds"]).is_err());
        assert!(split(&["--seconds", "x"]).is_err());
        assert!(split(&["--minutes", "5"]).is_err());
    }
}
