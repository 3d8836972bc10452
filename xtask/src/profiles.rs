//! Workspaces of their own that build our crates have our profile for tests, as far as it is about crates of others: what differs in
//! one line is built once more, with all that rests on it, the C code below TLS first. Our crates are built once more in any case,
//! since their folders are outside of these workspaces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;

use crate::{Outcome, root};

/// The folders of these workspaces.
const OUTSIDE: [&str; 2] = ["fuzz", "examples/own_operation"];
const PROFILE: &str = "[profile.dev]";
/// How the heading of one package's settings begins.
const OF_PACKAGE: &str = "[profile.dev.package.";
/// How the names of our crates begin.
const OURS: &str = "madrigal";

/// Compares the profiles.
pub(crate) fn profiles() -> Outcome {
    println!("+ profiles of the workspaces outside");
    let ours = profile(&read_to_string(root().join("Cargo.toml"))?);
    let mut wrong = Vec::new();
    for folder in OUTSIDE {
        let folder_of_it = root().join(folder);
        let theirs = profile(&read_to_string(folder_of_it.join("Cargo.toml"))?);
        let lock = read_to_string(folder_of_it.join("Cargo.lock"))?;
        let apart = apart(&ours, &theirs, &packages(&lock)).into_iter();
        wrong.extend(apart.map(|heading| format!("{folder}/Cargo.toml: {heading}")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these have other lines than Cargo.toml, so that tests there build anew what is built here:\n  {}",
        wrong.join("\n  ")
    )
    .into())
}

/// Lines below each heading of the profile for tests.
type Profile = BTreeMap<String, BTreeSet<String>>;

fn profile(manifest: &str) -> Profile {
    let mut profile = Profile::new();
    let mut heading = None;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            let is_of_it = line == PROFILE || line.starts_with(OF_PACKAGE);
            heading = is_of_it.then_some(line);
        }
        if let Some(heading) = heading {
            let lines = profile.entry(heading.to_owned()).or_default();
            if !line.is_empty() && !line.starts_with(['#', '[']) {
                lines.insert(line.to_owned());
            }
        }
    }
    profile
}

/// Names of the packages in a lock file.
fn packages(lock: &str) -> BTreeSet<&str> {
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = "));
    names.map(|name| name.trim_matches('"')).collect()
}

/// Headings with other lines there than here, of crates of others that are built in both.
fn apart(ours: &Profile, theirs: &Profile, packages: &BTreeSet<&str>) -> Vec<String> {
    let headings: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let built = headings.into_iter().filter(|heading| {
        let package = heading.strip_prefix(OF_PACKAGE);
        package.is_none_or(|package| {
            packages.contains(package.trim_end_matches(']')) && !package.starts_with(OURS)
        })
    });
    let apart = built.filter(|&heading| ours.get(heading) != theirs.get(heading));
    apart.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_differs_is_told() {
        let ours = profile(
            "[profile.release]\nlto = \"off\"\n[profile.dev]\n# A reason.\nopt-level = 1\nlto = \"off\"\n\
             [profile.dev.package.ot]\nopt-level = 3\n[profile.dev.package.clap]\nopt-level = 0\n[lints]\na = 1\n",
        );
        let there = "name = \"ot\"\nversion = \"1\"\nname = \"madrigal-net\"\n";
        let told = |manifest: &str| apart(&ours, &profile(manifest), &packages(there));
        let both = "[profile.dev]\nlto = \"off\"\nopt-level = 1\n[profile.dev.package.ot]\nopt-level = 3\n";
        assert!(told(both).is_empty());
        assert_eq!(told(&both.replace("lto", "# lto")), [PROFILE]);
        assert_eq!(told(&both.replace('3', "2")), ["[profile.dev.package.ot]"]);
        let (alone, _) = both.split_once("[profile.dev.package").unwrap();
        assert_eq!(told(alone), ["[profile.dev.package.ot]"]);
        let more = |package| format!("{both}[profile.dev.package.{package}]\nopt-level = 3\n");
        assert!(told(&more("core")).is_empty());
        assert!(told(&more("madrigal-net")).is_empty());
    }
}
