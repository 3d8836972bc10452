//! The folding of streams, written once for vectors of 1, 2 or 4 blocks; `crate::fold` says what it
//! is. Expanded beside [`modes`](super::modes), whose helpers it takes, with `spread`, a block from memory
//! in all lanes.
//!
//! Leaves go two at a time: `2 * FOLD_VECTORS` independent AES states keep the units busy. They come in
//! Gray order, backwards, and each is added to a running sum of all before it, which serves as the round key
//! of its last round: so this addition is part of an AES instruction. A column is the sum of the leaves that have
//! its bit set; in this order these are runs of neighbours, so the column takes the running sum from before
//! and after each run, and every leaf but 0 costs one addition to a column. The highest column is a single
//! run, from the first leaf on: the running sum starts with what is to be added to it, which cancels out in
//! all other columns. The last round keys are added to the columns apart ([`LastKeys`](crate::fold::LastKeys)).
//!
//! All branches and places are by the number of the leaf. Code that the compiler would not inline is a macro, and
//! loops are over indices, lest states go through memory.

/// Defines `fold_whole` and `fold_punctured` for one level.
macro_rules! fold {
    ($features:literal) => {
        /// Vectors of each of two leaves in flight.
        const FOLD_VECTORS: usize = 4;

        #[inline]
        #[target_feature(enable = $features)]
        fn add<const V: usize>(sum: &mut [Vector; V], x: &[Vector; V]) {
            for i in 0..V {
                sum[i] = xor_vectors(sum[i], x[i]);
            }
        }

        /// Gives the same vectors, which must be ready here: the compiler would otherwise keep states in order to
        /// finish them later, which takes more registers than there are.
        #[inline]
        #[target_feature(enable = $features)]
        fn hold_all<const V: usize>(x: &mut [Vector; V]) {
            if REGISTERS < 32 || LANES == 1 {
                for i in 0..V {
                    x[i] = hold(x[i]);
                }
            }
        }

        /// The last round of a leaf, which adds its stream, but for the last round key, to the sum.
        #[inline]
        #[target_feature(enable = $features)]
        fn finish<const V: usize>(sum: &mut [Vector; V], states: &[Vector; V]) {
            for i in 0..V {
                sum[i] = last_round(states[i], sum[i]);
            }
        }

        /// V vectors of counters, encrypted but for the last round under the keys of each of `$leaves` leaves.
        macro_rules! nine_rounds {
            ($leaves:literal, $keys:expr, $counters:expr) => {{
                let keys: [&RoundKeys; $leaves] = $keys;
                let mut states = [$counters; $leaves];
                for leaf in 0..$leaves {
                    let key = spread(&keys[leaf][0]);
                    for i in 0..V {
                        states[leaf][i] = xor_vectors(states[leaf][i], key);
                    }
                }
                // Written out: the compiler does not unroll a loop here, and adds scalar work to
                // every round.
                macro_rules! next_round {
                    ($r:literal) => {
                        for leaf in 0..$leaves {
                            let key = spread(&keys[leaf][$r]);
                            for i in 0..V {
                                states[leaf][i] = round(states[leaf][i], key);
                            }
                        }
                        // Else the compiler takes the states one after the other; vectors of
                        // several blocks do better where it may choose within three rounds.
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
                states
            }};
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

        /// Folds these bytes of the first `width` columns, in steps.
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
            last: &LastKeys,
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
            let top = if C <= 2 { C - 1 } else { width_of(keys) - 1 };
            let (start, pairs) = keys.split_at(if WHOLE { 2 } else { 1 });
            let pairs = pairs.as_chunks::<2>().0;
            assert_eq!(pairs.len(), (1 << top) - 1, "all leaves, or all but one");
            let zero = splat(Block::ZERO);
            let (mut masks, mut last_keys) = ([zero; C], [zero; C]);
            for i in 0..=top {
                masks[i] = splat(Block::mask(mask >> i & 1 == 1));
                last_keys[i] = spread(&last.columns[i]);
            }
            let (mut top_mask, mut top_key) = (masks[top], last_keys[top]);
            (masks[top], last_keys[top]) = (zero, zero);
            let mut sums = [[zero; V]; C];
            let mut block = first;
            for (step, added) in added.iter().enumerate() {
                let mut counters = [counters(block, 0); V];
                for i in 1..V {
                    counters[i] = add_counter(counters[i - 1], LANES as i64);
                }
                block = block.wrapping_add((STEP / 16) as u64);
                let added = load_step::<V, STEP>(added);
                let mut sum = [top_key; V];
                for v in 0..V {
                    for i in 0..C {
                        sums[i][v] = last_keys[i];
                        if !WHOLE {
                            let added = and_vectors(added[v], masks[i]);
                            sums[i][v] = xor_vectors(last_keys[i], added);
                        }
                    }
                    if !WHOLE {
                        sum[v] = xor_vectors(top_key, and_vectors(added[v], top_mask));
                    }
                }
                /// Two leaves. Bit 0 changes between them, bit `$changed` after them.
                macro_rules! add_pair {
                    ($first:expr, $second:expr, $changed:expr) => {
                        let [a, b] = nine_rounds!(2, [$first, $second], counters);
                        finish(&mut sum, &a);
                        add(&mut sums[0], &sum);
                        hold_all(&mut sums[0]);
                        finish(&mut sum, &b);
                        hold_all(&mut sum);
                        let changed: usize = $changed;
                        add(&mut sums[changed], &sum);
                        hold_all(&mut sums[changed]);
                    };
                }
                /// Two leaves of the last sixteen, the `$n`-th from the end.
                macro_rules! add_two {
                    ($n:literal) => {
                        let [a, b] = &pairs[($n ^ $n >> 1) - 1];
                        let [a, b] = if $n % 2 == 0 { [b, a] } else { [a, b] };
                        add_pair!(a, b, 1 + usize::trailing_zeros($n) as usize);
                    };
                }
                if C > 4 {
                    for group in (1..pairs.len().div_ceil(8)).rev() {
                        // Sixteen leaves; in every second group the halves change places.
                        let halves = pairs[8 * (group ^ group >> 1) - 1..][..8]
                            .as_chunks::<4>()
                            .0;
                        let [a, b, c, d] = &halves[1 - group % 2];
                        add_pair!(&a[0], &a[1], 1);
                        add_pair!(&b[1], &b[0], 2);
                        add_pair!(&d[0], &d[1], 1);
                        add_pair!(&c[1], &c[0], 3);
                        let [a, b, c, d] = &halves[group % 2];
                        add_pair!(&c[0], &c[1], 1);
                        add_pair!(&d[1], &d[0], 2);
                        add_pair!(&b[0], &b[1], 1);
                        add_pair!(&a[1], &a[0], 4 + group.trailing_zeros() as usize);
                    }
                }
                if C >= 4 && pairs.len() >= 7 {
                    add_two!(7);
                    add_two!(6);
                    add_two!(5);
                    add_two!(4);
                }
                if C >= 4 && pairs.len() >= 3 {
                    add_two!(3);
                    add_two!(2);
                }
                // Leaves 2, 3, 1 and 0, as many as there are: the last three together.
                if let [a, b] = start {
                    if C > 1 {
                        add_two!(1);
                    }
                    let [a, b] = nine_rounds!(2, [a, b], counters);
                    finish(&mut sum, &b);
                    add(&mut sums[0], &sum);
                    finish(&mut sum, &a);
                    let rest = xor_vectors(top_key, spread(&last.total));
                    for v in 0..V {
                        sum[v] = xor_vectors(sum[v], xor_vectors(added[v], rest));
                    }
                    store_step(&mut total[step], &sum);
                } else if C > 1
                    && let ([b], [[c, d], ..]) = (start, pairs)
                {
                    let [c, d, b] = nine_rounds!(3, [c, d, b], counters);
                    finish(&mut sum, &c);
                    add(&mut sums[0], &sum);
                    finish(&mut sum, &d);
                    add(&mut sums[1], &sum);
                    finish(&mut sum, &b);
                    add(&mut sums[0], &sum);
                } else if let [b] = start {
                    let [b] = nine_rounds!(1, [b], counters);
                    finish(&mut sum, &b);
                    add(&mut sums[0], &sum);
                }
                for i in 0..C {
                    if i <= top {
                        store_step(&mut columns[i][step], &sums[i]);
                    }
                }
            }
            if C > 4 {
                // Fewer live in registers, as far as there are.
                sums = [[zero; V]; C];
                zeroize::optimization_barrier(&sums);
            }
            // A barrier for each: one for a tuple of them would be for a copy.
            (masks, last_keys) = ([zero; C], [zero; C]);
            zeroize::optimization_barrier(&masks);
            zeroize::optimization_barrier(&last_keys);
            (top_mask, top_key) = (zero, zero);
            zeroize::optimization_barrier(&top_mask);
            zeroize::optimization_barrier(&top_key);
        }

        /// Width of a tree that is whole or lacks leaf 0.
        fn width_of(keys: &[RoundKeys]) -> usize {
            (keys.len() + 1).ilog2() as usize
        }

        /// All bytes: in steps of V vectors, then of one, then what is left.
        #[allow(
            clippy::too_many_arguments,
            reason = "two kernels in one: one has no mask, the other no total"
        )]
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_all<const C: usize, const V: usize, const STEP: usize, const WHOLE: bool>(
            keys: &[RoundKeys],
            last: &LastKeys,
            first: u64,
            columns: &mut [u8],
            stride: usize,
            mask: u8,
            added: &[u8],
            total: &mut [u8],
        ) {
            const ONE: usize = 16 * LANES;
            let width = width_of(keys);
            let bytes = added.len();
            let (bulk, whole) = (bytes / STEP * STEP, bytes / ONE * ONE);
            let block = |byte: usize| first.wrapping_add(byte as u64 / 16);
            let totals = |byte: usize| if WHOLE { byte } else { 0 };
            let (total_bulk, total) = total.split_at_mut(totals(bulk));
            let (total_ones, total_left) = total.split_at_mut(totals(whole - bulk));
            fold_steps::<C, V, STEP, WHOLE>(
                keys,
                last,
                first,
                &mut steps_of(columns, stride, width, 0..bulk),
                mask,
                added[..bulk].as_chunks().0,
                total_bulk.as_chunks_mut().0,
            );
            fold_steps::<C, 1, ONE, WHOLE>(
                keys,
                last,
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
                    last,
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
            last: &LastKeys,
            first: u64,
            columns: &mut [u8],
            stride: usize,
            added: &[u8],
            total: &mut [u8],
        ) {
            macro_rules! run {
                ($columns:literal) => {
                    fold_all::<$columns, FOLD_VECTORS, { 16 * LANES * FOLD_VECTORS }, true>(
                        keys, last, first, columns, stride, 0, added, total,
                    )
                };
            }
            match keys.len() {
                2 => run!(1),
                4 => run!(2),
                8 | 16 => run!(4),
                _ => run!(8),
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn fold_punctured(
            keys: &[RoundKeys],
            last: &LastKeys,
            first: u64,
            columns: &mut [u8],
            stride: usize,
            mask: u8,
            added: &[u8],
        ) {
            macro_rules! run {
                ($columns:literal) => {
                    fold_all::<$columns, FOLD_VECTORS, { 16 * LANES * FOLD_VECTORS }, false>(
                        keys,
                        last,
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
                1 => run!(1),
                3 => run!(2),
                7 | 15 => run!(4),
                _ => run!(8),
            }
        }
    };
}
pub(crate) use fold;
