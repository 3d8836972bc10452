//! What everybody knows of a table, as a file of TOML.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Read as _;
use std::path::Path;

use madrigal_program::Holder;
use madrigal_tables::{Column, Kind, Number, Right, Table, Unit};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::FileError;
use super::noise::Noise;
use super::values;

/// Bytes of the longest file of a schema: choices are long.
const FILE: u64 = 16 << 20;
/// The most rows and columns, bytes of a text, texts to choose from, and bytes of a name.
const ROWS: u64 = 1 << 31;
const COLUMNS: usize = 4096;
const TEXT: usize = 1 << 16;
pub(super) const CHOICES: usize = 1 << 16;
const NAME: usize = 256;
/// Bytes of a table: more fits no machine, and declares a mistake.
const TABLE: u128 = 1 << 42;

/// Number of rows that everybody learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCount {
    /// As many as there are.
    Exactly(usize),
    /// A bound; how many there are is a secret.
    AtMost(usize),
    /// A bound that is the number of rows and noise.
    Hidden(usize, Noise),
}

impl RowCount {
    /// The number, or the bound.
    pub const fn rows(self) -> usize {
        match self {
            Self::Exactly(rows) | Self::AtMost(rows) | Self::Hidden(rows, _) => rows,
        }
    }

    /// `rows` rows hidden by noise, drawn of fair words that `random` gives.
    ///
    /// # Errors
    /// Errors of `random`, as they come.
    pub fn hidden<E>(
        rows: usize,
        noise: Noise,
        random: impl FnMut() -> Result<u64, E>,
    ) -> Result<Self, E> {
        let more = noise.draw(random)?;
        let more = usize::try_from(more).unwrap_or(usize::MAX);
        Ok(Self::Hidden(rows.saturating_add(more), noise))
    }
}

/// What everybody knows of a table, and what may be told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Name of the table in queries.
    pub name: String,
    /// Number of rows.
    pub rows: RowCount,
    /// Columns in which no two rows are equal, for each key.
    pub unique: Vec<Vec<String>>,
    /// Groups of fewer rows are not told.
    pub least_group: usize,
    /// The columns, in their order.
    pub columns: Vec<Column>,
}

/// A schema as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    rows: Option<u64>,
    at_most: Option<u64>,
    noise: Option<WrittenNoise>,
    #[serde(default)]
    unique: Vec<Key>,
    least_group: Option<u64>,
    columns: BTreeMap<Spanned<String>, WrittenColumn>,
}

/// Noise as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenNoise {
    epsilon: f64,
    delta: f64,
    each: Option<u64>,
}

/// The columns of a key.
struct Key(Vec<String>);

/// A column as it is written: a kind alone, or a table of all that is said of it.
struct WrittenColumn {
    kind: Kind,
    nullable: bool,
    right: Right,
}

/// A kind as it is written.
struct WrittenKind(Kind);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullColumn {
    kind: WrittenKind,
    #[serde(default)]
    nullable: bool,
    #[serde(default)]
    right: Right,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the names of a key's columns, as in unique = [[\"id\"], [\"order\", \"line\"]]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Key, A::Error> {
                let mut key = Vec::new();
                while let Some(name) = names.next_element()? {
                    key.push(name);
                }
                match key.is_empty() {
                    true => Err(A::Error::custom("a key without columns: name one at least")),
                    false => Ok(Key(key)),
                }
            }
        }
        from.deserialize_any(Names)
    }
}

struct KindOrColumn;

impl<'de> Visitor<'de> for KindOrColumn {
    type Value = WrittenColumn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a kind, as in \"integer(0..=120)\", a list of texts to choose from, or { kind = ..., nullable = true, right = \"group\" }",
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WrittenColumn, E> {
        parse_kind(text).map(WrittenColumn::of).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<WrittenColumn, A::Error> {
        choice(texts).map(WrittenColumn::of)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenColumn, A::Error> {
        let full = FullColumn::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WrittenColumn {
            kind: full.kind.0,
            nullable: full.nullable,
            right: full.right,
        })
    }
}

impl WrittenColumn {
    fn of(kind: Kind) -> Self {
        Self {
            kind,
            nullable: false,
            right: Right::default(),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenColumn {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(KindOrColumn)
    }
}

impl<'de> Deserialize<'de> for WrittenKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct KindAlone;
        impl<'de> Visitor<'de> for KindAlone {
            type Value = WrittenKind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a kind, as in \"integer(0..=120)\", or a list of texts to choose from")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WrittenKind, E> {
                parse_kind(text).map(WrittenKind).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<WrittenKind, A::Error> {
                choice(texts).map(WrittenKind)
            }
        }
        from.deserialize_any(KindAlone)
    }
}

fn choice<'de, A: SeqAccess<'de>>(mut texts: A) -> Result<Kind, A::Error> {
    let mut all: Vec<String> = Vec::new();
    while let Some(text) = texts.next_element()? {
        if all.len() == CHOICES {
            return Err(A::Error::custom(format!(
                "more than {CHOICES} texts to choose from: declare the column as text"
            )));
        }
        all.push(text);
    }
    let count = all.len();
    let kind = Kind::choice(all);
    match &kind {
        Kind::Choice(texts) if texts.is_empty() => Err(A::Error::custom(
            "no texts to choose from: list one at least",
        )),
        Kind::Choice(texts) if texts.len() < count => Err(A::Error::custom(
            "a text that is listed twice: list each once",
        )),
        _ => Ok(kind),
    }
}

impl Schema {
    /// Reads a schema's text.
    ///
    /// # Errors
    /// A text that says where it is wrong, and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: Written =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let noise = match written.noise {
            None => None,
            Some(noise) => {
                let read = Noise::new(noise.epsilon, noise.delta, noise.each.unwrap_or(1));
                Some(read.map_err(|problem| format!("noise: {problem}"))?)
            }
        };
        let rows = match (written.rows, written.at_most, noise) {
            (Some(rows), None, None) => RowCount::Exactly(bounded(rows)?),
            (None, Some(rows), None) => RowCount::AtMost(bounded(rows)?),
            (None, Some(rows), Some(noise)) => RowCount::Hidden(bounded(rows)?, noise),
            (Some(_), None, Some(_)) => {
                return Err("noise says how at_most hides the number of rows, and rows tells it: write at_most, or leave out noise".into());
            }
            _ => {
                return Err("say how many rows everybody may know of: either rows = 1200, or at_most = 2000 to keep the number a secret".into());
            }
        };
        // Keys come in the order of their names, and tables have their columns in the order of the file.
        let mut columns: Vec<_> = written.columns.into_iter().collect();
        columns.sort_by_key(|(name, _)| name.span().start);
        let columns = columns.into_iter().map(|(name, column)| Column {
            name: name.into_inner(),
            kind: column.kind,
            nullable: column.nullable,
            right: column.right,
        });
        let schema = Self {
            name: written.name,
            rows,
            unique: written.unique.into_iter().map(|key| key.0).collect(),
            least_group: match written.least_group {
                None => 1,
                Some(0) => return Err("least_group = 0: write 1 or more, or leave it out".into()),
                Some(rows) => bounded(rows)?,
            },
            columns: columns.collect(),
        };
        schema.check()?;
        Ok(schema)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`]: a file that cannot be read, or is wrong.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let wrong = |problem: String| FileError::Schema {
            path: path.to_owned(),
            problem,
        };
        let file = std::fs::File::open(path).map_err(FileError::read(path))?;
        let mut bytes = Vec::new();
        let read = file.take(FILE + 1).read_to_end(&mut bytes);
        read.map_err(FileError::read(path))?;
        if bytes.len() as u64 > FILE {
            return Err(wrong(format!(
                "more than {} MiB: a schema describes columns, and has no rows",
                FILE >> 20
            )));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("no text in UTF-8".into()))?;
        Self::parse(&text).map_err(wrong)
    }

    /// Checks names and lengths.
    fn check(&self) -> Result<(), String> {
        let named = |what: &str, name: &str| match name {
            "" => Err(format!("{what} without a name: give it one")),
            name if name.len() > NAME => {
                Err(format!("{what} with a name of more than {NAME} bytes"))
            }
            name if name.chars().any(char::is_control) => Err(format!(
                "{what} {name:?} with characters in its name that cannot be shown: leave them out"
            )),
            _ => Ok(()),
        };
        named("a table", &self.name)?;
        if self.columns.is_empty() {
            return Err("no columns: list one at least below [columns]".into());
        }
        if self.columns.len() > COLUMNS {
            return Err(format!("more than {COLUMNS} columns: leave out some"));
        }
        let mut bytes = 0_u128;
        for column in &self.columns {
            named("a column", &column.name)?;
            let elements = column.kind.elements();
            bytes += elements
                .iter()
                .map(|element| u128::from(element.bits().div_ceil(8)))
                .sum::<u128>();
            bytes += u128::from(column.nullable);
        }
        let rows = self.rows.rows();
        if bytes * rows as u128 > TABLE {
            return Err(format!(
                "{rows} rows of {bytes} bytes are too much: declare fewer rows, or shorter texts"
            ));
        }
        for name in self.unique.iter().flatten() {
            match self.columns.iter().find(|column| column.name == *name) {
                None => {
                    return Err(format!(
                        "unique names {name:?}, and there is no such column: correct the name"
                    ));
                }
                Some(column) if column.nullable => {
                    return Err(format!(
                        "unique names {name:?}, whose values may be missing: leave out nullable, or the key"
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The table of an owner.
    pub fn table(&self, owner: impl Into<Holder>) -> Table {
        let mut table = Table::new(&self.name, owner, self.rows.rows(), self.columns.clone())
            .with_least_group(self.least_group);
        if !matches!(self.rows, RowCount::Exactly(_)) {
            table = table.padded();
        }
        for key in &self.unique {
            let key: Vec<&str> = key.iter().map(String::as_str).collect();
            table = table.unique(&key);
        }
        table
    }

    /// The schema as [`parse`](Self::parse) reads it.
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = {}\n", quoted(&self.name));
        let _ = match self.rows {
            RowCount::Exactly(rows) => writeln!(text, "rows = {rows}"),
            RowCount::AtMost(rows) => writeln!(text, "at_most = {rows}"),
            RowCount::Hidden(rows, noise) => {
                writeln!(text, "at_most = {rows}\nnoise = {{ {noise} }}")
            }
        };
        if !self.unique.is_empty() {
            let keys = self.unique.iter().map(|key| list(key));
            let _ = writeln!(text, "unique = [{}]", keys.collect::<Vec<_>>().join(", "));
        }
        if self.least_group > 1 {
            let _ = writeln!(text, "least_group = {}", self.least_group);
        }
        text.push_str("\n[columns]\n");
        for column in &self.columns {
            let _ = writeln!(text, "{}", column_line(column));
        }
        text
    }
}

fn bounded(rows: u64) -> Result<usize, String> {
    match rows <= ROWS {
        true => usize::try_from(rows).map_err(|error| error.to_string()),
        false => Err(format!("{rows} rows: a table has {ROWS} at most")),
    }
}

/// A column with all that is said of it.
fn column_line(column: &Column) -> String {
    let is_bare = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let name = match is_bare(&column.name) {
        true => column.name.clone(),
        false => quoted(&column.name),
    };
    let kind = kind_text(&column.kind);
    let mut more = String::new();
    if column.nullable {
        more.push_str(", nullable = true");
    }
    let right = match column.right {
        Right::Never => Some("never"),
        Right::JoinKey => Some("join_key"),
        Right::Aggregate => Some("aggregate"),
        Right::Group => Some("group"),
        Right::Shown => None,
    };
    if let Some(right) = right {
        let _ = write!(more, ", right = \"{right}\"");
    }
    match more.is_empty() {
        true => format!("{name} = {kind}"),
        false => format!("{name} = {{ kind = {kind}{more} }}"),
    }
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", character as u32);
            }
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// Names of types of Rust, with the kinds of their numbers.
const TYPES: [(&str, i128, i128); 8] = [
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
];

/// Kinds as an error lists them.
const KINDS: &str = "write bool, integer(0..=120), i32, decimal(12, 2), decimal(0.00..=99.95), date, date(2000-01-01..=2030-12-31), time, text(20), text(20, ascii), or a list of texts to choose from";

/// Reads a kind.
fn parse_kind(text: &str) -> Result<Kind, String> {
    let text = text.trim();
    let unknown = || format!("{text:?} is no kind: {KINDS}");
    let (name, inner) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')').ok_or_else(unknown)?;
            (name.trim(), Some(inner.trim()))
        }
    };
    match (name, inner) {
        ("bool", None) => Ok(Kind::Bool),
        ("date", None) => Ok(Kind::date()),
        ("time", None) => Ok(Kind::time()),
        (_, None) => {
            let found = TYPES.iter().find(|one| one.0 == name);
            let (_, least, greatest) = found.ok_or_else(unknown)?;
            Ok(Kind::integer(*least, *greatest))
        }
        ("integer", Some(range)) => parse_range(range, Some(Unit::One)),
        ("date", Some(range)) => parse_range(range, Some(Unit::Day)),
        ("time", Some(range)) => parse_range(range, Some(Unit::Microsecond)),
        ("decimal", Some(range)) if range.contains("..") => parse_range(range, None),
        ("decimal", Some(inner)) => {
            let digits = inner.split_once(',').and_then(|(all, after)| {
                let all: u32 = all.trim().parse().ok()?;
                let after: u8 = after.trim().parse().ok()?;
                ((1..=38).contains(&all) && u32::from(after) <= all).then_some((all, after))
            });
            let (all, after) = digits.ok_or_else(|| {
                format!("{text:?}: write the number of digits, 38 at most, and how many of them are after the point, as in decimal(12, 2)")
            })?;
            Ok(Kind::decimal(all, after))
        }
        ("text", Some(inner)) => {
            let (bytes, ascii) = match inner.split_once(',') {
                None => (inner, false),
                Some((bytes, ascii)) if ascii.trim() == "ascii" => (bytes.trim(), true),
                Some(_) => return Err(unknown()),
            };
            let bytes = bytes
                .parse()
                .ok()
                .filter(|bytes| (1..=TEXT).contains(bytes));
            let bytes = bytes.ok_or_else(|| {
                format!("{text:?}: write the greatest number of bytes, 1 to {TEXT}, as in text(20)")
            })?;
            Ok(Kind::Text { bytes, ascii })
        }
        _ => Err(unknown()),
    }
}

/// Reads a range in a unit, or in that of decimals with as many digits as its ends have.
fn parse_range(range: &str, unit: Option<Unit>) -> Result<Kind, String> {
    let wrong = |problem: String| format!("range {range:?}: {problem}");
    let (least, greatest) = range
        .split_once("..=")
        .ok_or_else(|| wrong("write both ends, which belong to it, as in 0..=120".into()))?;
    let (least, greatest) = (least.trim(), greatest.trim());
    let unit = match unit {
        Some(unit) => unit,
        None => {
            let digits = |text| values::written(text).map(|one| one.digits);
            match (digits(least), digits(greatest)) {
                (Some(one), Some(other)) if one == other && one <= 38 => {
                    Unit::with_digits(one as u8)
                }
                _ => {
                    return Err(wrong(
                        "write both ends with as many digits after the point, as in 0.00..=99.95"
                            .into(),
                    ));
                }
            }
        }
    };
    let end = |text| {
        values::in_unit(text, unit).map_err(|problem| wrong(format!("{text:?} is {problem}")))
    };
    let (least, greatest) = (end(least)?, end(greatest)?);
    match least <= greatest {
        true => Ok(Kind::Number(Number::new(unit, least, greatest))),
        false => Err(wrong(
            "its first end is greater than its last: swap them".into(),
        )),
    }
}

/// A kind as [`parse_kind`] reads it, or a list of texts.
pub(super) fn kind_text(kind: &Kind) -> String {
    match kind {
        Kind::Choice(texts) => list(texts),
        Kind::Number(number) => quoted(&number_text(*number)),
        // Ratios are of results, and no file's.
        Kind::Bool | Kind::Text { .. } | Kind::Ratio(..) => quoted(&kind.to_string()),
    }
}

fn number_text(number: Number) -> String {
    let kind = Kind::Number(number);
    let Number {
        unit,
        least,
        greatest,
    } = number;
    let one = |value| {
        let column = Column::new("", kind.clone());
        let row = vec![madrigal_tables::Value::Number(value)];
        let answer = madrigal_tables::Answer {
            columns: vec![column],
            rows: vec![row],
        };
        answer.text(0, 0)
    };
    let range = |name: &str| format!("{name}({}..={})", one(least), one(greatest));
    match unit {
        Unit::One => {
            let found = TYPES
                .iter()
                .find(|(_, from, to)| (*from, *to) == (least, greatest));
            found.map_or_else(|| range("integer"), |(name, ..)| (*name).into())
        }
        Unit::Decimal(digits) => {
            let precision = (1..=38).find(|&all| 10_i128.pow(all) - 1 == greatest);
            match precision {
                Some(all) if least == -greatest && u32::from(digits) <= all => {
                    format!("decimal({all}, {digits})")
                }
                _ => range("decimal"),
            }
        }
        Unit::Day if kind == Kind::date() => "date".into(),
        Unit::Day => range("date"),
        Unit::Microsecond if kind == Kind::time() => "time".into(),
        Unit::Microsecond => range("time"),
    }
}
