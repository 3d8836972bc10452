//! Submissions in a vault: bounds, conflicts, pieces, quotas, keys.

use madrigal_vault::{
    Begun, Chain, Id, Limits, PIECE_BYTES, State, Submission, Vault, VaultError, VaultKey,
};

use crate::power::Disk;
use crate::random::Random;

pub(crate) const KIND: &str = "votes";

pub(crate) fn key() -> VaultKey {
    VaultKey::from_bytes([7; 32].into())
}

pub(crate) fn vault(disk: &Disk) -> Vault {
    Vault::open_on(disk.clone(), &key(), Limits::default()).unwrap()
}

pub(crate) fn id(number: u64) -> Id {
    let mut id = [0; 32];
    id[..8].copy_from_slice(&Random::new(number).word().to_le_bytes());
    id[8..16].copy_from_slice(&number.to_le_bytes());
    id
}

pub(crate) fn body(number: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(number);
    let words = (0..length.div_ceil(8)).flat_map(|_| random.word().to_le_bytes());
    words.take(length).collect()
}

pub(crate) fn submission(number: u64, body: &[u8]) -> Submission {
    let header = number.to_le_bytes().to_vec();
    Submission::new(id(number), KIND, "alice", header, body)
}

/// Sends a body in pieces from an offset on.
fn send(vault: &Vault, id: Id, body: &[u8], from: usize) {
    let mut offset = from;
    while offset < body.len() {
        let end = body.len().min(offset + PIECE_BYTES);
        let piece = body[offset..end].to_vec();
        let after = vault.piece(id, offset as u64, piece).wait().unwrap();
        assert_eq!(after, end as u64);
        offset = end;
    }
}

#[test]
fn bodies_of_all_lengths_come_back() {
    let disk = Disk::default();
    let lengths = [
        0,
        1,
        200,
        1024,
        1025,
        PIECE_BYTES,
        PIECE_BYTES + 1,
        3 * PIECE_BYTES,
    ];
    for round in 0..2 {
        let vault = vault(&disk);
        for (length, number) in lengths.into_iter().zip(0..) {
            let body = body(number, length);
            let submission = submission(number, &body);
            let id = submission.id;
            let begun = vault.begin(submission.clone(), 5).wait().unwrap();
            if round == 0 {
                assert_eq!(begun, Begun::At(0));
                assert!(matches!(vault.body(&id), Err(VaultError::NoBody)));
                send(&vault, id, &body, 0);
                assert_eq!(
                    vault.begin(submission, 6).wait().unwrap(),
                    Begun::At(length as u64)
                );
                assert_eq!(vault.accept(id, 6).wait().unwrap(), 6);
                assert_eq!(vault.accept(id, 7).wait().unwrap(), 6);
            } else {
                assert_eq!(begun, Begun::Accepted { at: 6 });
            }
            assert_eq!(vault.body(&id).unwrap()[..], body);
            assert_eq!(vault.header(&id).unwrap(), number.to_le_bytes());
            for offset in (0..length).step_by(PIECE_BYTES) {
                let piece = vault.body_piece(&id, offset as u64).unwrap();
                assert_eq!(piece[..], body[offset..length.min(offset + PIECE_BYTES)]);
            }
            let status = vault.status(&id).unwrap().unwrap();
            assert_eq!((status.state, status.accepted), (State::Accepted, Some(6)));
        }
    }
}

#[test]
fn pieces_come_in_order_and_whole() {
    let vault = vault(&Disk::default());
    let body = body(1, 2 * PIECE_BYTES + 10);
    let submission = submission(1, &body);
    let id = submission.id;
    let piece = |offset: u64, length| vault.piece(id, offset, vec![0; length]).wait();
    assert!(matches!(
        piece(0, PIECE_BYTES),
        Err(VaultError::NoSubmission)
    ));
    let _ = vault.begin(submission, 1).wait().unwrap();
    for (offset, length) in [(0, 1), (0, PIECE_BYTES - 1)] {
        let wrong = piece(offset, length);
        assert!(matches!(
            wrong,
            Err(VaultError::PieceLength {
                expected: 65536,
                ..
            })
        ));
    }
    assert!(matches!(piece(0, 0), Err(VaultError::Length { .. })));
    assert!(matches!(
        piece(0, PIECE_BYTES + 1),
        Err(VaultError::Length { .. })
    ));
    send(&vault, id, &body[..PIECE_BYTES], 0);
    for offset in [0, 1, 2 * PIECE_BYTES as u64, u64::MAX] {
        let wrong = piece(offset, PIECE_BYTES);
        assert!(matches!(
            wrong,
            Err(VaultError::Offset {
                expected: 65536,
                ..
            })
        ));
    }
    let early = vault.accept(id, 1).wait();
    assert!(matches!(
        early,
        Err(VaultError::Incomplete {
            received: 65536,
            ..
        })
    ));
    send(&vault, id, &body, PIECE_BYTES);
    assert_eq!(vault.accept(id, 2).wait().unwrap(), 2);
}

#[test]
fn a_body_that_was_damaged_on_its_way_is_sent_again() {
    let vault = vault(&Disk::default());
    for (number, length) in [(1, 100), (2, PIECE_BYTES + 1)] {
        let body = body(number, length);
        let mut wrong = body.clone();
        wrong[length - 1] ^= 1;
        let submission = submission(number, &body);
        let id = submission.id;
        let _ = vault.begin(submission.clone(), 1).wait().unwrap();
        send(&vault, id, &wrong, 0);
        assert!(matches!(
            vault.accept(id, 1).wait(),
            Err(VaultError::Digest)
        ));
        assert_eq!(
            vault.begin(submission.clone(), 1).wait().unwrap(),
            Begun::At(0)
        );
        send(&vault, id, &body, 0);
        let _ = vault.accept(id, 1).wait().unwrap();
        assert_eq!(vault.body(&id).unwrap()[..], body);
        let once = vault.submit(submission, wrong, 1).wait();
        assert!(matches!(
            once,
            Err(VaultError::Digest | VaultError::Length { .. })
        ));
    }
}

#[test]
fn another_submission_under_an_id_is_refused_by_its_field() {
    let vault = vault(&Disk::default());
    let body = body(1, 50);
    let first = submission(1, &body);
    let _ = vault.begin(first.clone(), 1).wait().unwrap();
    let others = [
        (
            "kind",
            Submission {
                kind: "polls".to_owned(),
                ..first.clone()
            },
        ),
        (
            "client",
            Submission {
                client: "bob".to_owned(),
                ..first.clone()
            },
        ),
        (
            "length",
            Submission {
                length: 51,
                ..first.clone()
            },
        ),
        (
            "digest",
            Submission {
                digest: [1; 32],
                ..first.clone()
            },
        ),
        (
            "header",
            Submission {
                header: vec![1],
                ..first.clone()
            },
        ),
    ];
    for (name, other) in others {
        match vault.begin(other, 1).wait() {
            Err(VaultError::Conflict { field }) => assert_eq!(field, name),
            other => panic!("{other:?}"),
        }
    }
    let again = vault.submit(first.clone(), body.clone(), 9).wait().unwrap();
    assert_eq!(again, Begun::Accepted { at: 9 });
    assert_eq!(
        vault.submit(first, body, 10).wait().unwrap(),
        Begun::Accepted { at: 9 }
    );
    assert_eq!(vault.usage_of_all().submissions, 1);
}

#[test]
fn bounds_hold_at_their_ends() {
    let vault = vault(&Disk::default());
    let good = Submission::new(
        id(1),
        &"k".repeat(64),
        &"c".repeat(64),
        vec![0; 16 << 10],
        b"x",
    );
    let _ = vault.begin(good.clone(), 1).wait().unwrap();
    let bad = [
        Submission {
            kind: String::new(),
            ..good.clone()
        },
        Submission {
            kind: "k".repeat(65),
            ..good.clone()
        },
        Submission {
            client: "c".repeat(65),
            ..good.clone()
        },
        Submission {
            header: vec![0; (16 << 10) + 1],
            ..good.clone()
        },
        Submission {
            length: u64::MAX,
            ..good.clone()
        },
    ];
    for bad in bad {
        assert!(matches!(
            vault.begin(bad, 1).wait(),
            Err(VaultError::Length { .. })
        ));
    }
    let control = Submission {
        kind: "a\0b".to_owned(),
        ..good
    };
    assert!(matches!(
        vault.begin(control, 1).wait(),
        Err(VaultError::Name { field: "kind" })
    ));
}

#[test]
fn notes_and_counters() {
    let disk = Disk::default();
    let first = vault(&disk);
    first.note("budget", Some(b"some".to_vec())).wait().unwrap();
    assert_eq!(first.count("runs", 3, 5).wait().unwrap(), Some(3));
    assert_eq!(first.count("runs", 3, 5).wait().unwrap(), None);
    assert_eq!(
        first.count("runs", u64::MAX, u64::MAX).wait().unwrap(),
        None
    );
    assert!(matches!(
        first.count("budget", 1, 9).wait(),
        Err(VaultError::Damaged { .. })
    ));
    drop(first);
    let again = vault(&disk);
    assert_eq!(again.noted("budget").unwrap().unwrap()[..], *b"some");
    assert_eq!(again.count("runs", 2, 5).wait().unwrap(), Some(5));
    again.note("budget", None).wait().unwrap();
    assert!(again.noted("budget").unwrap().is_none());
    assert!(matches!(
        again.note("", None).wait(),
        Err(VaultError::Length { .. })
    ));
}

#[test]
fn a_digest_is_known() {
    // Another implementation can be held to this.
    let body: Vec<u8> = (0..PIECE_BYTES + 100).map(|i| (i % 251) as u8).collect();
    assert_eq!(
        Chain::digest(b"header", &body).to_string(),
        "499f72ecbd084411f9b94a9dcd23b55880fc2fed64a61dae738c69e8924d18b3"
    );
}
