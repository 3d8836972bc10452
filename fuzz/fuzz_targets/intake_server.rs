//! A server of a service against a script of messages and other bytes: it answers or refuses, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| madrigal_intake::fuzz_server(script));
