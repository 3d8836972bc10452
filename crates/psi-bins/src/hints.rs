//! Tags and masks, which the sender draws for each bin, and hints, by which the receiver comes to some of them.

use madrigal_core::{Plain, Zeroizing};
use madrigal_kernels::{Block, words_as_bytes_mut};
use madrigal_okvs as okvs;
use madrigal_okvs::{Element, OkvsError};
use rand_core::CryptoRng;

use crate::error::check_length;
use crate::{BinsError, CHOICES, Placed, Shape, Spread};

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

/// A store of hints: what the receiver gets. With uniform pads it is a uniform vector, whatever the sender's items and
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

    /// Hints for membership alone. `pads` are what the function gives under the sender's keys, in order, of which the low half is used.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there is a pad for each key; [`BinsError::Repeated`] for an item that comes twice;
    /// [`BinsError::TooManyItems`]; [`BinsError::Store`] by chance, once in 2^120 times.
    pub fn hints(
        &self,
        spread: &Spread,
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Hints<u64>, BinsError> {
        check_length("pads", spread.keys.len(), pads.len())?;
        let mut values = Zeroizing::<Vec<u64>>::zeros(pads.len());
        let bins = spread.bins.as_flattened();
        for ((value, pad), &bin) in values.iter_mut().zip(pads).zip(bins) {
            *value = pad.lo() ^ self.tags[bin as usize];
        }
        encoded(spread, &values, rng)
    }

    /// Hints for membership and a payload of each item.
    ///
    /// # Errors
    /// As for [`hints`](Self::hints), and [`BinsError::Length`] unless there is a payload for each item.
    pub fn hints_with(
        &self,
        spread: &Spread,
        payloads: &[u64],
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Hints<Block>, BinsError> {
        check_length("pads", spread.keys.len(), pads.len())?;
        check_length("payloads", spread.bins.len(), payloads.len())?;
        let mut values = Zeroizing::<Vec<Block>>::zeros(pads.len());
        let items = values.chunks_mut(CHOICES).zip(pads.chunks(CHOICES));
        for (((values, pads), bins), &payload) in items.zip(spread.bins.iter()).zip(payloads) {
            for ((value, &pad), &bin) in values.iter_mut().zip(pads).zip(bins) {
                let bin = bin as usize;
                let masked = payload.wrapping_add(self.masks[bin]);
                *value = pad ^ Block::new(self.tags[bin], masked);
            }
        }
        encoded(spread, &values, rng)
    }
}

/// A store of the values under the sender's keys. A seed is told once it has served.
fn encoded<V: Element>(
    spread: &Spread,
    values: &[V],
    rng: &mut impl CryptoRng,
) -> Result<Hints<V>, BinsError> {
    let shape = store_shape(spread.bins.len() as u64)?;
    let mut tries = 1;
    loop {
        let mut seed = [Block::ZERO];
        rng.fill_bytes(Block::bytes_mut(&mut seed));
        let [seed] = seed;
        match okvs::encode(&shape, seed, &spread.keys, values, rng) {
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
    Ok(okvs::Shape::for_keys(CHOICES as u64 * items)?)
}

impl<V: Element> Hints<V> {
    /// Elements of the store for this many items of the sender's.
    ///
    /// # Errors
    /// [`BinsError::TooManyItems`] beyond [`Shape::MOST_OF_SENDER`].
    pub fn columns(items: u64) -> Result<usize, BinsError> {
        Ok(store_shape(items)?.columns())
    }
}

impl Found {
    /// Finds tags. `items` are the sender's; `pads` are what the function gave under the keys of `placed`, in order.
    /// Tags of empty bins are drawn.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there are a pad for each key and as many columns as the sender's items make;
    /// [`BinsError::TooManyItems`].
    pub fn find(
        placed: &Placed,
        items: u64,
        hints: &Hints<u64>,
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, BinsError> {
        let values = values(placed, items, hints, pads)?;
        let mut tags = drawn(placed, rng);
        let found = values.iter().zip(pads).zip(placed.bins.iter());
        for ((&value, pad), &bin) in found {
            tags[bin as usize] = value ^ pad.lo();
        }
        Ok(Self {
            tags,
            masked: Zeroizing::new(Vec::new()),
        })
    }

    /// Finds tags and masked payloads.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub fn find_with(
        placed: &Placed,
        items: u64,
        hints: &Hints<Block>,
        pads: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, BinsError> {
        let values = values(placed, items, hints, pads)?;
        let mut tags = drawn(placed, rng);
        let mut masked = Zeroizing::<Vec<u64>>::zeros(tags.len());
        let found = values.iter().zip(pads).zip(placed.bins.iter());
        for ((&value, &pad), &bin) in found {
            let both = value ^ pad;
            tags[bin as usize] = both.lo();
            masked[bin as usize] = both.hi();
        }
        Ok(Self { tags, masked })
    }
}

/// Values that the store has under the receiver's keys.
fn values<V: Element + Plain>(
    placed: &Placed,
    items: u64,
    hints: &Hints<V>,
    pads: &[Block],
) -> Result<Zeroizing<Vec<V>>, BinsError> {
    check_length("pads", placed.keys.len(), pads.len())?;
    let shape = store_shape(items)?;
    check_length("columns of hints", shape.columns(), hints.store.len())?;
    let mut values = Zeroizing::<Vec<V>>::zeros(pads.len());
    okvs::decode(&shape, hints.seed, &placed.keys, &hints.store, &mut values)?;
    Ok(values)
}

/// Random tags for all bins.
fn drawn(placed: &Placed, rng: &mut impl CryptoRng) -> Zeroizing<Vec<u64>> {
    let mut tags = Zeroizing::<Vec<u64>>::zeros(placed.shape().bins());
    rng.fill_bytes(words_as_bytes_mut(&mut tags));
    tags
}
