//! Types of other crates that the library's interface shows: a new version of such a crate is a new version of ours.
//! `external-types.toml` lists them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::process::{cargo, run, target_folder};
use crate::{Outcome, root};

const LIST: &str = "external-types.toml";
/// The crates that the facade consists of.
const CRATES: [&str; 9] = [
    "madrigal-core",
    "madrigal-circuit",
    "madrigal-net",
    "madrigal-correlations",
    "madrigal-engine",
    "madrigal-program",
    "madrigal-hycc",
    "madrigal-nn",
    "madrigal-app",
];
/// Rust's own.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

/// Compares the list with what rustdoc finds.
pub(crate) fn external() -> Outcome {
    let mut found = BTreeMap::new();
    for package in CRATES {
        // rustdoc writes JSON on nightly Rust only, or where this variable makes it believe in it.
        run(cargo()
            .args(["rustdoc", "--quiet", "--lib", "--package", package])
            .args(["--", "-Zunstable-options", "--output-format", "json"])
            .env("RUSTC_BOOTSTRAP", "1"))?;
        let file = format!("doc/{}.json", package.replace('-', "_"));
        let text = std::fs::read_to_string(target_folder().join(file))?;
        for (name, place) in types(&serde_json::from_str(&text)?) {
            found.entry(name).or_insert(format!("{package}: {place}"));
        }
    }
    let listed = listed(&std::fs::read_to_string(root().join(LIST))?);
    let mut wrong = Vec::new();
    for (name, place) in &found {
        if !listed.contains(name) {
            wrong.push(format!("{name} is shown and not listed ({place})"));
        }
    }
    for name in &listed {
        if !found.contains_key(name) {
            wrong.push(format!("{name} is listed and not shown"));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{LIST}:\n  {}", wrong.join("\n  ")).into()),
    }
}

/// The strings of the list.
fn listed(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim).filter_map(|line| {
        let quoted = line.strip_prefix('"')?;
        Some(quoted.split_once('"')?.0.to_owned())
    });
    lines.collect()
}

/// The types and traits of other crates in what rustdoc says of one, each with an item that shows it.
fn types(documented: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let items = documented["index"].as_object().into_iter().flatten();
    for (_, item) in items {
        let of = &item["inner"]["impl"];
        // What all types have follows from no line of ours.
        let given = !of["blanket_impl"].is_null() || of["is_synthetic"] == true;
        if item["crate_id"] != 0 || given {
            continue;
        }
        let mut ids = BTreeSet::new();
        paths(&item["inner"], &mut ids);
        for id in ids {
            let path = &documented["paths"][id.to_string()];
            let of = &documented["external_crates"][path["crate_id"].to_string()]["name"];
            let Some(of) = of.as_str() else { continue };
            if STANDARD.contains(&of) || of.starts_with("madrigal") {
                continue;
            }
            let parts = path["path"].as_array().into_iter().flatten();
            let parts: Vec<&str> = parts.filter_map(Value::as_str).collect();
            let line = &item["span"]["begin"][0];
            let place = item["span"]["filename"].as_str().unwrap_or("?");
            found.insert(parts.join("::"), format!("{place}:{line}"));
        }
    }
    found
}

/// All paths to types and traits in a value.
fn paths(value: &Value, into: &mut BTreeSet<u64>) {
    match value {
        Value::Object(fields) => {
            if let (Some(id), true) = (
                fields.get("id").and_then(Value::as_u64),
                fields.contains_key("path"),
            ) {
                into.insert(id);
            }
            fields.values().for_each(|value| paths(value, into));
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_another_crate_is_found() {
        let path = |id: u64| serde_json::json!({"resolved_path": {"id": id, "path": "X"}});
        let documented = serde_json::json!({
            "index": {
                "1": {"crate_id": 0, "span": {"filename": "a.rs", "begin": [3, 1]},
                      "inner": {"struct_field": path(7)}},
                "2": {"crate_id": 0, "inner": {"impl": {"blanket_impl": path(8), "for": path(8)}}},
                "3": {"crate_id": 0, "inner": {"struct_field": path(9)}},
            },
            "paths": {
                "7": {"crate_id": 20, "path": ["bytes", "Bytes"]},
                "8": {"crate_id": 20, "path": ["bytes", "Buf"]},
                "9": {"crate_id": 1, "path": ["std", "String"]},
            },
            "external_crates": {"1": {"name": "std"}, "20": {"name": "bytes"}},
        });
        let found = types(&documented);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["bytes::Bytes"]);
        assert_eq!(found["bytes::Bytes"], "a.rs:3");
    }

    #[test]
    fn the_list_is_read() {
        let list = "# why\nallowed_external_types = [\n  \"a::B\", # because\n]\n";
        assert_eq!(listed(list), BTreeSet::from(["a::B".to_owned()]));
    }
}
