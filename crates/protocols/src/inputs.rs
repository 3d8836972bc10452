//! Inputs of one party, shared without communication (MOTION 6.1).

use madrigal_core::{Party, Ring};
use madrigal_kernels::rings;
use madrigal_net::{Context, Generator, Result};

use madrigal_core::Zeroizing;

/// Bytes of masks that are made at once: whole AES blocks, which stay in the first-level cache.
pub(crate) const CHUNK: usize = 4096;

/// Shares inputs of one party without communication (MOTION 6.1): everyone else's share is what
/// a generator gives that only it and the owner have, the owner's is the input minus all of these; for
/// bits, XOR.
///
/// Each call goes on in the generators' streams, so no mask is used twice.
pub struct InputSharing {
    context: Context,
    owner: Party,
    masks: Vec<Generator>,
}

impl std::fmt::Debug for InputSharing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InputSharing({:?}, of {})", self.context, self.owner)
    }
}

impl InputSharing {
    /// Takes the shared generators of `context`, a step of its own for each owner.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] if the step's generators are in use already.
    pub fn new(context: Context, owner: Party) -> Result<Self> {
        let masks = if context.me() == owner {
            context
                .peers()
                .map(|peer| context.shared_prg(peer))
                .collect::<Result<_>>()?
        } else {
            vec![context.shared_prg(owner)?]
        };
        Ok(Self {
            context,
            owner,
            masks,
        })
    }

    /// One for each owner, in a step of its own each within `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`new`](Self::new).
    pub fn of_everyone(context: &Context) -> Result<Vec<Self>> {
        let of = |owner| Self::new(context.step(&format!("inputs of {owner}")), owner);
        Party::all(context.parties()).map(of).collect()
    }

    /// Party whose inputs these are.
    pub fn owner(&self) -> Party {
        self.owner
    }

    /// Shares the next input, of bits. All parties share inputs of the same lengths in the same order.
    ///
    /// `share` holds the input at the owner, anything elsewhere, and the share afterwards.
    pub fn share(&mut self, share: &mut [u8]) {
        if self.context.me() != self.owner {
            share.fill(0);
        }
        self.masks.iter_mut().for_each(|mask| mask.xor_into(share));
    }

    /// Shares the next input, of ring elements, as [`share`](Self::share) does bits.
    pub fn share_elements<T: Ring>(&mut self, share: &mut [T]) {
        if self.context.me() != self.owner {
            self.masks
                .iter_mut()
                .for_each(|mask| mask.fill(rings::as_bytes_mut(share)));
            return;
        }
        let each = CHUNK / T::BYTES;
        let mut chunk = Zeroizing::zeros(each.min(share.len()));
        for mask in &mut self.masks {
            for share in share.chunks_mut(each) {
                let chunk = &mut chunk[..share.len()];
                mask.fill(rings::as_bytes_mut(chunk));
                rings::sub_into(share, chunk);
            }
        }
    }
}

/// AES blocks that party `me` spends on sharing an input of `bytes` bytes, in one call.
pub fn share_aes_blocks(me: Party, owner: Party, parties: usize, bytes: u64) -> u64 {
    let blocks = bytes.div_ceil(16);
    if me == owner {
        blocks * (parties as u64 - 1)
    } else {
        blocks
    }
}
