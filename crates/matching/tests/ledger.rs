//! Ledgers count queries and refuse those beyond the limit.

use std::fs;

use madrigal_matching::{Entry, Ledger, LedgerError};

fn entry(with: &str) -> Entry {
    Entry {
        when: "2026-01-31T23:59:59Z".to_owned(),
        with: with.to_owned(),
        list: "a \"list\".csv".to_owned(),
        question: "rows, for all".to_owned(),
    }
}

#[test]
fn queries_beyond_the_limit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = |limit| Ledger {
        path: path.clone(),
        limit,
    };
    assert!(matches!(
        ledger(None).count(&entry("b")),
        Err(LedgerError::NoLimit { .. })
    ));
    assert!(!path.exists());
    assert_eq!(ledger(Some(2)).count(&entry("b\n[x]")).unwrap(), 1);
    assert!(matches!(
        ledger(Some(3)).count(&entry("b")),
        Err(LedgerError::OtherLimit {
            found: 2,
            flag: 3,
            ..
        })
    ));
    assert_eq!(ledger(None).count(&entry("\u{7f}é")).unwrap(), 2);
    let before = fs::read(&path).unwrap();
    assert!(matches!(
        ledger(Some(2)).count(&entry("b")),
        Err(LedgerError::Spent {
            found: 2,
            limit: 2,
            ..
        })
    ));
    assert_eq!(fs::read(&path).unwrap(), before);
    // The owner's comments stay.
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("limit = 2", "limit = 3 # one more for the audit");
    fs::write(&path, text).unwrap();
    assert_eq!(ledger(None).count(&entry("b")).unwrap(), 3);
    assert!(fs::read_to_string(&path).unwrap().contains("for the audit"));
}

#[test]
fn other_files_are_no_ledgers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    for text in [
        "",
        "limit = -1",
        "limit = 1\nlimits = 2",
        "[[query]]\n",
        "\u{feff}limit",
        "limit = 3\n[[query]]\nwhen = 3",
    ] {
        fs::write(&path, text).unwrap();
        let ledger = Ledger {
            path: path.clone(),
            limit: None,
        };
        assert!(
            matches!(ledger.count(&entry("b")), Err(LedgerError::Content { .. })),
            "{text}"
        );
    }
}

#[test]
fn runs_at_the_same_time_are_all_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = Ledger {
        path,
        limit: Some(20),
    };
    let counted: usize = std::thread::scope(|scope| {
        let count = || (0..5).filter(|_| ledger.count(&entry("b")).is_ok()).count();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(count)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(counted, 20);
}
