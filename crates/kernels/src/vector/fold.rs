//! The folding of streams, written once for vectors of 1, 2 or 4 blocks; `crate::fold` says what it
//! is. Expanded beside [`modes`](super::modes), whose helpers it takes, with `FOLD_VECTORS`, the
//! vectors of each leaf in flight, and `spread`, a block from memory in all lanes.
//!
//! Leaves go four at a time: `4 * FOLD_VECTORS` independent AES states keep the units busy, the
//! three additions within the four stay in registers, and their sum enters the counter of partial
//! sums, which lives in the first-level cache. All branches are on the number of the leaf. What the
//! compiler would not inline is a macro, and loops are over indices, lest states go through memory.

/// Defines `fold_whole` and `fold_punctured` for one level.
macro_rules! fold {
    ($features:literal) => {
        /// Where partial sums meet: up to C columns and the counter's digits. No larger than need
        /// be, because making and wiping them counts where leaves are few.
        struct Sums<const C: usize, const V: usize> {
            columns: [[Vector; V]; C],
            digits: [[Vector; V]; C],
        }

        impl<const C: usize, const V: usize> Sums<C, V> {
            #[inline]
            #[target_feature(enable = $features)]
            fn new() -> Self {
                let zero = splat(Block::ZERO);
                Self {
                    columns: [[zero; V]; C],
                    digits: [[zero; V]; C],
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn wipe(&mut self) {
                *self = Self::new();
                // The compiler must take the zeros for used.
                core::hint::black_box(self);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn add<const V: usize>(sum: &mut [Vector; V], x: &[Vector; V]) {
            for i in 0..V {
                sum[i] = xor_vectors(sum[i], x[i]);
            }
        }

        /// V vectors of the stream of each of `$leaves` leaves.
        macro_rules! streams {
            ($leaves:literal, $keys:expr, $first:expr) => {{
                let keys: &[RoundKeys; $leaves] = $keys;
                // Leaves that every step takes: as in `unkept`.
                let keys = if REGISTERS < 32 && C <= 2 {
                    crate::opaque::again(keys)
                } else {
                    keys
                };
                let mut counter = [$first; V];
                for i in 1..V {
                    counter[i] = add_counter(counter[i - 1], LANES as i64);
                }
                let mut states = [counter; $leaves];
                for leaf in 0..$leaves {
                    let key = spread(&keys[leaf][0]);
                    for i in 0..V {
                        states[leaf][i] = xor_vectors(states[leaf][i], key);
                    }
                }
                for r in 1..10 {
                    for leaf in 0..$leaves {
                        let key = spread(&keys[leaf][r]);
                        for i in 0..V {
                            states[leaf][i] = round(states[leaf][i], key);
                        }
                    }
                    if REGISTERS < 32 && r % 3 == 0 {
                        for leaf in 0..$leaves {
                            for i in 0..V {
                                states[leaf][i] = hold(states[leaf][i]);
                            }
                        }
                    }
                }
                for leaf in 0..$leaves {
                    let key = spread(&keys[leaf][10]);
                    for i in 0..V {
                        states[leaf][i] = last_round(states[leaf][i], key);
                    }
                }
                states
            }};
        }

        /// Adds four neighbours, the `$index`-th of all fours. What no earlier four has reached is
        /// overwritten.
        macro_rules! add_four {
            ($sums:expr, $index:expr, $four:expr) => {{
                let (sums, index, [a, b, c, d]): (&mut Sums<C, V>, usize, [[Vector; V]; 4]) =
                    ($sums, $index, $four);
                let (mut odd, mut high, mut all) = (b, c, a);
                add(&mut odd, &d);
                add(&mut high, &d);
                add(&mut all, &odd);
                add(&mut all, &c);
                if index > 0 {
                    add(&mut odd, &sums.columns[0]);
                    add(&mut high, &sums.columns[1]);
                }
                (sums.columns[0], sums.columns[1]) = (odd, high);
                let carries = index.trailing_ones() as usize;
                for i in 0..carries {
                    let column = &mut sums.columns[2 + i];
                    if index >> (i + 1) == 0 {
                        *column = all;
                    } else {
                        add(column, &all);
                    }
                    add(&mut all, &sums.digits[i]);
                }
                sums.digits[carries] = all;
            }};
        }

        /// Folds V vectors of every leaf, of all or of all but leaf 0, and returns their total,
        /// which is of use only if all leaves are there.
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_vectors<const C: usize, const V: usize>(
            keys: &[RoundKeys],
            first: Vector,
            sums: &mut Sums<C, V>,
        ) -> [Vector; V] {
            if C == 1 {
                if let Ok(both) = <&[RoundKeys; 2]>::try_from(keys) {
                    let [mut a, b] = streams!(2, both, first);
                    sums.columns[0] = b;
                    add(&mut a, &b);
                    return a;
                }
                let mut b = [first; V];
                if let [one] = keys {
                    [b] = streams!(1, core::array::from_ref(one), first);
                }
                sums.columns[0] = b;
                return b;
            }
            if C == 2 {
                let zero = [splat(Block::ZERO); V];
                let [mut a, mut b, mut c, d] = if let Some(three) = keys.first_chunk()
                    && keys.len() == 3
                {
                    let [b, c, d] = streams!(3, three, first);
                    [zero, b, c, d]
                } else if let Some(four) = keys.first_chunk() {
                    streams!(4, four, first)
                } else {
                    [zero; 4]
                };
                add(&mut a, &c);
                add(&mut c, &d);
                add(&mut b, &d);
                add(&mut a, &b);
                (sums.columns[0], sums.columns[1]) = (b, c);
                return a;
            }
            let (start, fours) = keys.split_at(keys.len() % 4);
            let mut skipped = 0;
            if let Ok(three) = <&[RoundKeys; 3]>::try_from(start) {
                let [b, c, d] = streams!(3, three, first);
                add_four!(sums, 0, [[splat(Block::ZERO); V], b, c, d]);
                skipped = 1;
            }
            for (index, keys) in (skipped..).zip(fours.as_chunks::<4>().0) {
                add_four!(sums, index, streams!(4, keys, first));
            }
            // The carry of the last four.
            sums.digits[keys.len().div_ceil(4).trailing_zeros() as usize]
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_part<const V: usize>(bytes: &[u8]) -> [Vector; V] {
            let mut out = [splat(Block::ZERO); V];
            let (whole, rest) = bytes.as_chunks();
            // A number of turns that the compiler knows, or it would keep the vectors in memory.
            if let Some(whole) = whole.first_chunk::<V>() {
                for (out, bytes) in out.iter_mut().zip(whole) {
                    *out = load(bytes);
                }
                return out;
            }
            for (out, bytes) in out.iter_mut().zip(whole) {
                *out = load(bytes);
            }
            if let Some(out) = out.get_mut(whole.len())
                && !rest.is_empty()
            {
                let mut padded = [0; 16 * LANES];
                padded[..rest.len()].copy_from_slice(rest);
                *out = load(&padded);
                padded.zeroize();
            }
            out
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store_part<const V: usize>(bytes: &mut [u8], x: &[Vector; V]) {
            let (whole, rest) = bytes.as_chunks_mut();
            if let Some(whole) = whole.first_chunk_mut::<V>() {
                for (bytes, x) in whole.iter_mut().zip(x) {
                    store(bytes, *x);
                }
                return;
            }
            let done = whole.len();
            for (bytes, x) in whole.iter_mut().zip(x) {
                store(bytes, *x);
            }
            if let Some(x) = x.get(done)
                && !rest.is_empty()
            {
                let mut padded = [0; 16 * LANES];
                store(&mut padded, *x);
                rest.copy_from_slice(&padded[..rest.len()]);
                padded.zeroize();
            }
        }

        /// Runs over bytes `range` in steps of V vectors, the last of which may be partial.
        #[inline]
        #[target_feature(enable = $features)]
        fn whole_range<const C: usize, const V: usize>(
            keys: &[RoundKeys],
            first: u64,
            range: core::ops::Range<usize>,
            columns: &mut [u8],
            stride: usize,
            added: &[u8],
            total: &mut [u8],
        ) {
            if range.is_empty() {
                return;
            }
            let width = keys.len().ilog2() as usize;
            let mut sums = Sums::<C, V>::new();
            for left in range.clone().step_by(16 * LANES * V) {
                let part = left..range.end.min(left + 16 * LANES * V);
                let counter = counters(first.wrapping_add(left as u64 / 16), 0);
                let mut sum = fold_vectors::<C, V>(keys, counter, &mut sums);
                add(&mut sum, &load_part(&added[part.clone()]));
                store_part(&mut total[part.clone()], &sum);
                for (i, column) in sums.columns[..width].iter().enumerate() {
                    store_part(&mut columns[i * stride + left..][..part.len()], column);
                }
            }
            sums.wipe();
        }

        #[target_feature(enable = $features)]
        pub(crate) fn fold_whole(
            keys: &[RoundKeys],
            first: u64,
            columns: &mut [u8],
            stride: usize,
            added: &[u8],
            total: &mut [u8],
        ) {
            macro_rules! run {
                ($columns:literal, $vectors:expr) => {{
                    let bulk = added.len() / (16 * LANES * $vectors) * (16 * LANES * $vectors);
                    let rest = bulk..added.len();
                    whole_range::<$columns, { $vectors }>(
                        keys,
                        first,
                        0..bulk,
                        columns,
                        stride,
                        added,
                        total,
                    );
                    whole_range::<$columns, 1>(keys, first, rest, columns, stride, added, total);
                }};
            }
            match keys.len() {
                2 => run!(1, 2 * FOLD_VECTORS),
                4 => run!(2, FOLD_VECTORS),
                8 | 16 => run!(4, FOLD_VECTORS),
                _ => run!(8, FOLD_VECTORS),
            }
        }

        /// As [`whole_range`], for [`fold_punctured`].
        #[inline]
        #[target_feature(enable = $features)]
        fn punctured_range<const C: usize, const V: usize>(
            keys: &[RoundKeys],
            first: u64,
            range: core::ops::Range<usize>,
            columns: &mut [u8],
            stride: usize,
            mask: u8,
            added: &[u8],
        ) {
            if range.is_empty() {
                return;
            }
            let width = (keys.len() + 1).ilog2() as usize;
            let mut sums = Sums::<C, V>::new();
            for left in range.clone().step_by(16 * LANES * V) {
                let part = left..range.end.min(left + 16 * LANES * V);
                let counter = counters(first.wrapping_add(left as u64 / 16), 0);
                fold_vectors::<C, V>(keys, counter, &mut sums);
                let added = load_part::<V>(&added[part.clone()]);
                for (i, column) in sums.columns[..width].iter_mut().enumerate() {
                    let mask = splat(Block::mask(mask >> i & 1 == 1));
                    for (x, added) in column.iter_mut().zip(&added) {
                        *x = xor_vectors(*x, and_vectors(*added, mask));
                    }
                    store_part(&mut columns[i * stride + left..][..part.len()], column);
                }
            }
            sums.wipe();
        }

        #[target_feature(enable = $features)]
        pub(crate) fn fold_punctured(
            keys: &[RoundKeys],
            first: u64,
            columns: &mut [u8],
            stride: usize,
            mask: u8,
            added: &[u8],
        ) {
            macro_rules! run {
                ($columns:literal, $vectors:expr) => {{
                    let bulk = added.len() / (16 * LANES * $vectors) * (16 * LANES * $vectors);
                    let rest = bulk..added.len();
                    punctured_range::<$columns, { $vectors }>(
                        keys,
                        first,
                        0..bulk,
                        columns,
                        stride,
                        mask,
                        added,
                    );
                    punctured_range::<$columns, 1>(keys, first, rest, columns, stride, mask, added);
                }};
            }
            match keys.len() {
                1 => run!(1, 2 * FOLD_VECTORS),
                3 => run!(2, FOLD_VECTORS),
                7 | 15 => run!(4, FOLD_VECTORS),
                _ => run!(8, FOLD_VECTORS),
            }
        }
    };
}
pub(crate) use fold;
