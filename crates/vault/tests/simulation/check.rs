//! What must hold when all is calm.

use std::collections::{BTreeMap, BTreeSet};

use madrigal_vault::agreement::Outcome;

use super::disk::State;
use super::node::Node;
use super::world::{Found, World};

/// Checks the servers' disks against each other and against the clients' receipts.
pub(crate) fn check(world: &World) -> Found {
    let first = &world.nodes[0].disk;
    let mut batched = BTreeSet::new();
    for (i, node) in world.nodes.iter().enumerate() {
        if node.disk.history != first.history {
            return Err(format!("party {i} has other batches than party 0"));
        }
    }
    for batch in &first.history {
        for id in batch.ids.iter() {
            if !batched.insert(*id) {
                return Err(format!("an id is in batch {} and in one before", batch.n));
            }
        }
    }
    for batch in &first.history {
        let Outcome::Final { run } = batch.outcome else {
            continue;
        };
        let value = first.results.get(&(batch.n, run));
        for (i, node) in world.nodes.iter().enumerate() {
            let theirs = node.disk.results.get(&(batch.n, run));
            if theirs.is_none() || theirs != value {
                let n = batch.n;
                return Err(format!(
                    "results of batch {n} at party {i} are of another run"
                ));
            }
        }
    }
    let finals = first.history.iter();
    let finals = finals.filter(|batch| matches!(batch.outcome, Outcome::Final { .. }));
    let finals = finals.count();
    for (i, node) in world.nodes.iter().enumerate() {
        if node.disk.results.len() != finals {
            return Err(format!("party {i} keeps results that do not count"));
        }
        for (id, state) in &node.disk.ids {
            let ended = matches!(state, State::Ended { .. });
            if ended != batched.contains(id) {
                return Err(format!("party {i} has a submission as {state:?}"));
            }
        }
    }
    for upload in world.uploads.iter().filter(|_| !world.puts_back) {
        if upload.receipts.iter().all(|receipt| *receipt) && !batched.contains(&upload.id) {
            return Err("a submission with all receipts was not counted".to_owned());
        }
    }
    Ok(())
}

/// Checks that no id is in two batches of a server.
pub(crate) fn counts_once(node: &Node) -> Found {
    let mut batched = BTreeSet::new();
    let ids = node.disk.history.iter().flat_map(|batch| batch.ids.iter());
    match ids.into_iter().all(|id| batched.insert(*id)) {
        true => Ok(()),
        false => Err(format!("party {} has an id in two batches", node.index)),
    }
}

/// Checks that what is final at two servers is of one run, in one session.
pub(crate) fn same_results(world: &World) -> Found {
    let mut values = BTreeMap::new();
    for node in &world.nodes {
        for batch in &node.disk.history {
            let Outcome::Final { run } = batch.outcome else {
                continue;
            };
            let value = node.disk.results.get(&(batch.n, run)).copied();
            let ours = (run, batch.digest, value);
            let first = *values.entry(batch.n).or_insert(ours);
            if first != ours {
                return Err(format!(
                    "batch {} is of two runs, or has two lists",
                    batch.n
                ));
            }
        }
    }
    Ok(())
}
