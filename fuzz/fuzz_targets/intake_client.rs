//! A client of a service against any bytes of a server: nothing but what was asked comes out, or the connection is over.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| madrigal_intake::fuzz_client(bytes));
