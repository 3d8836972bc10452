//! The scans of [`crate::ggm`] and the sums of [`crate::lpn`]: the portable loops compiled for a
//! level's vectors.

/// Defines `ggm_correct`, `ggm_mark` and `lpn_gather` for the target features of one level.
macro_rules! lpn {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub(crate) fn ggm_correct(
            nodes: &mut [Block],
            places: &[u64; crate::sizes::TREES],
            corrections: &[Block; crate::sizes::TREES],
        ) {
            crate::portable::ggm_correct(nodes, places, corrections);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn ggm_mark(nodes: &mut [Block], places: &[u64; crate::sizes::TREES]) {
            crate::portable::ggm_mark(nodes, places);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn lpn_gather(
            stream: &mut [[u32; crate::sizes::LOCALITY]],
            table: &[Block],
            rows: &mut [Block],
        ) {
            crate::portable::lpn_gather(stream, table, rows);
        }
    };
}
pub(crate) use lpn;
