//! Files written and read: every sharing, element, number of servers and length, sealed and in the clear; the bytes of a
//! known file.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use madrigal_clients::{
    Expected, Named, Purpose, ShareFault, ShareFile, combine, deal, deal_with, nonce,
    private_generator, read_expected, read_file,
};
use madrigal_core::Party;
use madrigal_engine::{Element, Shares, Sharing, Width};
use madrigal_net::sealing::SealingKey;

use crate::common::{bytes_of, generator, named, read, received, value, written};

const CASES: [(Sharing, &[usize]); 3] = [
    (Sharing::A, &[2, 3, 5]),
    (Sharing::B, &[2, 3, 5]),
    (Sharing::R, &[3]),
];

fn elements(sharing: Sharing) -> Vec<Element> {
    let rings = Width::ALL.map(Element::Ring);
    let bits = [1, 8, 16, 32, 64, 128].map(Element::Bits);
    match sharing {
        Sharing::A => rings.to_vec(),
        Sharing::B => bits.to_vec(),
        _ => rings.into_iter().chain(bits).collect(),
    }
}

#[test]
fn what_is_written_is_read_and_combines_to_the_value() {
    let keys: Vec<SealingKey> = (0..5).map(|_| SealingKey::generate().unwrap()).collect();
    for (sharing, numbers) in CASES {
        for element in elements(sharing) {
            for &servers in numbers {
                for len in [0, 1, 13, 64, 65, 1000] {
                    let value = value(element, len, 1);
                    let files =
                        deal(named(&[len]), &value, sharing, servers, &mut generator(2)).unwrap();
                    for sealed in [true, false] {
                        let again = files.iter().zip(&keys).map(|(file, key)| {
                            let key = sealed.then_some(key);
                            let read = read(&written(file, key), key).unwrap();
                            assert_eq!(read.header(), file.header());
                            assert_eq!(read.place(), file.place());
                            // Salts went with it.
                            assert_eq!(written(&read, None), written(file, None));
                            read
                        });
                        let again: Vec<ShareFile> = again.collect();
                        let (_, combined) = combine(received(&again)).unwrap();
                        assert_eq!(combined.sort(), value.sort());
                        assert_eq!(
                            bytes_of(&combined),
                            bytes_of(&value),
                            "{element} in {sharing}"
                        );
                    }
                }
            }
        }
    }
}

/// Bodies of less than, exactly and more than whole pieces.
#[test]
fn long_values_are_sealed_in_pieces() {
    let key = SealingKey::generate().unwrap();
    for len in [65_535, 65_536, 65_537, 131_072, 200_001] {
        for (sharing, servers) in [(Sharing::A, 2), (Sharing::R, 3)] {
            let value = value(Element::Ring(Width::W8), len, 3);
            let files = deal(named(&[len]), &value, sharing, servers, &mut generator(4)).unwrap();
            let again = files
                .iter()
                .map(|file| read(&written(file, Some(&key)), Some(&key)).unwrap());
            let (_, combined) = combine(received(&again.collect::<Vec<_>>())).unwrap();
            assert_eq!(bytes_of(&combined), bytes_of(&value));
        }
    }
}

#[test]
fn files_are_read_from_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("income.share");
    let key = SealingKey::generate().unwrap();
    let value = value(Element::Ring(Width::W32), 10, 5);
    let files = deal(
        named(&[2, 5]),
        &value,
        Sharing::R,
        3,
        &mut private_generator().unwrap(),
    )
    .unwrap();
    std::fs::write(&path, written(&files[2], Some(&key))).unwrap();
    let read = read_file(&path, Some(&key)).unwrap();
    assert_eq!(read.header().named().shape, [2, 5]);
    assert_eq!(read.place(), Party::new(2));
    let error = read_file(&directory.path().join("none"), None).unwrap_err();
    assert!(
        error.to_string().contains("none: cannot read or write it"),
        "{error}"
    );
    let error = read_file(directory.path(), None).unwrap_err();
    assert!(error.to_string().contains("a folder"), "{error}");
}

/// Two submissions of the same value have nothing in common but names: nonces, salts and parts are fresh.
#[test]
fn submissions_are_fresh() {
    let value = value(Element::Ring(Width::W64), 5, 6);
    let deal = || {
        deal(
            named(&[5]),
            &value,
            Sharing::R,
            3,
            &mut private_generator().unwrap(),
        )
        .unwrap()
    };
    let (one, other) = (deal(), deal());
    assert_ne!(one[0].header().nonce(), other[0].header().nonce());
    assert_ne!(one[0].header().submission(), other[0].header().submission());
    for (one, other) in one[0]
        .header()
        .commitments()
        .iter()
        .zip(other[0].header().commitments())
    {
        assert_ne!(one, other);
    }
}

/// Values that are cut up together have one nonce, and no parts in common.
#[test]
fn values_together_have_one_nonce() {
    let value = value(Element::Ring(Width::W64), 5, 6);
    let mut random = private_generator().unwrap();
    let nonce = nonce(&mut random);
    let mut deal = || deal_with(named(&[5]), &value, Sharing::R, 3, nonce, &mut random).unwrap();
    let (one, other) = (deal(), deal());
    assert_eq!(one[0].header().nonce(), &nonce);
    assert_eq!(other[2].header().nonce(), &nonce);
    let commitments = |files: &[ShareFile]| files[0].header().commitments().to_vec();
    assert!((commitments(&one).iter()).all(|one| !commitments(&other).contains(one)));
}

/// A file that is not what is expected is refused by its beginning: nothing after that is opened.
#[test]
fn unexpected_files_are_not_opened() {
    let key = SealingKey::generate().unwrap();
    let value = value(Element::Ring(Width::W64), 5, 6);
    let files = deal(named(&[5]), &value, Sharing::A, 2, &mut generator(4)).unwrap();
    let mut bytes = written(&files[1], Some(&key));
    *bytes.last_mut().unwrap() ^= 1;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.share");
    std::fs::write(&path, bytes).unwrap();
    let of = |place: usize| Expected {
        place: Some(Party::new(place)),
        ..Expected::any(Purpose::Input)
    };
    let error = read_expected(&path, Some(&key), &of(0)).unwrap_err();
    assert!(matches!(*error.fault, ShareFault::Other { .. }), "{error}");
    let error = read_expected(&path, Some(&key), &of(1)).unwrap_err();
    assert!(
        matches!(*error.fault, ShareFault::Unopened { .. }),
        "{error}"
    );
}

/// The bytes of a file in the clear, as schema/SHARES.md tells them.
#[test]
fn the_bytes_of_a_file() {
    let named = Named {
        job: "j".into(),
        name: "x".into(),
        client: "c".into(),
        element_type: "u16".into(),
        shape: vec![2],
    };
    let share = Shares::ring_of(Sharing::A, vec![0x0102_u16, 0xfffe]);
    let file = ShareFile::of_output(named, share, Party::new(1), 2, [7; 32]).unwrap();
    let bytes = written(&file, None);
    let header = [
        &[1][..],
        &[
            1, 0, b'j', 1, 0, b'x', 1, 0, b'c', 3, 0, b'u', b'1', b'6', 1, 0, b'A',
        ],
        &[1, 16, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0],
        &[7; 32],
        &[0],
    ]
    .concat();
    let before = [
        &b"madrigal shares\n"[..],
        &[1, 0, 0, 1],
        &(header.len() as u32).to_le_bytes(),
        &[0; 32],
        &header,
    ]
    .concat();
    let body = [2, 1, 0xfe, 0xff];
    use sha2::{Digest as _, Sha256};
    let check = Sha256::new_with_prefix(b"madrigal share check v1")
        .chain_update((before.len() as u64).to_le_bytes())
        .chain_update(&before)
        .chain_update(body)
        .finalize();
    assert_eq!(bytes, [&before[..], &body, &check].concat());
    let id = Sha256::new_with_prefix(b"madrigal submission v1")
        .chain_update(&header)
        .finalize();
    assert_eq!(file.header().submission().0[..], id[..]);
}

/// The seeds of the fuzz target, which were made by other means, are files once their digest is there.
#[test]
fn seeds_of_the_fuzz_target_are_files() {
    use sha2::{Digest as _, Sha256};
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/shares");
    let mut read_ones = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let mut bytes = std::fs::read(seed.unwrap().path()).unwrap();
        let header = u32::from_le_bytes(bytes[20..24].try_into().unwrap());
        let check = Sha256::new_with_prefix(b"madrigal share check v1")
            .chain_update((u64::from(header) + 56).to_le_bytes())
            .chain_update(&bytes)
            .finalize();
        madrigal_clients::fuzz_read(&bytes);
        bytes.extend(check);
        read(&bytes, None).unwrap();
        read_ones += 1;
    }
    assert_eq!(read_ones, 3);
}
