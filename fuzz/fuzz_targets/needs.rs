//! What is needed of each kind of correlation: refused, or written and read it is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_correlations::Needs;

fuzz_target!(|text: &str| {
    if let Ok(needs) = text.parse::<Needs>() {
        let again = needs.to_string().parse::<Needs>();
        assert_eq!(again, Ok(needs), "what we write, we read");
    }
});
