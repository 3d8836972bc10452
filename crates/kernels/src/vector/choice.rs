//! Chooses the halves of a block to keep, where the processor has no masks of its own: by a vector that has ones in
//! the halves that are not to be kept.

/// Defines `Choice` for one level, with what [`three`](super::three) does with it. The module has expanded
/// [`garble`](super::garble) and has `swap_halves`; `low_halves`, the lower halves of the blocks of two vectors; `odd_words`,
/// all ones in each 64-bit word that is odd; and `and_not` of a vector and what it is not to keep.
macro_rules! masked_choices {
    ($features:literal) => {
        type Choice = Vector;

        /// Chooses one half of a block where the lowest bit of a is zero and the other where b's is, and crosswise.
        #[inline]
        #[target_feature(enable = $features)]
        fn colours(a: &[u8; VECTOR], b: &[u8; VECTOR]) -> [Choice; 2] {
            let each = odd_words(low_halves(load(a), load(b)));
            [each, swap_halves(each)]
        }

        /// Chooses a half where it has not the one bit that `bit` has there.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_at(x: Vector, bit: &[u8; VECTOR]) -> Choice {
            // Held: if the compiler knew that this is a comparison, it would make longer code of what follows.
            hold(test_bits(x, load(bit)))
        }

        /// Gives the choices of a bit, and those with the halves of blocks swapped.
        #[inline]
        #[target_feature(enable = $features)]
        fn choices_at(x: Vector, bit: &[u8; VECTOR]) -> [Choice; 2] {
            let choice = choice_at(x, bit);
            [choice, swap_halves(choice)]
        }

        /// Chooses what both choices keep, and what neither does.
        #[inline]
        #[target_feature(enable = $features)]
        fn choice_sum(a: Choice, b: Choice) -> Choice {
            xor_vectors(a, b)
        }

        /// Chooses what one choice keeps and the other does not.
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
