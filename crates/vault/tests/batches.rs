//! Batches, their ends and results, quotas, and what goes away with time.

use madrigal_vault::agreement::{Outcome, Record};
use madrigal_vault::{
    Ages, Begun, Id, Limits, PIECE_BYTES, Quota, State, Submission, Vault, VaultError,
};

use crate::power::Disk;
use crate::submissions::{KIND, body, id, key, submission, vault};

#[test]
fn batches_take_and_end_submissions() {
    let vault = vault(&Disk::default());
    for number in 0..4 {
        let body = body(number, if number == 0 { 2000 } else { 20 });
        let _ = vault
            .submit(submission(number, &body), body, number)
            .wait()
            .unwrap();
    }
    let mut ids: Vec<Id> = (0..3).map(id).collect();
    ids.sort_unstable();
    let write = |record| vault.write(KIND, record, 50).wait();
    let prepare = |n, ids: &[Id]| {
        let (ids, refused) = (ids.into(), None);
        write(Record::Prepare { n, ids, refused })
    };
    let refused = |result| matches!(result, Err(VaultError::Contradiction { .. }));
    assert!(refused(prepare(2, &ids)));
    assert!(refused(prepare(1, &[id(0), id(77)])));
    assert!(refused(write(Record::Run {
        n: 1,
        run: 1,
        broken: 0
    })));
    prepare(1, &ids).unwrap();
    assert!(refused(prepare(2, &[id(3)])));
    let state = |number| vault.status(&id(number)).unwrap().unwrap().state;
    assert_eq!(
        (state(0), state(3)),
        (State::InBatch { n: 1 }, State::Accepted)
    );
    assert_eq!(vault.body(&id(0)).unwrap().len(), 2000);
    // What is in a batch can neither expire nor be barred.
    assert_eq!(
        write(Record::Bar {
            ids: vec![id(0), id(99)]
        })
        .unwrap(),
        [id(99)]
    );
    write(Record::Expire { ids: vec![id(0)] }).unwrap();
    assert_eq!(state(0), State::InBatch { n: 1 });
    assert_eq!(vault.members(KIND, 1).unwrap(), ids);
    write(Record::Run {
        n: 1,
        run: 1,
        broken: 0,
    })
    .unwrap();
    assert!(refused(write(Record::Run {
        n: 1,
        run: 1,
        broken: 0
    })));
    for run in [1, 2] {
        let piece = vec![run as u8; PIECE_BYTES];
        let length = vault
            .result(KIND, (1, run), "sum", 0, piece)
            .wait()
            .unwrap();
        let _ = vault
            .result(KIND, (1, run), "sum", length, vec![9; 5])
            .wait()
            .unwrap();
        let _ = vault
            .result(KIND, (1, run), "none", 0, Vec::new())
            .wait()
            .unwrap();
        let more = vault.result(KIND, (1, run), "sum", length + 5, vec![9; 5]);
        assert!(matches!(more.wait(), Err(VaultError::Offset { .. })));
    }
    assert!(vault.outputs(KIND, 1).unwrap().is_empty());
    write(Record::RunDone { n: 1, run: 2 }).unwrap();
    assert_eq!(vault.usage(KIND).results, PIECE_BYTES as u64 + 5);
    for of in [(1, 1), (1, 2), (2, 3), (1, u32::MAX)] {
        let late = vault.result(KIND, of, "late", 0, vec![1]);
        assert!(matches!(late.wait(), Err(VaultError::Contradiction { .. })));
    }
    let end = |run| {
        write(Record::End {
            n: 1,
            outcome: Outcome::Final { run },
        })
    };
    assert!(refused(end(1)));
    end(2).unwrap();
    assert!(refused(end(2)));
    assert_eq!(state(0), State::Counted { n: 1, run: 2 });
    assert!(matches!(vault.body(&id(0)), Err(VaultError::NoBody)));
    let outputs = vault.outputs(KIND, 1).unwrap();
    let told: Vec<_> = outputs
        .iter()
        .map(|o| (&o.name[..], o.run, o.length))
        .collect();
    assert_eq!(told, [("none", 2, 0), ("sum", 2, PIECE_BYTES as u64 + 5)]);
    let piece = vault.output(KIND, 1, "sum", PIECE_BYTES as u64).unwrap();
    assert_eq!(piece[..], [9; 5]);
    assert_eq!(
        vault
            .output(KIND, 1, "sum", PIECE_BYTES as u64 + 5)
            .unwrap()
            .len(),
        0
    );
    assert!(matches!(
        vault.output(KIND, 1, "other", 0),
        Err(VaultError::NoResult { .. })
    ));
    // A submission that is sent again is known, and counts no second time.
    let body = body(0, 2000);
    let again = vault.submit(submission(0, &body), body, 60).wait().unwrap();
    assert_eq!(again, Begun::Accepted { at: 0 });
    prepare(2, &[id(3)]).unwrap();
    let outcome = Outcome::Failed {
        reason: "no line".to_owned(),
    };
    write(Record::End {
        n: 2,
        outcome: outcome.clone(),
    })
    .unwrap();
    let failed = State::Failed {
        n: 2,
        reason: "no line".to_owned(),
    };
    assert_eq!(state(3), failed);
    assert_eq!(
        vault.batch(KIND, 2).unwrap().unwrap().ended,
        Some((outcome, 50))
    );
    let ages = Ages {
        receiving: 0,
        ended: u64::MAX,
        promised: u64::MAX,
        many: u64::MAX,
        results: 10,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    assert_eq!(vault.sweep(&ages, 60).wait().unwrap().batches, 1);
    assert_eq!(vault.batch(KIND, 1).unwrap(), None);
    assert_eq!(vault.restored(KIND).unwrap().closed.unwrap().n, 2);
    let used = vault.usage(KIND);
    assert_eq!((used.submissions, used.bytes, used.results), (0, 0, 0));
}

#[test]
fn quotas_hold_and_give_back() {
    let quota = |submissions, bytes| Quota { submissions, bytes };
    let limits = Limits {
        all: quota(5, 1 << 20),
        kind: quota(3, 3 * (Quota::EACH + 8 + 100)),
        kinds: [("polls".to_owned(), quota(9, 1000))].into(),
        ..Limits::default()
    };
    let disk = Disk::default();
    let vault = Vault::open_on(disk.clone(), &key(), limits.clone()).unwrap();
    let submit = |vault: &Vault, number, kind: &str, length| {
        let body = body(number, length);
        let submission = Submission {
            kind: kind.to_owned(),
            ..submission(number, &body)
        };
        vault.submit(submission, body, 1).wait()
    };
    for number in 0..3 {
        submit(&vault, number, KIND, 100).unwrap();
    }
    let full = submit(&vault, 3, KIND, 1).unwrap_err();
    assert!(
        full.to_string()
            .contains("number of submissions of kind votes"),
        "{full}"
    );
    submit(&vault, 4, "polls", 100).unwrap();
    let full = submit(&vault, 5, "polls", 100).unwrap_err();
    assert!(
        full.to_string()
            .contains("bytes of kind polls would pass 1000"),
        "{full}"
    );
    // Once more after a restart, from what is on disk.
    drop(vault);
    let vault = Vault::open_on(disk, &key(), limits).unwrap();
    submit(&vault, 6, "others", 100).unwrap();
    let full = submit(&vault, 7, "more", 100).unwrap_err();
    assert!(
        full.to_string()
            .contains("submissions of all kinds would pass 5"),
        "{full}"
    );
    let used = vault.usage_of_all();
    let ids = (0..3).map(id).collect();
    vault.write(KIND, Record::Expire { ids }, 9).wait().unwrap();
    submit(&vault, 3, KIND, 100).unwrap();
    let now = vault.usage_of_all();
    assert_eq!((now.submissions, now.remembered), (used.submissions - 2, 3));
    assert_eq!(vault.status(&id(0)).unwrap().unwrap().state, State::Expired);
    let expired = submit(&vault, 0, KIND, 100);
    assert!(matches!(expired, Err(VaultError::Expired)));
}

#[test]
fn what_is_old_goes_away() {
    let vault = vault(&Disk::default());
    let body = body(1, 2 * PIECE_BYTES);
    let _ = vault.begin(submission(1, &body), 100).wait().unwrap();
    let _ = vault
        .piece(id(1), 0, body[..PIECE_BYTES].to_vec())
        .wait()
        .unwrap();
    let _ = vault
        .submit(submission(2, b"two"), b"two".to_vec(), 100)
        .wait()
        .unwrap();
    vault
        .write(KIND, Record::Expire { ids: vec![id(2)] }, 200)
        .wait()
        .unwrap();
    let ages = Ages {
        receiving: 50,
        ended: 1000,
        promised: u64::MAX,
        many: u64::MAX,
        results: 1000,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    let sweep = |now| vault.sweep(&ages, now).wait().unwrap();
    assert_eq!((sweep(149).receiving, sweep(149).ended), (0, 0));
    assert_eq!(sweep(150).receiving, 1);
    assert_eq!(vault.status(&id(1)).unwrap(), None);
    assert_eq!(
        vault.begin(submission(1, &body), 151).wait().unwrap(),
        Begun::At(0)
    );
    assert_eq!((sweep(200).ended, sweep(1199).ended), (0, 0));
    assert_eq!(sweep(1200).ended, 1);
    assert_eq!(vault.status(&id(2)).unwrap(), None);
    let used = vault.usage_of_all();
    assert_eq!((used.submissions, used.remembered), (0, 0));
    assert_eq!(used.bytes, 0);
}

/// A note that goes with a record is on disk exactly if the record is.
#[test]
fn notes_go_with_their_records() {
    let disk = Disk::default();
    let first = vault(&disk);
    let whole = body(0, 20);
    let _ = first
        .submit(submission(0, &whole), whole, 0)
        .wait()
        .unwrap();
    let note = |value: &[u8]| ("spent".repeat(25), value.to_vec());
    let prepare = |n| Record::Prepare {
        n,
        ids: [id(0)].into(),
        refused: None,
    };
    let write = |n, value| first.write_noting(KIND, prepare(n), note(value), 1).wait();
    assert!(matches!(
        write(2, &b"no"[..]),
        Err(VaultError::Contradiction { .. })
    ));
    assert_eq!(first.noted(&note(b"").0).unwrap(), None);
    write(1, b"yes").unwrap();
    assert!(write(1, b"twice").is_err());
    drop(first);
    let second = vault(&disk);
    let noted = second.noted(&note(b"").0).unwrap().unwrap();
    assert_eq!(&noted[..], b"yes");
    assert_eq!(second.restored(KIND).unwrap().open.unwrap().n, 1);
    let long = ("x".repeat(129), Vec::new());
    let refused = second.write_noting(KIND, prepare(2), long, 1).wait();
    assert!(matches!(refused, Err(VaultError::Length { .. })));
}

/// Newest results of a kind that keeps them stay for good, and those before them go at once: also where later batches failed or are open.
#[test]
fn newest_results_stay() {
    let vault = vault(&Disk::default());
    let batch = |n: u64, ok: bool| {
        let whole = body(n, 20);
        let _ = vault
            .submit(submission(n, &whole), whole, n)
            .wait()
            .unwrap();
        let write = |record| vault.write(KIND, record, 10 * n).wait().unwrap();
        let (ids, refused) = ([id(n)].into(), None);
        write(Record::Prepare { n, ids, refused });
        let (run, broken) = (1, 0);
        write(Record::Run { n, run, broken });
        let written = vault.result(KIND, (n, 1), "held", 0, vec![n as u8; 9]);
        let _ = written.wait().unwrap();
        write(Record::RunDone { n, run });
        let outcome = match ok {
            true => Outcome::Final { run },
            false => Outcome::Failed {
                reason: "no line".to_owned(),
            },
        };
        write(Record::End { n, outcome });
    };
    let ages = |newest: bool| Ages {
        receiving: u64::MAX,
        ended: u64::MAX,
        promised: u64::MAX,
        many: u64::MAX,
        results: 100,
        results_of: Default::default(),
        newest_of: newest.then(|| KIND.to_owned()).into_iter().collect(),
    };
    let sweep = |newest, now| vault.sweep(&ages(newest), now).wait().unwrap().batches;
    let held = |n| vault.output(KIND, n, "held", 0).ok().map(|held| held[0]);
    assert_eq!(vault.newest_done(KIND).unwrap(), None);
    batch(1, true);
    assert_eq!((sweep(true, 1_000_000), held(1)), (0, Some(1)));
    batch(2, false);
    assert_eq!(vault.newest_done(KIND).unwrap(), Some(1));
    assert_eq!((sweep(true, 1_000_000), held(1)), (0, Some(1)));
    batch(3, true);
    // Nothing is old yet, and all before the newest goes all the same.
    assert_eq!(sweep(false, 31), 0);
    assert_eq!((sweep(true, 31), held(1), held(3)), (2, None, Some(3)));
    batch(4, false);
    batch(5, false);
    // A batch that failed after it goes by its age, and the last one stays for the agreement.
    assert_eq!((sweep(true, 141), held(3)), (1, Some(3)));
    assert_eq!(vault.batch(KIND, 4).unwrap(), None);
    assert_eq!(vault.restored(KIND).unwrap().closed.unwrap().n, 5);
    assert_eq!(
        (vault.newest_done(KIND).unwrap(), held(3)),
        (Some(3), Some(3))
    );
    assert_eq!(vault.usage(KIND).results, 9);
    // Results of other kinds go with time.
    assert_eq!((sweep(false, 1_000_000), held(3)), (1, None));
    assert_eq!(vault.newest_done(KIND).unwrap(), None);
}
