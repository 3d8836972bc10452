//! Helpers of the OT tests.
#![allow(dead_code, reason = "each test binary uses its own part of it")]
#![allow(clippy::print_stderr, reason = "a failing test prints its seed")]
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use madrigal_core::domains::ROW_HASH;
use madrigal_kernels::{Block, RowHash};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng,
    softspoken::CHUNK,
    softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender},
};
use rand_core::Rng;
use sha2::{Digest, Sha256};

pub(crate) const INSTANCE: Instance = Instance {
    session: [9; 32],
    sender: 0,
    receiver: 1,
    stream: 7,
};

/// Sizes around every boundary that matters: none, a bit, a tile, a chunk and several chunks.
pub(crate) const SIZES: [usize; 12] = [
    0,
    1,
    127,
    128,
    129,
    1023,
    1025,
    8192,
    CHUNK - 1,
    CHUNK,
    CHUNK + 1,
    70_000,
];

/// A generator that prints its seed if the test fails. Set MADRIGAL_TEST_SEED to repeat with
/// another one.
pub(crate) struct TestRng {
    seed: u64,
    rng: SeededRng,
}

impl TestRng {
    pub(crate) fn new(default_seed: u64) -> Self {
        let seed = std::env::var("MADRIGAL_TEST_SEED")
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(default_seed);
        TestRng {
            seed,
            rng: SeededRng::from_seed(Block::new(seed, 0)),
        }
    }

    pub(crate) fn rng(&mut self) -> &mut SeededRng {
        &mut self.rng
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn block(&mut self) -> Block {
        Block::new(self.rng.next_u64(), self.rng.next_u64())
    }

    pub(crate) fn blocks(&mut self, n: usize) -> Vec<Block> {
        (0..n).map(|_| self.block()).collect()
    }
}

impl Drop for TestRng {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with MADRIGAL_TEST_SEED={}", self.seed);
        }
    }
}

pub(crate) fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 == 1
}

/// Keys of both sides of 128 base OTs as the ideal functionality deals them.
pub(crate) fn ideal_base(rng: &mut TestRng, delta: Block) -> (Vec<Block>, Vec<[Block; 2]>) {
    let pairs: Vec<[Block; 2]> = (0..KAPPA).map(|_| [rng.block(), rng.block()]).collect();
    let keys = pairs.iter().enumerate();
    let keys = keys.map(|(j, pair)| pair[usize::from(delta.bit(j))]);
    (keys.collect(), pairs)
}

/// IKNP, which is SoftSpoken with k = 1: nothing is sent ahead.
pub(crate) const IKNP: FieldBits = FieldBits::MIN;

pub(crate) fn iknp_sender(instance: Instance, delta: Block, keys: &[Block]) -> SoftSpokenSender {
    SoftSpokenSender::new(instance, IKNP, Delta::from_block(delta), keys, &[]).unwrap()
}

pub(crate) fn iknp_receiver(instance: Instance, pairs: &[[Block; 2]]) -> SoftSpokenReceiver {
    SoftSpokenReceiver::new(instance, IKNP, pairs).unwrap().0
}

/// An extension over ideal base OTs.
pub(crate) fn ideal_extension(rng: &mut TestRng) -> (SoftSpokenSender, SoftSpokenReceiver) {
    ideal_softspoken(rng, IKNP)
}

/// A SoftSpoken extension over ideal base OTs.
pub(crate) fn ideal_softspoken(
    rng: &mut TestRng,
    k: FieldBits,
) -> (SoftSpokenSender, SoftSpokenReceiver) {
    let delta = rng.block();
    let (keys, pairs) = ideal_base(rng, delta);
    let (receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
    let delta = Delta::from_block(delta);
    let sender = SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup).unwrap();
    (sender, receiver)
}

/// The hash of an instance's rows, by the definition.
pub(crate) fn row_hash(instance: Instance) -> RowHash {
    let direction = u64::from(instance.sender) << 16 | u64::from(instance.receiver);
    let place = direction << 32 | u64::from(instance.stream);
    let digest = Sha256::new()
        .chain_update(ROW_HASH)
        .chain_update(instance.session)
        .chain_update(place.to_le_bytes())
        .finalize();
    RowHash::new(Block::from_bytes(digest[..16].try_into().unwrap()))
}

/// Rows of both sides with their tweaks, the message and the choices.
pub(crate) struct Rows {
    pub(crate) choices: Vec<u8>,
    pub(crate) u: Vec<u8>,
    pub(crate) q: Vec<Block>,
    pub(crate) t: Vec<Block>,
    pub(crate) sender_tweaks: madrigal_ot::Tweaks,
    pub(crate) receiver_tweaks: madrigal_ot::Tweaks,
}

pub(crate) fn extend(
    rng: &mut TestRng,
    sender: &mut impl ExtensionSender,
    receiver: &mut impl ExtensionReceiver,
    m: usize,
) -> Rows {
    let mut choices = rng.bytes(m.div_ceil(8));
    if !m.is_multiple_of(8) {
        choices[m / 8] &= (1 << (m % 8)) - 1;
    }
    let mut u = vec![0; receiver.message_len(m)];
    let mut t = vec![Block::ZERO; m];
    let mut q = vec![Block::ZERO; m];
    let receiver_tweaks = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
    let sender_tweaks = sender.extend(&u, m, &mut q).unwrap();
    Rows {
        choices,
        u,
        q,
        t,
        sender_tweaks,
        receiver_tweaks,
    }
}
