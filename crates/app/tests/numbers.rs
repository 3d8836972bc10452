//! Numbers as people read and write them.

use std::time::Duration;

use madrigal_app::flags::duration;
use madrigal_app::numbers::{counted, rate, table_within};

#[test]
fn numbers_as_people_write_them() {
    let rates = [
        (61.5, "rounds/s"),
        (21_350.4, "lanes/s"),
        (1.134e9, "blocks/s"),
    ];
    let told = rates.map(|(value, unit)| rate(value, unit));
    assert_eq!(
        told,
        ["61.50 rounds/s", "21,350 lanes/s", "1.13 billion blocks/s"]
    );
    assert_eq!(
        [rate(2.5e9, "B/s"), rate(2.5e3, "/s")],
        ["2.50 GB/s", "2.50 k/s"]
    );
    assert_eq!(
        [counted(1, "lane"), counted(2000, "lane")],
        ["1 lane", "2,000 lanes"]
    );
}

/// Tables with many columns or long cells fit 80 columns; before, they were as wide as they liked.
#[test]
fn tables_fit_eighty_columns() {
    let header = [
        "operation",
        "makes",
        "setup",
        "sends in setup",
        "online",
        "sends online",
    ];
    let mut wide = table_within(&header, Some(80));
    for row in 0..3 {
        let first =
            format!("a_node_with_a_long_name_{row}/of_a_module/that_is_within_another  MatMul");
        wide.add_row([
            &first,
            "100 x u64 (A), 100 x bool (B)",
            "1.23 ms",
            "12.34 MiB",
            "123 ms",
            "1.00 KiB",
        ]);
    }
    let text = wide.to_string();
    let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|&wide| wide <= 80), "{text}");
    // Each row begins and ends as a table of Markdown does.
    assert!(
        text.lines()
            .all(|line| line.starts_with('|') && line.ends_with('|')),
        "{text}"
    );
    let narrow = table_within(&["a", "b"], Some(80)).to_string();
    assert!(narrow.lines().all(|line| line.len() < 20), "{narrow}");
}

/// Words stay whole: a size is "1.00 MiB" on two lines of a cell, and not "1.0" and "0 MiB".
#[test]
fn words_of_narrow_tables_stay_whole() {
    let header = ["layer", "operator", "sends in setup", "rounds"];
    let row = ["conv_1", "Transpose", "1023.99 MiB", "1,234"];
    for columns in 30..90 {
        let mut narrow = table_within(&header, Some(columns));
        narrow.add_row(row);
        let text = narrow.to_string();
        for word in header.iter().chain(&row).flat_map(|cell| cell.split(' ')) {
            assert!(text.contains(word), "{columns} columns, {word}:\n{text}");
        }
    }
    // A table that has no room becomes a list.
    let mut narrow = table_within(&header, Some(30));
    narrow.add_row(row);
    assert_eq!(
        narrow.to_string(),
        "- layer: conv_1\n  operator: Transpose\n  sends in setup: 1023.99 MiB\n  rounds: 1,234\n"
    );
}

#[test]
fn times_have_units() {
    assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
    assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
    assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
    assert_eq!(duration("1.5 min"), Ok(Duration::from_secs(90)));
    assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
    for (wrong, why) in [
        ("", "500ms, 10s"),
        ("-1", "above zero"),
        ("0", "above zero"),
        ("inf", "500ms, 10s"),
        ("10 parsecs", "counts seconds"),
        ("-1s", "counts seconds"),
        ("0ms", "above zero"),
        ("10000h", "1ms to 8760h"),
        ("0.1ms", "1ms to 8760h"),
    ] {
        let told = duration(wrong).unwrap_err();
        assert!(told.contains(why), "{wrong}: {told}");
    }
    assert_eq!(duration("8760h"), Ok(Duration::from_secs(31_536_000)));
}
