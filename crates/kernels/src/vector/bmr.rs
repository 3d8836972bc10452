//! ANDs garbled by N parties, written once for vectors of 1, 2 or 4 blocks; what is computed is said in
//! [`crate::bmr`].
//!
//! A module that expands [`bmr`] has expanded [`super::garble::garble`], whose functions it uses.

/// Defines `clear_colours`, `active_keys`, `garble_column` and `evaluate_column` for one level, which leave what fills no vector to module `$single`, of one block for each vector.
macro_rules! bmr {
    ($features:literal, $single:ident) => {
        #[target_feature(enable = $features)]
        pub(crate) fn clear_colours(keys: &mut [Block]) {
            crate::portable::clear_colours(keys);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn active_keys(offset: Block, colours: &[Block], keys: &mut [Block]) {
            let whole = crate::garble::split_range(0..keys.len(), LANES)[0].end;
            let (first, rest) = keys.split_at_mut(whole);
            let (seen, seen_rest) = colours.split_at(whole);
            let (clear, offset_vector) = (bits(!1, u64::MAX), splat(offset));
            let first = vectors_mut::<1>(blocks_as_bytes_mut(first));
            for (key, colour) in first.iter_mut().zip(vectors::<1>(seen)) {
                let zero = and_vectors(load(&key[0]), clear);
                let active = xor_if(zero, odd(&colour[0]), offset_vector);
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
            let [pairs, rest] = crate::garble::split_range(range, 2 * LANES);
            let [single, rest] = crate::garble::split_range(rest, LANES);
            if !(pairs.is_empty() && single.is_empty()) {
                let keys = Keys::new(keys, key);
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
            keys: &Keys<'_>,
            offset: Block,
            column: &mut crate::bmr::Column<'_>,
            range: core::ops::Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let (a, b) = (
                vectors::<V>(&column.a[range.clone()]),
                vectors::<V>(&column.b[range.clone()]),
            );
            let rows = column.rows.map(|row| vectors::<V>(&row[range.clone()]));
            let own = if OWN { range.clone() } else { 0..0 };
            let zero = vectors::<V>(&column.zero[own.clone()]);
            let selects = column.bits[own].as_chunks::<LANES>().0.as_chunks::<V>().0;
            let [one, by_a, by_b] = &mut column.table;
            let one = vectors_mut::<V>(&mut one[bytes.clone()]);
            let by_a = vectors_mut::<V>(&mut by_a[bytes.clone()]);
            let by_b = vectors_mut::<V>(&mut by_b[bytes]);
            let offset = splat(offset);
            let sigma_offset = sigma_words(offset);
            let [first, second] = tweaks::<V>(range.clone());
            let which = splat(column.tweak);
            for k in 0..a.len() {
                let mut inputs = [[offset; V]; 4];
                for v in 0..V {
                    let x = input(&a[k][v], xor_vectors(load(&first[k][v]), which));
                    let y = input(&b[k][v], xor_vectors(load(&second[k][v]), which));
                    inputs[0][v] = x;
                    inputs[1][v] = xor_vectors(x, sigma_offset);
                    inputs[2][v] = y;
                    inputs[3][v] = xor_vectors(y, sigma_offset);
                    let [r_one, r_a, r_b] = rows.map(|row| load(&row[k][v]));
                    let known = xor_vectors(sum_of_three(x, y, r_one), xor_vectors(r_a, r_b));
                    store(&mut one[k][v], known);
                }
                let mut states = inputs;
                rounds!(keys, states, nothing);
                let [a0, a1, b0, b1] = states;
                let known = written(&one[k]);
                let mut sums = [offset; V];
                for v in 0..V {
                    let [_, r_a, r_b] = rows.map(|row| load(&row[k][v]));
                    let from_a = last_round(a0[v], xor_vectors(sigma_offset, r_a));
                    let from_b = last_round(b0[v], xor_vectors(sigma_offset, r_b));
                    let mut t_a = last_round(a1[v], from_a);
                    let mut t_b = last_round(b1[v], from_b);
                    // The part that both have as last round keys is in the vector that was known before.
                    let mut t_one = sum_of_three(from_a, from_b, load(&known[v]));
                    if OWN {
                        let select = load_bytes(&selects[k][v]);
                        t_one = xor_vectors(t_one, load(&zero[k][v]));
                        t_one = xor_if(t_one, test_bits(select, bits(1, 1)), offset);
                        t_a = xor_if(t_a, test_bits(select, bits(2, 2)), offset);
                        t_b = xor_if(t_b, test_bits(select, bits(4, 4)), offset);
                        t_b = xor_vectors(t_b, load(&a[k][v]));
                    }
                    sums[v] = t_one;
                    store(&mut by_a[k][v], t_a);
                    store(&mut by_b[k][v], t_b);
                }
                for v in 0..V {
                    store(&mut one[k][v], sums[v]);
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
            let [fours, rest] = crate::garble::split_range(range, 4 * LANES);
            let [single, rest] = crate::garble::split_range(rest, LANES);
            if !(fours.is_empty() && single.is_empty()) {
                let keys = Keys::new(keys, key);
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
            keys: &Keys<'_>,
            work: &mut crate::bmr::Summed<'_>,
            range: core::ops::Range<usize>,
        ) {
            let bytes = 16 * range.start..16 * range.end;
            let of = |keys, party: usize| {
                let keys: &[Block] = keys;
                vectors::<V>(&keys[party * work.stride..][range.clone()])
            };
            let (own_a, own_b) = (of(work.a, work.column), of(work.b, work.column));
            let [one, by_a, by_b] = work.table.map(|t| chunks::<V>(&t[bytes.clone()]));
            let c = vectors_mut::<V>(blocks_as_bytes_mut(&mut work.c[range.clone()]));
            let [first, second] = tweaks::<V>(work.first + range.start..work.first + range.end);
            let mut ahead = work
                .ahead
                .chunks((work.ahead.len() / c.len().max(1)).max(1));
            for k in 0..c.len() {
                crate::bmr::prefetch(ahead.next().unwrap_or_default());
                for v in 0..V {
                    let evaluator = xor_vectors(load(&by_b[k][v]), load(&own_a[k][v]));
                    let sum = xor_if(load(&one[k][v]), odd(&own_a[k][v]), load(&by_a[k][v]));
                    store(&mut c[k][v], xor_if(sum, odd(&own_b[k][v]), evaluator));
                }
                for party in 0..work.parties {
                    let which = splat(crate::bmr::tweak(party, work.column));
                    let place = party * work.stride + range.start + k * V * LANES;
                    let of = |keys| {
                        let keys: &[Block] = keys;
                        vectors::<V>(&keys[place..][..V * LANES])
                    };
                    let (a, b) = (of(work.a), of(work.b));
                    let mut inputs = [[which; V]; 2];
                    for v in 0..V {
                        let x = input(&a[0][v], xor_vectors(load(&first[k][v]), which));
                        let y = input(&b[0][v], xor_vectors(load(&second[k][v]), which));
                        (inputs[0][v], inputs[1][v]) = (x, y);
                        let sum = sum_of_three(load(&c[k][v]), x, y);
                        store(&mut c[k][v], sum);
                    }
                    let mut states = inputs;
                    rounds!(keys, states, nothing);
                    let [from_a, from_b] = states;
                    let sums = written(&c[k]);
                    let mut all = [which; V];
                    for v in 0..V {
                        let sum = last_round(from_a[v], load(&sums[v]));
                        all[v] = last_round(from_b[v], sum);
                    }
                    for v in 0..V {
                        store(&mut c[k][v], all[v]);
                    }
                }
            }
        }
    };
}
pub(crate) use bmr;
