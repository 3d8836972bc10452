//! Texts that people read: none, wherever it comes from, commands their terminal.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::io::Write as _;

use madrigal_app::terminal::{Plain, sentence};
use madrigal_core::text::is_plain;

fn written(parts: &[&[u8]], json: bool) -> String {
    let mut to = Vec::new();
    let mut plain = match json {
        true => Plain::json(&mut to),
        false => Plain::new(&mut to),
    };
    for part in parts {
        plain.write_all(part).unwrap();
    }
    plain.flush().unwrap();
    String::from_utf8(to).unwrap()
}

const HOSTILE: &str = "a\u{1b}]0;b\u{7}\r\u{202e}\u{2028}\u{9b}\u{e0041}";

#[test]
fn terminals_get_no_commands_from_names() {
    let told = written(&[b"| ", HOSTILE.as_bytes(), "\tsüß\n".as_bytes()], false);
    assert_eq!(
        told,
        "| a\\u{1b}]0;b\\u{7}\\u{d}\\u{202e}\\u{2028}\\u{9b}\\u{e0041}\tsüß\n"
    );
}

#[test]
fn json_says_the_same() {
    let json = serde_json::to_string(HOSTILE).unwrap();
    let told = written(&[json.as_bytes()], true);
    assert!(told.chars().all(is_plain), "{told}");
    assert_eq!(serde_json::from_str::<String>(&told).unwrap(), HOSTILE);
}

/// Wherever a text is cut, what is written is the same.
#[test]
fn characters_may_come_in_parts() {
    let text = "ü\u{202e}漢😀";
    let whole = written(&[text.as_bytes()], false);
    assert_eq!(whole, "ü\\u{202e}漢😀");
    for at in 0..=text.len() {
        let (before, after) = text.as_bytes().split_at(at);
        assert_eq!(written(&[before, after], false), whole, "{at}");
    }
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(written(&bytes, false), whole);
    assert_eq!(written(&[b"a\xffb\xf0\x9f"], false), "a\\xffb\\xf0\\x9f");
}

/// A name that ends a line cannot begin one that looks like the program's.
#[test]
fn what_follows_an_end_of_line_is_indented() {
    let told = sentence(&"no `a\nmadrigal: done`");
    assert_eq!(told, "no `a\n  madrigal: done`");
}
