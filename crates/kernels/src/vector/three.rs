//! ANDs garbled by three halves, written once for vectors of 1, 2 or 4 blocks; the equations are derived in
//! [`crate::garble`], and the portable version is nearer to them.
//!
//! A module that expands [`three`] has expanded [`super::garble::garble`], whose functions it uses, and defines on its
//! vectors `swap_halves` and `blend_halves` of 64-bit halves within blocks; `load_low` and `store_low` for half a
//! block for each AND; `Choice`, of what to keep of each half, with `colours`, `choice_at`, `choices_at`,
//! `choice_sum`, `choice_difference`, `chosen` and `xor_chosen`.

/// Defines `garble_three` and `evaluate_three` for one level, which leave what fills no vector to module `$single`, of
/// one block for each vector.
macro_rules! three {
    ($features:literal, $single:ident) => {
        use crate::garble::{BITS, Controls, pack, three_bytes, unpack};

        /// Vectors of ANDs of three halves that are garbled at once, of six inputs each, or evaluated, of
        /// three.
        const THREE_GARBLED: usize = if REGISTERS < 32 { 1 } else { 2 };
        const THREE_EVALUATED: usize = 3;

        #[target_feature(enable = $features)]
        pub(crate) fn garble_three(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            coins: &[Block],
            pieces: &[[&[Block]; 2]],
            c: &mut [Block],
            table: &mut [u8],
        ) {
            let (mut c, mut table) = (c, table);
            for ((key, &[a, b]), &coins) in (key..).zip(pieces).zip(coins) {
                let (c_now, c_rest) = c.split_at_mut(a.len());
                let (table_now, table_rest) = table.split_at_mut(three_bytes(a.len()));
                (c, table) = (c_rest, table_rest);
                let (sides, rest) = table_now.split_at_mut(16 * a.len());
                let (rest, packed) = rest.split_at_mut(8 * a.len());
                let piece = &mut Garbled {
                    a,
                    b,
                    c: c_now,
                    sides,
                    rest,
                };
                let mut controls = [Block::ZERO; 3];
                let secrets = [offset, coins];
                garble_three_range(keys, key, secrets, piece, &mut controls, 0..a.len());
                pack(coins, &mut controls, a.len(), packed);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn garble_three_range(
            keys: &KeyWindow,
            key: usize,
            [offset, coins]: [Block; 2],
            piece: &mut Garbled<'_, 8>,
            controls: &mut Controls,
            range: Range<usize>,
        ) {
            let [several, rest] = split_range(range, THREE_GARBLED * LANES);
            let [single, rest] = split_range(rest, LANES);
            if !(several.is_empty() && single.is_empty()) {
                let mut constants = GarbledThree::new(offset, coins);
                let keys = Keys::new(keys, key);
                garble_three_vectors::<THREE_GARBLED>(&keys, &constants, piece, controls, several);
                if THREE_GARBLED > 1 {
                    garble_three_vectors::<1>(&keys, &constants, piece, controls, single);
                }
                constants = GarbledThree::new(Block::ZERO, Block::ZERO);
                // The compiler must believe that somebody still reads the zeros.
                zeroize::optimization_barrier(&constants);
            }
            if !rest.is_empty() {
                $single::garble_three_range(keys, key, [offset, coins], piece, controls, rest);
            }
        }

        /// Values that are the same for all ANDs that are garbled.
        struct GarbledThree {
            offset: Vector,
            sigma_offset: Vector,
            /// `(R_R, R_L)`.
            swapped: Vector,
            /// `R_L ^ R_R`, twice.
            sum: Vector,
            /// p for colours (0, 1) and q for (1, 0), as complements.
            coins: Vector,
            /// q and p.
            coins_swapped: Vector,
        }

        impl GarbledThree {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(offset: Block, coins: Block) -> Self {
                let (offset, coins) = (splat(offset), splat(coins));
                Self {
                    offset,
                    sigma_offset: sigma_words(offset),
                    swapped: swap_halves(offset),
                    sum: xor_vectors(offset, swap_halves(offset)),
                    coins,
                    coins_swapped: swap_halves(coins),
                }
            }
        }

        /// Computes from the halves `(A_L, B_R)` and `(B_L, A_R)` of labels what control bits p and q multiply in
        /// `(p, q) own ^ (q, p) shared`: own is `(A_L ^ A_R ^ B_L, A_R ^ B_L ^ B_R)`, shared `A_L ^ B_R` twice.
        #[inline]
        #[target_feature(enable = $features)]
        fn label_parts(outer: Vector, others: Vector) -> (Vector, Vector) {
            let own = sum_of_three(outer, others, swap_halves(others));
            // The shared value is the sum of own's halves.
            (own, xor_vectors(own, swap_halves(own)))
        }

        /// The label and the table in closed form, for A and B of colour 0, where the labels of 0 have the colours a and
        /// b, and m is p for colours (0, 1) and n is q for (1, 0), the coins; P is m ^ a, and Q is n ^ b. With [`label_parts`] and
        /// `others = (B_L, A_R)`:
        ///
        /// `C = (h(A), h(B)) ^ h(A^B^R) ^ (m, n) (own ^ R) ^ (Q, P) (shared ^ (R_R, R_L)) ^ (a, b) R ^ a b R`,
        /// `(G_0, G_1) = (dh(A), dh(B)) ^ others ^ (a, b) own ^ (b, a) shared ^ (P, Q) (R_R, R_L)
        /// ^ (Q, P) (R_L ^ R_R)`,
        /// `G_2 = dh(A^B) ^ b own_L ^ a own_R ^ P R_L ^ Q R_R`,
        ///
        /// where `dh` is the sum of the hashes of both labels. The equations for bits are
        /// `z_L = h(A) ^ h(A^B^R) ^ m ^ 1`, `z_R = h(B) ^ h(A^B^R) ^ n ^ 1`, `z_0 = dh(A) ^ a`,
        /// `z_1 = dh(B) ^ b`, `z_2 = dh(A^B) ^ a ^ b`. The coins are left for the caller to add.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_three_vectors<const V: usize>(
            keys: &Keys<'_>,
            constants: &GarbledThree,
            piece: &mut Garbled<'_, 8>,
            controls: &mut Controls,
            range: Range<usize>,
        ) {
            const { assert!(V <= 2, "two vectors are finished below") };
            let bytes = 16 * range.start..16 * range.end;
            let a = vectors::<V>(&piece.a[range.clone()]);
            let n = a.len();
            // Lengths that the compiler sees to be the same.
            let b = &vectors::<V>(&piece.b[range.clone()])[..n];
            let c = blocks_as_bytes_mut(&mut piece.c[range.clone()]);
            let c = &mut vectors_mut::<V>(c)[..n];
            let sides = &mut vectors_mut::<V>(&mut piece.sides[bytes])[..n];
            let middle = piece.rest[8 * range.start..8 * range.end].as_chunks_mut().0;
            let middle: &mut [[[u8; VECTOR / 2]; V]] = &mut middle.as_chunks_mut().0[..n];
            let bits = &vectors::<V>(&BITS[range.clone()])[..n];
            let [first, second] = tweaks::<V>(range);
            let (first, second) = (&first[..n], &second[..n]);
            // `(z_R, z_L)`, `(z_1, z_0)` and `(_, z_2)`.
            let mut sums = [splat(Block::ZERO); 3];
            for k in 0..n {
                let r = constants;
                let mut inputs = [[r.offset; V]; 6];
                for v in 0..V {
                    let (by_a, by_b) = (parity(&a[k][v]), parity(&b[k][v]));
                    let x = input(&a[k][v], load(&first[k][v]));
                    let y = input(&b[k][v], load(&second[k][v]));
                    let x = xor_if_even(x, by_a, r.sigma_offset);
                    let y = xor_if_even(y, by_b, r.sigma_offset);
                    (inputs[0][v], inputs[1][v]) = (x, y);
                    inputs[2][v] = xor_vectors(x, y);
                    for h in 0..3 {
                        inputs[3 + h][v] = xor_vectors(inputs[h][v], r.sigma_offset);
                    }
                }
                let mut states = inputs;
                rounds!(keys, states, nothing);
                let (a, b, r) = (reread(&a[k]), reread(&b[k]), reread(constants));
                let bits = &bits[k];
                // Not a loop, which the compiler might leave one, with the states in memory.
                macro_rules! finish {
                    ($v:literal) => {
                        if $v < V {
                            let v = $v;
                            // With the offset's sigma, which cancels in the sum of two.
                            let from_x = last_round(states[0][v], r.sigma_offset);
                            let from_y = last_round(states[1][v], r.sigma_offset);
                            let from_sum = last_round(states[5][v], r.sigma_offset);
                            let d_x = last_round(states[3][v], from_x);
                            let d_y = last_round(states[4][v], from_y);
                            let d_sum = last_round(states[2][v], from_sum);
                            let from_sum = xor_vectors(from_sum, inputs[2][v]);
                            let left = sum_of_three(from_x, inputs[3][v], from_sum);
                            let right = sum_of_three(from_y, inputs[4][v], swap_halves(from_sum));

                            let [each, crossed] = colours(&a[v], &b[v]);
                            let (x, y) = (load(&a[v]), load(&b[v]));
                            let by_each = chosen(each, r.offset);
                            let outer = xor_vectors(blend_halves(x, y), by_each);
                            let others = xor_chosen(blend_halves(y, x), crossed, r.offset);
                            let (own, shared) = label_parts(outer, others);
                            // p and q for colours (0, 1) and (1, 0), then P and Q in this order and the other.
                            let drawn = choice_at(r.coins, &bits[v]);
                            let straight = choice_difference(drawn, each);
                            let swapped = choice_at(r.coins_swapped, &bits[v]);
                            let swapped = choice_difference(swapped, crossed);

                            let product = xor_vectors(by_each, chosen(crossed, by_each));
                            let product = xor_chosen(product, drawn, xor_vectors(own, r.offset));
                            let product = xor_chosen(product, swapped, xor_vectors(shared, r.swapped));
                            store(
                                &mut c[k][v],
                                xor_vectors(product, blend_halves(left, right)),
                            );

                            let halves = xor_vectors(others, blend_halves(d_x, d_y));
                            let halves = xor_chosen(xor_chosen(halves, each, own), crossed, shared);
                            let halves = xor_chosen(halves, straight, r.swapped);
                            store(&mut sides[k][v], xor_chosen(halves, swapped, r.sum));

                            let third = xor_chosen(chosen(crossed, own), straight, r.offset);
                            let third = sum_of_three(third, swap_halves(third), d_sum);
                            store_low(&mut middle[k][v], third);

                            let bit = load(&bits[v]);
                            let by_crossed = chosen(crossed, bit);
                            let z = [blend_halves(right, left), blend_halves(d_y, d_x), d_sum];
                            for (sum, z) in sums.iter_mut().zip(z) {
                                *sum = xor_vectors(*sum, and_vectors(z, bit));
                            }
                            sums[1] = xor_vectors(sums[1], by_crossed);
                            sums[2] = sum_of_three(sums[2], by_crossed, swap_halves(by_crossed));
                        }
                    };
                }
                finish!(0);
                finish!(1);
            }
            for (control, sum) in controls.iter_mut().zip(&sums) {
                *control ^= sum_of_blocks(*sum);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_of_blocks(x: Vector) -> Block {
            let mut bytes = [0; VECTOR];
            store(&mut bytes, x);
            let blocks = bytes.as_chunks().0.iter();
            blocks.fold(Block::ZERO, |sum, block| sum ^ Block::from_bytes(*block))
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_three(
            keys: &KeyWindow,
            key: usize,
            pieces: &[[&[Block]; 2]],
            table: &[u8],
            c: &mut [Block],
        ) {
            let (mut c, mut table) = (c, table);
            for (key, &[a, b]) in (key..).zip(pieces) {
                let (c_now, c_rest) = c.split_at_mut(a.len());
                let (table_now, table_rest) = table.split_at(three_bytes(a.len()));
                (c, table) = (c_rest, table_rest);
                let (sides, rest) = table_now.split_at(16 * a.len());
                let (rest, packed) = rest.split_at(8 * a.len());
                let piece = &mut Evaluated {
                    a,
                    b,
                    c: c_now,
                    sides,
                    rest,
                };
                evaluate_three_range(keys, key, piece, &unpack(packed), 0..a.len());
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_three_range(
            keys: &KeyWindow,
            key: usize,
            piece: &mut Evaluated<'_, 8>,
            controls: &Controls,
            range: Range<usize>,
        ) {
            let [several, rest] = split_range(range, THREE_EVALUATED * LANES);
            let [single, rest] = split_range(rest, LANES);
            if !(several.is_empty() && single.is_empty()) {
                let keys = Keys::new(keys, key);
                evaluate_three_vectors::<THREE_EVALUATED>(&keys, piece, controls, several);
                evaluate_three_vectors::<1>(&keys, piece, controls, single);
            }
            if !rest.is_empty() {
                $single::evaluate_three_range(keys, key, piece, controls, rest);
            }
        }

        /// The evaluator's equations, with [`label_parts`] and `others = (B_L, A_R)`:
        ///
        /// `C = (h(A), h(B)) ^ h(A^B) ^ (i, j) ((G_0, G_1) ^ others) ^ (i^j^1) G_2 ^ (p, q) own ^ (q, p) shared`.
        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_three_vectors<const V: usize>(
            keys: &Keys<'_>,
            piece: &mut Evaluated<'_, 8>,
            controls: &Controls,
            range: Range<usize>,
        ) {
            const { assert!(V <= 4, "four vectors are finished below") };
            let bytes = 16 * range.start..16 * range.end;
            let a = vectors::<V>(&piece.a[range.clone()]);
            let n = a.len();
            let b = &vectors::<V>(&piece.b[range.clone()])[..n];
            let c = blocks_as_bytes_mut(&mut piece.c[range.clone()]);
            let c = &mut vectors_mut::<V>(c)[..n];
            let sides = &chunks::<V>(&piece.sides[bytes])[..n];
            let middle = piece.rest[8 * range.start..8 * range.end].as_chunks().0;
            let middle: &[[[u8; VECTOR / 2]; V]] = &middle.as_chunks().0[..n];
            let bits = &vectors::<V>(&BITS[range.clone()])[..n];
            let [first, second] = tweaks::<V>(range);
            let (first, second) = (&first[..n], &second[..n]);
            for k in 0..n {
                let mut inputs = [[splat(Block::ZERO); V]; 3];
                for v in 0..V {
                    let x = input(&a[k][v], load(&first[k][v]));
                    let y = input(&b[k][v], load(&second[k][v]));
                    (inputs[0][v], inputs[1][v]) = (x, y);
                    inputs[2][v] = xor_vectors(x, y);
                }
                let mut states = inputs;
                rounds!(keys, states, nothing);
                let (a, b) = (reread(&a[k]), reread(&b[k]));
                let [ends, turns, both] = reread(controls);
                // Not a loop, which the compiler might leave one, with the states in memory.
                macro_rules! finish {
                    ($v:literal) => {
                        if $v < V {
                            let v = $v;
                            let sum = last_round(states[2][v], inputs[2][v]);
                            let left = last_round(states[0][v], xor_vectors(sum, inputs[0][v]));
                            let sum = xor_vectors(swap_halves(sum), inputs[1][v]);
                            let right = last_round(states[1][v], sum);

                            let [each, crossed] = colours(&a[v], &b[v]);
                            let same = choice_sum(each, crossed);
                            let (x, y) = (load(&a[v]), load(&b[v]));
                            let others = blend_halves(y, x);
                            let (own, shared) = label_parts(blend_halves(x, y), others);
                            let control = xor_chosen(spread(ends), crossed, spread(turns));
                            let control = xor_chosen(control, same, spread(both));
                            let control = xor_vectors(control, blend_halves(right, left));
                            let [swapped, straight] = choices_at(control, &bits[k][v]);
                            let product = chosen(each, xor_vectors(others, load(&sides[k][v])));
                            let product = xor_chosen(product, same, load_low(&middle[k][v]));
                            let product = xor_vectors(product, blend_halves(left, right));
                            let product = xor_chosen(product, straight, own);
                            store(&mut c[k][v], xor_chosen(product, swapped, shared));
                        }
                    };
                }
                finish!(0);
                finish!(1);
                finish!(2);
                finish!(3);
            }
        }
    };
}
pub(crate) use three;
