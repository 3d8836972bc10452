//! What must hold when all is calm.

use std::collections::BTreeSet;

use madrigal_vault::agreement::Outcome;

use super::disk::State;
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
    for upload in &world.uploads {
        if upload.receipts.iter().all(|receipt| *receipt) && !batched.contains(&upload.id) {
            return Err("a submission with all receipts was not counted".to_owned());
        }
    }
    Ok(())
}
