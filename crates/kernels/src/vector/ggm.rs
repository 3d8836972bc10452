//! Levels of GGM trees, written once for vectors of 1, 2 or 4 blocks. A module that expands [`ggm`]
//! has expanded [`super::modes::modes`] and defines `sigma` on its vectors.

/// Defines `ggm_expand` for one level of instructions.
macro_rules! ggm {
    ($features:literal) => {
        /// Vectors that hold one node of each tree.
        const GROUP: usize = crate::sizes::TREES / LANES;

        /// The left children of a batch of parents, and the right ones.
        macro_rules! children {
            ($keys:expr, $ends:expr, $parents:expr) => {{
                let parents = $parents;
                let mut inner = load_states(parents);
                for i in 0..STATES {
                    inner[i] = sigma(inner[i]);
                }
                let mut left = encrypted!($keys, $ends, inner);
                // Parents are read again with few registers, as in `hashed!`.
                let parents = if REGISTERS < 32 {
                    crate::opaque::again(parents)
                } else {
                    parents
                };
                let mut right = load_states(parents);
                for i in 0..STATES {
                    left[i] = xor_vectors(left[i], sigma(right[i]));
                    right[i] = xor_vectors(right[i], left[i]);
                }
                (left, right)
            }};
        }

        /// `nodes` are as many parents, which become left children, as places for right children;
        /// the result is the sum of the left children of each tree.
        #[target_feature(enable = $features)]
        pub(crate) fn ggm_expand(
            keys: &RoundKeys,
            nodes: &mut [Block],
        ) -> [Block; crate::sizes::TREES] {
            let ends = ends(keys, Block::ZERO);
            let half = 8 * nodes.len();
            let (left, right) = blocks_as_bytes_mut(nodes).split_at_mut(half);
            let (left_batches, left_rest) = left.as_chunks_mut::<BYTES>();
            let (right_batches, right_rest) = right.as_chunks_mut::<BYTES>();
            let mut sums = [splat(Block::ZERO); STATES];
            for (left, right) in left_batches.iter_mut().zip(right_batches) {
                let (l, r) = children!(keys, ends, &*left);
                store_states(left, &l);
                store_states(right, &r);
                sums = xor_states(sums, &l);
            }
            // The first levels have fewer nodes than a batch: all vectors in flight, some of them
            // idle.
            let used = left_rest.len() / (16 * LANES);
            if used > 0 {
                let mut parents = [0; BYTES];
                parents[..left_rest.len()].copy_from_slice(left_rest);
                let (l, r) = children!(keys, ends, &parents);
                for i in 0..used {
                    store(&mut left_rest.as_chunks_mut().0[i], l[i]);
                    store(&mut right_rest.as_chunks_mut().0[i], r[i]);
                    sums[i] = xor_vectors(sums[i], l[i]);
                }
                parents.zeroize();
            }
            let mut out = [Block::ZERO; crate::sizes::TREES];
            for (i, out) in blocks_as_bytes_mut(&mut out)
                .as_chunks_mut()
                .0
                .iter_mut()
                .enumerate()
            {
                let mut sum = sums[i];
                for j in 1..STATES / GROUP {
                    sum = xor_vectors(sum, sums[i + j * GROUP]);
                }
                store(out, sum);
            }
            out
        }
    };
}
pub(crate) use ggm;
