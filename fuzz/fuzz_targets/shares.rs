//! Share files of clients: refused, or written and read they are the same. The sealing is left out: it opens nothing of what
//! a fuzzer makes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| madrigal_clients::fuzz_read(bytes));
