//! Files with which servers are deployed, checked by what the machine has: `deploy/` says what they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{run, shown, target_folder, works};
use crate::python::environment;
use crate::{Outcome, root};

/// The package of PyPI that has the schemas of Kubernetes' resources with it.
const VALIDATOR: [&str; 1] = ["kubernetes-validate==1.37.0"];
/// The version of Kubernetes that charts are rendered for.
const KUBERNETES: &str = "1.33.0";
/// The program that the unit starts. Where units are checked it is not installed.
const PROGRAM: &str = "/usr/local/bin/madrigal";
/// A program that is there everywhere.
const STAND_IN: &str = "/bin/true";

/// Runs the checkers that are there, and tells of those that are not. Kubernetes' schemas come from PyPI.
pub(crate) fn deploy() -> Outcome {
    let folder = target_folder().join("deploy");
    fs::create_dir_all(&folder)?;
    let mut skipped = Vec::new();
    match has("systemd-analyze") {
        true => unit(&folder)?,
        false => skipped.push("systemd-analyze (the unit)"),
    }
    let mut manifests = manifests(&root().join("deploy/kubernetes"))?;
    match has("helm") {
        true => manifests.push(chart(&folder)?),
        false => skipped.push("helm (the chart)"),
    }
    let interpreter = environment("deploy/python", &VALIDATOR)?;
    let validate = interpreter.with_file_name("kubernetes-validate");
    run(Command::new(validate)
        .args(["--strict", "--no-warn"])
        .args(&manifests))?;
    match has("hadolint") {
        true => run(Command::new("hadolint").arg(root().join("deploy/container/Containerfile")))?,
        false => skipped.push("hadolint (the image)"),
    }
    match skipped.is_empty() {
        true => println!("xtask: all that is deployed is well-formed"),
        false => println!(
            "xtask: SKIPPED what is not installed: {}",
            skipped.join(", ")
        ),
    }
    Ok(())
}

/// Whether a program is there. All of them know this word or this flag.
fn has(program: &str) -> bool {
    works(Command::new(program).arg("--version")) || works(Command::new(program).arg("version"))
}

/// Has systemd check the unit.
fn unit(folder: &Path) -> Outcome {
    let text = fs::read_to_string(root().join("deploy/systemd/madrigal.service"))?;
    let copy = folder.join("madrigal.service");
    fs::write(&copy, startable(&text)?)?;
    let mut verify = Command::new("systemd-analyze");
    verify.arg("verify").arg(&copy);
    println!("+ {}", shown(&verify));
    let told = verify.output()?;
    // A field that systemd does not know is a warning to it; other units are not ours.
    let text = String::from_utf8_lossy(&told.stderr).into_owned();
    let ours: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("madrigal.service"))
        .collect();
    match told.status.success() && ours.is_empty() {
        true => Ok(()),
        false => Err(format!("`systemd-analyze verify`: {text}").into()),
    }
}

/// The unit with a program in it that is there.
fn startable(unit: &str) -> Result<String, String> {
    let changed = unit.replace(PROGRAM, STAND_IN);
    match changed == unit {
        true => Err(format!("the unit does not start {PROGRAM}")),
        false => Ok(changed),
    }
}

/// Has Helm check the chart, and render it. Gives the file of what it makes.
fn chart(folder: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let chart = root().join("deploy/helm/madrigal");
    let values = chart.join("ci/example-values.yaml");
    run(Command::new("helm")
        .args(["lint", "--strict"])
        .arg(&chart)
        .arg("--values")
        .arg(&values))?;
    let mut template = Command::new("helm");
    template.args(["template", "north"]).arg(&chart);
    template.arg("--values").arg(&values);
    let rendered = template.args(["--kube-version", KUBERNETES]).output()?;
    if !rendered.status.success() {
        let why = String::from_utf8_lossy(&rendered.stderr).into_owned();
        return Err(format!("`helm template` failed: {why}").into());
    }
    let file = folder.join("chart.yaml");
    fs::write(&file, rendered.stdout)?;
    Ok(file)
}

/// The manifests of a folder, in order.
fn manifests(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_checked_with_a_program_that_is_there() {
        let unit = startable("ExecStart=/usr/local/bin/madrigal serve\n").unwrap();
        assert_eq!(unit, "ExecStart=/bin/true serve\n");
        assert!(startable("ExecStart=/usr/bin/madrigal serve\n").is_err());
    }

    #[test]
    fn a_server_has_time_to_end() {
        let unit = fs::read_to_string(root().join("deploy/systemd/madrigal.service")).unwrap();
        assert!(
            unit.contains("\nTimeoutStopSec=45s\n"),
            "jobs have 30 s, and the others 5 s"
        );
        let pods = root().join("deploy");
        for file in [
            "kubernetes/madrigal.yaml",
            "helm/madrigal/templates/server.yaml",
        ] {
            let text = fs::read_to_string(pods.join(file)).unwrap();
            assert!(
                text.contains("terminationGracePeriodSeconds: 45\n"),
                "{file}"
            );
            assert!(text.contains("replicas: 1\n"), "{file}");
        }
    }

    /// Names of fields of a type, as files have them.
    fn fields(source: &str, name: &str) -> Vec<String> {
        let body = source
            .split(name)
            .nth(1)
            .unwrap_or_else(|| panic!("{name}"));
        let body = body.split("\n}").next().unwrap_or_default();
        let lines = body
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with(['/', '#']));
        let lines = lines.filter_map(|line| line.split_once(": "));
        let names = lines.filter_map(|(name, _)| name.split_whitespace().last());
        names.map(|name| name.replace('_', "-")).collect()
    }

    #[test]
    fn the_guide_names_all_fields_and_meters() {
        let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
        let page = read("docs/SERVICE.md");
        let config = read("crates/service/src/config/mod.rs");
        let kinds = read("crates/service/src/config/kinds.rs");
        let clients = read("crates/service/src/config/clients.rs");
        let types = [
            "struct Text {",
            "pub struct Limits {",
            "pub struct LogConfig {",
        ];
        let types = types.map(|name| (&config, name));
        let types = types.into_iter().chain([(&clients, "struct ClientText {")]);
        let policy = read("crates/service/src/policy/file.rs");
        let of_policy = ["struct PolicyText {", "struct RuleText {"].map(|name| (&policy, name));
        let types = types.chain(of_policy);
        let of_kinds = ["struct KindText {", "struct BatchText {"].map(|name| (&kinds, name));
        let mut count = 0;
        for (source, name) in types.chain(of_kinds) {
            for field in fields(source, name) {
                let forms = ["`F`", "`batch.F`", "[F]", "[[F]]"];
                let there = forms
                    .iter()
                    .any(|form| page.contains(&form.replace('F', &field)));
                assert!(there, "{name} {field}");
                count += 1;
            }
        }
        assert!(count > 40, "{count} fields");
        let meters = ["meters", "process"]
            .map(|file| read(&format!("crates/service/src/operation/{file}.rs")));
        let calls = meters
            .iter()
            .flat_map(|text| text.split(".register").skip(1));
        let names: Vec<&str> = calls.filter_map(|call| call.split('"').nth(1)).collect();
        assert!(names.len() > 15, "{names:?}");
        let missing: Vec<&&str> = names.iter().filter(|name| !page.contains(**name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
