//! `parties.toml`: refused, or written and read it is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_net::roster::Roster;

fuzz_target!(|text: &str| {
    if let Ok(roster) = Roster::parse(text) {
        let again = Roster::parse(&roster.to_toml()).expect("what we write, we read");
        assert_eq!(again.parties(), roster.parties());
    }
});
