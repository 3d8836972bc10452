//! What to keep of each half of a block, where the processor has no masks of its own: as a vector that has ones in
//! the halves that are not to be kept.

/// Defines `Choice` for one level, with what [`three`](super::three) makes of it. The module has `low_halves`, the lower
/// halves of the blocks of two vectors; `odd_words`, all ones in each 64-bit word that is odd; `blend_halves`; and
/// `and_not` of a vector and what it is not to keep.
macro_rules! masked_choices {
    ($features:literal) => {
        use crate::garble::BITS as PLACES;

        type Choice = Vector;

        /// To keep one half of a block where the lowest bit of a is zero and the other where b's is, and crosswise.
        #[inline]
        #[target_feature(enable = $features)]
        fn colours(a: &[u8; VECTOR], b: &[u8; VECTOR]) -> [Choice; 2] {
            let each = odd_words(low_halves(load(a), load(b)));
            [each, swap_halves(each)]
        }

        /// To keep a half where it has no bit at the place.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_at(x: Vector, place: &[u8; VECTOR]) -> Choice {
            // Held: of what follows the compiler would make longer code for comparisons.
            hold(test_bits(x, load(place)))
        }

        /// That, and with the halves of blocks swapped.
        #[inline]
        #[target_feature(enable = $features)]
        fn choices_at(x: Vector, place: &[u8; VECTOR]) -> [Choice; 2] {
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
            xor_vectors(choice_sum(a, b), splat(Block::ONES))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn chosen(choice: Choice, x: Vector) -> Vector {
            and_not(x, choice)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn xor_chosen(x: Vector, choice: Choice, y: Vector) -> Vector {
            xor_vectors(x, chosen(choice, y))
        }
    };
}
pub(crate) use masked_choices;
