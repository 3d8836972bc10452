//! Garbled ANDs, written once for vectors of 1, 2 or 4 blocks; the equations are derived in
//! [`crate::garble`], and the portable version is nearer to them.
//!
//! A module that expands [`garble`] has expanded [`super::modes::modes`] and defines on its vectors: for
//! keys `sub_word`, `up_one_word`, `up_two_words`; the orthomorphism `sigma_words`; `unpack_low`,
//! `unpack_high` and `swap_halves` of 64-bit halves within blocks; `test_bits`; and for what is less
//! than a block for each AND `load_low`, `store_low`, `load_bytes`, `store_bytes`.

/// Defines `expand_keys`, `garble_half`, `evaluate_half`, `garble_three`, `evaluate_three` and
/// `label_rows` for one level, which leave what fills no vector to module `$single`, of one block for
/// each vector.
macro_rules! garble {
    ($features:literal, $single:ident) => {
        use crate::garble::{Evaluated, Garbled, KeyWindow, SECOND, SUM};

        /// Bytes of a vector.
        const VECTOR: usize = 16 * LANES;
        /// Vectors of keys that are expanded side by side.
        const KEY_VECTORS: usize = if LANES == 1 {
            8
        } else {
            crate::garble::KEYS / LANES
        };

        /// Vectors of ANDs of three halves that are garbled at once, of six inputs each, or evaluated, of
        /// three.
        const THREE_GARBLED: usize = if REGISTERS < 32 { 1 } else { 2 };
        const THREE_EVALUATED: usize = if REGISTERS < 32 { 4 } else { 2 };

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

        /// The round keys of one key of a window: in registers where there are 32, else read wherever a
        /// round needs one.
        struct Keys<'a> {
            window: &'a KeyWindow,
            key: usize,
            kept: [Vector; 11],
        }

        impl<'a> Keys<'a> {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(window: &'a KeyWindow, key: usize) -> Self {
                let mut kept = [splat(Block::ZERO); 11];
                if REGISTERS >= 32 {
                    for r in 0..11 {
                        kept[r] = spread(&window[r][key]);
                    }
                }
                let key = key % crate::garble::KEYS;
                Self { window, key, kept }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn at(&self, r: usize) -> Vector {
                if REGISTERS < 32 {
                    spread(&crate::opaque::again(self.window)[r][self.key])
                } else {
                    self.kept[r]
                }
            }
        }

        /// The cipher of several inputs of several vectors each, all in flight. The first round key has been
        /// added already: hashes are only used in sums of two, `pi(y) ^ y ^ pi(y') ^ y'`, where it cancels.
        /// A macro, as the compiler does not inline a function for it.
        macro_rules! permuted {
            ($keys:expr, $inputs:expr) => {{
                let (keys, mut states) = ($keys, $inputs);
                for r in [1, 4, 7] {
                    // Three at a time, so that the compiler unrolls them.
                    for r in [r, r + 1, r + 2] {
                        let key = keys.at(r);
                        for h in 0..states.len() {
                            for v in 0..V {
                                states[h][v] = round(states[h][v], key);
                            }
                        }
                    }
                    if REGISTERS < 32 {
                        for h in 0..states.len() {
                            for v in 0..V {
                                states[h][v] = hold(states[h][v]);
                            }
                        }
                    }
                }
                let key = keys.at(10);
                for h in 0..states.len() {
                    for v in 0..V {
                        states[h][v] = last_round(states[h][v], key);
                    }
                }
                states
            }};
        }

        /// Vectors that have been read: with 16 registers they are read again rather than kept.
        #[inline]
        fn reread<T>(x: &T) -> &T {
            if REGISTERS < 32 {
                crate::opaque::again(x)
            } else {
                x
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_of_three(a: Vector, b: Vector, c: Vector) -> Vector {
            xor_vectors(xor_vectors(a, b), c)
        }

        /// The sum of the inputs of both operands, where keys and tweaks cancel: made anew where there are
        /// 16 registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn both_inputs(x: Vector, y: Vector, of_x: Vector, of_y: Vector) -> Vector {
            if REGISTERS < 32 {
                xor_vectors(sigma_words(xor_vectors(x, y)), bits(SECOND, 0))
            } else {
                xor_vectors(of_x, of_y)
            }
        }

        /// What is between the inputs of either operand and that of their sum, likewise.
        #[inline]
        #[target_feature(enable = $features)]
        fn to_sum(x: Vector, y: Vector, [of_x, of_y, of_sum]: [Vector; 3]) -> [Vector; 2] {
            if REGISTERS < 32 {
                [
                    xor_vectors(sigma_words(y), bits(SUM, 0)),
                    xor_vectors(sigma_words(x), bits(SECOND ^ SUM, 0)),
                ]
            } else {
                [xor_vectors(of_x, of_sum), xor_vectors(of_y, of_sum)]
            }
        }

        /// All ones in the blocks whose lowest bit is one.
        #[inline]
        #[target_feature(enable = $features)]
        fn odd(x: Vector) -> Vector {
            test_bits(unpack_low(x, x), bits(1, 1))
        }

        /// The same two words in each block.
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
            piece: Garbled<'_, 16>,
        ) {
            let (pairs, rest) = piece.split_multiple(2 * LANES);
            let (vectors, rest) = rest.split_multiple(LANES);
            if !(pairs.a.is_empty() && vectors.a.is_empty()) {
                let keys = Keys::new(keys, key);
                garble_half_vectors::<2>(&keys, offset, pairs);
                garble_half_vectors::<1>(&keys, offset, vectors);
            }
            if !rest.a.is_empty() {
                $single::garble_half(keys, key, offset, rest);
            }
        }

        /// Figure 2 of Zahur, Rosulek and Evans.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_half_vectors<const V: usize>(
            keys: &Keys<'_>,
            offset: Block,
            piece: Garbled<'_, 16>,
        ) {
            let (a, b) = (vectors::<V>(piece.a), vectors::<V>(piece.b));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(piece.c));
            let (left, right) = (vectors_mut::<V>(piece.sides), vectors_mut::<V>(piece.rest));
            // Lengths that the compiler sees to be the same.
            let n = a.len();
            let (b, c) = (&b[..n], &mut c[..n]);
            let (left, right) = (&mut left[..n], &mut right[..n]);
            let offset = splat(offset);
            let sigma_offset = sigma_words(offset);
            let first_key = keys.at(0);
            let second_key = xor_vectors(first_key, bits(SECOND, 0));
            let mut tweak = counters(piece.first, 0);
            for k in 0..n {
                let mut inputs = [[offset; V]; 4];
                for v in 0..V {
                    let x = sum_of_three(sigma_words(load(&a[k][v])), tweak, first_key);
                    let y = sum_of_three(sigma_words(load(&b[k][v])), tweak, second_key);
                    inputs[0][v] = x;
                    inputs[1][v] = xor_vectors(x, sigma_offset);
                    inputs[2][v] = y;
                    inputs[3][v] = xor_vectors(y, sigma_offset);
                    tweak = add_counter(tweak, LANES as i64);
                }
                let [a0, a1, b0, b1] = permuted!(keys, inputs);
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    let (x, y) = (load(&a[v]), load(&b[v]));
                    let both = both_inputs(x, y, inputs[0][v], inputs[2][v]);
                    let (x_odd, y_odd) = (odd(x), odd(y));
                    let generator = xor_if(sigma_offset, y_odd, offset);
                    let generator = sum_of_three(a0[v], a1[v], generator);
                    // Without the label of a, which is added where it is sent.
                    let evaluator = sum_of_three(b0[v], b1[v], sigma_offset);
                    let product = sum_of_three(a0[v], b0[v], both);
                    let product = xor_if(product, x_odd, generator);
                    store(&mut c[k][v], xor_if(product, y_odd, evaluator));
                    store(&mut left[k][v], generator);
                    store(&mut right[k][v], xor_vectors(evaluator, x));
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_half(keys: &KeyWindow, key: usize, piece: Evaluated<'_, 16>) {
            let (fours, rest) = piece.split_multiple(4 * LANES);
            let (vectors, rest) = rest.split_multiple(LANES);
            if !(fours.a.is_empty() && vectors.a.is_empty()) {
                let keys = Keys::new(keys, key);
                evaluate_half_vectors::<4>(&keys, fours);
                evaluate_half_vectors::<1>(&keys, vectors);
            }
            if !rest.a.is_empty() {
                $single::evaluate_half(keys, key, rest);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_half_vectors<const V: usize>(keys: &Keys<'_>, piece: Evaluated<'_, 16>) {
            let (a, b) = (vectors::<V>(piece.a), vectors::<V>(piece.b));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(piece.c));
            let (left, right) = (chunks::<V>(piece.sides), chunks::<V>(piece.rest));
            let n = a.len();
            let (b, c, left, right) = (&b[..n], &mut c[..n], &left[..n], &right[..n]);
            let first_key = keys.at(0);
            let second_key = xor_vectors(first_key, bits(SECOND, 0));
            let mut tweak = counters(piece.first, 0);
            for k in 0..n {
                let mut inputs = [[tweak; V]; 2];
                for v in 0..V {
                    inputs[0][v] = sum_of_three(sigma_words(load(&a[k][v])), tweak, first_key);
                    inputs[1][v] = sum_of_three(sigma_words(load(&b[k][v])), tweak, second_key);
                    tweak = add_counter(tweak, LANES as i64);
                }
                let [from_a, from_b] = permuted!(keys, inputs);
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    let (x, y) = (load(&a[v]), load(&b[v]));
                    let both = both_inputs(x, y, inputs[0][v], inputs[1][v]);
                    let product = sum_of_three(from_a[v], from_b[v], both);
                    let product = xor_if(product, odd(x), load(&left[k][v]));
                    let evaluator = xor_vectors(load(&right[k][v]), x);
                    store(&mut c[k][v], xor_if(product, odd(y), evaluator));
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn garble_three(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            piece: Garbled<'_, 8>,
        ) {
            let (pairs, rest) = piece.split_multiple(THREE_GARBLED * LANES);
            let (vectors, rest) = rest.split_multiple(LANES);
            if !(pairs.a.is_empty() && vectors.a.is_empty()) {
                let keys = Keys::new(keys, key);
                garble_three_vectors::<THREE_GARBLED>(&keys, offset, pairs);
                garble_three_vectors::<1>(&keys, offset, vectors);
            }
            if !rest.a.is_empty() {
                $single::garble_three(keys, key, offset, rest);
            }
        }

        /// What p and what q is multiplied by in the evaluator's equations, for blocks of a left and a
        /// right half: `E_p = (A_L ^ A_R ^ B_L, A_L ^ B_R)`, `E_q = (A_L ^ B_R, A_R ^ B_L ^ B_R)`.
        #[inline]
        #[target_feature(enable = $features)]
        fn control_parts(x: Vector, y: Vector) -> [Vector; 2] {
            let (low, high) = (bits(u64::MAX, 0), bits(0, u64::MAX));
            let crossed = xor_vectors(x, swap_halves(y));
            [
                xor_if(swap_halves(crossed), low, x),
                xor_if(crossed, high, y),
            ]
        }

        /// The label and the table in closed form, for A and B of colour 0, where the labels of 0 have the
        /// colours a and b:
        ///
        /// `C = (h(A), h(B)) ^ h(A^B) ^ (P ^ b) E_p ^ (Q ^ a) E_q ^ a b R`,
        /// `(G_0, G_1) = (dh(A), dh(B)) ^ a E_p ^ b E_q ^ (B_L, A_R) ^ P (R_R, R_L ^ R_R)
        /// ^ Q (R_L ^ R_R, R_L)`,
        /// `G_2 = dh(A^B) ^ b (E_p)_L ^ a (E_q)_R ^ P R_L ^ Q R_R`,
        ///
        /// where `dh` is the sum of the hashes of both labels. The same for bits:
        /// `z_L = h(A) ^ h(A^B) ^ P ^ b`, `z_R = h(B) ^ h(A^B) ^ Q ^ a`, `z_0 = dh(A) ^ a`,
        /// `z_1 = dh(B) ^ b`, `z_2 = dh(A^B) ^ a ^ b`.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_three_vectors<const V: usize>(
            keys: &Keys<'_>,
            offset: Block,
            piece: Garbled<'_, 8>,
        ) {
            let (a, b) = (vectors::<V>(piece.a), vectors::<V>(piece.b));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(piece.c));
            let sides = vectors_mut::<V>(piece.sides);
            let middle = piece.rest.as_chunks_mut::<{ VECTOR / 2 }>().0;
            let middle = middle.as_chunks_mut::<V>().0;
            let controls = piece.controls.as_chunks_mut::<LANES>().0;
            let controls = controls.as_chunks_mut::<V>().0;
            let n = a.len();
            let (b, c, sides) = (&b[..n], &mut c[..n], &mut sides[..n]);
            let (middle, controls) = (&mut middle[..n], &mut controls[..n]);
            let offset = splat(offset);
            let (sigma_offset, offset_swapped) = (sigma_words(offset), swap_halves(offset));
            let (low, high) = (bits(u64::MAX, 0), bits(0, u64::MAX));
            let offset_parts = [
                xor_if(offset_swapped, high, offset),
                xor_if(offset_swapped, low, offset),
            ];
            let bit = bits(0, 1);
            let first_key = keys.at(0);
            let second_key = xor_vectors(first_key, bits(SECOND, 0));
            let sum_key = xor_vectors(first_key, bits(SUM, 0));
            let mut tweak = counters(piece.first, 0);
            for k in 0..n {
                let mut inputs = [[offset; V]; 6];
                for v in 0..V {
                    let (x, y) = (load(&a[k][v]), load(&b[k][v]));
                    let x = xor_if(x, odd(x), offset);
                    let y = xor_if(y, odd(y), offset);
                    let (sigma_x, sigma_y) = (sigma_words(x), sigma_words(y));
                    inputs[0][v] = sum_of_three(sigma_x, tweak, first_key);
                    inputs[1][v] = sum_of_three(sigma_y, tweak, second_key);
                    inputs[2][v] = xor_vectors(sum_of_three(sigma_x, sigma_y, tweak), sum_key);
                    for h in 0..3 {
                        inputs[3 + h][v] = xor_vectors(inputs[h][v], sigma_offset);
                    }
                    tweak = add_counter(tweak, LANES as i64);
                }
                let [x0, y0, sum0, x1, y1, sum1] = permuted!(keys, inputs);
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    let (x, y) = (load(&a[v]), load(&b[v]));
                    let (by_x, by_y) = (odd(x), odd(y));
                    let x = xor_if(x, by_x, offset);
                    let y = xor_if(y, by_y, offset);
                    let [to_x, to_y] = to_sum(x, y, [inputs[0][v], inputs[1][v], inputs[2][v]]);
                    let left = sum_of_three(x0[v], sum0[v], to_x);
                    let right = sum_of_three(y0[v], sum0[v], to_y);
                    let d_x = sum_of_three(x0[v], x1[v], sigma_offset);
                    let d_y = sum_of_three(y0[v], y1[v], sigma_offset);
                    let d_sum = sum_of_three(sum0[v], sum1[v], sigma_offset);

                    let drawn = load_bytes(&controls[k][v]);
                    let coins = test_bits(drawn, bits(1, 2));
                    let (p, q) = (unpack_low(coins, coins), unpack_high(coins, coins));
                    let [by_p, by_q] = control_parts(x, y);

                    let product = unpack_low(left, right);
                    let product = xor_if(product, xor_vectors(p, by_y), by_p);
                    let product = xor_if(product, xor_vectors(q, by_x), by_q);
                    let product = xor_if(product, and_vectors(by_x, by_y), offset);
                    store(&mut c[k][v], product);

                    let halves = xor_if(unpack_low(d_x, d_y), by_x, by_p);
                    let halves = xor_if(halves, by_y, by_q);
                    let halves = xor_if(xor_if(halves, low, y), high, x);
                    let halves = xor_if(halves, p, offset_parts[0]);
                    let halves = xor_if(halves, q, offset_parts[1]);
                    store(&mut sides[k][v], halves);

                    let third = xor_if(d_sum, by_y, by_p);
                    let third = xor_if(third, by_x, swap_halves(by_q));
                    let third = xor_if(third, p, offset);
                    store_low(&mut middle[k][v], xor_if(third, q, offset_swapped));

                    // The bits in the high halves, z_2 first.
                    let mut z = and_vectors(d_sum, bit);
                    for hash in [d_y, d_x, right, left] {
                        z = xor_if(double(z), bit, hash);
                    }
                    let z = xor_if(z, by_x, bits(0, 0b10110));
                    let z = xor_if(z, by_y, bits(0, 0b11001));
                    let z = xor_if(z, drawn, bits(0, 0b00011));
                    store_bytes(&mut controls[k][v], z);
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_three(keys: &KeyWindow, key: usize, piece: Evaluated<'_, 8>) {
            let (pairs, rest) = piece.split_multiple(THREE_EVALUATED * LANES);
            let (vectors, rest) = rest.split_multiple(LANES);
            if !(pairs.a.is_empty() && vectors.a.is_empty()) {
                let keys = Keys::new(keys, key);
                evaluate_three_vectors::<THREE_EVALUATED>(&keys, pairs);
                evaluate_three_vectors::<1>(&keys, vectors);
            }
            if !rest.a.is_empty() {
                $single::evaluate_three(keys, key, rest);
            }
        }

        /// The evaluator's equations, for blocks of a left and a right half:
        ///
        /// `C = (h(A), h(B)) ^ h(A^B) ^ (i, j) (G_0 ^ B_L, G_1 ^ A_R) ^ (i^j) G_2 ^ p E_p ^ q E_q`.
        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_three_vectors<const V: usize>(keys: &Keys<'_>, piece: Evaluated<'_, 8>) {
            let (a, b) = (vectors::<V>(piece.a), vectors::<V>(piece.b));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(piece.c));
            let sides = chunks::<V>(piece.sides);
            let middle = piece
                .rest
                .as_chunks::<{ VECTOR / 2 }>()
                .0
                .as_chunks::<V>()
                .0;
            let controls = piece.controls.as_chunks::<LANES>().0.as_chunks::<V>().0;
            let n = a.len();
            let (b, c, sides) = (&b[..n], &mut c[..n], &sides[..n]);
            let (middle, controls) = (&middle[..n], &controls[..n]);
            let (low, high) = (bits(u64::MAX, 0), bits(0, u64::MAX));
            let first_key = keys.at(0);
            let second_key = xor_vectors(first_key, bits(SECOND, 0));
            let sum_key = xor_vectors(first_key, bits(SUM, 0));
            let mut tweak = counters(piece.first, 0);
            for k in 0..n {
                let mut inputs = [[tweak; V]; 3];
                for v in 0..V {
                    let x = sigma_words(load(&a[k][v]));
                    let y = sigma_words(load(&b[k][v]));
                    inputs[0][v] = sum_of_three(x, tweak, first_key);
                    inputs[1][v] = sum_of_three(y, tweak, second_key);
                    inputs[2][v] = xor_vectors(sum_of_three(x, y, tweak), sum_key);
                    tweak = add_counter(tweak, LANES as i64);
                }
                let [from_x, from_y, from_sum] = permuted!(keys, inputs);
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    let (x, y) = (load(&a[v]), load(&b[v]));
                    let (i, j) = (odd(x), odd(y));
                    let (each, differ) = (unpack_low(i, j), xor_vectors(i, j));
                    let [to_x, to_y] = to_sum(x, y, [inputs[0][v], inputs[1][v], inputs[2][v]]);
                    let left = sum_of_three(from_x[v], from_sum[v], to_x);
                    let right = sum_of_three(from_y[v], from_sum[v], to_y);
                    let z = load_bytes(&controls[k][v]);
                    let pq = test_bits(unpack_high(left, right), bits(1, 1));
                    let pq = xor_vectors(pq, test_bits(z, bits(1, 2)));
                    let pq = xor_if(pq, each, test_bits(z, bits(4, 8)));
                    let pq = xor_if(pq, differ, test_bits(z, bits(16, 16)));
                    let (p, q) = (unpack_low(pq, pq), unpack_high(pq, pq));
                    let [by_p, by_q] = control_parts(x, y);
                    let halves = xor_if(xor_if(load(&sides[k][v]), low, y), high, x);
                    let product = xor_if(unpack_low(left, right), each, halves);
                    let product = xor_if(product, differ, load_low(&middle[k][v]));
                    let product = xor_if(product, p, by_p);
                    store(&mut c[k][v], xor_if(product, q, by_q));
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn label_rows(arena: &mut [Block], lanes: usize, ops: crate::LabelOps<'_>) {
            crate::portable::label_rows(arena, lanes, ops);
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
