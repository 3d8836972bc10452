//! Garbled ANDs, written once for vectors of 1, 2 or 4 blocks; the equations are derived in
//! [`crate::garble`], and the portable version is nearer to them.
//!
//! A module that expands [`garble`] has expanded [`super::modes::modes`] and defines on its vectors: for
//! keys `sub_word`, `up_one_word`, `up_two_words`; for labels in memory `input`, of a hash, `low_twice`, the
//! lower 64 bits of each block twice, and `parity`, by which `if_even` and `xor_if_even` work; `sigma_words` and
//! `test_bits`.

/// Defines `expand_keys`, `garble_half` and `evaluate_half` for one level, which leave what fills no vector
/// to module `$single`, of one block for each vector.
macro_rules! garble {
    ($features:literal, $single:ident) => {
        use core::ops::Range;

        use crate::garble::{Evaluated, Garbled, KeyWindow, split_range};

        /// Bytes of a vector.
        const VECTOR: usize = 16 * LANES;
        /// Vectors of keys that are expanded side by side.
        const KEY_VECTORS: usize = if LANES == 1 {
            8
        } else {
            crate::garble::KEYS / LANES
        };

        /// FIPS 197, section 5.2, for several keys.
        #[target_feature(enable = $features)]
        pub(crate) fn expand_keys(base: Block, first: u64, keys: &mut KeyWindow) {
            for group in 0..crate::garble::KEYS / (LANES * KEY_VECTORS) {
                let place = group * LANES * KEY_VECTORS;
                let mut states = [counters(first + place as u64, 0); KEY_VECTORS];
                for i in 1..KEY_VECTORS {
                    states[i] = add_counter(states[i - 1], LANES as i64);
                }
                let base = splat(base);
                for state in &mut states {
                    *state = xor_vectors(*state, base);
                }
                let mut constant = 1_u32;
                for (round, keys) in keys.iter_mut().enumerate() {
                    if round > 0 {
                        for state in &mut states {
                            let word = sub_word(*state, constant);
                            // Each word adds all words before it: a prefix sum in two steps.
                            let sums = xor_vectors(*state, up_one_word(*state));
                            let sums = xor_vectors(sums, up_two_words(sums));
                            *state = xor_vectors(sums, word);
                        }
                        constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
                    }
                    let out = blocks_as_bytes_mut(&mut keys[place..]).as_chunks_mut().0;
                    for (out, state) in out.iter_mut().zip(&states) {
                        store(out, *state);
                    }
                }
            }
        }

        /// The round keys of one key of a window, read wherever a round needs one.
        struct Keys<'a> {
            window: &'a KeyWindow,
            key: usize,
        }

        impl<'a> Keys<'a> {
            #[inline]
            fn new(window: &'a KeyWindow, key: usize) -> Self {
                let key = key % crate::garble::KEYS;
                Self { window, key }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn at(&self, r: usize) -> Vector {
                spread(&crate::opaque::again(self.window)[r][self.key])
            }
        }

        /// All rounds but the last of several states of several vectors each, all in flight. Between them `$between`
        /// is done four times: where the work of the next states is spread over the rounds of these, AES never waits
        /// for it. A macro, as the compiler does not inline a function for it.
        macro_rules! rounds {
            ($keys:expr, $states:ident, $between:ident) => {{
                let keys = &$keys;
                macro_rules! one_round {
                    ($r:literal) => {{
                        let key = keys.at($r);
                        for h in 0..$states.len() {
                            for v in 0..V {
                                $states[h][v] = round($states[h][v], key);
                            }
                        }
                    }};
                }
                macro_rules! hold_all {
                    () => {
                        if REGISTERS < 32 || $between!(anything) {
                            for h in 0..$states.len() {
                                for v in 0..V {
                                    $states[h][v] = hold($states[h][v]);
                                }
                            }
                        }
                    };
                }
                one_round!(1);
                hold_all!();
                $between!(0);
                one_round!(2);
                one_round!(3);
                hold_all!();
                $between!(1);
                one_round!(4);
                one_round!(5);
                hold_all!();
                $between!(2);
                one_round!(6);
                one_round!(7);
                hold_all!();
                $between!(3);
                one_round!(8);
                one_round!(9);
                hold_all!();
            }};
        }

        macro_rules! nothing {
            (anything) => {
                false
            };
            ($step:literal) => {};
        }

        /// Vectors that lie in cache lines, none across two.
        #[repr(align(64))]
        struct InLines<T>(T);

        #[inline]
        fn wipe<const V: usize>(inputs: &mut InLines<[[[u8; VECTOR]; V]; 2]>) {
            inputs.0 = [[[0; VECTOR]; V]; 2];
            // The compiler must believe that somebody still reads the zeros.
            zeroize::optimization_barrier(inputs);
        }

        /// Gives a value that has been read: with 16 registers it is read again rather than kept.
        #[inline]
        fn reread<T>(x: &T) -> &T {
            if REGISTERS < 32 {
                crate::opaque::again(x)
            } else {
                x
            }
        }

        /// Gives a value that has been written, and is read rather than kept in a register.
        #[inline]
        fn written<T>(x: &T) -> &T {
            crate::opaque::written(x)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_of_three(a: Vector, b: Vector, c: Vector) -> Vector {
            xor_vectors(xor_vectors(a, b), c)
        }

        /// All ones in the blocks whose lowest bit is one.
        #[inline]
        #[target_feature(enable = $features)]
        fn odd(x: &[u8; VECTOR]) -> Vector {
            test_bits(low_twice(x), bits(1, 1))
        }

        /// Puts the same two words in each block.
        #[inline]
        #[target_feature(enable = $features)]
        fn bits(lo: u64, hi: u64) -> Vector {
            splat(Block::new(lo, hi))
        }

        /// `x ^ (mask & y)`.
        #[inline]
        #[target_feature(enable = $features)]
        fn xor_if(x: Vector, mask: Vector, y: Vector) -> Vector {
            xor_vectors(x, and_vectors(mask, y))
        }

        #[target_feature(enable = $features)]
        pub(crate) fn garble_half(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            pieces: &[[&[Block]; 2]],
            c: &mut [Block],
            table: &mut [u8],
        ) {
            let mut inputs = InLines([[[0; VECTOR]; 2]; 2]);
            let (mut c, mut table) = (c, table);
            for (key, &[a, b]) in (key..).zip(pieces) {
                let (c_now, c_rest) = c.split_at_mut(a.len());
                let (table_now, table_rest) = table.split_at_mut(32 * a.len());
                (c, table) = (c_rest, table_rest);
                let (sides, rest) = table_now.split_at_mut(16 * a.len());
                let piece = &mut Garbled {
                    a,
                    b,
                    c: c_now,
                    sides,
                    rest,
                };
                let [batches, rest] = split_range(0..a.len(), 2 * LANES);
                garble_half_batches::<2>(Keys::new(keys, key), offset, piece, batches, &mut inputs);
                if !rest.is_empty() {
                    garble_half_rest(keys, key, offset, piece, rest);
                }
            }
            wipe(&mut inputs);
        }

        /// Computes the part of a vector of half-gates that is known before the hashes, those of the labels with an odd bit
        /// in the first place: the inputs of these; for the generator's half of the table and for the product, what both
        /// have beside the permutation's values. That is for the product, where the first labels' hashes
        /// are the halves of the product but for R where both of 0 are even,
        /// `x ^ y ^ (R if both are even) ^ (R if the second is)`, the last of which comes in with the generator's.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_half_known(
            [a, b]: [&[u8; VECTOR]; 2],
            [first, second]: [&[u8; VECTOR]; 2],
            [offset, sigma_offset]: [Vector; 2],
        ) -> [Vector; 4] {
            let (a_parity, b_parity) = (parity(a), parity(b));
            let x = xor_if_even(input(a, load(first)), a_parity, sigma_offset);
            let y = xor_if_even(input(b, load(second)), b_parity, sigma_offset);
            let by_b = if_even(b_parity, offset);
            let product = xor_if_even(sum_of_three(x, y, by_b), a_parity, by_b);
            [x, y, xor_vectors(by_b, sigma_offset), product]
        }

        /// Computes from the states before the last round, and what was known: the halves of the table, and the product.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_half_last(
            states: [Vector; 4],
            [generator, product]: [Vector; 2],
            a: Vector,
            sigma_offset: Vector,
        ) -> [Vector; 3] {
            let from_a = last_round(states[0], generator);
            let generator = last_round(states[1], from_a);
            let from_b = last_round(states[2], sigma_offset);
            let evaluator = last_round(states[3], from_b);
            let product = sum_of_three(from_a, from_b, product);
            [generator, xor_vectors(evaluator, a), product]
        }

        /// Figure 2 of Zahur, Rosulek and Evans. The part of a batch that is known before its hashes waits where the results
        /// come, but for their inputs. It is secret, and the table is sent: nothing may panic before the results are there.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_half_batches<const V: usize>(
            keys: Keys<'_>,
            offset: Block,
            piece: &mut Garbled<'_, 16>,
            range: Range<usize>,
            inputs: &mut InLines<[[[u8; VECTOR]; V]; 2]>,
        ) {
            const { assert!(V <= 2, "all of a batch is prepared in two steps") };
            let bytes = 16 * range.start..16 * range.end;
            let a = vectors::<V>(&piece.a[range.clone()]);
            let n = a.len();
            if n == 0 {
                return;
            }
            // Lengths that the compiler sees to be the same.
            let b = &vectors::<V>(&piece.b[range.clone()])[..n];
            let c = blocks_as_bytes_mut(&mut piece.c[range.clone()]);
            let c = &mut vectors_mut::<V>(c)[..n];
            let left = &mut vectors_mut::<V>(&mut piece.sides[bytes.clone()])[..n];
            let right = &mut vectors_mut::<V>(&mut piece.rest[bytes])[..n];
            let [first, second] = tweaks::<V>(range);
            let (first, second) = (&first[..n], &second[..n]);
            let offset = splat(offset);
            let sigma_offset = sigma_words(offset);
            macro_rules! prepare {
                ($k:expr, $v:expr) => {{
                    let (k, v) = ($k, $v);
                    let [x, y, generator, product] = garble_half_known(
                        [&a[k][v], &b[k][v]],
                        [&first[k][v], &second[k][v]],
                        [offset, sigma_offset],
                    );
                    store(&mut inputs.0[0][v], x);
                    store(&mut inputs.0[1][v], y);
                    store(&mut left[k][v], generator);
                    store(&mut c[k][v], product);
                }};
            }
            macro_rules! batch {
                ($k:expr, $meanwhile:ident) => {{
                    let k = $k;
                    let mut states = [[offset; V]; 4];
                    let ready = written(&inputs.0);
                    for v in 0..V {
                        let (x, y) = (load(&ready[0][v]), load(&ready[1][v]));
                        states[0][v] = hold(x);
                        states[1][v] = hold(xor_vectors(x, sigma_offset));
                        states[2][v] = hold(y);
                        states[3][v] = hold(xor_vectors(y, sigma_offset));
                    }
                    rounds!(keys, states, $meanwhile);
                    let (a, known, product) = (reread(&a[k]), written(&left[k]), written(&c[k]));
                    let mut out = [[offset; V]; 3];
                    for v in 0..V {
                        let states = [states[0][v], states[1][v], states[2][v], states[3][v]];
                        let known = [load(&known[v]), load(&product[v])];
                        [out[0][v], out[1][v], out[2][v]] =
                            garble_half_last(states, known, load(&a[v]), sigma_offset);
                    }
                    for v in 0..V {
                        store(&mut left[k][v], out[0][v]);
                        store(&mut right[k][v], out[1][v]);
                        store(&mut c[k][v], out[2][v]);
                    }
                }};
            }
            for v in 0..V {
                prepare!(0, v);
            }
            for k in 1..n {
                macro_rules! prepare_next {
                    (anything) => {
                        true
                    };
                    ($step:literal) => {
                        if $step % 2 == 0 && $step / 2 < V {
                            prepare!(k, $step / 2);
                        }
                    };
                }
                batch!(k - 1, prepare_next);
            }
            batch!(n - 1, nothing);
        }

        /// ANDs of a piece that are too few for a batch.
        #[target_feature(enable = $features)]
        pub(crate) fn garble_half_rest(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            piece: &mut Garbled<'_, 16>,
            range: Range<usize>,
        ) {
            let [single, rest] = split_range(range, LANES);
            let bytes = 16 * single.start..16 * single.end;
            let (a, b) = (
                vectors::<1>(&piece.a[single.clone()]),
                vectors::<1>(&piece.b[single.clone()]),
            );
            let c = vectors_mut::<1>(blocks_as_bytes_mut(&mut piece.c[single.clone()]));
            let left = vectors_mut::<1>(&mut piece.sides[bytes.clone()]);
            let right = vectors_mut::<1>(&mut piece.rest[bytes]);
            let [first, second] = tweaks::<1>(single);
            let offset_vector = splat(offset);
            let sigma_offset = sigma_words(offset_vector);
            for k in 0..a.len() {
                const V: usize = 1;
                let [x, y, generator, product] = garble_half_known(
                    [&a[k][0], &b[k][0]],
                    [&first[k][0], &second[k][0]],
                    [offset_vector, sigma_offset],
                );
                let mut states = [[x], [x], [y], [y]];
                states[1][0] = xor_vectors(x, sigma_offset);
                states[3][0] = xor_vectors(y, sigma_offset);
                rounds!(Keys::new(keys, key), states, nothing);
                let known = [generator, product];
                let states = states.map(|[state]| state);
                let a = load(&a[k][0]);
                let [generator, evaluator, product] =
                    garble_half_last(states, known, a, sigma_offset);
                store(&mut left[k][0], generator);
                store(&mut right[k][0], evaluator);
                store(&mut c[k][0], product);
            }
            if !rest.is_empty() {
                $single::garble_half_rest(keys, key, offset, piece, rest);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_half(
            keys: &KeyWindow,
            key: usize,
            pieces: &[[&[Block]; 2]],
            table: &[u8],
            c: &mut [Block],
        ) {
            let mut inputs = InLines([[[0; VECTOR]; 4]; 2]);
            let (mut c, mut table) = (c, table);
            for (key, &[a, b]) in (key..).zip(pieces) {
                let (c_now, c_rest) = c.split_at_mut(a.len());
                let (table_now, table_rest) = table.split_at(32 * a.len());
                (c, table) = (c_rest, table_rest);
                let (sides, rest) = table_now.split_at(16 * a.len());
                let piece = &mut Evaluated {
                    a,
                    b,
                    c: c_now,
                    sides,
                    rest,
                };
                let [batches, rest] = split_range(0..a.len(), 4 * LANES);
                evaluate_half_batches::<4>(Keys::new(keys, key), piece, batches, &mut inputs);
                if !rest.is_empty() {
                    evaluate_half_rest(keys, key, piece, rest);
                }
            }
            wipe(&mut inputs);
        }

        /// The inputs of a vector's hashes, and all of the product but the permutation's values.
        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_half_known(
            [a, b]: [&[u8; VECTOR]; 2],
            [first, second]: [&[u8; VECTOR]; 2],
            [left, right]: [&[u8; VECTOR]; 2],
        ) -> [Vector; 3] {
            let (x, y) = (input(a, load(first)), input(b, load(second)));
            let evaluator = xor_vectors(load(right), load(a));
            let known = xor_if_even(xor_vectors(x, y), parity(a), load(left));
            [x, y, xor_if_even(known, parity(b), evaluator)]
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_half_batches<const V: usize>(
            keys: Keys<'_>,
            piece: &mut Evaluated<'_, 16>,
            range: Range<usize>,
            inputs: &mut InLines<[[[u8; VECTOR]; V]; 2]>,
        ) {
            const { assert!(V <= 4, "all of a batch is prepared in four steps") };
            let bytes = 16 * range.start..16 * range.end;
            let a = vectors::<V>(&piece.a[range.clone()]);
            let n = a.len();
            if n == 0 {
                return;
            }
            let b = &vectors::<V>(&piece.b[range.clone()])[..n];
            let c = blocks_as_bytes_mut(&mut piece.c[range.clone()]);
            let c = &mut vectors_mut::<V>(c)[..n];
            let left = &chunks::<V>(&piece.sides[bytes.clone()])[..n];
            let right = &chunks::<V>(&piece.rest[bytes])[..n];
            let [first, second] = tweaks::<V>(range);
            let (first, second) = (&first[..n], &second[..n]);
            macro_rules! prepare {
                ($k:expr, $v:expr) => {{
                    let (k, v) = ($k, $v);
                    let [x, y, product] = evaluate_half_known(
                        [&a[k][v], &b[k][v]],
                        [&first[k][v], &second[k][v]],
                        [&left[k][v], &right[k][v]],
                    );
                    store(&mut inputs.0[0][v], x);
                    store(&mut inputs.0[1][v], y);
                    store(&mut c[k][v], product);
                }};
            }
            macro_rules! batch {
                ($k:expr, $meanwhile:ident) => {{
                    let k = $k;
                    let mut states = [[splat(Block::ZERO); V]; 2];
                    let ready = written(&inputs.0);
                    for v in 0..V {
                        states[0][v] = hold(load(&ready[0][v]));
                        states[1][v] = hold(load(&ready[1][v]));
                    }
                    rounds!(keys, states, $meanwhile);
                    let known = written(&c[k]);
                    let mut products = [splat(Block::ZERO); V];
                    for v in 0..V {
                        let sum = last_round(states[0][v], load(&known[v]));
                        products[v] = last_round(states[1][v], sum);
                    }
                    for v in 0..V {
                        store(&mut c[k][v], products[v]);
                    }
                }};
            }
            for v in 0..V {
                prepare!(0, v);
            }
            for k in 1..n {
                macro_rules! prepare_next {
                    (anything) => {
                        true
                    };
                    ($step:literal) => {
                        if $step < V {
                            prepare!(k, $step);
                        }
                    };
                }
                batch!(k - 1, prepare_next);
            }
            batch!(n - 1, nothing);
        }

        /// ANDs of a piece that are too few for a batch.
        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_half_rest(
            keys: &KeyWindow,
            key: usize,
            piece: &mut Evaluated<'_, 16>,
            range: Range<usize>,
        ) {
            let [single, rest] = split_range(range, LANES);
            let bytes = 16 * single.start..16 * single.end;
            let (a, b) = (
                vectors::<1>(&piece.a[single.clone()]),
                vectors::<1>(&piece.b[single.clone()]),
            );
            let c = vectors_mut::<1>(blocks_as_bytes_mut(&mut piece.c[single.clone()]));
            let left = chunks::<1>(&piece.sides[bytes.clone()]);
            let right = chunks::<1>(&piece.rest[bytes]);
            let [first, second] = tweaks::<1>(single);
            for k in 0..a.len() {
                const V: usize = 1;
                let [x, y, known] = evaluate_half_known(
                    [&a[k][0], &b[k][0]],
                    [&first[k][0], &second[k][0]],
                    [&left[k][0], &right[k][0]],
                );
                let mut states = [[x], [y]];
                rounds!(Keys::new(keys, key), states, nothing);
                let sum = last_round(states[0][0], known);
                store(&mut c[k][0], last_round(states[1][0], sum));
            }
            if !rest.is_empty() {
                $single::evaluate_half_rest(keys, key, piece, rest);
            }
        }

        /// The tweaks of both operands of some ANDs.
        #[inline]
        fn tweaks<const V: usize>(range: Range<usize>) -> [&'static [[[u8; VECTOR]; V]]; 2] {
            let all = crate::garble::TWEAKS.each_ref();
            all.map(|tweaks| vectors::<V>(&tweaks[range.clone()]))
        }

        /// Blocks as groups of `V` vectors; these fill them.
        fn vectors<const V: usize>(blocks: &[Block]) -> &[[[u8; VECTOR]; V]] {
            chunks(blocks_as_bytes(blocks))
        }

        fn chunks<const V: usize>(bytes: &[u8]) -> &[[[u8; VECTOR]; V]] {
            bytes.as_chunks().0.as_chunks().0
        }

        fn vectors_mut<const V: usize>(bytes: &mut [u8]) -> &mut [[[u8; VECTOR]; V]] {
            bytes.as_chunks_mut().0.as_chunks_mut().0
        }
    };
}
pub(crate) use garble;
