//! The modes of AES, written once for vectors of 1, 2 or 4 blocks.
//!
//! A module that expands [`modes`] defines `Vector`, `LANES` (blocks per vector), `REGISTERS` (vectors the processor
//! holds) and the functions
//! `load`, `store`, `splat`, `spread`, `xor_vectors`, `round`, `last_round`, `counters`, `add_counter`, `low_bits` on
//! it, all with the same target features; one block per vector also wants `low_bit`.
//!
//! Eight vectors are in flight at once: AES rounds take 3 to 5 cycles and start once or twice per
//! cycle, so eight independent states keep the units busy. With 16 registers there is room for no more
//! than these and the round key: keys come from memory, and what a hash adds in the end is read again.
//!
//! The loops over vectors are over indices of known number: the compiler unrolls these before it
//! decides what lives in registers, and not those over iterators.

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
        fn load_states(bytes: &[u8; BYTES]) -> States {
            let mut states = [splat(Block::ZERO); STATES];
            let (bytes, _) = bytes.as_chunks();
            for i in 0..STATES {
                states[i] = load(&bytes[i]);
            }
            states
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store_states(bytes: &mut [u8; BYTES], states: &States) {
            let (bytes, _) = bytes.as_chunks_mut();
            for i in 0..STATES {
                store(&mut bytes[i], states[i]);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn xor_states(mut a: States, b: &States) -> States {
            for i in 0..STATES {
                a[i] = xor_vectors(a[i], b[i]);
            }
            a
        }

        /// The keys, from memory wherever a round needs one: where there are 16 registers the compiler
        /// would otherwise keep them there across batches and move the states to the stack.
        #[inline]
        fn unkept(keys: &RoundKeys) -> &RoundKeys {
            if REGISTERS < 32 {
                crate::opaque::again(keys)
            } else {
                keys
            }
        }

        /// AES of an array of vectors, all in flight, under `$keys` with other ones before the first
        /// round and after the last. A macro, as the compiler does not inline a function for it.
        macro_rules! encrypted {
            ($keys:expr, $ends:expr, $states:expr) => {{
                let (keys, ends, mut states) = ($keys, $ends, $states);
                for i in 0..states.len() {
                    states[i] = xor_vectors(states[i], ends[0]);
                }
                for r in 1..10 {
                    let key = spread(&unkept(keys)[r]);
                    for i in 0..states.len() {
                        states[i] = round(states[i], key);
                    }
                }
                for i in 0..states.len() {
                    states[i] = last_round(states[i], ends[1]);
                }
                states
            }};
        }

        /// The first key and the last, with `offset` added: under these `pi(x) ^ x` is that of
        /// `x ^ offset`.
        #[inline]
        #[target_feature(enable = $features)]
        fn ends(keys: &RoundKeys, offset: Block) -> [Vector; 2] {
            let offset = splat(offset);
            [
                xor_vectors(spread(&keys[0]), offset),
                xor_vectors(spread(&keys[10]), offset),
            ]
        }

        /// Runs AES at the rate that the level allows at most: twelve vectors in registers, encrypted again and again, in all
        /// `times` times [`crate::sizes::REGISTER_BLOCKS`] blocks.
        #[target_feature(enable = $features)]
        pub(crate) fn aes_registers(keys: &RoundKeys, times: usize) -> Block {
            const WIDE: usize = 12;
            let mut states = [spread(&keys[0]); WIDE];
            for i in 1..WIDE {
                states[i] = add_counter(states[i - 1], 1);
            }
            for _ in 0..times * (crate::sizes::REGISTER_BLOCKS / (WIDE * LANES)) {
                for r in 1..11 {
                    let key = spread(&unkept(keys)[r]);
                    for i in 0..WIDE {
                        states[i] = round(states[i], key);
                    }
                }
            }
            let mut out = [0; 16 * LANES];
            for i in 1..WIDE {
                states[0] = xor_vectors(states[0], states[i]);
            }
            store(&mut out, states[0]);
            out.first_chunk()
                .map_or(Block::ZERO, |block| Block::from_bytes(*block))
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
                let ends = ends(keys, Block::ZERO);
                for batch in batches {
                    let states = encrypted!(keys, ends, load_states(batch));
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
                let ends = ends(keys, Block::ZERO);
                let mut counter = counters(first, 0);
                for batch in batches {
                    let mut states = encrypted!(keys, ends, counter_states(counter));
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
        macro_rules! hashed {
            ($keys:expr, $ends:expr, $x:expr) => {{
                let x = $x;
                let states = encrypted!($keys, $ends, load_states(x));
                // Read again: with 16 registers there is no room to keep it.
                let x = if REGISTERS < 32 {
                    crate::opaque::again(x)
                } else {
                    x
                };
                xor_states(states, &load_states(x))
            }};
        }

        #[target_feature(enable = $features)]
        pub(crate) fn hash_blocks(keys: &RoundKeys, offset: Block, x: &[Block], out: &mut [Block]) {
            let (batches, rest) = blocks_as_bytes(x).as_chunks::<BYTES>();
            let (out_batches, out_rest) = blocks_as_bytes_mut(out).as_chunks_mut::<BYTES>();
            if !batches.is_empty() {
                let ends = ends(keys, offset);
                for (x, out) in batches.iter().zip(out_batches) {
                    store_states(out, &hashed!(keys, ends, x));
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
                let shifted = ends(keys, offset);
                let ends = ends(keys, Block::ZERO);
                for ((x, k0), k1) in batches.iter().zip(k0_batches).zip(k1_batches) {
                    store_states(k0, &hashed!(keys, ends, x));
                    store_states(k1, &hashed!(keys, shifted, x));
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
                let ends = ends(keys, offset);
                for (x, out) in batches.iter().zip(out_batches.as_chunks_mut().0) {
                    *out = low_bits(&hashed!(keys, ends, x));
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
                let ends = ends(keys, seed);
                let mut counter = counters(first, 0);
                for batch in batches {
                    // The points are made twice rather than kept.
                    let states = encrypted!(keys, ends, counter_states(counter));
                    let points = counter_states(*crate::opaque::again(&counter));
                    store_states(batch, &xor_states(states, &points));
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
