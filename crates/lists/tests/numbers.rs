//! Payloads: numbers with a point.

use std::ops::RangeInclusive;

use madrigal_lists::{Duplicates, ListError, Payload, Source};

use crate::Folder;

fn payload(places: u32, range: RangeInclusive<i64>, duplicates: Duplicates) -> Payload {
    Payload {
        column: "n".into(),
        places,
        range,
        duplicates,
    }
}

/// The number that a text is read as.
fn number(text: &str, payload: &Payload) -> Result<i64, ListError> {
    let folder = Folder::new();
    let path = folder.file("list.csv", format!("k,n\na,\"{text}\"\n"));
    let source = Source::new(path, ["k"])?.payload(payload.clone())?;
    let listed = folder.read(&source, 1)?;
    let part = listed.partition(0)?;
    Ok(part.values().expect("a payload")[0])
}

#[test]
fn numbers_are_read_in_units_of_their_last_place() {
    let cents = payload(2, i64::MIN..=i64::MAX, Duplicates::Refuse);
    let known = [
        ("0", 0),
        ("-0", 0),
        ("12", 1200),
        (" 12.3 ", 1230),
        ("+12.34", 1234),
        ("-12.3400", -1234),
        (".5", 50),
        ("-5.", -500),
        ("0000000000000000000000000000000000000000000000001.01", 101),
        ("92233720368547758.07", i64::MAX),
        ("-92233720368547758.08", i64::MIN),
    ];
    for (text, value) in known {
        assert_eq!(number(text, &cents).expect(text), value, "{text}");
        assert_eq!(number(&cents.text(value), &cents).expect(text), value);
    }
    assert_eq!(cents.text(-5), "-0.05");
    let exact = payload(18, i64::MIN..=i64::MAX, Duplicates::Refuse);
    assert_eq!(
        number("9.223372036854775807", &exact).expect("it fits"),
        i64::MAX
    );
    assert_eq!(exact.text(i64::MIN), "-9.223372036854775808");
}

#[test]
fn other_numbers_are_refused_with_line_and_column() {
    let some = payload(1, -100..=100, Duplicates::Refuse);
    let known = [
        ("", "no number"),
        (" ", "no number"),
        ("x", "not a number"),
        ("1,5", "not a number"),
        ("1e3", "not a number"),
        ("--1", "not a number"),
        ("1.2.3", "not a number"),
        (".", "not a number"),
        ("-", "not a number"),
        ("1.25", "more than 1 digits"),
        ("10.1", "not from -10.0 to 10.0"),
        ("-10.1", "not from -10.0 to 10.0"),
        (
            "99999999999999999999999999999999999999999999999999",
            "not from",
        ),
        (
            "-99999999999999999999999999999999999999999999999999",
            "not from",
        ),
    ];
    for (text, problem) in known {
        let error = number(text, &some).expect_err(text).to_string();
        assert!(error.contains("line 2, column \"n\": "), "{error}");
        assert!(error.contains(problem), "{text}: {error}");
    }
    // Numbers that no range of 64 bits tells from its ends.
    let wide = payload(0, i64::MIN..=i64::MAX, Duplicates::Refuse);
    for text in [
        "9223372036854775808",
        "-9223372036854775809",
        "1000000000000000000000",
    ] {
        assert!(number(text, &wide).is_err(), "{text}");
    }
}

#[test]
fn the_number_of_a_key_with_several_rows_is_the_first_or_the_sum_or_refused() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "k,n\na,1\nb,9\n\na,2\na,-4\n");
    let read = |duplicates, range: RangeInclusive<i64>| {
        let source = Source::new(&path, ["k"])?.payload(payload(0, range, duplicates))?;
        let part = folder.read(&source, 1)?.partition(0)?;
        let place = (0..part.len()).find(|&place| part.rows(place) == [0, 2, 3]);
        Ok::<_, ListError>(part.values().expect("a payload")[place.expect("three rows")])
    };
    assert_eq!(read(Duplicates::First, -9..=9).expect("right"), 1);
    assert_eq!(read(Duplicates::Sum, -9..=9).expect("right"), -1);
    let error = read(Duplicates::Refuse, -9..=9)
        .expect_err("repeated")
        .to_string();
    assert!(
        error.contains("line 5, column \"n\": the key of line 2 again"),
        "{error}"
    );
    let path = folder.file("list.csv", format!("k,n\na,{0}\na,{0}\n", i64::MAX));
    let most = payload(0, 0..=i64::MAX, Duplicates::Sum);
    let source = Source::new(path, ["k"])
        .expect("a list")
        .payload(most)
        .expect("places");
    let error = folder.read(&source, 1).expect_err("too much").to_string();
    assert!(
        error.contains("line 3, column \"n\"") && error.contains("sum"),
        "{error}"
    );
}
