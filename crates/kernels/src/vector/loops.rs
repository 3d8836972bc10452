//! The portable loops on rows, ring elements, labels and correlations, compiled for a level's vectors. The compiler does
//! them as well as hand-written code does: they have no carried dependence and exact bounds.

/// Defines functions of the same names and arguments as in [`crate::portable`], with the target features of one level;
/// after `T`, functions that are generic over a ring T.
macro_rules! compiled {
    ($features:literal; $($name:ident($($argument:ident: $type:ty),*);)*) => { $(
        #[target_feature(enable = $features)]
        pub(crate) fn $name($($argument: $type),*) {
            crate::portable::$name($($argument),*);
        }
    )* };
    ($features:literal, T; $($name:ident($($argument:ident: $type:ty),*);)*) => { $(
        #[target_feature(enable = $features)]
        pub(crate) fn $name<T: madrigal_core::Ring>($($argument: $type),*) {
            crate::portable::$name::<T>($($argument),*);
        }
    )* };
}
pub(crate) use compiled;

/// Defines the kernels on rows of bits and of labels for the target features of one level.
macro_rules! rows {
    ($features:literal) => {
        $crate::vector::loops::compiled! { $features;
            xor_into(dst: &mut [u8], src: &[u8]);
            xor(dst: &mut [u8], a: &[u8], b: &[u8]);
            and(dst: &mut [u8], a: &[u8], b: &[u8]);
            not_into(dst: &mut [u8]);
            local_rows(arena: &mut [u8], shape: crate::RowShape, ops: &[crate::LocalOp], leads: [bool; 2]);
            replicated_sums(
                arena: &[u8], shape: crate::RowShape, steps: &[crate::SumStep], kept: &mut [u8], first: u32, z: &mut [u8]
            );
            replicated_and(x: [&[u8]; 2], y: [&[u8]; 2], z: &mut [u8]);
            replicated_carry(t: [&[u8]; 2], a: [&[u8]; 2], c: [&[u8]; 2], z: &mut [u8]);
            label_rows(arena: &mut [Block], lanes: usize, ops: crate::LabelOps<'_>);
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
    };
}
pub(crate) use rows;

/// Defines the kernels on ring elements for the target features of one level; `$words` multiplies matrices of 64 bits.
macro_rules! rings {
    ($features:literal, $words:path) => {
        $crate::vector::loops::compiled! { $features, T;
            add_into(z: &mut [T], x: &[T]);
            sub_into(z: &mut [T], x: &[T]);
            mul_into(z: &mut [T], x: &[T]);
            replicated_products(x: [&[T]; 2], y: [&[T]; 2], minus: &[T], z: &mut [T]);
            replicated_dots(x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]);
            unpack_bits(bits: &[u8], z: &mut [T]);
            pack_bits(x: &[T], bits: &mut [u8]);
            beaver_products(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], leader: bool);
            beaver_squares(z: &mut [T], pairs: [&[T]; 2], opened: &[T], leader: bool);
            beaver_dots(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], length: usize, leader: bool);
            add_flipped(z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize);
            flip_from(z: &mut [T], x: &[T], bits: &[u8]);
            add_strings(z: &mut [u8], x: &[u8]);
            add_shifted(z: &mut [T], h: &[u8], down: usize, up: usize);
            offer_strings(y: &[T], z: &mut [T], masks: crate::rings::Masks<'_>, bit: usize, out: &mut [u8]);
            correct_strings(x: T, bit: usize, unit: &[u8], z: &mut [T]);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn multiply_add<T: madrigal_core::Ring>(
            x: &[T],
            y: &[T],
            z: &mut [T],
            inner: usize,
            columns: usize,
        ) {
            if let Some([x, y]) = crate::rings::as_words([x, y])
                && let Some(z) = crate::rings::as_words_mut(z)
            {
                $words(x, y, z, inner, columns);
            } else {
                crate::portable::multiply_add(x, y, z, inner, columns);
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn multiply_registers(x: u64, times: usize) -> u64 {
            crate::portable::multiply_registers(x, times)
        }
    };
}
pub(crate) use rings;

/// Defines the scans of [`crate::ggm`] and the sums of [`crate::lpn`] for the target features of one level.
macro_rules! lpn {
    ($features:literal) => {
        $crate::vector::loops::compiled! { $features;
            ggm_correct(
                nodes: &mut [Block], places: &[u64; crate::sizes::TREES], corrections: &[Block; crate::sizes::TREES]
            );
            ggm_mark(nodes: &mut [Block], places: &[u64; crate::sizes::TREES]);
            ggm_add_blocks(nodes: &mut [Block], places: &[u64; crate::sizes::TREES], values: &[Block; crate::sizes::TREES]);
            ggm_add_words(nodes: &mut [u64], places: &[u64; crate::sizes::TREES], values: &[u64; crate::sizes::TREES]);
            lpn_gather_blocks(stream: &mut [[u32; crate::sizes::LOCALITY]], table: &[Block], rows: &mut [Block]);
            lpn_gather_words(stream: &mut [[u32; crate::sizes::LOCALITY]], table: &[u64], rows: &mut [u64]);
        }
    };
}
pub(crate) use lpn;

/// Defines the sums of [`crate::band`] for the target features of one level.
macro_rules! band {
    ($features:literal) => {
        $crate::vector::loops::compiled! { $features;
            band_sums_words(store: &[u64], bands: &[crate::columns::Band], out: &mut [u64]);
            band_sums_blocks(store: &[Block], bands: &[crate::columns::Band], out: &mut [Block]);
            band_solve_words(store: &mut [u64], slots: &[crate::columns::Slot<u64>]);
            band_solve_blocks(store: &mut [Block], slots: &[crate::columns::Slot<Block>]);
        }
    };
}
pub(crate) use band;

/// Defines the products of [`crate::field`] for one level, with the carry-less product `$multiply` of two words.
macro_rules! field {
    ($features:literal, $multiply:path) => {
        #[target_feature(enable = $features)]
        pub(crate) fn field_add_blocks(factor: Block, x: &[Block], out: &mut [Block]) {
            for (&x, out) in x.iter().zip(out) {
                *out ^= crate::field::product(factor, x, |a, b| $multiply(a, b));
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn field_add_words(factor: Block, x: &[u64], out: &mut [Block]) {
            for (&x, out) in x.iter().zip(out) {
                *out ^= crate::field::scaled(factor, x, |a, b| $multiply(a, b));
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn field_inner_blocks(factors: &[Block], x: &[Block]) -> Block {
            crate::field::inner_blocks(factors, x, |a, b| $multiply(a, b))
        }

        #[target_feature(enable = $features)]
        pub(crate) fn field_inner_words(factors: &[Block], x: &[u64]) -> Block {
            crate::field::inner_words(factors, x, |a, b| $multiply(a, b))
        }
    };
}
pub(crate) use field;
