//! Normal forms of keys.

use madrigal_lists::{Key, Normal, Source, digest};

use crate::{Folder, SALT};

/// Whether a key, in its normal form, is that of another as it stands.
fn becomes(normal: &str, from: &[u8], to: &str) {
    let folder = Folder::new();
    let mut bytes = b"k\n\"".to_vec();
    bytes.extend_from_slice(from);
    bytes.extend_from_slice(b"\"\n");
    let path = folder.file("list.csv", bytes);
    let normal: Normal = normal.parse().expect("a normal form");
    let source = Source::new(path, ["k"]).expect("a list").normal(&normal);
    let listed = folder.read(&source, 1).expect("a key");
    if to.is_empty() {
        assert_eq!((listed.skipped(), listed.keys()), (1, 0), "{from:?}");
        return;
    }
    let part = listed.partition(0).expect("one");
    let expected = digest(&SALT, &[to.as_bytes()]);
    assert!(
        part.digests() == [expected],
        "{from:?} does not become {to:?}"
    );
}

#[test]
fn letters_and_spaces() {
    let known = [
        ("lower", "Ab C", "ab c"),
        ("lower", "ÄÖÜß Σίσυφος ΟΔΟΣ", "äöüß σίσυφος οδος"),
        ("lower", " X ", " x "),
        ("trim", " \t A  b\n\u{b} c\r\n ", "A b c"),
        ("trim", "\u{a0}ä\u{2003}\u{3000}B\u{85}", "ä B"),
        ("trim", "plain", "plain"),
        ("trim", " \n ", ""),
        ("trim", "\u{a0}", ""),
        ("lower,trim", "  Jürgen   MÜLLER ", "jürgen müller"),
        ("trim , lower", "  J   M ", "j m"),
    ];
    for (normal, from, to) in known {
        becomes(normal, from.as_bytes(), to);
    }
}

#[test]
fn phones() {
    let known = [
        ("phone:49", "0170 / 123-45", "4917012345"),
        ("phone:49", "+49 170 12345", "4917012345"),
        ("phone:49", "+49 (0)170 12345", "4917012345"),
        ("phone:49", "0049 (0) 170 12345", "4917012345"),
        ("phone:49", "0049-(0)-170.12345", "4917012345"),
        ("phone:49", "(0170) 12345", "4917012345"),
        ("phone:49", "49 170 12345", "4917012345"),
        ("phone:49", "+1 (202) 555 0100", "12025550100"),
        ("phone:1", " +1 202", "1202"),
        ("phone:49", "Tel. (+49) (0) 170", "49170"),
        ("phone:49", "Tel. (+49) (0)170", "49170"),
        ("phone:49", "0170 +1", "491701"),
        ("phone:49", "0", "49"),
        ("phone:49", "00", ""),
        ("phone:49", "n/a", ""),
        ("phone:49", "+", ""),
        ("phone:49", "\u{660}\u{661}", ""),
    ];
    for (normal, from, to) in known {
        becomes(normal, from.as_bytes(), to);
    }
    becomes("phone:49", b"0170\xff1", "491701");
}

#[test]
fn texts_of_normal_forms() {
    let known = [
        ("exact", "exact"),
        ("trim,lower", "lower,trim"),
        (" lower ", "lower"),
        ("trim", "trim"),
        ("phone:49", "phone:49"),
    ];
    for (text, canonical) in known {
        let normal: Normal = text.parse().expect(text);
        assert_eq!(normal.to_string(), canonical);
        assert_eq!(canonical.parse::<Normal>().expect("canonical"), normal);
    }
    for text in [
        "",
        "upper",
        "lower,",
        "phone",
        "phone:",
        "phone:049",
        "phone:49,lower",
        "phone:x",
        "phone:12345",
        "exact,lower",
        "phone:1,phone:2",
    ] {
        let error = text.parse::<Normal>().expect_err(text).to_string();
        assert!(error.contains("\"phone:49\""), "{error}");
    }
    let key = |column: &str, normal: &str| Key {
        column: column.into(),
        normal: normal.parse().expect("a normal form"),
    };
    let keys = vec![key("name", "trim,lower"), key("phone", "phone:49")];
    let source = Source::with_keys("list.csv", keys).expect("a list");
    assert_eq!(source.normal_text(), "lower,trim;phone:49");
}

#[test]
fn letters_that_cannot_be_told_are_refused() {
    let folder = Folder::new();
    let path = folder.file("list.csv", b"a,k\n1,x\n2,\xe4\n");
    for normal in ["lower", "trim"] {
        let normal = normal.parse().expect("a normal form");
        let source = Source::new(&path, ["k"]).expect("a list").normal(&normal);
        let error = folder.read(&source, 1).expect_err("Latin-1").to_string();
        assert!(
            error.contains("line 3, column \"k\": a text that is not in UTF-8"),
            "{error}"
        );
    }
    let source = Source::new(&path, ["k"]).expect("a list");
    assert_eq!(folder.read(&source, 1).expect("bytes").keys(), 2);
}
