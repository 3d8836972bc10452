//! Other types of the same numbers, and other sharings of the same value.

use super::Secret;
use crate::element::{Fixed, FixedWord, Integer, Plain};
use crate::error::Source;
use crate::ir::{Op, Rounding, Unary};
use crate::lower::Sharing;

impl<T: Integer> Secret<T> {
    /// Casts numbers to another type of integers, as Rust's `as` does: high bits are cut off, or
    /// filled up with zeros, or, from signed types, with copies of the sign.
    #[track_caller]
    pub fn cast<U: Integer>(&self) -> Secret<U> {
        self.retyped()
    }

    /// Gives the numbers a fixed point: cast to the integers `W`, times 2^F, both of which may leave
    /// out high bits.
    #[track_caller]
    pub fn to_fixed<W: FixedWord, const F: u32>(&self) -> Secret<Fixed<W, F>> {
        let word: Secret<W> = self.retyped();
        let scaled: Secret<W> = word.unary(Unary::ShiftLeft(F));
        scaled.retyped()
    }
}

impl Secret<bool> {
    /// 1 where it is true, else 0.
    #[track_caller]
    pub fn cast<U: Integer>(&self) -> Secret<U> {
        self.retyped()
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    /// The numbers rounded down to integers.
    #[track_caller]
    pub fn floor(&self) -> Secret<W> {
        let rounding = Rounding::Exact;
        self.apply(Op::Truncate { by: F, rounding })
    }

    /// The integers that the numbers are kept in: 2^F times their values.
    #[track_caller]
    pub fn raw(&self) -> Secret<W> {
        self.retyped()
    }
}

impl<T: Plain> Secret<T> {
    /// Holds the value in a sharing, any that the program's [`Mix`](crate::lower::Mix) has: what is computed with it stays
    /// there where it can. Without this the mix decides, and where that has several sharings of bits, the plan.
    ///
    /// ```
    /// use madrigal_program::lower::{Mix, Sharing};
    /// use madrigal_program::{Everyone, Party, Program};
    /// let mut p = Program::new(3);
    /// let x = p.input::<u32>(Party::new(0), 100);
    /// // Shares are added in a garbled circuit; what comes of it becomes shares of bits without a message.
    /// let bits = (&x * &x).to(Sharing::Y).to(Sharing::B);
    /// p.open(bits, Everyone);
    /// let mix: Mix = "A+B+Y".parse()?;
    /// p.finish()?.plan(mix, None, &|_| {})?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn to(&self, sharing: Sharing) -> Self {
        self.apply(Op::To(sharing))
    }

    #[track_caller]
    fn retyped<U: Plain>(&self) -> Secret<U> {
        Secret::of(self.tensor.retyped(T::TYPE, U::TYPE, Source::here()))
    }
}
