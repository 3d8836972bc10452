//! Widths of rings.

use madrigal_core::Ring;

/// Width of a ring Z_2^l.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// l = 8.
    W8,
    /// l = 16.
    W16,
    /// l = 32.
    W32,
    /// l = 64.
    W64,
    /// l = 128.
    W128,
}

impl Width {
    /// All widths, in order.
    pub const ALL: [Self; 5] = [Self::W8, Self::W16, Self::W32, Self::W64, Self::W128];

    /// l, in bits.
    pub const fn bits(self) -> usize {
        8 << self as usize
    }

    /// Gives the width of `T`.
    pub fn of<T: Ring>() -> Self {
        Self::ALL[T::BYTES.ilog2() as usize]
    }

    /// Finds the width of `bits` bits, if a ring has it.
    pub fn of_bits(bits: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bits() == bits)
    }
}

/// Evaluates `$body` with the type `$ring` of a width.
#[macro_export]
macro_rules! with_ring {
    ($width:expr, $ring:ident => $body:expr) => {
        match $width {
            $crate::Width::W8 => {
                type $ring = u8;
                $body
            }
            $crate::Width::W16 => {
                type $ring = u16;
                $body
            }
            $crate::Width::W32 => {
                type $ring = u32;
                $body
            }
            $crate::Width::W64 => {
                type $ring = u64;
                $body
            }
            $crate::Width::W128 => {
                type $ring = u128;
                $body
            }
        }
    };
}

pub(crate) use with_ring;
