//! Wrong share files of all kinds, each refused by name.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use madrigal_clients::{
    Expected, Field, MAX_HEADER, MAX_TEXT, Named, Purpose, ShareFault, ShareFile, deal,
};
use madrigal_core::{Budget, Party};
use madrigal_engine::{Element, Sharing, Width};
use madrigal_net::sealing::SealingKey;

use crate::common::{dealt, generator, named, read, value, written};

/// Bytes before the header, and where in them what stands.
const PREAMBLE: usize = 56;
const VERSION: usize = 16;
const SEALING: usize = 18;
const PLACE: usize = 19;
const HEADER_LENGTH: usize = 20;
const RECIPIENT: usize = 24;

struct Sample {
    key: SealingKey,
    sealed: Vec<u8>,
    clear: Vec<u8>,
    header: usize,
}

fn sample() -> Sample {
    let key = SealingKey::generate().unwrap();
    let file = &dealt(Sharing::R, 3, 1)[0];
    let sealed = written(file, Some(&key));
    let header = u32::from_le_bytes(sealed[HEADER_LENGTH..RECIPIENT].try_into().unwrap()) as usize;
    Sample {
        sealed,
        clear: written(file, None),
        header,
        key,
    }
}

impl Sample {
    fn changed(&self, change: impl FnOnce(&mut Vec<u8>)) -> ShareFault {
        let mut bytes = self.sealed.clone();
        change(&mut bytes);
        read(&bytes, Some(&self.key)).unwrap_err()
    }

    fn changed_in_the_clear(&self, change: impl FnOnce(&mut Vec<u8>)) -> ShareFault {
        let mut bytes = self.clear.clone();
        change(&mut bytes);
        read(&bytes, None).unwrap_err()
    }
}

macro_rules! refused {
    ($fault:expr, $pattern:pat, $($word:literal),+) => {{
        let fault = $fault;
        let text = fault.to_string();
        assert!(matches!(fault, $pattern), "{fault:?}: {text}");
        $(assert!(text.contains($word), "{text}");)+
    }};
}

#[test]
fn files_that_are_none() {
    let sample = sample();
    refused!(sample.changed(Vec::clear), ShareFault::Empty, "empty");
    refused!(
        sample.changed(|bytes| bytes[3] ^= 1),
        ShareFault::NotOne,
        "no share file"
    );
    refused!(
        read(b"\x93NUMPY", None).unwrap_err(),
        ShareFault::NotOne,
        "no share file"
    );
    refused!(
        sample.changed(|bytes| bytes[VERSION] = 9),
        ShareFault::Version { got: 9, .. },
        "version 9",
        "same version"
    );
    refused!(
        sample.changed(|bytes| bytes[SEALING] = 2),
        ShareFault::Damaged { .. },
        "sealing"
    );
    refused!(
        sample.changed(|bytes| bytes[PLACE] = 3),
        ShareFault::Damaged { .. },
        "server"
    );
    refused!(
        sample.changed(
            |bytes| bytes[HEADER_LENGTH..RECIPIENT].copy_from_slice(&u32::MAX.to_le_bytes())
        ),
        ShareFault::LongHeader { .. },
        "4294967295"
    );
    let most = (MAX_HEADER as u32).to_le_bytes();
    refused!(
        sample.changed(|bytes| bytes[HEADER_LENGTH..RECIPIENT].copy_from_slice(&most)),
        ShareFault::Truncated { .. },
        "cut off"
    );
}

#[test]
fn files_that_were_cut_off_or_extended() {
    let sample = sample();
    for bytes in [&sample.sealed, &sample.clear] {
        let key = Some(&sample.key);
        for length in 1..bytes.len() {
            let fault = read(&bytes[..length], key).unwrap_err();
            assert!(
                matches!(fault, ShareFault::Truncated { .. }),
                "{length}: {fault}"
            );
        }
        let mut longer = bytes.clone();
        longer.push(0);
        refused!(
            read(&longer, key).unwrap_err(),
            ShareFault::Extended { .. },
            "added"
        );
        longer.extend(bytes);
        refused!(
            read(&longer, key).unwrap_err(),
            ShareFault::Extended { .. },
            "added"
        );
    }
}

/// Each bit of a file, sealed or in the clear, is protected: where one is another, the file is refused.
#[test]
fn every_flipped_bit_is_found() {
    let sample = sample();
    for at in 0..sample.sealed.len() {
        let bit = 1 << (at % 8);
        let fault = sample.changed(|bytes| bytes[at] ^= bit);
        let body = at >= PREAMBLE + sample.header;
        assert!(
            !body || matches!(fault, ShareFault::Unopened { .. }),
            "{at}: {fault}"
        );
    }
    for at in 0..sample.clear.len() {
        let bit = 1 << (at % 8);
        let fault = sample.changed_in_the_clear(|bytes| bytes[at] ^= bit);
        let body = at >= PREAMBLE + sample.header;
        assert!(!body || matches!(fault, ShareFault::Check), "{at}: {fault}");
    }
}

#[test]
fn keys_that_do_not_fit() {
    let sample = sample();
    let other = SealingKey::generate().unwrap();
    refused!(
        read(&sample.sealed, None).unwrap_err(),
        ShareFault::Sealed { .. },
        "secret part"
    );
    refused!(
        read(&sample.sealed, Some(&other)).unwrap_err(),
        ShareFault::OtherKey { .. },
        "another server's"
    );
    // Whoever writes our key over it cannot open it either.
    let mut bytes = sample.sealed.clone();
    bytes[RECIPIENT..PREAMBLE].copy_from_slice(other.public().as_bytes());
    refused!(
        read(&bytes, Some(&other)).unwrap_err(),
        ShareFault::Unopened { .. },
        "does not open"
    );
    // The capsule, the body and its tag.
    let capsule = PREAMBLE + sample.header;
    for at in [capsule, capsule + 32, sample.sealed.len() - 1] {
        refused!(
            sample.changed(|bytes| bytes[at] ^= 0x80),
            ShareFault::Unopened { .. },
            "does not open"
        );
    }
    refused!(
        sample.changed(|bytes| bytes[capsule..capsule + 32].fill(0)),
        ShareFault::Unopened {
            what: "its capsule",
            ..
        },
        "capsule"
    );
}

/// A header of another submission before a sealed body does not open, though each alone is right.
#[test]
fn a_body_goes_with_its_header() {
    let key = SealingKey::generate().unwrap();
    let (one, other) = (dealt(Sharing::A, 3, 1), dealt(Sharing::A, 3, 2));
    let (one, other) = (written(&one[0], Some(&key)), written(&other[0], Some(&key)));
    let header = u32::from_le_bytes(one[HEADER_LENGTH..RECIPIENT].try_into().unwrap()) as usize;
    let mixed = [&one[..PREAMBLE + header], &other[PREAMBLE + header..]].concat();
    refused!(
        read(&mixed, Some(&key)).unwrap_err(),
        ShareFault::Unopened { .. },
        "does not open"
    );
    // Nor does one server's body after the preamble of another.
    let second = written(&dealt(Sharing::A, 3, 1)[1], Some(&key));
    let mixed = [&one[..PREAMBLE + header], &second[PREAMBLE + header..]].concat();
    refused!(
        read(&mixed, Some(&key)).unwrap_err(),
        ShareFault::Unopened { .. },
        "does not open"
    );
}

/// A header of one byte too few or too many, with a length that says so.
#[test]
fn headers_that_are_none() {
    let sample = sample();
    let with_header = |header: &[u8]| {
        let mut bytes = sample.clear.clone();
        bytes.splice(PREAMBLE..PREAMBLE + sample.header, header.iter().copied());
        let length = (header.len() as u32).to_le_bytes();
        bytes[HEADER_LENGTH..RECIPIENT].copy_from_slice(&length);
        read(&bytes, None).unwrap_err()
    };
    let header = sample.clear[PREAMBLE..PREAMBLE + sample.header].to_vec();
    for length in 0..header.len() {
        let fault = with_header(&header[..length]);
        assert!(
            matches!(fault, ShareFault::Damaged { .. }),
            "{length}: {fault}"
        );
    }
    let trailing = [&header[..], &[0]].concat();
    refused!(
        with_header(&trailing),
        ShareFault::Damaged { .. },
        "what follows the commitments"
    );
    // The shape promises 2^62 elements, and the file has none of their bytes.
    let at = header
        .windows(9)
        .position(|part| part == [1, 5, 0, 0, 0, 0, 0, 0, 0])
        .unwrap();
    let huge = |axis: u64| {
        let mut header = header.clone();
        header[at + 1..at + 9].copy_from_slice(&axis.to_le_bytes());
        with_header(&header)
    };
    refused!(huge(1 << 62), ShareFault::Shape, "2^40");
    refused!(huge(1 << 40), ShareFault::Truncated { .. }, "cut off");
    // Controls in a name would reach a terminal.
    let at = header
        .windows(6)
        .position(|part| part == b"survey")
        .unwrap();
    let mut control = header.clone();
    control[at] = 0x1b;
    refused!(with_header(&control), ShareFault::Text { .. }, "job");
    let at = header
        .windows(3)
        .position(|part| part == [1, 0, b'R'])
        .unwrap();
    let mut unknown = header.clone();
    unknown[at + 2] = b'Q';
    refused!(with_header(&unknown), ShareFault::Sharing { .. }, "`Q`");
    unknown[at + 2] = b'Y';
    refused!(
        with_header(&unknown),
        ShareFault::Sharing { .. },
        "`Y`",
        "A, B and R"
    );
    // Bits are not kept in A, nor ring elements of five parties in R.
    let mut bits = header.clone();
    bits[at + 2] = b'B';
    refused!(with_header(&bits), ShareFault::Unshared { .. }, "u64 in B");
    let mut five = header.clone();
    five[at + 5] = 5;
    refused!(
        with_header(&five),
        ShareFault::Unshared { servers: 5, .. },
        "5 servers"
    );
}

#[test]
fn memory_is_bounded_by_a_budget() {
    let sample = sample();
    let length = sample.clear.len() as u64;
    let fault =
        ShareFile::read(&mut &sample.clear[..], length, None, &Budget::new(10)).unwrap_err();
    refused!(fault, ShareFault::Spent(_), "memory");
}

/// A part that is not the one that was committed to, in a file that is otherwise right: a client that lies.
#[test]
fn parts_are_held_against_the_commitments() {
    use sha2::{Digest as _, Sha256};
    let sample = sample();
    let body = PREAMBLE + sample.header;
    let part = 16 + 5 * 8;
    for (at, number) in [
        (body, 0),
        (body + 16, 0),
        (body + part, 1),
        (body + 2 * part - 1, 1),
    ] {
        let fault = sample.changed_in_the_clear(|bytes| {
            bytes[at] ^= 4;
            let end = bytes.len() - 32;
            let check = Sha256::new_with_prefix(b"madrigal share check v1")
                .chain_update((body as u64).to_le_bytes())
                .chain_update(&bytes[..end])
                .finalize();
            bytes[end..].copy_from_slice(&check);
        });
        match fault {
            ShareFault::Commitment { part } => assert_eq!(part, number),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn padding_is_zero() {
    use sha2::{Digest as _, Sha256};
    let value = value(Element::Bits(3), 5, 1);
    let file = &deal(named(&[5]), &value, Sharing::B, 2, &mut generator(1)).unwrap()[0];
    let mut bytes = written(file, None);
    let end = bytes.len() - 32;
    let body = end - 3;
    bytes[body] |= 0x20;
    let check = Sha256::new_with_prefix(b"madrigal share check v1")
        .chain_update((body as u64).to_le_bytes())
        .chain_update(&bytes[..end])
        .finalize();
    bytes[end..].copy_from_slice(&check);
    refused!(
        read(&bytes, None).unwrap_err(),
        ShareFault::Damaged { .. },
        "last element"
    );
}

#[test]
fn files_of_other_values_servers_and_jobs() {
    let file = &dealt(Sharing::R, 3, 1)[1];
    let expected = Expected {
        job: Some("survey".into()),
        name: Some("income".into()),
        client: Some("alice".into()),
        element_type: Some("Fixed<i64, 16>".into()),
        shape: Some(vec![Some(5)]),
        form: Some((Sharing::R, Element::Ring(Width::W64))),
        servers: Some(3),
        place: Some(Party::new(1)),
        purpose: Purpose::Input,
    };
    expected.check(file).unwrap();
    let rows = Expected {
        shape: Some(vec![None]),
        ..expected.clone()
    };
    rows.check(file).unwrap();
    Expected::any(Purpose::Input).check(file).unwrap();
    let other = |field: Field, change: &dyn Fn(&mut Expected), words: &[&str]| {
        let mut expected = expected.clone();
        change(&mut expected);
        let fault = expected.check(file).unwrap_err();
        let text = fault.to_string();
        assert!(
            matches!(fault, ShareFault::Other { field: found, .. } if found == field),
            "{text}"
        );
        for word in words {
            assert!(text.contains(word), "{text}");
        }
    };
    other(
        Field::Purpose,
        &|e| e.purpose = Purpose::Output,
        &["an input", "an output", "put files of outputs together"],
    );
    other(
        Field::Job,
        &|e| e.job = Some("vote".into()),
        &["`survey`", "`vote`"],
    );
    other(
        Field::Name,
        &|e| e.name = Some("age".into()),
        &["`income`", "`age`"],
    );
    other(
        Field::Client,
        &|e| e.client = Some("bob".into()),
        &["`alice`", "`bob`"],
    );
    other(
        Field::Type,
        &|e| e.element_type = Some("i64".into()),
        &["`Fixed<i64, 16>`", "`i64`"],
    );
    other(
        Field::Shape,
        &|e| e.shape = Some(vec![Some(6)]),
        &["[5]", "[6]"],
    );
    other(
        Field::Shape,
        &|e| e.shape = Some(vec![Some(5), None]),
        &["[5]", "[5, _]"],
    );
    let ring = Element::Ring(Width::W64);
    other(
        Field::Sharing,
        &|e| e.form = Some((Sharing::A, ring)),
        &["is R", "A was"],
    );
    other(
        Field::Element,
        &|e| e.form = Some((Sharing::R, Element::Bits(64))),
        &["u64", "64 bits"],
    );
    other(
        Field::Servers,
        &|e| e.servers = Some(2),
        &["is 3", "2 was", "parties.toml"],
    );
    other(
        Field::Place,
        &|e| e.place = Some(Party::new(2)),
        &["server is 1", "2 was"],
    );
}

#[test]
fn names_that_no_file_may_have() {
    let value = value(Element::Ring(Width::W64), 5, 1);
    let fault = |change: &dyn Fn(&mut Named)| {
        let mut named = named(&[5]);
        change(&mut named);
        deal(named, &value, Sharing::A, 2, &mut generator(1)).unwrap_err()
    };
    refused!(
        fault(&|named| named.job.clear()),
        ShareFault::Text { .. },
        "job"
    );
    refused!(
        fault(&|named| named.name = "x".repeat(MAX_TEXT + 1)),
        ShareFault::Text { .. },
        "value's name"
    );
    refused!(
        fault(&|named| named.element_type = "\u{202e}".into()),
        ShareFault::Text { .. },
        "type"
    );
    refused!(
        fault(&|named| named.client = "../bob".into()),
        ShareFault::Client,
        "client's name"
    );
    refused!(
        fault(&|named| named.shape = vec![1; 9]),
        ShareFault::Shape,
        "axes"
    );
    refused!(
        fault(&|named| named.shape = vec![2, 3]),
        ShareFault::Value { .. },
        "5 elements",
        "6 of u64"
    );
    let servers = deal(named(&[5]), &value, Sharing::R, 4, &mut generator(1)).unwrap_err();
    refused!(servers, ShareFault::Unshared { .. }, "4 servers");
    let garbled = deal(named(&[5]), &value, Sharing::Y, 2, &mut generator(1)).unwrap_err();
    refused!(garbled, ShareFault::Sharing { .. }, "`Y`");
}
