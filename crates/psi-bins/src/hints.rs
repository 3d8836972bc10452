//! Tags and masks, which the sender draws for each bin, and hints, by which the receiver comes to some of them.

use madrigal_core::{Plain, Zeroizing};
use madrigal_kernels::{Block, words_as_bytes_mut};
use madrigal_okvs as okvs;
use madrigal_okvs::{Element, OkvsError};
use rand_core::CryptoRng;

use crate::error::check_length;
use crate::{BinsError, Placed, Shape, Spread};

/// Seeds under which a store is tried. Each fails once in 2^40 times.
const TRIES: usize = 3;

/// Tags and masks of the sender's, one of each for each bin: uniform, and its inputs of the program on secrets.
pub struct Targets {
    /// Words that the receiver finds for items that the sender has, too.
    pub tags: Zeroizing<Vec<u64>>,
    /// Words that are added, modulo 2^64, to the payloads that it finds then.
    pub masks: Zeroizing<Vec<u64>>,
}

madrigal_core::opaque!(Targets);

/// A store of hints for items in one of their three bins, of which the receiver gets three. With uniform pads it is a uniform vector, whatever the sender's items and
/// payloads are.
///
/// Elements are words (a tag) or blocks (a tag in the low half, a masked payload in the high one).
#[derive(Clone)]
pub struct Hints<V: Element> {
    /// Seed of the store's rows.
    pub seed: Block,
    /// Columns of the store: as many as [`columns`](Hints::columns) says.
    pub store: Zeroizing<Vec<V>>,
}

impl<V: Element> core::fmt::Debug for Hints<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Hints { .. }")
    }
}

/// Words that the receiver has found, by bins: its inputs of the program on secrets.
pub struct Found {
    /// The sender's tag where it has the bin's item, and random otherwise.
    pub tags: Zeroizing<Vec<u64>>,
    /// The sender's payload plus its mask there, and random otherwise, or zero; empty without payloads.
    pub masked: Zeroizing<Vec<u64>>,
}

madrigal_core::opaque!(Found);

impl Targets {
    /// Draws tags and masks.
    #[must_use]
    pub fn draw(shape: &Shape, rng: &mut impl CryptoRng) -> Self {
        let mut drawn = || {
            let mut words = Zeroizing::<Vec<u64>>::zeros(shape.bins());
            rng.fill_bytes(words_as_bytes_mut(&mut words));
            words
        };
        Self {
            tags: drawn(),
            masks: drawn(),
        }
    }

    /// Hints for membership alone, of items in their bins number `choice`. `pads` are what the function gives under the sender's keys there, in order, of
    /// which the low half is used.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there is a pad for each key; [`BinsError::Repeated`] for an item that comes twice;
    /// [`BinsError::TooManyItems`]; [`BinsError::Store`] by chance, once in 2^120 times.
    ///
    /// # Panics
    /// If `choice` is not below [`CHOICES`](crate::CHOICES).
    pub fn hints(
        &self,
        spread: &Spread,
        choice: usize,
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Hints<u64>, BinsError> {
        check_length("pads", spread.bins.len(), pads.len())?;
        let mut values = Zeroizing::<Vec<u64>>::zeros(pads.len());
        for ((value, pad), bins) in values.iter_mut().zip(pads).zip(spread.bins.iter()) {
            *value = pad.lo() ^ self.tags[bins[choice] as usize];
        }
        encoded(&spread.keys[choice], &values, rng)
    }

    /// Hints for membership and a payload of each item, of items in their bins number `choice`.
    ///
    /// # Errors
    /// As for [`hints`](Self::hints), and [`BinsError::Length`] unless there is a payload for each item.
    ///
    /// # Panics
    /// If `choice` is not below [`CHOICES`](crate::CHOICES).
    pub fn hints_with(
        &self,
        spread: &Spread,
        choice: usize,
        payloads: &[u64],
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Hints<Block>, BinsError> {
        check_length("pads", spread.bins.len(), pads.len())?;
        check_length("payloads", spread.bins.len(), payloads.len())?;
        let mut values = Zeroizing::<Vec<Block>>::zeros(pads.len());
        let items = values.iter_mut().zip(pads).zip(spread.bins.iter());
        for (((value, &pad), bins), &payload) in items.zip(payloads) {
            let bin = bins[choice] as usize;
            let masked = payload.wrapping_add(self.masks[bin]);
            *value = pad ^ Block::new(self.tags[bin], masked);
        }
        encoded(&spread.keys[choice], &values, rng)
    }
}

/// A store of the values under some of the sender's keys. A seed is told once it has served.
fn encoded<V: Element>(
    keys: &[Block],
    values: &[V],
    rng: &mut impl CryptoRng,
) -> Result<Hints<V>, BinsError> {
    let shape = store_shape(keys.len() as u64)?;
    let mut tries = 1;
    loop {
        let mut seed = [Block::ZERO];
        rng.fill_bytes(Block::bytes_mut(&mut seed));
        let [seed] = seed;
        match okvs::encode(&shape, seed, keys, values, rng) {
            Ok(store) => return Ok(Hints { seed, store }),
            Err(OkvsError::Dependent) if tries < TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn store_shape(items: u64) -> Result<okvs::Shape, BinsError> {
    if items > Shape::MOST_OF_SENDER {
        return Err(BinsError::TooManyItems {
            whose: "sender",
            items,
            most: Shape::MOST_OF_SENDER,
        });
    }
    Ok(okvs::Shape::for_keys(items)?)
}

impl<V: Element> Hints<V> {
    /// Elements of each store for this many items of the sender's.
    ///
    /// # Errors
    /// [`BinsError::TooManyItems`] beyond [`Shape::MOST_OF_SENDER`].
    pub fn columns(items: u64) -> Result<usize, BinsError> {
        Ok(store_shape(items)?.columns())
    }
}

impl Found {
    /// Content of the bins before the first hints have come: random tags in all of them, and payloads that are zero where there are any.
    #[must_use]
    pub fn nothing(placed: &Placed, payloads: bool, rng: &mut impl CryptoRng) -> Self {
        let bins = placed.shape().bins();
        let mut tags = Zeroizing::<Vec<u64>>::zeros(bins);
        rng.fill_bytes(words_as_bytes_mut(&mut tags));
        let masked = Zeroizing::zeros(if payloads { bins } else { 0 });
        Self { tags, masked }
    }

    /// Finds tags of the items that are in their bins number `choice`. `items` are the sender's; `pads` are what the function gave under the keys
    /// of `placed`, in order.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there are a pad for each key and as many columns as the sender's items make;
    /// [`BinsError::TooManyItems`].
    pub fn find(
        &mut self,
        placed: &Placed,
        choice: usize,
        items: u64,
        hints: &Hints<u64>,
        pads: &[Block],
    ) -> Result<(), BinsError> {
        let tags = &mut self.tags;
        each(placed, choice, items, hints, pads, |bin, value, pad| {
            tags[bin] = value ^ pad.lo();
        })
    }

    /// Finds tags and masked payloads, where there are payloads.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub fn find_with(
        &mut self,
        placed: &Placed,
        choice: usize,
        items: u64,
        hints: &Hints<Block>,
        pads: &[Block],
    ) -> Result<(), BinsError> {
        check_length("payloads", placed.shape().bins(), self.masked.len())?;
        let Self { tags, masked } = self;
        each(placed, choice, items, hints, pads, |bin, value, pad| {
            let both = value ^ pad;
            tags[bin] = both.lo();
            masked[bin] = both.hi();
        })
    }
}

/// Tells `take` the bin of each item that is in its bin number `choice`, with the store's value under its key, and its pad.
fn each<V: Element + Plain>(
    placed: &Placed,
    choice: usize,
    items: u64,
    hints: &Hints<V>,
    pads: &[Block],
    mut take: impl FnMut(usize, V, Block),
) -> Result<(), BinsError> {
    check_length("pads", placed.keys.len(), pads.len())?;
    let shape = store_shape(items)?;
    check_length("columns of hints", shape.columns(), hints.store.len())?;
    let here = |&(_, &chosen): &(usize, &u8)| usize::from(chosen) == choice;
    let here = placed.choices.iter().enumerate().filter(here);
    let here = Zeroizing::new(here.map(|(item, _)| item as u32).collect::<Vec<_>>());
    let keys = here.iter().map(|&item| placed.keys[item as usize]);
    let keys = Zeroizing::new(keys.collect::<Vec<_>>());
    okvs::decode_each(&shape, hints.seed, &keys, &hints.store, |found| {
        for (&place, &value) in found.places.iter().zip(found.values) {
            let item = here[place as usize] as usize;
            take(placed.bins[item] as usize, value, pads[item]);
        }
    })?;
    Ok(())
}
