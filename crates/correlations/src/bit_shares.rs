//! Random bits, shared mod 2^l and by the same shares as XOR.

use madrigal_core::{Ring, Zeroizing, bits};

use crate::columns::container;

container! {
    /// One party's shares of random bits, additive mod 2^l. The lowest bit of each share is the
    /// party's share of the same bit in an XOR sharing.
    SharedBits,
    /// Shares of some random bits.
    BitShares {
        /// Additive shares of the bits.
        b
    },
    1
}

impl<T> BitShares<'_, T> {
    /// The XOR shares of the same bits, packed; those past the end are zero.
    pub fn xor_shares(&self) -> Zeroizing<Vec<u8>>
    where
        T: Ring,
    {
        let mut packed = Zeroizing::new(vec![0; bits::bytes_for(self.b.len())]);
        lowest_bits(self.b, &mut packed);
        packed
    }
}

/// Packs the lowest bit of each value into all of `out`.
pub fn lowest_bits<T: Ring>(values: &[T], out: &mut [u8]) {
    for (byte, values) in out.iter_mut().zip(values.chunks(8)) {
        let bits = values.iter().enumerate();
        *byte = bits.fold(0, |byte, (i, value)| byte | value.bit(0) << i);
    }
}
