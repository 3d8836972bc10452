//! The function that tags are made with: the receiver has it at its own keys, the sender everywhere.
//!
//! The receiver has VOLE's values U and tags M, the sender keys K and Delta, with M = K + U Delta. The receiver encodes d(y) under each digest d of a key y,
//! which gives the store P, and sends P + U. The sender adds Delta (P + U) to K, which gives K' = M + P Delta. Decoding is linear, so
//! Decode(K', x) + d(x) Delta = Decode(M, x) + (Decode(P, x) + d(x)) Delta. For the receiver's keys the factor of Delta is zero, and both sides have
//! Decode(M, x). For others it is not, but for a chance of 2^-64 or 2^-128, and the hash of the element looks random to the receiver.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Element, Kernels, ROWS_PER_KEY, RowHash};
use madrigal_net::{Context, Error, Result};
use madrigal_okvs::{OkvsError, decode, encode};
use madrigal_ot::SeededRng;

use crate::plan::PsiPlan;
use crate::tags::tag;

/// Elements that are handled at a time.
const PIECE: usize = 1 << 12;

/// Values of the store: of a digest all bits, or half of them.
pub(crate) trait Value: Element {
    /// The value under a digest.
    fn of(digest: Block) -> Self;
}

impl Value for u64 {
    fn of(digest: Block) -> Self {
        digest.lo()
    }
}

impl Value for Block {
    fn of(digest: Block) -> Self {
        digest
    }
}

/// The receiver's store for the digests of one partition, with the seed of its rows.
pub(crate) fn encoded<V: Value>(
    context: &Context,
    plan: &PsiPlan,
    digests: &[Block],
) -> Result<(Block, Zeroizing<Vec<V>>)> {
    let mut private = context.private_prg();
    let (seed, rng_seed) = (private.next_block(), private.next_block());
    let number = context.own_key_numbers().of(0);
    context.metered_now(|| {
        let mut rng = SeededRng::numbered(rng_seed, number);
        let values: Zeroizing<Vec<V>> = values(digests);
        encode(&plan.shape, seed, digests, &values, &mut rng).map_err(|error| match error {
            OkvsError::Dependent => Error::Ended {
                reason: "no store for these keys was found under a random seed, which happens once in 2^40 times; run again"
                    .to_owned(),
            },
            error => Error::bug(error),
        })
    })
    .map(|store| (seed, store))
    .map_err(|error| context.fail(error))
}

fn values<V: Value>(digests: &[Block]) -> Zeroizing<Vec<V>> {
    let mut values = Zeroizing::<Vec<V>>::zeros(digests.len());
    for (value, &digest) in values.iter_mut().zip(digests) {
        *value = V::of(digest);
    }
    values
}

/// Tags of the receiver's digests, in ascending order of these, from VOLE's tags.
pub(crate) fn receiver_tags(
    plan: &PsiPlan,
    hash: &RowHash,
    (seed, tags): (Block, &[Block]),
    digests: &[Block],
) -> Result<Zeroizing<Vec<u128>>, OkvsError> {
    let mut elements = Zeroizing::<Vec<Block>>::zeros(digests.len());
    decode(&plan.shape, seed, digests, tags, &mut elements)?;
    Ok(hashed(plan, hash, digests, &mut elements))
}

/// Tags of the sender's digests, in ascending order of these, from its keys K'.
pub(crate) fn sender_tags<V: Value>(
    plan: &PsiPlan,
    hash: &RowHash,
    (seed, keys, delta): (Block, &[Block], Block),
    digests: &[Block],
) -> Result<Zeroizing<Vec<u128>>, OkvsError> {
    let mut elements = Zeroizing::<Vec<Block>>::zeros(digests.len());
    decode(&plan.shape, seed, digests, keys, &mut elements)?;
    for (elements, digests) in elements.chunks_mut(PIECE).zip(digests.chunks(PIECE)) {
        let values: Zeroizing<Vec<V>> = values(digests);
        Kernels::detect().field_multiply_add(delta, &values, elements);
    }
    Ok(hashed(plan, hash, digests, &mut elements))
}

/// Hashes elements under the keys of the groups of their digests.
fn hashed(
    plan: &PsiPlan,
    hash: &RowHash,
    digests: &[Block],
    elements: &mut [Block],
) -> Zeroizing<Vec<u128>> {
    let mut tags = Zeroizing::<Vec<u128>>::zeros(digests.len());
    let mut out = Zeroizing::new([Block::ZERO; 1024]);
    let bits = plan.group_bits();
    let group = |digest: &Block| digest.hi().checked_shr(64 - bits).unwrap_or(0);
    let mut at = 0;
    for digests in digests.chunk_by(|a, b| group(a) == group(b)) {
        let row = digests.first().map_or(0, group) * ROWS_PER_KEY;
        for some in digests.chunks(out.len()) {
            let out = &mut out[..some.len()];
            hash.hash_same_row(row, &elements[at..at + some.len()], out);
            for &hash in out.iter() {
                tags[at] = tag(plan, hash, at);
                at += 1;
            }
        }
    }
    tags
}
