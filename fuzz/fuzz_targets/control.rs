//! Control messages: any bytes are read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    madrigal_net::fuzz_control(bytes);
});
