//! Operations on rows of bit-sliced lanes: byte strings of equal, arbitrary length and alignment.

use crate::Kernels;
use crate::dispatch::dispatch;

impl Kernels {
    /// [`xor_into`] at this handle's level.
    pub fn xor_into(self, dst: &mut [u8], src: &[u8]) {
        assert_lengths("xor_into", dst.len(), &[src]);
        dispatch!(self, xor_into(dst, src));
    }

    /// [`xor`] at this handle's level.
    pub fn xor(self, dst: &mut [u8], a: &[u8], b: &[u8]) {
        assert_lengths("xor", dst.len(), &[a, b]);
        dispatch!(self, xor(dst, a, b));
    }

    /// [`and`] at this handle's level.
    pub fn and(self, dst: &mut [u8], a: &[u8], b: &[u8]) {
        assert_lengths("and", dst.len(), &[a, b]);
        dispatch!(self, and(dst, a, b));
    }

    /// [`not_into`] at this handle's level.
    pub fn not_into(self, dst: &mut [u8]) {
        dispatch!(self, not_into(dst));
    }

    /// [`beaver_bits`] at this handle's level.
    #[allow(
        clippy::too_many_arguments,
        reason = "one row per letter of the formula"
    )]
    pub fn beaver_bits(
        self,
        z: &mut [u8],
        a: &[u8],
        b: &[u8],
        c: &[u8],
        d: &[u8],
        e: &[u8],
        leader: bool,
    ) {
        assert_lengths("beaver_bits", z.len(), &[a, b, c, d, e]);
        if leader {
            dispatch!(self, beaver::<true>(z, a, b, c, d, e));
        } else {
            dispatch!(self, beaver::<false>(z, a, b, c, d, e));
        }
    }
}

/// `dst ^= src`.
///
/// # Panics
/// If the rows differ in length; so do all functions here.
pub fn xor_into(dst: &mut [u8], src: &[u8]) {
    Kernels::detect().xor_into(dst, src);
}

/// `dst = a ^ b`.
pub fn xor(dst: &mut [u8], a: &[u8], b: &[u8]) {
    Kernels::detect().xor(dst, a, b);
}

/// `dst = a & b`.
pub fn and(dst: &mut [u8], a: &[u8], b: &[u8]) {
    Kernels::detect().and(dst, a, b);
}

/// `dst = !dst`. Padding bits of the last byte are inverted too.
pub fn not_into(dst: &mut [u8]) {
    Kernels::detect().not_into(dst);
}

/// One party's share of a product of shared bits, from a multiplication triple, in one pass:
/// `z = c ^ (d & b) ^ (e & a)`, and for the one `leader` among the parties also `^ (d & e)`.
///
/// `a`, `b`, `c` are this party's shares of the triple (`c = a & b` over all parties); `d = x ^ a`
/// and `e = y ^ b` are the opened, hence public, differences (MOTION, section 6.2; Beaver 1991).
pub fn beaver_bits(z: &mut [u8], a: &[u8], b: &[u8], c: &[u8], d: &[u8], e: &[u8], leader: bool) {
    Kernels::detect().beaver_bits(z, a, b, c, d, e, leader);
}

fn assert_lengths(operation: &str, expected: usize, rows: &[&[u8]]) {
    for row in rows {
        assert_eq!(
            row.len(),
            expected,
            "{operation}: the output row has {expected} bytes, an input row {}",
            row.len()
        );
    }
}
