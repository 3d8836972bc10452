//! ANDs garbled by three halves, written once for vectors of 1, 2 or 4 blocks; the equations are derived in
//! [`crate::garble`], and the portable version is nearer to them.
//!
//! A module that expands [`three`] has expanded [`super::garble::garble`], whose functions it uses, and defines on
//! its vectors `unpack_high` and `swap_halves` of 64-bit halves within blocks, `double`, and for what is less than a
//! block for each AND `load_low`, `store_low`, `load_bytes`, `store_bytes`.

/// Defines `garble_three` and `evaluate_three` for one level, which leave what fills no vector to module `$single`, of
/// one block for each vector.
macro_rules! three {
    ($features:literal, $single:ident) => {
        /// Vectors of ANDs of three halves that are garbled at once, of six inputs each, or evaluated, of
        /// three.
        const THREE_GARBLED: usize = if REGISTERS < 32 { 1 } else { 2 };
        const THREE_EVALUATED: usize = if REGISTERS < 32 { 4 } else { 2 };

        #[target_feature(enable = $features)]
        pub(crate) fn garble_three(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            piece: &mut Garbled<'_, 8>,
            range: Range<usize>,
        ) {
            let [several, rest] = split_range(range, THREE_GARBLED * LANES);
            let [single, rest] = split_range(rest, LANES);
            if !(several.is_empty() && single.is_empty()) {
                let keys = Keys::new(keys, key);
                garble_three_vectors::<THREE_GARBLED>(&keys, offset, piece, several);
                garble_three_vectors::<1>(&keys, offset, piece, single);
            }
            if !rest.is_empty() {
                $single::garble_three(keys, key, offset, piece, rest);
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
            piece: &mut Garbled<'_, 8>,
            range: Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let (a, b) = (
                vectors::<V>(&piece.a[range.clone()]),
                vectors::<V>(&piece.b[range.clone()]),
            );
            let c = vectors_mut::<V>(blocks_as_bytes_mut(&mut piece.c[range.clone()]));
            let sides = vectors_mut::<V>(&mut piece.sides[bytes]);
            let middle = piece.rest[8 * range.start..8 * range.end].as_chunks_mut().0;
            let middle: &mut [[[u8; VECTOR / 2]; V]] = middle.as_chunks_mut().0;
            let controls = piece.controls[range.clone()].as_chunks_mut::<LANES>().0;
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
            let [first, second] = tweaks::<V>(range);
            for k in 0..n {
                let mut inputs = [[offset; V]; 6];
                for v in 0..V {
                    let x = input(&a[k][v], load(&first[k][v]));
                    let y = input(&b[k][v], load(&second[k][v]));
                    let x = xor_if(x, odd(&a[k][v]), sigma_offset);
                    let y = xor_if(y, odd(&b[k][v]), sigma_offset);
                    (inputs[0][v], inputs[1][v]) = (x, y);
                    inputs[2][v] = xor_vectors(x, y);
                    for h in 0..3 {
                        inputs[3 + h][v] = xor_vectors(inputs[h][v], sigma_offset);
                    }
                }
                let mut states = inputs;
                rounds!(keys, states, nothing);
                let [x0, y0, sum0, x1, y1, sum1] = states;
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    // With the offset's sigma, which cancels in the sum of two.
                    let from_x = last_round(x0[v], sigma_offset);
                    let from_y = last_round(y0[v], sigma_offset);
                    let from_sum = last_round(sum0[v], sigma_offset);
                    let d_x = last_round(x1[v], from_x);
                    let d_y = last_round(y1[v], from_y);
                    let d_sum = last_round(sum1[v], from_sum);
                    let left = sum_of_three(from_x, from_sum, inputs[1][v]);
                    let right = sum_of_three(from_y, from_sum, inputs[0][v]);
                    let (by_x, by_y) = (odd(&a[v]), odd(&b[v]));
                    let x = xor_if(load(&a[v]), by_x, offset);
                    let y = xor_if(load(&b[v]), by_y, offset);

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
        pub(crate) fn evaluate_three(
            keys: &KeyWindow,
            key: usize,
            piece: &mut Evaluated<'_, 8>,
            range: Range<usize>,
        ) {
            let [several, rest] = split_range(range, THREE_EVALUATED * LANES);
            let [single, rest] = split_range(rest, LANES);
            if !(several.is_empty() && single.is_empty()) {
                let keys = Keys::new(keys, key);
                evaluate_three_vectors::<THREE_EVALUATED>(&keys, piece, several);
                evaluate_three_vectors::<1>(&keys, piece, single);
            }
            if !rest.is_empty() {
                $single::evaluate_three(keys, key, piece, rest);
            }
        }

        /// The evaluator's equations, for blocks of a left and a right half:
        ///
        /// `C = (h(A), h(B)) ^ h(A^B) ^ (i, j) (G_0 ^ B_L, G_1 ^ A_R) ^ (i^j) G_2 ^ p E_p ^ q E_q`.
        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_three_vectors<const V: usize>(
            keys: &Keys<'_>,
            piece: &mut Evaluated<'_, 8>,
            range: Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let (a, b) = (
                vectors::<V>(&piece.a[range.clone()]),
                vectors::<V>(&piece.b[range.clone()]),
            );
            let c = vectors_mut::<V>(blocks_as_bytes_mut(&mut piece.c[range.clone()]));
            let sides = chunks::<V>(&piece.sides[bytes]);
            let middle = piece.rest[8 * range.start..8 * range.end].as_chunks().0;
            let middle: &[[[u8; VECTOR / 2]; V]] = middle.as_chunks().0;
            let controls = piece.controls[range.clone()].as_chunks::<LANES>().0;
            let controls = controls.as_chunks::<V>().0;
            let n = a.len();
            let (b, c, sides) = (&b[..n], &mut c[..n], &sides[..n]);
            let (middle, controls) = (&middle[..n], &controls[..n]);
            let (low, high) = (bits(u64::MAX, 0), bits(0, u64::MAX));
            let [first, second] = tweaks::<V>(range);
            for k in 0..n {
                let mut inputs = [[low; V]; 3];
                for v in 0..V {
                    let x = input(&a[k][v], load(&first[k][v]));
                    let y = input(&b[k][v], load(&second[k][v]));
                    (inputs[0][v], inputs[1][v]) = (x, y);
                    inputs[2][v] = xor_vectors(x, y);
                }
                let mut states = inputs;
                rounds!(keys, states, nothing);
                let [from_x, from_y, from_sum] = states;
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                for v in 0..V {
                    let from_sum = last_round(from_sum[v], inputs[1][v]);
                    let left = last_round(from_x[v], from_sum);
                    let right = xor_vectors(last_round(from_y[v], from_sum), inputs[2][v]);
                    let (x, y) = (load(&a[v]), load(&b[v]));
                    let (i, j) = (odd(&a[v]), odd(&b[v]));
                    let (each, differ) = (unpack_low(i, j), xor_vectors(i, j));
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
    };
}
pub(crate) use three;
