//! A party's list, as the protocol sees it.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};

use crate::plan::{PsiPlan, partition_of};

/// A list that fails. It says nothing of how: the other party hears that it failed, and the reason may be about what it must not know. A list keeps
/// the reason for its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListFailed;

/// One party's list: digests of its keys by partition. Threads ask for different partitions at the same time.
pub trait List: Send + Sync {
    /// The digests of one partition: distinct, ascending, all of them of [this partition](crate::partition_of).
    ///
    /// # Errors
    /// [`ListFailed`] ends the run for both parties.
    fn digests(&self, partition: usize) -> std::result::Result<Zeroizing<Vec<Block>>, ListFailed>;

    /// The payloads of the keys of one partition, in the order of their digests: asked of the sender by a plan
    /// [with payloads](PsiPlan::with_payloads), after the digests of the partition.
    ///
    /// # Errors
    /// [`ListFailed`], likewise: also of a list that has no payloads.
    fn payloads(&self, _partition: usize) -> std::result::Result<Zeroizing<Vec<u64>>, ListFailed> {
        Err(ListFailed)
    }

    /// Takes the places of the keys of one partition that the other party has too, among those that
    /// [`digests`](Self::digests) gave, in no particular order, and the payload of each where the receiver learns them. Each partition comes once,
    /// where the party learns the result.
    ///
    /// # Errors
    /// [`ListFailed`], likewise.
    fn matched(&self, partition: usize, matched: Matched) -> std::result::Result<(), ListFailed>;
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
    let digests = list
        .digests(partition)
        .map_err(|failed| ended(context, failed))?;
    if digests.len() > most {
        return Err(ended(context, ListFailed));
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

/// Ends the job of a list that failed. The other party is not told why.
pub(crate) fn ended(context: &Context, _: ListFailed) -> Error {
    context.fail(Error::Ended {
        reason: "its list cannot be matched as it is".to_owned(),
    })
}
