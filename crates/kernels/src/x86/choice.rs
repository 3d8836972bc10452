//! What to keep of each 64-bit word, as how far to shift it: not at all, or out.

/// Defines `Choice` and what makes and uses it on vectors of so many bytes, by a shift of words by
/// as many counts, one of all by the same, and a blend of 32-bit words.
macro_rules! shifted_choices {
    ($features:literal, $bytes:literal, $shift:ident, $all:ident, $blend:ident, $halves:literal) => {
        type Choice = Vector;
        use crate::garble::SHIFTS as PLACES;

        /// The lower half of each block of `lo`, the upper one of `hi`.
        #[inline]
        #[target_feature(enable = $features)]
        fn blend_halves(lo: Vector, hi: Vector) -> Vector {
            $blend::<$halves>(lo, hi)
        }

        /// To keep a word where the block's lowest bit is zero.
        #[inline]
        #[target_feature(enable = $features)]
        fn colour(x: &[u8; $bytes]) -> Choice {
            hold($all::<63>(low_twice(x)))
        }

        /// To keep one half of a block where that bit of a is zero and the other where b's is, and crosswise.
        #[inline]
        #[target_feature(enable = $features)]
        fn colours(a: &[u8; $bytes], b: &[u8; $bytes]) -> [Choice; 2] {
            let (a, b) = (colour(a), colour(b));
            [blend_halves(a, b), blend_halves(b, a)]
        }

        /// To keep a word where it has no bit at the place.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_at(x: Vector, place: &[u8; $bytes]) -> Choice {
            // The bit becomes the highest, and nothing stays below it.
            let highest = bits(1 << 63, 1 << 63);
            and_vectors(hold($shift(x, load(place))), highest)
        }

        /// That, and with the halves of blocks swapped.
        #[inline]
        #[target_feature(enable = $features)]
        fn choices_at(x: Vector, place: &[u8; $bytes]) -> [Choice; 2] {
            let choice = choice_at(x, place);
            [choice, swap_halves(choice)]
        }

        /// To keep what both choices keep, and what neither does.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_sum(a: Choice, b: Choice) -> Choice {
            xor_vectors(a, b)
        }

        /// To keep what one choice keeps and the other does not.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_difference(a: Choice, b: Choice) -> Choice {
            xor_vectors(choice_sum(a, b), bits(1 << 63, 1 << 63))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn chosen(choice: Choice, x: Vector) -> Vector {
            $shift(x, choice)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn xor_chosen(x: Vector, choice: Choice, y: Vector) -> Vector {
            xor_vectors(x, chosen(choice, y))
        }
    };
}
pub(super) use shifted_choices;
