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

        /// Bytes that do not fill a batch, padded to one.
        #[inline]
        fn pad(rest: &[u8]) -> [Block; BATCH] {
            let mut padded = [Block::ZERO; BATCH];
            blocks_as_bytes_mut(&mut padded)[..rest.len()].copy_from_slice(rest);
            padded
        }

        /// Stores the states over a last batch that is not whole.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_part(out: &mut [u8], states: &States) {
            let mut padded = [Block::ZERO; BATCH];
            for whole in blocks_as_bytes_mut(&mut padded).as_chunks_mut().0 {
                store_states(whole, states);
            }
            out.copy_from_slice(&blocks_as_bytes(&padded)[..out.len()]);
            padded.zeroize();
        }

        /// Runs `$body` on the states of each batch of `$x`, the last one padded, and stores what it
        /// gives. The body stands once in the code, so that the compiler makes it part of the loop.
        macro_rules! map_batches {
            ($x:expr, $out:expr, |$states:ident| $body:expr) => {
                let (batches, rest) = blocks_as_bytes($x).as_chunks::<BYTES>();
                let mut padded = pad(rest);
                let last = blocks_as_bytes(&padded).as_chunks::<BYTES>().0;
                let last = if rest.is_empty() { &[] } else { last };
                let (out_batches, out_rest) = $out.as_chunks_mut::<BYTES>();
                let mut out_batches = out_batches.iter_mut();
                for batch in batches.iter().chain(last) {
                    let $states = load_states(batch);
                    let states = $body;
                    match out_batches.next() {
                        Some(out) => store_states(out, &states),
                        None => store_part(out_rest, &states),
                    }
                }
                if !rest.is_empty() {
                    padded.zeroize();
                }
            };
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
                let mut padded = pad(rest);
                for batch in blocks_as_bytes(&padded).as_chunks().0 {
                    store_part(rest, &encrypt_states(&keys, load_states(batch)));
                }
                padded.zeroize();
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
                store_part(rest, &encrypt_states(&keys, counter_states(counter)));
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
                let mut padded = pad(rest);
                let stream = encrypt_states(&keys, counter_states(counter));
                for batch in blocks_as_bytes(&padded).as_chunks().0 {
                    store_part(rest, &xor_states(stream, &load_states(batch)));
                }
                padded.zeroize();
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
            map_batches!(x, blocks_as_bytes_mut(out), |x| {
                let hashes = hash_states(&keys, tweak, x);
                tweak = add_counter(tweak, BATCH as i64);
                hashes
            });
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
            let mut padded = pad(rest);
            let last = blocks_as_bytes(&padded).as_chunks::<BYTES>().0;
            let last = if rest.is_empty() { &[] } else { last };
            let mut out_batches = out.chunks_mut(BATCH / 8);
            for batch in batches.iter().chain(last) {
                let x = xor_states(load_states(batch), &offset);
                let bits = low_bits(&hash_states(&keys, tweak, x));
                tweak = add_counter(tweak, BATCH as i64);
                if let Some(out) = out_batches.next() {
                    match out.first_chunk_mut() {
                        Some(out) => *out = bits,
                        None => out.copy_from_slice(&bits[..out.len()]),
                    }
                }
            }
            if !rest.is_empty() {
                padded.zeroize();
                // The padding has hashes too, which nobody asked for.
                clear_padding(out, x.len());
            }
        }

        /// MMO: `pi(x) ^ x`.
        #[target_feature(enable = $features)]
        pub(crate) fn mmo(keys: &RoundKeys, x: &[Block], out: &mut [Block]) {
            let keys = spread_keys(keys);
            map_batches!(x, blocks_as_bytes_mut(out), |x| xor_states(
                encrypt_states(&keys, x),
                &x
            ));
        }
    };
}
pub(super) use modes;

/// Clears the bits of the last byte that `bits` bits do not reach, and all bytes after it.
pub(super) fn clear_padding(out: &mut [u8], bits: usize) {
    if let Some((last, after)) = out
        .get_mut(bits / 8..)
        .and_then(|bytes| bytes.split_first_mut())
    {
        *last &= (1 << (bits % 8)) - 1;
        after.fill(0);
    }
}
