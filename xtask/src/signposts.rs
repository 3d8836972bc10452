//! The documents point to what is there.
//!
//! In every Markdown file of the root and of docs/: each relative link leads somewhere, each path in
//! backticks exists, and where a path is followed by a name in backticks (`` `path`, `Type::method` ``),
//! the file mentions that name.

use std::path::Path;

use crate::{Outcome, root};

/// A path in backticks begins with one of these, or it is no path of ours.
const FOLDERS: [&str; 8] = [
    ".ci/",
    "crates/",
    "docs/",
    "examples/",
    "fuzz/",
    "schema/",
    "tests/",
    "xtask/",
];

/// Checks all documents and names every signpost that leads nowhere.
pub(crate) fn signposts() -> Outcome {
    println!("+ signposts");
    let mut wrong = Vec::new();
    for folder in ["", "docs"] {
        for entry in std::fs::read_dir(root().join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let problems = links(&text, &root().join(folder)).into_iter();
                let problems = problems.chain(paths(&text));
                wrong.extend(problems.map(|problem| format!("{folder}/{name}: {problem}")));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("signposts that lead nowhere:\n  {}", wrong.join("\n  ")).into())
}

/// `](target)`
fn links(text: &str, folder: &Path) -> Vec<String> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    targets
        .map(|(target, _)| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.contains(':') && !target.is_empty())
        .filter(|target| !folder.join(target).exists())
        .map(|target| format!("no {target}"))
        .collect()
}

/// What stands in backticks outside of blocks of code.
fn paths(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let prose = text.split("```").step_by(2).collect::<String>();
    let parts: Vec<&str> = prose.split('`').collect();
    for (at, code) in parts.iter().enumerate().skip(1).step_by(2) {
        if !FOLDERS.iter().any(|folder| code.starts_with(folder)) {
            continue;
        }
        // `tests/` is that of the crate under discussion.
        if code.starts_with("tests/") || code.contains(['<', '*', ' ']) {
            continue;
        }
        let path = root().join(code);
        if !path.exists() {
            wrong.push(format!("no {code}"));
            continue;
        }
        let named = matches!(parts.get(at + 1), Some(&", ")).then(|| parts.get(at + 2));
        if let (Some(Some(name)), Ok(file)) = (named, std::fs::read_to_string(&path)) {
            let last = name.rsplit("::").next().unwrap_or(name);
            if !FOLDERS.iter().any(|folder| name.starts_with(folder)) && !file.contains(last) {
                wrong.push(format!("{code} does not mention {name}"));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nowhere_is_told() {
        let found = paths("`crates/kernels`, `xtask/src/main.rs`, `Outcome`, `xtask/nothing.rs`");
        assert_eq!(found, ["no xtask/nothing.rs"]);
        let found = paths("`xtask/src/main.rs`, `Thing::that_was_renamed`");
        assert_eq!(
            found,
            ["xtask/src/main.rs does not mention Thing::that_was_renamed"]
        );
        assert_eq!(
            links("[a](nowhere.md) [b](https://x.org)", &root()),
            ["no nowhere.md"]
        );
    }
}
