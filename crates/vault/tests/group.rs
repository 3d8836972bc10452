//! Operations that wait for the disk: together, bounded, and told of an end.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use madrigal_vault::{Begun, Limits, StorageBackend, Vault, VaultError};

use crate::power::Disk;
use crate::submissions::{body, id, key, submission, vault};

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize, std::sync::Mutex<Option<std::thread::Thread>>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = &*self.1.lock().unwrap() {
            thread.unpark();
        }
    }
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let woken = Arc::new(Woken::default());
    *woken.1.lock().unwrap() = Some(std::thread::current());
    let waker = Waker::from(woken);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn a_thousand_wait_and_few_commits_are_made() {
    let disk = Disk::default();
    let vault = vault(&disk);
    let before = disk.calls();
    let pendings: Vec<_> = (0..1000)
        .map(|number| {
            let body = body(number, 200);
            vault.submit(submission(number, &body), body, 1)
        })
        .collect();
    for pending in pendings {
        assert_eq!(block_on(pending).unwrap(), Begun::Accepted { at: 1 });
    }
    let calls = disk.calls() - before;
    println!("{calls} calls of the disk");
    // One by one there would be two and more for each.
    assert!(calls < 1500);
}

#[test]
fn callers_wait_for_room_and_nothing_is_lost() {
    let limits = Limits {
        waiting: 2,
        waiting_bytes: 1000,
        ..Limits::default()
    };
    let vault = Vault::open_on(Disk::default(), &key(), limits).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let vault = &vault;
            scope.spawn(move || {
                let pendings: Vec<_> = (0..100)
                    .map(|i| {
                        let number = thread << 32 | i;
                        // Longer than all room together, now and then.
                        let body = body(number, if i % 10 == 0 { 3000 } else { 50 });
                        vault.submit(submission(number, &body), body, 1)
                    })
                    .collect();
                for (i, pending) in pendings.into_iter().enumerate() {
                    if i % 2 == 0 {
                        pending.wait().unwrap();
                    } else {
                        block_on(pending).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(vault.usage_of_all().submissions, 400);
}

/// A disk whose syncs wait for a gate.
#[derive(Debug, Clone, Default)]
struct Gated {
    disk: Disk,
    shut: Arc<(Mutex<bool>, Condvar)>,
}

impl Gated {
    fn set(&self, shut: bool) {
        *self.shut.0.lock().unwrap() = shut;
        self.shut.1.notify_all();
    }
}

impl StorageBackend for Gated {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let shut = self.shut.0.lock().unwrap();
        drop(self.shut.1.wait_while(shut, |shut| *shut).unwrap());
        self.disk.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.disk.write(offset, data)
    }
}

/// Operations that found no room are done in the order in which they were first waited for, whoever came when there was room again, and whoever is dropped.
#[test]
fn room_is_given_in_order() {
    let limits = Limits {
        waiting: 2,
        ..Limits::default()
    };
    let disk = Gated::default();
    let vault = Vault::open_on(disk.clone(), &key(), limits).unwrap();
    disk.set(true);
    let count = || vault.count("order", 1, u64::MAX);
    let waker = Waker::from(Arc::new(Woken::default()));
    let mut context = Context::from_waker(&waker);
    // The first are under way or have room, the others wait.
    let mut waiting = Vec::new();
    for _ in 0..8 {
        let mut one = Box::pin(count());
        assert!(one.as_mut().poll(&mut context).is_pending());
        waiting.push(one);
    }
    // One that nobody wants any more holds up nobody, and is not done if it waited for room.
    drop(waiting.pop());
    disk.set(false);
    // A newcomer finds room perhaps, and is after those that waited.
    let newcomer = count().wait().unwrap().unwrap();
    let order: Vec<u64> = waiting
        .into_iter()
        .map(|one| block_on(one).unwrap().unwrap())
        .collect();
    assert_eq!(order, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(newcomer, 8);
}

#[test]
fn what_was_handed_over_is_done_though_nobody_waits() {
    let disk = Disk::default();
    let first = vault(&disk);
    for number in 0..50 {
        let body = body(number, 20);
        drop(first.submit(submission(number, &body), body, 1));
    }
    drop(first);
    let again = vault(&disk);
    assert!((0..50).all(|number| again.body(&id(number)).is_ok()));
}

#[test]
fn a_disk_that_fails_stops_the_vault_and_tells_all() {
    let disk = Disk::default();
    let vault = vault(&disk);
    disk.lose_after(0);
    let pendings: Vec<_> = (0..20)
        .map(|number| {
            let body = body(number, 20);
            vault.submit(submission(number, &body), body, 1)
        })
        .collect();
    for pending in pendings {
        assert!(matches!(block_on(pending), Err(VaultError::Stopped { .. })));
    }
    let after = vault.accept(id(1), 1).wait().unwrap_err();
    assert!(after.to_string().contains("no power"), "{after}");
}
