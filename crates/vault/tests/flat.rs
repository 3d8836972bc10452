//! A file that does not grow with the jobs that were done.

use madrigal_vault::agreement::{Outcome, Record};
use madrigal_vault::{Ages, Vault};

use crate::power::Disk;
use crate::submissions::{KIND, body, id, submission, vault};

/// A job of two submissions, begun and ended: one transaction or two.
fn job(vault: &Vault, n: u64) {
    let numbers = [2 * n, 2 * n + 1];
    for number in numbers {
        let body = body(number, 1500);
        drop(vault.submit(submission(number, &body), body, n));
    }
    let mut ids = numbers.map(id);
    ids.sort_unstable();
    let ids = ids.as_slice().into();
    let outcome = Outcome::Final { run: 1 };
    let write = |record| drop(vault.write(KIND, record, n));
    write(Record::Prepare {
        n,
        ids,
        refused: None,
    });
    write(Record::Run {
        n,
        run: 1,
        broken: 0,
    });
    drop(vault.result(KIND, (n, 1), "sum", 0, body(n, 3000)));
    write(Record::RunDone { n, run: 1 });
    vault
        .write(KIND, Record::End { n, outcome }, n)
        .wait()
        .unwrap();
}

#[test]
fn ten_thousand_jobs_leave_the_file_as_it_was() {
    let disk = Disk::default();
    let vault = vault(&disk);
    let ages = Ages {
        receiving: 100,
        ended: 100,
        promised: u64::MAX,
        many: u64::MAX,
        results: 100,
        results_of: Default::default(),
        newest_of: Default::default(),
    };
    let mut sizes = Vec::new();
    for n in 1..=10_000 {
        job(&vault, n);
        if n % 50 == 0 {
            let swept = vault.sweep(&ages, n).wait().unwrap();
            assert!(!swept.more);
        }
        if n % 1000 == 0 {
            sizes.push(disk.bytes());
        }
    }
    println!("bytes after each thousand jobs: {sizes:?}");
    assert!(sizes[9] <= sizes[0] * 5 / 4, "{sizes:?}");
    let used = vault.usage_of_all();
    assert!(used.remembered <= 400 && used.submissions == 0);
    // With nothing to keep, compaction gives the space back.
    for _ in 0..3 {
        let all = Ages {
            receiving: 0,
            ended: 0,
            promised: u64::MAX,
            many: u64::MAX,
            results: 0,
            results_of: Default::default(),
            newest_of: Default::default(),
        };
        let _ = vault.sweep(&all, 20_000).wait().unwrap();
    }
    let before = disk.bytes();
    assert!(vault.compact().wait().unwrap());
    assert!(disk.bytes() < before / 2, "{before} to {}", disk.bytes());
    assert_eq!(vault.restored(KIND).unwrap().closed.unwrap().n, 10_000);
}
