//! Levels of GGM trees, written once for vectors of 1, 2 or 4 blocks. A module that expands [`ggm`]
//! has expanded [`super::modes::modes`] and defines `sigma` on its vectors.

/// Defines `ggm_expand` for one level of instructions.
macro_rules! ggm {
    ($features:literal) => {
        /// Vectors that hold one node of each tree.
        const GROUP: usize = crate::ggm::TREES / LANES;

        /// One node of each of [`STATES`] vectors: the sum of left children grows, the parents
        /// become their left children, which are returned with the right ones.
        #[inline]
        #[target_feature(enable = $features)]
        fn children(keys: &[Vector; 11], parents: States) -> (States, States) {
            let mut inner = parents;
            for x in &mut inner {
                *x = sigma(*x);
            }
            let left = xor_states(encrypt_states(keys, inner), &inner);
            (left, xor_states(parents, &left))
        }

        /// `nodes` are as many parents, which become left children, as places for right children;
        /// the result is the sum of the left children of each tree.
        #[target_feature(enable = $features)]
        pub(crate) fn ggm_expand(
            keys: &RoundKeys,
            nodes: &mut [Block],
        ) -> [Block; crate::ggm::TREES] {
            let keys = spread_keys(keys);
            let half = 8 * nodes.len();
            let (left, right) = blocks_as_bytes_mut(nodes).split_at_mut(half);
            let (left_batches, left_rest) = left.as_chunks_mut::<BYTES>();
            let (right_batches, right_rest) = right.as_chunks_mut::<BYTES>();
            let mut sums = [splat(Block::ZERO); STATES];
            for (left, right) in left_batches.iter_mut().zip(right_batches) {
                let (l, r) = children(&keys, load_states(left));
                store_states(left, &l);
                store_states(right, &r);
                sums = xor_states(sums, &l);
            }
            // The first levels have fewer nodes than a batch: all vectors in flight, some of them
            // idle.
            let used = left_rest.len() / (16 * LANES);
            if used > 0 {
                let mut parents = [splat(Block::ZERO); STATES];
                for (parent, bytes) in parents.iter_mut().zip(left_rest.as_chunks().0) {
                    *parent = load(bytes);
                }
                let (l, r) = children(&keys, parents);
                for i in 0..used {
                    store(&mut left_rest.as_chunks_mut().0[i], l[i]);
                    store(&mut right_rest.as_chunks_mut().0[i], r[i]);
                    sums[i] = xor_vectors(sums[i], l[i]);
                }
            }
            let mut out = [Block::ZERO; crate::ggm::TREES];
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
