//! Processes that are killed at any moment never use an item twice.
//!
//! The test starts itself as a child that reserves and uses items job after job and says which, and
//! kills it. Normally ten times; `MADRIGAL_KILLS=200 cargo test -p madrigal-correlations-store --release
//! --test store_kill` for more.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_correlations_store::{Store, StoreKey, status};
use madrigal_testkit::{World, seed};

use crate::support::{Stores, columns, needs_of};

const PARTIES: usize = 2;
/// What the child is told: the directory of the stores.
const ROOT: &str = "MADRIGAL_TEST_STORE";
const HOLDS: &str = "bits=2M,u128=400k";
/// Items of a job.
const NEEDS: [&str; 3] = ["u128=3", "bits=77,u128=40", "u128=1,bits=8"];

/// The child: jobs until it is killed. Does nothing when it is run as a test like others.
#[test]
fn child() {
    let Ok(root) = std::env::var(ROOT) else {
        return;
    };
    let directory = |me: Party| std::path::Path::new(&root).join(format!("party{}", me.index()));
    for job in 0.. {
        let needs = needs_of(NEEDS[job % NEEDS.len()]);
        World::new(PARTIES, job as u64).run(|context| {
            let me = context.me();
            let key = StoreKey::load(&directory(me).with_extension("key")).unwrap();
            let mut store = Store::open(&directory(me), &key).unwrap();
            let needs = needs.clone();
            async move {
                let mut source = store.reserve(&context, &needs).await?;
                for (kind, count) in needs.kinds() {
                    let used = columns(&mut source, kind, count).await?;
                    if kind.to_string() == "u128" {
                        // One write for each item: it is in the pipe whole, or not at all. Not
                        // through `print!`, which the test program would keep for itself.
                        for item in used[0].chunks(16) {
                            let item = u128::from_le_bytes(item.try_into().unwrap());
                            let line = format!("{} {item:032x}\n", me.index());
                            std::io::stderr().write_all(line.as_bytes()).unwrap();
                        }
                    }
                }
                Ok(())
            }
        });
    }
}

#[test]
fn no_item_is_used_twice_wherever_a_process_is_killed() {
    let kills = std::env::var("MADRIGAL_KILLS").map_or(10, |text| text.parse::<u32>().unwrap());
    let stores = Stores::known(PARTIES, HOLDS);
    let mut random = seed() | 1;
    let mut used = HashSet::new();
    for _ in 0..kills {
        let before = used.len();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store_kill::child", "--nocapture"])
            .env(ROOT, stores.root())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Some time after its first item, so that also slow machines see it at work.
        let mut until = None;
        let mut strange = Vec::new();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let after = Duration::from_micros(random % 30_000);
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let (used, strange) = (&mut used, &mut strange);
            scope.spawn(move || {
                for line in lines.by_ref().map_while(Result::ok) {
                    let _ = sender.send(());
                    match line.split_once(' ') {
                        Some((party @ ("0" | "1"), item)) if item.len() == 32 => {
                            let item = (party.to_owned(), item.to_owned());
                            assert!(used.insert(item), "{line} was used twice");
                        }
                        _ => strange.push(line),
                    }
                }
            });
            // If the child fails, its end ends this too.
            let _ = receiver.recv_timeout(Duration::from_secs(60));
            let deadline = *until.get_or_insert(Instant::now() + after);
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
            child.kill().unwrap();
            child.wait().unwrap();
        });
        assert!(strange.is_empty(), "{}", strange.join("\n"));
        assert!(used.len() > before, "the child has done something");
        for me in Party::all(PARTIES) {
            status(&stores.directory(me), &stores.key(me), false).unwrap();
        }
    }
    // What is left still comes, and is nothing that was used.
    let last = stores.use_up("u128=100,bits=1000");
    for (me, last) in Party::all(PARTIES).zip(last) {
        let (last, kinds) = (last.unwrap(), needs_of("u128=100,bits=1000").kinds());
        let at = kinds
            .iter()
            .position(|(kind, _)| kind.to_string() == "u128");
        for item in last[at.unwrap()][0].chunks(16) {
            let item = u128::from_le_bytes(item.try_into().unwrap());
            let item = (me.index().to_string(), format!("{item:032x}"));
            assert!(used.insert(item), "an item of {me} was used before");
        }
    }
}
