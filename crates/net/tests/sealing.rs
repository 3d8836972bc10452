//! Sealing keys in files and in `parties.toml`, and what is sealed for them.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use std::fs;

use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::{
    DEFAULT_VALIDITY_DAYS, Identity, IdentityError, IdentityFiles, KeyMode, Validity,
};
use madrigal_net::roster::{Roster, RosterProblem};
use madrigal_net::sealing::{Piece, PublicSealingKey, SealingError, SealingKey};

#[test]
fn keys_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("alice.sealing.key");
    let key = SealingKey::generate().unwrap();
    key.save(&path).unwrap();
    let loaded = SealingKey::load(&path, KeyMode::Private).unwrap();
    assert_eq!(loaded.public(), key.public());
    let text = key.public().to_string();
    assert_eq!(text.parse::<PublicSealingKey>().unwrap(), key.public());
    assert!(!format!("{key:?}").contains(&fs::read_to_string(&path).unwrap()[40..]));
    let again = key.save(&path).unwrap_err();
    assert!(matches!(again, IdentityError::KeyExists { .. }), "{again}");
    for wrong in [
        "",
        "x25519:",
        &text[1..],
        &text[..70],
        &text.replace(':', ";"),
    ] {
        assert!(wrong.parse::<PublicSealingKey>().is_err(), "{wrong}");
    }
}

#[test]
fn wrong_key_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let files = IdentityFiles::in_directory(directory.path(), "alice");
    let identity = Identity::generate(Validity::days(DEFAULT_VALIDITY_DAYS).unwrap()).unwrap();
    identity.save(&files).unwrap();
    // A key that proves who a party is seals nothing.
    let error = SealingKey::load(&files.key, KeyMode::Private).unwrap_err();
    assert!(
        matches!(error, IdentityError::DamagedSealingKey { .. }),
        "{error}"
    );
    let path = directory.path().join("key");
    let error = SealingKey::load(&path, KeyMode::Private).unwrap_err();
    assert!(matches!(error, IdentityError::Missing { .. }), "{error}");
    SealingKey::generate().unwrap().save(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = SealingKey::load(&path, KeyMode::Private).unwrap_err();
        assert!(
            matches!(error, IdentityError::KeyReadable { .. }),
            "{error}"
        );
        SealingKey::load(&path, KeyMode::Readable).unwrap();
    }
}

#[test]
fn only_the_key_opens() {
    let (key, other) = (
        SealingKey::generate().unwrap(),
        SealingKey::generate().unwrap(),
    );
    let (capsule, mut sealer) = key.public().seal(b"words").unwrap();
    let pieces = [
        sealer.seal(b"first", Piece::Inner).unwrap(),
        sealer.seal(b"second", Piece::Inner).unwrap(),
        sealer.seal(b"", Piece::Last).unwrap(),
    ];
    let mut opener = key.open(&capsule, b"words").unwrap();
    assert_eq!(*opener.open(&pieces[0], Piece::Inner).unwrap(), b"first");
    assert_eq!(*opener.open(&pieces[1], Piece::Inner).unwrap(), b"second");
    assert_eq!(*opener.open(&pieces[2], Piece::Last).unwrap(), b"");
    let refused = |key: &SealingKey, words: &[u8], piece: usize, place| {
        let mut opener = key.open(&capsule, words).unwrap();
        assert_eq!(
            opener.open(&pieces[piece], place).unwrap_err(),
            SealingError::Open
        );
    };
    refused(&other, b"words", 0, Piece::Inner);
    refused(&key, b"other words", 0, Piece::Inner);
    refused(&key, b"words", 1, Piece::Inner); // moved
    refused(&key, b"words", 0, Piece::Last); // cut off
    // No point of the curve that has the subgroup's order.
    let low = PublicSealingKey::from_bytes([0; 32]);
    assert!(matches!(low.seal(b""), Err(SealingError::Seal { .. })));
    assert!(key.open(&[0; 32], b"").is_err());
}

#[test]
fn rosters_have_sealing_keys() {
    let key = |i: u8| Fingerprint::of_spki(&[i]).to_string();
    let sealing: Vec<_> = (0..2)
        .map(|_| SealingKey::generate().unwrap().public())
        .collect();
    let section = |i: u8, rest: &str| {
        format!(
            "[[party]]\nname = \"p{i}\"\naddress = \"h:{}\"\nkey = \"{}\"\n{rest}",
            i + 1,
            key(i)
        )
    };
    let line = |i: usize| format!("sealing = \"{}\"\n", sealing[i]);
    let roster = Roster::parse(&(section(0, &line(0)) + &section(1, &line(1)))).unwrap();
    assert_eq!(roster.sealing_keys().unwrap(), sealing);
    assert_eq!(Roster::parse(&roster.to_toml()).unwrap(), roster);
    let without = Roster::parse(&(section(0, &line(0)) + &section(1, ""))).unwrap();
    let error = without.sealing_keys().unwrap_err();
    assert!(
        matches!(error.problem, RosterProblem::NoSealing { party: 1, .. }),
        "{error}"
    );
    let twice = Roster::parse(&(section(0, &line(0)) + &section(1, &line(0)))).unwrap_err();
    assert!(
        twice
            .to_string()
            .contains("the same sealing key as party 0"),
        "{twice}"
    );
    let wrong = Roster::parse(&(section(0, "sealing = \"x\"\n") + &section(1, ""))).unwrap_err();
    assert!(
        matches!(wrong.problem, RosterProblem::Sealing { party: 0, .. }),
        "{wrong}"
    );
    assert_eq!(wrong.line, Some(5));
}
