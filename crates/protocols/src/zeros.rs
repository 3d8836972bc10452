//! Fresh sharings of zero, without communication.

use madrigal_core::{Ring, Zeroizing};
use madrigal_kernels::rings;
use madrigal_net::{Context, Generator, Result};

use crate::inputs::CHUNK;

/// Sharings of zero among N parties: of each pair of parties, one adds what their shared generator gives, and the other
/// one subtracts it; for bits, both XOR it.
///
/// The shares of honest parties are pseudorandom but for their sum, for whoever knows the other parties' generators: so a
/// sharing of v to which one of zero was added tells v alone, to those who see all shares of it, too. Each call goes
/// on in the generators' streams, so no mask is used twice.
pub struct ZeroSharing {
    context: Context,
    /// The generator that each peer has too, and whether we subtract what it gives.
    masks: Vec<(Generator, bool)>,
}

impl std::fmt::Debug for ZeroSharing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ZeroSharing({:?})", self.context)
    }
}

impl ZeroSharing {
    /// Takes the shared generators of `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] if the step's generators are in use already.
    pub fn new(context: Context) -> Result<Self> {
        let me = context.me();
        let masks = context
            .peers()
            .map(|peer| Ok((context.shared_prg(peer)?, peer < me)))
            .collect::<Result<_>>()?;
        Ok(Self { context, masks })
    }

    /// Adds this party's share of the next zeros to bits. All parties ask for the same lengths in the same order.
    pub fn add_to_bits(&mut self, share: &mut [u8]) {
        self.masks
            .iter_mut()
            .for_each(|(mask, _)| mask.xor_into(share));
    }

    /// Adds this party's share of the next zeros to ring elements, as [`add_to_bits`](Self::add_to_bits) does to bits.
    pub fn add_to<T: Ring>(&mut self, share: &mut [T]) {
        let each = CHUNK / T::BYTES;
        let mut chunk = Zeroizing::zeros(each.min(share.len()));
        for (mask, subtracts) in &mut self.masks {
            for share in share.chunks_mut(each) {
                let chunk = &mut chunk[..share.len()];
                mask.fill(rings::as_bytes_mut(chunk));
                match subtracts {
                    true => rings::sub_into(share, chunk),
                    false => rings::add_into(share, chunk),
                }
            }
        }
    }

    /// AES blocks that each of `parties` parties spends on zeros of `bytes` bytes, in one call.
    pub fn aes_blocks(parties: usize, bytes: u64) -> u64 {
        bytes.div_ceil(16) * (parties as u64 - 1)
    }
}
