//! The code keeps its purposes apart by the registry alone (`crates/core/src/domains.rs`).
//!
//! In the sources of all crates, tests aside: no bytes written in place begin a hash or a derivation
//! (`update(b"...")` and its like), no other bytes begin with the project's name, and no key of AES is
//! written in place, neither as 16 bytes nor as a number.
//!
//! What has keys ([`KEYED`]) makes no generator without a number: one that may begins with a comment `// Number 0:` and
//! says why. And no digest that parties compare is cut ([`CUT`]): a key is taken from one by `first_chunk`.

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

/// Crates whose generators have secret keys, of which a session has many.
const KEYED: [&str; 11] = [
    "clients",
    "correlations-make",
    "engine",
    "garbling",
    "intake",
    "lattice",
    "net",
    "operations",
    "ot",
    "protocols",
    "service-client",
];

/// Generators without a number.
const UNNUMBERED: [&str; 3] = ["Prg::new(", ".prg(", "SeededRng::from_seed("];

/// What a line says, at most so many above, that makes a generator without a number.
const REASON: (&str, usize) = ("// Number 0:", 3);

/// Parts of digests, where parties compare them.
const CUT: [&str; 3] = ["digest[..", "digest()[..", "finalize()[.."];

/// Checks all sources and names every line that keeps something to itself.
pub(crate) fn domains() -> Outcome {
    println!("+ domains");
    let mut wrong = Vec::new();
    for folder in ["crates", "examples"] {
        for path in sources(&root().join(folder))? {
            let name = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
            if !name.ends_with(REGISTRY) {
                let text = std::fs::read_to_string(&path)?;
                let mut found = unregistered(&text);
                found.extend(unnumbered(&name, &text));
                found.extend(cut(&name, &text));
                let found = found.into_iter();
                wrong.extend(found.map(|line| format!("{}:{line}", name.display())));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "domain separators and keys that are not in {REGISTRY}, generators without a number, digests that are cut:\n  {}",
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

/// Whether a file is the code of one of these crates.
fn is_of(name: &Path, crates: &[&str]) -> bool {
    let of = |it: &str| name.starts_with(Path::new("crates").join(it).join("src"));
    crates.iter().any(|it| of(it))
}

/// A file's code, without the tests at its end, line by line.
fn lines(text: &str) -> Vec<&str> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    code.lines().map(str::trim).collect()
}

/// The lines that make a generator without a number, and say nothing of why.
fn unnumbered(name: &Path, text: &str) -> Vec<String> {
    if !is_of(name, &KEYED) {
        return Vec::new();
    }
    let lines = lines(text);
    let wrong = |(number, line): (usize, &&str)| {
        let makes = !line.starts_with("//") && UNNUMBERED.iter().any(|call| line.contains(call));
        let above = &lines[number.saturating_sub(REASON.1)..number];
        let told = above.iter().any(|line| line.starts_with(REASON.0));
        (makes && !told).then(|| format!("{}: {line}", number + 1))
    };
    lines.iter().enumerate().filter_map(wrong).collect()
}

/// The lines that take a part of a digest, where that is not only told to people, as commands do.
fn cut(name: &Path, text: &str) -> Vec<String> {
    if is_of(name, &["cli", "models"]) {
        return Vec::new();
    }
    let lines = lines(text);
    let wrong = |(number, line): (usize, &&str)| {
        // All of it, `[..]`, is no part.
        let part = |part: &str| line.split(part).skip(1).any(|rest| !rest.starts_with(']'));
        let cuts = !line.starts_with("//") && CUT.iter().any(|it| part(it));
        cuts.then(|| format!("{}: {line}", number + 1))
    };
    lines.iter().enumerate().filter_map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_without_a_number_and_parts_of_digests_are_told() {
        let name = Path::new("crates/ot/src/new.rs");
        let code = "fn f() {\n    let prg = Prg::new(key);\n}\n";
        assert_eq!(unnumbered(name, code).len(), 1);
        assert!(unnumbered(Path::new("crates/circuit/src/new.rs"), code).is_empty());
        let told = "fn f() {\n    // Number 0: it is public.\n    let prg = Prg::new(key);\n}\n";
        assert!(unnumbered(name, told).is_empty());
        let test = "\n#[cfg(test)]\nmod tests {\n    fn f() { Prg::new(key); }\n}\n";
        assert!(unnumbered(name, test).is_empty());
        for line in [
            "hex(&self.chain.digest()[..16])",
            "self.digest[..8]",
            "hash.finalize()[..16]",
        ] {
            assert_eq!(cut(name, line).len(), 1, "{line}");
        }
        assert!(cut(name, "// digest[..16]\nlet key = digest.first_chunk();").is_empty());
        assert!(cut(name, "key(&digest[..])").is_empty());
    }

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
