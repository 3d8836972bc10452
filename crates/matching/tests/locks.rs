//! Locks whose files are removed by who holds them keep all others away.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[path = "../src/state/lock.rs"]
mod lock;

use lock::take;

#[test]
fn a_lock_is_held_once_though_its_file_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let first = take(&path).unwrap().unwrap();
    assert!(take(&path).unwrap().is_none());
    fs::remove_file(&path).unwrap();
    // The file is another one now.
    let second = take(&path).unwrap().unwrap();
    drop(first);
    assert!(take(&path).unwrap().is_none());
    drop(second);
    let (held, times) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let Some(lock) = take(&path).unwrap() else {
                        continue;
                    };
                    assert_eq!(held.fetch_add(1, SeqCst), 0);
                    times.fetch_add(1, SeqCst);
                    thread::yield_now();
                    assert_eq!(held.fetch_sub(1, SeqCst), 1);
                    fs::remove_file(&path).unwrap();
                    drop(lock);
                }
            });
        }
    });
    assert!(times.into_inner() > 10);
}
