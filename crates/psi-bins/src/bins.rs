//! The bins of an item, and its key in each.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Aes128, Block, blocks_as_bytes_mut};
use rand_core::CryptoRng;

use crate::error::check_length;
use crate::place::{Places, place};
use crate::{BinsError, CHOICES, Shape};

/// Seeds that a receiver tries. Each fails once in 2^40 times.
const TRIES: usize = 3;

/// Items hashed at a time.
const BATCH: usize = 64;

/// Bins under a seed, by which both parties find an item in the same ones.
///
/// An item's three bins are distinct, so no key of an item comes twice.
///
/// Property: pseudorandom function, if AES-128 is one; the seed is uniform, and drawn when the items are settled. Whether items fit
/// into bins can be tested, so they fit with this function as often as with uniform bins, or the test would tell the function from
/// a random one. That the seed becomes public afterwards changes nothing, and nothing else rests on this function.
pub struct Bins {
    shape: Shape,
    /// Two give the bins of an item, the third one its keys.
    ciphers: [Aes128; 3],
}

madrigal_core::opaque!(Bins);

/// Items of the receiver in bins, with at most one in each.
pub struct Placed {
    /// Bin of each item.
    pub bins: Zeroizing<Vec<u32>>,
    /// Key of each item in its bin.
    pub keys: Zeroizing<Vec<Block>>,
    /// Number of this bin among the item's own, which says in which store it is: 0 to 2.
    pub choices: Zeroizing<Vec<u8>>,
    shape: Shape,
}

madrigal_core::opaque!(Placed);

/// Items of the sender, each in all bins where the receiver may have it.
pub struct Spread {
    /// Bins of each item.
    pub bins: Zeroizing<Vec<[u32; CHOICES]>>,
    /// Key of each item in its first bin, in its second one, and in its third.
    pub keys: [Zeroizing<Vec<Block>>; CHOICES],
}

madrigal_core::opaque!(Spread);

impl Bins {
    /// Bins of this shape under `seed`, which both parties know: uniform, and drawn after their items are settled.
    #[must_use]
    pub fn new(shape: Shape, seed: Block) -> Self {
        let mut keys = [0, 1, 2].map(|i| Block::new(i, 0));
        Aes128::new(seed).encrypt_blocks(&mut keys);
        Self {
            shape,
            ciphers: keys.map(Aes128::new),
        }
    }

    /// Numbers of items and bins.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Draws a seed under which the receiver's items fit into bins, and puts them there. The sender is told the seed alone: one under which
    /// they did not fit says something of them, and is told to nobody.
    ///
    /// # Errors
    /// As for [`place`](Self::place); [`BinsError::Full`] once in 2^120 times.
    pub fn for_receiver(
        shape: Shape,
        digests: &[Block],
        rng: &mut impl CryptoRng,
    ) -> Result<(Block, Self, Placed), BinsError> {
        let mut tries = 1;
        loop {
            let mut seed = [Block::ZERO];
            rng.fill_bytes(blocks_as_bytes_mut(&mut seed));
            let [seed] = seed;
            let bins = Self::new(shape, seed);
            match bins.place(digests) {
                Ok(placed) => return Ok((seed, bins, placed)),
                Err(BinsError::Full) if tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts the receiver's items into bins, at most one into each, if any way to do so exists. Digests are
    /// of 128 bits, under a salt that was drawn when all items were settled.
    ///
    /// It takes 36 bytes of memory for each item and 8 for each bin.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there are as many digests as the shape says; [`BinsError::Repeated`] for a digest that comes twice;
    /// [`BinsError::Full`] by chance.
    pub fn place(&self, digests: &[Block]) -> Result<Placed, BinsError> {
        check_length("digests", self.shape.items(), digests.len())?;
        let choices = self.choices(digests);
        let Places { bins, choices } = place(&self.shape, digests, &choices)?;
        let mut keys = Zeroizing::<Vec<Block>>::zeros(digests.len());
        for ((key, &digest), &bin) in keys.iter_mut().zip(digests).zip(bins.iter()) {
            *key = with_bin(digest, bin);
        }
        self.ciphers[2].encrypt_blocks(&mut keys);
        Ok(Placed {
            bins,
            keys,
            choices,
            shape: self.shape,
        })
    }

    /// Puts each of the sender's items into all of its bins. An item that comes twice is found when hints are made.
    #[must_use]
    pub fn spread(&self, digests: &[Block]) -> Spread {
        let bins = self.choices(digests);
        let keys = core::array::from_fn(|choice| {
            let mut keys = Zeroizing::<Vec<Block>>::zeros(digests.len());
            for ((key, &digest), bins) in keys.iter_mut().zip(digests).zip(bins.iter()) {
                *key = with_bin(digest, bins[choice]);
            }
            self.ciphers[2].encrypt_blocks(&mut keys);
            keys
        });
        Spread { bins, keys }
    }

    /// Three distinct bins for each item: every such triple with the same probability, but for a part in 2^40 for each item.
    fn choices(&self, digests: &[Block]) -> Zeroizing<Vec<[u32; CHOICES]>> {
        let mut choices = Zeroizing::<Vec<[u32; CHOICES]>>::zeros(digests.len());
        let mut blocks = Zeroizing::new([[Block::ZERO; BATCH]; 2]);
        let bins = self.shape.bins() as u64;
        let below = |word: u64, bound: u64| ((u128::from(word) * u128::from(bound)) >> 64) as u32;
        for (digests, choices) in digests.chunks(BATCH).zip(choices.chunks_mut(BATCH)) {
            for (blocks, cipher) in blocks.iter_mut().zip(&self.ciphers) {
                let blocks = &mut blocks[..digests.len()];
                blocks.copy_from_slice(digests);
                cipher.encrypt_blocks(blocks);
            }
            for (i, choices) in choices.iter_mut().enumerate() {
                // Each is one of those that are left.
                let first = below(blocks[0][i].lo(), bins);
                let mut second = below(blocks[0][i].hi(), bins - 1);
                second += u32::from(second >= first);
                let mut third = below(blocks[1][i].lo(), bins - 2);
                third += u32::from(third >= first.min(second));
                third += u32::from(third >= first.max(second));
                *choices = [first, second, third];
            }
        }
        choices
    }
}

impl Placed {
    /// Numbers of items and bins.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Puts what belongs to each item into its bin; bins that are empty get 0.
    ///
    /// # Errors
    /// [`BinsError::Length`] unless there is one value for each item.
    pub fn by_bin(&self, values: &[u64]) -> Result<Zeroizing<Vec<u64>>, BinsError> {
        check_length("values", self.bins.len(), values.len())?;
        let mut by_bin = Zeroizing::<Vec<u64>>::zeros(self.shape.bins());
        for (&bin, &value) in self.bins.iter().zip(values) {
            by_bin[bin as usize] = value;
        }
        Ok(by_bin)
    }
}

/// Distinguishes an item's keys in different bins. Two items whose digests differ by two of the bins' numbers have a key in common: of k
/// keys some do with probability k^2 / 2^129, because digests are uniform; of 2^28 once in 2^73 times.
fn with_bin(digest: Block, bin: u32) -> Block {
    digest ^ Block::new(u64::from(bin), 0)
}
