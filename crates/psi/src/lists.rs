//! A party's list, as the protocol sees it.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};

use crate::plan::{PsiPlan, partition_of};

/// One party's list: digests of its keys by partition. Threads ask for different partitions at the same time.
pub trait List: Send + Sync {
    /// The digests of one partition: distinct, ascending, all of them of [this partition](crate::partition_of).
    ///
    /// # Errors
    /// A text that says what went wrong and what to do: it ends the run for both parties.
    fn digests(&self, partition: usize) -> std::result::Result<Zeroizing<Vec<Block>>, String>;

    /// The payloads of the keys of one partition, in the order of their digests: asked of the sender by a plan
    /// [with payloads](PsiPlan::with_payloads), after the digests of the partition.
    ///
    /// # Errors
    /// A text, likewise.
    fn payloads(&self, partition: usize) -> std::result::Result<Zeroizing<Vec<u64>>, String> {
        Err(format!(
            "the list has no payloads for partition {partition}"
        ))
    }

    /// Takes the places of the keys of one partition that the other party has too, among those that
    /// [`digests`](Self::digests) gave, in no particular order, and the payload of each where the receiver learns them. Each partition comes once,
    /// where the party learns the result.
    ///
    /// # Errors
    /// A text, likewise.
    fn matched(&self, partition: usize, matched: Matched) -> std::result::Result<(), String>;
}

/// Keys of a partition that both parties have.
#[derive(Default)]
pub struct Matched {
    /// Places of the keys.
    pub places: Vec<u32>,
    /// Payload of each; empty without payloads.
    pub payloads: Zeroizing<Vec<u64>>,
}

madrigal_core::opaque!(Matched);

/// The digests of a partition, checked.
pub(crate) fn digests_of(
    context: &Context,
    plan: &PsiPlan,
    list: &dyn List,
    (partition, most): (usize, usize),
) -> Result<Zeroizing<Vec<Block>>> {
    let end = |reason| context.fail(Error::Ended { reason });
    let digests = list.digests(partition).map_err(end)?;
    if digests.len() > most {
        let problem = format!(
            "partition {partition} has {} distinct keys, and the lists' sizes allow {most}: give the list's true size or a larger bound",
            digests.len()
        );
        return Err(end(problem));
    }
    let of_partition = |digest: Option<&Block>| {
        digest.is_none_or(|&d| partition_of(d, plan.partitions) == partition)
    };
    let ascending = digests.is_sorted_by(|a, b| u128::from(*a) < u128::from(*b));
    if !ascending || !of_partition(digests.first()) || !of_partition(digests.last()) {
        return Err(context.fail(Error::bug("digests of a partition are not in order")));
    }
    Ok(digests)
}
