//! Libraries name no flags and no commands of the program: whoever calls them from elsewhere has none.

use crate::domains::sources;
use crate::{Outcome, root};

/// Checks the text that the libraries' code can print.
pub(crate) fn neutral() -> Outcome {
    println!("+ neutral words");
    let mut wrong = Vec::new();
    for path in sources(&root().join("crates"))? {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
        let folders = ["examples", "benches"];
        let of_commands = [
            "crates/cli",
            "crates/matching",
            "crates/models",
            "crates/app",
            "crates/lab",
            "crates/service",
            "crates/sql",
        ];
        let of_commands = of_commands.iter().any(|folder| name.starts_with(folder));
        if of_commands || folders.iter().any(|f| name.iter().any(|n| n == *f)) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let found = of_the_program(&text).into_iter();
        wrong.extend(found.map(|line| format!("{}:{line}", name.display())));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "flags and commands of the program in libraries (crates/app/src/remedies.rs adds them):\n  {}",
        wrong.join("\n  ")
    )
    .into())
}

/// The lines, counted from one, of which text names a flag or a command.
fn of_the_program(text: &str) -> Vec<String> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = (1..).zip(code.lines().map(str::trim));
    let told = lines.filter(|(_, line)| !line.starts_with("//") && line.contains('"'));
    told.filter(|(_, line)| {
        let flag = |(at, _): (usize, &str)| {
            let before = line[..at].chars().next_back();
            let after = line[at + 2..].chars().next();
            before.is_none_or(|c| " `(\"".contains(c))
                && after.is_some_and(|c| c.is_ascii_lowercase())
        };
        line.contains("`madrigal ") || line.match_indices("--").any(flag)
    })
    .map(|(number, line)| format!("{number}: {line}"))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_programs_is_told() {
        for line in [
            "#[error(\"too late; raise --deadline\")]",
            "#[error(\"no key; run `madrigal keygen`\")]",
        ] {
            assert_eq!(of_the_program(line), [format!("1: {line}")]);
        }
        for line in [
            "/// See `--deadline`.",
            "x --y",
            "#[error(\"a -- b\")]",
            "\"a--b\"",
        ] {
            assert!(of_the_program(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn libraries_have_none() -> Outcome {
        neutral()
    }
}
