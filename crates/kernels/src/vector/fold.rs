//! The folding of streams, written once for vectors of 1, 2 or 4 blocks; `crate::fold` says what it
//! is. Expanded beside [`modes`](super::modes), whose helpers it takes, with `FOLD_VECTORS`, the
//! vectors of each leaf in flight, and `spread`, a block from memory in all lanes.
//!
//! Leaves go four at a time: `4 * FOLD_VECTORS` independent AES states keep the units busy, and the
//! three additions within the four stay in registers. Up to sixteen leaves are folded there; of more,
//! the sum of each four enters the counter of partial sums, which lives in the first-level cache.
//! All branches are on the number of the leaf. What the compiler would not inline is a macro, and loops
//! are over indices, lest states go through memory.

/// Defines `fold_whole` and `fold_punctured` for one level.
macro_rules! fold {
    ($features:literal) => {
        /// Where the partial sums of more than sixteen leaves meet: up to C columns and the counter's digits.
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
                                // Written out: the compiler does not unroll a loop here, and adds scalar work to every round.
                                macro_rules! next_round {
                                    ($r:literal) => {
                                        for leaf in 0..$leaves {
                                            let key = spread(&keys[leaf][$r]);
                                            for i in 0..V {
                                                states[leaf][i] = round(states[leaf][i], key);
                                            }
                                        }
                                        // Else the compiler takes the states one after the other; vectors of several
                                        // blocks do better where it may choose within three rounds.
                                        if REGISTERS < 32 && (LANES == 1 || $r % 3 == 0) {
                                            for leaf in 0..$leaves {
                                                for i in 0..V {
                                                    states[leaf][i] = hold(states[leaf][i]);
                                                }
                                            }
                                        }
                                    };
                                }
                                next_round!(1);
                                next_round!(2);
                                next_round!(3);
                                next_round!(4);
                                next_round!(5);
                                next_round!(6);
                                next_round!(7);
                                next_round!(8);
                                next_round!(9);
                                for leaf in 0..$leaves {
                                    let key = spread(&keys[leaf][10]);
                                    for i in 0..V {
                                        states[leaf][i] = last_round(states[leaf][i], key);
                                    }
                                }
                                states
                            }};
                        }

        /// The sums of those of four neighbours whose number is odd, of the upper two, and of all.
        macro_rules! sums_of_four {
            ($four:expr) => {{
                let [a, b, c, d]: [[Vector; V]; 4] = $four;
                let (mut odd, mut high, mut all) = (b, c, a);
                add(&mut odd, &d);
                add(&mut high, &d);
                add(&mut all, &odd);
                add(&mut all, &c);
                (odd, high, all)
            }};
        }

        /// Folds V vectors of up to four leaves, of all or of all but leaf 0: their total, which is of use
        /// only if all leaves are there, and the columns.
        macro_rules! fold_few {
            ($keys:expr, $first:expr) => {{
                let (keys, first): (&[RoundKeys], Vector) = ($keys, $first);
                let zero = [splat(Block::ZERO); V];
                let mut columns = [zero; C];
                if C == 1 {
                    let [mut a, b] = if let Ok(both) = <&[RoundKeys; 2]>::try_from(keys) {
                        streams!(2, both, first)
                    } else if let [one] = keys {
                        let [b] = streams!(1, core::array::from_ref(one), first);
                        [zero, b]
                    } else {
                        [zero; 2]
                    };
                    columns[0] = b;
                    add(&mut a, &b);
                    (a, columns)
                } else {
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
                    (columns[0], columns[1]) = (b, c);
                    (a, columns)
                }
            }};
        }

        /// The same of eight or sixteen leaves, with or without leaf 0.
        macro_rules! fold_group {
            ($keys:expr, $first:expr) => {{
                let (keys, first): (&[RoundKeys], Vector) = ($keys, $first);
                let zero = [splat(Block::ZERO); V];
                let mut columns = [zero; C];
                let (start, fours) = keys.split_at(keys.len() % 4);
                let fours = fours.as_chunks::<4>().0;
                let (four, fours) = match (<&[RoundKeys; 3]>::try_from(start), fours.split_first())
                {
                    (Ok(three), _) => {
                        let [b, c, d] = streams!(3, three, first);
                        ([zero, b, c, d], fours)
                    }
                    (_, Some((four, fours))) => (streams!(4, four, first), fours),
                    _ => ([zero; 4], fours),
                };
                let mut total;
                (columns[0], columns[1], total) = sums_of_four!(four);
                macro_rules! next {
                    ($index:literal, $four:expr) => {
                        let (odd, high, all) = sums_of_four!(streams!(4, $four, first));
                        add(&mut columns[0], &odd);
                        add(&mut columns[1], &high);
                        if $index & 1 == 1 {
                            add(&mut columns[2], &all);
                        }
                        if $index & 2 == 2 {
                            add(&mut columns[3], &all);
                        }
                        add(&mut total, &all);
                    };
                }
                if let Some(four) = fours.first() {
                    next!(1, four);
                }
                if let [_, third, fourth] = fours {
                    next!(2, third);
                    next!(3, fourth);
                }
                (total, columns)
            }};
        }

        /// The same of more leaves, four at a time by a counter; the columns are those of `sums`.
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_many<const C: usize, const V: usize>(
            keys: &[RoundKeys],
            first: Vector,
            sums: &mut Sums<C, V>,
        ) -> [Vector; V] {
            /// Adds four neighbours, the `$index`-th of all fours. What no earlier four has reached is
            /// overwritten.
            macro_rules! add_four {
                ($index:expr, $four:expr) => {{
                    let index: usize = $index;
                    let (mut odd, mut high, mut all) = sums_of_four!($four);
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
            let (start, fours) = keys.split_at(keys.len() % 4);
            let mut skipped = 0;
            if let Ok(three) = <&[RoundKeys; 3]>::try_from(start) {
                let [b, c, d] = streams!(3, three, first);
                add_four!(0, [[splat(Block::ZERO); V], b, c, d]);
                skipped = 1;
            }
            for (index, keys) in (skipped..).zip(fours.as_chunks::<4>().0) {
                add_four!(index, streams!(4, keys, first));
            }
            // The carry of the last four.
            sums.digits[keys.len().div_ceil(4).trailing_zeros() as usize]
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_step<const V: usize, const STEP: usize>(bytes: &[u8; STEP]) -> [Vector; V] {
            let mut out = [splat(Block::ZERO); V];
            let bytes = bytes.as_chunks().0;
            for i in 0..V {
                out[i] = load(&bytes[i]);
            }
            out
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store_step<const V: usize, const STEP: usize>(bytes: &mut [u8; STEP], x: &[Vector; V]) {
            let bytes = bytes.as_chunks_mut().0;
            for i in 0..V {
                store(&mut bytes[i], x[i]);
            }
        }

        /// These bytes of the first `width` columns, in steps.
        #[inline]
        #[target_feature(enable = $features)]
        fn steps_of<const C: usize, const STEP: usize>(
            columns: &mut [u8],
            stride: usize,
            width: usize,
            bytes: core::ops::Range<usize>,
        ) -> [&mut [[u8; STEP]]; C] {
            let mut out: [&mut [_]; C] = [(); C].map(|()| Default::default());
            let mut rest = columns;
            for i in 0..width {
                let length = if i + 1 < width { stride } else { rest.len() };
                let (column, after) = rest.split_at_mut(length);
                out[i] = column[bytes.clone()].as_chunks_mut().0;
                rest = after;
            }
            out
        }

        /// Folds whole steps of V vectors, STEP bytes, from block `first` of the streams on: of WHOLE trees into
        /// columns and total, `added` to this; of others into columns, `added` to those that `mask` says.
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_steps<const C: usize, const V: usize, const STEP: usize, const WHOLE: bool>(
            keys: &[RoundKeys],
            first: u64,
            columns: &mut [&mut [[u8; STEP]]; C],
            mask: u8,
            added: &[[u8; STEP]],
            total: &mut [[u8; STEP]],
        ) {
            const { assert!(STEP == 16 * LANES * V) };
            if added.is_empty() {
                return;
            }
            let width = width_of::<WHOLE>(keys);
            let mut masks = [splat(Block::ZERO); C];
            for i in 0..C {
                masks[i] = splat(Block::mask(mask >> i & 1 == 1));
            }
            let mut sums = Sums::<C, V>::new();
            let mut block = first;
            for (step, added) in added.iter().enumerate() {
                let counter = counters(block, 0);
                block = block.wrapping_add((STEP / 16) as u64);
                let few;
                let (mut sum, folded) = if C <= 2 {
                    few = fold_few!(keys, counter);
                    (few.0, &few.1)
                } else if C == 4 {
                    few = fold_group!(keys, counter);
                    (few.0, &few.1)
                } else {
                    let sum = fold_many::<C, V>(keys, counter, &mut sums);
                    (sum, &sums.columns)
                };
                let added = load_step::<V, STEP>(added);
                if WHOLE {
                    add(&mut sum, &added);
                    store_step(&mut total[step], &sum);
                }
                for i in 0..C {
                    if i < width {
                        let mut column = folded[i];
                        for v in 0..V {
                            if !WHOLE {
                                column[v] = xor_vectors(column[v], and_vectors(added[v], masks[i]));
                            }
                        }
                        store_step(&mut columns[i][step], &column);
                    }
                }
            }
            if C > 4 {
                sums.wipe();
            }
            masks = [splat(Block::ZERO); C];
            zeroize::optimization_barrier(&masks);
        }

        fn width_of<const WHOLE: bool>(keys: &[RoundKeys]) -> usize {
            (keys.len() + usize::from(!WHOLE)).ilog2() as usize
        }

        /// All bytes: in steps of V vectors, then of one, then what is left.
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_all<const C: usize, const V: usize, const STEP: usize, const WHOLE: bool>(
            keys: &[RoundKeys],
            first: u64,
            columns: &mut [u8],
            stride: usize,
            mask: u8,
            added: &[u8],
            total: &mut [u8],
        ) {
            const ONE: usize = 16 * LANES;
            let width = width_of::<WHOLE>(keys);
            let bytes = added.len();
            let (bulk, whole) = (bytes / STEP * STEP, bytes / ONE * ONE);
            let block = |byte: usize| first.wrapping_add(byte as u64 / 16);
            let totals = |byte: usize| if WHOLE { byte } else { 0 };
            let (total_bulk, total) = total.split_at_mut(totals(bulk));
            let (total_ones, total_left) = total.split_at_mut(totals(whole - bulk));
            fold_steps::<C, V, STEP, WHOLE>(
                keys,
                first,
                &mut steps_of(columns, stride, width, 0..bulk),
                mask,
                added[..bulk].as_chunks().0,
                total_bulk.as_chunks_mut().0,
            );
            fold_steps::<C, 1, ONE, WHOLE>(
                keys,
                block(bulk),
                &mut steps_of(columns, stride, width, bulk..whole),
                mask,
                added[bulk..whole].as_chunks().0,
                total_ones.as_chunks_mut().0,
            );
            if whole < bytes {
                let left = bytes - whole;
                let mut padded = [[[0; ONE]; 1]; C];
                let (mut padded_added, mut padded_total) = ([[0; ONE]], [[0; ONE]]);
                padded_added[0][..left].copy_from_slice(&added[whole..]);
                fold_steps::<C, 1, ONE, WHOLE>(
                    keys,
                    block(whole),
                    &mut padded.each_mut().map(|column| &mut column[..]),
                    mask,
                    &padded_added,
                    &mut padded_total,
                );
                for (i, column) in padded[..width].iter().enumerate() {
                    columns[i * stride + whole..][..left].copy_from_slice(&column[0][..left]);
                }
                total_left.copy_from_slice(&padded_total[0][..total_left.len()]);
                padded.zeroize();
                padded_added.zeroize();
                padded_total.zeroize();
            }
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
                ($columns:literal, $vectors:expr) => {
                    fold_all::<$columns, { $vectors }, { 16 * LANES * $vectors }, true>(
                        keys, first, columns, stride, 0, added, total,
                    )
                };
            }
            match keys.len() {
                2 => run!(1, 2 * FOLD_VECTORS),
                4 => run!(2, FOLD_VECTORS),
                8 | 16 => run!(4, FOLD_VECTORS),
                _ => run!(8, FOLD_VECTORS),
            }
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
                ($columns:literal, $vectors:expr) => {
                    fold_all::<$columns, { $vectors }, { 16 * LANES * $vectors }, false>(
                        keys,
                        first,
                        columns,
                        stride,
                        mask,
                        added,
                        &mut [],
                    )
                };
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
