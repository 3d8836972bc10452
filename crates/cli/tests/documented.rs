//! Compares JSON with the names of fields in `docs/STATISTICS.md`. The tests of madrigal-lab have this module too.

use std::collections::BTreeSet;

use serde_json::Value;

type Names = BTreeSet<String>;

/// The names in the first column of all tables of these sections.
fn documented(sections: &[&str]) -> Names {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/STATISTICS.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut names = Names::new();
    for section in sections {
        let (_, rest) = text
            .split_once(&format!("\n## {section}\n"))
            .unwrap_or_else(|| panic!("no section `{section}`"));
        let rows = rest
            .split("\n## ")
            .next()
            .unwrap()
            .lines()
            .filter_map(|line| line.strip_prefix('|')?.split('|').next());
        for quoted in rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
            // `parties[i].setup` names two; `.online` one.
            let parts = quoted.split('.').filter(|part| !part.is_empty());
            names.extend(parts.map(|part| part.trim_end_matches("[i]").to_owned()));
        }
    }
    names
}

fn names(value: &Value, into: &mut Names) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                into.insert(name.clone());
                names(value, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, into)),
        _ => {}
    }
}

/// Checks that these sections name the fields of one value or several, one after the other, and no others.
pub fn check(sections: &[&str], told: &str) {
    let mut printed = Names::new();
    for value in serde_json::Deserializer::from_str(told).into_iter() {
        names(&value.expect("JSON"), &mut printed);
    }
    assert_eq!(printed, documented(sections), "{sections:?}");
}
