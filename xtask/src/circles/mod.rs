//! Circles of files that use each other.
//!
//! An arrow goes from a file to each file of the same crate whose items it names: in `use`, in types, in
//! expressions, in macros and by them. A name that another module re-exports leads to the file that defines
//! it. No arrows are `mod`, code for tests, and re-exports of items from files below.
//!
//! The check reads syntax and knows no types. A call `x.f()` is an arrow only where `x` is `self`, and a trait
//! that a glob brings is one only where it is named. Names that a macro puts together are not seen.

mod arrows;
mod graph;
mod names;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use arrows::{Arrows, arrows};
use graph::{Graph, components, cycles};
use source::Source;

use crate::process::cargo;
use crate::{Outcome, root};

/// Crates without circles, which stay so.
const FINISHED: &[&str] = &[
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
    "service-client",
    "testkit",
    "service",
    "vault",
    "websocket",
    "xtask",
    "xtask-codegen",
];

/// Files that may use those right below them and be used by them, with the reason.
const ALLOWED: &[(&str, &str)] = &[];

/// Number of cycles that are told of one circle.
const TOLD: usize = 12;
/// Number of items that are told of one arrow.
const ITEMS: usize = 5;

/// Prints the circles of all crates, or of one.
pub(crate) fn circles(of: Option<&str>) -> Outcome {
    let mut lines = Vec::new();
    for target in targets(of)? {
        let found = Found::new(&target)?;
        print!("{}", found.told());
        let files: usize = found.circles.iter().map(BTreeSet::len).sum();
        lines.push(format!(
            "{:<24} {:>5} {:>8} {:>17}",
            target.name,
            found.source.files.len(),
            found.circles.len(),
            files
        ));
    }
    println!("crate                    files  circles  files in circles");
    println!("{}", lines.join("\n"));
    Ok(())
}

/// Checks the crates that have no circles.
pub(crate) fn finished() -> Outcome {
    println!("+ circles of files");
    let mut told = String::new();
    let targets = targets(None)?;
    for name in FINISHED {
        if !targets.iter().any(|target| target.package == *name) {
            return Err(format!("xtask/src/circles/mod.rs: there is no crate {name}").into());
        }
    }
    for target in targets {
        let found = Found::new(&target)?;
        let known = FINISHED.contains(&&*target.package);
        match (known, found.circles.is_empty()) {
            (true, false) => told += &found.told(),
            (false, true) => println!("xtask: {} has no circle of files", target.name),
            (false, false) => {
                let count = found.circles.len();
                println!("xtask: {} still has {count} circles of files", target.name);
            }
            (true, true) => {}
        }
    }
    if told.is_empty() {
        return Ok(());
    }
    Err(format!("files that use each other (`cargo xtask circles` tells all):\n{told}").into())
}

/// A library or a program of the workspace.
struct Target {
    package: String,
    name: String,
    /// The folder of its package, and its first file below that.
    folder: String,
    first: String,
}

fn targets(of: Option<&str>) -> Result<Vec<Target>, Box<dyn std::error::Error>> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let all: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().replace('\\', "/");
    let mut targets = Vec::new();
    for package in list(&all["packages"]) {
        let name = text(&package["name"]);
        let package_name = name.strip_prefix("madrigal-").unwrap_or(&name).to_owned();
        let manifest = text(&package["manifest_path"]);
        let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or(&manifest);
        let of_code = list(&package["targets"]).into_iter().filter(|target| {
            let kinds = list(&target["kind"]);
            let parts = ["lib", "bin", "proc-macro"];
            kinds.iter().any(|kind| parts.contains(&&*text(kind)))
        });
        for target in of_code {
            let path = text(&target["src_path"]);
            let first = path.strip_prefix(folder).unwrap_or(&path);
            let program = list(&target["kind"]).contains(&"bin".into());
            let both = program && list(&package["targets"]).len() > 1;
            targets.push(Target {
                package: package_name.clone(),
                name: match both {
                    true => format!("{package_name} ({})", text(&target["name"])),
                    false => package_name.clone(),
                },
                folder: folder.to_owned(),
                first: first.trim_start_matches('/').to_owned(),
            });
        }
    }
    targets.retain(|target| of.is_none_or(|of| of == target.package));
    if targets.is_empty() {
        return Err(format!("there is no crate {}", of.unwrap_or_default()).into());
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(targets)
}

/// A crate with its arrows and circles.
struct Found {
    name: String,
    source: Source,
    arrows: Arrows,
    graph: Graph,
    circles: Vec<BTreeSet<usize>>,
}

impl Found {
    fn new(target: &Target) -> Result<Self, Box<dyn std::error::Error>> {
        let reader = |name: &str| std::fs::read_to_string(format!("{}/{name}", target.folder)).ok();
        let source = Source::read(&target.first, &reader)
            .map_err(|error| format!("{}: {error}", target.folder))?;
        let below = root().canonicalize()?;
        let folder = std::path::Path::new(&target.folder).canonicalize()?;
        let folder = folder.strip_prefix(&below).unwrap_or(&folder);
        let allowed = |file: &str| {
            let path = folder.join(file);
            ALLOWED.iter().any(|&(allowed, _)| path.ends_with(allowed))
        };
        Ok(Self::of(&target.name, source, &allowed))
    }

    /// The circles of a crate; `allowed` says of a file whether it may be in one with those below it.
    fn of(name: &str, mut source: Source, allowed: &dyn Fn(&str) -> bool) -> Self {
        source.note_functions();
        let arrows = arrows(&source);
        let mut graph: Graph = (0..source.files.len())
            .map(|f| (f, BTreeSet::new()))
            .collect();
        for &(from, to) in arrows.keys() {
            graph.entry(from).or_default().insert(to);
        }
        let mut circles = Vec::new();
        for component in components(&graph) {
            let parent = component.iter().find(|&&parent| {
                let child =
                    |&file: &usize| file == parent || source.files[file].parent == Some(parent);
                allowed(&source.files[parent].name) && component.iter().all(child)
            });
            match parent {
                // The rest of it must do without the arrows from the file to those below it.
                Some(parent) => {
                    let mut rest = graph.clone();
                    rest.retain(|file, _| component.contains(file) && file != parent);
                    circles.extend(components(&rest));
                }
                None => circles.push(component),
            }
        }
        Self {
            name: name.to_owned(),
            source,
            arrows,
            graph,
            circles,
        }
    }

    /// The circles in words, each with its arrows.
    fn told(&self) -> String {
        let mut text = String::new();
        let name = |file: usize| {
            let name = &*self.source.files[file].name;
            name.strip_prefix("src/").unwrap_or(name)
        };
        for circle in &self.circles {
            let cycles = cycles(&self.graph, circle);
            let _ = writeln!(
                text,
                "{}: {} files in a circle, {} short ways around",
                self.name,
                circle.len(),
                cycles.len()
            );
            for cycle in cycles.iter().take(TOLD) {
                let next = cycle.iter().cycle().skip(1);
                for (&from, &to) in cycle.iter().zip(next) {
                    let _ = write!(text, "    {} -> {}:", name(from), name(to));
                    let items = &self.arrows[&(from, to)];
                    for (item, line) in items.iter().take(ITEMS) {
                        let _ = write!(text, " {item} ({line})");
                    }
                    let more = items.len().saturating_sub(ITEMS);
                    let _ = match more {
                        0 => writeln!(text),
                        _ => writeln!(text, " and {more} more"),
                    };
                }
                text.push('\n');
            }
        }
        text
    }
}
