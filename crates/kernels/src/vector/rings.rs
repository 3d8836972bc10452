//! The ring operations: the portable loops compiled for a level's vectors, as in `super::rows`.

/// Defines the ring kernels for the target features of one level; `$words` multiplies matrices of 64 bits.
macro_rules! rings {
    ($features:literal, $words:path) => {
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

        #[target_feature(enable = $features)]
        pub(crate) fn add_into<T: madrigal_core::Ring>(z: &mut [T], x: &[T]) {
            crate::portable::add_into(z, x);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn sub_into<T: madrigal_core::Ring>(z: &mut [T], x: &[T]) {
            crate::portable::sub_into(z, x);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn mul_into<T: madrigal_core::Ring>(z: &mut [T], x: &[T]) {
            crate::portable::mul_into(z, x);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn replicated_products<T: madrigal_core::Ring>(
            x: [&[T]; 2],
            y: [&[T]; 2],
            minus: &[T],
            z: &mut [T],
        ) {
            crate::portable::replicated_products(x, y, minus, z);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn replicated_dots<T: madrigal_core::Ring>(
            x: [&[T]; 2],
            y: [&[T]; 2],
            length: usize,
            z: &mut [T],
        ) {
            crate::portable::replicated_dots(x, y, length, z);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn unpack_bits<T: madrigal_core::Ring>(bits: &[u8], z: &mut [T]) {
            crate::portable::unpack_bits(bits, z);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn pack_bits<T: madrigal_core::Ring>(x: &[T], bits: &mut [u8]) {
            crate::portable::pack_bits(x, bits);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn beaver_products<T: madrigal_core::Ring>(
            z: &mut [T],
            triples: [&[T]; 3],
            opened: [&[T]; 2],
            leader: bool,
        ) {
            crate::portable::beaver_products(z, triples, opened, leader);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn beaver_squares<T: madrigal_core::Ring>(
            z: &mut [T],
            pairs: [&[T]; 2],
            opened: &[T],
            leader: bool,
        ) {
            crate::portable::beaver_squares(z, pairs, opened, leader);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn beaver_dots<T: madrigal_core::Ring>(
            z: &mut [T],
            triples: [&[T]; 3],
            opened: [&[T]; 2],
            length: usize,
            leader: bool,
        ) {
            crate::portable::beaver_dots(z, triples, opened, length, leader);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn add_flipped<T: madrigal_core::Ring>(
            z: &mut [T],
            r: &[T],
            bits: &[u8],
            one: T,
            up: usize,
        ) {
            crate::portable::add_flipped(z, r, bits, one, up);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn flip_from<T: madrigal_core::Ring>(z: &mut [T], x: &[T], bits: &[u8]) {
            crate::portable::flip_from(z, x, bits);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn add_strings<T: madrigal_core::Ring>(z: &mut [u8], x: &[u8]) {
            crate::portable::add_strings::<T>(z, x);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn add_shifted<T: madrigal_core::Ring>(
            z: &mut [T],
            h: &[u8],
            down: usize,
            up: usize,
        ) {
            crate::portable::add_shifted(z, h, down, up);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn offer_strings<T: madrigal_core::Ring>(
            y: &[T],
            z: &mut [T],
            masks: crate::rings::Masks<'_>,
            bit: usize,
            out: &mut [u8],
        ) {
            crate::portable::offer_strings(y, z, masks, bit, out);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn correct_strings<T: madrigal_core::Ring>(
            x: T,
            bit: usize,
            unit: &[u8],
            z: &mut [T],
        ) {
            crate::portable::correct_strings(x, bit, unit, z);
        }
    };
}
pub(crate) use rings;
