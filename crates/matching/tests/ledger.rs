//! Ledgers count queries and refuse those beyond the limit.

use std::fs;

use madrigal_matching::{Budget, Entry, Ledger, LedgerError};
use madrigal_noise::{Delta, Epsilon, Noise};

fn entry(with: &str) -> Entry {
    Entry {
        when: "2026-01-31T23:59:59Z".to_owned(),
        with: with.to_owned(),
        list: "a \"list\".csv".to_owned(),
        question: "rows, for all".to_owned(),
        noise: None,
        is_bounded: true,
        run: None,
    }
}

/// A run that goes on is counted once for each party that it may tell something.
#[test]
fn a_run_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = |limit| Ledger {
        path: folder.path().join("a.ledger"),
        limit,
        budget: None,
    };
    let of = |run: &str, with| Entry {
        run: Some(run.to_owned()),
        ..entry(with)
    };
    assert_eq!(ledger(Some(2)).count(&of("1f", "b\n")).unwrap(), 1);
    assert_eq!(ledger(None).count(&of("1f", "b\n")).unwrap(), 1);
    assert_eq!(ledger(None).count(&of("1f", "c")).unwrap(), 2);
    for again in ["b\n", "c"] {
        assert_eq!(ledger(Some(2)).count(&of("1f", again)).unwrap(), 2);
    }
    for other in [of("2f", "b\n"), entry("b\n"), of("1f", "d")] {
        let error = ledger(None).count(&other).unwrap_err();
        assert!(matches!(error, LedgerError::Spent { .. }), "{error}");
    }
    let limit = ledger(Some(3)).count(&of("1f", "c")).unwrap_err();
    assert!(matches!(limit, LedgerError::OtherLimit { .. }), "{limit}");
}

#[test]
fn queries_beyond_the_limit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = |limit| Ledger {
        path: path.clone(),
        limit,
        budget: None,
    };
    assert!(matches!(
        ledger(None).count(&entry("b")),
        Err(LedgerError::NoLimit { .. })
    ));
    assert!(!path.exists());
    assert_eq!(ledger(Some(2)).count(&entry("b\n[x]")).unwrap(), 1);
    assert!(matches!(
        ledger(Some(3)).count(&entry("b")),
        Err(LedgerError::OtherLimit { name: "limit", found, flag, .. }) if found == "2" && flag == "3"
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
        "budget = 0",
        "budget = -1.5",
        "budget = nan",
        "budget = 1e7",
        "budget = \"1\"",
        "limit = 1\nbudget_delta = 1e-6",
        "budget = 1\nbudget_delta = 0",
        "budget = 1\nbudget_delta = 1.1",
    ] {
        fs::write(&path, text).unwrap();
        let ledger = Ledger {
            path: path.clone(),
            limit: None,
            budget: None,
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
        budget: None,
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

/// A query with noise.
fn noisy(epsilon: f64) -> Entry {
    Entry {
        noise: Some(Noise::new(epsilon, 1e-9, 1).unwrap()),
        ..entry("b")
    }
}

#[test]
fn epsilons_beyond_the_budget_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = |limit, budget: Option<f64>| Ledger {
        path: path.clone(),
        limit,
        budget: budget.map(|budget| Budget {
            epsilon: Epsilon::new(budget).unwrap(),
            delta: None,
        }),
    };
    // A query that tells too much begins nothing.
    let exact = ledger(None, Some(1.0)).count(&entry("b"));
    assert!(matches!(exact, Err(LedgerError::Exact { .. })));
    assert!(!path.exists());
    // Tenths add up to one, and not to a bit more.
    let tenths = ledger(None, Some(1.0));
    for query in 1..=10 {
        assert_eq!(tenths.count(&noisy(0.1)).unwrap(), query);
    }
    let before = fs::read_to_string(&path).unwrap();
    assert!(
        before.contains("budget = 1\nbudget_delta = 1e-6\n") && !before.contains("limit"),
        "{before}"
    );
    assert_eq!(before.matches("epsilon = 0.1\ndelta = 1e-9\n").count(), 10);
    let over = ledger(None, None).count(&noisy(1e-9)).unwrap_err();
    assert!(matches!(over, LedgerError::OverBudget { .. }), "{over}");
    assert!(over.to_string().contains("epsilons of 1 in all"), "{over}");
    for (limit, budget, told) in [
        (None, Some(2.0), "--budget 2: "),
        (Some(3), None, "--limit 3: "),
    ] {
        let error = ledger(limit, budget).count(&noisy(0.1)).unwrap_err();
        assert!(matches!(error, LedgerError::OtherLimit { .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    assert!(matches!(
        ledger(None, None).count(&entry("b")),
        Err(LedgerError::Exact { .. })
    ));
    let unbounded = Entry {
        is_bounded: false,
        ..noisy(0.1)
    };
    assert!(matches!(
        ledger(None, None).count(&unbounded),
        Err(LedgerError::Unbounded { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    // The owner raises it, and adds a limit.
    fs::write(
        &path,
        before.replace("budget = 1\n", "budget = 1.25\nlimit = 12\n"),
    )
    .unwrap();
    let raised = ledger(Some(12), Some(1.25));
    assert!(matches!(
        raised.count(&noisy(0.26)),
        Err(LedgerError::OverBudget { .. })
    ));
    assert_eq!(raised.count(&noisy(0.1)).unwrap(), 11);
    assert_eq!(raised.count(&noisy(0.1)).unwrap(), 12);
    assert!(matches!(
        raised.count(&noisy(0.01)),
        Err(LedgerError::Spent {
            found: 12,
            limit: 12,
            ..
        })
    ));
}

/// Deltas add up to the budget's and not to a unit of 1e-15 more, and a query that does not say its own is an error.
#[test]
fn deltas_beyond_the_budget_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = |delta: Option<f64>| Ledger {
        path: path.clone(),
        limit: None,
        budget: Some(Budget {
            epsilon: Epsilon::new(5.0).unwrap(),
            delta: delta.map(|delta| Delta::new(delta).unwrap()),
        }),
    };
    let asks = |delta| Entry {
        noise: Some(Noise::new(1.0, delta, 1).unwrap()),
        ..entry("b")
    };
    assert_eq!(ledger(Some(3e-4)).count(&asks(1e-4)).unwrap(), 1);
    assert_eq!(ledger(None).count(&asks(1e-4)).unwrap(), 2);
    for delta in [1e-3, 1e-4 + 1e-15] {
        let error = ledger(None).count(&asks(delta)).unwrap_err();
        assert!(matches!(error, LedgerError::OverDelta { .. }), "{error}");
        assert!(error.to_string().contains("deltas of 2e-4 in all"));
    }
    assert_eq!(ledger(Some(3e-4)).count(&asks(1e-4)).unwrap(), 3);
    let error = ledger(None).count(&asks(1e-15)).unwrap_err();
    assert!(matches!(error, LedgerError::OverDelta { .. }), "{error}");
    let error = ledger(Some(1e-6)).count(&asks(1e-15)).unwrap_err();
    assert!(matches!(error, LedgerError::OtherLimit { .. }), "{error}");
    assert!(error.to_string().contains("a delta of 1e-6"), "{error}");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("delta = 1e-4\n", "", 1)).unwrap();
    let error = ledger(None).count(&asks(1e-15)).unwrap_err();
    assert!(matches!(error, LedgerError::Content { .. }), "{error}");
    assert!(error.to_string().contains("no `delta`"), "{error}");
    // A file that does not say allows one chance in a million.
    fs::write(&path, "budget = 5\n").unwrap();
    let error = ledger(None).count(&asks(1e-6 + 1e-15)).unwrap_err();
    assert!(matches!(error, LedgerError::OverDelta { .. }), "{error}");
    assert_eq!(ledger(None).count(&asks(1e-6)).unwrap(), 1);
}

/// A ledger that has only a limit takes both sorts, and gets no budget after an exact answer.
#[test]
fn no_budget_covers_answers_without_noise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = |limit| Ledger {
        path: path.clone(),
        limit,
        budget: None,
    };
    assert_eq!(ledger(Some(5)).count(&noisy(2.0)).unwrap(), 1);
    assert_eq!(ledger(None).count(&entry("b")).unwrap(), 2);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("limit = 5", "budget = 100")).unwrap();
    let error = ledger(None).count(&noisy(1.0)).unwrap_err();
    assert!(matches!(error, LedgerError::Content { .. }), "{error}");
    assert!(error.to_string().contains("without noise"), "{error}");
}
