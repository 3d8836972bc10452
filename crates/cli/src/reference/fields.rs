//! Tables of the fields of JSON, from the types that are printed: their names, types and comments as they stand in the
//! source. It reads no more of Rust than these types use, and refuses the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::regions;

/// Where types are looked for.
const FOLDERS: [&str; 5] = [
    "crates/cli/src",
    "crates/matching/src",
    "crates/models/src",
    "crates/app/src",
    "crates/stats/src",
];

/// A type by the file and the name of its definition.
type Key = (String, String);

/// The sources, and which types have a table of their own on the page.
pub struct Types {
    sources: BTreeMap<String, String>,
    /// The heading above each.
    tables: BTreeMap<Key, String>,
}

/// A field as it is printed.
struct Field {
    name: String,
    of: String,
    /// Comment of the field.
    meaning: String,
    flat: bool,
    may_miss: bool,
}

impl Types {
    /// The sources below `root`; `page` has the regions that tables belong to, named `FILE TYPE`.
    pub fn read(root: &Path, page: &str) -> Self {
        let mut sources = BTreeMap::new();
        for folder in FOLDERS {
            gather(root, &root.join(folder), &mut sources);
        }
        let mut tables = BTreeMap::new();
        let mut heading = "";
        for line in page.lines() {
            if line.starts_with('#') {
                heading = line.trim_start_matches('#').trim();
            } else if let Some((file, name)) = regions::begins(line).and_then(key) {
                tables.insert((file, name), heading.to_owned());
            }
        }
        Self { sources, tables }
    }

    /// The table of a region.
    pub fn table(&self, region: &str) -> String {
        let key = key(region).unwrap_or_else(|| panic!("{region:?} is not `FILE TYPE`"));
        let mut rows = String::from("| field | type | meaning |\n|---|---|---|\n");
        self.rows(&key, "", &mut rows);
        rows
    }

    fn rows(&self, key: &Key, above: &str, rows: &mut String) {
        for field in self.fields(key) {
            let path = format!("{above}{}", field.name);
            let (kind, many, inner) = kind(&field.of);
            let of = self.definition(&inner, &key.0);
            if field.flat {
                let of = of.unwrap_or_else(|| panic!("{path} is flattened, and no struct"));
                self.rows(&of, above, rows);
                continue;
            }
            let meaning = match field.meaning.trim_end_matches('.') {
                "" => panic!("{key:?}: the field {path} has no comment"),
                meaning => meaning,
            };
            let kind = if field.may_miss {
                format!("{kind}, or absent")
            } else {
                kind
            };
            let many = if many { "[i]" } else { "" };
            let see = of.as_ref().and_then(|of| self.tables.get(of));
            let see = see.map(|heading| format!("; see [{}](#{})", heading, anchor(heading)));
            *rows += &format!(
                "| `{path}{many}` | {kind} | {meaning}{} |\n",
                see.as_deref().unwrap_or("")
            );
            if let (Some(of), None) = (of, see) {
                self.rows(&of, &format!("{path}{many}."), rows);
            }
        }
    }

    /// Where a type is defined that a file names; none if it is printed as a text or a number.
    fn definition(&self, name: &str, file: &str) -> Option<Key> {
        if !name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == ':')
        {
            return None;
        }
        let name = name.rsplit("::").next().unwrap_or(name);
        let defines = |text: &str| {
            text.lines().any(|line| {
                let line = line.trim_start_matches("pub").trim_start_matches("(crate)");
                let line = line.trim_start_matches("(super)").trim_start();
                line == format!("struct {name} {{")
            })
        };
        let is_text = |key: &Key| self.attributes(key).contains("transparent");
        let own = (file.to_owned(), name.to_owned());
        if defines(&self.sources[file]) {
            return (!is_text(&own)).then_some(own);
        }
        let found = self.sources.iter().filter(|(_, text)| defines(text));
        let mut others: Vec<&String> = found.map(|(file, _)| file).collect();
        if others.len() > 1 {
            let uses = &self.sources[file];
            let named = |other: &&String| {
                let module = other.trim_end_matches("/mod.rs").trim_end_matches(".rs");
                let module = module.rsplit('/').next().unwrap_or(module);
                uses.split(';').any(|one| {
                    let one = one.trim_start();
                    one.contains("use ")
                        && one.contains(&format!("{module}::"))
                        && one
                            .split(|c: char| !c.is_alphanumeric())
                            .any(|word| word == name)
                })
            };
            others.retain(named);
        }
        match others[..] {
            [] => None,
            [one] => {
                let key = (one.clone(), name.to_owned());
                (!is_text(&key)).then_some(key)
            }
            _ => panic!("{file}: several types are named {name}: {others:?}"),
        }
    }

    /// The lines with attributes above a type.
    fn attributes(&self, (file, name): &Key) -> String {
        let text = &self.sources[file];
        let end = text
            .find(&format!("struct {name} {{"))
            .expect("a definition");
        let above = &text[..end];
        let start = above.rfind("\n\n").unwrap_or(0);
        above[start..].to_owned()
    }

    fn fields(&self, key: &Key) -> Vec<Field> {
        let (file, name) = key;
        let text = self.sources.get(file);
        let text = text.unwrap_or_else(|| panic!("there is no {file}"));
        let (_, body) = text
            .split_once(&format!("struct {name} {{\n"))
            .unwrap_or_else(|| panic!("{file} has no struct {name}"));
        let (body, _) = body.split_once("\n}").expect("its end");
        assert!(
            self.attributes(key).contains("Serialize"),
            "{key:?} is not printed"
        );
        let mut fields = Vec::new();
        let (mut meaning, mut serde) = (Vec::new(), String::new());
        for line in body.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix("///") {
                meaning.push(comment.trim());
            } else if let Some(attribute) = line.strip_prefix("#[serde(") {
                serde += attribute;
            } else if !line.is_empty() && !line.starts_with("//") {
                let line = line.trim_end_matches(',');
                let (name, of) = line.split_once(": ").expect("a field on one line");
                let name = name.rsplit(' ').next().unwrap_or(name);
                let known = [
                    "skip)]",
                    "flatten)]",
                    "skip_serializing_if = \"Option::is_none\")]",
                    "",
                ];
                assert!(
                    known.contains(&&*serde),
                    "{key:?}: an attribute that is not known: {serde}"
                );
                if serde != "skip)]" {
                    fields.push(Field {
                        name: name.to_owned(),
                        of: of.to_owned(),
                        meaning: meaning.join(" "),
                        flat: serde == "flatten)]",
                        may_miss: serde.starts_with("skip_serializing_if"),
                    });
                }
                meaning.clear();
                serde.clear();
            }
        }
        fields
    }
}

fn key(region: &str) -> Option<Key> {
    let (file, name) = region.split_once(' ')?;
    file.ends_with(".rs")
        .then(|| (file.to_owned(), name.to_owned()))
}

fn gather(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(root, &path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.strip_prefix(root).expect("below the root");
            let name = name.to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&path).expect("a source");
            // Texts that are borrowed are printed as others are; a name that is a word of Rust's is written so.
            let text = text.replace("<'a> {", " {").replace("&'a str", "String");
            into.insert(name, text.replace("r#", ""));
        }
    }
}

/// A type in words, whether it is a list, and what it is, or is a list, of.
fn kind(of: &str) -> (String, bool, String) {
    let inner = |outer: &str| of.strip_prefix(outer)?.strip_suffix('>');
    if let Some(inner) = inner("Option<") {
        let (words, many, inner) = kind(inner);
        return (format!("{words}, or `null`"), many, inner);
    }
    if let Some(inner) = inner("Vec<") {
        let (words, _, inner) = kind(inner);
        return (format!("list: {words}"), true, inner);
    }
    let words = match of {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "integer",
        "f64" => "number",
        "bool" => "true or false",
        "String" | "&'static str" | "PathBuf" | "TransportArg" | "Problem" => "text",
        "[u32; 2]" => "two integers",
        "NumberOrText" => "number or text",
        _ => "object",
    };
    (words.to_owned(), false, of.to_owned())
}

/// Gives the name that GitHub's links have for a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.to_lowercase().replace(' ', "-");
    let keeps = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    heading.chars().filter(keeps).collect()
}

#[test]
fn types_are_told_in_words() {
    let told = |of| kind(of).0;
    assert_eq!(told("Option<u64>"), "integer, or `null`");
    assert_eq!(told("Vec<Option<Party>>"), "list: object, or `null`");
    assert_eq!(
        anchor("`madrigal run --hycc --json`"),
        "madrigal-run---hycc---json"
    );
}
