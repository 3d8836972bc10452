//! Schemas: what is written, and what is wrong.

use madrigal_core::Party;
use madrigal_sql::files::{RowCount, Schema, infer, read};
use madrigal_tables::{Kind, Number, Right, Unit};

const ALL: &str = r#"
name = "claims"
at_most = 2000
unique = [["id"], ["ward", "flag"]]
least_group = 10

[columns]
ward = "text(20, ascii)"
id = "integer(-5..=100000)"
free = "text(7)"
flag = ["R", "A", "N\"\u0001"]
small = "u8"
long = "i64"
amount = { kind = "decimal(12, 2)", right = "aggregate" }
part = "decimal(-0.50..=99.95)"
"a b" = { kind = "date(2000-01-01..=2030-12-31)", nullable = true, right = "join_key" }
day = "date"
at = "time"
until = "time(2000-01-01 00:00:00..=2000-01-01 23:59:59.999999)"
yes = { kind = "bool", right = "never" }
of = { kind = ["x"], right = "group" }
"#;

#[test]
fn a_schema_is_written_as_it_is_read() {
    let schema = Schema::parse(ALL).unwrap();
    assert_eq!(schema.rows, RowCount::AtMost(2000));
    let names: Vec<_> = schema.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(
        names[..4],
        ["ward", "id", "free", "flag"],
        "the order of the file"
    );
    let kind = |name: &str| {
        let column = schema.columns.iter().find(|column| column.name == name);
        column.unwrap().kind.clone()
    };
    assert_eq!(kind("id"), Kind::integer(-5, 100_000));
    assert_eq!(kind("small"), Kind::integer(0, 255));
    assert_eq!(kind("amount"), Kind::decimal(12, 2));
    assert_eq!(
        kind("part"),
        Kind::Number(Number::new(Unit::Decimal(2), -50, 9995))
    );
    assert_eq!(
        kind("a b"),
        Kind::Number(Number::new(Unit::Day, 10_957, 22_279))
    );
    assert_eq!(kind("flag"), Kind::choice(["A", "N\"\u{1}", "R"]));
    assert_eq!(
        kind("until"),
        Kind::Number(Number::new(
            Unit::Microsecond,
            946_684_800_000_000,
            946_771_199_999_999
        ))
    );
    let rights: Vec<_> = schema.columns.iter().map(|column| column.right).collect();
    assert_eq!(rights[6], Right::Aggregate);
    assert_eq!(rights[8], Right::JoinKey);
    assert_eq!(rights[12..], [Right::Never, Right::Group]);
    let again = Schema::parse(&schema.to_toml()).unwrap();
    assert_eq!(again, schema, "{}", schema.to_toml());
}

#[test]
fn what_is_wrong_says_what_to_write() {
    let of = |column: &str| format!("name = \"t\"\nrows = 3\n[columns]\na = {column}\n");
    let cases = [
        (of("\"integer\""), "integer(0..=120)"),
        (of("\"integer(0..120)\""), "write both ends"),
        (of("\"integer(9..=1)\""), "swap them"),
        (of("\"integer(0..=1.5)\""), "no integer"),
        (of("\"decimal(39, 2)\""), "38 at most"),
        (of("\"decimal(2, 3)\""), "after the point"),
        (of("\"decimal(0.1..=1.25)\""), "as many digits"),
        (of("\"date(2000-02-30..=2001-01-01)\""), "2024-02-29"),
        (of("\"text(0)\""), "text(20)"),
        (of("\"text(99999999)\""), "text(20)"),
        (of("\"text(20, utf16)\""), "text(20, ascii)"),
        (of("\"float\""), "no kind"),
        (of("[]"), "list one at least"),
        (of("[\"x\", \"x\"]"), "list each once"),
        (of("3"), "expected a kind"),
        (of("{ kind = \"bool\", nulable = true }"), "nulable"),
        (of("{ kind = \"bool\", right = \"all\" }"), "all"),
        (of("{ nullable = true }"), "kind"),
        (of("\"bool\"\nrows = 3\na = \"bool\""), "a"),
        ("name = \"t\"\n[columns]\na = \"bool\"".into(), "at_most"),
        (
            "name = \"t\"\nrows = 1\nat_most = 2\n[columns]\na = \"bool\"".into(),
            "at_most",
        ),
        (
            "name = \"t\"\nrows = -1\n[columns]\na = \"bool\"".into(),
            "rows",
        ),
        (
            "name = \"t\"\nrows = 99999999999\n[columns]\na = \"bool\"".into(),
            "at most",
        ),
        (
            "name = \"t\"\nrows = 2000000000\n[columns]\na = \"text(60000)\"".into(),
            "too much",
        ),
        (
            "name = \"t\"\nrows = 1\nleast_group = 0\n[columns]\na = \"bool\"".into(),
            "least_group",
        ),
        (
            "name = \"t\"\nrows = 1\nunique = [\"a\"]\n[columns]\na = \"bool\"".into(),
            "[[\"id\"]",
        ),
        (
            "name = \"t\"\nrows = 1\nunique = [[\"b\"]]\n[columns]\na = \"bool\"".into(),
            "no such column",
        ),
        (
            "name = \"t\"\nrows = 1\nunique = [[]]\n[columns]\na = \"bool\"".into(),
            "name one",
        ),
        (
            "name = \"\"\nrows = 1\n[columns]\na = \"bool\"".into(),
            "without a name",
        ),
        (
            "name = \"\\u001b[1m\"\nrows = 1\n[columns]\na = \"bool\"".into(),
            "cannot be shown",
        ),
        (
            "name = \"t\"\nrows = 1\nowner = 1\n[columns]\na = \"bool\"".into(),
            "owner",
        ),
        ("name = \"t\"\nrows = 1\n[columns]\n".into(), "no columns"),
        ("name = ".into(), "line 1"),
    ];
    for (text, expected) in cases {
        let problem = Schema::parse(&text).expect_err(&text);
        assert!(
            problem.contains(expected),
            "{text}\n{problem}\nlacks {expected}"
        );
    }
}

/// A text with a few bytes changed, left out or doubled.
fn changed(text: &str, random: &mut impl FnMut(usize) -> usize) -> String {
    const ODD: &[u8] = b"\"'{}[]()=.,-+0129#\\\n\xff\0 aT:Z";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random(2) {
        let at = random(bytes.len());
        match random(4) {
            0 => bytes[at] = ODD[random(ODD.len())],
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, ODD[random(ODD.len())]),
            _ => {
                let to = (at + 1 + random(30)).min(bytes.len());
                bytes.extend_from_within(at..to);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'a');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn changed_schemas_and_files_are_refused_or_read() {
    let mut state = madrigal_testkit::seed() | 1;
    let mut random = move |below: usize| {
        // xorshift: any numbers will do.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    let (mut read_schemas, mut read_files) = (0, 0);
    for _ in 0..4000 {
        if let Ok(schema) = Schema::parse(&changed(ALL, &mut random)) {
            read_schemas += 1;
            let text = schema.to_toml();
            assert_eq!(Schema::parse(&text).as_ref(), Ok(&schema), "{text}");
        }
    }
    let known = Schema::parse(
        "name = \"t\"\nat_most = 5\nunique = [[\"a\"]]\n[columns]\na = \"i8\"\nb = \"text(9)\"\n\
         c = { kind = \"decimal(4, 2)\", nullable = true }\nd = \"date\"\ne = \"time\"",
    )
    .unwrap();
    let rows = "a,b,c,d,e\n1,\"x, \"\"y\"\"\",1.5,2024-02-29,2024-02-29 12:30:00\n-128,é,,0001-01-01,9999-12-31 23:59:59.999999\n";
    for _ in 0..500 {
        std::fs::write(&path, changed(rows, &mut random)).unwrap();
        read_files += usize::from(read(&path, &known, Party::new(0)).is_ok());
        // A proposal goes with the file that it was made of.
        if let Ok(inferred) = infer(&path, &["b".into()]) {
            let schema = Schema::parse(&inferred.to_toml()).unwrap();
            if let Err(error) = read(&path, &schema, Party::new(0)) {
                let content = std::fs::read_to_string(&path).unwrap();
                panic!("{error}\n{content}\n{}", inferred.to_toml());
            }
        }
    }
    // Changes that go unnoticed, and that are told.
    assert!((100..3900).contains(&read_schemas), "{read_schemas}");
    assert!((5..480).contains(&read_files), "{read_files}");
}
