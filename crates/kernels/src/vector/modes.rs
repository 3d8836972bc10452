//! The modes of AES, written once for vectors of 1, 2 or 4 blocks.
//!
//! A module that expands [`modes`] defines `Vector`, `LANES` (blocks per vector) and the functions
//! `load`, `store`, `splat`, `xor_vectors`, `round`, `last_round`, `counters`, `add_counter`, `low_bits` on
//! it, all with the same target features; one block per vector also wants `low_bit`.
//!
//! Eight vectors are in flight at once: AES rounds take 3 to 5 cycles and start once or twice per
//! cycle, so eight independent states keep the units busy.

/// Defines `encrypt`, `ctr_fill`, `ctr_xor`, `hash_blocks`, `hash_pairs`, `hash_bits` and `stretch` for
/// one level, which leave what fills no batch to module `$single`, an expansion of [`single_modes`].
macro_rules! modes {
    ($features:literal, $single:ident) => {
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
            let (batches, rest) = blocks_as_bytes_mut(blocks).as_chunks_mut::<BYTES>();
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                for batch in batches {
                    let states = encrypt_states(&keys, load_states(batch));
                    store_states(batch, &states);
                }
            }
            $single::encrypt_rest(keys, rest);
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn ctr<const XOR: bool>(keys: &RoundKeys, first: u64, out: &mut [u8]) {
            let (batches, rest) = out.as_chunks_mut::<BYTES>();
            let done = (batches.len() * BATCH) as u64;
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                let mut counter = counters(first, 0);
                for batch in batches {
                    let mut states = encrypt_states(&keys, counter_states(counter));
                    if XOR {
                        states = xor_states(states, &load_states(batch));
                    }
                    store_states(batch, &states);
                    counter = add_counter(counter, BATCH as i64);
                }
            }
            $single::ctr_rest::<XOR>(keys, first.wrapping_add(done), rest);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ctr_fill(keys: &RoundKeys, first: u64, out: &mut [u8]) {
            ctr::<false>(keys, first, out);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ctr_xor(keys: &RoundKeys, first: u64, data: &mut [u8]) {
            ctr::<true>(keys, first, data);
        }

        /// MMO of one batch: `pi(x) ^ x`.
        #[inline]
        #[target_feature(enable = $features)]
        fn hash_states(keys: &[Vector; 11], x: States) -> States {
            xor_states(encrypt_states(keys, x), &x)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_blocks(keys: &RoundKeys, offset: Block, x: &[Block], out: &mut [Block]) {
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = blocks_as_bytes_mut(out).as_chunks_mut::<BYTES>();
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                let offset = [splat(offset); STATES];
                for (x, out) in batches.iter().zip(out_batches) {
                    let x = xor_states(load_states(x), &offset);
                    store_states(out, &hash_states(&keys, x));
                }
            }
            $single::hash_rest(keys, offset, rest, out_rest);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_pairs(
            keys: &RoundKeys,
            offset: Block,
            x: &[Block],
            k0: &mut [Block],
            k1: &mut [Block],
        ) {
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (k0_batches, k0_rest) = blocks_as_bytes_mut(k0).as_chunks_mut::<BYTES>();
            let (k1_batches, k1_rest) = blocks_as_bytes_mut(k1).as_chunks_mut::<BYTES>();
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                let offset = [splat(offset); STATES];
                for ((x, k0), k1) in batches.iter().zip(k0_batches).zip(k1_batches) {
                    let x = load_states(x);
                    store_states(k0, &hash_states(&keys, x));
                    store_states(k1, &hash_states(&keys, xor_states(x, &offset)));
                }
            }
            $single::hash_rest(keys, Block::ZERO, rest, k0_rest);
            $single::hash_rest(keys, offset, rest, k1_rest);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_bits(keys: &RoundKeys, offset: Block, x: &[Block], out: &mut [u8]) {
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = out.split_at_mut(batches.len() * (BATCH / 8));
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                let offset = [splat(offset); STATES];
                for (x, out) in batches.iter().zip(out_batches.as_chunks_mut().0) {
                    let x = xor_states(load_states(x), &offset);
                    *out = low_bits(&hash_states(&keys, x));
                }
            }
            $single::hash_bits_rest(keys, offset, rest, out_rest);
        }

        /// MMO of the points `seed ^ j`, from `j = first` on.
        #[target_feature(enable = $features)]
        pub(crate) fn stretch(keys: &RoundKeys, seed: Block, first: u64, out: &mut [u8]) {
            let (batches, rest) = out.as_chunks_mut::<BYTES>();
            let done = (batches.len() * BATCH) as u64;
            if !batches.is_empty() {
                let keys = spread_keys(keys);
                let seeds = [splat(seed); STATES];
                let mut counter = counters(first, 0);
                for batch in batches {
                    let x = xor_states(counter_states(counter), &seeds);
                    store_states(batch, &hash_states(&keys, x));
                    counter = add_counter(counter, BATCH as i64);
                }
            }
            $single::stretch_rest(keys, seed, first + done, rest);
        }
    };
}
pub(crate) use modes;

/// Defines `encrypt_rest`, `ctr_rest`, `hash_rest`, `hash_bits_rest` and `stretch_rest`, which take what
/// fills no batch, for vectors of one block. The blocks are independent, so the processor overlaps
/// them, and nothing secret has to be padded in memory.
macro_rules! single_modes {
    ($features:literal) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn encrypt_one(keys: &RoundKeys, block: Vector) -> Vector {
            let mut state = xor_vectors(block, splat(keys[0]));
            for key in &keys[1..10] {
                state = round(state, splat(*key));
            }
            last_round(state, splat(keys[10]))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn hash_one(keys: &RoundKeys, x: Vector) -> Vector {
            xor_vectors(encrypt_one(keys, x), x)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn encrypt_rest(keys: &RoundKeys, blocks: &mut [u8]) {
            for block in blocks.as_chunks_mut().0 {
                let encrypted = encrypt_one(keys, load(block));
                store(block, encrypted);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ctr_rest<const XOR: bool>(keys: &RoundKeys, first: u64, out: &mut [u8]) {
            let (blocks, part) = out.as_chunks_mut();
            let mut counter = first;
            for block in blocks {
                let stream = encrypt_one(keys, splat(Block::new(counter, 0)));
                store(
                    block,
                    if XOR {
                        xor_vectors(stream, load(block))
                    } else {
                        stream
                    },
                );
                counter = counter.wrapping_add(1);
            }
            if !part.is_empty() {
                let mut stream = [0; 16];
                store(
                    &mut stream,
                    encrypt_one(keys, splat(Block::new(counter, 0))),
                );
                for (out, stream) in part.iter_mut().zip(stream) {
                    *out = if XOR { *out ^ stream } else { stream };
                }
                stream.zeroize();
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_rest(keys: &RoundKeys, offset: Block, x: &[u8], out: &mut [u8]) {
            for (x, out) in x.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
                store(out, hash_one(keys, xor_vectors(load(x), splat(offset))));
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_bits_rest(keys: &RoundKeys, offset: Block, x: &[u8], out: &mut [u8]) {
            for (x, out) in x.chunks(8 * 16).zip(out) {
                let mut bits = 0;
                for (i, x) in x.as_chunks().0.iter().enumerate() {
                    bits |= low_bit(hash_one(keys, xor_vectors(load(x), splat(offset)))) << i;
                }
                *out = bits;
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn stretch_rest(keys: &RoundKeys, seed: Block, first: u64, out: &mut [u8]) {
            let (blocks, part) = out.as_chunks_mut();
            let mut point = first;
            for block in blocks {
                store(block, hash_one(keys, splat(seed ^ Block::new(point, 0))));
                point += 1;
            }
            if !part.is_empty() {
                let mut last = [0; 16];
                store(
                    &mut last,
                    hash_one(keys, splat(seed ^ Block::new(point, 0))),
                );
                part.copy_from_slice(&last[..part.len()]);
                last.zeroize();
            }
        }
    };
}
pub(crate) use single_modes;
