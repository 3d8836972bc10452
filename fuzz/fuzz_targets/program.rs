//! Program files: refused, or bound and written again they are the same program.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| madrigal_program_file::fuzz_read(bytes));
