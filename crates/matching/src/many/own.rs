//! A party's own keys, as they are encrypted.

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::Block;
use madrigal_lists::{ListError, Listed, Matches};
use madrigal_net::Context;

use crate::cells::CELLS;

/// Digests of a list in an order that nobody else knows, and a part of the key.
pub(super) struct Own {
    /// Digests of the list's keys and, up to its bound, others that were drawn.
    pub(super) digests: Zeroizing<Vec<Block>>,
    /// Number of the key, in the order of cells, that each digest is of: beyond all keys for one that was drawn.
    pub(super) numbers: Zeroizing<Vec<u32>>,
    pub(super) key: Zeroizing<Block>,
}

madrigal_core::opaque!(Own);

impl Own {
    /// Draws what is to be drawn, for `size` digests: as many as there are keys, or more.
    pub(super) fn draw(context: &Context, listed: &Listed, size: usize) -> Result<Self, ListError> {
        let mut prg = context.step("order of keys").private_prg();
        let key = Zeroizing::new(prg.next_block());
        let mut digests = Zeroizing::new(Vec::with_capacity(size));
        for cell in 0..CELLS {
            digests.extend_from_slice(listed.partition(cell)?.digests());
        }
        // A list's own digest is drawn with a chance of 2^-128 for each of its keys.
        while digests.len() < size {
            digests.push(prg.next_block());
        }
        let mut numbers: Zeroizing<Vec<u32>> = Zeroizing::new((0..size as u32).collect());
        shuffle(|| prg.next_block(), &mut digests, &mut numbers);
        Ok(Self {
            digests,
            numbers,
            key,
        })
    }
}

/// Puts digests and their numbers into one order, drawn from all. A place is drawn from 128 bits: all orders of n are as likely but for a distance of n^2 2^-129.
fn shuffle(mut next: impl FnMut() -> Block, digests: &mut [Block], numbers: &mut [u32]) {
    for last in (1..digests.len()).rev() {
        let (drawn, places) = (next(), last as u128 + 1);
        let low = (u128::from(drawn.lo()) * places) >> 64;
        let place = ((u128::from(drawn.hi()) * places + low) >> 64) as usize;
        digests.swap(last, place);
        numbers.swap(last, place);
    }
}

/// Marks the rows of keys by their numbers, of which `found` says whether they match; gives the number of keys that do.
pub(super) fn rows(listed: &Listed, found: &[bool]) -> Result<(Matches, u64), ListError> {
    let (mut matches, mut keys, mut first) = (Matches::new(listed), 0, 0);
    for cell in 0..CELLS {
        let part = listed.partition(cell)?;
        let of_cell = found.iter().skip(first).take(part.len());
        for (place, _) in of_cell.enumerate().filter(|(_, found)| **found) {
            keys += 1;
            part.rows(place)
                .iter()
                .try_for_each(|&row| matches.mark(row))?;
        }
        first += part.len();
    }
    Ok((matches, keys))
}

/// Number of each party's digests, where memory can hold as many.
pub(super) fn lens(sizes: &[u64]) -> Vec<usize> {
    sizes
        .iter()
        .map(|&size| usize::try_from(size).unwrap_or(usize::MAX))
        .collect()
}

/// The others' names, as a ledger has them: from the list of parties, or their numbers.
pub(crate) fn others(me: Party, parties: usize, names: &[String]) -> String {
    let others = Party::all(parties).filter(|&party| party != me);
    let name = |party: Party| {
        let named = names.get(party.index()).cloned();
        named.unwrap_or_else(|| party.to_string())
    };
    others.map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use madrigal_kernels::Prg;

    use super::*;

    /// All orders of four digests come about equally often, and numbers go with them: the order is all that hides keys from who gets their tags.
    #[test]
    fn orders_are_drawn_from_all() {
        let mut prg = Prg::new(Block::new(3, 4));
        let (runs, mut counts) = (24_000, std::collections::BTreeMap::new());
        for _ in 0..runs {
            let mut digests = [0, 1, 2, 3].map(|i| Block::new(i, 9));
            let mut numbers = [0, 1, 2, 3];
            shuffle(|| prg.next_block(), &mut digests, &mut numbers);
            assert_eq!(digests.map(|digest| digest.lo()), numbers.map(u64::from));
            *counts.entry(numbers).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        // Each is expected 1000 times, with a standard deviation of 31.
        assert!(
            counts.values().all(|count| (800..1200).contains(count)),
            "{counts:?}"
        );
    }
}
