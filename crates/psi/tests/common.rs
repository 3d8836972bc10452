//! Lists in memory, and one party of a run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Prg, meter};
use madrigal_net::{Context, Error};
use madrigal_psi::{
    List, ListFailed, Matched, PsiPlan, Role, Security, Sizes, agree, intersect, partition_of,
};

/// A list in memory, and what it hears.
pub(crate) struct Plain {
    pub(crate) parts: Vec<Vec<Block>>,
    heard: Mutex<Vec<Option<BTreeSet<u128>>>>,
    /// Number of payloads that it heard, all of them right.
    pub(crate) payloads: Mutex<usize>,
}

/// The payload of a key, at any list.
pub(crate) fn payload(key: Block) -> u64 {
    key.hi().rotate_left(17) ^ key.lo()
}

impl Plain {
    pub(crate) fn new(digests: &[Block], partitions: usize) -> Self {
        let mut parts = vec![BTreeSet::new(); partitions];
        for &digest in digests {
            parts[partition_of(digest, partitions)].insert(u128::from(digest));
        }
        let parts = parts.into_iter();
        Self {
            parts: parts
                .map(|part| part.into_iter().map(Block::from).collect())
                .collect(),
            heard: Mutex::new(vec![None; partitions]),
            payloads: Mutex::default(),
        }
    }

    /// Keys that it heard are in both lists, by partition.
    pub(crate) fn some(&self) -> Vec<Option<BTreeSet<u128>>> {
        self.heard.lock().unwrap().clone()
    }

    /// All keys that it heard are in both lists, if it heard of all partitions.
    pub(crate) fn all(&self) -> Option<BTreeSet<u128>> {
        let mut all = BTreeSet::new();
        for heard in self.heard.lock().unwrap().iter() {
            all.extend(heard.as_ref()?);
        }
        Some(all)
    }
}

impl List for Plain {
    fn digests(&self, partition: usize) -> Result<Zeroizing<Vec<Block>>, ListFailed> {
        Ok(Zeroizing::new(self.parts[partition].clone()))
    }

    fn payloads(&self, partition: usize) -> Result<Zeroizing<Vec<u64>>, ListFailed> {
        let payloads = self.parts[partition].iter().map(|&key| payload(key));
        Ok(Zeroizing::new(payloads.collect()))
    }

    fn matched(&self, partition: usize, matched: Matched) -> Result<(), ListFailed> {
        for (&place, &found) in matched.places.iter().zip(matched.payloads.iter()) {
            assert_eq!(found, payload(self.parts[partition][place as usize]));
        }
        *self.payloads.lock().unwrap() += matched.payloads.len();
        let keys = matched
            .places
            .iter()
            .map(|&place| u128::from(self.parts[partition][place as usize]));
        let before = self.heard.lock().unwrap()[partition].replace(keys.collect());
        assert!(before.is_none(), "a partition comes once");
        Ok(())
    }
}

/// Keys that both lists have, and all the keys of each.
pub(crate) struct Trial {
    pub(crate) lists: [Vec<Block>; 2],
    pub(crate) common: BTreeSet<u128>,
}

pub(crate) fn trial(seed: u64, common: usize, receiver: usize, sender: usize) -> Trial {
    let mut prg = Prg::new(Block::new(seed, 77));
    let mut some = |n: usize| -> Vec<Block> {
        meter::unmetered(|| (0..n).map(|_| prg.next_block()).collect())
    };
    let (both, one, two) = (some(common), some(receiver), some(sender));
    let with = |own: Vec<Block>| [both.clone(), own].concat();
    let set = both.iter().map(|&key| u128::from(key)).collect();
    Trial {
        lists: [with(one), with(two)],
        common: set,
    }
}

/// Keys that the party heard both have, if it heard of any, and the plan.
pub(crate) type Outcome = (Option<BTreeSet<u128>>, PsiPlan);

/// How lists are matched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) partitions: usize,
    /// Whether the sender hears of it.
    pub(crate) replies: bool,
    pub(crate) threads: usize,
    pub(crate) security: Security,
}

impl How {
    pub(crate) const fn new(partitions: usize, replies: bool, threads: usize) -> Self {
        Self {
            partitions,
            replies,
            threads,
            security: Security::SemiHonest,
        }
    }

    pub(crate) const fn malicious(self) -> Self {
        Self {
            security: Security::Malicious,
            ..self
        }
    }
}

pub(crate) async fn party(
    context: Context,
    trial: &Trial,
    how: How,
) -> madrigal_net::Result<Outcome> {
    let me = context.me();
    let role = Role::of(me, Party::new(0));
    let list = Plain::new(&trial.lists[me.index()], how.partitions);
    let own = list.parts.iter().map(Vec::len).sum::<usize>() as u64;
    let told = agree(&context, own, 7).await?;
    let sizes = Sizes::of(told.map(|(size, _)| size), Party::new(0));
    let plan = PsiPlan::new(sizes, how.partitions, how.replies).map_err(|error| {
        let reason = error.to_string();
        context.fail(Error::Ended { reason })
    })?;
    let plan = plan.with_security(how.security);
    let list = Arc::new(list);
    let mut told = 0;
    let shared: Arc<dyn List> = list.clone();
    intersect(&context, &plan, role, shared, how.threads, |_| told += 1).await?;
    assert_eq!(told, how.partitions);
    Ok((list.all(), plan))
}
