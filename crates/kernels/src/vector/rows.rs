//! The row operations: the portable loops compiled for a level's vectors, which the compiler does
//! as well as hand-written code does (the loops have no carried dependence and exact bounds).

/// Defines the row kernels for the target features of one level.
macro_rules! rows {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub(crate) fn xor_into(dst: &mut [u8], src: &[u8]) {
            crate::portable::xor_into(dst, src);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn xor(dst: &mut [u8], a: &[u8], b: &[u8]) {
            crate::portable::xor(dst, a, b);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn and(dst: &mut [u8], a: &[u8], b: &[u8]) {
            crate::portable::and(dst, a, b);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn not_into(dst: &mut [u8]) {
            crate::portable::not_into(dst);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn beaver<const LEADER: bool>(
            z: &mut [u8],
            a: &[u8],
            b: &[u8],
            c: &[u8],
            d: &[u8],
            e: &[u8],
        ) {
            crate::portable::beaver::<LEADER>(z, a, b, c, d, e);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn local_rows(
            arena: &mut [u8],
            shape: crate::RowShape,
            ops: &[crate::LocalOp],
            leads: [bool; 2],
        ) {
            crate::portable::local_rows(arena, shape, ops, leads);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn replicated_sums(
            arena: &[u8],
            shape: crate::RowShape,
            steps: &[crate::SumStep],
            kept: &mut [u8],
            first: u32,
            z: &mut [u8],
        ) {
            crate::portable::replicated_sums(arena, shape, steps, kept, first, z);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn replicated_and(x: [&[u8]; 2], y: [&[u8]; 2], z: &mut [u8]) {
            crate::portable::replicated_and(x, y, z);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn replicated_carry(t: [&[u8]; 2], a: [&[u8]; 2], c: [&[u8]; 2], z: &mut [u8]) {
            crate::portable::replicated_carry(t, a, c, z);
        }
    };
}
pub(crate) use rows;
