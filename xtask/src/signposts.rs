//! The documents point to what is there.
//!
//! In every Markdown file of the root, of docs/, of the guide and of each crate: each relative link leads somewhere, each path in
//! backticks exists, and where a path is followed by a name in backticks (`` `path`, `Type::method` ``),
//! the file mentions that name.
//!
//! And tests/main.rs of each crate leads to every file beside it and to every example with tests: what it
//! does not name is not run. Nor are tests in a library whose manifest says `test = false`.

use std::path::{Path, PathBuf};

use crate::{Outcome, root};

/// A path in backticks begins with one of these, or it is no path of ours.
const FOLDERS: [&str; 9] = [
    ".ci/",
    "crates/",
    "deploy/",
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
    let crates = std::fs::read_dir(root().join("crates"))?;
    let crates: Result<Vec<_>, _> = crates.collect();
    let crates = crates?.into_iter();
    let crates = crates.map(|entry| format!("crates/{}", entry.file_name().to_string_lossy()));
    let own = ["", "docs", "docs/guide", "examples/notebooks"].map(str::to_owned);
    for folder in own.into_iter().chain(crates) {
        for entry in std::fs::read_dir(root().join(&folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let problems = links(&text, &root().join(&folder)).into_iter();
                let problems = problems.chain(paths(&text));
                wrong.extend(problems.map(|problem| format!("{folder}/{name}: {problem}")));
            }
        }
    }
    for entry in std::fs::read_dir(root().join("crates"))? {
        wrong.extend(unlisted(&entry?.path())?);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("signposts that lead nowhere:\n  {}", wrong.join("\n  ")).into())
}

/// What tests/main.rs of a crate does not name.
fn unlisted(package: &Path) -> Result<Vec<String>, std::io::Error> {
    let main = package.join("tests/main.rs");
    let (files, list) = match main.exists() {
        true => (
            sources(&package.join("tests"))?,
            std::fs::read_to_string(&main)?,
        ),
        false => (Vec::new(), String::new()),
    };
    let manifest = std::fs::read_to_string(package.join("Cargo.toml"))?;
    let named = |module: &str| list.lines().any(|line| line == format!("mod {module};"));
    let mut wrong = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        if stem != "main" && !named(&stem) {
            wrong.push(format!("{}: no `mod {stem};`", main.display()));
        }
    }
    for file in sources(&package.join("examples"))? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let own = format!("name = \"{stem}\"\ntest = true\n");
        let tested = list.contains(&format!("\"../examples/{name}\"")) || manifest.contains(&own);
        if !tested && std::fs::read_to_string(&file)?.contains("#[test]") {
            wrong.push(format!("{}: no module for examples/{name}", main.display()));
        }
    }
    let library = manifest.split("\n[").find(|part| part.starts_with("lib]"));
    if library.is_some_and(|part| part.contains("\ntest = false")) {
        let source = package.join("src");
        // Modules of a program are tested with it.
        let program = std::fs::read_to_string(source.join("main.rs")).unwrap_or_default();
        let of_program = |file: &Path| {
            let own = file
                .strip_prefix(&source)
                .unwrap_or(file)
                .components()
                .next();
            own.is_some_and(|first| {
                let name = Path::new(first.as_os_str()).with_extension("");
                program.contains(&format!("mod {};", name.display()))
            })
        };
        for file in crate::domains::sources(&source)? {
            if of_program(&file) {
                continue;
            }
            if std::fs::read_to_string(&file)?.contains("#[cfg(test)]") {
                let file = file.display();
                wrong.push(format!(
                    "{file}: its tests are not run, since [lib] says `test = false`"
                ));
            }
        }
    }
    Ok(wrong)
}

/// The Rust files of a folder, and of each folder in it the file that stands for it.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        } else if path.join("mod.rs").exists() {
            found.push(path.with_extension("rs"));
        }
    }
    found.sort();
    Ok(found)
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
    fn a_file_of_tests_that_is_not_run_is_told() {
        let package =
            std::env::temp_dir().join(format!("madrigal-unlisted-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = package.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[package]\n");
        write(
            "tests/main.rs",
            "mod listed;\nmod common;\n// mod forgotten;\n",
        );
        for name in [
            "tests/listed.rs",
            "tests/common/mod.rs",
            "examples/untested.rs",
        ] {
            write(name, "");
        }
        assert_eq!(unlisted(&package).unwrap(), [""; 0]);
        write("tests/forgotten.rs", "#[test]");
        write("examples/tested.rs", "#[test]");
        write("src/own/tested.rs", "#[cfg(test)]");
        assert_eq!(unlisted(&package).unwrap().len(), 2);
        write("Cargo.toml", "[package]\n\n[lib]\n# None.\ntest = false\n");
        let found = unlisted(&package).unwrap();
        std::fs::remove_dir_all(&package).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[2].contains("tested.rs: its tests"), "{found:?}");
        assert!(found[0].ends_with("no `mod forgotten;`"), "{found:?}");
        assert!(found[1].ends_with("examples/tested.rs"), "{found:?}");
    }

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
