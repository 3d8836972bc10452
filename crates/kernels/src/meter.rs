//! Counts the AES blocks that this thread has computed: a protocol's declared cost is held against them.
//!
//! Every call that runs AES adds the blocks it was asked for to the thread's meter, once for the whole
//! vector: one for each 16 bytes or part of them that a generator gives, one for a hash, one for
//! two children of a tree. Blocks that fill idle lanes of a vector are not counted, hence all levels count
//! alike. Neither is the expansion of a key: it calls no block function, though it takes about the time
//! of one block.
//!
//! A meter belongs to a thread. Code that spreads work over threads measures there what each computes
//! ([`metered`]) and adds it up where the work is waited for ([`add`]).

use core::cell::Cell;

thread_local! {
    static BLOCKS: Cell<u64> = const { Cell::new(0) };
}

/// Adds blocks to this thread's meter: those that another thread has computed for it.
#[inline]
pub fn add(blocks: u64) {
    BLOCKS.set(BLOCKS.get().wrapping_add(blocks));
}

/// Reads this thread's meter: blocks since the thread began, or since the innermost [`metered`]
/// did, without those that others inside it have taken.
#[must_use]
pub fn shown() -> u64 {
    BLOCKS.get()
}

/// Runs `work` and takes what it computes off this thread's meter: gives the number of blocks beside
/// the result. Blocks that a `metered` inside has taken are not in it: each block is counted once, by the
/// innermost.
pub fn metered<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let own = Outer(BLOCKS.replace(0));
    let result = work();
    let blocks = BLOCKS.get();
    drop(own);
    (result, blocks)
}

/// Runs `work`, whose blocks are no protocol's and counted nowhere.
pub fn unmetered<R>(work: impl FnOnce() -> R) -> R {
    metered(work).0
}

/// Count that the meter showed before, and shows again also after a panic.
struct Outer(u64);

impl Drop for Outer {
    fn drop(&mut self) {
        BLOCKS.set(self.0);
    }
}
