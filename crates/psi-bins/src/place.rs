//! Cuckoo hashing: each item into one of its bins, at most one into each.
//!
//! An item that finds its bins taken drives out another one, which goes to the next of its own bins, and so on. Walks that
//! take long are rare, and end in a search through all that can be moved: so placing fails only where no way to place the items exists, which is
//! what [`failure_bits`](crate::failure_bits) counts.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

use crate::{BinsError, CHOICES, Shape};

/// Items that one item may drive out before ways are searched.
const WALK: usize = 200;

/// The content of a bin: in the low half the item's number, four times, plus that of its bins; in the high half bits of its digest, so
/// that an item that comes twice is seen without another look at memory.
type Slot = u64;

/// Slot without an item. No item has this number.
const EMPTY: Slot = u64::MAX;

fn slot(item: usize, choice: usize, digest: Block) -> Slot {
    (item as u64) << 2 | choice as u64 | digest.hi() >> 32 << 32
}

fn item(slot: Slot) -> usize {
    (slot as u32 >> 2) as usize
}

/// The slot of the same item in another of its bins.
fn moved(slot: Slot, choice: usize) -> Slot {
    slot & !3 | choice as u64
}

/// The bin of each item.
pub(crate) fn place(
    shape: &Shape,
    digests: &[Block],
    choices: &[[u32; CHOICES]],
) -> Result<Zeroizing<Vec<u32>>, BinsError> {
    const { assert!(Shape::MOST_ITEMS < 1 << 30) }
    let mut slots = Zeroizing::new(vec![EMPTY; shape.bins()]);
    for (number, (&digest, bins)) in digests.iter().zip(choices).enumerate() {
        let here = bins.map(|bin| slots[bin as usize]);
        let new = slot(number, 0, digest);
        // The first of two that are the same is in one of these bins, wherever it was moved.
        for old in here {
            if old >> 32 == new >> 32 && old != EMPTY && digests[item(old)] == digest {
                return Err(BinsError::Repeated {
                    first: item(old),
                    second: number,
                });
            }
        }
        match here.iter().position(|&old| old == EMPTY) {
            Some(choice) => slots[bins[choice] as usize] = moved(new, choice),
            None => settle(&mut slots, choices, new)?,
        }
    }
    let mut bins = Zeroizing::<Vec<u32>>::zeros(digests.len());
    for (bin, &slot) in slots.iter().enumerate() {
        if slot != EMPTY {
            bins[item(slot)] = bin as u32;
        }
    }
    Ok(bins)
}

/// Finds a place for an item whose bins are taken.
fn settle(
    slots: &mut [Slot],
    choices: &[[u32; CHOICES]],
    homeless: Slot,
) -> Result<(), BinsError> {
    let mut homeless = homeless;
    for _ in 0..WALK {
        // The number says which of its bins the item goes to.
        let bin = choices[item(homeless)][(homeless & 3) as usize];
        let out = core::mem::replace(&mut slots[bin as usize], homeless);
        if out == EMPTY {
            return Ok(());
        }
        let [one, other] = [1, 2].map(|step| ((out & 3) + step) % CHOICES as u64);
        let bins = &choices[item(out)];
        let bin = &mut slots[bins[other as usize] as usize];
        if *bin == EMPTY {
            *bin = moved(out, other as usize);
            return Ok(());
        }
        homeless = moved(out, one as usize);
    }
    search(slots, choices, homeless)
}

/// Moves as few items as possible so that this one finds a place, if any way exists.
fn search(
    slots: &mut [Slot],
    choices: &[[u32; CHOICES]],
    homeless: Slot,
) -> Result<(), BinsError> {
    /// Stands at bins of the homeless item. Others have the bin whose item would come from there, plus two; those that were not reached 0.
    const ROOT: u32 = 1;
    let mut from = Zeroizing::<Vec<u32>>::zeros(slots.len());
    let mut reached = Zeroizing::new(Vec::with_capacity(slots.len()));
    let (mut moving, mut why, mut next) = (homeless, ROOT, 0);
    let mut free = loop {
        for &bin in &choices[item(moving)] {
            if from[bin as usize] == 0 {
                from[bin as usize] = why;
                reached.push(bin);
            }
        }
        // All bins that can be reached are taken, so these items are more than they have bins.
        let &bin = reached.get(next).ok_or(BinsError::Full)?;
        next += 1;
        (moving, why) = (slots[bin as usize], bin + 2);
        if moving == EMPTY {
            break bin;
        }
    };
    loop {
        let why = from[free as usize];
        let coming = match why {
            ROOT => homeless,
            bin => slots[bin as usize - 2],
        };
        let choice = choices[item(coming)].iter().position(|&bin| bin == free);
        slots[free as usize] = moved(coming, choice.unwrap_or(0));
        match why {
            ROOT => return Ok(()),
            bin => free = bin - 2,
        }
    }
}
