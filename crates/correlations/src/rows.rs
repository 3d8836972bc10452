//! Rows of correlated OTs in memory: used from the front, each once, and back into a pool, in whose memory the
//! next ones are made. Fresh pages for each part's rows took longer than the OTs did.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

/// Memory that has been of rows, and is wiped when the pool and all rows from it are gone: until then it is written
/// over by the next ones. One string more is only made where none is free, so there are never more of them than
/// rows were in use at once.
#[derive(Clone, Default)]
pub struct Pool(Arc<Mutex<Vec<Zeroizing<Vec<Block>>>>>);

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pool")
    }
}

impl Pool {
    /// Gives memory for `count` rows, which are yet to be written.
    pub fn take(&self, count: usize) -> Pooled {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = free.iter().position(|blocks| blocks.len() >= count);
        let mut blocks = match fit {
            Some(place) => free.swap_remove(place),
            // Too short for what is made now: gone, so that no more are kept than before.
            None => {
                free.pop();
                Zeroizing::new(Vec::new())
            }
        };
        drop(free);
        if blocks.len() < count {
            blocks = Zeroizing::new(vec![Block::ZERO; count]);
        }
        if cfg!(debug_assertions) {
            // Whoever takes it for zeros is found out in tests.
            blocks.fill(Block::ONES);
        }
        Pooled {
            blocks,
            count,
            pool: self.clone(),
        }
    }
}

/// Blocks that go back to their pool when they are dropped.
pub struct Pooled {
    blocks: Zeroizing<Vec<Block>>,
    count: usize,
    pool: Pool,
}

impl std::fmt::Debug for Pooled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pooled({} rows)", self.count)
    }
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
        let blocks = std::mem::replace(&mut self.blocks, Zeroizing::new(Vec::new()));
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
    fn a_pool_gives_memory_again() {
        let pool = Pool::default();
        let mut first = pool.take(10);
        first.fill(Block::ZERO);
        let place = first.as_ptr();
        drop(first);
        let second = pool.take(7);
        assert!(second.as_ptr() == place && second.len() == 7);
        let third = pool.take(7);
        assert!(third.as_ptr() != place);
        drop((second, third));
        // Both are free, and too short: one of them makes room.
        drop(pool.take(11));
        assert_eq!(pool.0.lock().unwrap().len(), 2);
    }
}
