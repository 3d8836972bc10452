//! A generator for what the protocols draw.

use core::convert::Infallible;

use madrigal_kernels::{Block, Prg};
use rand_core::{TryCryptoRng, TryRng};

/// AES-128 in counter mode as a [`rand_core`] generator.
///
/// Seed it with 16 bytes from the operating system, once per party and purpose. A fixed seed is
/// for tests alone: with it everybody knows all keys and choices.
///
/// ```
/// use madrigal_ot::{Block, SeededRng};
///
/// let mut seed = [0; 16];
/// getrandom::fill(&mut seed)?;
/// let mut rng = SeededRng::from_seed(Block::from_bytes(seed));
/// # Ok::<(), getrandom::Error>(())
/// ```
pub struct SeededRng(Prg);

impl SeededRng {
    /// Starts the generator's stream for `seed`, of which there is one.
    pub fn from_seed(seed: Block) -> Self {
        Self::numbered(seed, 0)
    }

    /// Starts the generator's stream for `seed`, one of many, whose public number is `number`: see
    /// [`Prg::numbered`].
    pub fn numbered(seed: Block, number: u64) -> Self {
        SeededRng(Prg::numbered(seed, number))
    }
}

madrigal_core::opaque!(SeededRng);

impl TryRng for SeededRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_block().lo() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_block().lo())
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(dst);
        Ok(())
    }
}

impl TryCryptoRng for SeededRng {}
