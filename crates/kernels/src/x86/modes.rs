//! The modes of AES, written once for vectors of 1, 2 or 4 blocks.
//!
//! A module that expands [`modes`] defines `Vector`, `LANES` (blocks per vector) and the functions
//! `load`, `store`, `splat`, `xor_vectors`, `round`, `last_round`, `counters`, `add_counter`, `low_bits` on
//! it, all with the same target features.
//!
//! Eight vectors are in flight at once: AES rounds take 3 to 5 cycles and start once or twice per
//! cycle, so eight independent states keep the units busy.

/// Defines `encrypt`, `ctr_fill`, `ctr_xor`, `hash_blocks`, `hash_bits` and `mmo` for one level.
macro_rules! modes {
    ($features:literal) => {
        /// Vectors in flight.
        const STATES: usize = 8;
        /// Blocks per batch.
        const BATCH: usize = STATES * LANES;
        /// Bytes per batch.
        const BYTES: usize = 16 * BATCH;

        type States = [Vector; STATES];

        #[inline]
        #[target_feature(enable = $features)]
        fn spread_keys(keys: &RoundKeys) -> [Vector; 11] {
            let mut out = [splat(Block::ZERO); 11];
            for (out, key) in out.iter_mut().zip(keys) {
                *out = splat(*key);
            }
            out
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_states(bytes: &[u8; BYTES]) -> States {
            let mut states = [splat(Block::ZERO); STATES];
            for (state, bytes) in states.iter_mut().zip(bytes.as_chunks().0) {
                *state = load(bytes);
            }
            states
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store_states(bytes: &mut [u8; BYTES], states: &States) {
            for (state, bytes) in states.iter().zip(bytes.as_chunks_mut().0) {
                store(bytes, *state);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn xor_states(mut a: States, b: &States) -> States {
            for (a, b) in a.iter_mut().zip(b) {
                *a = xor_vectors(*a, *b);
            }
            a
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn encrypt_states(keys: &[Vector; 11], mut states: States) -> States {
            for state in &mut states {
                *state = xor_vectors(*state, keys[0]);
            }
            for key in &keys[1..10] {
                for state in &mut states {
                    *state = round(*state, *key);
                }
            }
            for state in &mut states {
                *state = last_round(*state, keys[10]);
            }
            states
        }

        /// The counters of one batch, beginning with the one in the lowest lane of `first`.
        #[inline]
        #[target_feature(enable = $features)]
        fn counter_states(first: Vector) -> States {
            let mut states = [first; STATES];
            for i in 1..STATES {
                states[i] = add_counter(states[i - 1], LANES as i64);
            }
            states
        }

        #[target_feature(enable = $features)]
        pub(crate) fn encrypt(keys: &RoundKeys, blocks: &mut [Block]) {
            let keys = spread_keys(keys);
            let (batches, rest) = blocks_as_bytes_mut(blocks).as_chunks_mut::<BYTES>();
            for batch in batches {
                let states = encrypt_states(&keys, load_states(batch));
                store_states(batch, &states);
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                batch[..rest.len()].copy_from_slice(rest);
                let states = encrypt_states(&keys, load_states(&batch));
                store_states(&mut batch, &states);
                rest.copy_from_slice(&batch[..rest.len()]);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ctr_fill(keys: &RoundKeys, first: u64, out: &mut [u8]) {
            let keys = spread_keys(keys);
            let mut counter = counters(first, 0);
            let (batches, rest) = out.as_chunks_mut::<BYTES>();
            for batch in batches {
                store_states(batch, &encrypt_states(&keys, counter_states(counter)));
                counter = add_counter(counter, BATCH as i64);
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                store_states(&mut batch, &encrypt_states(&keys, counter_states(counter)));
                rest.copy_from_slice(&batch[..rest.len()]);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ctr_xor(keys: &RoundKeys, first: u64, data: &mut [u8]) {
            let keys = spread_keys(keys);
            let mut counter = counters(first, 0);
            let (batches, rest) = data.as_chunks_mut::<BYTES>();
            for batch in batches {
                let stream = encrypt_states(&keys, counter_states(counter));
                store_states(batch, &xor_states(stream, &load_states(batch)));
                counter = add_counter(counter, BATCH as i64);
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                store_states(&mut batch, &encrypt_states(&keys, counter_states(counter)));
                crate::portable::xor_into(rest, &batch[..rest.len()]);
            }
        }

        /// TMMO of one batch: `pi(pi(x) ^ t) ^ pi(x)`.
        #[inline]
        #[target_feature(enable = $features)]
        fn hash_states(keys: &[Vector; 11], tweak: Vector, x: States) -> States {
            let inner = encrypt_states(keys, x);
            let outer = encrypt_states(keys, xor_states(counter_states(tweak), &inner));
            xor_states(outer, &inner)
        }

        /// The caller has seen that the low word of the tweaks does not wrap.
        #[target_feature(enable = $features)]
        pub(crate) fn hash_blocks(keys: &RoundKeys, tweak: u128, x: &[Block], out: &mut [Block]) {
            let keys = spread_keys(keys);
            let mut tweak = counters(tweak as u64, (tweak >> 64) as u64);
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = blocks_as_bytes_mut(out).as_chunks_mut::<BYTES>();
            for (x, out) in batches.iter().zip(out_batches) {
                store_states(out, &hash_states(&keys, tweak, load_states(x)));
                tweak = add_counter(tweak, BATCH as i64);
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                batch[..rest.len()].copy_from_slice(rest);
                let hashes = hash_states(&keys, tweak, load_states(&batch));
                store_states(&mut batch, &hashes);
                out_rest.copy_from_slice(&batch[..rest.len()]);
            }
        }

        /// The caller has seen that the low word of the tweaks does not wrap.
        #[target_feature(enable = $features)]
        pub(crate) fn hash_bits(
            keys: &RoundKeys,
            tweak: u128,
            offset: Block,
            x: &[Block],
            out: &mut [u8],
        ) {
            let keys = spread_keys(keys);
            let offset = [splat(offset); STATES];
            let mut tweak = counters(tweak as u64, (tweak >> 64) as u64);
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = out.split_at_mut(batches.len() * (BATCH / 8));
            for (x, out) in batches.iter().zip(out_batches.as_chunks_mut().0) {
                let x = xor_states(load_states(x), &offset);
                *out = low_bits(&hash_states(&keys, tweak, x));
                tweak = add_counter(tweak, BATCH as i64);
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                batch[..rest.len()].copy_from_slice(rest);
                let x = xor_states(load_states(&batch), &offset);
                let bits = low_bits(&hash_states(&keys, tweak, x));
                out_rest.copy_from_slice(&bits[..out_rest.len()]);
                // The padding has hashes too, which nobody asked for.
                let used = rest.len() / 16 % 8;
                if let (1.., Some(last)) = (used, out_rest.last_mut()) {
                    *last &= (1 << used) - 1;
                }
            }
        }

        /// MMO: `pi(x) ^ x`.
        #[target_feature(enable = $features)]
        pub(crate) fn mmo(keys: &RoundKeys, x: &[Block], out: &mut [Block]) {
            let keys = spread_keys(keys);
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = blocks_as_bytes_mut(out).as_chunks_mut::<BYTES>();
            for (x, out) in batches.iter().zip(out_batches) {
                let x = load_states(x);
                store_states(out, &xor_states(encrypt_states(&keys, x), &x));
            }
            if !rest.is_empty() {
                let mut batch = [0; BYTES];
                batch[..rest.len()].copy_from_slice(rest);
                let x = load_states(&batch);
                store_states(&mut batch, &xor_states(encrypt_states(&keys, x), &x));
                out_rest.copy_from_slice(&batch[..rest.len()]);
            }
        }
    };
}
pub(super) use modes;
