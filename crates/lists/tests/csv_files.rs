//! The reader of CSV against the crate `csv`.

use madrigal_lists::{Problem, each_record};
use madrigal_testkit::seed;

use crate::Random;

type Rows = Vec<Vec<Vec<u8>>>;

/// Rows as the crate `csv` has them, up to one with another number of fields, if there is one.
fn of_csv(bytes: &[u8], separator: u8) -> (Rows, bool) {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .from_reader(bytes);
    let mut rows = Vec::new();
    for record in reader.byte_records() {
        match record {
            Ok(record) => rows.push(record.iter().map(<[u8]>::to_vec).collect()),
            Err(_) => return (rows, true),
        }
    }
    (rows, false)
}

fn ours(bytes: &[u8], separator: u8, buffer: usize) -> (Rows, Result<(), (u64, Problem)>) {
    let mut rows = Rows::new();
    let done = each_record(bytes, separator, buffer, &mut |fields| {
        rows.push(fields.iter().map(|field| field.to_vec()).collect());
    });
    (rows, done)
}

fn compare(bytes: &[u8], separator: u8, buffer: usize) {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    let (expected, ragged) = of_csv(bytes, separator);
    let (rows, done) = ours(bytes, separator, buffer);
    match done {
        // The crate takes the rest of the file for a field.
        Err((at, Problem::OpenQuote)) => {
            assert_eq!(rows[..], expected[..rows.len()], "{:?}", text());
            let rest = &bytes[at as usize..];
            assert!(rest.iter().filter(|&&byte| byte == b'"').count() > 0);
        }
        Err((_, Problem::Fields { .. })) => {
            assert!(ragged, "{:?}", text());
            assert_eq!(rows, expected, "{:?}", text());
        }
        Err((_, other)) => panic!("{other}: {:?}", text()),
        Ok(()) => {
            assert!(!ragged, "{:?}", text());
            assert_eq!(rows, expected, "{:?}", text());
        }
    }
}

/// Any bytes of those that matter, in any order: quotes in fields, after quotes, alone; all endings of lines.
#[test]
fn any_text_is_read_as_by_the_crate() {
    let mut random = Random::new(seed());
    for _ in 0..20_000 {
        let separator = *random.of(&[&b',', &b';', &b'\t']);
        let piece: [&[u8]; 12] = [
            b"\"",
            b"\"",
            b"\"\"",
            b"\n",
            b"\r",
            b"\r\n",
            &[separator],
            &[separator],
            b"a",
            b"bcd",
            b" ",
            b"\xff",
        ];
        // Some have no quotes, and so the fast way through whole lines.
        let begin = if random.below(3) == 0 { 3 } else { 0 };
        let mut bytes = Vec::new();
        if random.below(8) == 0 {
            bytes.extend_from_slice(b"\xef\xbb\xbf");
        }
        for _ in 0..random.below(24) {
            bytes.extend_from_slice(random.of(&piece[begin..]));
        }
        let buffer = 4 + random.below(30);
        compare(&bytes, separator, buffer);
    }
}

/// Tables that are whole, so that all rows are reached, with values of all kinds.
#[test]
fn whole_tables_are_read_as_by_the_crate() {
    let mut random = Random::new(seed());
    for _ in 0..300 {
        let columns = 1 + random.below(4);
        let ending: &[u8] = random.of(&[b"\n", b"\r\n", b"\r"]);
        let mut bytes = Vec::new();
        let (rows, quotes) = (random.below(60), random.below(4));
        for row in 0..rows {
            for column in 0..columns {
                if column > 0 {
                    bytes.push(b',');
                }
                let value = random.of(&["", "a", "word", "a longer value", "\"\"", "x\ny", "1,5"]);
                let special = value.contains(['"', '\n', ',']);
                if special || random.below(4) < quotes {
                    bytes.extend_from_slice(format!("\"{value}\"").as_bytes());
                } else {
                    bytes.extend_from_slice(value.as_bytes());
                }
            }
            if row + 1 < rows || random.below(2) == 0 {
                bytes.extend_from_slice(ending);
            }
        }
        for buffer in [4, 7, 64, 1 << 16] {
            compare(&bytes, b',', buffer);
        }
    }
}

#[test]
fn a_quote_that_is_never_closed_is_told_where_its_record_begins() {
    let (rows, done) = ours(b"k,v\na,b\n\"c,d\ne,f\n", b',', 8);
    assert_eq!(rows.len(), 2);
    assert!(matches!(done, Err((8, Problem::OpenQuote))));
}
