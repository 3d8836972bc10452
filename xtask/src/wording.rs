//! Comments name their subject: none begins with a turn that leaves its noun out.
//!
//! A reader of one line, in an editor's hint or in the middle of a file, has no sentence before it to take the noun from.
//! So a comment begins with a noun or a verb: "Number of parties.", "Opens the bits of all rows.".

use std::path::Path;

use crate::domains::sources;
use crate::{Outcome, root};

/// Crates whose comments are held to this: all.
const CRATES: [&str; 38] = [
    "app",
    "circuit",
    "cli",
    "clients",
    "core",
    "correlations",
    "correlations-make",
    "correlations-store",
    "engine",
    "garbling",
    "hycc",
    "intake",
    "kernels",
    "lab",
    "lattice",
    "lists",
    "madrigal",
    "matching",
    "models",
    "net",
    "nn",
    "noise",
    "okvs",
    "opcheck",
    "operations",
    "ot",
    "program",
    "protocols",
    "psi",
    "psi-bins",
    "psi-programs",
    "service",
    "service-client",
    "stats",
    "tables",
    "testkit",
    "vault",
    "websocket",
];

/// Files and folders whose comments are the programs' help, which the tests of the command line hold word by word.
const HELP: [&str; 11] = [
    "crates/app/src/agreed.rs",
    "crates/app/src/arguments.rs",
    "crates/app/src/flags.rs",
    "crates/app/src/ways.rs",
    "crates/app/src/show.rs",
    "crates/cli/src/args",
    "crates/cli/src/args.rs",
    "crates/lab/src/args.rs",
    "crates/models/src/args",
    "crates/matching/src/args.rs",
    "crates/matching/src/report.rs",
];

/// Turns that no comment begins with, each with what to write instead.
const BEGINNINGS: [(&str, &str); 11] = [
    (
        "The same",
        "the verb, and what differs: \"Opens the bits of all rows.\"",
    ),
    (
        "Those of ",
        "the noun, or the type of the error: \"[`Error`] of the network.\"",
    ),
    ("That of ", "the noun: \"Number of the next row.\""),
    (
        "That ",
        "the verb: \"Checks that a string has no bits past its end.\"",
    ),
    (
        "Its ",
        "the noun, and whose it is: \"Name of the peer in the roster.\"",
    ),
    ("Of ", "the noun first: \"Layer of each AND.\""),
    (
        "As [",
        "the verb: \"Receives as [`recv`] does, ..\"; of errors \"[`Error`] in the same cases as [`recv`].\"",
    ),
    (
        "What ",
        "the noun or the verb: \"Message of the system.\", \"Counts the packets.\"",
    ),
    ("Which ", "the noun: \"Name of the fact that differs.\""),
    ("Whose ", "the noun: \"Party whose key it is.\""),
    ("How many", "the noun: \"Number of parties.\""),
];

/// Turns that no comment has, each with what to write instead.
const TURNS: [(&str, &str); 5] = [
    ("so many", "the name of the number: \"`count` bits\""),
    ("one's own", "whose: \"a user's own\", \"the party's own\""),
    (
        "of which others",
        "the noun: \"products that sums are made of\"",
    ),
    ("of whatever", "\"of any\""),
    (
        "has not.",
        "\"lacks\": \"an operation that the engine lacks\"",
    ),
];

/// Checks the comments of all sources in [`CRATES`], and names each line with what to write instead.
pub(crate) fn wording() -> Outcome {
    println!("+ wording");
    let mut wrong = Vec::new();
    for name in CRATES {
        for path in sources(&root().join("crates").join(name))? {
            let name = path.strip_prefix(root()).unwrap_or(&path);
            if HELP.iter().any(|help| name.starts_with(Path::new(help))) {
                continue;
            }
            let found = without_subject(&std::fs::read_to_string(&path)?).into_iter();
            wrong.extend(found.map(|line| format!("{}:{line}", name.display())));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "comments that do not name their subject (xtask/src/wording.rs):\n  {}",
        wrong.join("\n  ")
    )
    .into())
}

/// The lines of comments, counted from one, that have one of the turns, each with what to write instead.
fn without_subject(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    // Whether the line before is a comment within a paragraph of the same kind.
    let mut within = None;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let Some((marker, said)) = comment(line) else {
            within = None;
            continue;
        };
        let begins = within != Some(marker);
        let heading = said.starts_with('#');
        within = (!said.is_empty() && !heading).then_some(marker);
        let beginning = BEGINNINGS
            .iter()
            .find(|(turn, _)| begins && said.starts_with(turn));
        let turn = TURNS.iter().find(|(turn, _)| said.contains(turn));
        wrong.extend(
            beginning
                .or(turn)
                .map(|(turn, instead)| format!("{number}: {said:?} has {turn:?}; write {instead}")),
        );
    }
    wrong
}

/// The marker of a line that is a comment alone, and its text.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let marker = ["///", "//!", "//"]
        .into_iter()
        .find(|marker| line.starts_with(marker))?;
    Some((marker, line[marker.len()..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_without_a_subject_are_told() {
        for line in [
            "/// The same, to the end.",
            "/// Those of the network.",
            "//! What an operation costs.",
            "    // Of what nothing reads.",
            "/// Whatever it is, of whatever kind.",
            "/// An operation that the engine has not.",
            "/// Makes so many zeros.",
        ] {
            let told = without_subject(line);
            assert_eq!(told.len(), 1, "{line}");
            assert!(
                told[0].starts_with("1: ") && told[0].contains("write"),
                "{told:?}"
            );
        }
        for text in [
            "/// Opens the bits of all rows.",
            "/// Counts the rows of a string; if it is\n/// Its own, none.",
            "let what = \"What is it?\"; // What a question",
            "/// Officers whom Itself knows.",
        ] {
            assert!(without_subject(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn paragraphs_and_sections_begin_anew() {
        let text = "/// Sends.\n///\n/// Of all, the first.\n///\n/// # Errors\n/// As [`send`].\nfn f() {}\n// Sends.";
        let told = without_subject(text);
        let lines: Vec<_> = told
            .iter()
            .filter_map(|line| line.split(':').next())
            .collect();
        assert_eq!(lines, ["3", "6"]);
    }

    #[test]
    fn comments_name_their_subject() -> Outcome {
        wording()
    }
}
