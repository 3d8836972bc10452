//! What one extension instance is: its name, its secret offset, and its supply of hash tweaks.

use core::fmt;

use madrigal_kernels::Block;
use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::error::OtError;

/// Symmetric security parameter in bits: number of base OTs, columns of the extension matrix.
pub const KAPPA: usize = 128;

/// The name of one OT instance within a session.
///
/// It is bound into the base OTs' hash and into the high half of every hash tweak, so two
/// instances must not share a name if they share the base OTs' session identifier or an offset. (The
/// jobs of one session use the same names: each has its own identifier and offsets.) The direction is part of it: (sender, receiver)
/// and (receiver, sender) are two instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Party that sends, in the role of the OTs that this instance produces.
    pub sender: u16,
    /// Party that receives (has choice bits).
    pub receiver: u16,
    /// Tells apart several instances between the same two parties.
    pub stream: u32,
}

impl Instance {
    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.sender) << 48 | u64::from(self.receiver) << 32 | u64::from(self.stream)
    }
}

/// The extension sender's global offset: rows satisfy `q = t ^ r * Delta`. Secret.
pub struct Delta(Block);

impl Delta {
    /// Draws a uniformly random offset.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0u8; 16];
        rng.fill_bytes(&mut bytes);
        let delta = Delta(Block::from_bytes(bytes));
        bytes.zeroize();
        delta
    }

    /// Draws an offset whose lowest bit is one and whose other bits are uniform, as
    /// [silent OT](crate::silent) needs it: the lowest bit of a row then tells its choice.
    pub fn random_odd(rng: &mut impl CryptoRng) -> Self {
        let mut delta = Delta::random(rng);
        delta.0.0[0] |= 1;
        delta
    }

    /// Takes an offset that the caller chose, uniformly up to the few bits it fixes (BMR's R^j
    /// with its point-and-permute bit).
    pub fn from_block(block: Block) -> Self {
        Delta(block)
    }

    /// The offset itself: for protocols that use the rows as they are, such as BMR garbling.
    pub fn expose(&self) -> Block {
        self.0
    }

    /// The offset as the base receiver's [`KAPPA`] packed choice bits.
    pub fn choice_bits(&self) -> [u8; KAPPA / 8] {
        self.0.to_bytes()
    }
}

impl Drop for Delta {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delta(..)")
    }
}

/// The right to hash each of a run of rows once.
///
/// An extension hands one out with its rows and a [flavour](crate::flavour) consumes it; it cannot
/// be cloned, because masks made twice from the same rows would cancel out.
///
/// Row `i` of an instance has tweak `instance * 2^64 + i` with `i` counted over the instance's
/// whole life. Uniqueness within an instance is what the hash's property asks for; between
/// instances the offsets are independent, so that equal tweaks, as the jobs of a session have, only
/// cost what several instances cost together: an attacker's chance grows with the number of offsets
/// that one tweak meets. The instance is in the high half all the same, so that within a job no
/// tweak repeats.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "rows without their tweaks are of no use"]
pub struct Tweaks {
    first: u128,
    len: usize,
}

impl Tweaks {
    pub(crate) fn new(instance: Instance, first: u64, len: usize) -> Self {
        Tweaks {
            first: u128::from(instance.to_u64()) << 64 | u128::from(first),
            len,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no row is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the first `n` off, to hash the rows piece by piece.
    ///
    /// # Errors
    /// [`OtError::Exhausted`] if fewer than `n` are left; nothing is taken then.
    pub fn take(&mut self, n: usize) -> Result<Tweaks, OtError> {
        if n > self.len {
            return Err(OtError::Exhausted {
                wanted: n,
                left: self.len,
            });
        }
        let taken = Tweaks {
            first: self.first,
            len: n,
        };
        self.first += n as u128;
        self.len -= n;
        Ok(taken)
    }

    pub(crate) fn first(&self) -> u128 {
        self.first
    }
}
