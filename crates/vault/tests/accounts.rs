//! Accounts: what one client may take up of a vault, and what is remembered of submissions that have ended.

use madrigal_vault::agreement::{Host, Outcome, Record};
use madrigal_vault::{
    Ages, Begun, Limits, Policy, Quota, Shares, State, Submission, Usage, Vault, VaultError, View,
};
use redb::{ReadableTable, TableDefinition};

use crate::power::Disk;
use crate::submissions::{KIND, body, id, key, submission};

const OTHER: &str = "polls";

struct All;

impl Policy for All {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        1000
    }

    fn refuses(&self, _: u64, _: &[madrigal_vault::Id]) -> Option<String> {
        None
    }
}

/// Submits a body of 100 bytes at a time.
fn submit(
    vault: &Vault,
    (number, now): (u64, u64),
    kind: &str,
    account: &str,
) -> Result<Begun, VaultError> {
    let body = body(number, 100);
    let submission = Submission {
        kind: kind.to_owned(),
        account: account.to_owned(),
        ..submission(number, &body)
    };
    vault.submit(submission, body, now).wait()
}

fn refused(done: Result<Begun, VaultError>, whose: &str, what: &str, limit: u64) {
    let text = match done {
        Err(error @ VaultError::Share { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let expected = format!("{whose} would have more than {limit} as the {what}");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("bring more once"), "{text}");
}

/// Bytes that a submission of `submit` counts.
const EACH: u64 = Quota::EACH + 8 + 100;

#[test]
fn one_client_fills_neither_a_kind_nor_the_storage() {
    let quota = |submissions, bytes| Quota { submissions, bytes };
    let limits = Limits {
        shares: Shares {
            each: quota(5, u64::MAX),
            strangers: quota(u64::MAX, 4 * EACH),
        },
        shares_of: [(
            KIND.to_owned(),
            Shares {
                each: quota(3, u64::MAX),
                strangers: Quota::ANY,
            },
        )]
        .into(),
        ..Limits::default()
    };
    let disk = Disk::default();
    let vault = Vault::open_on(disk.clone(), &key(), limits.clone()).unwrap();
    for number in 0..3 {
        submit(&vault, (number, 1), KIND, "ann").unwrap();
    }
    let waits = "number of submissions that wait";
    refused(submit(&vault, (3, 1), KIND, "ann"), "client ann", waits, 3);
    // The other kind has room for two, and others are not kept out.
    submit(&vault, (4, 1), OTHER, "ann").unwrap();
    submit(&vault, (5, 1), OTHER, "ann").unwrap();
    refused(submit(&vault, (6, 1), OTHER, "ann"), "client ann", waits, 5);
    submit(&vault, (7, 1), KIND, "bob").unwrap();
    // Those who have no account share one, by bytes, over all kinds.
    for (number, kind) in [(10, KIND), (11, OTHER), (12, KIND), (13, OTHER)] {
        submit(&vault, (number, 1), kind, "").unwrap();
    }
    let bytes = "bytes of submissions that wait";
    let strangers = "clients that are not known by a key or a token";
    refused(
        submit(&vault, (14, 1), KIND, ""),
        strangers,
        bytes,
        4 * EACH,
    );
    submit(&vault, (8, 1), KIND, "bob").unwrap();
    // One that is there already is found, whoever is full.
    assert_eq!(
        submit(&vault, (0, 9), KIND, "ann").unwrap(),
        Begun::Accepted { at: 1 }
    );
    // A restart changes nothing of it: all is on disk.
    drop(vault);
    let vault = Vault::open_on(disk.clone(), &key(), limits.clone()).unwrap();
    refused(submit(&vault, (3, 1), KIND, "ann"), "client ann", waits, 5);
    refused(
        submit(&vault, (14, 1), KIND, ""),
        strangers,
        bytes,
        4 * EACH,
    );
    // In a batch they count, and wait no more.
    let mut ids = vec![id(0), id(1), id(10)];
    ids.sort_unstable();
    let record = Record::Prepare {
        n: 1,
        ids: ids.into(),
        refused: None,
    };
    vault.write(KIND, record, 2).wait().unwrap();
    let used = vault.usage_of_account(KIND, "ann");
    assert_eq!(
        (used.submissions, used.waiting, used.bytes),
        (3, 1, 3 * EACH)
    );
    refused(submit(&vault, (3, 1), KIND, "ann"), "client ann", waits, 5);
    let outcome = Outcome::Failed {
        reason: "no".to_owned(),
    };
    vault
        .write(KIND, Record::End { n: 1, outcome }, 3)
        .wait()
        .unwrap();
    submit(&vault, (3, 4), KIND, "ann").unwrap();
    submit(&vault, (14, 4), KIND, "").unwrap();
    let used = vault.usage_of_account(KIND, "ann");
    assert_eq!((used.submissions, used.remembered), (2, 2));
    // An account in which nothing counts any more has no row.
    let ages = Ages {
        receiving: 0,
        ended: 0,
        promised: 0,
        many: 0,
        results: 0,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    let ids = vec![id(2), id(3)];
    vault.write(KIND, Record::Expire { ids }, 5).wait().unwrap();
    let _ = vault.sweep(&ages, 6).wait().unwrap();
    assert_eq!(vault.usage_of_account(KIND, "ann"), Usage::default());
    assert_eq!(vault.usage_of_account(OTHER, "ann").submissions, 2);
    drop(vault);
    let vault = Vault::open_on(disk, &key(), limits).unwrap();
    assert_eq!(vault.usage_of_account(KIND, "ann"), Usage::default());
    assert_eq!(vault.usage_of_account(KIND, "bob").waiting, 2);
}

#[test]
fn what_has_ended_is_remembered_as_promised() {
    let limits = Limits {
        remembered: 8,
        ..Limits::default()
    };
    let vault = Vault::open_on(Disk::default(), &key(), limits).unwrap();
    let expire = |number, now| {
        let ids = vec![id(number)];
        vault
            .write(KIND, Record::Expire { ids }, now)
            .wait()
            .unwrap();
    };
    let ages = Ages {
        receiving: u64::MAX,
        ended: 1000,
        promised: 100,
        many: 4,
        results: u64::MAX,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    let sweep = |now| vault.sweep(&ages, now).wait().unwrap().ended;
    // A quarter of them are of one account, and half of those who have none.
    for (number, account) in [(0, "ann"), (1, "ann"), (2, ""), (3, ""), (4, ""), (5, "")] {
        submit(&vault, (number, number), KIND, account).unwrap();
        expire(number, number);
    }
    let ended = "number of submissions that have ended and must be remembered";
    refused(submit(&vault, (6, 6), KIND, "ann"), "client ann", ended, 2);
    let strangers = "clients that are not known by a key or a token";
    refused(submit(&vault, (6, 6), KIND, ""), strangers, ended, 4);
    for number in [7, 8] {
        submit(&vault, (number, number), KIND, "bob").unwrap();
        expire(number, number);
    }
    // All together are too many now.
    let full = submit(&vault, (9, 9), KIND, "carol").unwrap_err();
    assert!(full.to_string().contains("would pass 8"), "{full}");
    // None goes before its time, however many there are; then the oldest go, down to the four that are no trouble.
    assert_eq!((sweep(99), sweep(100), sweep(102)), (0, 1, 2));
    assert_eq!((sweep(150), sweep(500)), (1, 0));
    assert_eq!(vault.status(&id(3)).unwrap(), None);
    assert_eq!(vault.status(&id(4)).unwrap().unwrap().state, State::Expired);
    assert!(matches!(
        submit(&vault, (4, 510), KIND, ""),
        Err(VaultError::Expired)
    ));
    submit(&vault, (6, 510), KIND, "ann").unwrap();
    assert_eq!(sweep(1008), 4);
}

#[test]
fn results_that_fill_the_disk_keep_submissions_out() {
    let limits = Limits {
        results: 100,
        ..Limits::default()
    };
    let vault = Vault::open_on(Disk::default(), &key(), limits).unwrap();
    submit(&vault, (1, 1), KIND, "ann").unwrap();
    let record = Record::Prepare {
        n: 1,
        ids: [id(1)].into(),
        refused: None,
    };
    vault.write(KIND, record, 1).wait().unwrap();
    submit(&vault, (2, 1), KIND, "ann").unwrap();
    let _ = vault
        .result(KIND, (1, 1), "sum", 0, vec![7; 100])
        .wait()
        .unwrap();
    let full = submit(&vault, (3, 1), KIND, "ann").unwrap_err();
    assert!(full.to_string().contains("bytes of results"), "{full}");
    vault
        .write(KIND, Record::RunDone { n: 1, run: 1 }, 1)
        .wait()
        .unwrap();
    let outcome = Outcome::Final { run: 1 };
    vault
        .write(KIND, Record::End { n: 1, outcome }, 1)
        .wait()
        .unwrap();
    let ages = Ages {
        receiving: u64::MAX,
        ended: u64::MAX,
        promised: u64::MAX,
        many: u64::MAX,
        results: 10,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    let _ = vault.sweep(&ages, 20).wait().unwrap();
    submit(&vault, (3, 20), KIND, "ann").unwrap();
}

/// A vault of a version that had neither accounts nor orders is counted when it is opened.
#[test]
fn an_older_vault_is_counted() {
    let disk = Disk::default();
    let vault = Vault::open_on(disk.clone(), &key(), Limits::default()).unwrap();
    for number in 0..6 {
        // An older version counts each in the account of its client's name.
        submit(&vault, (number, 10 - number), KIND, "alice").unwrap();
    }
    let mut ids = vec![id(0), id(1)];
    ids.sort_unstable();
    let record = Record::Prepare {
        n: 1,
        ids: ids.into(),
        refused: None,
    };
    vault.write(KIND, record, 20).wait().unwrap();
    let ids = vec![id(2)];
    vault
        .write(KIND, Record::Expire { ids }, 20)
        .wait()
        .unwrap();
    let long = body(9, 70_000);
    let _ = vault.begin(submission(9, &long), 21).wait().unwrap();
    let told = |vault: &Vault| {
        let view = View::new(vault, KIND, &All, 30);
        let mut waiting = view.waiting(0, 100);
        waiting.sort_unstable_by_key(|one| (one.at, one.id));
        let waiting: Vec<_> = waiting.into_iter().map(|one| (one.at, one.id)).collect();
        (
            waiting,
            vault.usage(KIND),
            vault.usage_of_account(KIND, "alice"),
        )
    };
    let expected = told(&vault);
    assert_eq!(expected.0.len(), 3);
    drop(vault);
    let database = redb::Database::builder();
    let database = database.create_with_backend(disk.clone()).unwrap();
    let transaction = database.begin_write().unwrap();
    let table = TableDefinition::<&[u8], &[u8]>::new;
    {
        let mut meta = transaction.open_table(table("meta")).unwrap();
        meta.remove(&b"arrivals"[..]).unwrap();
        for name in ["arrived", "accounts"] {
            let mut rows = transaction.open_table(table(name)).unwrap();
            rows.retain(|_, _| false).unwrap();
        }
        let mut accepted = transaction.open_table(table("accepted")).unwrap();
        let keys = accepted.iter().unwrap();
        let keys: Vec<Vec<u8>> = keys.map(|row| row.unwrap().0.value().to_vec()).collect();
        for key in keys {
            accepted.insert(&key[..], &[][..]).unwrap();
        }
    }
    transaction.commit().unwrap();
    drop(database);
    let vault = Vault::open_on(disk.clone(), &key(), Limits::default()).unwrap();
    assert_eq!(told(&vault), expected);
    // Once is enough.
    drop(vault);
    let vault = Vault::open_on(disk, &key(), Limits::default()).unwrap();
    assert_eq!(told(&vault), expected);
    // The oldest one is the first in order.
    let view = View::new(&vault, KIND, &All, 30);
    assert!(view.waiting(0, 100).is_sorted_by_key(|one| one.at));
}

/// Whoever has read what waits hears of all that comes after it, although nothing is left of what was read.
#[test]
fn orders_go_on_after_a_restart() {
    let disk = Disk::default();
    let vault = Vault::open_on(disk.clone(), &key(), Limits::default()).unwrap();
    for number in 0..5 {
        submit(&vault, (number, 1), KIND, "ann").unwrap();
    }
    drop(vault);
    let vault = Vault::open_on(disk, &key(), Limits::default()).unwrap();
    let view = View::new(&vault, KIND, &All, 2);
    let read = view.waiting(0, 100).last().unwrap().order;
    let ids = (0..5).map(id).collect();
    vault.write(KIND, Record::Expire { ids }, 2).wait().unwrap();
    // A clock that was set back changes nothing of it.
    submit(&vault, (5, 0), KIND, "ann").unwrap();
    let then = view.waiting(read, 100);
    assert_eq!(then.iter().map(|one| one.id).collect::<Vec<_>>(), [id(5)]);
}

/// Results of each kind are kept for its own time, and the first batch that has some is found without a look at all others.
#[test]
fn results_are_kept_for_the_time_of_their_kind() {
    let vault = Vault::open_on(Disk::default(), &key(), Limits::default()).unwrap();
    for (kind, first) in [(KIND, 0), (OTHER, 100)] {
        for n in 1..=4 {
            submit(&vault, (first + n, n), kind, "ann").unwrap();
            let record = Record::Prepare {
                n,
                ids: [id(first + n)].into(),
                refused: None,
            };
            vault.write(kind, record, n).wait().unwrap();
            let outcome = match n {
                2 => Outcome::Failed {
                    reason: "no".to_owned(),
                },
                _ => {
                    let piece = vec![7; 10];
                    let _ = vault.result(kind, (n, 1), "sum", 0, piece).wait().unwrap();
                    let record = Record::RunDone { n, run: 1 };
                    vault.write(kind, record, n).wait().unwrap();
                    Outcome::Final { run: 1 }
                }
            };
            vault
                .write(kind, Record::End { n, outcome }, n)
                .wait()
                .unwrap();
        }
    }
    let next = |kind| -> Vec<Option<u64>> {
        let found = (0..6).map(|after| vault.next_done(kind, after).unwrap());
        found.collect()
    };
    let all = [Some(1), Some(3), Some(3), Some(4), None, None];
    assert_eq!((&next(KIND)[..], &next(OTHER)[..]), (&all[..], &all[..]));
    let ages = Ages {
        receiving: u64::MAX,
        ended: u64::MAX,
        promised: u64::MAX,
        many: u64::MAX,
        results: 5,
        results_of: [(OTHER.to_owned(), 100)].into(),
        newest_of: Default::default(),
    };
    assert_eq!(vault.sweep(&ages, 7).wait().unwrap().batches, 2);
    let rest = [Some(3), Some(3), Some(3), Some(4), None, None];
    assert_eq!((&next(KIND)[..], &next(OTHER)[..]), (&rest[..], &all[..]));
    // The last batch stays, without its results.
    assert_eq!(vault.sweep(&ages, 50).wait().unwrap().batches, 1);
    assert_eq!(
        (&next(KIND)[..], &next(OTHER)[..]),
        (&[None; 6][..], &all[..])
    );
    assert!(vault.batch(KIND, 4).unwrap().is_some());
    assert_eq!(vault.next_done(KIND, u64::MAX).unwrap(), None);
}

/// A body that came in pieces can be looked at before it is accepted, and no batch can have it until then.
#[test]
fn a_body_is_looked_at_before_it_is_accepted() {
    let vault = Vault::open_on(Disk::default(), &key(), Limits::default()).unwrap();
    for (number, length) in [(1, 100), (2, 70_000)] {
        let bytes = body(number, length);
        let of = submission(number, &bytes);
        let header = of.header.clone();
        let _ = vault.begin(of, 1).wait().unwrap();
        assert!(matches!(
            vault.whole(id(number)).wait(),
            Err(VaultError::Incomplete { .. })
        ));
        let mut pieces = Vec::new();
        for (i, piece) in bytes.chunks(madrigal_vault::PIECE_BYTES).enumerate() {
            assert_eq!(vault.received(&id(number)).unwrap(), None);
            let offset = (i * madrigal_vault::PIECE_BYTES) as u64;
            pieces.push(vault.piece(id(number), offset, piece.to_vec()));
        }
        // All pieces that were handed over before are there, though nobody has waited for them.
        assert_eq!(vault.whole(id(number)).wait().unwrap(), None);
        let (told, whole) = vault.received(&id(number)).unwrap().unwrap();
        assert_eq!((told, &whole[..]), (header, &bytes[..]));
        assert!(
            View::new(&vault, KIND, &All, 2)
                .waiting(0, 9)
                .iter()
                .all(|one| one.id != id(number))
        );
        assert_eq!(vault.accept(id(number), 5).wait().unwrap(), 5);
        assert_eq!(vault.received(&id(number)).unwrap(), None);
        assert_eq!(vault.whole(id(number)).wait().unwrap(), Some(5));
    }
    // A body with another digest is dropped, and comes again from the beginning.
    let bytes = body(3, 70_000);
    let mut of = submission(5, &bytes);
    of.digest = [1; 32];
    let _ = vault.begin(of.clone(), 1).wait().unwrap();
    for (i, piece) in bytes.chunks(madrigal_vault::PIECE_BYTES).enumerate() {
        let offset = (i * madrigal_vault::PIECE_BYTES) as u64;
        let _ = vault.piece(id(5), offset, piece.to_vec()).wait().unwrap();
    }
    assert!(matches!(vault.whole(id(5)).wait(), Err(VaultError::Digest)));
    assert_eq!(vault.begin(of, 1).wait().unwrap(), Begun::At(0));
}
