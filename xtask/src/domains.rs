//! The code keeps its purposes apart by the registry alone (`crates/core/src/domains.rs`).
//!
//! In the sources of all crates, tests aside: no bytes written in place begin a hash or a derivation
//! (`update(b"...")` and its like), no other bytes begin with the project's name, and no key of AES is
//! written in place, neither as 16 bytes nor as a number.

use std::path::{Path, PathBuf};

use crate::{Outcome, root};

/// Where the separators stand.
const REGISTRY: &str = "crates/core/src/domains.rs";

/// Calls that must not be given bytes written in place.
const CALLS: [&str; 12] = [
    "update(b\"",
    "update(*b\"",
    "update(&b\"",
    "update([0x",
    "new_with_prefix(b\"",
    "digest(b\"",
    "expand(&[b\"",
    "aes128(Block::new(0",
    "Aes128::new(Block::new(0",
    "row_hash(Block::new(0",
    "RowHash::new(Block::new(0",
    "Block::from_bytes(*b\"",
];

/// Checks all sources and names every line that keeps something to itself.
pub(crate) fn domains() -> Outcome {
    println!("+ domains");
    let mut wrong = Vec::new();
    for folder in ["crates", "examples"] {
        for path in sources(&root().join(folder))? {
            let name = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
            if !name.ends_with(REGISTRY) {
                let text = std::fs::read_to_string(&path)?;
                let found = unregistered(&text).into_iter();
                wrong.extend(found.map(|line| format!("{}:{line}", name.display())));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "domain separators and keys that are not in {REGISTRY}:\n  {}",
        wrong.join("\n  ")
    )
    .into())
}

/// The Rust files below `src` folders.
pub(crate) fn sources(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "tests" && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "tests.rs"
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The lines, counted from one, that should name an entry of the registry.
fn unregistered(text: &str) -> Vec<String> {
    // A file's tests stand at its end.
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut wrong = Vec::new();
    let mut array: Option<usize> = None;
    for (number, line) in (1..).zip(code.lines()) {
        let line = line.trim();
        if line.starts_with("//") {
            continue;
        }
        let lower = line.to_lowercase();
        let named = lower.contains("b\"madrigal");
        if named || CALLS.iter().any(|call| line.contains(call)) {
            wrong.push(format!("{number}: {line}"));
        }
        // A constant of 16 bytes in hexadecimal digits is a key, whoever calls it what.
        if line.contains("[u8; 16] = [") {
            array = Some(number);
        }
        if let Some(start) = array {
            if line.contains("0x") {
                wrong.push(format!("{start}: 16 bytes written in place"));
                array = None;
            } else if line.contains(']') && start != number {
                array = None;
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_registered_is_told() {
        for line in [
            "hash.update(b\"a domain\");",
            "let hash = Sha256::new_with_prefix(b\"another\");",
            "const TAG: &[u8; 10] = b\"madrigal x\";",
            "let magic = *b\"MADRIGAL\";",
            "const KEY: [u8; 16] = [\n    0x24, 0x3f,\n];",
            "let pi = kernels.aes128(Block::new(0x1234, 0));",
        ] {
            let text = format!("fn before() {{}}\n{line}\n");
            let found = unregistered(&text);
            assert!(
                matches!(&found[..], [one] if one.starts_with("2:")),
                "{line}: {found:?}"
            );
        }
        for line in [
            "hash.update(domains::ROSTER);",
            "// hash.update(b\"a domain\");",
            "stream.write(b\"P\");",
            "let bytes: [u8; 16] = [0; 16];",
            "#[cfg(test)]\nmod tests {\n    const TAG: &[u8] = b\"madrigal x\";",
        ] {
            assert!(unregistered(&format!("\n{line}\n")).is_empty(), "{line}");
        }
    }

    #[test]
    fn the_code_keeps_nothing_to_itself() -> Outcome {
        domains()
    }
}
