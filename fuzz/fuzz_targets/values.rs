//! Texts of values: the first byte counts the widths, which follow, then comes the text.
#![no_main]

use madrigal_circuit::values::{self, ValueLimits};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&count, rest)) = bytes.split_first() else {
        return;
    };
    let Some((widths, text)) = rest.split_at_checked(usize::from(count % 6)) else {
        return;
    };
    let widths: Vec<u32> = widths.iter().map(|&width| width.into()).collect();
    let limits = ValueLimits {
        lanes: 1 << 12,
        line_bytes: 1 << 12,
        bytes: 1 << 20,
    };
    match values::read("fuzz", text, &widths, &limits) {
        Ok(rows) => {
            let text = values::write(&rows, &widths).expect("there is a row per bit");
            let again = values::read("again", &text, &widths, &limits)
                .expect("what was written can be read");
            assert!(again == rows, "written and read again, the values differ");
        }
        Err(error) => drop(error.to_string()),
    }
});
