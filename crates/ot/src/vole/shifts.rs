//! Public shifts of errors, one for each group of trees, in the order of the groups.

use madrigal_kernels::{Block, Element, Prg};

/// The shifts of a checked instance, or none.
pub(super) struct Shifts(Option<Prg>);

impl Shifts {
    /// The shifts of a seed; of no bytes, none.
    pub(super) fn new(seed: &[u8]) -> Self {
        let seed = seed.first_chunk().map(|seed| Block::from_bytes(*seed));
        // Number 0: the seed is public.
        Self(seed.map(Prg::new))
    }

    /// The shift of the next group; zero where there are none.
    pub(super) fn next<V: Element>(&mut self) -> V {
        let mut shift = [V::default()];
        if let Some(prg) = &mut self.0 {
            let bytes = prg.next_block().to_bytes();
            V::bytes_mut(&mut shift).copy_from_slice(&bytes[..V::BITS / 8]);
        }
        shift[0]
    }
}
