//! ANDs garbled by N parties, written once for vectors of 1, 2 or 4 blocks; what is computed is said in
//! [`crate::bmr`].
//!
//! A module that expands [`bmr`] has expanded [`super::garble::garble`], whose functions it uses.

/// Defines `join_keys`, `clear_colours`, `active_keys`, `garble_column` and `evaluate_column` for one
/// level, which leave what fills no vector to module `$single`, of one block for each vector.
macro_rules! bmr {
    ($features:literal, $single:ident) => {
        #[target_feature(enable = $features)]
        pub(crate) fn join_keys(a: &[Block], b: &[Block], out: &mut [Block]) {
            let whole = crate::bmr::split_range(0..a.len(), LANES)[0].end;
            let (x, y) = (vectors::<1>(&a[..whole]), vectors::<1>(&b[..whole]));
            let vectors = vectors_mut::<1>(blocks_as_bytes_mut(&mut out[..whole]));
            for ((out, a), b) in vectors.iter_mut().zip(x).zip(y) {
                let inner = xor_vectors(load(&a[0]), twice(load(&b[0])));
                store(&mut out[0], twice(inner));
            }
            if whole < a.len() {
                $single::join_keys(&a[whole..], &b[whole..], &mut out[whole..]);
            }
        }

        /// Twice each 64-bit word, in GF(2^64).
        #[inline]
        #[target_feature(enable = $features)]
        fn twice(x: Vector) -> Vector {
            let carries = test_bits(x, bits(1 << 63, 1 << 63));
            xor_if(double(x), carries, bits(0x1b, 0x1b))
        }

        #[target_feature(enable = $features)]
        pub(crate) fn clear_colours(keys: &mut [Block]) {
            crate::portable::clear_colours(keys);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn active_keys(offset: Block, colours: &[Block], keys: &mut [Block]) {
            let whole = crate::bmr::split_range(0..keys.len(), LANES)[0].end;
            let (first, rest) = keys.split_at_mut(whole);
            let (seen, seen_rest) = colours.split_at(whole);
            let (clear, offset_vector) = (bits(!1, u64::MAX), splat(offset));
            let first = vectors_mut::<1>(blocks_as_bytes_mut(first));
            for (key, colour) in first.iter_mut().zip(vectors::<1>(seen)) {
                let zero = and_vectors(load(&key[0]), clear);
                let active = xor_if(zero, odd(load(&colour[0])), offset_vector);
                store(&mut key[0], active);
            }
            if !rest.is_empty() {
                $single::active_keys(offset, seen_rest, rest);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn garble_column<const OWN: bool>(
            keys: &KeyWindow,
            key: usize,
            offset: Block,
            column: &mut crate::bmr::Column<'_>,
            range: core::ops::Range<usize>,
        ) {
            let [pairs, rest] = crate::bmr::split_range(range, 2 * LANES);
            let [single, rest] = crate::bmr::split_range(rest, LANES);
            if !(pairs.is_empty() && single.is_empty()) {
                let keys = spread_window(keys, key);
                garble_column_vectors::<2, OWN>(&keys, offset, column, pairs);
                garble_column_vectors::<1, OWN>(&keys, offset, column, single);
            }
            if !rest.is_empty() {
                $single::garble_column::<OWN>(keys, key, offset, column, rest);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn garble_column_vectors<const V: usize, const OWN: bool>(
            keys: &[Vector; 11],
            offset: Block,
            column: &mut crate::bmr::Column<'_>,
            range: core::ops::Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let joined = vectors::<V>(&column.inputs[range.clone()]);
            let rows = column.rows.map(|row| vectors::<V>(&row[range.clone()]));
            let own = if OWN { range.clone() } else { 0..0 };
            let zero = vectors::<V>(&column.zero[own.clone()]);
            let selects = column.bits[own].as_chunks::<LANES>().0.as_chunks::<V>().0;
            let [one, by_a, by_b, both] = &mut column.table;
            let one = vectors_mut::<V>(&mut one[bytes.clone()]);
            let by_a = vectors_mut::<V>(&mut by_a[bytes.clone()]);
            let by_b = vectors_mut::<V>(&mut by_b[bytes.clone()]);
            let both = vectors_mut::<V>(&mut both[bytes]);
            let offset = splat(offset);
            let two = twice(offset);
            let four = twice(two);
            let six = xor_vectors(two, four);
            let mut tweak = counters(range.start as u64, column.tweak);
            for k in 0..joined.len() {
                let mut inputs = [[offset; V]; 4];
                for v in 0..V {
                    let x = sum_of_three(load(&joined[k][v]), tweak, keys[0]);
                    inputs[0][v] = x;
                    inputs[1][v] = xor_vectors(x, two);
                    inputs[2][v] = xor_vectors(x, four);
                    inputs[3][v] = xor_vectors(x, six);
                    tweak = add_counter(tweak, LANES as i64);
                }
                // Without what the hash adds to the cipher's result: it cancels in all sums but the first.
                let [f00, f10, f01, f11] = permuted(keys, &inputs);
                for v in 0..V {
                    let [r_one, r_a, r_b] = rows.map(|row| load(&row[k][v]));
                    let mut t_one = sum_of_three(f00[v], inputs[0][v], keys[0]);
                    t_one = xor_vectors(t_one, r_one);
                    let mut t_a = xor_vectors(sum_of_three(f00[v], f10[v], two), r_a);
                    let mut t_b = xor_vectors(sum_of_three(f00[v], f01[v], four), r_b);
                    let pair = xor_vectors(f00[v], f10[v]);
                    let mut t_both = sum_of_three(pair, f01[v], f11[v]);
                    if OWN {
                        let select = load_bytes(&selects[k][v]);
                        t_one = xor_vectors(t_one, load(&zero[k][v]));
                        t_one = xor_if(t_one, test_bits(select, bits(1, 1)), offset);
                        t_a = xor_if(t_a, test_bits(select, bits(2, 2)), offset);
                        t_b = xor_if(t_b, test_bits(select, bits(4, 4)), offset);
                        t_both = xor_vectors(t_both, offset);
                    }
                    store(&mut one[k][v], t_one);
                    store(&mut by_a[k][v], t_a);
                    store(&mut by_b[k][v], t_b);
                    store(&mut both[k][v], t_both);
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn evaluate_column(
            keys: &KeyWindow,
            key: usize,
            work: &mut crate::bmr::Summed<'_>,
            range: core::ops::Range<usize>,
        ) {
            let [fours, rest] = crate::bmr::split_range(range, 4 * LANES);
            let [single, rest] = crate::bmr::split_range(rest, LANES);
            if !(fours.is_empty() && single.is_empty()) {
                let keys = spread_window(keys, key);
                evaluate_column_vectors::<4>(&keys, work, fours);
                evaluate_column_vectors::<1>(&keys, work, single);
            }
            if !rest.is_empty() {
                $single::evaluate_column(keys, key, work, rest);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_column_vectors<const V: usize>(
            keys: &[Vector; 11],
            work: &mut crate::bmr::Summed<'_>,
            range: core::ops::Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let a = vectors::<V>(&work.a[range.clone()]);
            let b = vectors::<V>(&work.b[range.clone()]);
            let [one, by_a, by_b, both] = work.table.map(|t| chunks::<V>(&t[bytes.clone()]));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(&mut work.c[range.clone()]));
            for k in 0..c.len() {
                let mut sums = [keys[0]; V];
                for v in 0..V {
                    let (alpha, beta) = (odd(load(&a[k][v])), odd(load(&b[k][v])));
                    let sum = xor_if(load(&one[k][v]), alpha, load(&by_a[k][v]));
                    let sum = xor_if(sum, beta, load(&by_b[k][v]));
                    let product = and_vectors(alpha, beta);
                    sums[v] = xor_if(sum, product, load(&both[k][v]));
                }
                let first = range.start + k * V * LANES;
                let place = |party: usize| party * work.stride + first;
                let hashed = |party: usize| {
                    let inputs = vectors::<V>(&work.inputs[place(party)..][..V * LANES]);
                    let upper = crate::bmr::tweak(party, work.column);
                    (inputs, counters(first as u64, upper))
                };
                // Two parties at a time keep the unit for AES busy.
                for party in (1..work.parties).step_by(2) {
                    let (x, mut first_tweak) = hashed(party - 1);
                    let (y, mut second_tweak) = hashed(party);
                    let mut inputs = [[keys[0]; V]; 2];
                    for v in 0..V {
                        inputs[0][v] = sum_of_three(load(&x[0][v]), first_tweak, keys[0]);
                        inputs[1][v] = sum_of_three(load(&y[0][v]), second_tweak, keys[0]);
                        first_tweak = add_counter(first_tweak, LANES as i64);
                        second_tweak = add_counter(second_tweak, LANES as i64);
                    }
                    let [from_x, from_y] = permuted(keys, &inputs);
                    for v in 0..V {
                        let sum = sum_of_three(sums[v], from_x[v], from_y[v]);
                        sums[v] = sum_of_three(sum, inputs[0][v], inputs[1][v]);
                    }
                }
                if work.parties % 2 == 1 {
                    let (x, mut tweak) = hashed(work.parties - 1);
                    let mut inputs = [[keys[0]; V]; 1];
                    for v in 0..V {
                        inputs[0][v] = sum_of_three(load(&x[0][v]), tweak, keys[0]);
                        tweak = add_counter(tweak, LANES as i64);
                    }
                    let [from_x] = permuted(keys, &inputs);
                    for v in 0..V {
                        let sum = sum_of_three(sums[v], from_x[v], inputs[0][v]);
                        sums[v] = xor_vectors(sum, keys[0]);
                    }
                }
                for v in 0..V {
                    store(&mut c[k][v], sums[v]);
                }
            }
        }
    };
}
pub(crate) use bmr;
