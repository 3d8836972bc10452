//! Lists in CSV, read in pieces of any size.
#![no_main]

use madrigal_lists::{Problem, each_record};

type Rows = Vec<Vec<Vec<u8>>>;

fn read(bytes: &[u8], separator: u8, buffer: usize) -> (Rows, Option<(u64, String)>) {
    let mut rows = Rows::new();
    let done = each_record(bytes, separator, buffer, &mut |fields| {
        rows.push(fields.iter().map(|field| field.to_vec()).collect());
    });
    let error = done.err().map(|(at, problem): (u64, Problem)| {
        // A record that is said to be wrong begins within the file.
        assert!(at <= bytes.len() as u64);
        (at, problem.to_string())
    });
    (rows, error)
}

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (separator, buffer, bytes) = input;
    let separator = match separator % 3 {
        0 => b',',
        1 => b';',
        _ => b'\t',
    };
    let whole = read(bytes, separator, 1 << 16);
    // Where the pieces end changes nothing.
    assert_eq!(whole, read(bytes, separator, buffer.into()));
    let (rows, error) = whole;
    let Some(first) = rows.first() else {
        return;
    };
    assert!(rows.iter().all(|row| row.len() == first.len()));
    if error.is_some() {
        return;
    }
    // Rows that are written with all fields in quotes are read as the same.
    let mut text = Vec::new();
    for row in &rows {
        for (place, field) in row.iter().enumerate() {
            text.extend((place > 0).then_some(separator));
            text.push(b'"');
            for &byte in field {
                text.push(byte);
                text.extend((byte == b'"').then_some(byte));
            }
            text.push(b'"');
        }
        text.push(b'\n');
    }
    assert_eq!(read(&text, separator, buffer.into()), (rows, None));
});
