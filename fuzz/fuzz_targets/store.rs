//! Header and journal of a store: any bytes are read or refused, and without the key always refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    madrigal_correlations_store::fuzz_records(bytes);
});
