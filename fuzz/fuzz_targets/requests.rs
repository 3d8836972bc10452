//! What parties ask a dealer for: any bytes are read or refused, and what is read is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    madrigal_correlations_make::fuzz_request(bytes);
});
