//! Keys, and what somebody can do who has the disk and no key.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use madrigal_core::Zeroizing;
use madrigal_vault::agreement::Record;
use madrigal_vault::{Limits, PIECE_BYTES, Submission, Vault, VaultError, VaultKey};
use redb::{ReadableDatabase, ReadableTable, TableDefinition, TableHandle};

use crate::power::Disk;
use crate::random::Random;
use crate::submissions::{KIND, body, id, key, submission, vault};

type Rows<'a> = TableDefinition<'a, &'static [u8], &'static [u8]>;

const TABLES: [&str; 7] = [
    "submissions",
    "pieces",
    "batches",
    "members",
    "outputs",
    "results",
    "notes",
];

/// A vault with two rows or more in each table.
fn filled() -> Disk {
    let disk = Disk::default();
    let vault = vault(&disk);
    for number in 0..4 {
        let body = body(number, 5000);
        let kind = if number < 2 { KIND } else { "polls" };
        let submission = Submission {
            kind: kind.to_owned(),
            ..submission(number, &body)
        };
        let _ = vault.submit(submission, body, 1).wait().unwrap();
    }
    for (kind, number) in [(KIND, 0), ("polls", 2)] {
        let ids = [id(number)].as_slice().into();
        let record = Record::Prepare {
            n: 1,
            ids,
            refused: None,
        };
        vault.write(kind, record, 1).wait().unwrap();
        let piece = body(number, 100);
        let _ = vault.result(kind, (1, 1), "sum", 0, piece).wait().unwrap();
    }
    vault.note("one", Some(vec![1])).wait().unwrap();
    vault.note("two", Some(vec![2])).wait().unwrap();
    drop(vault);
    disk
}

/// Reads all that there is; the first error.
fn read_all(vault: &Vault) -> Result<(), VaultError> {
    for number in 0..4 {
        vault.status(&id(number))?;
        let body = vault.body(&id(number))?;
        assert!(
            body[..] == crate::submissions::body(number, 5000)[..],
            "another body"
        );
    }
    for (kind, number) in [(KIND, 0), ("polls", 2)] {
        let restored = vault.restored(kind)?;
        assert_eq!(restored.open.unwrap().ids[..], [id(number)]);
        vault
            .write(kind, Record::RunDone { n: 1, run: 1 }, 1)
            .wait()?;
        let outcome = madrigal_vault::agreement::Outcome::Final { run: 1 };
        vault.write(kind, Record::End { n: 1, outcome }, 1).wait()?;
        assert_eq!(vault.outputs(kind, 1)?[0].length, 100);
        assert_eq!(vault.output(kind, 1, "sum", 0)?[..], body(number, 100));
    }
    assert_eq!(vault.noted("one")?.unwrap()[..], [1]);
    assert_eq!(vault.noted("two")?.unwrap()[..], [2]);
    Ok(())
}

#[test]
fn values_cannot_be_swapped_changed_or_moved() {
    let bytes = filled().copy();
    read_all(&vault(&Disk::of(bytes.clone()))).unwrap();
    for table in TABLES {
        for swap in [true, false] {
            let disk = Disk::of(bytes.clone());
            let database = redb::Database::builder();
            let database = database.create_with_backend(disk.clone()).unwrap();
            let transaction = database.begin_write().unwrap();
            {
                let rows: Rows<'_> = TableDefinition::new(table);
                let mut rows = transaction.open_table(rows).unwrap();
                let all: Vec<(Vec<u8>, Vec<u8>)> = rows
                    .iter()
                    .unwrap()
                    .map(|row| row.unwrap())
                    .map(|(key, value)| (key.value().to_vec(), value.value().to_vec()))
                    .collect();
                assert!(all.len() > 1, "{table}");
                if swap {
                    rows.insert(&all[0].0[..], &all[1].1[..]).unwrap();
                    rows.insert(&all[1].0[..], &all[0].1[..]).unwrap();
                } else {
                    let mut changed = all[0].1.clone();
                    changed[20] ^= 1;
                    rows.insert(&all[0].0[..], &changed[..]).unwrap();
                }
            }
            transaction.commit().unwrap();
            drop(database);
            let error = read_all(&vault(&disk)).unwrap_err();
            assert!(
                matches!(error, VaultError::Damaged { table: found, .. } if found == table),
                "{table}: {error}"
            );
        }
    }
}

/// Bytes of shares, and values twice under one nonce, are nowhere in the file.
#[test]
fn nothing_is_in_the_clear_and_no_nonce_comes_twice() {
    let disk = filled();
    for round in 0..3 {
        let vault = vault(&disk);
        let body = vec![0xab; 300];
        let number = 10 + round;
        let _ = vault
            .submit(submission(number, &body), body, 1)
            .wait()
            .unwrap();
    }
    let bytes = disk.copy();
    for number in 0..4 {
        let part = &body(number, 5000)[100..132];
        assert!(!bytes.windows(32).any(|window| window == part));
    }
    assert!(!bytes.windows(32).any(|window| window == [0xab; 32]));
    let database = redb::Database::builder();
    let database = database.create_with_backend(disk).unwrap();
    let reading = database.begin_read().unwrap();
    let mut nonces = BTreeSet::new();
    let mut generations = BTreeSet::new();
    for table in reading.list_tables().unwrap() {
        if ["meta", "keys", "accepted", "arrived"].contains(&table.name()) {
            continue;
        }
        let rows: Rows<'_> = TableDefinition::new(table.name());
        for row in reading.open_table(rows).unwrap().iter().unwrap() {
            let value = row.unwrap().1.value().to_vec();
            if !value.is_empty() {
                generations.insert(value[..4].to_vec());
                assert!(nonces.insert(value[..12].to_vec()));
            }
        }
    }
    // Each opening has a key of its own.
    assert_eq!(generations.len(), 4);
}

#[test]
fn a_wrong_key_is_told() {
    let disk = filled();
    let other = VaultKey::generate().unwrap();
    let wrong = Vault::open_on(disk.clone(), &other, Limits::default());
    assert!(matches!(wrong, Err(VaultError::WrongKey)));
    read_all(&vault(&disk)).unwrap();
    assert_eq!(format!("{other:?}"), "VaultKey(..)");
}

#[test]
fn key_files_are_their_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.key");
    let load = || VaultKey::load(&path);
    let missing = load().unwrap_err();
    assert!(
        missing.to_string().contains("openssl rand -hex 32"),
        "{missing}"
    );
    let hex = "0123456789abcdefABCDEF9876543210".repeat(2);
    let raw = [0x0a; 32];
    let good: [&[u8]; 4] = [
        hex.as_bytes(),
        &[hex.as_bytes(), b"\n"].concat(),
        &[hex.as_bytes(), b"\r\n"].concat(),
        &raw,
    ];
    for text in good {
        write_private(&path, text);
        load().unwrap();
    }
    let long = [hex.as_bytes(), b"\n\n"].concat();
    let bad: [&[u8]; 6] = [
        b"",
        &hex.as_bytes()[1..],
        &[b'g'; 64],
        &[1; 31],
        &[1; 33],
        &long,
    ];
    for text in bad {
        write_private(&path, text);
        let damaged = load();
        assert!(
            matches!(damaged, Err(VaultError::KeyDamaged { .. })),
            "{text:?}"
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        write_private(&path, hex.as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let open = load();
        assert!(matches!(
            open,
            Err(VaultError::KeyReadable { mode: 0o640, .. })
        ));
    }
}

fn write_private(path: &Path, text: &[u8]) {
    fs::write(path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_file_is_private_and_open_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.vault");
    let open = || Vault::open(&path, &key(), Limits::default());
    let vault = open().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(matches!(open(), Err(VaultError::InUse)));
    let body = body(1, PIECE_BYTES);
    let _ = vault.submit(submission(1, &body), body, 1).wait().unwrap();
    drop(vault);
    assert_eq!(open().unwrap().body(&id(1)).unwrap().len(), PIECE_BYTES);
    fs::write(&path, "no vault at all, but long enough to be looked at").unwrap();
    assert!(open().is_err());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(open().is_err());
}

/// Damage anywhere in the file gives an error, or is where nothing is kept.
#[test]
fn damage_is_found() {
    let bytes = filled().copy();
    let mut random = Random::new(madrigal_testkit::seed());
    let (mut refused, mut damaged, mut whole) = (0, 0, 0);
    for _ in 0..300 {
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        if random.one_in(10) {
            bytes.truncate(random.below(bytes.len()));
        }
        match Vault::open_on(Disk::of(bytes), &key(), Limits::default()) {
            Err(_) => refused += 1,
            Ok(vault) => match read_all(&vault) {
                Err(_) => damaged += 1,
                Ok(()) => whole += 1,
            },
        }
    }
    println!("{refused} refused, {damaged} damaged, {whole} whole");
    assert!(refused > 30);
}

/// Stores beside the vault are to be read after a restart, and their key tells nothing of the vault's.
#[test]
fn the_key_of_stores_follows_from_the_vaults() {
    let of = |byte| {
        let key = VaultKey::from_bytes(Zeroizing::new([byte; 32]));
        key.of_stores().unwrap()
    };
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
    assert_ne!(*of(7), [7; 32]);
}
