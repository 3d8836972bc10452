//! CRC-32 by carry-less products, see [`crate::crc`], written once for vectors of 1, 2 or 4 blocks. A
//! module that expands [`crc`] has expanded [`super::modes::modes`] and defines `fold_halves` on its
//! vectors: the sum of the carry-less products of the lower halves of each block and of the upper ones.

/// Defines `crc32` for one level, which leaves what fills no vector to module `$single`, an expansion
/// of [`single_crc`].
macro_rules! crc {
    ($features:literal, $single:ident) => {
        /// See [`crate::portable::crc32`].
        #[target_feature(enable = $features)]
        pub(crate) fn crc32(lead: u128, spill: u32, blocks: &[[u8; 16]]) -> u32 {
            const NEAR: Block = crate::crc::factors(LANES);
            let lead = Block::from(lead);
            let Some((first, rest)) = blocks.split_first() else {
                return $single::crc_reduce(lead) ^ spill;
            };
            let first = $single::crc_fold(lead, &[*first]) ^ Block::new(spill.into(), 0);
            let bytes = blocks.as_flattened();
            let Some((vector, vectors)) = bytes.split_first_chunk::<{ 16 * LANES }>() else {
                return $single::crc_reduce($single::crc_fold(first, rest));
            };
            let mut vector = *vector;
            vector[..16].copy_from_slice(&first.to_bytes());
            let (mut sum, mut rest) = (load(&vector), vectors);
            if let Some((batch, batches)) = rest.split_first_chunk::<BYTES>() {
                // The first vector is alone; the batches begin after it.
                (sum, rest) = crc_batches(sum, batch, batches);
            }
            let (vectors, rest) = rest.as_chunks();
            let near = splat(NEAR);
            for vector in vectors {
                sum = xor_vectors(fold_halves(sum, near), load(vector));
            }
            let mut lanes = [0; 16 * LANES];
            store(&mut lanes, sum);
            let sum = $single::crc_join::<LANES>(lanes.as_chunks().0);
            $single::crc_reduce($single::crc_fold(sum, rest.as_chunks().0))
        }

        /// Folds the vector `sum` into the batches after it, the batches into one vector. Also returns
        /// what fills no batch.
        #[inline]
        #[target_feature(enable = $features)]
        fn crc_batches<'a>(sum: Vector, first: &[u8; BYTES], rest: &'a [u8]) -> (Vector, &'a [u8]) {
            const NEAR: Block = crate::crc::factors(LANES);
            const FAR: Block = crate::crc::factors(BATCH);
            const TO_LAST: [Block; STATES] = crate::crc::factors_to_last(LANES);
            let (batches, rest) = rest.as_chunks();
            let mut sums = load_states(first);
            sums[0] = xor_vectors(sums[0], fold_halves(sum, splat(NEAR)));
            let far = splat(FAR);
            for batch in batches {
                let batch = load_states(batch);
                for (sum, next) in sums.iter_mut().zip(&batch) {
                    *sum = xor_vectors(fold_halves(*sum, far), *next);
                }
            }
            let mut sum = sums[STATES - 1];
            for (factors, before) in TO_LAST.iter().zip(&sums[..STATES - 1]) {
                sum = xor_vectors(sum, fold_halves(*before, splat(*factors)));
            }
            (sum, rest)
        }
    };
}
pub(crate) use crc;

/// Defines `crc_fold`, `crc_join` and `crc_reduce` for one block per vector, on which `multiply` is the
/// carry-less product of two words.
macro_rules! single_crc {
    ($features:literal) => {
        /// Folds `sum` into the blocks after it, down to the last one.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn crc_fold(sum: Block, blocks: &[[u8; 16]]) -> Block {
            const NEXT: Block = crate::crc::factors(1);
            let next = splat(NEXT);
            let mut sum = splat(sum);
            for block in blocks {
                sum = xor_vectors(fold_halves(sum, next), load(block));
            }
            let mut bytes = [0; 16];
            store(&mut bytes, sum);
            Block::from_bytes(bytes)
        }

        /// Folds the blocks of a vector into the last one: all at once, not one after the other.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn crc_join<const N: usize>(blocks: &[[u8; 16]]) -> Block {
            let mut sum = load(&blocks[N - 1]);
            let factors = const { crate::crc::factors_to_last::<N>(1) };
            for (block, factors) in blocks[..N - 1].iter().zip(factors) {
                sum = xor_vectors(sum, fold_halves(load(block), splat(factors)));
            }
            let mut bytes = [0; 16];
            store(&mut bytes, sum);
            Block::from_bytes(bytes)
        }

        /// The remainder of a block, after which 32 zeros are thought.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn crc_reduce(sum: Block) -> u32 {
            crate::crc::reduce(sum, |a, b| multiply(a, b))
        }
    };
}
pub(crate) use single_crc;
