//! Rows of correlated OTs in memory: used from the front, each once, and wiped into a pool, from which the
//! next ones come. Fresh pages for each part's rows took longer than the OTs did.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use madrigal_core::Wipe;
use madrigal_kernels::Block;

/// Strings of zeros that have been rows. One string more is only made where none is free, so there are never
/// more of them than rows were in use at once.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Vec<Vec<Block>>>>);

impl Pool {
    /// So many zeros.
    pub(crate) fn take(&self, count: usize) -> Pooled {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = free.iter().position(|blocks| blocks.len() >= count);
        let mut blocks = match fit {
            Some(place) => free.swap_remove(place),
            // Too short for what is made now: gone, so that no more are kept than before.
            None => {
                free.pop();
                Vec::new()
            }
        };
        if blocks.len() < count {
            blocks = vec![Block::ZERO; count];
        }
        Pooled {
            blocks,
            count,
            pool: self.clone(),
        }
    }
}

/// Blocks that go back to their pool, wiped, when they are dropped.
pub(crate) struct Pooled {
    blocks: Vec<Block>,
    count: usize,
    pool: Pool,
}

impl std::ops::Deref for Pooled {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        &self.blocks[..self.count]
    }
}

impl std::ops::DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut [Block] {
        &mut self.blocks[..self.count]
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.blocks[..self.count].wipe();
        let blocks = std::mem::take(&mut self.blocks);
        let mut free = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(blocks);
    }
}

/// Rows of one direction. Not `Clone`, and taking moves the front, so nothing is had twice.
pub(crate) struct Rows {
    rows: Arc<Pooled>,
    left: Range<usize>,
}

impl Rows {
    pub(crate) fn new(rows: Pooled) -> Self {
        Self {
            left: 0..rows.len(),
            rows: Arc::new(rows),
        }
    }

    /// All of some, in their order.
    pub(crate) fn concat(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let mut all = Pool::default().take(parts.iter().map(Self::len).sum());
        let mut at = 0;
        for part in &parts {
            all[at..at + part.len()].copy_from_slice(&part.rows[part.left.clone()]);
            at += part.len();
        }
        Self::new(all)
    }

    pub(crate) fn len(&self) -> usize {
        self.left.len()
    }

    pub(crate) fn split_front(&mut self, count: usize) -> Self {
        let left = self.advance(count);
        Self {
            rows: Arc::clone(&self.rows),
            left,
        }
    }

    pub(crate) fn take(&mut self, count: usize) -> &[Block] {
        let taken = self.advance(count);
        &self.rows[taken]
    }

    fn advance(&mut self, count: usize) -> Range<usize> {
        let (start, left) = (self.left.start, self.len());
        assert!(count <= left, "{count} items wanted, {left} left");
        self.left.start += count;
        start..start + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_zeros_again() {
        let pool = Pool::default();
        let mut first = pool.take(10);
        first.fill(Block::ONES);
        let place = first.as_ptr();
        drop(first);
        let second = pool.take(7);
        assert!(second.as_ptr() == place && second.iter().all(|&block| block == Block::ZERO));
        let third = pool.take(7);
        assert!(third.as_ptr() != place);
        drop((second, third));
        // Both are free, and too short: one of them makes room.
        drop(pool.take(11));
        assert_eq!(pool.0.lock().unwrap().len(), 2);
    }
}
