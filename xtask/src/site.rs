//! The site: the repository's pages, the guide, the notebooks and both references, to be read without a network.

use std::fs;
use std::process::Command;

use crate::process::{cargo, run, target_folder};
use crate::python::environment;
use crate::{Outcome, root};

/// Builds the site into `target/site/html`. A link that leads nowhere, a page that no menu has, or a page that would load
/// something from elsewhere is an error.
pub(crate) fn site() -> Outcome {
    let target = target_folder();
    let pages = root().join("docs/site");
    let pinned = fs::read_to_string(pages.join("requirements.txt"))?;
    let packages: Vec<&str> = pinned
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let interpreter = environment("site/python", &packages)?;
    run(cargo()
        .args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings"))?;
    run(Command::new(&interpreter)
        .arg(pages.join("build.py"))
        .arg(target.join("site"))
        .arg(target.join("doc")))
}
