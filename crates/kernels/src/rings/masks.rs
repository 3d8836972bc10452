//! Masks of OTs, which Gilboa products take.

/// The sender's stretched masks of two OTs per product: those of bit `near` and those of bit
/// l - `near` of the receiver's factor.
#[derive(Clone, Copy)]
pub struct Masks<'a> {
    /// h_0 and h_1 of the lower bit.
    pub near: [&'a [u8]; 2],
    /// h_0 and h_1 of the higher bit, after a shift down.
    pub far: [&'a [u8]; 2],
    /// Shift of `far`, in bits: two products may share a word, because few bits of it count.
    pub far_down: usize,
}
