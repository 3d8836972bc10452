//! Costs of each step, as formulas of the number of OTs. Tests compare the formulas with the
//! messages and with the AES blocks that are computed ([`madrigal_kernels::meter`]).

use core::ops::Add;

use crate::softspoken::{FieldBits, check};
use crate::{KAPPA, base::ELEMENT_BYTES, flavour::OneOf};

/// Cost of one step of a protocol between an OT sender and an OT receiver. In base OTs for an
/// extension the roles are those of the base OTs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes that the sender sends.
    pub sender_bytes: u64,
    /// Bytes that the receiver sends.
    pub receiver_bytes: u64,
    /// Messages that have to wait for one another.
    pub rounds: u64,
    /// AES-128 blocks that the sender computes, those of a [`SeededRng`](crate::SeededRng) included if
    /// it draws from one.
    pub sender_aes: u64,
    /// AES-128 blocks that the receiver computes, likewise.
    pub receiver_aes: u64,
    /// Scalar multiplications in Ristretto255 by the sender, with a fixed or a variable base.
    pub sender_multiplications: u64,
    /// Scalar multiplications in Ristretto255 by the receiver, all with fixed bases.
    pub receiver_multiplications: u64,
}

impl Cost {
    /// Cost of a step that does nothing.
    const NONE: Self = Self {
        sender_bytes: 0,
        receiver_bytes: 0,
        rounds: 0,
        sender_aes: 0,
        receiver_aes: 0,
        sender_multiplications: 0,
        receiver_multiplications: 0,
    };
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            sender_bytes: self.sender_bytes + other.sender_bytes,
            receiver_bytes: self.receiver_bytes + other.receiver_bytes,
            rounds: self.rounds + other.rounds,
            sender_aes: self.sender_aes + other.sender_aes,
            receiver_aes: self.receiver_aes + other.receiver_aes,
            sender_multiplications: self.sender_multiplications + other.sender_multiplications,
            receiver_multiplications: self.receiver_multiplications
                + other.receiver_multiplications,
        }
    }
}

/// AES blocks of one hash of a row.
const HASH: u64 = 1;

/// AES blocks of a scalar, or an element, that a [`SeededRng`](crate::SeededRng) draws: 64 bytes.
const DRAWN: u64 = 4;

/// `n` base OTs ([`crate::base`]).
pub const fn base(n: u64) -> Cost {
    Cost {
        sender_bytes: ELEMENT_BYTES as u64,
        receiver_bytes: ELEMENT_BYTES as u64 * n,
        rounds: 2,
        sender_multiplications: n + 2,
        receiver_multiplications: 2 * n,
        sender_aes: DRAWN,
        receiver_aes: DRAWN * n,
    }
}

/// `n` base OTs in one round ([`crate::base::endemic`]).
pub const fn base_endemic(n: u64) -> Cost {
    Cost {
        sender_bytes: ELEMENT_BYTES as u64,
        receiver_bytes: 2 * ELEMENT_BYTES as u64 * n,
        rounds: 1,
        sender_multiplications: 2 * n + 1,
        receiver_multiplications: 2 * n,
        sender_aes: DRAWN,
        receiver_aes: 2 * DRAWN * n,
    }
}

/// `n` base OTs from ML-KEM ([`crate::base::kem`]).
#[cfg(feature = "ml-kem")]
pub const fn base_kem(n: u64) -> Cost {
    Cost {
        receiver_bytes: crate::base::kem::keys_len(n as usize) as u64,
        receiver_aes: (crate::base::kem::SAMPLE_BYTES as u64).div_ceil(16) * n,
        rounds: 2,
        ..from_sender(crate::base::kem::ciphertexts_len(n as usize) as u64)
    }
}

/// Extension by `m` OTs in one call ([`crate::softspoken`]), rows only.
pub const fn softspoken(k: FieldBits, m: u64) -> Cost {
    // A block is kappa bits, so each leaf takes one for kappa OTs.
    let groups = m.div_ceil(KAPPA as u64);
    let (leaves, blocks) = (k.leaves() as u64, k.blocks() as u64);
    Cost {
        receiver_bytes: 16 * blocks * groups,
        rounds: 1,
        sender_aes: (leaves - blocks) * groups,
        receiver_aes: leaves * groups,
        ..Cost::NONE
    }
}

/// Start of a SoftSpoken instance: the receiver's trees, once for the instance's life, without the
/// expansion of the leaves' keys. In the roles of the extension.
pub fn softspoken_setup(k: FieldBits) -> Cost {
    // A tree of depth w has 2^w - 2 inner nodes below the root; two AES blocks expand each. The
    // peer's gap is one of them on each of the levels 1 to w - 1.
    let (leaves, blocks) = (k.leaves() as u64, k.blocks() as u64);
    let receiver_aes = 2 * (leaves - 2 * blocks);
    Cost {
        receiver_bytes: k.setup_len() as u64,
        rounds: u64::from(k != FieldBits::MIN),
        sender_aes: receiver_aes - 2 * (KAPPA as u64 - blocks),
        receiver_aes,
        ..Cost::NONE
    }
}

/// The check of a call for `rows` rows ([`check`]), without the seed that the sender draws.
pub const fn softspoken_check(rows: u64) -> Cost {
    let factors = (rows / KAPPA as u64).saturating_sub(1);
    Cost {
        sender_bytes: check::CHALLENGE_BYTES as u64,
        receiver_bytes: check::ANSWER_BYTES as u64,
        rounds: 2,
        sender_aes: factors,
        // Once for the choices and once for the columns.
        receiver_aes: 2 * factors,
        ..Cost::NONE
    }
}

/// Random OTs of bits or blocks from `m` rows.
pub const fn random(m: u64) -> Cost {
    Cost {
        sender_aes: 2 * HASH * m,
        receiver_aes: HASH * m,
        ..Cost::NONE
    }
}

const fn from_sender(sender_bytes: u64) -> Cost {
    Cost {
        sender_bytes,
        rounds: 1,
        ..Cost::NONE
    }
}

/// Turning `m` random OTs of bits into XOR-correlated ones.
pub const fn correlated_bits(m: u64) -> Cost {
    from_sender(m.div_ceil(8))
}

/// Turning `m` random OTs of blocks into XOR-correlated ones.
pub const fn correlated_blocks(m: u64) -> Cost {
    from_sender(16 * m)
}

/// Turning `m` random OTs of blocks into OTs of chosen messages.
pub const fn chosen_blocks(m: u64) -> Cost {
    from_sender(32 * m)
}

/// Random OTs of `m` strings of `len` bytes.
pub const fn random_strings(m: u64, len: u64) -> Cost {
    let each = if len == 0 {
        0
    } else if len <= 16 {
        HASH
    } else {
        HASH + len.div_ceil(16)
    };
    Cost {
        sender_aes: 2 * each * m,
        receiver_aes: each * m,
        ..Cost::NONE
    }
}

/// Turning `m` random OTs of strings of `len` bytes into XOR-correlated ones.
pub const fn correlated_strings(m: u64, len: u64) -> Cost {
    from_sender(m * len)
}

/// Turning `m` random OTs of strings of `len` bytes into OTs of chosen strings.
pub const fn chosen_strings(m: u64, len: u64) -> Cost {
    from_sender(2 * m * len)
}

/// Turning `m` random OTs of strings into additively correlated ones of `each` values of `bits` bits.
pub const fn additive(m: u64, each: u64, bits: u64) -> Cost {
    from_sender(m * each * (bits / 8))
}

/// Random 1-out-of-n OTs, `m` of them, from `m * n.rows()` rows.
pub const fn random_one_of(m: u64, n: OneOf) -> Cost {
    Cost {
        sender_aes: HASH * m * n.get() as u64,
        receiver_aes: HASH * m,
        ..Cost::NONE
    }
}

/// Turning `m` random 1-out-of-n OTs into ones of chosen blocks.
pub const fn chosen_one_of(m: u64, n: OneOf) -> Cost {
    from_sender(16 * m * n.get() as u64)
}

/// Switching the choices of `m` precomputed OTs. In the one-round correlated OT this message and
/// the corrections cross, so that the two together take one round, not two.
pub const fn choice_flips(m: u64) -> Cost {
    Cost {
        receiver_bytes: m.div_ceil(8),
        rounds: 1,
        ..Cost::NONE
    }
}
