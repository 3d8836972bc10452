//! The name of a store.

use madrigal_correlations::ID_BYTES;

/// Name of a store at all its parties: random, the same at all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreId(pub(crate) [u8; ID_BYTES]);

/// The first 16 of 64 hexadecimal digits: for people.
impl std::fmt::Display for StoreId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..8]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl StoreId {
    /// All bytes of the name.
    pub fn to_bytes(self) -> [u8; ID_BYTES] {
        self.0
    }
}

impl std::fmt::Debug for StoreId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoreId({self})")
    }
}
