//! Seconds of matching two lists, both parties in this process, one after the other's digests are made.
//!
//! `cargo run --release -p madrigal-psi --example two_lists [KEYS [PARTITIONS [THREADS [malicious]]]]`
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Context;
use madrigal_psi::{
    List, ListFailed, Matched, PsiPlan, Role, Security, Sizes, intersect, partition_of,
};
use madrigal_testkit::World;

struct Digests {
    parts: Vec<Vec<Block>>,
    heard: Mutex<usize>,
}

impl List for Digests {
    fn digests(&self, partition: usize) -> Result<Zeroizing<Vec<Block>>, ListFailed> {
        Ok(Zeroizing::new(self.parts[partition].clone()))
    }

    fn matched(&self, _: usize, matched: Matched) -> Result<(), ListFailed> {
        if let Ok(mut heard) = self.heard.lock() {
            *heard += matched.places.len();
        }
        Ok(())
    }
}

/// Keys of one party, of which a half is the other's too.
fn list(party: u64, keys: usize, partitions: usize) -> Arc<Digests> {
    let mut digests = vec![Block::ZERO; keys];
    let (common, own) = digests.split_at_mut(keys / 2);
    Prg::new(Block::new(1, 1)).fill_blocks(common);
    Prg::new(Block::new(2, party)).fill_blocks(own);
    digests.sort_unstable_by_key(|&digest| u128::from(digest));
    let mut parts = vec![Vec::new(); partitions];
    for digest in digests {
        parts[partition_of(digest, partitions)].push(digest);
    }
    Arc::new(Digests {
        parts,
        heard: Mutex::default(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default| words.get(i).map_or(Ok(default), |word| word.parse());
    let (keys, partitions, threads) = (number(0, 1 << 20)?, number(1, 1)?, number(2, 1)?);
    let sizes = Sizes {
        receiver: keys as u64,
        sender: keys as u64,
    };
    let security = match words.get(3).map(String::as_str) {
        Some("malicious") => Security::Malicious,
        Some(other) => return Err(format!("{other} is not `malicious`").into()),
        None => Security::SemiHonest,
    };
    let plan = PsiPlan::new(sizes, partitions, false)?.with_security(security);
    let lists =
        madrigal_kernels::meter::unmetered(|| [0, 1].map(|party| list(party, keys, partitions)));
    for _ in 0..3 {
        let begun = Instant::now();
        let costs = World::new(2, 7).run(async |context: Context| {
            let me = context.me();
            let list: Arc<dyn List> = lists[me.index()].clone();
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list, threads, |_| ()).await
        });
        let seconds = begun.elapsed().as_secs_f64();
        let bytes: u64 = costs
            .iter()
            .map(|(_, cost)| cost.setup.bytes_sent + cost.online.bytes_sent)
            .sum();
        println!(
            "{keys} keys, {partitions} partitions, {threads} threads, {security:?}: {seconds:.3} s, {:.1} bytes a key",
            bytes as f64 / keys as f64
        );
    }
    let heard = lists[0].heard.lock().map_or(0, |heard| *heard);
    if heard != 3 * (keys / 2) {
        return Err(format!("{heard} matches in three runs, not {}", 3 * (keys / 2)).into());
    }
    Ok(())
}
