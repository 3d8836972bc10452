//! Base OTs as tests of what starts from them have them: both sides take the keys from the seed of the test,
//! which only a build with the feature `test-seeds` of `madrigal-net` can have.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Prg, meter};
use madrigal_ot::base::{BaseResponse, ELEMENT_BYTES};
use madrigal_ot::{Instance, KAPPA, SeededRng};
use rand_core::Rng as _;

/// Stand-in for the computation between the messages.
pub(super) struct Given {
    pub(super) seed: u64,
}

impl Given {
    /// Both keys of each OT of an instance.
    pub(super) fn keys(&self, instance: Instance) -> Zeroizing<Vec<[Block; 2]>> {
        let Instance {
            session,
            sender,
            receiver,
            ..
        } = instance;
        let place = u64::from(sender) << 16 | u64::from(receiver);
        let mut session_bytes = [0; 16];
        session_bytes.copy_from_slice(&session[..16]);
        let key = Block::new(self.seed, place) ^ Block::from_bytes(session_bytes);
        // No party computes these in a protocol.
        let keys = meter::unmetered(|| {
            // Number 0: the key is a test's.
            let mut prg = Prg::new(key);
            (0..KAPPA)
                .map(|_| [prg.next_block(), prg.next_block()])
                .collect()
        });
        Zeroizing::new(keys)
    }

    /// The receiver's message, as long and as random as real elements are, and the chosen keys.
    pub(super) fn answer(
        &self,
        rng: &mut SeededRng,
        instance: Instance,
        choices: &[u8],
    ) -> BaseResponse {
        let mut message = Vec::with_capacity(KAPPA * ELEMENT_BYTES);
        for _ in 0..KAPPA {
            // Scalars are drawn from twice their length.
            let mut drawn = [0; 2 * ELEMENT_BYTES];
            rng.fill_bytes(&mut drawn);
            message.extend(&drawn[..ELEMENT_BYTES]);
        }
        let both = self.keys(instance);
        let choice = |i: usize| usize::from(choices[i / 8] >> (i % 8) & 1);
        let chosen = both.iter().enumerate().map(|(i, keys)| keys[choice(i)]);
        BaseResponse {
            message,
            keys: Zeroizing::new(chosen.collect()),
        }
    }
}
