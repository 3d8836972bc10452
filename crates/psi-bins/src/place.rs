//! Cuckoo hashing: each item into one of its bins, at most one into each.
//!
//! An item that finds its bins taken drives out another one, which goes to the next of its own bins, and so on. Walks that
//! take long are rare, and end in a search through all that can be moved: so placing fails only where no way to place the items exists, which is
//! what [`failure_bits`](crate::failure_bits) counts.

use madrigal_core::{Plain, Zeroizing};
use madrigal_kernels::{Block, prefetch, words_as_bytes};

use crate::{BinsError, CHOICES, Shape};

/// Items that one item may drive out before ways are searched.
const WALK: u32 = 500;

/// Items that walk at a time.
const WALKERS: usize = 64;

/// Items whose bins are fetched before they are looked at.
const AHEAD: usize = 16;

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

/// The bin of each item, and its number among the item's own.
pub(crate) struct Places {
    pub(crate) bins: Zeroizing<Vec<u32>>,
    pub(crate) choices: Zeroizing<Vec<u8>>,
}

/// Puts each item into one of its bins.
pub(crate) fn place(
    shape: &Shape,
    digests: &[Block],
    choices: &[[u32; CHOICES]],
) -> Result<Places, BinsError> {
    const { assert!(Shape::MOST_ITEMS < 1 << 30) }
    let mut slots = Zeroizing::new(vec![EMPTY; shape.bins()]);
    let homeless = take_free(&mut slots, digests, choices)?;
    if let Err(error) = walk(&mut slots, digests, choices, &homeless) {
        return Err(find_repeated(digests).unwrap_or(error));
    }
    // The second one of two that are the same has seen the first, unless that was homeless.
    for &number in homeless.iter() {
        let here = choices[number as usize].map(|bin| slots[bin as usize]);
        check_new(digests, here, number as usize)?;
    }
    let mut places = Places {
        bins: Zeroizing::zeros(digests.len()),
        choices: Zeroizing::zeros(digests.len()),
    };
    for (bin, &slot) in slots.iter().enumerate() {
        if slot != EMPTY {
            places.bins[item(slot)] = bin as u32;
            places.choices[item(slot)] = slot as u8 & 3;
        }
    }
    Ok(places)
}

/// Places all items that find one of their bins free; gives the others, in order.
fn take_free(
    slots: &mut [Slot],
    digests: &[Block],
    choices: &[[u32; CHOICES]],
) -> Result<Zeroizing<Vec<u32>>, BinsError> {
    let mut homeless = Zeroizing::new(Vec::with_capacity(digests.len()));
    for (number, (&digest, bins)) in digests.iter().zip(choices).enumerate() {
        if let Some(ahead) = choices.get(number + AHEAD) {
            ahead.iter().for_each(|&bin| fetch_ahead(slots, bin));
        }
        let here = bins.map(|bin| slots[bin as usize]);
        check_new(digests, here, number)?;
        match here.iter().position(|&old| old == EMPTY) {
            Some(choice) => slots[bins[choice] as usize] = slot(number, choice, digest),
            None => homeless.push(number as u32),
        }
    }
    Ok(homeless)
}

/// Refuses an item that is among those in its bins already, at another place of the list.
fn check_new(digests: &[Block], here: [Slot; CHOICES], number: usize) -> Result<(), BinsError> {
    let digest = digests[number];
    for old in here {
        if old >> 32 == digest.hi() >> 32 && old != EMPTY {
            let other = item(old);
            if other != number && digests[other] == digest {
                return Err(BinsError::Repeated {
                    first: number.min(other),
                    second: number.max(other),
                });
            }
        }
    }
    Ok(())
}

/// Tells whether items are too many for their bins because one comes again and again.
fn find_repeated(digests: &[Block]) -> Option<BinsError> {
    let number = |(place, &digest): (usize, &Block)| (u128::from(digest), place);
    let mut sorted: Vec<(u128, usize)> = digests.iter().enumerate().map(number).collect();
    sorted.sort_unstable();
    let pair = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some(BinsError::Repeated {
        first: pair[0].1,
        second: pair[1].1,
    })
}

fn fetch_ahead(slots: &[Slot], bin: u32) {
    let bin = bin as usize;
    prefetch(words_as_bytes(&slots[bin..=bin]));
}

/// An item on its way.
#[derive(Clone, Copy)]
struct Walker {
    slot: Slot,
    /// Where it goes next.
    bin: u32,
    /// Items that were driven out on this way.
    steps: u32,
}

impl Plain for Walker {
    const WIPED: Self = Self {
        slot: EMPTY,
        bin: 0,
        steps: 0,
    };
}

/// Finds places for items whose bins are taken: many walk at a time, so that none waits for memory.
fn walk(
    slots: &mut [Slot],
    digests: &[Block],
    choices: &[[u32; CHOICES]],
    homeless: &[u32],
) -> Result<(), BinsError> {
    let mut walkers = Zeroizing::new([Walker::WIPED; WALKERS]);
    let (mut coming, mut walking) = (homeless.iter(), 0);
    loop {
        for (walker, &number) in walkers[walking..].iter_mut().zip(&mut coming) {
            let number = number as usize;
            *walker = Walker {
                slot: slot(number, 0, digests[number]),
                bin: choices[number][0],
                steps: 0,
            };
            fetch_ahead(slots, walker.bin);
            walking += 1;
        }
        if walking == 0 {
            return Ok(());
        }
        // Each takes its bin, and whoever was there walks on.
        walking = keep(&mut walkers[..walking], |walker| {
            let bin = &mut slots[walker.bin as usize];
            walker.slot = core::mem::replace(bin, walker.slot);
            walker.steps += 1;
            walker.slot != EMPTY
        });
        for walker in &walkers[..walking] {
            for &bin in &choices[item(walker.slot)] {
                fetch_ahead(slots, bin);
            }
        }
        let mut searched = Ok(());
        walking = keep(&mut walkers[..walking], |walker| {
            let bins = &choices[item(walker.slot)];
            // The number says in which of its bins it was.
            let [one, other] = [1, 2].map(|step| (walker.slot as usize & 3) + step);
            let [one, other] = [one % CHOICES, other % CHOICES];
            let bin = &mut slots[bins[other] as usize];
            if *bin == EMPTY {
                *bin = moved(walker.slot, other);
                return false;
            }
            if walker.steps == WALK && searched.is_ok() {
                searched = search(slots, choices, walker.slot);
                return false;
            }
            walker.slot = moved(walker.slot, one);
            walker.bin = bins[one];
            true
        });
        searched?;
    }
}

/// Moves those that go on to the front; gives their number.
fn keep(walkers: &mut [Walker], mut goes_on: impl FnMut(&mut Walker) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..walkers.len() {
        let mut walker = walkers[at];
        if goes_on(&mut walker) {
            walkers[kept] = walker;
            kept += 1;
        }
    }
    kept
}

/// Moves as few items as possible so that this one finds a place, if any way exists.
fn search(slots: &mut [Slot], choices: &[[u32; CHOICES]], homeless: Slot) -> Result<(), BinsError> {
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
