//! Numbers as people read and write them.

use std::time::Duration;

use madrigal_app::flags::duration;
use madrigal_app::numbers::{counted, rate};

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
