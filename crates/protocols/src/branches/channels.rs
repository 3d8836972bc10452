//! Channels of conditionals, and their random strings.

use madrigal_core::{KeyNumbers, Party, Zeroizing, bits};
use madrigal_kernels::{Block, Prg};
use madrigal_net::{Context, Generator, Result};

use crate::Opening;
use crate::gmw::BooleanGmw;

/// Packed bits, wiped when dropped.
pub type Bits = Zeroizing<Vec<u8>>;

/// Bits of a seed.
pub(super) const SEED: usize = 128;

/// The interactive part, on channels of its own.
pub struct Branches {
    pub(super) context: Context,
    pub(super) gmw: BooleanGmw,
    pub(super) random: Generator,
    pub(super) everyone: Vec<Party>,
    /// Numbers of seeds that are expanded.
    pub(super) numbers: KeyNumbers,
    /// The number of the next seed, the same at all parties.
    pub(super) next_seed: u64,
}

impl std::fmt::Debug for Branches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Branches({:?})", self.gmw)
    }
}

impl Branches {
    /// Opens the channels of `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channels`].
    pub fn new(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            gmw: BooleanGmw::new(context.clone(), opening)?,
            random: context.private_prg(),
            everyone: Party::all(context.parties()).collect(),
            numbers: context.key_numbers(),
            next_seed: 0,
            context,
        })
    }

    /// Takes numbers for `seeds` seeds, and gives the first. All parties do so in the same order.
    pub(super) fn number_seeds(&mut self, seeds: usize) -> u64 {
        let first = self.next_seed;
        self.next_seed += seeds as u64;
        first
    }

    /// Counts rounds from now on in `context`.
    pub fn count_in(&mut self, context: &Context) {
        self.context = self.context.counting_in(context);
        self.gmw.count_in(context);
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.context.me()
    }

    /// ANDs, and openings.
    pub fn gmw(&mut self) -> &mut BooleanGmw {
        &mut self.gmw
    }

    /// Opens a string of masked bits to all.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open(&mut self, masked: &[u8], count: usize) -> Result<Bits> {
        if count == 0 {
            return Ok(Bits::default());
        }
        let opened = self.gmw.open(masked, count, &self.everyone).await?;
        Ok(opened.expect("all get it"))
    }

    /// `bytes` bytes from each seed. They are numbered from `first` on, so that who sees expansions, or parts of them
    /// where masked values are known, has to guess seeds one by one.
    pub(super) fn stretch(&self, seeds: &[u8], bytes: usize, first: u64) -> Bits {
        let seeds = seeds.as_chunks::<{ SEED / 8 }>().0;
        let mut expanded = Bits::new(vec![0; seeds.len() * bytes]);
        self.context.metered_now(|| {
            let strings = expanded.chunks_exact_mut(bytes.max(1));
            for ((number, seed), out) in (first..).zip(seeds).zip(strings) {
                Prg::numbered(Block::from_bytes(*seed), self.numbers.of(number)).fill(out);
            }
        });
        expanded
    }
}

/// Bytes of value 0 or 1 as bits.
pub(super) fn packed(bytes: &[u8]) -> Bits {
    let mut string = Bits::new(vec![0; bits::bytes_for(bytes.len())]);
    for (index, byte) in bytes.iter().enumerate() {
        string[index / 8] |= (byte & 1) << (index % 8);
    }
    string
}
