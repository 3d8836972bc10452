//! Whoever has built the program and then tries an example, or installs the Python package, does not build the libraries again: all ask
//! for the same features of each.

use std::collections::BTreeMap;

use crate::Outcome;
use crate::process::cargo;

/// Compares the features that the program is built with to those of the examples and of the Python package.
pub(crate) fn features() -> Outcome {
    println!("+ features of the program, of the examples and of the Python package");
    let program = packages(&["--package", "madrigal-cli", "--edges", "normal,build"])?;
    let examples = packages(&["--package", "madrigal", "--edges", "normal,build,dev"])?;
    let python = packages(&["--package", "madrigal-python", "--edges", "normal,build"])?;
    let mut apart_all = apart(&program, &examples, "examples");
    apart_all.extend(apart(&program, &python, "the Python package"));
    if apart_all.is_empty() {
        return Ok(());
    }
    Err(format!(
        "whoever builds these after the program builds the following and all above them once more:\n  {}",
        apart_all.join("\n  ")
    )
    .into())
}

/// Packages and their features, each by its name and version.
type Packages = BTreeMap<String, String>;

fn packages(of: &[&str]) -> Result<Packages, Box<dyn std::error::Error>> {
    let output = cargo()
        .args(["tree", "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p}|{f}"])
        .args(of)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let pairs = text.lines().filter_map(|line| line.split_once('|'));
    Ok(pairs
        .map(|(package, features)| (package.into(), features.into()))
        .collect())
}

fn apart(program: &Packages, others: &Packages, name: &str) -> Vec<String> {
    let both = others
        .iter()
        .filter_map(|(package, there)| Some((package, program.get(package)?, there)));
    let apart = both.filter(|(_, here, there)| here != there);
    apart
        .map(|(package, here, there)| {
            format!("{package}: [{here}] in the program, [{there}] in {name}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_examples_have_is_told() {
        let packages = |pairs: &[(&str, &str)]| -> Packages {
            let owned = pairs.iter().map(|&(a, b)| (a.into(), b.into()));
            owned.collect()
        };
        let program = packages(&[("net", "sockets"), ("ot", ""), ("png", "default")]);
        let same = packages(&[("net", "sockets"), ("tempfile", "default")]);
        assert!(apart(&program, &same, "examples").is_empty());
        let more = packages(&[("net", "sockets,test-seeds"), ("ot", "")]);
        assert_eq!(
            apart(&program, &more, "examples"),
            ["net: [sockets] in the program, [sockets,test-seeds] in examples"]
        );
    }
}
